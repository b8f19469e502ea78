"""Load: many users of one server at once, each with a token and a memory of their own.

    python -m benchmarks.serve                       # 50 users for 2 minutes
    python -m benchmarks.serve --users 5 --seconds 20 --json
    python -m benchmarks.serve --out docs/results/serve   # also write report.json and load.png there
    python -m benchmarks.serve --kinds ask --pause 1      # nothing but questions: how many are answered a second
    python -m benchmarks.serve --kinds ask --pause 1 --servers 2   # two processes, of which each user has one

The server is `snellen serve` in a process of its own, or several that share a home, with a new home, on a free port of
this machine. Of several each user always gets the same one, as from a proxy that goes by tokens. Each user does
one thing after the other, waits a moment in between, and draws what to do: ask about a picture of their own (in
OpenAI's form, half of them as streams), ask why, list threads, fetch a picture, open the page. `/health` is probed ten
times a second. What is measured: requests, errors by status, seconds by kind, the answers to the probes, and the memory
of the server before, meanwhile, at the end, and when it has been left alone for a while. Statuses 429 and 503 are the
limits' own.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import httpx

ROOT = Path(__file__).parents[1]
SCENE = ROOT / "examples" / "scene.png"
QUESTIONS = (
    "Is there a dog in the picture?",
    "How many dogs are there?",
    "Is there a cat and a dog?",
    "What color is the umbrella?",
    "Blur everything but the dog.",
)
KINDS = {"ask": 5, "why": 2, "threads": 2, "picture": 3, "page": 1}
"""How often each thing is done, in proportion."""
LIMITS = frozenset({429, 503})
PROBE_SECONDS = 0.1
REST_SECONDS = 10.0
SPAN_SECONDS = 10.0
"""How far the rows of what was seen over time lie apart."""


class Probe(NamedTuple):
    """One request for ``/health``.

    Attributes:
        at: Seconds since the load began.
        seconds: How long the answer took.
        memory: What the server held then, in bytes.
    """

    at: float
    seconds: float
    memory: int


@dataclass
class LoadMeasurements:
    """What was measured."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    statuses: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    probes: list[Probe] = field(default_factory=list)
    memory: dict[str, int] = field(default_factory=dict)
    processors: float = 0.0
    troubles: list[str] = field(default_factory=list)

    def add(self, kind: str, status: str, seconds: float) -> None:
        """Add a request."""
        self.statuses[kind][status] += 1
        if status == "200":
            self.seconds[kind].append(seconds)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=50, metavar="N", help="how many (50)")
    parser.add_argument("--seconds", type=float, default=120, metavar="S", help="for how long (120)")
    parser.add_argument("--pictures", type=int, default=4, metavar="N", help="of each user, drawn for them (4)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND", help="what they do")
    parser.add_argument("--pause", type=float, default=2, metavar="S", help="seconds in between, on average (2)")
    parser.add_argument("--servers", type=int, default=1, metavar="N", help="processes that share the users (1)")
    parser.add_argument("--no-page", dest="page", action="store_false", help="leave the page out")
    parser.add_argument("--json", action="store_true", help="print the measurements as JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write them and a plot here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="snellen-load-") as folder:
        tokens = made_tokens(Path(folder), options.users)
        with ExitStack() as stack:
            servers = [
                stack.enter_context(served(Path(folder), number, page=options.page))
                for number in range(options.servers)
            ]
            processes, urls = [one for one, _ in servers], [url for _, url in servers]
            seen = asyncio.run(loaded(urls, tokens, [one.pid for one in processes], options))
            for process in processes:
                process.send_signal(signal.SIGTERM)
            began = time.monotonic()
            statuses = [process.wait(30) for process in processes]
            told = report(seen, options.users, options.seconds) | {
                "servers": options.servers,
                "stopped": {"status": max(statuses), "seconds": round(time.monotonic() - began, 1)},
            }
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "report.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        plot(seen, options.out / "load.png")
    print(json.dumps(told, indent=2) if options.json else in_words(told))


def made_tokens(home: Path, users: int) -> list[str]:
    """Make a token for each user of a home."""
    sys.path.insert(0, str(ROOT))
    from snellen.serving import Tokens

    tokens = Tokens(home)
    return [tokens.add(f"user{number}") for number in range(users)]


@contextmanager
def served(home: Path, number: int, *, page: bool) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the server of a number until the block ends; yields its process and where it listens."""
    env = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "snellen", "serve", "--port", "0", *([] if page else ["--no-page"])]
    log_file = home / f"server_{number}.log"
    log = log_file.open("w")
    with (
        log,
        subprocess.Popen(  # noqa: S603 - our own program
            command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        first = process.stdout.readline() if process.stdout else ""
        try:
            if not first.startswith("Snellen listens on "):
                sys.exit(f"The server did not begin: {log_file.read_text()[-2000:]}")
            yield process, first.split(",")[0].rpartition(" ")[2]
        finally:
            process.kill()


async def loaded(
    urls: Sequence[str], tokens: Sequence[str], pids: Sequence[int], options: argparse.Namespace
) -> LoadMeasurements:
    """Load the servers, and measure them."""
    seen = LoadMeasurements()
    drawn = [drawn_pictures(number, options.pictures) for number in range(len(tokens))]
    for url in urls:
        async with httpx.AsyncClient(base_url=url, timeout=120, verify=False) as client:  # noqa: S501 - plain HTTP on loopback
            # What every process reads once is not of the load.
            await Visitor(client, tokens[0], seen, random.Random(0), [SCENE.read_bytes()], options).ask()
    seen = LoadMeasurements(memory={"before": resident(pids)}, processors=-processor_seconds(pids))
    end = time.monotonic() + options.seconds
    await asyncio.gather(
        asyncio.to_thread(probed, urls[0], pids, seen, end),
        *(visit(urls[number % len(urls)], one, seen, drawn[number], end, options) for number, one in enumerate(tokens)),
    )
    seen.processors += processor_seconds(pids)
    seen.memory["end"] = resident(pids)
    await asyncio.sleep(REST_SECONDS)
    seen.memory["after"] = resident(pids)
    return seen


def probed(url: str, pids: Sequence[int], seen: LoadMeasurements, end: float) -> None:
    """Ask whether the server is alive, again and again; in a thread of its own, which nothing here holds up."""
    start = time.monotonic()
    with httpx.Client(base_url=url, timeout=10, verify=False) as client:  # noqa: S501 - plain HTTP on loopback
        while time.monotonic() < end:
            began = time.monotonic()
            answer = client.get("/health")
            seen.probes.append(Probe(began - start, time.monotonic() - began, resident(pids)))
            seen.statuses["health"][str(answer.status_code)] += 1
            time.sleep(PROBE_SECONDS)


def drawn_pictures(user: int, count: int) -> list[bytes]:
    """Draw the pictures of a user, as PNG: no other user has the same."""
    from snellen.microworld.concepts import vocabulary
    from snellen.microworld.drawing import draw
    from snellen.microworld.scenes import recipe, sample_scene

    things, files = recipe(vocabulary().share("known")), []
    for number in range(count):
        file = BytesIO()
        draw(sample_scene(f"load/{user}/{number}", things)).save(file, "PNG")
        files.append(file.getvalue())
    return files


async def visit(
    url: str, token: str, seen: LoadMeasurements, pictures: Sequence[bytes], end: float, options: argparse.Namespace
) -> None:
    """Be one user until the end."""
    draw = random.Random(token)
    async with httpx.AsyncClient(base_url=url, timeout=300, verify=False) as client:  # noqa: S501 - plain HTTP on loopback
        visitor = Visitor(client, token, seen, draw, pictures, options)
        await asyncio.sleep(draw.uniform(0, options.pause))
        while time.monotonic() < end:
            await visitor.do()
            await asyncio.sleep(draw.uniform(0, 2 * options.pause))


@dataclass
class Visitor:
    """One user.

    Attributes:
        client: Of the server.
        token: Theirs.
        seen: Where what they meet is added.
        draw: Draws what they do.
        pictures: Theirs, as files.
        options: What they do, and whether there is a page.
    """

    client: httpx.AsyncClient
    token: str
    seen: LoadMeasurements
    draw: random.Random
    pictures: Sequence[bytes]
    options: argparse.Namespace
    history: list[dict[str, Any]] = field(default_factory=list)
    picture: str = ""

    async def do(self) -> None:
        """Do one thing."""
        kinds = self.options.kinds
        kind = self.draw.choices(kinds, [KINDS[one] for one in kinds])[0]
        if kind == "page" and self.options.page:
            await self._get("page", "/")
        elif kind == "threads":
            await self._get("threads", "/threads")
        elif kind == "picture":
            await self._show()
        elif kind == "why" and self.history:
            await self._say("why", {"role": "user", "content": "why?"})
        else:
            await self.ask()

    async def ask(self) -> None:
        """Ask about a picture."""
        self.history = []
        question = {"type": "text", "text": self.draw.choice(QUESTIONS)}
        data = base64.b64encode(self.draw.choice(self.pictures)).decode()
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        await self._say("ask", {"role": "user", "content": [question, picture]})

    async def _say(self, kind: str, message: dict[str, Any]) -> None:
        stream = self.draw.random() < 0.5  # noqa: PLR2004 - half of them
        body = {"model": "embedded", "messages": [*self.history, message], "stream": stream}
        answer = await self._request(kind, "POST", "/v1/chat/completions", json=body)
        if answer is None or answer.status_code != 200:  # noqa: PLR2004 - all is well
            return
        said = streamed(answer.text) if stream else answer.json()["choices"][0]["message"]["content"]
        if said is None:
            self.seen.statuses[kind]["200"] -= 1
            self.seen.statuses[kind]["failed within a stream"] += 1
            self.seen.troubles.append(answer.text[-300:])
            return
        self.history = [*self.history, message, {"role": "assistant", "content": said}]

    async def _show(self) -> None:
        if self.picture:
            await self._get("picture", f"/artifacts/{self.picture}.png")
            return
        answer = await self._request("upload", "POST", "/artifacts", content=self.pictures[0])
        if answer is not None and answer.status_code == 201:  # noqa: PLR2004 - it is stored
            self.picture = answer.json()["id"]

    async def _get(self, kind: str, path: str) -> None:
        await self._request(kind, "GET", path)

    async def _request(self, kind: str, method: str, path: str, **more: Any) -> httpx.Response | None:  # noqa: ANN401
        began = time.monotonic()
        try:
            answer = await self.client.request(method, path, headers={"authorization": f"Bearer {self.token}"}, **more)
        except httpx.HTTPError as error:
            self.seen.add(kind, type(error).__name__, 0)
            return None
        if answer.status_code >= 400:  # noqa: PLR2004 - the first of errors
            self.seen.troubles.append(answer.text[-300:])
        status = "200" if answer.status_code == 201 else str(answer.status_code)  # noqa: PLR2004 - both are well
        self.seen.add(kind, status, time.monotonic() - began)
        return answer


def streamed(text: str) -> str | None:
    """Return what a stream said; None where it told an error, or has no end."""
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    if not text.rstrip().endswith("[DONE]") or any("error" in one for one in events):
        return None
    return "".join(one["choices"][0]["delta"].get("content") or "" for one in events if one["choices"])


def resident(pids: Sequence[int]) -> int:
    """Return the memory that processes hold, in bytes; what they share counts for each."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE")


