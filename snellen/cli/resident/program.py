"""The resident process as a program: the libraries and checkpoints that `snellen ask` and its like need.

What is missing here is imported or read by each command itself, which takes longer and changes nothing else.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.cli import main as command_line
from snellen.cli.resident.circumstances import Circumstances
from snellen.cli.resident.folder import opened
from snellen.cli.resident.process import Resident, Work
from snellen.threads.thread import wired

if TYPE_CHECKING:
    from snellen.profiles import Profile

_MODULES: Final = (
    "snellen.cli.ask_display",
    "snellen.cli.following",
    "snellen.cli.learning_display",
    "snellen.threads.ask",
    "snellen.threads.learn",
    "snellen.runtime.resources",
    "snellen.reasoning.case_based.reasoner",
    "snellen.learning.prompt_recall",
    "snellen.memory.demonstrations",
    "snellen.memory.savers",
    "snellen.tools.editing",
    "snellen.tools.editing.replace",
    "snellen.tools.knowledge",
    "snellen.tools.knowledge.scope",
    "snellen.tools.program.constructs",
    "snellen.tools.regions",
    "snellen.tools.regions.lists",
    "snellen.tools.regions.pictures",
    "snellen.tools.regions.places",
    "snellen.tools.regions.sources",
    "snellen.tools.vision",
    "snellen.tools.vision.classify",
    "snellen.tools.vision.describe",
    "snellen.tools.vision.locate",
    "snellen.tools.vision.segment",
    "snellen.tools.vision.select",
    "snellen.tools.vision.support",
    "snellen.collection",
    "rich.progress",
    "rich.table",
    "aiosqlite",
    "faiss",
    "langgraph.checkpoint.sqlite.aio",
    "langchain_core.tracers.context",
    "langchain_core.tracers.stdout",
)


_LANGUAGE: Final = "language"
_QUESTION: Final = "How many dogs are there?"


def main(words: Sequence[str]) -> int:
    """Serve a home until nobody needs it.

    Args:
        words: The home, how many minutes to stay without a command, the profile, and the digests of a client's
            circumstances.

    Returns:
        The exit status.
    """
    home, minutes, profile, process, of_profile = words
    # Before the first library is imported.
    command_line.quieten_libraries()
    with opened(Path(home), make=True) as place:
        if not place.take_lock():
            return 0  # another one serves this home
        place.note(ready=False)
        resident = Resident(place, place.listen(), Circumstances(process, of_profile), float(minutes), profile)
        resident.serve(work_of(profile))
    sys.stdout.flush()
    sys.stderr.flush()
    # The next one waits for the lock: nothing that was imported is taken apart.
    os._exit(0)


def work_of(profile: str) -> Work:
    """Return the work of a resident process for a profile."""
    kept: dict[str, Any] = {}
    """What children share, as long as this process lives."""
    return Work(
        run=command_line.main,
        prepare=[partial(_import_libraries, kept), partial(_load, kept, profile, _LANGUAGE)],
        load=[partial(_load, kept, profile, name) for name in _LOADED if name != _LANGUAGE],
        adjust=partial(_adjust, kept),
    )


def _import_libraries(kept: dict[str, Any]) -> None:
    import torch

    # A team of threads is not there any more after a fork: this process computes with one, children with as many as
    # torch takes by itself.
    kept["threads"] = torch.get_num_threads()
    torch.set_num_threads(1)
    for name in _MODULES:
        importlib.import_module(name)
    import PIL.Image

    PIL.Image.init()
    wired("ask")
    wired("learn")


def _adjust(kept: dict[str, Any]) -> None:
    import numpy as np
    import torch

    torch.set_num_threads(kept["threads"])
    np.random.seed()  # noqa: NPY002 - the generator that children would share


def _load(kept: dict[str, Any], profile: str, name: str) -> None:
    """Read one of the things that are shared, unless an accelerator does so, which no fork survives."""
    from snellen.profiles import load_profile

    chosen = load_profile(profile)
    if not _computes_here(chosen):
        return
    # Children take as many threads as the profile says; this process takes one.
    kept["threads"] = chosen.threads or kept["threads"]
    kept[name] = _LOADED[name](chosen.model_copy(update={"threads": None}))


def _computes_here(profile: Profile) -> bool:
    """Tell whether the models of a profile compute on the processors, without touching an accelerator."""
    import torch

    return profile.device == "cpu" or not (torch.version.cuda is not None and os.path.exists("/dev/nvidiactl"))  # noqa: PTH110


def _language(profile: Profile) -> object:
    """Read the sentence embedding, and the grammar and the demonstrations that are the same in every home."""
    from snellen.reasoning.case_based.reasoner import seed_demonstrations
    from snellen.reasoning.instruction_embedding import InstructionEmbedding
    from snellen.reasoning.reading.recording import read_instruction
    from snellen.reasoning.subjects import subjects_of

    embedding = InstructionEmbedding(profile)
    embedding([_QUESTION])
    read_instruction(_QUESTION, 1, profile.facts_path())
    for one in seed_demonstrations():
        subjects_of(one)
    return embedding


def _fingerprints(profile: Profile) -> object:
    from snellen.runtime.confidence import weights_of

    return weights_of(profile)


def _vision(key: str) -> Callable[[Profile], object]:
    def load(profile: Profile) -> object:
        from snellen.tools.vision import Models

        models = Models(profile)
        if getattr(profile.models, key) is not None:
            {"loc": models.detector, "vqa": models.answerer, "seg": models.segmenter, "clip": models.encoder}[key]()
        return models

    return load


_LOADED: Final[dict[str, Callable[[Profile], object]]] = {
    _LANGUAGE: _language,
    "fingerprints": _fingerprints,
    **{key: _vision(key) for key in ("loc", "clip", "vqa", "seg")},
}
"""What is read, one after the other, and shared by all commands."""
