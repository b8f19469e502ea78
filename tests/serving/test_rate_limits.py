"""Token buckets and places: what is let through obeys the law, whatever is asked and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.serving import Refusal
from snellen.serving.limits import RequestSlots, TokenBuckets, address_key

_steps = st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 3)), max_size=80)
# Without rounding, so that two ways to one level can be compared.
_exact_steps = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 24).map(lambda eighths: eighths / 8)), max_size=80
)


@given(_steps, st.floats(0.1, 5), st.integers(1, 5))
def test_no_span_of_time_gives_more_than_burst_and_rate(
    steps: list[tuple[str, float]], rate: float, burst: int
) -> None:
    now = 0.0
    buckets = TokenBuckets(rate=rate, burst=burst, clock=lambda: now)
    given_at: dict[str, list[float]] = {"a": [], "b": []}
    for key, pause in steps:
        now += pause
        if not buckets.take(key):
            given_at[key].append(now)

    for times in given_at.values():
        for first, begin in enumerate(times):
            for last in range(first, len(times)):
                assert last - first + 1 <= burst + rate * (times[last] - begin) + 1e-6


@given(_steps, st.floats(0.1, 5), st.integers(1, 5))
def test_whoever_waits_as_told_is_let_through(steps: list[tuple[str, float]], rate: float, burst: int) -> None:
    now = 0.0
    buckets = TokenBuckets(rate=rate, burst=burst, clock=lambda: now)
    for key, pause in steps:
        now += pause
        wait = buckets.take(key)
        if wait:
            now += wait + 1e-6
            assert buckets.take(key) == 0


@given(_exact_steps, st.sampled_from([0.25, 0.5, 1.0, 2.0]), st.integers(1, 5))
def test_what_is_given_back_was_never_taken(steps: list[tuple[str, float]], rate: float, burst: int) -> None:
    now = 0.0
    once, twice = (TokenBuckets(rate=rate, burst=burst, clock=lambda: now) for _ in range(2))
    for key, pause in steps:
        now += pause
        if not twice.take(key):
            twice.give_back(key)
            assert once.take(key) == twice.take(key)


def test_one_user_does_not_use_up_anothers() -> None:
    buckets = TokenBuckets(rate=1, burst=2, clock=lambda: 0.0)
    assert [bool(buckets.take("a")) for _ in range(3)] == [False, False, True]
    assert not buckets.take("b")


@given(st.lists(st.integers(), max_size=200))
def test_memory_is_bounded(keys: list[int]) -> None:
    buckets = TokenBuckets(rate=1, burst=1, most=10, clock=lambda: 0.0)
    for key in keys:
        buckets.take(str(key))
        assert len(buckets) <= 10


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    times = iter([10.0, 5.0, 5.0])
    buckets = TokenBuckets(rate=100, burst=1, clock=lambda: next(times))
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0


def test_places_are_given_back() -> None:
    places = RequestSlots(each=1, total=2)
    with places.taken("ann"):
        with pytest.raises(Refusal) as mine, places.taken("ann"):
            pass
        with places.taken("bob"), pytest.raises(Refusal) as all_taken, places.taken("eve"):
            pass
    assert (mine.value.status, all_taken.value.status) == (429, 503)
    with places.taken("ann"), places.taken("bob"):
        assert places._taken.total() == 2
    assert not places._taken


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("x" * 1000, "x" * 64),
    ],
)
def test_an_address_has_a_key(host: str, key: str) -> None:
    assert address_key(host) == key
