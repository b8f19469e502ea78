"""What grows with what is kept: recall, threads, trials, pictures, claims and models under test, measured by size.

    python -m benchmarks.growth --most 100000 --json

Each kind is filled to 100 and then by tens up to --most, by the quickest way there is, and what users wait for is timed
in one process that has done it before. Reported are medians of --runs times, in milliseconds of CPU time and on the
wall's clock. Demonstrations have texts of two plans' length and vectors that are drawn, not embedded: around 300 things
and 90 wordings, half each, as those of instructions are.

Keys of the JSON: for each kind a list with, for each size, `rows` and for each operation `ms` and `cpu_ms`:

    recall    recalled: the nearest four of one part of the pool, a plan and a program for each instruction;
              recalled_after_adding: the same, right after two were added; added: these two; opened: recalled with all
              that a new process reads
    threads   found: the graph of one thread; page: the first 50 lines of the list
    trials    found: 64 of them; added: 64 others
    pictures  stored and read: one; listed: the names of all
    claims    decided: the verdicts on all of them together (e-BH)
    models    opened: a profile with so many models under test
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from langgraph.checkpoint.sqlite import SqliteSaver
from numpy.typing import NDArray

from snellen.memory.artifacts import ArtifactStore
from snellen.memory.checkpoints import DATABASE, thread_graph
from snellen.memory.demonstrations import Demonstration, DemonstrationPool, demonstration
from snellen.memory.home import using_home
from snellen.memory.thread_summaries import ThreadSummaryTable, stamps
from snellen.memory.trials import Trial, TrialKey, TrialTable
from snellen.profiles import load_profile
from snellen.reasoning.subjects import subjects_of
from snellen.scoring.evidence import share_errors
from snellen.threads.listing import thread_page
from snellen.threads.saved_threads import Headline, SavedThread
from snellen.version import installed_version

FIRST = 100
PAGE = 50
ASKED = 64
WIDTH = 384
THINGS, WORDINGS = 300, 90


@dataclass(frozen=True)
class Operation:
    """What is timed, and what is done before each time; both are given the number of the run, -1 for the first."""

    name: str
    work: Callable[[int], object]
    before: Callable[[int], object] = lambda _: None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=1_000, help="the largest size (default: 1,000)")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--runs", type=int, default=15, help="times that each operation is done (default: 15)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, list[dict[str, Any]]] = {}
    for kind in options.kinds:
        size = FIRST
        while size <= options.most:
            with tempfile.TemporaryDirectory() as folder:
                timed = {one.name: _timed(one, options.runs) for one in KINDS[kind](Path(folder), size)}
            report.setdefault(kind, []).append({"rows": size} | timed)
            print(kind, report[kind][-1], file=sys.stderr, flush=True)
            size *= 10
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _timed(operation: Operation, runs: int) -> dict[str, float]:
    taken = []
    for run in range(-1, runs):
        operation.before(run)
        wall, cpu = time.perf_counter(), time.process_time()
        operation.work(run)
        taken.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall_ms, cpu_ms = (round(1000 * statistics.median(one), 3) for one in zip(*taken[1:], strict=True))
    return {"ms": wall_ms, "cpu_ms": cpu_ms}


def _recall(folder: Path, size: int) -> Iterator[Operation]:
    def opened() -> DemonstrationPool:
        return DemonstrationPool(folder, embed=_drawn, embedding="drawn", constructs=subjects_of)

    def ask(pool: DemonstrationPool, run: int) -> object:
        return pool.nearest(f"What is thing {run} beside?", "program", correct=True)

    pool = opened()
    pool.add(*(one for number in range(size // 2) for one in _demonstrations(number)))
    for run in range(10):  # as a server has done that has been running for a while
        ask(pool, run)
    yield Operation("recalled", lambda run: ask(pool, run))
    yield Operation("added", lambda run: pool.add(*_demonstrations(2 * size + run)))
    yield Operation(
        "recalled_after_adding",
        lambda run: ask(pool, run),
        before=lambda run: pool.add(*_demonstrations(size + run + 1)),
    )
    yield Operation("opened", lambda run: ask(opened(), run))


def _demonstrations(number: int) -> list[Demonstration]:
    said, correct = f"What colour is thing {number} to the left of the other one?", number % 4 > 0
    plan = ["Find the things.", "What colour are they?", "Give the result."]
    program = f"BOX0=LOC(image=IMAGE,object='thing {number}')\nANSWER0=COUNT(box=BOX0)\nFINAL=RESULT(var=ANSWER0)"
    critique = "" if correct else "COUNT would have been right."
    return [
        demonstration("plan", said, plan=plan, correct=correct, critique=critique),
        demonstration("program", said, plan=plan, program=program, correct=correct, critique=critique),
    ]


_CENTERS = np.random.default_rng(0).standard_normal((THINGS + WORDINGS, WIDTH), dtype=np.float32)


def _drawn(texts: list[str]) -> NDArray[np.float32]:
    """Draw the vectors of texts; the same text has the same one."""
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts]
    vectors = np.empty((len(texts), 2 * WIDTH), dtype=np.float32)
    for vector, seed in zip(vectors, seeds, strict=True):
        noise = 0.4 * np.random.default_rng(seed).standard_normal(2 * WIDTH, dtype=np.float32)
        places = (seed % THINGS, THINGS + seed // THINGS % WORDINGS)
        vector[:] = _CENTERS[list(places)].ravel() + noise
    return vectors


def _threads(folder: Path, size: int) -> Iterator[Operation]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        SqliteSaver(connection).setup()
        connection.executemany(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata) "
            "VALUES (?, '', ?, 'msgpack', ?, ?)",
            (
                (f"thread-{number}", _moment(number, step), os.urandom(2000), b'{"graph": "ask"}')
                for number in range(size)
                for step in range(4)
            ),
        )
        connection.commit()
    line = asdict(SavedThread(Headline("What is it?", answer=3), "2026-01-01T00:00:00+00:00"))
    of = {name: f"{installed_version()} {stamp}" for name, stamp in stamps(folder).items()}
    ThreadSummaryTable(folder).keep(dict.fromkeys(of, line), of)

    def page(_: int) -> object:
        with using_home(folder):
            return asyncio.run(thread_page(limit=PAGE))

    yield Operation("found", lambda run: thread_graph(f"thread-{(run * 37) % size}", folder))
    yield Operation("page", page)


def _moment(number: int, step: int) -> str:
    """Return the id of a checkpoint, which rises with the numbers, as a UUID of version 6 does with time."""
    return str(uuid.UUID(int=(0x1F0 << 116) | (number << 96) | (6 << 76) | (step << 64) | (2 << 62)))


def _trials(folder: Path, size: int) -> Iterator[Operation]:
    table = TrialTable(folder)
    table.add(Trial(_key(number), ((-0.1, -0.2), (-1.5,))) for number in range(size))
    yield Operation("found", lambda run: table.get([_key((run * 997 + one * 31) % size) for one in range(ASKED)]))
    yield Operation(
        "added",
        lambda run: table.add(Trial(_key(size + (run + 1) * ASKED + one), ((-0.1,), (-1.5,))) for one in range(ASKED)),
    )


def _key(number: int) -> TrialKey:
    picture = hashlib.sha256(str(number).encode()).hexdigest()
    return TrialKey("model-0123", (picture,), "What is in the image?", ("a dog", "a cat"))


def _pictures(folder: Path, size: int) -> Iterator[Operation]:
    store, names = ArtifactStore(folder), []
    for number in range(size):  # as they are stored, but for waiting until each is on the disk
        content = BytesIO()
        _picture(number).save(content, "PNG")
        names.append(hashlib.sha256(content.getvalue()).hexdigest())
        path = Path(store.place(names[-1]))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.getvalue())
    yield Operation("stored", lambda run: store.put(_picture(size + run + 1)))
    yield Operation("read", lambda run: store.get(names[run * 37 % size]))
    yield Operation("listed", lambda _: store.ids())


def _picture(number: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (16, 16), (number % 256, number // 256 % 256, number // 65_536))


def _claims(_: Path, size: int) -> Iterator[Operation]:
    strengths = np.exp(np.random.default_rng(0).normal(0, 3, size)).tolist()
    yield Operation("decided", lambda _: share_errors(strengths))


def _models(folder: Path, size: int) -> Iterator[Operation]:
    profile = folder / "many.toml"
    path = folder / "checkpoint"
    path.mkdir()
    lines = ['extends = "embedded"']
    settings = f'class = "CLIPModel"\nfolder = "{path}"'
    lines += [f"[tested.model-{number}]\n{settings}" for number in range(size)]
    profile.write_text("\n".join(lines), encoding="utf-8")
    yield Operation("opened", lambda _: load_profile(str(profile)))


KINDS = {
    "recall": _recall,
    "threads": _threads,
    "trials": _trials,
    "pictures": _pictures,
    "claims": _claims,
    "models": _models,
}


def _table(report: dict[str, list[dict[str, Any]]]) -> str:
    lines = []
    for kind, sizes in report.items():
        for one in sizes:
            timed = [f"{name} {each['ms']:.2f} ms (CPU {each['cpu_ms']:.2f})" for name, each in list(one.items())[1:]]
            lines.append(f"{kind:9} {one['rows']:>8,}  {'  '.join(timed)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
