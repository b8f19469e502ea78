"""The thread type of each graph."""

from __future__ import annotations

from typing import Any, Final

from snellen.threads import ask, chat, investigate, learn
from snellen.threads.thread import GraphName
from snellen.threads.thread_type import ThreadType

THREAD_TYPES: Final[dict[GraphName, ThreadType[Any]]] = {
    one.graph: one for one in (ask.ASK, learn.LEARN, investigate.INVESTIGATE, chat.CHAT)
}
