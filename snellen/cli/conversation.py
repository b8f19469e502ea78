"""What ``snellen resume`` does with conversations that were begun on a page or a server."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from snellen.cli.confirmation import decision_of, tell_how_to_decide
from snellen.cli.display import clean, print_json
from snellen.cli.follower import Follower
from snellen.cli.progress_bar import BarDisplay
from snellen.errors import BadInput
from snellen.runtime.running import resumable, run
from snellen.summaries.investigations import doing
from snellen.summaries.learning import phase_in_words
from snellen.threads import events
from snellen.threads.chat import CHAT
from snellen.threads.progress import ProgressLine

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState, Json


class ChatDisplay(BarDisplay):
    """Shows the reply."""

    def show(self, event: Any) -> None:  # noqa: ANN401 - the events of a conversation
        """Show what was said, once it is."""
        if isinstance(event, events.Started):
            self.screen.print(f"thread  {event.thread}", style="dim")
        if isinstance(event, events.Finished):
            self.screen.print(clean(last_reply(event.state)), markup=False)


def resume(options: argparse.Namespace) -> int:
    """Go on with a conversation that was stopped in the middle of an answer, or that waits for a decision."""
    if options.out or options.html:
        msg = f"The thread {options.thread!r} is a conversation: `snellen report` writes what it found out."
        raise BadInput(msg)
    decision = decision_of(options)
    follower: Follower[ChatState] = Follower(ChatDisplay(), _doing, quiet=options.json, decision=decision)
    with resumable(lambda: follower.thread):
        run(follower.follow(CHAT.resume(options.thread, profile=options.profile, decide=follower.asked)))
    ended = follower.finished
    if follower.quiet:
        state = ended.state if ended else asyncio.run(CHAT.read(follower.thread))
        print_json(state_json(follower.thread, state, waits=follower.request))
    if ended is None:
        tell_how_to_decide(follower.thread)
    return 0


def last_reply(state: ChatState) -> str:
    """Return what was said last; empty where the person's message is not answered yet."""
    from snellen.graphs.messages import text_of

    last = state.messages[-1] if state.messages else None
    return text_of(last) if last is not None and last.type == "ai" else ""


def state_json(thread: str, state: ChatState, *, waits: Json | None = None) -> Json:
    """Return a conversation as plain JSON."""
    from snellen.graphs.messages import pictures_in, text_of

    said = [{"who": one.type, "text": text_of(one), "pictures": pictures_in(one)} for one in state.messages]
    return {"thread": thread, "messages": said, "last": state.last, "waits": waits}


def _doing(event: object) -> str:
    match event:
        case events.InvestigationProgress(told=told):
            return doing(told)
        case events.LearningProgress(told=told):
            return phase_in_words({name: told[name] for name in ("need", "phase") if name in told})
        case events.Waits():
            return "waiting for a decision"
        case _:
            progress = ProgressLine()
            progress.take(event)
            return progress.line or "answering"
