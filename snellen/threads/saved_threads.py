"""Threads as their checkpoints tell them, and their lines in lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.memory.home import home_folder, owners_home
from snellen.threads.events import requests_in
from snellen.threads.thread import FAILED, WAITING, ThreadSummary, has_ended

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

_CANCELLED: Final = ("CancelledError(", "KeyboardInterrupt(")
_REPR: Final = re.compile(r"\w+\((?P<quote>['\"])(?P<text>.*)(?P=quote)\)", re.DOTALL)
"""An exception with one argument, a text, as ``repr`` writes it."""
_LONGEST_REASON: Final = 500


@dataclass(frozen=True)
class Headline:
    """The part of a thread's line in the list that its state tells (``ThreadSummary``)."""

    instruction: str
    verdict: str = ""
    answer: object = None
    outcome: str = ""
    error: str | None = None
    """Why a thread that has ended has no result."""


@dataclass(frozen=True)
class SavedThread:
    """A thread as its checkpoints tell it; they do not know whether it runs at this moment."""

    headline: Headline
    updated: str = ""
    """ISO 8601, UTC."""
    node: str = ""
    """The node that comes next, or whose result is saved already; empty where the thread has ended."""
    place: str = ""
    """Where it stands: ``before NODE`` or ``after NODE``."""
    waits: bool = False
    """True where a person must decide."""
    error: str = ""
    """The error that stopped it, as LangGraph saved it: it may hold paths of this machine."""


def saved_thread(snapshot: StateSnapshot, headline: Headline) -> SavedThread:
    """Return what a snapshot tells of a thread.

    Args:
        snapshot: Of the thread, with its subgraphs.
        headline: What its state tells.
    """
    updated = snapshot.created_at or ""
    if has_ended(snapshot):
        return SavedThread(headline, updated)
    node = snapshot.tasks[0].name
    return SavedThread(
        headline,
        updated,
        node=node,
        place=f"{'before' if snapshot.next else 'after'} {node}",
        waits=any(requests_in(snapshot)),
        error=next((str(task.error) for task in snapshot.tasks if task.error), ""),
    )


def summary_of(thread: str, graph: str, saved: SavedThread, *, is_running: bool) -> ThreadSummary:
    """Return the line of a thread in the list.

    Args:
        thread: Its name.
        graph: The name of its graph.
        saved: What its checkpoints tell.
        is_running: Whether somebody runs it at this moment.
    """
    headline = saved.headline
    status, reason = _progress(saved, is_running=is_running)
    return ThreadSummary(
        thread=thread,
        instruction=headline.instruction,
        status=status,
        updated=saved.updated,
        verdict=headline.verdict,
        answer=headline.answer,
        graph=graph,
        outcome=headline.outcome,
        reason=reason,
    )


def damaged_summary(thread: str, graph: str) -> ThreadSummary:
    """Return the line of a thread that cannot be read: it says so, and what to do."""
    hint = "it cannot be read; see `snellen memory verify`"
    return ThreadSummary(thread, status="damaged", graph=graph, outcome=hint)


def _progress(saved: SavedThread, *, is_running: bool) -> tuple[str, str]:
    """Return ``ThreadSummary.status`` and ``ThreadSummary.reason``."""
    if not saved.node:
        return (FAILED, saved.headline.error) if saved.headline.error else ("finished", "")
    if is_running:
        return f"running {saved.node}", ""
    if saved.waits:
        return WAITING, ""
    reason = _reason(saved.error)
    return (f"{FAILED} {saved.place}", reason) if reason else (f"stopped {saved.place}", "")


def _reason(error: str) -> str:
    """Return why a thread was stopped by an error, in a sentence; empty where somebody stopped it.

    LangGraph saves the error of a node as its ``repr``, also that of a task that was cancelled.
    """
    if not error or error.startswith(_CANCELLED):
        return ""
    if home_folder() != owners_home():
        # It may hold paths of the server, which are not for its other users.
        return "This failed; the server's owner finds the reason in the log."
    quoted = _REPR.fullmatch(error)
    text = error if quoted is None else re.sub(r"\\(n|.)", lambda one: one[1].replace("n", " "), quoted["text"])
    return " ".join(text.split())[:_LONGEST_REASON]
