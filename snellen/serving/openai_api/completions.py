"""Answers to clients: completions and their chunks, usage, replies with their pictures."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from snellen.graphs.messages import pictures_in, text_of
from snellen.memory.artifacts import ArtifactStore
from snellen.reports.pictures import data_uri
from snellen.serving.picture_previews import shown_picture
from snellen.threads.events import NodeFinished, Started

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from snellen.serving.openai_api.requests import Message

Json = dict[str, Any]
Showing = Literal["data", "link", "none"]
"""How pictures of a reply are shown: in it, by a link to this server, or not at all."""


@dataclass
class CompletionUsage:
    """The usage of an answer: tokens of the chat model where one was called, else words.

    Attributes:
        prompt: Tokens, or words of the conversation.
        completion: Tokens, or words of the reply.
    """

    prompt: int = 0
    completion: int = 0
    _before: Json = field(default_factory=dict)
    _last: Json = field(default_factory=dict)

    def take(self, event: Any) -> None:  # noqa: ANN401 - the events of a conversation
        """Take what an event tells of it; a corrected task counts on from what it had used before."""
        if isinstance(event, Started):
            self._before = event.state.last.get("state", {}).get("usage", {})
        elif isinstance(event, NodeFinished) and "remark" in event.update:
            self._before = self._before if event.update["remark"] else {}
        elif isinstance(event, NodeFinished) and isinstance(event.update.get("usage"), dict):
            self._last = event.update["usage"]

    def end(self, messages: list[Message], reply: str) -> None:
        """Count words where no tokens were told."""
        self.prompt = self._tokens("input_tokens")
        self.completion = self._tokens("output_tokens")
        if not (self.prompt or self.completion):
            self.prompt = sum(len(one.text().split()) for one in messages)
            self.completion = len(reply.split())

    def _tokens(self, name: str) -> int:
        return max(0, int(self._last.get(name, 0)) - int(self._before.get(name, 0)))

    def to_json(self) -> Json:
        """Return it as OpenAI does."""
        counts = {"prompt_tokens": self.prompt, "completion_tokens": self.completion}
        return counts | {"total_tokens": self.prompt + self.completion}


@dataclass(frozen=True)
class Completion:
    """The answer to one request.

    Attributes:
        model: The model that was asked for.
        id: Its own.
        created: Seconds since 1970.
    """

    model: str
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, usage: CompletionUsage) -> Json:
        """Return it in one piece."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._said("chat.completion", [choice]) | {"usage": usage.to_json()}

    def chunk(self, delta: Json, *, finish: str | None = None, usage: bool = False) -> bytes:
        """Return a piece of it as an event of a stream."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event_of(self._said("chat.completion.chunk", [choice]) | ({"usage": None} if usage else {}))

    def used(self, usage: CompletionUsage) -> bytes:
        """Return the event that tells what a stream has used."""
        return event_of(self._said("chat.completion.chunk", []) | {"usage": usage.to_json()})

    def _said(self, kind: str, choices: list[Json]) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}


def event_of(said: Json) -> bytes:
    """Return an event of a stream."""
    return b"data: " + json.dumps(said).encode() + b"\n\n"


def pieces(text: str) -> Iterator[str]:
    """Cut a reply into the pieces of a stream: its lines, pictures whole."""
    yield from text.splitlines(keepends=True)


def in_markdown(reply: BaseMessage, store: ArtifactStore, showing: Showing, base_url: str) -> str:
    """Return a reply with its pictures.

    Args:
        reply: As the conversation keeps it.
        store: Where its pictures are.
        showing: How they are shown.
        base_url: Where this server is, with a slash at the end.
    """
    pictures = pictures_in(reply) if showing != "none" else []
    lines = [text_of(reply)]
    for number, picture in enumerate(pictures, 1):
        address = f"{base_url}artifacts/{picture}.png" if showing == "link" else _data(store.read(picture))
        lines.append(f"![picture {number}]({address})")
    return "\n\n".join(lines)


def _data(content: bytes) -> str:
    shown, kind = shown_picture(content)
    return data_uri(shown, kind)
