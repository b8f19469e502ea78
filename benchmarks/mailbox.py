"""A mailbox: a folder in which requests to a chat model lie until somebody answers them.

Request 7 is ``007.json`` (kind, schema, messages), to be read as ``007.md``, where the rules that many requests share
stand once, in a file of their own. Its answer is a JSON object in ``007.reply.json``; one that cannot be used is moved
aside, and ``007.refused.txt`` says why. A person can answer, or any model that reads and writes files.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.recordings import RecordedQuestion, RecordedRequest, Reply
from snellen.errors import SnellenError

GUIDE: Final = """\
# A mailbox: you are the chat model

Each request is a file `NNN.md` here (`NNN.json` is the same for programs). Answer from what it says and from the rules
that it names, nothing else.

1. Read the rules that the request names, `rules-….md`; they are the same for many requests.
2. Read `NNN.md`. It ends with the question, and with the form of the reply.
3. Write the reply, one JSON object and nothing else, to `NNN.reply.json`.
4. `NNN.refused.txt` appears where a reply has not the right form; it says why. Write `NNN.reply.json` again.

A request without `NNN.reply.json` is open; many may be open at once, and may be answered in any order. An answer may
lead to the next request within seconds or minutes: look again until `DONE` appears.
"""
DONE: Final = "DONE"
"""The file that says that nothing more is asked."""
_SETTLED: Final = 0.5
"""Seconds for which a file that is no JSON must have stayed as it is: it may be half written."""
_TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


class MailboxClosedError(SnellenError):
    """Nobody will answer any more."""


class Mailbox:
    """Requests and replies as files of a folder.

    Args:
        folder: Where they lie; made if it is missing. Requests that lie there already are not asked again.
        tell: Takes a line of progress.
        poll: Seconds between two looks at the folder.
    """

    def __init__(self, folder: Path, *, tell: Callable[[str], object] = print, poll: float = 0.5) -> None:
        self.folder = folder
        self._tell = tell
        self._poll = poll
        self._posting = threading.Lock()
        self._closed = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DONE).unlink(missing_ok=True)
        _write(folder / "README.md", GUIDE)

    def close(self) -> None:
        """Let everybody who waits go, and tell whoever answers that nothing more is asked."""
        self._closed.set()
        _write(self.folder / DONE, "Nothing more is asked.\n")

    def ask(self, request: RecordedRequest) -> Reply:
        """Post a request and wait until it is answered with an object of its schema.

        Raises:
            MailboxClosedError: The mailbox was closed before.
        """
        number, began = self._post(request), time.monotonic()
        while not self._closed.wait(self._poll):
            reply = self._taken(number, request)
            if reply is not None:
                self._tell(f"{number} answered after {time.monotonic() - began:.0f} s")
                return reply
        msg = f"The mailbox was closed before {number}.reply.json came: start again, and it will be asked once more."
        raise MailboxClosedError(msg)

    def _post(self, request: RecordedRequest) -> str:
        with self._posting:
            numbers = [path.stem for path in sorted(self.folder.glob("[0-9]*.json")) if path.stem.isdigit()]
            for number in numbers:
                if json.loads((self.folder / f"{number}.json").read_text(encoding="utf-8"))["prompt"] == request.digest:
                    return number
            number = f"{max(map(int, numbers), default=0) + 1:03d}"
            content = {
                "kind": request.kind,
                "prompt": request.digest,
                "schema": request.schema,
                "messages": list(request.messages),
            }
            _write(self.folder / f"{number}.md", self._page(number, request))
            _write(self.folder / f"{number}.json", json.dumps(content, ensure_ascii=False, indent=1))
        self._tell(f"{number} waits for {number}.reply.json: {RecordedQuestion.of(request)}")
        return number

    def _page(self, number: str, request: RecordedRequest) -> str:
        """Write a request to be read: what is its own, and where the rules stand."""
        lines = [f"# Request {number}: {request.kind}", ""]
        for message in request.messages:
            if message["role"] == "system":
                name = f"rules-{request.kind}-{hashlib.sha256(message['content'].encode()).hexdigest()[:8]}.md"
                _write(self.folder / name, message["content"])
                lines += [f"Rules: `{name}`", ""]
            else:
                head = "Your reply before" if message["role"] == "assistant" else "Message"
                lines += [f"## {head}", "", message["content"], ""]
        form = {name: one.get("type", "object") for name, one in request.schema.get("properties", {}).items()}
        lines += [f"Answer with a JSON object in `{number}.reply.json`; its keys: {json.dumps(form)}", ""]
        return "\n".join(lines)

    def _taken(self, number: str, request: RecordedRequest) -> Reply | None:
        """Return the reply if a usable one is there; move an unusable one aside, with the reason."""
        path = self.folder / f"{number}.reply.json"
        try:
            text, age = path.read_text(encoding="utf-8", errors="replace"), time.time() - path.stat().st_mtime
        except FileNotFoundError:
            return None
        reply, fault = read_reply(text, request.schema)
        if reply is not None:
            (self.folder / f"{number}.refused.txt").unlink(missing_ok=True)
            return reply
        if age >= _SETTLED:
            path.replace(self.folder / f"{number}.unusable.json")
            _write(self.folder / f"{number}.refused.txt", f"{fault}\n")
            self._tell(f"{number} refused: {fault}")
        return None


def read_reply(text: str, schema: Mapping[str, Any]) -> tuple[Reply | None, str]:
    """Read a reply; else say in a sentence why it cannot be used.

    Keys and the types of their values are looked at. All else is for whoever asked to judge, who may ask again.
    """
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError) as error:
        return None, f"The reply is not JSON ({error}): write one JSON object and nothing else."
    if not isinstance(reply, dict):
        return None, f"The reply is {type(reply).__name__}, not an object: write one JSON object, in braces."
    return next(((None, fault) for fault in _faults(reply, schema)), (reply, ""))


def _faults(reply: Reply, schema: Mapping[str, Any]) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in reply:
            yield f"The reply has no {name!r}: its keys are {', '.join(schema.get('properties', {}))}."
    for name, described in schema.get("properties", {}).items():
        kind = described.get("type")
        if name in reply and kind in _TYPES and not isinstance(reply[name], _TYPES[kind]):
            yield f"The reply's {name!r} is {type(reply[name]).__name__}: it must be of the type {kind}."


def _write(path: Path, text: str) -> None:
    # Moved into place, so that nobody reads half a file.
    half = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    half.write_text(text, encoding="utf-8")
    half.replace(path)
