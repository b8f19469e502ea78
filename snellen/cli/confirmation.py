"""Asking a person at the terminal whether something may be done."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.threads.thread import waiting

if TYPE_CHECKING:
    from snellen.graphs.states import Json

_YES: Final = frozenset({"y", "yes"})


def decide(request: Json, *, beforehand: str = "", alone: bool = False) -> Sequence[Json] | None:
    """Decide about each action of a request.

    Args:
        request: As ``snellen.runtime.approval`` makes it.
        beforehand: A decision that was given before it was asked for, ``approve`` or ``reject``, about all actions.
        alone: Whether nobody is to be asked.

    Returns:
        A decision for each action; None where nobody is there to be asked.
    """
    actions = request["action_requests"]
    if beforehand:
        return [{"type": beforehand} for _ in actions]
    if alone or not sys.stdin.isatty():
        return None
    return [{"type": "approve" if _agrees(one) else "reject"} for one in actions]


def decision_of(options: argparse.Namespace) -> str:
    """Return the decision that ``resume`` was given for what its thread waits with; empty where it was given none.

    Raises:
        BadInput: The thread waits for no decision, or there is no such thread.
    """
    decision = "approve" if options.approve else "reject" if options.reject else ""
    if decision and asyncio.run(waiting(options.thread)) is None:
        msg = f"The thread {options.thread!r} waits for no decision: leave out --{decision}."
        raise BadInput(msg)
    return decision


def tell_how_to_decide(thread: str) -> None:
    """Say how a waiting thread goes on; on standard error, because standard output may be JSON."""
    sentence = f"It waits for a decision: `snellen resume {thread} --approve` lets it go on, --reject does not."
    sys.stderr.write(f"snellen: {sentence}\n")


def _agrees(action: Json) -> bool:
    """Ask on the terminal; anything but a yes is a no."""
    doing = {"learn": "Learn ", "teach": "Teach ", "forget": ""}.get(action["name"], "Run ")
    sys.stderr.write(f"{doing}{action['description'].rstrip('.')}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