def processor_seconds(pids: Sequence[int]) -> float:
    """Return the processor time that processes have used, in seconds."""
    used = (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13] for pid in pids)
    return sum(int(ticks) for each in used for ticks in each) / os.sysconf("SC_CLK_TCK")


def report(seen: LoadMeasurements, users: int, seconds: float) -> dict[str, Any]:
    """Return the measurements as JSON."""
    statuses = {kind: dict(one) for kind, one in sorted(seen.statuses.items())}
    errors = {
        kind: found
        for kind, one in statuses.items()
        if (found := {status: count for status, count in one.items() if status != "200" and not_a_limit(status)})
    }
    return {
        "machine": {"processors": os.cpu_count(), "kind": platform.machine(), "python": platform.python_version()},
        "users": users,
        "seconds": seconds,
        "requests": sum(sum(one.values()) for one in statuses.values()),
        "questions_a_second": round(len(seen.seconds["ask"]) / seconds, 2),
        "server_cpu_seconds": round(seen.processors, 1),
        "statuses": statuses,
        "errors": errors,
        "troubles": sorted(set(seen.troubles))[:5],
        "latency_seconds": {kind: quantiles(found) for kind, found in sorted(seen.seconds.items())},
        "health_seconds": quantiles([one.seconds for one in seen.probes])
        | {"over_200_ms": sum(one.seconds > 0.2 for one in seen.probes)},  # noqa: PLR2004
        "memory_megabytes": {name: round(held / 2**20) for name, held in seen.memory.items()},
        "over_time": list(over_time(seen.probes)),
    }


