"""The page of a run: one self-contained HTML file with its pictures, plan, program and steps.

A run that was wrong first tells the whole story: what it answered, what was found to be wrong, with the step at fault
before and after, what was learned and from which pictures, and the answer it then gave.

Whatever the run says (instruction, plan, program, answers, file contents) is escaped; the page runs no script and
loads nothing.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.learning.records import LearningOutcome
from snellen.reasoning.critique import Critique, Fault, region_from_json
from snellen.reports.runs import AskRun
from snellen.summaries.learning import counts_in_words, hint_lines, meaning_in_words
from snellen.summaries.runs import (
    attempt_in_words,
    fault_in_words,
    feedback_in_words,
    in_words,
    notices_of,
    outcome,
    regions_of,
    remedy_in_words,
    steps_of,
    verdict_in_words,
    way_in_words,
)
from snellen.tools.program import StepRecord, inputs_for
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState, Json
    from snellen.memory.artifacts import ArtifactStore

_TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
_SHOWN_PIXELS: Final = 1024
"""The longer side of an embedded picture; larger ones are scaled down."""
_LESSON_PIXELS: Final = 256
"""The longer side of a picture that something was learned from: it is shown small."""
_LOSSLESS_PIXELS: Final = 512
"""Pictures up to this size stay PNG; larger ones, photographs as a rule, become JPEG."""


@dataclass(frozen=True)
class _Figure:
    """A picture on the page, perhaps with regions outlined."""

    anchor: str
    """The id under which the picture is embedded, once, however often it is shown."""
    width: int
    height: int
    label: str
    """What it shows, for those who cannot see it."""
    caption: str = ""
    regions: list[Region] = field(default_factory=list)


@dataclass
class _RunAlbum:
    """The pictures of a page, each embedded once."""

    store: ArtifactStore
    embedded: dict[str, tuple[_Figure, str]] = field(default_factory=dict)
    """By picture id: its size and anchor, and its data URI."""

    def figure(self, value: Any, caption: str = "") -> _Figure | None:  # noqa: ANN401 - any value of a program
        """Show a picture, or the regions of one; None for a value that has nothing to show."""
        regions = regions_of(value)
        shown = value.id if isinstance(value, Picture) else regions[0].picture if regions else ""
        if not shown:
            return None
        picture = self._embedded(shown, _SHOWN_PIXELS)
        return replace(picture, label=in_words(value), caption=caption, regions=regions)

    def lesson(self, picture_id: str, label: str) -> _Figure | None:
        """Show a picture that something was learned from; None where it is gone, which the run itself survives."""
        try:
            return replace(self._embedded(picture_id, _LESSON_PIXELS), label=label)
        except SnellenError:
            return None

    def _embedded(self, picture_id: str, pixels: int) -> _Figure:
        if picture_id not in self.embedded:
            self.embedded[picture_id] = self._embed(picture_id, pixels)
        return self.embedded[picture_id][0]

    def _embed(self, picture_id: str, pixels: int) -> tuple[_Figure, str]:
        picture = self.store.get(picture_id)
        size = picture.size
        picture.thumbnail((pixels, pixels))
        kind = "PNG" if max(picture.size) <= _LOSSLESS_PIXELS else "JPEG"
        buffer = BytesIO()
        picture.save(buffer, kind, **({"quality": 88} if kind == "JPEG" else {}))
        uri = f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
        return _Figure(f"p{len(self.embedded)}", *size, label=""), uri


@dataclass(frozen=True)
class _ShownStep:
    record: StepRecord
    outcome: str
    figure: _Figure | None


@dataclass(frozen=True)
class _ShownAttempt:
    """A wrong answer."""

    text: str
    failed: bool
    figure: _Figure | None


@dataclass(frozen=True)
class _ShownFault:
    """One thing that went wrong, and what the step gave before and gives now."""

    where: str
    reason: str
    remedy: str
    views: list[_Figure]


@dataclass(frozen=True)
class _ShownCritique:
    way: str
    faults: list[_ShownFault]


@dataclass(frozen=True)
class _ShownLesson:
    """What came of one thing that a tool should have learned."""

    learned: LearningOutcome
    counts: str
    meaning: str
    pictures: list[_Figure]


def render(run: AskRun, store: ArtifactStore) -> str:
    """Return the HTML of a run.

    Raises:
        SnellenError: A picture of the run is missing from the store, or damaged.
    """
    import jinja2

    album = _RunAlbum(store)
    inputs = _inputs(run.state, album)
    steps = [_ShownStep(step, outcome(step), album.figure(step.value)) for step in steps_of(run.state)]
    answer = album.figure(run.answer)
    learned = [LearningOutcome.from_json(one) for one in run.state.learned]
    # Everything is escaped, whatever the template's name; a misspelt variable is an error, not a gap.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("run.html.j2").render(
        run=run,
        state=run.state,
        verdict=verdict_in_words(run.state),
        feedback=feedback_in_words(run.state),
        notices=notices_of(run.state),
        attempts=[_attempt(one, album) for one in run.state.attempts],
        critiques=_critiques(run.state, album),
        mistakes=[one["program"] for one in run.state.lessons if one["program"]],
        lessons=[_lesson(one, album) for one in learned],
        hints=[line.text for line in hint_lines(learned)],
        inputs=inputs,
        steps=steps,
        answer=answer,
        seconds=sum(shown.record.seconds for shown in steps),
        embedded=list(album.embedded.values()),
    )


def _inputs(state: AskState, album: _RunAlbum) -> list[_Figure | None]:
    """Show the pictures of the task, and in the first one the region that the feedback speaks of."""
    names = inputs_for(len(state.pictures))
    figures = [album.figure(from_json(each), name) for each, name in zip(state.pictures, names, strict=True)]
    region = region_from_json(state.region)
    if region is not None and figures and figures[0] is not None:
        figures[0] = replace(figures[0], regions=[region])
    return figures


def _attempt(attempt: Json, album: _RunAlbum) -> _ShownAttempt:
    shown = album.figure(from_json(attempt["answer"]))
    return _ShownAttempt(attempt_in_words(attempt), attempt["error"] is not None, shown)


def _critiques(state: AskState, album: _RunAlbum) -> list[_ShownCritique]:
    critiques = [Critique.from_json(one) for one in state.critiques]
    return [
        _ShownCritique(way_in_words(each), [_fault(fault, each, state, album) for fault in each.faults])
        for each in critiques
    ]


def _fault(fault: Fault, critique: Critique, state: AskState, album: _RunAlbum) -> _ShownFault:
    where, remedy = fault_in_words(fault, critique), remedy_in_words(fault)
    return _ShownFault(where, fault.reason, remedy, _views(fault, state, album) if fault.place == "tool" else [])


def _views(fault: Fault, state: AskState, album: _RunAlbum) -> list[_Figure]:
    """Show what the step at fault gave first, and what it gives now where the program still has it."""
    faulty = [StepRecord.from_json(step) for attempt in state.attempts for step in attempt.get("faulty", [])]
    before = next((step for step in faulty if step.address == fault.address), None)
    if before is None:
        return []
    again = (step for step in steps_of(state) if (step.address, step.source) == (before.address, before.source))
    now = next(again, None)
    if now is None:
        views = [("before", before)]
    elif (now.output, now.error) == (before.output, before.error):
        views = [("before and now", now)]
    else:
        views = [("before", before), ("now", now)]
    found = [_view(when, step, album) for when, step in views]
    return [figure for figure in found if figure is not None]


def _view(when: str, step: StepRecord, album: _RunAlbum) -> _Figure | None:
    """Show what a step gave; where that is nothing to look at, the picture that it looked at."""
    caption = f"{when}: {outcome(step)}"
    shown = album.figure(step.value, caption)
    return shown if shown is not None else album.figure(from_json(step.arguments.get("image")), caption)


def _lesson(learned: LearningOutcome, album: _RunAlbum) -> _ShownLesson:
    figures = [album.lesson(each, f"a picture that {learned.need} was learned from") for each in learned.pictures]
    return _ShownLesson(
        learned,
        counts_in_words(learned),
        meaning_in_words(learned),
        [figure for figure in figures if figure is not None],
    )
