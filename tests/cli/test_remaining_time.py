"""The time that is left of a run of stages that differ in speed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.cli.display import stages
from snellen.cli.remaining_time import RemainingTime

_SHARD = 32
_WITHIN = 0.3
"""By how much an estimate may be wrong from a tenth of the way on."""


@dataclass
class Clock:
    """A clock that stands still unless it is moved."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def _side_by_side(
    left: RemainingTime, clock: Clock, paces: dict[str, float], total: int
) -> list[tuple[float, float | None]]:
    """Run stages on one processor that all of them share; return when it was, and what was estimated."""
    work = {name: total * pace for name, pace in paces.items()}
    told, estimates = dict.fromkeys(paces, 0), list[tuple[float, float | None]]()
    for name in paces:
        left.tell(name, 0, total)
    while running := [name for name in paces if told[name] < total]:
        shards = {name: min(told[name] + _SHARD, total) for name in running}
        until = {name: work[name] - (total - shards[name]) * paces[name] for name in running}
        name = min(until, key=lambda each: until[each])
        clock.now += until[name] * len(running)
        for each in running:
            work[each] -= until[name]
        told[name] = shards[name]
        left.tell(name, told[name], total)
        estimates.append((clock.now, left.seconds()))
    return estimates


@given(paces=st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), later=st.lists(st.floats(0.5, 2.0), max_size=2))
def test_from_a_tenth_of_the_way_on_the_estimate_is_close(paces: list[float], later: list[float]) -> None:
    """Models of any speeds, asked side by side, and stages that follow."""
    clock, total = Clock(), 1_000
    left = RemainingTime(clock)
    models = {f"model {number}": pace for number, pace in enumerate(paces)}
    for name in models:
        left.expect(name, total, "")
    for number, factor in enumerate(later):
        left.expect(f"later {number}", round(total * factor), "model 0")
    begun = clock.now
    estimates = _side_by_side(left, clock, models, total)
    for number, factor in enumerate(later):
        estimates += _side_by_side(left, clock, {f"later {number}": paces[0]}, round(total * factor))
    ended = clock.now
    for now, seconds in estimates:
        if now - begun >= (ended - begun) / 10:
            assert seconds is not None
            assert abs(seconds - (ended - now)) <= _WITHIN * (ended - now) + 1e-6


def test_a_mean_over_what_is_done_would_be_wrong_and_a_pace_for_each_stage_is_not() -> None:
    clock = Clock()
    left = RemainingTime(clock)
    for name in ("quick", "slow"):
        left.expect(name, 100, "")
        left.tell(name, 0, 100)
    clock.now += 1
    left.tell("slow", 1, 100)
    left.tell("quick", 100, 100)
    for done in range(2, 11):
        clock.now += 1
        left.tell("slow", done, 100)
    assert left.seconds() == pytest.approx(90, rel=0.1)  # by the mean it would be eight seconds


def test_what_was_found_done_is_not_taken_for_quick() -> None:
    clock = Clock()
    left = RemainingTime(clock)
    left.expect("model", 100, "")
    left.tell("model", 90, 100)
    assert left.seconds() is None
    clock.now += 5
    left.tell("model", 95, 100)
    assert left.seconds() == pytest.approx(5)
    assert left.text() == "about 5 s left"


def test_stages_that_will_not_come_and_those_that_nobody_expects_count_for_nothing() -> None:
    clock = Clock()
    left = RemainingTime(clock)
    left.expect("model", 10, "")
    left.expect("encoder", 10, "")
    left.expect("encoder", 0, "")
    left.tell("model", 0, 10)
    left.tell("entailment", 0, 999)
    clock.now += 600
    left.tell("model", 5, 10)
    assert left.seconds() == pytest.approx(600)
    assert left.text() == "about 10 min left"


def test_the_time_that_is_left_is_told_beside_stages(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    left = RemainingTime(clock)
    left.expect("model", 40, "")
    with stages(left) as show:
        show("model", 0, 40)
        clock.now += 30
        show("model", 20, 40)
        clock.now += 30
        show("model", 40, 40)
    assert capsys.readouterr().err == "model: 0 of 40\nmodel: 20 of 40 (about 30 s left)\nmodel: 40 of 40\n"
