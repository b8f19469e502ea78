"""A run as its interfaces show it: the answer in words, each step in a line, and what is written to files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.graphs.states import AskState, Json
from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.summaries.runs import drawn, steps_of, understood_in_words
from snellen.summaries.values import in_words
from snellen.tools.program.check import RESULT
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.memory.artifacts import ArtifactStore

ANSWER_FILE: Final = "answer.png"


@dataclass(frozen=True)
class AskRun:
    """One thread of the ask graph, finished or stopped."""

    thread: str
    state: AskState

    @property
    def understood(self) -> str:
        """The meaning of the instruction in a sentence; empty where nothing is known of it."""
        return understood_in_words(ReadingRecord.from_json(self.state.reading))

    @property
    def answer(self) -> Any:  # noqa: ANN401 - whichever value the program gave
        """The program's result; None where there is none."""
        return from_json(self.state.answer)

    @property
    def answer_text(self) -> str:
        """The answer in words, e.g. ``yes``, ``3``, ``2 regions: cat 0.97, cat 0.91``."""
        return in_words(self.answer)

    def to_json(self) -> Json:
        """Return everything about the run as plain JSON: the state's fields, the thread, and some of it in words."""
        words = {"understood": self.understood, "answer_text": self.answer_text}
        return {"thread": self.thread, **words, **dataclasses.asdict(self.state)}


def write_run(run: AskRun, folder: Path, store: ArtifactStore) -> list[Path]:
    """Write ``run.json`` and the pictures that the run made into a folder, made if it is missing.

    ``answer.png`` is the answer, where it is a picture or regions of one (outlined then), and ``attempt-N.png`` a wrong
    one before it; ``step-ADDRESS.png`` is the picture that a step made. Files of the same names are replaced, others
    stay.

    Returns:
        The written files.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    written = []
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in _results(run):
            picture = drawn(value, store)
            if picture is not None:
                picture.save(folder / name)
                written.append(folder / name)
        (folder / "run.json").write_text(json.dumps(run.to_json(), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return [*written, folder / "run.json"]


def write_text(path: Path, text: str) -> None:
    """Write a text file, and its folder where that is missing.

    Raises:
        SnellenError: The place cannot be written to.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _results(run: AskRun) -> Iterator[tuple[str, Any]]:
    yield ANSWER_FILE, run.answer
    for number, attempt in enumerate(run.state.attempts, start=1):
        yield f"attempt-{number}.png", from_json(attempt["answer"])
    for step in steps_of(run.state):
        if isinstance(step.value, Picture) and step.tool != RESULT:
            yield f"step-{step.address}.png", step.value


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn disk trouble inside the block into one sentence about the place."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        msg = f"The results cannot be written to {place} ({reason}): name another place; the run itself is kept."
        raise SnellenError(msg) from error
