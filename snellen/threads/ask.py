"""Sessions: begin, follow, list and resume threads of the ask graph. The command line and the pages sit on this."""

from __future__ import annotations

import asyncio
import importlib
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput
from snellen.profiles import lasting, load_profile
from snellen.profiles.hub_access import check_reachable
from snellen.runtime.resources import make_context as make_context
from snellen.threads import thread as threads
from snellen.threads.events import Decide, Event, Finished, Started
from snellen.threads.thread import ThreadSummary
from snellen.threads.thread_type import Kind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.graph.state import CompiledStateGraph

    from snellen.graphs.states import AskState, Json
    from snellen.reasoning.critique import Feedback
    from snellen.runtime.context import Context

    Graph = CompiledStateGraph[Any, Any, Any, Any]
    Gather = Callable[[str, Path], Context]
    from snellen.values import Picture, Region

MAX_INSTRUCTION: Final = 2_000
"""Characters of an instruction; longer ones are texts pasted by mistake, and would not fit a checkpoint."""
MAX_EXPECTED: Final = 500
"""Characters of an expected answer."""
MAX_PICTURES: Final = 8
"""Pictures of one task."""

FAMILIES: Final = ("vqa", "statement", "edit", "tag")
"""The kinds of task that a caller may name."""


ASK: Final = Kind["AskState"](
    "ask",
    lambda: importlib.import_module("snellen.graphs.states").AskState,
    lambda _, profile, folder: make_context(profile, folder),
)
"""Threads that answer."""

LearnWhen = Literal["always", "approved", "never"]
"""When a wrong answer is learned from."""

SessionEvent = Started["AskState"] | Event | Finished["AskState"]


async def stream_ask(  # noqa: PLR0913 - one for each thing that a caller may say
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
    from snellen.graphs.states import AskState
    from snellen.memory.home import home

    _check(pictures, instruction, expected, family)
    name = threads.checked_name(thread) if thread is not None else threads.new_name()
    folder = await asyncio.to_thread(home)
    await asyncio.to_thread(lambda: check_reachable(load_profile(profile)))
    context = await asyncio.to_thread(gather or make_context, profile, folder)
    values = await asyncio.to_thread(_beginning, pictures, context, notices)
    values |= {"instruction": instruction.strip(), "expected": expected, "family": family}
    values |= {"learn": learn != "never", "approve": learn == "approved", "insist": insist}
    values["profile"] = lasting(profile)
    async with aclosing(ASK.begin(name, AskState(**values), context, folder, decide)) as events:
        async for event in events:
            yield event


async def correct(
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
    from snellen.memory.home import home

    feedback = _checked_feedback(expected, says, region)
    folder = await asyncio.to_thread(home)
    name = await threads.known_thread(thread, folder)
    if await threads.graph_of(name) != "ask":
        msg = f"The thread {name!r} learned something and has no answer to be corrected: name a run of `snellen ask`."
        raise BadInput(msg)
    async with threads.opened(name, "ask", folder) as graph:
        state = await ASK.ended_state(graph, name, first="The thread")
        _check_region(region, state)
        context = await ASK.context(state, profile, folder)
        _check_understood(feedback, context)
        _check_bearing(feedback, state)
        await tell(
            graph, ASK.address(name), expected=expected, correction=says.strip(), region=region, approve=approve,
            insist=insist,
        )  # fmt: skip
        yield Started(thread=name, state=await ASK.state_of(graph, name), resumed=True)
        async with aclosing(ASK.follow(graph, name, context, decide)) as events:
            async for event in events:
                yield event


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


def _checked_feedback(expected: str | None, says: str, region: Region | None) -> Feedback:
    from snellen.learning.feedback import contradiction
    from snellen.reasoning.critique import Feedback
    from snellen.reasoning.language.corrections import MAX_CORRECTION

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
    from snellen.reasoning.language.corrections import read_correction

    said = feedback.correction or ""
    if feedback.expected or feedback.region or read_correction(said):
        return
    if isinstance(context.reasoner, CaseReasoner):
        msg = (
            f"{said[:80]!r} is not understood, so nothing is learned from it: say what it should be "
            '("it should be three"), what it is not ("that is not a cat") or what was missed ("there is also a cat on '
            'the left"), or give --answer.'
        )
        raise BadInput(msg)


def _check_bearing(feedback: Feedback, state: AskState) -> None:
    """Refuse words about a thing where the answer is none: any other answer would be taken for right."""
    from snellen.learning.feedback import bears_on
    from snellen.reasoning.language.corrections import read_correction
    from snellen.values import from_json

    said = feedback.correction or ""
    if feedback.expected or feedback.region or bears_on(read_correction(said), from_json(state.answer)):
        return
    msg = (
        f"The answer was {str(from_json(state.answer))[:40]!r}, and {said[:80]!r} does not say what it should be: give "
        "--answer; where a thing was taken for another, show it with --region and --label."
    )
    raise BadInput(msg)


def _check_region(region: Region | None, state: AskState) -> None:
    from snellen.values import Picture, Region, from_json

    if region is None:
        return
    if not region.label and not isinstance(from_json(state.answer), Picture | Region | list):
        msg = "The answer is no picture, so a place alone does not say what is wrong: name what is there with --label."
        raise BadInput(msg)
    picture = from_json(state.pictures[0]) if state.pictures else None
    x0, y0, x1, y1 = region.box
    if isinstance(picture, Picture) and not (0 <= x0 < x1 <= picture.width and 0 <= y0 < y1 <= picture.height):
        msg = (
            f"The region {x0},{y0},{x1},{y1} does not lie in the first picture, which has {picture.width} x "
            f"{picture.height} pixels: give left, top, right and bottom in pixels."
        )
        raise BadInput(msg)


def _beginning(pictures: Sequence[Path | str | Picture], context: Context, known: Sequence[str]) -> Json:
    from snellen.graphs.states import AskState
    from snellen.values import Picture, to_json

    notices = list(known)
    stored = [
        to_json(one if isinstance(one, Picture) else context.pictures.ingest(one, notice=notices.append))
        for one in pictures
    ]
    return asdict(AskState(pictures=stored, warnings=notices))


async def tell(
    graph: Graph,
    address: RunnableConfig,
    *,
    expected: str | None = None,
    correction: str = "",
    region: Region | None = None,
    approve: bool = False,
    insist: bool = False,
) -> None:
    """Say about a finished run what its answer should have been; followed on, the run is judged anew.

    Args:
        graph: The ask graph with a saver.
        address: The thread.
        expected: The right answer.
        correction: What is wrong, in words.
        region: Where in the first picture the thing is that was missed, or that was meant.
        approve: Whether a person is asked before anything is learned.
        insist: Whether it is learned from without a question even where the answer looks right.
    """
    from snellen.learning.feedback import told
    from snellen.reasoning.critique import Feedback

    before = await ASK.state_of(graph, address["configurable"]["thread_id"])
    said = told(before.learned, Feedback(expected, correction or None, region))
    said |= {"approve": approve, "insist": insist}
    await graph.aupdate_state(address, said, as_node="run")


async def summary(graph: Graph, thread: str) -> ThreadSummary:
    """Return the line of a run, in the list of threads."""
    from snellen.graphs.states import AskState

    snapshot = await graph.aget_state(ASK.address(thread), subgraphs=True)
    state = threads.state_from(snapshot.values, AskState)
    progress = await threads.progress(snapshot, thread, error=state.error)
    return ThreadSummary(
        thread=thread,
        instruction=state.instruction,
        status=progress.status,
        updated=snapshot.created_at or "",
        verdict=state.verdict,
        answer=state.answer,
        reason=progress.reason,
    )
