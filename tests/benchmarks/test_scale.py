"""Waiting workers answer as servers do, each one question at a time, and what is reported adds up."""

from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchmarks.scale import measured, pictures, table, workers
from benchmarks.waiting_workers import seconds_of
from snellen.models.under_test import EndpointModel, EndpointSettings, Question


@given(digest=some.binary(min_size=32, max_size=32), average=some.floats(0.001, 100))
def test_an_answer_takes_about_as_long_as_it_should(digest: bytes, average: float) -> None:
    assert 0.7499 * average <= seconds_of(digest, average) <= 1.2501 * average


def test_answers_take_as_long_as_they_should_on_average() -> None:
    digests = [hashlib.sha256(f"{number}".encode()).digest() for number in range(4_000)]
    assert sum(seconds_of(one, 2.0) for one in digests) / len(digests) == pytest.approx(2.0, rel=0.02)


def test_a_worker_answers_one_question_after_the_other_and_says_what_another_would() -> None:
    asked = [Question((picture,), "Is it a dog or a cat?", ("dog", "cat")) for picture in pictures(8)]
    with workers(4, 0.2) as addresses:
        began = time.perf_counter()
        alone = EndpointModel("waiting", EndpointSettings((addresses[0],), "waiting", offer="letters", at_once=8))
        said = alone.rank(asked)
        assert time.perf_counter() - began >= 8 * 0.75 * 0.2
        together = EndpointModel("waiting", EndpointSettings(tuple(addresses), "waiting", offer="letters", at_once=8))
        assert together.rank(asked) == said


def test_what_is_reported_adds_up() -> None:
    found = measured("table", 3, seconds=0.05, at_once=2, trials=4)
    assert found["trials"] == 12
    assert found["efficiency"] == pytest.approx(12 * 0.05 / (3 * found["wall"]), rel=0.2)
    assert found["speed_up"] == pytest.approx(3 * found["efficiency"], rel=0.1)
    assert found["cpu_ms"] > 0
    assert "| table | 3 | 12 |" in table({"table": {"seconds": 0.05, "3": found}})
