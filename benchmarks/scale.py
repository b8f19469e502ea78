"""Scaling: how much faster trials are measured by 1, 2, 4 … workers, and what the coordinator pays for each.

    python -m benchmarks.scale --json
    python -m benchmarks.scale --arms campaign --workers 4 16 64 --seconds 6

Workers wait as long as a model on an accelerator would compute (`benchmarks.waiting_workers`), so that a small machine
drives many: the latency is stated with --seconds, not recorded. All else is real: pictures in a home, questions over
HTTP, the pool of servers, trials in the home's table. Arms:

    table     one model, a picture and two choices a trial, all known from the beginning, as `prove run` and `pairs run`
              ask (`TrialRunner.run`): --trials for each worker
    campaign  a campaign about four models, all of which each worker has (`run_campaign`): as many cells as workers, at
              least two, and half of them at a time. The coordinator draws pictures, weighs evidence and saves threads,
              too; answers are those of a coin

Before the clock starts each worker has answered a question of each model, by which servers are compared. Keys of the
JSON, for each arm and number of workers: `trials`; `wall` seconds; `efficiency`, the share of the workers' time that
the answers took; `speed_up`, workers times that; `cpu_ms`, milliseconds of the coordinator's processor time for each
trial, of all its threads; `most_workers`, as many as one core of a coordinator keeps busy; `load`, processes that
wanted a processor of this machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import PIL.Image

from snellen.errors import SnellenError
from snellen.evaluation.campaigns import Campaign, run_campaign
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import FOLDER, ArtifactStore, encoded
from snellen.memory.home import using_home
from snellen.memory.trials import TrialKey, TrialTable
from snellen.models.under_test import InProcess, Question
from snellen.profiles import Profile, load_profile

ROOT: Final = Path(__file__).resolve().parents[1]
WORKERS: Final = (1, 2, 4, 8, 16, 32, 64)
MODELS: Final = ("one", "two", "three", "four")
IMAGES: Final = 24
"""Pictures of a cell, at most."""
GROUPS: Final = ("animals", "birds", "sea animals", "vehicles", "buildings", "fruit", "household objects", "plants")
CONDITIONS: Final = (
    "left rotation", "low contrast", "defocus blur", "zoom", "vertical flip", "JPEG compression", "high brightness",
    "Gaussian noise",
)  # fmt: skip
"""Under which each group is recognized."""
_A_PROCESS: Final = 32
"""Workers that one process plays."""
_PROFILE: Final = """\
extends = "embedded"
"""
_MODEL: Final = """\
[tested.{name}]
url = {addresses}
model = "{name}"
offer = "letters"
timeout = 3600
at_once = {at_once}
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    parser.add_argument("--workers", nargs="+", type=int, default=list(WORKERS))
    parser.add_argument("--seconds", type=float, default=1.0, help="that an answer takes (%(default)s)")
    parser.add_argument("--at-once", type=int, default=2, help="questions a worker is given at a time (%(default)s)")
    parser.add_argument("--trials", type=int, default=24, help="of a table, for each worker (%(default)s)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {
        "processors": os.cpu_count(),
        "python": sys.version.split()[0],
        "at_once": options.at_once,
    }
    for arm in options.arms:
        report[arm] = {"seconds": options.seconds}
        for count in options.workers:
            figures = report[arm][str(count)] = measured(
                arm, count, seconds=options.seconds, at_once=options.at_once, trials=options.trials
            )
            print(arm, count, figures, file=sys.stderr, flush=True)
    print(json.dumps(report, indent=2) if options.json else table(report))


def measured(arm: str, count: int, *, seconds: float, at_once: int, trials: int) -> dict[str, float]:
    """Have so many workers, and time an arm that asks them."""
    with tempfile.TemporaryDirectory() as folder, workers(count, seconds) as addresses:
        file = Path(folder) / "waiting.toml"
        models = (
            _MODEL.format(name=name, addresses=json.dumps(addresses), at_once=at_once)
            for name in (MODELS if arm == "campaign" else MODELS[:1])
        )
        file.write_text(_PROFILE + "".join(models))
        waiting = Waiting(load_profile(file), InProcess(load_profile(file)), Path(folder) / "home", count)
        work = ARMS[arm](waiting, trials)
        waiting.meet()
        wall, cpu = time.perf_counter(), time.process_time()
        done = work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    efficiency = done * seconds / (count * wall)
    return {
        "trials": done,
        "wall": round(wall, 1),
        "efficiency": round(efficiency, 3),
        "speed_up": round(efficiency * count, 2),
        "cpu_ms": round(1000 * cpu / done, 2),
        "most_workers": int(seconds * done / cpu),
        "load": round(os.getloadavg()[0], 1),
    }


