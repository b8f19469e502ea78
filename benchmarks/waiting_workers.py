"""Workers that wait as long as a model on an accelerator would compute: OpenAI-compatible servers without a model.

    python -m benchmarks.waiting_workers --workers 8 --seconds 1

Each worker has an address of its own, and answers one question after the other, as a GPU does that computes one batch
at a time; further ones wait. How long an answer takes and what it is follow from the question alone: 0.75 to 1.25 times
--seconds, evenly. Answers are log-probabilities of the letters A and B. A line of JSON, {"addresses": […]}, says when
all are there; they end with their standard input.

All workers of a process share one thread, which only waits: no picture is decoded, and no JSON read.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Final

_LONGEST: Final = 1.25
"""Times the seconds, that an answer takes at most; the shortest takes as much less."""
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD_BYTES: Final = 2**16


@dataclass
class WaitingWorker:
    """A worker.

    Args:
        seconds: Of an answer, on average.
    """

    seconds: float
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes over a connection until it is closed."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = _LENGTH.search(head)
                body = await reader.readexactly(int(found[1]) if found else 0)
                digest = hashlib.sha256(body).digest()
                async with self._turn:
                    await asyncio.sleep(seconds_of(digest, self.seconds))
                writer.write(_reply(digest))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


def seconds_of(digest: bytes, average: float) -> float:
    """Return how long a question of some digest takes; on average over digests, the average."""
    share = int.from_bytes(digest[:4], "big") / 2**32
    return average * (_LONGEST - 2 * (_LONGEST - 1) * share)


def _reply(digest: bytes) -> bytes:
    logprobs = [-0.05 - digest[4] / 100, -0.05 - digest[5] / 100]
    likely = [{"token": letter, "logprob": logprob} for letter, logprob in zip("AB", logprobs, strict=True)]
    written = {"content": [{"token": "A", "logprob": logprobs[0], "top_logprobs": likely}]}
    choice = {"index": 0, "message": {"role": "assistant", "content": "A"}, "logprobs": written}
    body = json.dumps({"object": "chat.completion", "model": "waiting", "choices": [choice]}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def _serve(count: int, seconds: float) -> None:
    workers = [WaitingWorker(seconds) for _ in range(count)]
    servers = [await asyncio.start_server(one.serve, "127.0.0.1", 0, limit=_HEAD_BYTES) for one in workers]
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    sys.stdout.write(json.dumps({"addresses": [f"http://127.0.0.1:{port}/v1" for port in ports]}) + "\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)  # whoever still waits for an answer has ended, too


def main() -> None:
    """Serve until the standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    asyncio.run(_serve(options.workers, options.seconds))


if __name__ == "__main__":
    main()
