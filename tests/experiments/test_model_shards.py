"""Shards of several models, asked side by side: who waits for whom, what is kept, and what a failure costs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.errors import SnellenError
from snellen.experiments.model_shards import AskedModels, ModelShards, ask_side_by_side
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import MemoryTrouble
from snellen.memory.trials import Trial, TrialKey, TrialTable, TrialTime
from snellen.models.under_test import Card, Question, Ranking

PATIENCE = 60


@dataclass
class Answering:
    """An executor whose models do as the test says before they answer, and which notes how many answer at a time."""

    before: dict[str, Any] = field(default_factory=dict)
    begun: list[tuple[str, str]] = field(default_factory=list)
    now: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    changing: threading.Lock = field(default_factory=threading.Lock)

    def card(self, model: str) -> Card:
        """Say what it is."""
        return Card(model, f"fingerprint of {model}", "Answering", None, "tokens", pictures=1, answers=True)

    def at_once(self, model: str) -> int:
        """Say one; the tests say for themselves."""
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Prefer the first choice."""
        with self.changing:
            self.begun.append((model, questions[0].text))
            self.now[model] += 1
            self.most[model] = max(self.most[model], self.now[model])
        try:
            self.before.get(model, lambda _: None)(questions[0].text)
        finally:
            with self.changing:
                self.now[model] -= 1
        return [Ranking(((0.0,), (-1.0,))) for _ in questions]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Say nothing."""
        return ["" for _ in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Find nothing alike."""
        return [0.0 for _ in questions]


@pytest.fixture
def runner(tmp_path: Path) -> TrialRunner:
    return TrialRunner(Answering(), TrialTable(tmp_path), ArtifactStore(tmp_path / "artifacts"))


def _shards(runner: TrialRunner, model: str, count: int, *, at_once: int = 1, size: int = 2) -> ModelShards:
    picture = runner.pictures.put(PIL.Image.new("RGB", (8, 8))).id
    keys = [
        [TrialKey(f"fingerprint of {model}", (picture,), f"{number}", ("a", f"b{each}")) for each in range(size)]
        for number in range(count)
    ]
    return ModelShards(model, keys, at_once)


def _asked(runner: TrialRunner, *asked: ModelShards) -> tuple[AskedModels, list[tuple[str, int]]]:
    told: list[tuple[str, int]] = []
    return asyncio.run(ask_side_by_side(runner, asked, lambda *one: told.append(one))), told


def test_a_model_that_waits_holds_up_nobody(runner: TrialRunner) -> None:
    executor, all_there = runner.executor, threading.Event()
    assert isinstance(executor, Answering)
    executor.before["endpoint"] = lambda _: all_there.wait(PATIENCE) or pytest.fail("the other model had to wait")
    executor.before["checkpoint"] = lambda text: all_there.set() if text == "3" else None
    outcome, told = _asked(runner, _shards(runner, "endpoint", 1), _shards(runner, "checkpoint", 4))
    assert not outcome.troubles
    assert (outcome.trials, Counter(name for name, _ in told)) == (10, Counter(checkpoint=4, endpoint=1))


@pytest.mark.parametrize("at_once", [1, 3])
def test_no_more_shards_of_a_model_are_under_way_than_it_bears(runner: TrialRunner, at_once: int) -> None:
    executor = runner.executor
    assert isinstance(executor, Answering)
    executor.before |= {name: lambda _: time.sleep(0.01) for name in ("one", "other")}
    asked = [_shards(runner, name, 7, at_once=at_once) for name in ("one", "other")]
    outcome, _ = _asked(runner, *asked)
    assert outcome.trials == 28
    assert max(executor.most.values()) <= at_once
    if at_once == 1:
        assert [text for name, text in executor.begun if name == "one"] == list("0123456"), "in their order"


def test_what_is_told_is_kept(runner: TrialRunner) -> None:
    asked, told = [_shards(runner, name, 3) for name in ("one", "other")], Counter[str]()

    def tell(name: str, done: int) -> None:
        told[name] += done
        assert runner.trials.count(f"fingerprint of {name}") >= told[name]

    asyncio.run(ask_side_by_side(runner, asked, tell))
    assert told == {"one": 6, "other": 6}
    assert set(runner.trials.get([key for one in asked for shard in one.shards for key in shard])) == {
        key for one in asked for shard in one.shards for key in shard
    }


