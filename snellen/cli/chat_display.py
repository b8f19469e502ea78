"""Conversations at the terminal: ``snellen resume`` goes on with one that was begun on a page or a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from snellen.cli.display import clean
from snellen.cli.following import ThreadDisplay
from snellen.graphs.messages import pictures_in, text_of
from snellen.threads.chat import CHAT
from snellen.threads.events import Finished, InvestigationProgress, LearningProgress, Waits
from snellen.threads.progress import ProgressLine

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState, Json
    from snellen.threads.thread_type import ThreadType


@dataclass
class ChatDisplay(ThreadDisplay["ChatState"]):
    """Shows the reply."""

    @property
    def kind(self) -> ThreadType[ChatState]:
        """Conversations."""
        return CHAT

    def doing(self, event: Any) -> str:  # noqa: ANN401 - the events of a conversation
        """Return in words what takes its time after an event."""
        if isinstance(event, InvestigationProgress | LearningProgress | Waits):
            return super().doing(event)
        progress = ProgressLine()
        progress.take(event)
        return progress.line or "answering"

    def show_event(self, event: Any) -> None:  # noqa: ANN401 - see doing
        """Show the last reply, once it is there."""
        if isinstance(event, Finished) and event.state.messages and event.state.messages[-1].type == "ai":
            self.screen.print(clean(text_of(event.state.messages[-1])), markup=False)

    def to_json(self, thread: str, state: ChatState, request: Json | None) -> Json:
        """Return the messages, and the request that the conversation waits with."""
        messages = [{"who": one.type, "text": text_of(one), "pictures": pictures_in(one)} for one in state.messages]
        return {"thread": thread, "messages": messages, "last": state.last, "waits": request}
