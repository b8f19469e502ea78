"""A thread that is killed with SIGKILL, wherever it is, goes on to the same answer: nothing lost, nothing doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from snellen.graphs.states import STATE_TYPES
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.memory.verification import verify_memory
from tests.graphs.killed import FLOW, IN_MEMORY, LEARNING, Job

ROOT = Path(__file__).parents[2]
LANES = 2

NODES = tuple(dict.fromkeys(FLOW))
APPROVED = "approve, after a person agreed"
AGAIN = tuple((node, 1 + FLOW[:place].count(node)) for place, node in enumerate(FLOW) if node in FLOW[:place])
SAVED = {node: f"{node}'s result was saved" for node in NODES}
SOME = ("judge", "approve", "remember")
"""Nodes of which that is tried in each run of the tests: one, one of the graph inside, and the last."""
POINTS = {
    "a step was taken": "run",
    "a draft was written": "tune",
    "rows were written": "store",
    "tensors were written": "store",
    "prompts were added": "store",
    "a draft was discarded": "store",
    "a need was stored": "store",
    "demonstrations were added": "remember",
}
"""Points inside nodes, and which node repeats."""


class Processes:
    """Has jobs done by processes that may be killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, lanes: Sequence[Sequence[Job]]) -> dict[str, list[int]]:
        """Do lanes of jobs side by side; return by home how each one's process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([[asdict(job) for job in jobs] for jobs in lanes]) + "\n")
        self._process.stdin.flush()
        ended: dict[str, list[int]] = {}
        while line := self._process.stdout.readline().strip():
            said = json.loads(line)
            ended.setdefault(said["home"], []).append(said["status"])
        return ended


@contextmanager
def processes(folder: Path) -> Iterator[Processes]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).parent / "killed.py"), str(folder)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Processes(process)


@dataclass(frozen=True)
class Remains:
    """What a thread left in its home."""

    home: Path
    exits: list[int] = field(default_factory=list)

    @property
    def trouble(self) -> str:
        """What ended the last process, where it was neither killed nor done."""
        file = self.home / "trouble"
        return file.read_text() if file.exists() else ""

    @property
    def nodes(self) -> list[str]:
        return [line.split()[0] for line in (self.home / "log").read_text().splitlines()]

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.home / "answer").read_text())
        return state

    @property
    def lessons(self) -> list[tuple[object, ...]]:
        """What is in the pool: where it was learned from, not the last bits of what was learned."""
        rows = PromptPool(self.home).rows()
        return sorted((r.pool, r.concept, r.fingerprint, r.picture, r.question, r.answer, r.steps > 0) for r in rows)

    @property
    def demonstrations(self) -> list[str]:
        return sorted(one.id for one in DemonstrationPool(self.home).all())

    @property
    def learned(self) -> list[tuple[object, ...]]:
        told = self.state["learned"]
        return [(one["need"]["tool"], one["kept"], one["discarded"], one["already"], one["trouble"]) for one in told]

    def check(self, unharmed: Remains) -> None:
        """Check that it is what an unharmed thread leaves."""
        found = verify_memory(self.home, lambda: DemonstrationPool(self.home), repair=False, state_types=STATE_TYPES)
        assert found.clean, found.findings
        assert self.state.get("answer") == unharmed.state.get("answer")
        assert self.lessons == unharmed.lessons
        assert self.demonstrations == unharmed.demonstrations
        assert self.learned == unharmed.learned
        assert len(Drafts(self.home)) == 0


def killed_and_resumed(folder: Path, victims: dict[str, dict[str, Any]]) -> dict[str, Remains]:
    """Kill a thread at each place and resume it in another process; the one called ``none`` is left unharmed."""
    lanes: list[list[Job]] = [[] for _ in range(LANES)]
    for number, (name, options) in enumerate(victims.items()):
        home = folder / f"home-{number}"
        home.mkdir()
        about: dict[str, Any] = {"home": str(home), "folder": str(folder)}
        lanes[number % LANES].append(Job(**about, **options))
        if name != "none" and options.get("checkpoints") != IN_MEMORY:
            kept = {key: options[key] for key in ("checkpoints", "durability") if key in options}
            lanes[number % LANES].append(Job(**about, resume=True, **kept))
    with processes(folder) as running:
        ended = running.do(lanes)
    homes = {name: folder / f"home-{number}" for number, name in enumerate(victims)}
    return {name: Remains(home, ended[str(home)]) for name, home in homes.items()}


@pytest.fixture(scope="module")
def at_nodes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Remains]:
    victims: dict[str, dict[str, Any]] = {"none": {}} | {node: {"victim": node} for node in SOME}
    victims |= {SAVED[node]: {"victim": SAVED[node]} for node in SOME}
    victims[APPROVED] = {"victim": "approve", "approve": True}
    return killed_and_resumed(tmp_path_factory.mktemp("nodes"), victims)


def test_an_unharmed_thread_learns_and_answers_rightly(at_nodes: dict[str, Remains]) -> None:
    remains = at_nodes["none"]

    assert remains.exits == [0], remains.trouble
    assert remains.nodes == list(FLOW)
    assert (remains.state["answer"], remains.state["verdict"]) == (True, "right")
    assert remains.learned == [("CLASSIFY", 3, 0, 0, ""), ("LOC", 0, 3, 0, "")]
    assert [lesson[0] for lesson in remains.lessons] == ["CLIP", "CLIP", "CLIP", "VQA"]
    assert len(remains.demonstrations) == 3


@pytest.mark.parametrize("node", SOME)
def test_killed_at_a_node_it_repeats_only_that_one(at_nodes: dict[str, Remains], node: str) -> None:
    _repeats_one(at_nodes[node], node, at_nodes["none"])


def _repeats_one(remains: Remains, node: str, unharmed: Remains) -> None:
    place = FLOW.index(node)
    assert remains.exits == [-signal.SIGKILL, 0], remains.trouble
    assert remains.nodes == [*FLOW[: place + 1], *FLOW[place:]]
    remains.check(unharmed)


@pytest.mark.parametrize("node", SOME)
def test_killed_when_the_result_of_a_node_was_saved_it_repeats_none(at_nodes: dict[str, Remains], node: str) -> None:
    _repeats_none(at_nodes[SAVED[node]], at_nodes["none"])


def _repeats_none(remains: Remains, unharmed: Remains) -> None:
    assert remains.exits == [-signal.SIGKILL, 0], remains.trouble
    assert remains.nodes == list(FLOW)
    remains.check(unharmed)


def test_killed_with_an_approval_it_goes_on(at_nodes: dict[str, Remains]) -> None:
    remains = at_nodes[APPROVED]

    assert remains.exits == [-signal.SIGKILL, 0], remains.trouble
    assert [node for node in remains.nodes if node != "approve"] == [node for node in FLOW if node != "approve"]
    remains.check(at_nodes["none"])


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Remains]:
    victims: dict[str, dict[str, Any]] = {"none": {}} | {point: {"victim": point} for point in POINTS}
    victims |= {f"{node} {count}": {"victim": node, "occurrence": count} for node, count in AGAIN}
    others = [node for node in NODES if node not in SOME]
    victims |= {victim: {"victim": victim} for node in others for victim in (node, SAVED[node])}
    return killed_and_resumed(tmp_path_factory.mktemp("elsewhere"), victims)


@pytest.mark.slow
@pytest.mark.parametrize("node", [node for node in NODES if node not in SOME])
def test_killed_at_any_node_it_repeats_only_that_one(elsewhere: dict[str, Remains], node: str) -> None:
    _repeats_one(elsewhere[node], node, elsewhere["none"])


@pytest.mark.slow
@pytest.mark.parametrize("node", [node for node in NODES if node not in SOME])
def test_killed_when_the_result_of_any_node_was_saved_it_repeats_none(elsewhere: dict[str, Remains], node: str) -> None:
    _repeats_none(elsewhere[SAVED[node]], elsewhere["none"])


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_killed_inside_a_node_it_repeats_only_that_one(elsewhere: dict[str, Remains], point: str) -> None:
    _repeats_one(elsewhere[point], POINTS[point], elsewhere["none"])


@pytest.mark.slow
@pytest.mark.parametrize(("node", "count"), AGAIN)
def test_killed_when_a_node_is_done_again_it_repeats_only_that(
    elsewhere: dict[str, Remains], node: str, count: int
) -> None:
    remains = elsewhere[f"{node} {count}"]
    place = [at for at, each in enumerate(FLOW) if each == node][count - 1]

    assert remains.exits == [-signal.SIGKILL, 0], remains.trouble
    assert remains.nodes == [*FLOW[: place + 1], *FLOW[place:]]
    remains.check(elsewhere["none"])


KILLS = 50


@dataclass
class Round:
    """A thread that is killed and taken up again until it ends."""

    folder: Path
    home: Path
    graph: str
    seconds: dict[str, float]
    """How long each node takes that is left alone."""
    exits: list[int] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    """The nodes that were under way."""

    @property
    def ended(self) -> bool:
        return (self.home / "answer").exists()

    def job(self, chance: random.Random, *, kill: bool) -> Job:
        """Choose a moment soon in what is left of learning, in any node as likely, however short it is."""
        about: dict[str, Any] = {"home": str(self.home), "folder": str(self.folder), "graph": self.graph}
        begun = Remains(self.home).nodes[-1] if self.exits else ""
        left = LEARNING[LEARNING.index(begun) :] if begun in LEARNING else LEARNING
        since = chance.choice(left[:2])
        # A process that goes on must first load the models: where it came to nothing, it gets longer the next time.
        delay = chance.uniform(0, self.seconds[since] * 2 ** self.killed.count(since))
        return Job(**about, resume=bool(self.exits), since=since if kill else "", delay=delay)

    def note(self, status: int) -> None:
        assert status in {0, -signal.SIGKILL}
        self.exits.append(status)
        if status == -signal.SIGKILL:
            self.killed.append(Remains(self.home).nodes[-1])


def durations(home: Path) -> dict[str, float]:
    """Read from a log how long the nodes of learning took."""
    lines = [line.split() for line in (home / "log").read_text().splitlines()]
    begun = [(node, float(time)) for node, time in lines]
    ends = [*(time for _, time in begun[1:]), begun[-1][1] + 0.1]
    return {node: end - time for (node, time), end in zip(begun, ends, strict=True) if node in LEARNING}


def begun_round(folder: Path, number: int, graph: str, seconds: dict[str, float]) -> Round:
    home = folder / f"home-{number}"
    home.mkdir()
    return Round(folder, home, graph, seconds)


@pytest.mark.slow
def test_fifty_kills_at_random_times_of_learning_lose_and_double_nothing(tmp_path: Path) -> None:
    chance, unharmed = random.Random(4), {graph: tmp_path / graph for graph in ("ask", "learn")}
    rounds: list[Round] = []
    with processes(tmp_path) as running:
        for graph, home in unharmed.items():
            home.mkdir()
            running.do([[Job(home=str(home), folder=str(tmp_path), graph=graph)]])
        while (kill := _kills(rounds) < KILLS) or not all(one.ended for one in rounds):
            while kill and sum(not one.ended for one in rounds) < LANES:
                graph = ("ask", "learn")[len(rounds) % 2]
                rounds.append(begun_round(tmp_path, len(rounds), graph, durations(unharmed[graph])))
            going = [one for one in rounds if not one.ended]
            ended = running.do([[one.job(chance, kill=kill)] for one in going])
            for one in going:
                one.note(ended[str(one.home)][0])

    for one in rounds:
        Remains(one.home).check(Remains(unharmed[one.graph]))
    assert _kills(rounds) >= KILLS
    assert {node for one in rounds for node in one.killed} >= {"collect", "tune", "validate", "store"}


def _kills(rounds: Sequence[Round]) -> int:
    return sum(len(one.killed) for one in rounds)
