"""A scripted OpenAI-compatible server on loopback: each request gets the next reply of the script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One scripted reply; an object is sent as JSON text, or as a tool call where tools were asked for."""

    content: str | Mapping[str, Any] | None = None
    arguments: str | None = None
    """The text of a tool call's arguments, however broken."""
    status: int = 200
    finish_reason: str = "stop"
    refusal: str | None = None
    delay: float = 0.0
    tokens: tuple[int, int] | None = (100, 10)
    body: bytes | None = None
    """Sent instead of a chat completion."""
    drip: bool = False
    """Send the body's first byte again and again until the server closes."""


@dataclass
class Script:
    """What the server will say and what it was asked."""

    replies: list[Reply]
    ways: frozenset[str]
    """Which of "response_format" and "tools" the endpoint supports; others get HTTP 400."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the requests that took a reply off the script."""
    keys: list[str] = field(default_factory=list)
    base_url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    def said(self, request: int = -1) -> str:
        """Return everything that the messages of a request said."""
        return "\n".join(str(message["content"]) for message in self.requests[request]["messages"])


@contextmanager
def openai_server(replies: Sequence[Reply], *, ways: Sequence[str] = ("response_format", "tools")) -> Iterator[Script]:
    """Serve the script until the block ends; a request beyond it gets HTTP 418."""
    script = Script(list(replies), frozenset(ways))
    server = _Server(script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    script.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield script
    finally:
        script.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    def __init__(self, script: Script) -> None:
        self.script = script
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        script = self.server.script
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for way in ("response_format", "tools"):
            if asked.get(way) and way not in script.ways:
                self._send(400, _error(f"{way} is not supported by this model"))
                return
        script.requests.append(asked)
        script.keys.append(self.headers.get("Authorization", ""))
        reply = script.replies.pop(0) if script.replies else Reply(status=418)
        script.closing.wait(reply.delay) if reply.delay else None
        if reply.drip:
            self._drip()
        elif reply.status != 200:
            self._send(reply.status, reply.body or _error(f"scripted failure {reply.status}"))
        else:
            self._send(200, reply.body or json.dumps(_completion(reply, asked)).encode())

    def _send(self, status: int, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the client has given up waiting
            self.close_connection = True

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        try:
            while not self.server.script.closing.wait(0.02):
                self.wfile.write(b" ")
        except ConnectionError:
            pass
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "scripted", "code": None}}).encode()


def _completion(reply: Reply, asked: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": reply.refusal}
    if isinstance(reply.content, str):
        message["content"] = reply.content
    elif asked.get("tools") and (reply.arguments or reply.content is not None):
        arguments = reply.arguments or json.dumps(reply.content)
        function = {"name": asked["tools"][0]["function"]["name"], "arguments": arguments}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    elif reply.content is not None:
        message["content"] = json.dumps(reply.content)
    completion: dict[str, Any] = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}],
    }
    if reply.tokens is not None:
        read, written = reply.tokens
        completion["usage"] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return completion
