"""A run killed with SIGKILL at any node resumes to the same answer, and no finished node is run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import PIL.Image
import pytest

from tests.graphs.scripted import make_context

ROOT = Path(__file__).parents[2]
NODES = ("recall", "plan", "write", "run", "judge", "remember")
VICTIMS = (*NODES, "step")


@dataclass(frozen=True)
class Aftermath:
    """What seven killed threads, then resumed by one process, and one unharmed thread left behind."""

    home: Path
    exits: dict[str, int]
    runs: dict[str, Counter[str]]
    answers: dict[str, object]


def start(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(Path(__file__).parent / "killed.py"), str(home / "log"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    home = tmp_path_factory.mktemp("home")
    picture = home / "picture.png"
    PIL.Image.new("RGB", (40, 30), "teal").save(picture)
    with ThreadPoolExecutor(4) as processes:  # several at once in one home, as users do
        asked = processes.map(lambda victim: start(home, "ask", victim, str(picture), victim), (*VICTIMS, "none"))
        *killed, unharmed = asked
    exits = {victim: process.returncode for victim, process in zip(VICTIMS, killed, strict=True)}
    resumed = start(home, "resume", *VICTIMS)
    answers: dict[str, object] = {}
    for line in (unharmed.stdout + resumed.stdout).splitlines():
        answers |= json.loads(line)
    runs: dict[str, Counter[str]] = {victim: Counter() for victim in (*VICTIMS, "none")}
    for line in (home / "log").read_text().splitlines():
        thread, node = line.split()
        runs[thread][node] += 1
    return Aftermath(home=home, exits=exits, runs=runs, answers=answers)


@pytest.mark.parametrize("victim", VICTIMS)
def test_resumes_to_the_same_answer(aftermath: Aftermath, victim: str) -> None:
    assert aftermath.exits[victim] == -signal.SIGKILL
    assert aftermath.answers[victim] is True
    assert aftermath.answers[victim] == aftermath.answers["none"]


@pytest.mark.parametrize("victim", VICTIMS)
def test_only_the_killed_node_is_repeated(aftermath: Aftermath, victim: str) -> None:
    killed = "run" if victim == "step" else victim
    assert aftermath.runs[victim] == {node: 2 if node == killed else 1 for node in NODES}


def test_remembering_twice_remembers_once(aftermath: Aftermath) -> None:
    pool = make_context(aftermath.home).pool

    assert sorted(one.kind for one in pool.all()) == ["plan", "program"]
