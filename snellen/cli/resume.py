"""``snellen resume``."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from snellen.cli.options import EXECUTOR, MEANING, OTHER_PROFILE, OUTPUTS, command, option
from snellen.errors import BadInput
from snellen.threads.thread import graph_of, waiting

if TYPE_CHECKING:
    from snellen.cli.following import ThreadDisplay


@command(
    "resume",
    option("thread", metavar="THREAD", help="a thread that `snellen threads` lists"),
    option("--approve", action="store_true", exclusive=True, help="allow what the run waits to do"),
    option("--reject", action="store_true", exclusive=True, help="refuse it"),
    MEANING,
    OTHER_PROFILE,
    EXECUTOR,
    *OUTPUTS,
    examples="""
        snellen threads
        snellen resume THREAD --html run.html
        snellen resume THREAD --approve    # a run that waits for your decision
        snellen resume THREAD --meaning 2  # an instruction that can be meant in several ways
    """,
)
def resume(options: argparse.Namespace) -> int:
    """Continue a run where it stopped."""
    from snellen.cli.following import follow

    graph = asyncio.run(graph_of(options.thread))
    if graph == "chat" and (options.out or options.html):
        msg = f"{options.thread!r} is a conversation: `snellen report {options.thread}` writes its investigation."
        raise BadInput(msg)
    decision = "approve" if options.approve else "reject" if options.reject else ""
    if (decision or options.meaning) and asyncio.run(waiting(options.thread)) is None:
        msg = f"The thread {options.thread!r} waits for no decision: leave out --{decision or 'meaning'}."
        raise BadInput(msg)
    display = _display(graph)
    return follow(
        display,
        lambda decide: display.kind.resume(options.thread, profile=options.profile, decide=decide),
        options,
        decision=decision,
    )


def _display(graph: str) -> ThreadDisplay[Any]:
    match graph:
        case "ask":
            from snellen.cli.ask_display import AskDisplay

            return AskDisplay()
        case "learn":
            from snellen.cli.learning_display import LearningDisplay

            return LearningDisplay()
        case "investigate":
            from snellen.cli.investigation_display import InvestigationDisplay

            return InvestigationDisplay()
        case _:
            from snellen.cli.chat_display import ChatDisplay

            return ChatDisplay()
