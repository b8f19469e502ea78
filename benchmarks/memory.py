"""What the memory of prompts costs: adding, opening, and looking up the nearest among up to a million features.

    python -m benchmarks.memory --rows 1000000 --dimension 768 --json

Features are drawn as those of pictures lie: around concepts, and all on one side of the origin. For every size, from
1,000 rows to --rows by tens, the same questions are asked of the memory and of a bare FAISS index of the same kind
(flat up to snellen.memory.prompts.index.FLAT_ROWS; beyond, RaBitQ codes refined by the features, with the same
oversampling). The bare one keeps its features in memory and returns numbers; the memory checks that it is up to date,
reads rows and tensors from disk and checks each against its id.

Keys of the JSON: `dimension`, `neighbours`, and `sizes`, a list with, for each size,

    rows              prompts in the pool
    kind              flat or codes
    add_seconds       adding those beyond the size before, in batches of --batch
    add_milliseconds  the same, for one prompt
    build_seconds     the first lookup, which builds and saves the search index
    start_seconds     opening the pool in a new process's state: reading and checking the saved index, one lookup
    lookup_ms         median of one lookup of the nearest --neighbours, with their tensors
    bare_ms           median of one search of the bare index
    ratio             median over the questions of lookup over bare, asked alternately
    recall            share of the exact nearest (cosine) that the lookup returned
    bare_recall       the same for the bare index
    index_mb, disk_mb size of the index file, and of the pool

and `ratio` and `recall` of the largest size.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from timeit import timeit
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from snellen.memory.prompts import LearnedPrompt, PromptPool, learned_prompt
from snellen.memory.prompts.index import FLAT_ROWS, OVERSAMPLED, TRAINED_ROWS

Vector = NDArray[np.float32]

CHECKPOINT = "benchmark"
CONCEPTS = 400
FIRST = 1000
CHUNK = 4096


def main() -> None:
    """Measure and print."""
    options = _options()
    faiss.omp_set_num_threads(options.threads)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report = _measured(Path(folder), options)
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="the largest pool (default: 1,000,000)")
    parser.add_argument("--dimension", type=int, default=768, help="numbers in a feature (default: 768)")
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


def _measured(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    draw = _Features(options.dimension, options.seed)
    questions = draw(options.questions, seed=2**31)
    sizes, count = [], 0
    while count < options.rows:
        target = min(max(FIRST, count * 10), options.rows)
        seconds = _add(folder, draw, range(count, target), options)
        sizes.append(_size(folder, draw, questions, target, options) | _added(seconds, target - count))
        count = target
        print(f"{sizes[-1]}", file=sys.stderr, flush=True)
    last = sizes[-1]
    return {
        "dimension": options.dimension,
        "neighbours": options.neighbours,
        "seed": options.seed,
        "sizes": sizes,
        "ratio": last["ratio"],
        "recall": last["recall"],
    }


class _Features:
    """Draws features around concepts; the same seed gives the same features."""

    def __init__(self, dimension: int, seed: int) -> None:
        numbers = np.random.default_rng(seed)
        self._mean = numbers.normal(size=dimension).astype(np.float32)
        self._concepts = (0.5 * numbers.normal(size=(CONCEPTS, dimension))).astype(np.float32)

    def __call__(self, count: int, *, seed: int) -> Vector:
        numbers = np.random.default_rng(seed)
        noise = 0.5 * numbers.standard_normal((count, len(self._mean)), dtype=np.float32)
        features: Vector = self._mean + self._concepts[numbers.integers(0, CONCEPTS, count)] + noise
        unit: Vector = features / np.linalg.norm(features, axis=1, keepdims=True)
        return unit

    def chunks(self, rows: range) -> Iterator[tuple[int, Vector]]:
        """Yield the features of these rows, each chunk with its first row."""
        for start in range(rows.start - rows.start % CHUNK, rows.stop, CHUNK):
            first, last = max(start, rows.start), min(start + CHUNK, rows.stop)
            yield first, self(CHUNK, seed=start)[first - start : last - start]


def _add(folder: Path, draw: _Features, rows: range, options: argparse.Namespace) -> float:
    pool, seconds = PromptPool(folder), 0.0
    for first, features in draw.chunks(rows):
        for start in range(0, len(features), options.batch):
            began = time.perf_counter()
            pool.add(*_prompts(features[start : start + options.batch], first + start))
            seconds += time.perf_counter() - began
    return seconds


def _prompts(features: Vector, first: int) -> Iterator[LearnedPrompt]:
    for number, feature in enumerate(features, first):
        # One vector of four numbers: what is measured is the search, and the disk stays small.
        yield learned_prompt("VQA", "", fingerprint=CHECKPOINT, prompt=np.full((1, 4), number + 1), feature=feature)


def _added(seconds: float, count: int) -> dict[str, float]:
    return {"add_seconds": round(seconds, 3), "add_milliseconds": round(1000 * seconds / count, 4)}


def _size(folder: Path, draw: _Features, questions: Vector, rows: int, options: argparse.Namespace) -> dict[str, Any]:
    bare, exact = _bare(draw, questions, rows, options)
    build = timeit(lambda: _look_up(PromptPool(folder), questions[0], options.neighbours), number=1)
    start = timeit(lambda: _look_up(PromptPool(folder), questions[0], options.neighbours), number=1)
    pool = PromptPool(folder)
    _look_up(pool, questions[0], options.neighbours)
    bare.search(questions[:1], options.neighbours)
    ours, theirs, found, bare_found = [], [], [], []
    for asked in questions:
        began = time.perf_counter()
        found.append(_look_up(pool, asked, options.neighbours))
        between = time.perf_counter()
        bare_found.append(bare.search(asked[None], options.neighbours)[1][0].tolist())
        ours.append(between - began)
        theirs.append(time.perf_counter() - between)
    index = pool.index_path("VQA", CHECKPOINT)
    return {
        "rows": rows,
        "kind": "codes" if rows > FLAT_ROWS else "flat",
        "build_seconds": round(build, 3),
        "start_seconds": round(start, 3),
        "lookup_ms": round(1000 * statistics.median(ours), 3),
        "bare_ms": round(1000 * statistics.median(theirs), 3),
        "ratio": round(statistics.median(one / other for one, other in zip(ours, theirs, strict=True)), 3),
        "recall": _recall(found, exact),
        "bare_recall": _recall(bare_found, exact),
        "index_mb": round(index.stat().st_size / 1e6, 1),
        "disk_mb": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1),
    }


def _bare(draw: _Features, questions: Vector, rows: int, options: argparse.Namespace) -> tuple[Any, list[list[int]]]:
    """Return the bare index over the same features, and the exact answers."""
    flat = faiss.IndexFlatIP(options.dimension)
    index: Any = flat
    if rows > FLAT_ROWS:
        codes = faiss.IndexRaBitQ(options.dimension, faiss.METRIC_INNER_PRODUCT)
        codes.train(np.concatenate([features for _, features in draw.chunks(range(TRAINED_ROWS))]))
        index = faiss.IndexRefine(codes, flat)
        index.k_factor = OVERSAMPLED
    for _, features in draw.chunks(range(rows)):
        index.add(features)
    return index, flat.search(questions, options.neighbours)[1].tolist()


def _look_up(pool: PromptPool, asked: Vector, count: int) -> list[int]:
    found = pool.candidates("VQA", "", CHECKPOINT, asked, count)
    return [round(float(prompt[0, 0])) - 1 for prompt in found.prompts]


def _recall(found: list[list[int]], exact: list[list[int]]) -> float:
    shares = [len(set(one) & set(other)) / len(other) for one, other in zip(found, exact, strict=True)]
    return round(statistics.mean(shares), 4)


def _table(report: dict[str, Any]) -> str:
    lines = [f"nearest {report['neighbours']} of features of {report['dimension']} numbers"]
    lines += [
        f"{one['rows']:>9,} {one['kind']:5}  lookup {one['lookup_ms']:8.2f} ms  bare {one['bare_ms']:8.2f} ms  "
        f"ratio {one['ratio']:6.3f}  recall {one['recall']:.3f} / {one['bare_recall']:.3f}  "
        f"add {one['add_milliseconds']:.3f} ms  build {one['build_seconds']:.2f} s  "
        f"start {one['start_seconds']:.2f} s"
        for one in report["sizes"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