@dataclass(frozen=True)
class Waiting:
    """What an arm works with.

    Attributes:
        profile: Has the workers' addresses.
        executor: Asks them; whoever asks models of this profile in this process shares what it holds.
        home: A new one.
        workers: How many there are.
    """

    profile: Profile
    executor: InProcess
    home: Path
    workers: int

    def meet(self) -> None:
        """Have each model asked at each worker."""
        questions = [Question((picture,), "Are you there?", ("yes", "no")) for picture in pictures(3 * self.workers)]
        for name in self.profile.tested.keys() & set(MODELS):
            self.executor.rank(name, questions)


@contextmanager
def workers(count: int, seconds: float) -> Iterator[list[str]]:
    """Have so many workers, in processes of their own, and return their addresses."""
    addresses: list[str] = []
    with ExitStack() as stack:
        for begun in range(0, count, _A_PROCESS):
            words = ["--workers", str(min(_A_PROCESS, count - begun)), "--seconds", str(seconds)]
            command = [sys.executable, "-m", "benchmarks.waiting_workers", *words]
            process = stack.enter_context(
                subprocess.Popen(  # noqa: S603 - our own
                    command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
            stack.callback(process.communicate)  # closes its standard input, with which it ends
            addresses += json.loads(process.stdout.readline() if process.stdout else b"{}")["addresses"]
        yield addresses


def pictures(count: int) -> Iterator[PIL.Image.Image]:
    """Draw some pictures of the world, and tell further ones apart by a pixel."""
    world = load_profile("embedded").world()
    drawn = [world.portrait(("dog", "cat")[number % 2], str(number)).picture() for number in range(min(count, 32))]
    for number in range(count):
        picture = drawn[number % len(drawn)].copy()
        picture.putpixel((0, 0), (number % 256, number // 256 % 256, number // 65_536))
        yield picture


def _table(waiting: Waiting, trials: int) -> Callable[[], int]:
    """Return what measures trials, each about another picture, which are stored beforehand."""
    runner = TrialRunner(waiting.executor, TrialTable(waiting.home), ArtifactStore(waiting.home / FOLDER))
    files = {stored.id: content for stored, content in map(encoded, pictures(waiting.workers * trials))}
    runner.pictures.put_all(files)
    fingerprint = waiting.executor.card(MODELS[0]).fingerprint
    keys = [TrialKey(fingerprint, (one,), "Is it a dog or a cat?", ("dog", "cat")) for one in files]
    return lambda: len(runner.run(MODELS[0], keys))


def _campaign(waiting: Waiting, _: int) -> Callable[[], int]:
    """Return what runs a campaign of as many cells as there are workers.

    A first cell has imported and read what is needed late, such as the check that a thing can still be seen.
    """
    cells = [
        f"{GROUPS[number % len(GROUPS)]} under {CONDITIONS[(number + number // len(GROUPS)) % len(CONDITIONS)]}"
        for number in range(max(waiting.workers, 2))
    ]
    _run_campaign(waiting, waiting.home.with_name("before"), ["instruments under zoom"])
    return lambda: _run_campaign(waiting, waiting.home, cells)


def _run_campaign(waiting: Waiting, home: Path, rows: Sequence[str]) -> int:
    made = Campaign(
        name="scale", title="What a campaign costs", query="Can models recognize {row}?", rows=list(rows),
        profile=str(waiting.profile.path), models=list(MODELS), images=IMAGES,
    )  # fmt: skip

    async def answered() -> None:
        async for result in run_campaign(made, at_once=-(-len(rows) // 2)):
            if result.trouble or not result.accuracies:
                raise SnellenError(result.trouble or f"{result.cell.query} was not examined.")

    with using_home(home):
        asyncio.run(answered())
    return TrialTable(home).count()


ARMS: Final[dict[str, Callable[[Waiting, int], Callable[[], int]]]] = {"table": _table, "campaign": _campaign}


def table(report: dict[str, Any]) -> str:
    """Return the figures as a table in Markdown."""
    lines = [
        "| arm | workers | trials | wall, s | speed-up | efficiency | coordinator, CPU ms a trial |",
        "|---" * 7 + "|",
    ]
    for arm in (each for each in ARMS if each in report):
        lines += [
            f"| {arm} | {count} | {one['trials']:,} | {one['wall']} | {one['speed_up']} | {one['efficiency']:.2f} "
            f"| {one['cpu_ms']} |"
            for count, one in report[arm].items()
            if count != "seconds"
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
