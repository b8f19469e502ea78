"""A rehearsal of a profile's settings of learning: what they keep on the checkpoints of another profile.

    python -m benchmarks.tuning --rehearse hub --json

The settings are those of the profile that is rehearsed: ``[tuning]``, and of ``[collection]`` what says how much is
learned from and what must prove it. Checkpoints and pictures are those of the stand-in, because the profile's own may
be out of reach. Learning goes its usual way: it gathers, tunes and validates as the learn graph does.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.novel import KeptPrompts, found_things, known_names, named_crops, novel_names, questions, sorted_out
from snellen.learning.example_collection import gather_for
from snellen.learning.records import Collected, Need, StoredExample
from snellen.learning.tuning_bench import TuningBench
from snellen.profiles import Profile, load_profile
from snellen.runtime.resources import make_context
from snellen.tools.vision import Models
from snellen.tuning import POOL_OF_TOOL, Instance, Verdict, tune, tuner_of, validate
from snellen.tuning.loop import Tuner

TOOLS: Final = ("CLASSIFY", "LOC", "SEG", "VQA", "REPLACE")
"""A tool of each pool; SELECT shares CLASSIFY's."""
_COUNTED: Final = ("found", "held_out_found", "held_out_scenes", "related")
"""What of ``[collection]`` is rehearsed beside the numbers of scenes, which are cut to what a rehearsal can take."""
_TESTS: Final = 5
"""Pictures of each concept that a tool is measured on before and after."""
_MEASURES: Final = {"CLASSIFY": named_crops, "LOC": found_things}


@dataclass(frozen=True)
class Rehearsed:
    """What came of rehearsing a tool.

    Attributes:
        kept: Prompts that proved themselves.
        of: Prompts that were tuned.
        accepted: Prompts with which training ended before its last step.
        steps: Of a prompt, on average.
        seconds: That all of it took.
        reasons: Why prompts were discarded, one for each.
        before: How well the tool does on other pictures of the concepts without what it kept; empty where the tool has
            no such measure (`benchmarks.novel`).
        after: The same with it.
    """

    kept: int
    of: int
    accepted: int
    steps: float
    seconds: float
    reasons: tuple[str, ...]
    before: dict[str, float]
    after: dict[str, float]


def rehearsal_of(profile: Profile, stand_in: Profile, *, scenes: int) -> Profile:
    """Return the stand-in with the other profile's settings of learning.

    Args:
        profile: Whose settings are rehearsed.
        stand_in: Whose checkpoints and pictures are used.
        scenes: Annotated scenes that LOC and SEG learn a concept from, at most.
    """
    wanted = profile.collection
    counts: dict[str, int] = {name: getattr(wanted, name) for name in _COUNTED}
    counts |= {"scenes": min(scenes, wanted.scenes), "outlined": min(scenes, wanted.outlined)}
    tuning = profile.tuning.model_copy(update={"dtype": "float32"})
    collection = stand_in.collection.model_copy(update=counts)
    return stand_in.model_copy(update={"tuning": tuning, "collection": collection})


def rehearse(
    profile: Profile, stand_in: str, *, tools: Sequence[str] = TOOLS, concepts: int = 2, scenes: int = 6, seed: int = 0
) -> dict[str, Rehearsed]:
    """Let each tool learn novel concepts of the world by a profile's settings.

    Args:
        profile: Whose settings are rehearsed.
        stand_in: The profile whose checkpoints learn.
        tools: Which of them; see `TOOLS`.
        concepts: How many.
        scenes: Annotated scenes of each concept to learn from, and questions of each that VQA is taught.
        seed: Chooses the pictures.
    """
    rehearsed = rehearsal_of(profile, load_profile(stand_in), scenes=scenes)
    chosen = novel_names(concepts)
    found = {}
    for tool in tools:
        with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
            made = make_context(stand_in, Path(folder))
            kept = KeptPrompts()
            models = Models(rehearsed, kept, window=0)
            context = replace(made, profile=rehearsed, models=models)
            begun = time.monotonic()
            tuner = tuner_of(models, POOL_OF_TOOL[tool])
            if tool == "VQA":
                verdicts = _taught_questions(tuner, chosen, scenes)
            else:
                gathered = [asyncio.run(gather_for(Need(tool, one), context, seed=seed)) for one in chosen]
                verdicts = [verdict for one in gathered for verdict in _taught(tuner, one, TuningBench(one, context))]
            seconds = time.monotonic() - begun
            measure = _MEASURES.get(tool)
            before = measure(models, chosen, chosen, _TESTS) if measure else {}
            for concept in {verdict.tuned.concept for verdict in verdicts}:
                mine = [one.tuned for one in verdicts if one.kept and one.tuned.concept == concept]
                kept.add(POOL_OF_TOOL[tool], concept, mine)
            after = measure(models, chosen, chosen, _TESTS) if measure else {}
            found[tool] = _rehearsed(verdicts, seconds, before, after)
    return found


def _taught(tuner: Tuner[Any, Any], collected: Collected, bench: TuningBench) -> list[Verdict]:
    def read(stored: Sequence[StoredExample]) -> list[Any]:
        return [one.example(bench.context.pictures) for one in stored]

    if collected.trouble:
        raise SystemExit(collected.trouble)
    tuned = tune(tuner, [instance for _, instance in bench.instances.values()])
    return validate(tuner, tuned, read(collected.held_out), others=bench.others, names=collected.names)


def _taught_questions(tuner: Tuner[Any, Any], concepts: Sequence[str], count: int) -> list[Verdict]:
    """Teach what was answered wrongly; questions that were answered rightly must stay so."""
    right, _ = sorted_out(tuner, questions(known_names(), 5 * count, "train"))
    asked = [each for name in concepts for each in questions([name], 4 * count, "train")]
    wrong = sorted_out(tuner, asked)[1][: count * len(concepts)]
    taught = [Instance(one, tuple(right[::2][: tuner.settings.negatives])) for one in wrong]
    return [
        verdict
        for instance, tuned in zip(taught, tune(tuner, taught), strict=True)
        for verdict in validate(tuner, [tuned], [instance.example], others=right[1::2])
    ]


def _rehearsed(
    verdicts: Sequence[Verdict], seconds: float, before: dict[str, float], after: dict[str, float]
) -> Rehearsed:
    return Rehearsed(
        kept=sum(one.kept for one in verdicts),
        of=len(verdicts),
        accepted=sum(one.tuned.accepted for one in verdicts),
        steps=round(sum(one.tuned.steps for one in verdicts) / max(len(verdicts), 1), 1),
        seconds=round(seconds, 1),
        reasons=tuple(one.reason for one in verdicts if not one.kept),
        before=before,
        after=after,
    )
