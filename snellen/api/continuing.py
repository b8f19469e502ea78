"""Threads that were begun before: corrected, resumed, listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from snellen.api.asking import AskResult, answered, correct_answer
from snellen.api.following import Confirm, Followed, Tell, deciding, follow, on_one_loop, synchronous
from snellen.api.investigating import InvestigateResult, correct_models, investigated
from snellen.api.learning import LearnResult, learned
from snellen.errors import BadInput
from snellen.threads import listing
from snellen.threads.thread import ThreadSummary, graph_of
from snellen.threads.thread_types import THREAD_TYPES

Result = AskResult | LearnResult | InvestigateResult

_RESULTS: Final[dict[str, Callable[[Followed[Any]], Result]]] = {
    "ask": answered,
    "learn": learned,
    "investigate": investigated,
}


async def correct_async(  # noqa: PLR0913 - one for each thing that a caller may say
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
) -> AskResult | InvestigateResult:
    """Say what was wrong with an answer: the cause is looked for, learned from, and the task tried again.

    The thread of an investigation takes no words: its models are taught what they were found weak in, and measured
    again.

    Args:
        thread: The id of a finished thread.
        says: What was wrong, in words: "that is not a flamingo".
        answer: The right answer.
        region: The place in the first picture of the thing that was missed: left, top, right, bottom in pixels.
        label: The name of the thing in ``region``.
        profile: A profile to go on with; None takes the one that the thread was begun with.
        confirm: Asked before anything is learned, with a question; without it nobody is asked.
        insist: Learn from it even where the answer looks right; else the thread then waits for a decision.
        progress: Called with a ``Progress`` whenever something else is done; ``print`` shows it.

    Raises:
        BadInput: There is no such thread, it has not finished, or what is said cannot be used.
        SnellenError: The run failed; a note of the error says how it is resumed.
    """
    if await graph_of(thread) != "investigate":
        return await correct_answer(
            thread, says, answer=answer, region=region, label=label, profile=profile, confirm=confirm, insist=insist,
            progress=progress,
        )  # fmt: skip
    if says or answer is not None or region is not None:
        msg = f"{thread!r} is an investigation: its weaknesses are known, so nothing is said about them."
        raise BadInput(msg)
    return await correct_models(thread, confirm=confirm, profile=profile, progress=progress)


@on_one_loop
async def resume_async(
    thread: str,
    *,
    confirm: Confirm | None = None,
    profile: str | Path | None = None,
    progress: Tell | None = None,
) -> Result:
    """Go on with a thread where it stopped; of a finished one, return what came of it.

    Args:
        thread: The id of a thread that asks, learns or investigates.
        confirm: Decides about what the thread waits with, or comes to.
        profile: A profile to go on with; None takes the one that the thread was begun with.
        progress: Called with a ``Progress`` whenever something else is done; ``print`` shows it.

    Raises:
        BadInput: There is no such thread, another process runs it, or it is a conversation.
        SnellenError: The run failed again.
    """
    graph = await graph_of(thread)
    if graph not in _RESULTS:
        msg = f"The thread {thread!r} is a conversation: go on with it in `snellen chat`."
        raise BadInput(msg)
    kind = THREAD_TYPES[graph]
    chosen = None if profile is None else str(profile)
    events = kind.resume(thread, profile=chosen, decide=deciding(confirm))
    return _RESULTS[graph](await follow(kind, events, progress))


@on_one_loop
async def list_threads_async() -> list[ThreadSummary]:
    """Return every thread of this memory, the newest first: its id, status, instruction, answer and outcome."""
    return await listing.list_threads()


correct = synchronous(correct_async)
resume = synchronous(resume_async)
list_threads = synchronous(list_threads_async)
