"""The chart parser finds every derivation, keeps the cheapest values, and never multiplies ambiguity."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

import pytest

from snellen.reasoning.reading.chart import ChartParser, ParsingTooLong, Production, Word


def joined(values: Sequence[Hashable]) -> Hashable:
    return "(" + "".join(map(str, values)) + ")"


def same(values: Sequence[Hashable]) -> Hashable:
    return values[0]


def words(text: str) -> list[Word]:
    return [Word(letter, place, place + 1, letter) for place, letter in enumerate(text)]


def test_an_ambiguous_text_has_all_its_values() -> None:
    parser = ChartParser([Production("s", ("s", "s"), joined), Production("s", ("a",), same)])
    chart = parser.parse(words("aaa"), seconds=5)
    assert set(chart.values("s", 0, 3)) == {"((aa)a)", "(a(aa))"}


def test_derivations_with_one_value_are_one() -> None:
    parser = ChartParser([Production("s", ("s", "s"), lambda _: "same"), Production("s", ("a",), lambda _: "same")])
    started = time.thread_time()
    chart = parser.parse(words("a" * 40), seconds=5)
    assert chart.values("s", 0, 40) == {"same": 0.0}
    assert time.thread_time() - started < 5


def test_the_cheapest_way_to_a_value_counts() -> None:
    dear, cheap = Production("s", ("a",), same, 2.0), Production("s", ("a",), same, 0.5)
    assert ChartParser([dear, cheap]).parse(words("a"), seconds=5).values("s", 0, 1) == {"a": 0.5}


def test_an_action_may_reject_its_items() -> None:
    parser = ChartParser([Production("s", ("a", "b"), lambda _: None)])
    assert parser.parse(words("ab"), seconds=5).values("s", 0, 2) == {}


def test_parsing_ends_at_its_deadline() -> None:
    parser = ChartParser([Production("s", ("s", "s"), joined), Production("s", ("a",), same)])
    with pytest.raises(ParsingTooLong):
        parser.parse(words("a" * 60), seconds=0).values("s", 0, 60)
