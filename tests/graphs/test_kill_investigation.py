"""An investigation that is killed with SIGKILL, whenever it is, goes on to the same verdicts; no trial is doubled."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from snellen.experiments.report import Report
from snellen.memory.samples import SampleTable
from snellen.memory.trials import TrialTable

ROOT = Path(__file__).parents[2]
KILLS = {"sqlite": 50, "postgres": 10}


class Investigators:
    """Has an investigation done by processes that may be killed."""

    def __init__(self, folder: Path, seed: int) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, str(Path(__file__).parent / "investigated.py"), str(folder), str(seed)]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def do(self, home: Path, seconds: float = 0, *, address: str = "") -> int:
        """Begin or go on in a home, with checkpoints in it or in a Postgres; return how the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(home), seconds, address]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def leave(self) -> None:
        """Let the processes end."""
        self._process.communicate()


def _left(home: Path) -> dict[str, Any]:
    report = Report.model_validate(json.loads((home / "answer").read_text())["report"])
    return {
        "answers": report.answers,
        "findings": report.findings,
        "rounds": [one.rounds for one in report.experiments],
        "rejected": [one.rejected for one in report.experiments],
        "trials": TrialTable(home).count(),
        "samples": [SampleTable(home).of("t", number) for number in range(len(report.experiments))],
    }


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "wanted"), KILLS.items())
def test_killed_at_random_times_it_ends_with_the_same_verdicts(
    tmp_path: Path, request: pytest.FixtureRequest, backend: str, wanted: int
) -> None:
    kills, seed = 0, 0
    dice = random.Random(11)
    server = request.getfixturevalue("postgres") if backend == "postgres" else None
    while kills < wanted:
        address = server.new_database(f"investigation_{seed}") if server else ""
        investigators = Investigators(tmp_path, seed)
        whole, broken = tmp_path / f"whole-{seed}", tmp_path / f"broken-{seed}"
        began = time.monotonic()
        assert investigators.do(whole) == 0
        lasted = time.monotonic() - began
        ended = -9
        while ended == -9 and kills < wanted:
            # Now and then long enough to come further; else it would hardly ever leave its beginning.
            ended = investigators.do(broken, dice.uniform(0.05, 0.8) * lasted, address=address)
            kills += ended == -9
        if ended == -9:
            assert investigators.do(broken, address=address) == 0
        assert not (broken / "twice").exists()
        assert _left(broken) == _left(whole)
        investigators.leave()
        seed += 1
