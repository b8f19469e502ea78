"""Answers about pictures: ``snellen.ask``, and what it returns."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack, cast

import PIL.Image

from snellen.api.following import (
    Confirm,
    Displayed,
    Followed,
    Status,
    StoredPictures,
    Tell,
    deciding,
    follow,
    on_one_loop,
    synchronous,
)
from snellen.graphs.states import AskState, Json
from snellen.learning.records import LearningOutcome
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import home
from snellen.memory.picture_modes import eight_bit
from snellen.reasoning.revision import Revision
from snellen.reports.run_page import render
from snellen.reports.runs import AskRun
from snellen.runtime.input_pictures import stored_pictures
from snellen.runtime.resources import open_pictures, resources
from snellen.summaries.runs import (
    answer_with_confidence,
    caveat_in_words,
    drawn,
    notices_of,
    outcome,
    steps_of,
    verdict_in_words,
)
from snellen.summaries.values import in_words
from snellen.threads import ask as asks
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, from_json

PictureLike = str | Path | PIL.Image.Image | Picture
"""A file's path, a ``data:`` address, the id of a stored picture, or a picture itself."""

_STORED: Final = re.compile(r"data:|[0-9a-f]{64}$", re.IGNORECASE)
"""How the address of a picture begins that is no file's."""


@dataclass(frozen=True)
class AskStep:
    """An executed step of a program.

    Attributes:
        record: The step in full: its address, tool, arguments, output, seconds, error, warnings.
        store: Where its pictures are.
    """

    record: StepRecord
    store: ArtifactStore = field(repr=False)

    @property
    def tool(self) -> str:
        """The tool that was called: ``LOC``, ``VQA``."""
        return self.record.tool

    @property
    def source(self) -> str:
        """The line of the program."""
        return self.record.source

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever the step computed
        """The result as a value: text, number, ``Region``, list, or a PIL picture."""
        return _value(self.record.value, self.store)

    @property
    def picture(self) -> PIL.Image.Image | None:
        """The picture that the step made, or looked at with its regions outlined; None where it gave neither."""
        return drawn(self.record.value, self.store)

    def __str__(self) -> str:
        return f"{self.record.source} → {outcome(self.record)}"


class CorrectOptions(TypedDict, total=False):
    """Options of ``snellen.correct``."""

    answer: str | float | None
    region: Sequence[int] | None
    label: str
    profile: str | Path | None
    confirm: Confirm | None
    insist: bool
    progress: Tell | None


@dataclass(frozen=True, repr=False)
class AskResult(Displayed):
    """An answer about pictures, and how it came about.

    Attributes:
        thread: The id of its thread: ``snellen.resume`` and ``snellen threads`` know it.
        state: All that the thread knows, as it is saved.
        request: What it waits with for a decision (``snellen.resume(…, confirm=…)``); None where it does not.
        store: Where its pictures are.
    """

    thread: str
    state: AskState
    request: Json | None
    store: ArtifactStore

    @property
    def status(self) -> Status:
        """``finished``, ``failed`` (``error`` says why there is no answer) or ``waiting``."""
        return "waiting" if self.request else "failed" if self.state.error else "finished"

    @property
    def answer(self) -> Any:  # noqa: ANN401 - whichever value the program gave
        """The answer as a value: text, number, list of ``Region``, or a PIL picture; None where there is none."""
        return _value(from_json(self.state.answer), self.store)

    @property
    def text(self) -> str:
        """The answer in words, e.g. ``yes``, ``3``, ``2 regions: cat 0.97, cat 0.91``."""
        return self.state.error or in_words(from_json(self.state.answer))

    @property
    def confidence(self) -> float | None:
        """The probability that the answer is right, in [0, 1]; None where no calibration holds for the run."""
        return self.state.confidence

    @property
    def rival(self) -> str | None:
        """The next likeliest answer where this one is unsure, empty where none is known; None where it is sure."""
        return self.state.rival

    @property
    def error(self) -> str | None:
        """The reason why there is no answer, in a sentence."""
        return self.state.error

    @property
    def picture(self) -> PIL.Image.Image | None:
        """The picture that is the answer, or in which its regions are outlined; None for other answers."""
        return drawn(from_json(self.state.answer), self.store)

    @property
    def pictures(self) -> StoredPictures:
        """The pictures of the run: those it was asked about, then those that its steps made."""
        values = [from_json(one) for one in self.state.pictures] + [one.value for one in steps_of(self.state)]
        ids = dict.fromkeys(one.id for one in values if isinstance(one, Picture))
        return StoredPictures(tuple(ids), self.store)

    @property
    def understood(self) -> str:
        """The meaning of the instruction in a sentence; empty where nothing is known of it."""
        return AskRun(self.thread, self.state).understood

    @property
    def plan(self) -> list[str]:
        """The steps of the plan, in words."""
        return self.state.plan

    @property
    def program(self) -> str:
        """The program's text."""
        return self.state.program

    @property
    def revisions(self) -> list[Revision]:
        """Revisions of the program after a run in trouble, in order; the last attempt's, where it was tried again."""
        return [Revision.from_json(one) for one in self.state.revisions]

    @property
    def steps(self) -> list[AskStep]:
        """The executed steps, in order."""
        return [AskStep(one, self.store) for one in steps_of(self.state)]

    @property
    def evidence(self) -> list[str]:
        """The result of each step, in a line."""
        return [str(one) for one in self.steps]

    @property
    def caveats(self) -> list[str]:
        """Caveats to know before trusting the answer; first what no tool was taught."""
        return [*filter(None, [caveat_in_words(self.state.caveat)]), *notices_of(self.state)]

    @property
    def verdict(self) -> str:
        """``right``, ``wrong``, or ``unjudged`` where no right answer was given."""
        return self.state.verdict

    @property
    def learned(self) -> list[LearningOutcome]:
        """Results of learning from a wrong answer."""
        return [LearningOutcome.from_json(one) for one in self.state.learned]

    async def correct_async(self, says: str = "", **options: Unpack[CorrectOptions]) -> AskResult:
        """Say what was wrong; see ``snellen.correct``."""
        return await correct_answer(self.thread, says, **options)

    correct = synchronous(correct_async)

    def html(self) -> str:
        """Return the page that ``snellen ask --html`` writes."""
        return render(AskRun(self.thread, self.state), self.store)

    def markdown(self) -> str:
        """Return the answer and the steps in Markdown."""
        judged = [] if self.state.verdict == "unjudged" else [f"Judged {verdict_in_words(self.state)}.", ""]
        caveat = [f"*{first}*", ""] if (first := caveat_in_words(self.state.caveat)) else []
        answer = f"**{self.text if self.error else answer_with_confidence(self.text, self.state)}**"
        understood = [f"*Understood: {self.understood}*", ""] if self.understood else []
        lines = [
            *caveat,
            answer,
            "",
            *understood,
            *judged,
            *(f"- `{one.source}` → {outcome(one.record)}" for one in self.steps),
        ]
        return "\n".join([*lines, *(f"\n*{one}*" for one in notices_of(self.state))])

    def __repr__(self) -> str:
        return f"AskResult({self.text!r}, status={self.status!r}, thread={self.thread!r})"


