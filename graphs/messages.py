"""Messages of chat pages: the words and pictures in them, in every form that pages send, and replies in one form.

Only references to pictures stay in a conversation: what a message carries is stored as any picture from outside is
(``snellen.memory.artifacts``), and its block becomes ``{"type": "image", "file_id": the picture's id, …}``.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages

from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import MAX_BYTES, read_picture
from snellen.sentences import capitalized
from snellen.values import Picture

if TYPE_CHECKING:
    from snellen.memory.artifacts import ArtifactStore

Block = dict[str, Any]

MAX_TEXT: Final = 4_000
"""Characters of a message that are kept."""
MAX_PICTURES: Final = 8
"""Pictures of one message."""
MAX_MESSAGES: Final = 40
"""Messages that a conversation keeps; the oldest go first."""
MAX_HISTORY: Final = 16_000
"""Characters of all messages together, so that no checkpoint exceeds 64 kB."""
_NOTICES: Final = 4
"""Notices about one picture that are read."""
_NOTICE: Final = 300
"""Characters of one of them."""
LINKS_VARIABLE: Final = "SNELLEN_LINKS"
"""Names the address under which a server shows pictures, for pages that cannot look into the artifact folder."""

_DATA: Final = re.compile(r"data:image/[\w.+-]+(?:;[\w-]+=[\w-]+)*;base64,", re.IGNORECASE)
PICTURE_TYPES: Final = frozenset({"image", "image_url", "input_image"})


@dataclass(frozen=True)
class Read:
    """The contents of a person's message.

    Attributes:
        message: The message as it is kept.
        text: Its words.
        pictures: What it shows, in order.
        troubles: Why some of it cannot be used, in sentences.
        notices: What to know about pictures that look otherwise than their files, in sentences.
    """

    message: HumanMessage
    text: str
    pictures: tuple[Picture, ...] = ()
    troubles: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def bounded(known: Sequence[AnyMessage], new: Any) -> list[AnyMessage]:  # noqa: ANN401 - whatever add_messages reads
    """Add messages to a conversation, or replace those of the same id, and let go of the oldest beyond the bounds."""
    messages = cast("list[AnyMessage]", add_messages(cast("Any", list(known)), new))[-MAX_MESSAGES:]
    sizes = [len(str(message.content)) if not _carries_pictures(message) else 0 for message in messages]
    while len(messages) > 1 and sum(sizes) > MAX_HISTORY:
        messages, sizes = messages[1:], sizes[1:]
    return messages


def text_of(message: BaseMessage) -> str:
    """Return the words of a message."""
    return _words(message)[:MAX_TEXT]


def read_message(message: BaseMessage, store: ArtifactStore) -> Read:
    """Read a message from outside: store its pictures, and put references in their place.

    Args:
        message: As a chat page sent it: plain text, or blocks of text and pictures. These may be OpenAI's
            (``image_url``, ``input_image``), LangChain's (``image`` with ``base64``, ``data`` or ``url``), Anthropic's
            (``image`` with ``source``), agent-chat-ui's, or references to stored pictures.
        store: Where pictures go.
    """
    text = text_of(message)
    pictures: list[Picture] = []
    troubles: list[str] = []
    notices: list[str] = []
    blocks = [block for block in _blocks(message.content) if block.get("type") in PICTURE_TYPES]
    for place, block in enumerate(blocks[:MAX_PICTURES], 1):
        try:
            pictures.append(stored_picture(block, f"picture {place}", store, notices))
        except BadInput as error:
            troubles.append(str(error))
    if len(blocks) > MAX_PICTURES:
        troubles.append(f"There are {len(blocks)} pictures; at most {MAX_PICTURES} are looked at together.")
    if (length := len(_words(message))) > MAX_TEXT:
        troubles.append(f"That has {length:,} characters; at most {MAX_TEXT:,} are read: say it in fewer words.")
    kept = HumanMessage(content=_content(text, pictures), id=message.id)
    return Read(kept, text, tuple(pictures), tuple(troubles), tuple(notices))


def reply_message(text: str, pictures: Sequence[Picture], **told: object) -> AIMessage:
    """Return a reply.

    Args:
        text: Markdown.
        pictures: What it shows.
        told: What pages may want to know beside it; kept as the message's ``additional_kwargs``.
    """
    return AIMessage(content=_content(text[:MAX_TEXT], pictures), additional_kwargs={"snellen": told})


def pictures_in(message: BaseMessage) -> list[str]:
    """Return the ids of the stored pictures that a kept message refers to."""
    return [str(block["file_id"]) for block in _blocks(message.content) if block.get("file_id")]


def referred(message: BaseMessage) -> list[Picture]:
    """Return the stored pictures that a message refers to, as ``reference`` wrote it."""
    known = [block for block in _blocks(message.content) if block.get("file_id") and "extras" in block]
    return [Picture(str(one["file_id"]), one["extras"]["width"], one["extras"]["height"]) for one in known]


def reference(picture: Picture, notices: Sequence[str] = ()) -> Block:
    """Return the block that stands for a stored picture.

    Args:
        picture: Which one.
        notices: What to know about it, in sentences, until the message is read.
    """
    block = {"type": "image", "file_id": picture.id, "mime_type": "image/png"}
    address = os.environ.get(LINKS_VARIABLE, "").rstrip("/")
    size: Block = {"width": picture.width, "height": picture.height}
    size |= {"notices": list(notices)} if notices else {}
    return block | {"extras": size} | ({"url": f"{address}/{picture.id}.png"} if address else {})


def _content(text: str, pictures: Sequence[Picture]) -> str | list[str | Block]:
    if not pictures:
        return text
    return [*([{"type": "text", "text": text}] if text else []), *map(reference, pictures)]


def _words(message: BaseMessage) -> str:
    return " ".join(part for part in _texts(message.content) if part).strip()


def _texts(content: str | Sequence[str | Block]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if isinstance(block, str):
            yield block
        elif block.get("type") in {"text", "input_text"}:
            yield str(block.get("text", ""))


def _blocks(content: str | Sequence[str | Block]) -> list[Block]:
    return [] if isinstance(content, str) else [_block(block) for block in content if isinstance(block, dict)]


def _block(block: Block) -> Block:
    """Return a block; a stored picture's reference, as states and servers write it, as the block that names it."""
    return {"type": "image", "file_id": block.get("id")} if block.get("type") == "Picture" else block


