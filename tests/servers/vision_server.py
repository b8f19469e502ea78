"""A small model behind a real OpenAI-compatible server on loopback: it reads words, and likes them by their hash.

Servers with the same weights like the same. What they offer is what servers offer: vLLM's log-probabilities of the
prompt, those of the likeliest next tokens, or an answer alone; a strict one refuses requests for more. Faults are
scripted: the next requests meet them, one after the other.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Kind = Literal["vllm", "openai", "plain", "strict"]
Fault = Literal[
    "slow", "drip", "refuse", "limit", "forbid", "reject", "cut", "html", "miscount", "silent", "endless", "nan"
]

PICTURE_TOKENS = 9


@dataclass
class Served:
    """What is served, and what was asked for."""

    kind: Kind
    faults: list[Fault] = field(default_factory=list)
    weights: str = ""
    model: str | None = None
    delay: float = 0.0
    gate: threading.Event | None = None
    retry_after: str = ""
    dead: bool = False
    under_way: int = 0
    most_under_way: int = 0
    times: list[float] = field(default_factory=list)
    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def texts(self) -> list[str]:
        """The words of each request, without its choices."""
        return [request["messages"][0]["content"][-1]["text"].partition("\n")[0] for request in self.requests]

    @contextmanager
    def one_more(self) -> Iterator[None]:
        with self.lock:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            self.times.append(time.monotonic())
        try:
            yield
        finally:
            with self.lock:
                self.under_way -= 1

    def next_fault(self) -> Fault | None:
        with self.lock:
            return self.faults.pop(0) if self.faults else None


@contextmanager
def vision_server(kind: Kind, faults: Sequence[Fault] = (), *, weights: str = "", port: int = 0) -> Iterator[Served]:
    """Serve until the block ends."""
    served = Served(kind, list(faults), weights)
    server = _Server(("127.0.0.1", port), type("Handler", (_Handler,), {"served": served}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    served.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield served
    finally:
        served.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def likely(context: Sequence[str], token: str) -> float:
    """The log-probability of a token after others; no distribution, but always the same."""
    digest = hashlib.sha256(json.dumps([*context, token]).encode()).digest()
    return -0.01 - int.from_bytes(digest[:2], "big") / 20_000


def tokens_of(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Write a conversation as the model reads it: pictures, words, and a sign before each answer."""
    read: list[str] = []
    for message in messages:
        parts = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        for part in parts:
            if "image_url" in part:
                name = hashlib.sha256(part["image_url"]["url"].encode()).hexdigest()
                read += [f"<{name}>"] * PICTURE_TOKENS
            else:
                read += re.findall(r"\w+|[^\w\s]", part["text"])
        if message["role"] == "user":
            read.append("<answer>")
    return read


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet: a client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: Served

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.served.requests.append(asked)
        self.served.keys.add(self.headers.get("Authorization", ""))
        if self.served.dead:
            self.close_connection = True
            return
        fault = self.served.next_fault()
        try:
            with self.served.one_more():
                if self.served.delay:
                    self.served.closing.wait(self.served.delay)
                if self.served.gate is not None:
                    self.served.gate.wait(60)
                self._reply(asked, fault)
        except ConnectionError:  # the client has given up waiting
            self.close_connection = True

    def _reply(self, asked: dict[str, Any], fault: Fault | None) -> None:
        refused = {
            "refuse": (503, "overloaded"),
            "limit": (429, "slow down"),
            "forbid": (401, "wrong key"),
            "reject": (400, "no"),
        }
        if fault in refused:
            status, why = refused[fault]
            self._send(status, json.dumps({"error": {"message": why}}).encode())
        elif self.served.kind == "strict" and {"prompt_logprobs", "logprobs"} & asked.keys():
            self._send(422, b'{"detail": "unexpected fields"}')
        elif fault == "html":
            self._send(200, b"<html>It works!</html>")
        elif fault == "endless":
            self._send(200, b" " * 9_000_000)
        elif fault == "drip":
            self._drip()
        else:
            if fault == "slow":
                self.served.closing.wait(1.0)
            self._send(200, json.dumps(self._completion(asked, fault)).encode(), cut=fault == "cut")

    def _completion(self, asked: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        read = [*filter(None, [self.served.weights]), *tokens_of(asked["messages"])]
        words = ["A", "B", "C", "D", "yes", "no", "cat"]
        best = max(words, key=lambda word: likely(read, word))
        choice: dict[str, Any] = {"index": 0, "message": {"role": "assistant", "content": f"{best}."}}
        if asked.get("logprobs") and self.served.kind in {"vllm", "openai"}:
            top = [{"token": f" {word}", "logprob": likely(read, word)} for word in words]
            choice["logprobs"] = {"content": [{"token": best, "logprob": -0.1, "top_logprobs": top}]}
        reply: dict[str, Any] = {
            "object": "chat.completion",
            "model": self.served.model or asked["model"],
            "choices": [choice],
            "usage": {"prompt_tokens": len(read) + (fault == "miscount")},
        }
        if self.served.kind == "vllm" and "prompt_logprobs" in asked and fault != "silent":
            reply["prompt_logprobs"] = [
                None
                if place == 0
                else {
                    str(len(token)): {
                        "logprob": float("nan") if fault == "nan" else likely(read[:place], token),
                        "decoded_token": f" {token}",
                    }
                }
                for place, token in enumerate(read)
            ]
        return reply

    def _send(self, status: int, body: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if self.served.retry_after and status != HTTPStatus.OK:
            self.send_header("Retry-After", self.served.retry_after)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = cut

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not self.served.closing.wait(0.02):
            self.wfile.write(b" ")

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""
