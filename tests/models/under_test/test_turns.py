"""Turns of models in one process: a checkpoint answers one thread at a time, and a core computes for one model."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from snellen.models.under_test import InProcess, Question, Ranking
from snellen.models.under_test import executor as executors
from snellen.models.under_test.endpoint import EndpointModel
from snellen.profiles import Profile, load_profile

ENDPOINTS = """
extends = "embedded"
[tested.far]
url = "http://127.0.0.1:9/v1"
model = "far"
"""


NOW, MOST = Counter[str](), Counter[str]()
"""How many answer now, and how many did at most: of each model, and of all."""
CHANGING = threading.Lock()


def _observe(name: str, answer: Callable[[], object]) -> None:
    """Note who is asked while an answer is given."""
    keys = (name, "all")
    with CHANGING:
        NOW.update(keys)
        MOST.update({key: max(NOW[key] - MOST[key], 0) for key in keys})
    answer()
    with CHANGING:
        NOW.subtract(keys)


class Observed:
    """A checkpoint that notes who asks it while it answers, which takes a while."""

    def __init__(self, name: str) -> None:
        self.name = name

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank nothing."""
        _observe(self.name, lambda: time.sleep(0.02))
        return [Ranking(()) for _ in questions]


@pytest.fixture(autouse=True)
def nobody_asks() -> None:
    NOW.clear()
    MOST.clear()


def _ask(profile: Profile, *names: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_CORES", threading.BoundedSemaphore(cores))
    one, other = InProcess(profile), InProcess(profile)  # two homes share what they ask
    asked = [(executor, name) for _ in range(3) for executor in (one, other) for name in names]
    with ThreadPoolExecutor(len(asked)) as threads:
        for each in [threads.submit(executor.rank, name, []) for executor, name in asked]:
            assert each.result() == []


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_a_checkpoint_is_asked_by_one_thread_and_a_core_computes_for_one(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def observed(_: Profile, name: str, *__: object) -> Any:  # noqa: ANN401
        return Observed(name)

    monkeypatch.setattr(executors, "model_under_test", observed)
    _ask(load_profile("embedded"), "clip", "blip", "llava-upright", cores=cores, monkeypatch=monkeypatch)
    assert max(MOST[name] for name in ("clip", "blip", "llava-upright")) == 1
    assert MOST["all"] <= cores


def test_an_endpoint_is_not_held_up_by_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = threading.Barrier(2)  # nobody answers before another is asked: one at a time would wait for the timeout

    def rank(_: EndpointModel, questions: Sequence[Question]) -> list[Ranking]:
        _observe("far", lambda: pair.wait(timeout=60))
        return [Ranking(()) for _ in questions]

    monkeypatch.setattr(EndpointModel, "rank", rank)
    (tmp_path / "mine.toml").write_text(ENDPOINTS)
    _ask(load_profile(str(tmp_path / "mine.toml")), "far", cores=1, monkeypatch=monkeypatch)
    assert MOST["far"] > 1