def over_time(probes: Sequence[Probe]) -> Iterator[dict[str, float]]:
    """Yield for each span of time what the server held at its end, and the slowest answer of its ``/health``."""
    for span, found in itertools.groupby(probes, lambda one: int(one.at // SPAN_SECONDS)):
        several = list(found)
        yield {
            "until_seconds": (span + 1) * SPAN_SECONDS,
            "memory_megabytes": round(several[-1].memory / 2**20),
            "health_most_seconds": round(max(one.seconds for one in several), 4),
        }


def plot(seen: LoadMeasurements, path: Path) -> None:
    """Draw the memory of the server and the answers of its ``/health`` over time."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(6.4, 4.4), layout="constrained")
    memory, health = drawing.subplots(2, sharex=True)
    at = [one.at for one in seen.probes]
    memory.plot(at, [one.memory / 2**20 for one in seen.probes], color="#2f6db5")
    memory.set_ylim(0)
    memory.set_ylabel("memory, MB")
    health.plot(at, [1000 * one.seconds for one in seen.probes], ".", markersize=2, color="#2f6db5")
    health.axhline(200, color="#b5442f", linewidth=0.8)
    health.set_ylim(0, max(220, *(1050 * one.seconds for one in seen.probes)))
    health.set_ylabel("/health, ms (limit 200)")
    health.set_xlabel("seconds under load")
    for axes in (memory, health):
        axes.spines[["top", "right"]].set_visible(False)
    drawing.savefig(path, dpi=120, metadata={"Software": None})


def not_a_limit(status: str) -> bool:
    """Tell whether a status is none that limits answer with."""
    return not (status.isdecimal() and int(status) in LIMITS)


def quantiles(found: Sequence[float]) -> dict[str, float]:
    """Return the median, the 95th and 99th percentile and the most of some seconds."""
    ordered = sorted(found) or [0.0]
    at = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in SHARES.items()}
    return {name: round(value, 4) for name, value in at.items()} | {"most": round(ordered[-1], 4), "count": len(found)}


def in_words(told: dict[str, Any]) -> str:
    """Say the measurements in lines."""
    lines = [f"{told['users']} users, {told['seconds']:g} s, {told['machine']['processors']} processors"]
    lines += [f"{told['requests']} requests; errors: {told['errors'] or 'none but the limits’ own'}"]
    for kind, one in (told["latency_seconds"] | {"health": told["health_seconds"]}).items():
        lines.append(
            f"  {kind:8} {one['count']:6}  p50 {one['p50']:.3f} s  p95 {one['p95']:.3f} s  most {one['most']:.3f} s"
        )
    lines += [
        f"{told['questions_a_second']} questions a second; the server used {told['server_cpu_seconds']} s of processors"
    ]
    lines += [f"health over 200 ms: {told['health_seconds']['over_200_ms']}", *told["troubles"]]
    lines += [f"statuses: {told['statuses']}", f"memory, MB: {told['memory_megabytes']}", f"stopped: {told['stopped']}"]
    return "\n".join(lines)


SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

if __name__ == "__main__":
    main()
