"""Cold start: the seconds until a command has answered in a process of its own, and the modules that it imported.

    python -m benchmarks.cold_start                         # each command five times
    python -m benchmarks.cold_start --runs 9 --json
    python -m benchmarks.cold_start --against ../before     # in turn with the code of another checkout

``ask`` runs in a process of its own, ``ask (resident)`` in the resident process of its home, which a command before it
has started; CPU seconds are then those of the command line and of the child that answers. Commands run in a new home in
which a question was asked before, so that files are cached by the system and lists have a line. Wall and CPU seconds
(user and system, of all threads) are those of the whole process, from its start to its end; the least of several runs
is the one that other programs of the machine disturbed least. With ``--against`` both checkouts take turns, with the
same Python and the same libraries, and the ratio is the median over the turns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from snellen.cli.resident.client import asked, end

ROOT: Final = Path(__file__).resolve().parents[1]
SCENE: Final = ROOT / "examples" / "scene.png"
QUESTION: Final = ("ask", str(SCENE), "How many dogs are there?")
COMMANDS: Final[Mapping[str, Sequence[str]]] = {
    "--version": ("--version",),
    "threads": ("threads",),
    "memory list": ("memory", "list"),
    "reports": ("reports",),
    "ask": QUESTION,
    "ask (resident)": QUESTION,
}
_RESIDENT: Final = frozenset({"ask (resident)"})
_PATIENCE: Final = 300.0
"""Seconds until a resident process is ready."""
_COUNTING: Final = """\
import os, sys
sys.orig_argv, sys.path[0] = [sys.executable, "-m", "snellen"], os.getcwd()  # as that begins
from snellen.cli.main import main
status = main()
sys.stderr.write(f"\\n{len(sys.modules)}")
sys.exit(status)
"""


@dataclass(frozen=True)
class CommandTurn:
    """One run of a command.

    Attributes:
        wall: Seconds from its start to its end.
        cpu: Seconds of processors, user and system.
    """

    wall: float
    cpu: float


@dataclass(frozen=True)
class Start:
    """The cold start of a command.

    Attributes:
        command: The command.
        wall: The least seconds from its start to its end.
        cpu: The least seconds of processors.
        wall_median: The median over the runs.
        cpu_median: The median over the runs.
        modules: The modules that were imported at its end.
    """

    command: str
    wall: float
    cpu: float
    wall_median: float
    cpu_median: float
    modules: int


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="runs of each command (default: 5)")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout, which takes turns with this one")
    parser.add_argument("--only", action="append", choices=COMMANDS, help="only this command; repeat for more")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    roots = [ROOT] if options.against is None else [ROOT, options.against.resolve()]
    report = measured(roots, options.only or list(COMMANDS), runs=options.runs)
    print(json.dumps(report, indent=2) if options.json else table(report))


def measured(roots: Sequence[Path], commands: Sequence[str], *, runs: int) -> dict[str, Any]:
    """Measure commands of one checkout, or of two in turn."""
    turns: dict[tuple[Path, str], list[CommandTurn]] = {(root, name): [] for root in roots for name in commands}
    modules: dict[tuple[Path, str], int] = {}
    with tempfile.TemporaryDirectory() as place:
        homes = {root: Path(place) / str(number) for number, root in enumerate(roots)}
        for root in roots:
            timed(root, homes[root], "ask")
        for name in commands:
            for root in roots:
                modules[root, name] = counted(root, homes[root], name)
                await_resident(homes[root])
            for _ in range(runs):
                for root in roots:
                    turns[root, name].append(timed(root, homes[root], name))
        for root in roots:
            end(homes[root])
    starts = [[asdict(start(name, turns[root, name], modules[root, name])) for name in commands] for root in roots]
    report: dict[str, Any] = {"python": sys.version.split()[0], "processors": os.cpu_count(), "runs": runs}
    report["commands"] = starts[0]
    if len(roots) > 1:
        report["against"] = starts[1]
        report["ratios"] = {name: ratio(turns[roots[1], name], turns[roots[0], name]) for name in commands}
    return report


def timed(root: Path, home: Path, name: str) -> CommandTurn:
    """Run a command, and return how long it took.

    Raises:
        CalledProcessError: It failed.
    """
    before = await_resident(home)
    began = time.perf_counter()
    process = _begun(root, home, name, ["-m", "snellen"])
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return CommandTurn(wall, used.ru_utime + used.ru_stime + await_resident(home) - before)


def await_resident(home: Path) -> float:
    """Wait until a home's resident process, if any, has nothing to do; return the CPU seconds of its commands."""
    until = time.monotonic() + _PATIENCE
    while (said := asked(home, "status", seconds=_PATIENCE)) is not None:
        if said["left"] == said["running"] == 0 or time.monotonic() > until:
            return float(said["seconds"])
        time.sleep(0.1)
    return 0.0


def counted(root: Path, home: Path, name: str) -> int:
    """Run a command, and return how many modules it had imported at its end."""
    process = _begun(root, home, name, ["-c", _COUNTING], stderr=subprocess.PIPE)
    _, said = process.communicate()
    return int(said.splitlines()[-1])


def _begun(
    root: Path, home: Path, name: str, python: Sequence[str], *, stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    environment = os.environ | {
        "SNELLEN_HOME": str(home),
        "SNELLEN_RESIDENT": "60" if name in _RESIDENT else "off",
        "PYTHONPATH": str(root),
        "HF_HUB_OFFLINE": "1",
    }
    words = [sys.executable, *python, *COMMANDS[name]]
    return subprocess.Popen(  # noqa: S603 - our own program
        words, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=stderr, text=True
    )


def start(command: str, turns: Sequence[CommandTurn], modules: int) -> Start:
    """Sum up the runs of a command."""
    walls, cpus = [one.wall for one in turns], [one.cpu for one in turns]
    figures = (min(walls), min(cpus), statistics.median(walls), statistics.median(cpus))
    return Start(command, *(round(one, 3) for one in figures), modules)


def ratio(before: Sequence[CommandTurn], after: Sequence[CommandTurn]) -> dict[str, float]:
    """Return how many times less time the second took, turn by turn."""
    pairs = list(zip(before, after, strict=True))
    return {
        "wall": round(statistics.median(one.wall / other.wall for one, other in pairs), 2),
        "cpu": round(statistics.median(one.cpu / other.cpu for one, other in pairs), 2),
    }


def table(report: dict[str, Any]) -> str:
    """Return the report as a table in Markdown."""
    beside = {one["command"]: one for one in report.get("against", ())}
    lines = [
        "| command | wall, s | CPU, s | modules |" + (" before: wall | CPU | modules | CPU, × |" if beside else "")
    ]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for one in report["commands"]:
        line = f"| `snellen {one['command']}` | {one['wall']:.2f} | {one['cpu']:.2f} | {one['modules']:,} |"
        if (other := beside.get(one["command"])) is not None:
            line += f" {other['wall']:.2f} | {other['cpu']:.2f} | {other['modules']:,} |"
            line += f" {report['ratios'][one['command']]['cpu']:.1f} |"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
