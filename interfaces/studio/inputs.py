"""What comes into LangGraph's server is checked before it reaches a graph: states, settings, pictures."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from interfaces.directory import KINDS
from interfaces.serving.refusals import Refusal, tell
from interfaces.serving.settings import Settings
from interfaces.serving.uploads import Uploads
from interfaces.studio.names import NAMES
from interfaces.threads import checked_values
from nodes.messages import PICTURE_TYPES, encoded_picture, reference
from nodes.resources import open_pictures
from profiles import profile_names
from profiles.errors import BadInput

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from graphs.states import Json

_STATES: Final[dict[str, type]] = {name: kind.state() for name, kind in KINDS.items()}
_THREAD: Final = re.compile(r"/threads/(?P<thread>[0-9a-f-]{36})(?:/|$)")
_RUNS: Final = re.compile(r"^(?:/threads/[0-9a-f-]{36})?/runs(?:/(?:stream|wait|batch))?$")
_STATE: Final = re.compile(r"^/threads/[0-9a-f-]{36}/state$")


@dataclass
class Checked:
    """Pure ASGI middleware: bodies that carry a state, a context or messages are checked, pictures stored.

    Whoever edits a state is told what is wrong with it at once, not by a node that fails later. A picture in a message
    is stored, and a reference put in its place, before the message reaches a checkpoint.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request."""
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] != "POST" or not (_RUNS.match(path) or _STATE.match(path)):
            await self.app(scope, receive, send)
            return
        body = await _body(receive)
        try:
            said = json.loads(body)
        except ValueError:
            said = None
        if isinstance(said, dict):
            try:
                body = json.dumps(await _checked(said, path, scope)).encode()
            except BadInput as error:
                await tell(Refusal(422, "input", str(error)), scope, receive, send)
                return
        await self.app(_sized(scope, len(body)), _replayed(body, receive), send)


async def _checked(said: Json, path: str, scope: Scope) -> Json:
    """Return the body of a request as it may go on.

    Raises:
        BadInput: Something in it may not.
    """
    graph = await _graph(said, path)
    for values in (said.get("input"), said.get("values"), (said.get("command") or {}).get("update")):
        for one in values if isinstance(values, list) else [values]:
            if isinstance(one, dict):
                await _check_values(one, graph, scope)
    for context in (said.get("context"), (said.get("config") or {}).get("configurable")):
        if isinstance(context, dict):
            await _check_profile(context.get("profile"))
    return said


async def _graph(said: Json, path: str) -> str:
    assistant = str(said.get("assistant_id", ""))
    if assistant in _STATES:
        return assistant
    found = _THREAD.match(path)
    return (await NAMES.find(found["thread"])).graph if found else ""


async def _check_values(values: Json, graph: str, scope: Scope) -> None:
    await _check_profile(values.get("profile"))
    if values.get("folder"):
        msg = "A folder of this machine is not read for whoever asks over the network: leave folder empty."
        raise BadInput(msg)
    if isinstance(values.get("messages"), list):
        await _store_pictures(values["messages"], scope)
    kinds = [_STATES[graph]] if graph in _STATES else list(_STATES.values())
    others = {name: value for name, value in values.items() if name != "messages"}
    for kind in kinds:
        try:
            checked_values(others, kind)
        except BadInput:
            if kind is kinds[-1]:
                raise
        else:
            return


async def _store_pictures(messages: list[Any], scope: Scope) -> None:
    user = scope["state"]["user"]
    uploads = Uploads(open_pictures(user.home), Settings())
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            continue
        for place, block in enumerate(content):
            if isinstance(block, dict) and block.get("type") in PICTURE_TYPES and not block.get("file_id"):
                content[place] = reference(await uploads.add_reference(encoded_picture(block)))


async def _check_profile(profile: object) -> None:
    """Let shipped profiles be named, no files."""
    if profile and profile not in (known := await asyncio.to_thread(profile_names)):
        msg = f"There is no profile {str(profile)[:40]!r} here: choose among {', '.join(known)}."
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
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
