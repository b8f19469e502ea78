"""Trials of several models: asked side by side, each once, and returned in the order of their keys."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from snellen.errors import SnellenError
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import MemoryTrouble
from snellen.memory.trials import Trial, TrialKey, TrialTable, TrialTime
from snellen.models.under_test import Card, Question, Ranking

PATIENCE = 60


class Hashing:
    """An executor whose models answer by a hash of the question, and which notes what each was asked.

    Args:
        meet: Models that wait for each other at their first shard.
        fail: What a model says instead, by its name.
        at_once: Shards of a model that may be under way.
    """

    def __init__(self, *, meet: int = 0, fail: dict[str, str] | None = None, at_once: int = 1) -> None:
        self._meeting = threading.Barrier(meet) if meet else None
        self._met: set[str] = set()
        self._fail, self._at_once = fail or {}, at_once
        self.asked: list[tuple[str, str]] = []

    def card(self, model: str) -> Card:
        """Say what it is."""
        if model == "unknown":
            msg = "There is no model 'unknown'."
            raise SnellenError(msg)
        return Card(model, f"fingerprint of {model}", "Hashing", None, "tokens", pictures=1, answers=True)

    def at_once(self, model: str) -> int:
        """Say so many of any."""
        if model == "homeless":
            msg = "No node has a place for it."
            raise SnellenError(msg)
        return self._at_once

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Prefer what the hash says."""
        if self._meeting is not None and model not in self._met:
            self._met.add(model)
            self._meeting.wait(PATIENCE)
        if model in self._fail:
            raise SnellenError(self._fail[model])
        self.asked += [(model, one.text) for one in questions]
        return [Ranking(((float(len(model + one.text)),), (0.0,))) for one in questions]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Say nothing."""
        return ["" for _ in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Find nothing alike."""
        return [0.0 for _ in questions]


def runner_of(executor: Hashing, folder: Path) -> TrialRunner:
    return TrialRunner(executor, TrialTable(folder), ArtifactStore(folder / "artifacts"))


def keys(runner: TrialRunner, model: str, texts: Iterable[str]) -> list[TrialKey]:
    picture = runner.pictures.put(PIL.Image.new("RGB", (8, 8))).id
    return [TrialKey(f"fingerprint of {model}", (picture,), text, ("a", "b")) for text in texts]


async def test_models_are_asked_at_the_same_time_and_told_of_in_the_order_they_were_named(tmp_path: Path) -> None:
    names = ["slow", "broken", "quick"]
    runner = runner_of(Hashing(meet=3, fail={"broken": "The endpoint does not answer."}), tmp_path)
    told: dict[str, list[tuple[int, int]]] = {}

    trials, notes = await runner.run_each(
        [*names, "unknown", "homeless", "slow"],
        lambda card: keys(runner, card.name, map(str, range(50))),
        progress=lambda name, done, total: told.setdefault(name, []).append((done, total)),
    )

    assert list(trials) == ["slow", "quick"]
    assert notes == [
        "broken is left out: The endpoint does not answer.",
        "unknown is left out: There is no model 'unknown'.",
        "homeless is left out: No node has a place for it.",
    ]
    assert told["slow"] == told["quick"] == [(0, 50), (32, 50), (50, 50)]
    for name, of in trials.items():
        assert [trial.key for trial in of] == keys(runner, name, map(str, range(50)))
        assert [trial.scores[0][0] for trial in of] == [len(name) + len(str(number)) for number in range(50)]


async def test_trials_are_those_of_one_model_after_the_other(tmp_path: Path) -> None:
    texts = [f"question {number % 70}" for number in range(100)]
    alone = runner_of(Hashing(), tmp_path / "alone")
    together = runner_of(Hashing(at_once=3), tmp_path / "together")

    trials, _ = await together.run_each(["one", "other"], lambda card: keys(together, card.name, texts))

    for name, of in trials.items():
        wanted = await asyncio.to_thread(alone.run, name, keys(alone, name, texts))
        assert [(trial.key, trial.scores) for trial in of] == [(trial.key, trial.scores) for trial in wanted]
    assert together.trials.count() == 140


async def test_nobody_to_ask_says_why(tmp_path: Path) -> None:
    runner = runner_of(Hashing(fail={"one": "It is gone."}), tmp_path)
    with pytest.raises(SnellenError, match=r"one is left out: It is gone\. unknown is left out"):
        await runner.run_each(["one", "unknown"], lambda card: keys(runner, card.name, ["?"]))


async def test_a_full_disk_is_no_fault_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: TrialTable, __: Iterable[Trial], ___: Iterable[TrialTime] = ()) -> int:
        msg = "The disk is full."
        raise MemoryTrouble(msg)

    runner = runner_of(Hashing(), tmp_path)
    monkeypatch.setattr(TrialTable, "add", full)
    with pytest.raises(MemoryTrouble, match="disk is full"):
        await runner.run_each(["one"], lambda card: keys(runner, card.name, ["?"]))


@settings(max_examples=20, deadline=None)
@given(asked=some.lists(some.lists(some.integers(0, 9), max_size=12), min_size=1, max_size=3))
def test_each_question_is_asked_once_whoever_asks(
    asked: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    executor = Hashing(at_once=2)
    runner = runner_of(executor, tmp_path_factory.mktemp("home"))
    for numbers in asked:
        wanted = keys(runner, "one", map(str, numbers))
        assert [trial.key for trial in runner.run("one", wanted)] == wanted
    assert len(executor.asked) == len(set(executor.asked)) == len({number for numbers in asked for number in numbers})


def test_what_a_model_said_before_it_failed_is_kept(tmp_path: Path) -> None:
    executor = Hashing()
    runner = runner_of(executor, tmp_path)
    said = keys(runner, "one", ["first"])
    runner.run("one", said)
    executor._fail["one"] = "It is gone."
    with pytest.raises(SnellenError, match="It is gone"):
        runner.run("one", keys(runner, "one", ["first", "second"]))
    assert set(runner.trials.get(keys(runner, "one", ["first", "second"]))) == set(said)
