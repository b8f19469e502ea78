"""What the memory of prompts costs: adding, opening, and looking up the nearest among up to a million features.

    python -m benchmarks.memory --rows 1000000 --dimension 768 --json

For each kind of data, from 1,000 rows to --rows by tens, the same questions are asked of the memory and of bare FAISS
indexes, which keep their features in memory and return numbers; the memory checks that it is up to date, reads rows and
tensors from disk and checks each against its id. Bare indexes are flat, RaBitQ, and inverted lists over RaBitQ as the
memory has them (turned at random), the last two refined by the features; of all the numbers of lists that are looked
into and of candidates that are refined, the one that takes the least CPU time and finds at least as much as the memory
is the one to compare with.

Data (--data), all of unit length and on one side of the origin:

    clustered   around 400 concepts
    spread      one cloud whose variances fall as 1/j
    even        one cloud with equal variances: no row is much nearer than others, so lists cannot help

Keys of the JSON: `dimension`, `neighbours`, `seed`, and `data`, a list with, for each kind, its name and `sizes`, a
list with, for each size,

    rows              prompts in the pool
    kind              flat or lists; `lists` and `probes`: how many there are, and how many a search looks into
    add_seconds       adding those beyond the size before, in batches of --batch; add_cpu_seconds beside it
    add_milliseconds  the same, for one prompt
    build_seconds     the first lookup, which builds and saves the search index; build_cpu_seconds beside it
    start_seconds     opening the pool in a new process's state: reading and checking the saved index, one lookup
    lookup_ms         median of one lookup of the nearest --neighbours, with their tensors; lookup_cpu_ms beside it
    added_ms          the same, right after one prompt was added
    recall            share of the exact nearest (cosine) that the lookup returned
    bare              the best bare index at that recall: its name, ms, cpu_ms and recall; null if none finds as much
    ratio, cpu_ratio  median over the questions of lookup over best bare, asked alternately
    forget_seconds    forgetting one prompt, in the database and in the index file
    index_mb, disk_mb size of the index file, and of the pool
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from snellen.memory.prompts import LearnedPrompt, PromptPool, learned_prompt
from snellen.memory.prompts.index import FIRST_LISTS, SAMPLED, lists_for

Vector = NDArray[np.float32]

CHECKPOINT = "benchmark"
CONCEPTS = 400
FIRST = 1000
CHUNK = 4096
FACTORS = (5, 10, 20, 40, 80)


def main() -> None:
    """Measure and print."""
    options = _options()
    faiss.omp_set_num_threads(options.threads)
    measured = []
    for data in options.data:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            measured.append({"data": data, "sizes": _measured(Path(folder), data, options)})
    report = {name: getattr(options, name) for name in ("dimension", "neighbours", "seed")} | {"data": measured}
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="the largest pool (default: 1,000,000)")
    parser.add_argument("--dimension", type=int, default=768, help="numbers in a feature (default: 768)")
    parser.add_argument("--data", nargs="+", choices=list(_FALLING), default=["clustered", "spread"])
    parser.add_argument("--neighbours", type=int, default=20, help="prompts that are looked up (default: 20)")
    parser.add_argument("--questions", type=int, default=30, help="lookups of each size (default: 30)")
    parser.add_argument("--batch", type=int, default=CHUNK, help="prompts that are added at once (default: 4096)")
    parser.add_argument("--threads", type=int, default=1, help="threads of FAISS, in both arms (default: 1)")
    parser.add_argument("--folder", help="where to keep the pool meanwhile, 4 kB a row (default: the temporary one)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="10,000 rows of 64 numbers, for a look at the keys")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.dimension, options.questions = 10_000, 64, 5
    return options


def _measured(folder: Path, data: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    draw = _Features(data, options.dimension, options.seed)
    questions = draw(options.questions, seed=2**31)
    sizes: list[dict[str, Any]] = []
    count = 0
    while count < options.rows:
        target = min(max(FIRST, count * 10), options.rows)
        added = _add(folder, draw, range(count, target), options)
        sizes.append(_size(folder, draw, questions, target, options) | added.named("add", target - count))
        count = target
        print(f"{data} {sizes[-1]}", file=sys.stderr, flush=True)
    return sizes


@dataclass(frozen=True)
class _Time:
    """Seconds on the wall's clock and of the processor."""

    wall: float
    cpu: float

    def __add__(self, other: _Time) -> _Time:
        return _Time(self.wall + other.wall, self.cpu + other.cpu)

    def named(self, name: str, count: int = 0) -> dict[str, float]:
        each = {f"{name}_milliseconds": round(1000 * self.wall / count, 4)} if count else {}
        return {f"{name}_seconds": round(self.wall, 3), f"{name}_cpu_seconds": round(self.cpu, 3)} | each


def _timed(work: Callable[[], object]) -> _Time:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return _Time(time.perf_counter() - wall, time.process_time() - cpu)


