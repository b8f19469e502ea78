"""The conversation behind a request: its messages with their pictures stored, and the thread that it is.

Clients send the whole conversation each time. What the user said so far, words and pictures, names the thread; what was
answered does not, because clients change it (they cut pictures out, or fold what was thought).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.graphs.messages import MAX_MESSAGES, MAX_TEXT, PICTURE_TYPES, encoded_picture, reference
from snellen.memory.checkpoints import thread_graph
from snellen.memory.conversations import ConversationTable, Turn
from snellen.memory.home import home
from snellen.serving.openai_api.requests import ApiError, Message
from snellen.threads import directory
from snellen.threads import thread as threads

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from snellen.serving.uploads import Uploads

_PICTURES: Final = re.compile(r"!\[[^\]]{0,200}\]\([^)\s]*\)")
_THOUGHTS: Final = re.compile(r"<details\b.*?</details>|<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True)
class ConversationPlace:
    """The thread of a conversation.

    Attributes:
        thread: The name of an existing thread, or of a new one.
        kept: True where the client named it, and so can find it again.
    """

    thread: str
    kept: bool


async def place_of(named: str | None, messages: Sequence[Message]) -> ConversationPlace:
    """Find the thread of a conversation in the home, or a name for a new one.

    A history that is known goes on in its thread. Where that has gone on by itself (an earlier message was changed, or
    an answer is asked for once more), a branch begins at the checkpoint where it stood.

    Args:
        named: The thread that the client names.
        messages: The whole conversation.

    Raises:
        BadInput: What is named cannot name a thread.
    """
    if named is not None:
        return ConversationPlace(threads.checked_name(named), kept=True)
    history = fingerprint(_before(messages))
    turn = await asyncio.to_thread(lambda: ConversationTable(home()).find(history)) if history else None
    if turn is None or await asyncio.to_thread(thread_graph, turn.thread) is None:
        return ConversationPlace(threads.new_name(), kept=False)
    if await directory.standing(turn.thread) == turn.checkpoint:
        return ConversationPlace(turn.thread, kept=False)
    try:
        return ConversationPlace(await directory.branch(turn.thread, turn.checkpoint), kept=False)
    except BadInput:
        return ConversationPlace(threads.new_name(), kept=False)


async def remember(thread: str, messages: Sequence[Message]) -> None:
    """Remember a conversation by its history once it has been answered."""
    turn = Turn(thread, await directory.standing(thread))
    await asyncio.to_thread(lambda: ConversationTable(home()).keep(fingerprint(messages), turn))


def fingerprint(messages: Sequence[Message]) -> str:
    """Return a sum of what the user said, words and pictures in order; empty where nothing was said."""
    contents = [
        (_plain(one.text()), [_sum(block) for block in one.others()])
        for one in messages
        if one.role == "user" and one.content
    ]
    return hashlib.sha256(json.dumps(contents, ensure_ascii=False).encode()).hexdigest() if contents else ""


async def for_the_graph(messages: Sequence[Message], uploads: Uploads) -> list[BaseMessage]:
    """Return a conversation as the chat graph takes it; all that the user said last is one message.

    Pictures are stored where they can still matter: those of the last message, and of the last one before it that has
    any.

    Raises:
        ApiError: A message carries something else than words and pictures.
        BadInput: A picture cannot be used.
    """
    from langchain_core.messages import AIMessage, HumanMessage

    before, last = list(_before(messages)), _last(messages)
    shown = next((one for one in reversed(before) if one.role == "user" and one.others()), None)
    made: list[BaseMessage] = []
    for one in before[-MAX_MESSAGES:]:
        if one.role == "assistant":
            made.append(AIMessage(_without_pictures(one.text())))
        elif one.role == "user":
            made.append(HumanMessage(await _content(one.text(), [one] if one is shown else [], uploads)))
    text = "\n".join(one.text() for one in last).strip()
    if len(text) > MAX_TEXT:
        msg = f"The message has {len(text):,} characters; at most {MAX_TEXT:,} are allowed."
        raise BadInput(msg)
    return [*made, HumanMessage(await _content(text, last, uploads))]


async def _content(text: str, carrying: Sequence[Message], uploads: Uploads) -> list[str | dict[Any, Any]]:
    blocks = [block for one in carrying for block in one.others()]
    for block in blocks:
        if block.get("type") not in PICTURE_TYPES:
            msg = f"A message may have text and pictures, not {str(block.get('type'))[:40]!r}."
            raise ApiError(400, msg, code="unsupported_content", param="messages")
    stored = [await uploads.add_reference(_address(block)) for block in blocks]
    pictures = [reference(one, uploads.notices.get(one.id, ())) for one in stored]
    return [{"type": "text", "text": text[:MAX_TEXT]}, *pictures]


def _address(block: dict[str, Any]) -> str:
    """Return what a picture's block holds: an address, or base64."""
    url = block.get("image_url") or block.get("url")
    if isinstance(url, dict):
        url = url.get("url")
    return url if isinstance(url, str) and url else encoded_picture(block)


def _before(messages: Sequence[Message]) -> Sequence[Message]:
    return messages[: len(messages) - len(_last(messages))]


def _last(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the user's messages at the end: some clients send a picture and its question apart."""
    count = next((place for place, one in enumerate(reversed(messages)) if one.role != "user"), len(messages))
    return messages[len(messages) - count :]


def _without_pictures(text: str) -> str:
    return _PICTURES.sub("", _THOUGHTS.sub("", text)).strip()[:MAX_TEXT]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _sum(block: dict[str, Any]) -> str:
    address = block.get("image_url")
    url = address.get("url") if isinstance(address, dict) else address
    return hashlib.sha256(str(url or json.dumps(block, sort_keys=True)).encode()).hexdigest()
