"""Threads of the ask graph: visual tasks are begun, and answers of finished ones corrected."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from snellen.errors import BadInput
from snellen.profiles import lasting, load_profile
from snellen.profiles.hub_access import check_reachable
from snellen.reasoning.critique import Feedback
from snellen.reasoning.meanings.talk import Correction
from snellen.reasoning.reading.talk_reader import MAX_CORRECTION, read_correction
from snellen.runtime.resources import make_context as make_context
from snellen.threads.events import Decide, Event, Finished, Started
from snellen.threads.saved_threads import Headline
from snellen.threads.thread_type import ThreadType
from snellen.values import Picture, Region, from_json, to_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from snellen.graphs.states import AskState, Json
    from snellen.runtime.context import Context

    Gather = Callable[[str, Path], Context]

MAX_INSTRUCTION: Final = 2_000
"""Characters of an instruction; longer ones are texts pasted by mistake, and would not fit a checkpoint."""
MAX_EXPECTED: Final = 500
"""Characters of an expected answer."""
MAX_PICTURES: Final = 8
"""Pictures of one task."""

ANSWERED: Final = "run"
"""The node that gives an answer."""
FAMILIES: Final = ("vqa", "statement", "edit", "tag")
"""The kinds of task that a caller may name."""


def _headline(state: AskState) -> Headline:
    return Headline(state.instruction, state.verdict, state.answer, error=state.error)


ASK: Final = ThreadType["AskState"]("ask", lambda _, profile, folder: make_context(profile, folder), _headline)
"""Threads that answer."""

LearnWhen = Literal["always", "approved", "never"]
"""When a wrong answer is learned from."""

SessionEvent = Started["AskState"] | Event | Finished["AskState"]


def stream_ask(  # noqa: PLR0913 - one for each thing that a caller may say
    pictures: Sequence[Path | str | Picture],
    instruction: str,
    *,
    notices: Sequence[str] = (),
    expected: str | None = None,
    family: str | None = None,
    profile: str = "embedded",
    thread: str | None = None,
    learn: LearnWhen = "always",
    insist: bool = False,
    decide: Decide | None = None,
    gather: Gather | None = None,
) -> AsyncGenerator[SessionEvent]:
    """Begin a thread and follow it to its end.

    Args:
        pictures: Files to look at, one to ``MAX_PICTURES``, which are copied into the artifact folder first, or
            pictures that are stored already.
        instruction: What to do, at most ``MAX_INSTRUCTION`` characters.
        notices: What to know about pictures that are stored already and look otherwise than their files.
        expected: The right answer, if known: a right run is remembered, a wrong one is looked into and learned from.
        family: The kind of task, if known.
        profile: Name or path of a profile.
        thread: The new thread's id; made up when None.
        learn: Whether a wrong answer is learned from: ``always``, when ``approved``, or ``never`` (only judged then).
        insist: Whether a wrong answer is learned from without a question even where it looks as if it was right.
        decide: Approves; without it, or when it leaves a request open, the thread stops there.
        gather: Gathers what the run works with, for a profile and a home; a server takes
            ``snellen.runtime.resources.resources``, which keeps it for the next run. None gathers it anew.

    Yields:
        ``Started``, then what happens in the order of events, ``Waits`` where a decision is asked for, and
        ``Finished``, unless the thread is left waiting.

    Raises:
        BadInput: a picture, the instruction, the profile or the thread id cannot be used (an id in use is refused);
            nothing was begun.
        SnellenError: the run failed (full disk, missing checkpoint, unreachable model); ``resume`` takes it up.
    """

    async def prepare(_: str, folder: Path) -> tuple[AskState, Context]:
        from snellen.graphs.states import AskState

        _check(pictures, instruction, expected, family)
        await asyncio.to_thread(lambda: check_reachable(load_profile(profile)))
        context = await asyncio.to_thread(gather or make_context, profile, folder)
        stored, warnings = await asyncio.to_thread(_stored, pictures, context)
        state = AskState(
            instruction=instruction.strip(),
            pictures=stored,
            warnings=[*notices, *warnings],
            family=family,
            expected=expected,
            profile=lasting(profile),
            learn=learn != "never",
            approve=learn == "approved",
            insist=insist,
        )
        return state, context

    return ASK.begin(prepare, thread=thread, decide=decide)


def correct(
    thread: str,
    *,
    expected: str | None = None,
    says: str = "",
    region: Region | None = None,
    profile: str | None = None,
    approve: bool = False,
    insist: bool = False,
    decide: Decide | None = None,
) -> AsyncGenerator[SessionEvent]:
    """Say what was wrong with the answer of a finished thread; it is looked into, learned from, and tried again.

    Args:
        thread: The id of a finished thread.
        expected: The right answer.
        says: What is wrong, in words: "that is not a flamingo".
        region: Where in the first picture the thing is that was missed, or that was meant.
        profile: A profile to go on with; None takes the one the thread was begun with.
        approve: Whether ``decide`` is asked before anything is learned.
        insist: Whether it is learned from without a question even where the answer looks right.
        decide: Decides about the request.

    Yields:
        As ``stream_ask``.

    Raises:
        BadInput: no such thread, it has not finished or is none of ask, nothing is said, or what is said is not
            understood or contradicts itself.
        SnellenError: the run failed; ``resume`` takes it up.
    """

    def changes(state: AskState, context: Context) -> Json:
        _check_region(region, state)
        _check_understood(feedback, context)
        _check_bearing(feedback, state)
        return correction_of(state, feedback, approve=approve, insist=insist)

    feedback = _checked_feedback(expected, says, region)
    return ASK.correct(thread, changes, after=ANSWERED, profile=profile, decide=decide)


def _check(
    pictures: Sequence[Path | str | Picture], instruction: str, expected: str | None, family: str | None
) -> None:
    if not instruction.strip():
        msg = 'The instruction is empty; say what to do, for example "How many dogs are there?".'
        raise BadInput(msg)
    if len(instruction) > MAX_INSTRUCTION:
        msg = f"The instruction has {len(instruction):,} characters; say it in at most {MAX_INSTRUCTION:,}."
        raise BadInput(msg)
    if expected is not None and not 0 < len(expected.strip()) <= MAX_EXPECTED:
        msg = f"The expected answer must have 1 to {MAX_EXPECTED} characters; give the short answer itself."
        raise BadInput(msg)
    if family is not None and family not in FAMILIES:
        msg = f"There is no task family {family[:80]!r}; the families are {', '.join(FAMILIES)}."
        raise BadInput(msg)
    if not 0 < len(pictures) <= MAX_PICTURES:
        msg = f"A task needs one to {MAX_PICTURES} pictures, but {len(pictures)} were given."
        raise BadInput(msg)


def correction_of(state: AskState, feedback: Feedback, *, approve: bool = False, insist: bool = False) -> Json:
    """Return the fields that feedback on a finished run changes; followed on after ``ANSWERED``, it is judged anew.

    Args:
        state: Of the run.
        feedback: What is known of the right answer.
        approve: Whether a person is asked before anything is learned.
        insist: Whether it is learned from without a question even where the answer looks right.
    """
    from snellen.learning.feedback import fields_changed_by

    return fields_changed_by(feedback, state.learned) | {"approve": approve, "insist": insist}


def _checked_feedback(expected: str | None, says: str, region: Region | None) -> Feedback:
    from snellen.learning.feedback import contradiction

    feedback = Feedback(expected, says.strip() or None, region)
    if not feedback:
        msg = "Nothing says what was wrong: give the right answer, say it in words, or show where the thing is."
        raise BadInput(msg)
    if expected is not None and not 0 < len(expected.strip()) <= MAX_EXPECTED:
        msg = f"The right answer must have 1 to {MAX_EXPECTED} characters; give the short answer itself."
        raise BadInput(msg)
    if len(says) > MAX_CORRECTION:
        msg = f"What was wrong takes {len(says):,} characters; say it in at most {MAX_CORRECTION}."
        raise BadInput(msg)
    contradicted = contradiction(feedback)
    if contradicted:
        msg = f"This contradicts itself: {contradicted[0].lower()}{contradicted[1:]}"
        raise BadInput(msg)
    return feedback


def _check_understood(feedback: Feedback, context: Context) -> None:
    """Refuse words alone of which nothing is understood where no chat model reads them: any answer would be right."""
    from snellen.reasoning.case_based.reasoner import CaseReasoner

    correction = feedback.correction or ""
    if feedback.expected or feedback.region or read_correction(correction):
        return
    if isinstance(context.reasoner, CaseReasoner):
        msg = (
            f"{correction[:80]!r} is not understood, so nothing is learned from it: say what it should be "
            '("it should be three"), what it is not ("that is not a cat") or what was missed ("there is also a cat on '
            'the left"), or give the right answer itself.'
        )
        raise BadInput(msg)


def _check_bearing(feedback: Feedback, state: AskState) -> None:
    """Refuse words about a thing where the answer is none: any other answer would be taken for right."""
    from snellen.learning.feedback import bears_on

    correction = feedback.correction or ""
    if (
        feedback.expected
        or feedback.region
        or bears_on(read_correction(correction) or Correction(), from_json(state.answer))
    ):
        return
    msg = (
        f"The answer was {str(from_json(state.answer))[:40]!r}, and {correction[:80]!r} does not say what it should "
        "be: give the right answer itself; where a thing was taken for another, show its region and say what it is."
    )
    raise BadInput(msg)


def _check_region(region: Region | None, state: AskState) -> None:
    if region is None:
        return
    if not region.label and not isinstance(from_json(state.answer), Picture | Region | list):
        msg = "The answer is no picture, so a place alone does not say what is wrong: say what is there (its label)."
        raise BadInput(msg)
    picture = from_json(state.pictures[0]) if state.pictures else None
    x0, y0, x1, y1 = region.box
    if isinstance(picture, Picture) and not (0 <= x0 < x1 <= picture.width and 0 <= y0 < y1 <= picture.height):
        msg = (
            f"The region {x0},{y0},{x1},{y1} does not lie in the first picture, which has {picture.width} x "
            f"{picture.height} pixels: give left, top, right and bottom in pixels."
        )
        raise BadInput(msg)


def _stored(pictures: Sequence[Path | str | Picture], context: Context) -> tuple[list[Json], list[str]]:
    """Store pictures; return references to them, and what is to be known about those that look otherwise than files."""
    notices: list[str] = []
    stored = [
        to_json(one if isinstance(one, Picture) else context.pictures.ingest(one, notice=notices.append))
        for one in pictures
    ]
    return stored, notices
