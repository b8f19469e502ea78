"""What was computed is kept within its bytes, and computed together where it is not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from snellen.models.computed_once import ComputedOnce


class Computing:
    """Makes texts of numbers, and remembers of which."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def __call__(self, numbers: list[int]) -> list[str]:
        self.calls.append(numbers)
        return ["x" * number for number in numbers]


def test_the_least_recently_used_goes_first() -> None:
    kept, computing = ComputedOnce[str](10, len), Computing()
    for number in (4, 5, 4, 1, 3, 5):
        assert kept.values({str(number): number}, computing) == {str(number): "x" * number}
    assert computing.calls == [[4], [5], [1], [3], [5]]


def test_what_is_larger_than_all_that_is_kept_is_computed_and_drops_nothing() -> None:
    kept, computing = ComputedOnce[str](10, len), Computing()
    for wanted in ({"a": 6}, {"b": 11}, {"a": 6, "b": 11}):
        assert kept.values(wanted, computing) == {name: "x" * number for name, number in wanted.items()}
    assert computing.calls == [[6], [11], [11]]


@given(st.lists(st.lists(st.integers(0, 8)), max_size=12), st.integers(0, 20))
def test_values_are_those_that_would_be_computed(wanted: list[list[int]], most: int) -> None:
    kept, computing = ComputedOnce[str](most, len), Computing()
    for numbers in wanted:
        found = kept.values({str(number): number for number in numbers}, computing)
        assert found == {str(number): "x" * number for number in numbers}
        assert sum(map(len, kept._kept.values())) <= most


def test_several_threads_may_ask() -> None:
    kept, computing = ComputedOnce[str](1_000, len), Computing()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: kept.values({str(number % 7): number % 7}, computing), range(200)))
    assert found == [{str(number % 7): "x" * (number % 7)} for number in range(200)]