def _value(value: Any, store: ArtifactStore) -> Any:  # noqa: ANN401 - any value of a program
    return store.get(value.id) if isinstance(value, Picture) else value


@on_one_loop
async def ask_async(  # noqa: PLR0913 - one for each thing that a caller may say
    pictures: PictureLike | Sequence[PictureLike],
    instruction: str,
    *,
    answer: str | float | None = None,
    profile: str | Path = "embedded",
    learn: bool = True,
    confirm: Confirm | None = None,
    insist: bool = False,
    family: str | None = None,
    thread: str | None = None,
    progress: Tell | None = None,
) -> AskResult:
    """Answer an instruction about pictures.

    Args:
        pictures: One or several: paths, PIL images, ``data:`` addresses, ids of stored pictures.
        instruction: The question or task: "How many dogs?", "Blur all but the dog".
        answer: The right answer, if known: a right run is remembered, a wrong one is learned from and tried again.
        profile: Name or path of a profile: which checkpoints are used.
        learn: Whether a wrong answer is learned from; else it is only judged.
        confirm: Asked before anything is learned, with a question; without it nobody is asked.
        insist: Learn from ``answer`` even where it looks false; else the thread then waits for a decision.
        family: The kind of task, if known: ``vqa``, ``statement``, ``edit`` or ``tag``.
        thread: The new thread's id; made up when None.
        progress: Called with a ``Progress`` whenever something else is done; ``print`` shows it.

    Raises:
        BadInput: A picture, the instruction, the profile or another argument cannot be used.
        SnellenError: The run failed; a note of the error says how it is resumed.
    """
    shown, notices = await asyncio.to_thread(_stored, pictures)
    events = asks.stream_ask(
        shown,
        instruction,
        notices=notices,
        expected=None if answer is None else str(answer),
        family=family,
        profile=str(profile),
        thread=thread,
        learn="never" if not learn else "approved" if confirm is not None else "always",
        insist=insist,
        decide=deciding(confirm),
        gather=resources,
    )
    return answered(await follow(asks.ASK, events, progress))


ask = synchronous(ask_async)


@on_one_loop
async def correct_answer(  # noqa: PLR0913 - as `ask`
    thread: str,
    says: str = "",
    *,
    answer: str | float | None = None,
    region: Sequence[int] | None = None,
    label: str = "",
    profile: str | Path | None = None,
    confirm: Confirm | None = None,
    insist: bool = False,
    progress: Tell | None = None,
) -> AskResult:
    """Say what was wrong with an answer; see ``snellen.correct``."""
    shown = None
    if region is not None:
        x0, y0, x1, y1 = region
        shown = Region((x0, y0, x1, y1), 1.0, label)
    events = asks.correct(
        thread,
        expected=None if answer is None else str(answer),
        says=says,
        region=shown,
        profile=None if profile is None else str(profile),
        approve=confirm is not None,
        insist=insist,
        decide=deciding(confirm),
    )
    return answered(await follow(asks.ASK, events, progress))


def answered(found: Followed[AskState]) -> AskResult:
    """Return what came of a thread of ask."""
    return AskResult(found.thread, found.state, found.request, open_pictures(home()))


def _stored(pictures: PictureLike | Sequence[PictureLike]) -> tuple[list[Path | str | Picture], list[str]]:
    """Store the pictures that are no files; return all of them, and what to know about those."""
    several = [pictures] if isinstance(pictures, str | Path | PIL.Image.Image | Picture) else pictures
    notices: list[str] = []
    return [_one(one, f"Picture {place}", notices) for place, one in enumerate(several, 1)], notices


def _one(picture: PictureLike, name: str, notices: list[str]) -> Path | str | Picture:
    if isinstance(picture, PIL.Image.Image):
        return open_pictures(home()).put(eight_bit(picture, name=name, notice=notices.append))
    if isinstance(picture, str) and _STORED.match(picture):
        return cast("Picture", from_json(stored_pictures([picture])[0]))
    return picture