_FALLING = {"clustered": 0.0, "spread": 0.5, "even": 0.0}
"""The deviation of the j-th direction falls as j to minus this."""


class _Features:
    """Draws features of one kind; the same seed gives the same features."""

    def __init__(self, data: str, dimension: int, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        self._mean = numbers.normal(size=dimension).astype(np.float32)
        concepts = (0.5 * numbers.normal(size=(CONCEPTS, dimension))).astype(np.float32)
        self._concepts = concepts if data == "clustered" else np.zeros_like(concepts)
        spectrum = np.arange(1, dimension + 1) ** -_FALLING[data]
        # Clouds are as wide as a cluster, so that the kinds of data differ in their shape alone.
        self._deviations = (spectrum * 0.5 / np.sqrt(np.mean(spectrum**2))).astype(np.float32)

    def __call__(self, count: int, *, seed: int) -> Vector:
        numbers = np.random.default_rng(seed)
        noise = self._deviations * numbers.standard_normal((count, len(self._mean)), dtype=np.float32)
        features: Vector = self._mean + self._concepts[numbers.integers(0, CONCEPTS, count)] + noise
        unit: Vector = features / np.linalg.norm(features, axis=1, keepdims=True)
        return unit

    def chunks(self, rows: range) -> Iterator[tuple[int, Vector]]:
        """Yield the features of these rows, each chunk with its first row."""
        for start in range(rows.start - rows.start % CHUNK, rows.stop, CHUNK):
            first, last = max(start, rows.start), min(start + CHUNK, rows.stop)
            yield first, self(CHUNK, seed=start)[first - start : last - start]


def _add(folder: Path, draw: _Features, rows: range, options: argparse.Namespace) -> _Time:
    pool, taken = PromptPool(folder), _Time(0, 0)
    for first, features in draw.chunks(rows):
        for start in range(0, len(features), options.batch):
            prompts = list(_prompts(features[start : start + options.batch], first + start))
            taken += _timed(partial(pool.add, *prompts))
    return taken


def _prompts(features: Vector, first: int) -> Iterator[LearnedPrompt]:
    for number, feature in enumerate(features, first):
        # One vector of four numbers: what is measured is the search, and the disk stays small.
        yield learned_prompt("VQA", "", fingerprint=CHECKPOINT, prompt=np.full((1, 4), number + 1), feature=feature)


def _size(folder: Path, draw: _Features, questions: Vector, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    build, start = (_timed(lambda: _look_up(PromptPool(folder), questions[0], options.neighbours)) for _ in range(2))
    pool = PromptPool(folder)
    found = [_look_up(pool, asked, options.neighbours) for asked in questions]
    bare = _Bare(draw, rows, options)
    exact = bare.exact(questions)
    recall = _recall(found, exact)
    best = bare.best(questions, exact, recall)
    ours, theirs = [], []
    for asked in questions:
        ours.append(_timed(partial(_look_up, pool, asked, options.neighbours)))
        if best is not None:
            theirs.append(_timed(partial(best.search, asked)))
    bare_report = None if best is None else {"name": best.name, "recall": best.recall} | _medians(theirs)
    index = pool.index_path("VQA", CHECKPOINT)
    sizes = {
        "index_mb": round(index.stat().st_size / 1e6, 1),
        "disk_mb": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1),
    }
    lists = lists_for(rows)
    return (
        {"rows": rows, "kind": "lists" if lists else "flat", "lists": lists}
        | build.named("build")
        | start.named("start")
        | {f"lookup_{name}": value for name, value in _medians(ours).items()}
        | {"recall": recall, "bare": bare_report}
        | (_ratios(ours, theirs) if theirs else {"ratio": None, "cpu_ratio": None})
        | sizes
        | _changed(pool, draw, questions, options)
    )


def _changed(pool: PromptPool, draw: _Features, questions: Vector, options: argparse.Namespace) -> dict[str, Any]:
    """Measure a lookup right after one prompt was added, and forgetting them, which leaves the pool as it was."""
    prompts = list(_prompts(draw(len(questions), seed=2**31 + 1), 2**23))
    after = []
    for asked, prompt in zip(questions, prompts, strict=True):
        pool.add(prompt)
        after.append(_timed(partial(_look_up, pool, asked, options.neighbours)))
    forgotten = _timed(lambda: pool.forget([prompts[0].row.id]))
    pool.forget([one.row.id for one in prompts])
    return {f"added_{name}": value for name, value in _medians(after).items()} | forgotten.named("forget")


def _medians(times: list[_Time]) -> dict[str, float]:
    return {
        "ms": round(1000 * statistics.median(one.wall for one in times), 3),
        "cpu_ms": round(1000 * statistics.median(one.cpu for one in times), 3),
    }


def _ratios(ours: list[_Time], theirs: list[_Time]) -> dict[str, float]:
    pairs = list(zip(ours, theirs, strict=True))
    return {
        "ratio": round(statistics.median(one.wall / other.wall for one, other in pairs), 3),
        "cpu_ratio": round(statistics.median(one.cpu / other.cpu for one, other in pairs), 3),
    }


@dataclass(frozen=True)
class _Way:
    """A bare index with one setting."""

    name: str
    search: Callable[[Vector], list[int]]
    recall: float


class _Bare:
    """Bare indexes over the same features."""

    def __init__(self, draw: _Features, rows: int, options: argparse.Namespace) -> None:
        self._count, width = options.neighbours, options.dimension
        self._flat = faiss.IndexFlatIP(width)
        lists = lists_for(rows) or FIRST_LISTS
        known = np.concatenate([features for _, features in draw.chunks(range(min(rows, SAMPLED * lists)))])
        rotation = faiss.RandomRotationMatrix(width, width)
        rotation.init(1)
        self._centers = faiss.IndexFlatIP(width)
        self._lists = faiss.IndexIVFRaBitQ(self._centers, width, lists, faiss.METRIC_INNER_PRODUCT)
        self._turned = faiss.IndexPreTransform(rotation, self._lists)
        self._codes = faiss.IndexRaBitQ(width, faiss.METRIC_INNER_PRODUCT)
        self._lists.cp.min_points_per_centroid = 1
        for index in (self._turned, self._codes):
            index.train(known)
        for _, features in draw.chunks(range(rows)):
            for index in (self._flat, self._turned, self._codes):
                index.add(features)

    def exact(self, questions: Vector) -> list[list[int]]:
        """Return the nearest."""
        nearest: list[list[int]] = self._flat.search(questions, self._count)[1].tolist()
        return nearest

    def best(self, questions: Vector, exact: list[list[int]], recall: float) -> _Way | None:
        """Return the fastest that finds at least so much."""
        tried = [(_seconds(way, questions), way) for way in self._ways(questions, exact) if way.recall >= recall]
        return min(tried, key=lambda one: one[0])[1] if tried else None

    def _ways(self, questions: Vector, exact: list[list[int]]) -> Iterator[_Way]:
        probes = [2**power for power in range(self._lists.nlist.bit_length())]
        settings = [(0, 0), *((0, factor) for factor in FACTORS), *((n, factor) for n in probes for factor in FACTORS)]
        for lists, factor in settings:
            search = self._search(lists, factor)
            found = [search(asked) for asked in questions]
            name = f"lists {lists}, refined {factor}x" if lists else f"codes, refined {factor}x" if factor else "flat"
            yield _Way(name, search, _recall(found, exact))

    def _search(self, lists: int, factor: int) -> Callable[[Vector], list[int]]:
        index = self._flat
        if factor:
            index = faiss.IndexRefine(self._turned if lists else self._codes, self._flat)
            index.k_factor = factor

        def search(asked: Vector) -> list[int]:
            self._lists.nprobe = lists or 1
            found: list[int] = index.search(asked[None], self._count)[1][0].tolist()
            return found

        return search


def _seconds(way: _Way, questions: Vector) -> float:
    return statistics.median(_timed(partial(way.search, asked)).cpu for asked in questions)


def _look_up(pool: PromptPool, asked: Vector, count: int) -> list[int]:
    found = pool.candidates("VQA", "", CHECKPOINT, asked, count)
    return [round(float(prompt[0, 0])) - 1 for prompt in found.prompts]


def _recall(found: list[list[int]], exact: list[list[int]]) -> float:
    shares = [len(set(one) & set(other)) / len(other) for one, other in zip(found, exact, strict=True)]
    return round(statistics.mean(shares), 4)


def _table(report: dict[str, Any]) -> str:
    lines = [f"nearest {report['neighbours']} of features of {report['dimension']} numbers"]
    for kind in report["data"]:
        lines += [
            f"{kind['data']:9} {one['rows']:>9,} {one['kind']:5}  lookup {one['lookup_ms']:8.2f} ms "
            f"(CPU {one['lookup_cpu_ms']:8.2f})  "
            f"recall {one['recall']:.3f}  after adding {one['added_ms']:8.2f} ms  "
            f"best bare {_bare_line(one['bare'])}  ratio {one['cpu_ratio'] or math.nan:6.3f}  "
            f"add {one['add_milliseconds']:.3f} ms  build {one['build_seconds']:.2f} s  "
            f"start {one['start_seconds']:.2f} s  forget {one['forget_seconds']:.2f} s"
            for one in kind["sizes"]
        ]
    return "\n".join(lines)


def _bare_line(bare: dict[str, Any] | None) -> str:
    return "none" if bare is None else f"{bare['ms']:8.2f} ms, recall {bare['recall']:.3f} ({bare['name']})"


if __name__ == "__main__":
    main()