def _carries_pictures(message: BaseMessage) -> bool:
    """Tell whether a message still has whole pictures in it: it has just come in, and is about to be read."""
    return any(block.get("type") in PICTURE_TYPES and not block.get("file_id") for block in _blocks(message.content))


def stored_picture(block: Block, name: str, store: ArtifactStore, notices: list[str] | None = None) -> Picture:
    """Store the picture of a block, or find the one that it refers to.

    Args:
        block: In any form that pages send.
        name: What to call it in errors.
        store: Where it goes.
        notices: What to know about the picture is added to them; None logs it.

    Raises:
        BadInput: It is none, too large, or lies elsewhere.
    """
    if block.get("file_id"):
        if notices is not None:
            notices += _told_before(block)
        return known_picture(str(block["file_id"]), store)
    encoded = encoded_picture(block)
    if len(encoded) > MAX_BYTES * 4 // 3 + 4:
        msg = f"The {name} has more than {MAX_BYTES:,} bytes; give a smaller one."
        raise BadInput(msg)
    try:
        content = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        msg = f"The {name} is not whole: its base64 text cannot be read; send it again."
        raise BadInput(msg) from error
    if notices is None:
        return store.put(read_picture(content, name))
    known = notices
    return store.put(read_picture(content, name, notice=lambda notice: known.append(capitalized(notice))))


def _told_before(block: Block) -> list[str]:
    """Return the notices that whoever stored a picture put into its block, which clients may have changed."""
    extras = block.get("extras")
    notices = extras.get("notices") if isinstance(extras, dict) else None
    sentences = [" ".join(one.split()) for one in notices if isinstance(one, str)] if isinstance(notices, list) else []
    return [one[:_NOTICE] for one in sentences[:_NOTICES] if one]


def encoded_picture(block: Block) -> str:
    """Return the base64 text of the picture in a block, in whichever form the block is.

    Raises:
        BadInput: It has none, but an address.
    """
    source = block.get("source")
    nested: Mapping[str, Any] = source if isinstance(source, dict) else {}
    for text in (block.get("base64"), block.get("data"), nested.get("data")):
        if isinstance(text, str) and text:
            return text[text.find(",") + 1 :] if text.startswith("data:") else text
    address = block.get("image_url") or block.get("url") or nested.get("url") or ""
    if isinstance(address, dict):
        address = address.get("url", "")
    begins = _DATA.match(str(address))
    if begins:
        return str(address)[begins.end() :]
    msg = "A picture was sent as an address, which is not looked up: send the picture itself."
    raise BadInput(msg)


def known_picture(picture_id: str, store: ArtifactStore) -> Picture:
    """Return the reference to a stored picture.

    Raises:
        BadInput: There is none of that id.
    """
    try:
        width, height = store.get(picture_id).size
    except BadInput:
        raise
    except SnellenError as error:
        msg = f"There is no picture {picture_id[:12]}… here: send it again."
        raise BadInput(msg) from error
    return Picture(id=picture_id, width=width, height=height)
