"""Validation of input to LangGraph's server before it reaches a graph: states, settings, pictures."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid5

from langgraph_api.graph import NAMESPACE_GRAPH
from pydantic_core import from_json

from snellen.errors import BadInput
from snellen.graphs.messages import PICTURE_TYPES, encoded_picture, known_picture, reference
from snellen.memory.artifacts import is_picture_id
from snellen.memory.thread_deletion import delete_threads
from snellen.memory.thread_locks import is_running
from snellen.profiles import profile_names
from snellen.runtime.resources import open_pictures
from snellen.runtime.settings import OWN_KEY, InvestigationSettings, RunSettings
from snellen.serving.limits import Refusal, send_refusal
from snellen.serving.settings import ServerSettings
from snellen.serving.studio.thread_ids import THREAD_IDS
from snellen.serving.uploads import Uploads
from snellen.threads.thread import checked_values
from snellen.threads.thread_types import THREAD_TYPES
from snellen.values import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from snellen.graphs.states import Json
    from snellen.values import Picture

_STATES: Final[dict[str, type]] = {name: kind.state for name, kind in THREAD_TYPES.items()}
_SETTINGS: Final[dict[str, type]] = {"ask": RunSettings, "learn": RunSettings}
"""What a graph is given beside its state, where that is less than an investigation is."""
_ASSISTANTS: Final = {name: name for name in _STATES} | {str(uuid5(NAMESPACE_GRAPH, name)): name for name in _STATES}
"""The graph of each assistant, which clients name by its graph or by the UUID that the server makes of that."""
_THREAD: Final = re.compile(r"/threads/(?P<thread>[0-9a-f-]{36})(?:/|$)")
_CARRYING: Final = ("/runs", "/threads", "/assistants", "/mcp", "/a2a")
"""Where the addresses begin by which something can reach a graph."""
_ASKING: Final = ("/search", "/count")
"""Where those end that only look for something."""
_STATE_KEYS: Final = frozenset({"input", "values", "update"})
"""Under what a body carries a state or a part of one, however deep: of runs, batches, crons, supersteps, commands."""
_TOOL_KEYS: Final = frozenset({"arguments"})
"""The same of tools of MCP; elsewhere, tools of experiments have arguments."""
_APART: Final = frozenset({"resume", "metadata"})
"""What reaches no state as it is: decisions, which the nodes that asked for them check, and notes."""


@dataclass
class InputValidation:
    """Pure ASGI middleware: bodies that carry a state, a context or messages are checked, pictures stored.

    Whoever edits a state is told what is wrong with it at once, not by a node that fails later. A picture in a message
    is stored, and a reference put in its place, before the message reaches a checkpoint.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request. Websockets are not let in: LangGraph's server knows none of our users there."""
        path = scope.get("path", "")
        if scope["type"] == "http" and scope["method"] == "DELETE" and await _is_run(path):
            # The server would forget a run that goes on, and whoever stops it would find nothing.
            message = "This thread is running: cancel its run first, then delete it."
            await send_refusal(Refusal(409, "busy", message), scope, receive, send)
            return
        if scope["type"] == "http" and scope["method"] == "DELETE":
            await _delete_with_belongings(path, scope["state"]["user"].name)
        asks = scope["type"] != "http" or scope["method"] not in {"POST", "PATCH", "PUT"} or path.endswith(_ASKING)
        if asks or not path.startswith(_CARRYING):
            await self.app(scope, receive, send)
            return
        try:
            body = await _checked(await _body(receive), scope)
        except BadInput as error:
            await send_refusal(Refusal(422, "input", str(error)), scope, receive, send)
            return
        await self.app(_sized(scope, len(body)), _replayed(body, receive), send)


async def _is_run(path: str) -> bool:
    match = _THREAD.fullmatch(path)
    if not match:
        return False
    known = await THREAD_IDS.find(match["thread"])
    return await asyncio.to_thread(is_running, known.name, known.home)


async def _delete_with_belongings(path: str, user: str) -> None:
    """Delete a thread with what belongs to it alone; the server itself only forgets its states."""
    match = _THREAD.fullmatch(path)
    known = await THREAD_IDS.find(match["thread"]) if match else None
    # Of another user's, the server says itself that there is none.
    if known is not None and known.user == user:
        await delete_threads([known.name], known.home)


async def _checked(body: bytes, scope: Scope) -> bytes:
    """Return a body as it may go on.

    Raises:
        BadInput: It is no JSON, or something in it may not.
    """
    if not body.strip():
        return body
    try:
        content = from_json(body)
    except ValueError as error:
        # Nothing passes that was not looked at.
        msg = "The body is not valid JSON, or too deep."
        raise BadInput(msg) from error
    match = _THREAD.match(scope["path"])
    graph = (await THREAD_IDS.find(match["thread"])).graph if match else ""
    await _check_json(content, graph, scope)
    return json.dumps(content).encode()