def test_a_model_that_fails_is_asked_no_more_and_the_others_are(runner: TrialRunner) -> None:
    def fail(text: str) -> None:
        if text == "1":
            msg = "The endpoint does not answer."
            raise SnellenError(msg)

    executor = runner.executor
    assert isinstance(executor, Answering)
    executor.before["failing"] = fail
    outcome, _ = _asked(runner, _shards(runner, "failing", 4), _shards(runner, "sound", 4))
    assert {name: str(error) for name, error in outcome.troubles.items()} == {
        "failing": "The endpoint does not answer."
    }
    assert [text for name, text in executor.begun if name == "failing"] == ["0", "1"]
    assert outcome.trials == 2 + 8
    assert runner.trials.count("fingerprint of failing") == 2


def test_trouble_with_the_memory_ends_it_and_what_others_said_before_is_kept(runner: TrialRunner) -> None:
    runner.pictures.put(PIL.Image.new("RGB", (8, 8)))
    sound, done = _shards(runner, "sound", 1), threading.Event()
    executor = runner.executor
    assert isinstance(executor, Answering)

    def full(_: str) -> None:
        assert done.wait(PATIENCE)
        msg = "The disk is full."
        raise MemoryTrouble(msg)

    executor.before["unlucky"] = full
    with pytest.raises(MemoryTrouble, match="disk is full"):
        asyncio.run(ask_side_by_side(runner, [_shards(runner, "unlucky", 2), sound], lambda *_: done.set()))
    assert runner.trials.count("fingerprint of sound") == 2


def test_what_is_said_while_the_disk_is_busy_is_kept_together(
    runner: TrialRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, begun, sizes = [f"model {number}" for number in range(5)], threading.Barrier(5), list[int]()
    executor, add, others = runner.executor, TrialTable.add, threading.Event()
    assert isinstance(executor, Answering)
    answered = Counter[str]()

    def together(text: str) -> None:
        if text == "0":
            begun.wait(PATIENCE)
        with executor.changing:
            answered[text] += 1
            if answered["0"] == len(names):
                others.set()

    def slow(table: TrialTable, trials: Iterable[Trial], times: Iterable[TrialTime] = ()) -> int:
        assert others.wait(PATIENCE)
        time.sleep(0.2)
        kept = list(trials)
        sizes.append(len(kept))
        return add(table, kept, times)

    executor.before |= dict.fromkeys(names, together)
    monkeypatch.setattr(TrialTable, "add", slow)
    outcome, told = _asked(runner, *(_shards(runner, name, 2) for name in names))
    assert outcome.trials == sum(sizes) == sum(done for _, done in told) == 20
    assert len(sizes) < 10, "ten shards take fewer than ten transactions"


def test_the_times_of_shards_add_up_to_the_time_that_all_took(runner: TrialRunner) -> None:
    names = ["one", "two", "three"]
    executor = runner.executor
    assert isinstance(executor, Answering)
    executor.before |= {name: lambda _: time.sleep(0.05) for name in names}
    began = time.perf_counter()
    _asked(runner, *(_shards(runner, name, 3, size=1) for name in names))
    elapsed = time.perf_counter() - began
    noted = [seconds for name in names for seconds in runner.trials.times(name, pictures=1, ranked=True)]
    assert len(noted) == 9
    assert 0.15 <= sum(noted) <= elapsed


async def test_whoever_loses_patience_waits_for_no_model(runner: TrialRunner) -> None:
    executor, begun, late = runner.executor, threading.Event(), threading.Event()
    assert isinstance(executor, Answering)

    def slow(_: str) -> None:
        begun.set()
        late.wait(PATIENCE)

    executor.before["slow"] = slow
    work = asyncio.create_task(ask_side_by_side(runner, [_shards(runner, "slow", 3)], lambda *_: None))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    late.set()
    assert len(executor.begun) == 1
    assert runner.trials.count() == 0
