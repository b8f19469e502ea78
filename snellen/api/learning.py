"""Concepts taught to tools: ``snellen.learn``, and what it returns."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import PIL.Image

from snellen.api.following import (
    Confirm,
    Followed,
    Status,
    StoredPictures,
    Tell,
    deciding,
    follow,
    on_one_loop,
    synchronous,
)
from snellen.errors import BadInput
from snellen.graphs.states import Json, LearnState
from snellen.learning.records import LearningOutcome
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import home
from snellen.runtime.resources import open_pictures
from snellen.summaries.learning import outcome_lines
from snellen.threads import learn as threads


@dataclass(frozen=True, repr=False)
class LearnResult:
    """Result of teaching tools a concept.

    Attributes:
        thread: The id of its thread.
        state: All that the thread knows, as it is saved.
        request: What it waits with for a decision; None where it does not.
        store: Where its pictures are.
    """

    thread: str
    state: LearnState
    request: Json | None
    store: ArtifactStore

    @property
    def status(self) -> Status:
        """``finished``, ``failed`` (nothing was learned; ``error`` says why) or ``waiting``."""
        return "waiting" if self.request else "failed" if self.error else "finished"

    @property
    def answer(self) -> str:
        """A sentence for each tool about what it learned."""
        return "\n".join(map(str, self.learned))

    @property
    def error(self) -> str | None:
        """The reason why nothing was learned, in a sentence; None where something was."""
        return threads.trouble(self.learned)

    @property
    def learned(self) -> list[LearningOutcome]:
        """The result for each tool: prompts kept and discarded with the reasons, the source of the pictures."""
        return threads.learned_of(self.state)

    @property
    def evidence(self) -> list[str]:
        """Prompts kept and discarded, in a line for each tool."""
        return [line.text for line in outcome_lines(self.learned)]

    @property
    def caveats(self) -> list[str]:
        """Reasons why prompts were discarded, or why nothing could be learned."""
        return [sentence for one in self.learned for sentence in (*one.reasons, one.trouble) if sentence]

    @property
    def pictures(self) -> StoredPictures:
        """Some of the pictures that the kept prompts were learned from."""
        return StoredPictures(tuple(dict.fromkeys(id_ for one in self.learned for id_ in one.pictures)), self.store)

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- {line.lead.strip()} {line.text}" for line in outcome_lines(self.learned))

    def __repr__(self) -> str:
        return f"LearnResult({self.answer!r}, status={self.status!r}, thread={self.thread!r})"


@on_one_loop
async def learn_async(
    concept: str,
    *,
    pictures: str | Path | Sequence[str | Path | PIL.Image.Image] | None = None,
    tools: Sequence[str] = (),
    profile: str | Path = "embedded",
    seed: int = 0,
    confirm: Confirm | None = None,
    thread: str | None = None,
    progress: Tell | None = None,
) -> LearnResult:
    """Teach tools a concept from pictures; what does not prove itself on held-out pictures is discarded.

    Args:
        concept: The thing in a word or a few: "penguin".
        pictures: Pictures of it, paths or PIL images; or a folder: of them, of a folder for each concept, or in COCO's
            or LVIS's format. None takes those that the profile names.
        tools: The tools that learn it: ``LOC``, ``SEG``, ``CLASSIFY``, …; none takes the usual ones.
        profile: Name or path of a profile.
        seed: Chooses among the pictures that there are.
        confirm: Asked before anything is learned, with a question; without it nobody is asked.
        thread: The new thread's id; made up when None.
        progress: Called with a ``Progress`` whenever something else is done; ``print`` shows it.

    Raises:
        BadInput: The concept, a picture, a tool or another argument cannot be used.
        SnellenError: The run failed; a note of the error says how it is resumed.
    """
    with ExitStack() as opened:
        if pictures is not None and not isinstance(pictures, str | Path):
            pictures = _folder_of(
                pictures, Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="snellen-pictures-")))
            )
        events = threads.stream_learn(
            concept,
            tools=tools,
            pictures=pictures,
            profile=str(profile),
            seed=seed,
            approve=confirm is not None,
            thread=thread,
            decide=deciding(confirm),
        )
        return learned(await follow(threads.LEARN, events, progress))


learn = synchronous(learn_async)


def learned(found: Followed[LearnState]) -> LearnResult:
    """Return what came of a thread that learns."""
    return LearnResult(found.thread, found.state, found.request, open_pictures(home()))


def _folder_of(pictures: Sequence[str | Path | PIL.Image.Image], folder: Path) -> Path:
    """Put pictures into a folder.

    Raises:
        BadInput: There is no such file.
    """
    for number, picture in enumerate(pictures):
        if isinstance(picture, PIL.Image.Image):
            picture.save(folder / f"{number}.png")
            continue
        try:
            shutil.copyfile(picture, folder / f"{number}{Path(picture).suffix}")
        except OSError as error:
            msg = f"The picture {str(picture)[:200]} cannot be read ({error.strerror}): give a file or a PIL image."
            raise BadInput(msg) from error
    return folder
