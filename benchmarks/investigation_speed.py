"""Speed of investigations: the same one by this checkout and by another in turn, each time in a new home and process.

    python -m benchmarks.investigation_speed --against ../before
    python -m benchmarks.investigation_speed --against ../before --runs 3 --syncs --json

Wall and CPU seconds (user and system, of all threads) are those of the whole process, imports and checkpoints included.
With ``--bound`` the other checkout investigates twice at the same time, in two processes: what the cores bear.
With ``--syncs`` each checkout investigates once more under strace, which counts the files that are forced to the disk.
Trials, pictures and reports of all runs are compared: they are the same to the last bit where every run has the same
OMP_NUM_THREADS, since how many threads add numbers up decides how they are rounded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
QUERY: Final = "Are the models robust to rotation?"
_KEPT: Final = {
    "trials.sqlite": "SELECT id, model, pictures, question, choices, scores, basis, said FROM trials ORDER BY id",
    "samples.sqlite": "SELECT * FROM samples ORDER BY investigation, experiment, round, arm",
}
_SYNCED: Final = re.compile(r"sync\(\d+<(?P<path>[^>]*)>")


@dataclass(frozen=True)
class Investigated:
    """An investigation in a process of its own.

    Attributes:
        wall: Seconds from its start to its end.
        cpu: Seconds of processors, user and system.
        measuring: Seconds in which models were asked and evidence was weighed, as the report has them.
    """

    wall: float
    cpu: float
    measuring: float


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, required=True, metavar="DIR", help="another checkout")
    parser.add_argument("--query", default=QUERY, help="what is investigated (%(default)s)")
    parser.add_argument("--seed", type=int, default=3, help="chooses the pictures (%(default)s)")
    parser.add_argument("--images", type=int, default=300, help="the budget (%(default)s)")
    parser.add_argument("--runs", type=int, default=2, help="runs of each checkout, in turn (%(default)s)")
    parser.add_argument("--bound", action="store_true", help="investigate in two processes at once, too")
    parser.add_argument("--syncs", action="store_true", help="count what is forced to the disk, too (needs strace)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    words = ["investigate", options.query, "--seed", f"{options.seed}", "--budget", f"images={options.images}"]
    command = [*words, "--thread", "t", "--json"]
    report = compared(options.against.resolve(), command, options.runs, bound=options.bound, syncs=options.syncs)
    print(json.dumps(report, indent=2) if options.json else table(report))


def compared(before: Path, words: Sequence[str], runs: int, *, bound: bool, syncs: bool) -> dict[str, Any]:
    """Investigate in turn, and compare.

    Args:
        before: The other checkout.
        words: The command, after ``snellen``.
        runs: How often each checkout does.
        bound: Whether the other one does so in two processes at once, too.
        syncs: Whether each does once more, and what it forces to the disk is counted.

    Raises:
        CalledProcessError: A command failed.
    """
    roots = {"before": before, "now": ROOT}
    turns: dict[str, list[Investigated]] = {name: [] for name in roots}
    left: list[object] = []
    report: dict[str, Any] = {
        "command": " ".join(words), "processors": os.cpu_count(), "python": sys.version.split()[0],
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS", ""),
    }  # fmt: skip
    for _ in range(runs):
        for name, root in roots.items():
            with tempfile.TemporaryDirectory() as home:
                turns[name].append(investigated(root, Path(home), words, left))
    for name, each in turns.items():
        report[name] = {"runs": [asdict(one) for one in each], "load": round(os.getloadavg()[0], 1)}
        report[name] |= {of: statistics.median(getattr(one, of) for one in each) for of in ("wall", "cpu", "measuring")}
    ratios = [old.wall / new.wall for old, new in zip(turns["before"], turns["now"], strict=True)]
    report["ratio"] = {"wall": statistics.median(ratios), "cpu": report["before"]["cpu"] / report["now"]["cpu"]}
    if bound:
        with tempfile.TemporaryDirectory() as home, ThreadPoolExecutor(2) as both:
            began = time.perf_counter()
            homes = [Path(home) / number for number in ("one", "other")]
            list(both.map(lambda each: investigated(before, each, words, left), homes))
            wall = time.perf_counter() - began
        report["two at once"] = {"wall": wall, "bound": 2 * report["before"]["wall"] / wall}
    for name, root in roots.items() if syncs else ():
        with tempfile.TemporaryDirectory() as home:
            trace = Path(home) / "trace"
            tracing = ["strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=fsync,fdatasync", "-o", str(trace)]
            investigated(root, Path(home) / "home", words, left, tracing=tracing)
            report[name]["syncs"] = synced(trace.read_text())
    report["same"] = all(one == left[0] for one in left)
    return report


def investigated(
    root: Path, home: Path, words: Sequence[str], left: list[object], *, tracing: Sequence[str] = ()
) -> Investigated:
    """Investigate in a home; add to ``left`` what it left there: trials, samples, and the report."""
    environment = {**os.environ, "PYTHONPATH": str(root), "SNELLEN_HOME": str(home), "SNELLEN_RESIDENT": "off"}
    command = [*tracing, sys.executable, "-m", "snellen", *words]
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, cwd=root, env=environment, stdout=output, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        output.seek(0)
        report = json.loads(output.read())["report"]
    measuring = report.pop("seconds")
    rows = {}
    for database, query in _KEPT.items():
        with closing(sqlite3.connect(home / database)) as connection:
            rows[database] = connection.execute(query).fetchall()
    left.append((report, rows, sorted(path.name for path in (home / "artifacts").glob("*/*.png"))))
    return Investigated(wall, used.ru_utime + used.ru_stime, measuring)


def synced(trace: str) -> dict[str, int]:
    """Count the files of a trace that were forced to the disk, by kind."""

    def kind(path: str) -> str:
        name = Path(path).name
        return "pictures" if ".png" in name else name.partition(".")[0] if ".sqlite" in name else "folders and others"

    counts = Counter(kind(one["path"]) for one in _SYNCED.finditer(trace))
    return {**dict(counts.most_common()), "all": counts.total()}


def table(report: dict[str, Any]) -> str:
    """Write what was measured as a table."""
    rows = [f"{'':8} {'wall, s':>9} {'CPU, s':>9} {'measuring, s':>13}"]
    for name in ("before", "now"):
        one = report[name]
        rows.append(f"{name:8} {one['wall']:9.1f} {one['cpu']:9.1f} {one['measuring']:13.1f}  {one.get('syncs', '')}")
    if "two at once" in report:
        rows.append(
            f"two at once {report['two at once']['wall']:.1f} s: the bound is {report['two at once']['bound']:.2f} ×"
        )
    same = "the same" if report["same"] else "NOT the same"
    rows.append(f"{report['ratio']['wall']:.2f} × in wall time; trials, pictures and reports are {same}")
    return "\n".join(rows)


if __name__ == "__main__":
    if "--syncs" in sys.argv and shutil.which("strace") is None:
        sys.exit("--syncs needs strace (Debian's package strace).")
    main()
