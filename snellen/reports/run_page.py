"""The page of a run: one self-contained HTML file with its pictures, plan, program and steps.

After a wrong answer it first shows what went wrong, with the step at fault before and after, and what was learned.

Whatever the run says (instruction, plan, program, answers, file contents) is escaped; the page runs no script and
loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from snellen.learning.records import LearningOutcome
from snellen.reasoning.critique import Critique, Fault, region_from_json
from snellen.reports.pictures import EmbeddedPicture, EmbeddedPictures, Figure, figure_of
from snellen.reports.runs import AskRun
from snellen.reports.templating import rendered
from snellen.summaries.learning import counts_in_words, hint_lines, meaning_in_words
from snellen.summaries.runs import (
    answer_with_confidence,
    attempt_in_words,
    caveat_in_words,
    fault_in_words,
    feedback_in_words,
    notices_of,
    outcome,
    remedy_in_words,
    revision_in_words,
    steps_of,
    verdict_in_words,
    way_in_words,
)
from snellen.tools.program import StepRecord, inputs_for
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState, Json, LearnState
    from snellen.memory.artifacts import ArtifactStore

_SHOWN_PIXELS: Final = 1024
"""The longer side of an embedded picture; larger ones are scaled down."""
_LESSON_PIXELS: Final = 256
"""The longer side of a picture that something was learned from: it is shown small."""


def render(run: AskRun, store: ArtifactStore) -> str:
    """Return the HTML of a run.

    Raises:
        SnellenError: A picture of the run is missing from the store, or damaged.
    """
    pictures = _Pictures(store)
    state = run.state
    learned = [LearningOutcome.from_json(one) for one in state.learned]
    inputs = _inputs(state, pictures)
    steps = [{"record": step, "outcome": outcome(step), "figure": pictures.figure(step.value)}
             for step in steps_of(state)]  # fmt: skip
    answer = pictures.figure(run.answer)
    return rendered(
        "run",
        run=run,
        state=state,
        verdict=verdict_in_words(state),
        feedback=feedback_in_words(state),
        notices=notices_of(state),
        caveat=caveat_in_words(state.caveat),
        answer_text=answer_with_confidence(run.answer_text, state),
        revisions=[_revision(revision) for revision in state.revisions],
        attempts=[
            {
                "caveat": caveat_in_words(attempt.get("caveat")),
                "text": attempt_in_words(attempt),
                "failed": attempt["error"] is not None,
                "revisions": [revision_in_words(one) for one in attempt.get("revisions", ())],
                "figure": pictures.figure(from_json(attempt["answer"])),
            }
            for attempt in state.attempts
        ],
        critiques=[
            {
                "way": way_in_words(critique),
                "faults": [_fault(fault, critique, state, pictures) for fault in critique.faults],
            }
            for critique in map(Critique.from_json, state.critiques)
        ],
        mistakes=[one["program"] for one in state.lessons if one["program"]],
        **_learned(learned, pictures),
        inputs=inputs,
        steps=steps,
        answer=answer,
        seconds=sum(step.seconds for step in steps_of(state)),
        embedded=pictures.embedded.all(),
    )


def render_learning(thread: str, title: str, state: LearnState, store: ArtifactStore) -> str:
    """Return the HTML of a thread that learns."""
    pictures = _Pictures(store)
    learned = _learned([LearningOutcome.from_json(one) for one in state.learned], pictures)
    embedded = pictures.embedded.all()
    return rendered("learning", thread=thread, title=title, state=state, embedded=embedded, **learned)


def _learned(learned: Sequence[LearningOutcome], pictures: _Pictures) -> Json:
    """Return what the section about learning shows."""
    return {
        "lessons": [
            {
                "learned": one,
                "counts": counts_in_words(one),
                "meaning": meaning_in_words(one),
                "pictures": pictures.examples(one),
            }
            for one in learned
        ],
        "hints": [line.text for line in hint_lines(learned)],
    }


class _Pictures:
    """The figures of a run."""

    def __init__(self, store: ArtifactStore) -> None:
        self.embedded = EmbeddedPictures(store)

    def figure(self, value: Any, caption: str = "") -> Figure | None:  # noqa: ANN401 - any value of a program
        """Show a picture, or the regions of one; None for a value that has nothing to show."""
        return figure_of(value, lambda picture_id: _figure(self.embedded.embed(picture_id, _SHOWN_PIXELS)), caption)

    def examples(self, learned: LearningOutcome) -> list[Figure]:
        """Show the pictures that something was learned from; those that are gone are left out."""
        label = f"a picture that {learned.need} was learned from"
        embedded = (self.embedded.find(picture_id, _LESSON_PIXELS) for picture_id in learned.pictures)
        return [replace(_figure(picture), label=label) for picture in embedded if picture is not None]


def _figure(picture: EmbeddedPicture) -> Figure:
    return Figure(f"#{picture.anchor}", picture.width, picture.height)


def _inputs(state: AskState, pictures: _Pictures) -> list[Figure | None]:
    """Show the pictures of the task, and in the first one the region that the feedback speaks of."""
    names = inputs_for(len(state.pictures))
    figures = [pictures.figure(from_json(each), name) for each, name in zip(state.pictures, names, strict=True)]
    region = region_from_json(state.region)
    if region is not None and figures and figures[0] is not None:
        figures[0] = replace(figures[0], regions=(region,))
    return figures


def _revision(revision: Json) -> Json:
    """Return a revision in words, and the program that was not kept: the one before, or the revised one."""
    is_kept = revision["helped"] is not False
    return {
        "words": revision_in_words(revision),
        "which": "the program before" if is_kept else "the revised program",
        "program": revision["program" if is_kept else "revised"],
    }


def _fault(fault: Fault, critique: Critique, state: AskState, pictures: _Pictures) -> Json:
    """Return one thing that went wrong, and what the step gave before and gives now."""
    views = _views(fault, state) if fault.place == "tool" else []
    return {
        "where": fault_in_words(fault, critique),
        "reason": fault.reason,
        "remedy": remedy_in_words(fault),
        "views": [figure for when, step in views if (figure := _view(when, step, pictures)) is not None],
    }


def _views(fault: Fault, state: AskState) -> list[tuple[str, StepRecord]]:
    """Return the step at fault as it was first, and as it is now where the program still has it."""
    faulty = [StepRecord.from_json(step) for attempt in state.attempts for step in attempt.get("faulty", [])]
    before = next((step for step in faulty if step.address == fault.address), None)
    if before is None:
        return []
    again = (step for step in steps_of(state) if (step.address, step.source) == (before.address, before.source))
    now = next(again, None)
    if now is None:
        return [("before", before)]
    if (now.output, now.error) == (before.output, before.error):
        return [("before and now", now)]
    return [("before", before), ("now", now)]


def _view(when: str, step: StepRecord, pictures: _Pictures) -> Figure | None:
    """Show what a step gave; where that is nothing to look at, the picture that it looked at."""
    caption = f"{when}: {outcome(step)}"
    return pictures.figure(step.value, caption) or pictures.figure(from_json(step.arguments.get("image")), caption)