async def _check_json(content: Any, graph: str, scope: Scope) -> None:  # noqa: ANN401 - whatever JSON came
    """Check what a body carries into a graph, wherever in it that stands.

    Raises:
        BadInput: It may not.
    """
    for one in content if isinstance(content, list) else ():
        await _check_json(one, graph, scope)
    if not isinstance(content, dict):
        return
    graph = _ASSISTANTS.get(str(content.get("assistant_id") or content.get("graph_id") or content.get("name")), graph)
    carrying = _TOOL_KEYS if scope["path"].startswith("/mcp") else _STATE_KEYS
    for key, value in content.items():
        if key in _APART:
            continue
        if key in carrying:
            for one in _parts(value):
                await _check_values(one, graph, scope)
        elif key == "context" and isinstance(value, dict):
            await _check_settings(value, graph)
        elif key == "configurable" and isinstance(value, dict):
            await _check_profile(value.get("profile"))
            await _check_settings(value.get(OWN_KEY), graph)
        else:
            await _check_json(value, graph, scope)


def _parts(value: Any) -> Iterator[Json]:  # noqa: ANN401 - whatever JSON came
    """Yield the parts of a state that a value holds: itself, several, or pairs of a field and what it becomes.

    Raises:
        BadInput: There are pairs: they could not be checked in place.
    """
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, list):
            msg = "Give the values as an object with a field for each, not as pairs."
            raise BadInput(msg)
        if isinstance(one, dict):
            yield one


async def _check_values(values: Json, graph: str, scope: Scope) -> None:
    await _check_profile(values.get("profile"))
    if values.get("folder"):
        msg = "Folders of this machine are not read over the network: leave folder empty."
        raise BadInput(msg)
    await _store_given(values, scope)
    messages = values.get("messages")
    await _store_pictures(messages if isinstance(messages, list) else [messages], scope)
    kinds = [_STATES[graph]] if graph in _STATES else list(_STATES.values())
    others = {name: value for name, value in values.items() if name != "messages"}
    for kind in kinds:
        try:
            checked_values(others, kind)
        except BadInput:
            if kind is kinds[-1]:
                raise
        else:
            break
    for name in ("pictures", "shown"):
        if values.get(name):
            values[name] = await asyncio.to_thread(_known_pictures, values[name], scope["state"]["user"].home)


async def _check_settings(settings: object, graph: str) -> None:
    if settings is None:
        return
    if not isinstance(settings, dict):
        msg = "Settings must be an object with a field for each."
        raise BadInput(msg)
    checked_values(settings, _SETTINGS.get(graph, InvestigationSettings), whole="context")
    await _check_profile(settings.get("profile"))


async def _store_given(values: Json, scope: Scope) -> None:
    """Store the pictures that a state brings as data addresses or blocks of messages; paths are not read."""
    pictures = values.get("pictures")
    if not isinstance(pictures, list):
        return
    user = scope["state"]["user"]
    uploads = Uploads(open_pictures(user.home), ServerSettings())
    for place, one in enumerate(pictures):
        if isinstance(one, str):
            pictures[place] = to_json(await _named_picture(one, user.home, uploads))
        elif isinstance(one, dict) and one.get("type") in PICTURE_TYPES:
            pictures[place] = to_json(await _sent_picture(one, user.home, uploads))


async def _named_picture(text: str, home: Path, uploads: Uploads) -> Picture:
    if is_picture_id(text):
        return await asyncio.to_thread(known_picture, text, open_pictures(home))
    if text[:5].lower() == "data:":
        return await uploads.add_reference(text)
    msg = "Send a picture as a data: address, or name it by its id: other paths and addresses are not read."
    raise BadInput(msg)


async def _sent_picture(block: Json, home: Path, uploads: Uploads) -> Picture:
    if block.get("file_id"):
        return await asyncio.to_thread(known_picture, str(block["file_id"]), open_pictures(home))
    return await uploads.add_reference(encoded_picture(block))


def _known_pictures(references: list[Json], home: Path) -> list[Json]:
    """Return references to pictures with the sizes that the stored ones have.

    Raises:
        BadInput: One is not there.
    """
    store = open_pictures(home)
    return [to_json(known_picture(one["id"], store)) for one in references]


async def _store_pictures(messages: list[Any], scope: Scope) -> None:
    user = scope["state"]["user"]
    uploads = Uploads(open_pictures(user.home), ServerSettings())
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            continue
        for place, block in enumerate(content):
            if isinstance(block, dict) and block.get("type") in PICTURE_TYPES and not block.get("file_id"):
                stored = await uploads.add_reference(encoded_picture(block))
                content[place] = reference(stored, uploads.notices.get(stored.id, ()))


async def _check_profile(profile: object) -> None:
    """Let shipped profiles be named, no files."""
    if profile and profile not in (known := await asyncio.to_thread(profile_names)):
        msg = f"There is no profile {str(profile)[:40]!r} here: choose one of {', '.join(known)}."
        raise BadInput(msg)


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _sized(scope: Scope, size: int) -> Scope:
    headers = [(name, value) for name, value in scope["headers"] if name.lower() != b"content-length"]
    return {**scope, "headers": [*headers, (b"content-length", str(size).encode())]}


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
