"""Orders to forget: which words are one, and what is to be forgotten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.reasoning.language.forget_requests import ForgetOrder, read_forget_order

ORDERS: dict[str, dict[str, list[Any]]] = json.loads(
    (Path(__file__).parent / "fixtures" / "orders.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("half", ["found", "held_out"])
def test_a_name_is_read_without_the_words_around_it(half: str) -> None:
    for said, name in ORDERS[half]["named"]:
        assert read_forget_order(said) == (ForgetOrder(name) if name else None), said


@pytest.mark.parametrize("half", ["found", "held_out"])
def test_everything_means_all_that_was_ever_learned(half: str) -> None:
    for said in ORDERS[half]["everything"]:
        assert read_forget_order(said) == ForgetOrder(everything=True), said


def test_the_last_lesson_is_not_everything() -> None:
    for said in ORDERS["held_out"]["last"]:
        assert read_forget_order(said) == ForgetOrder(), said


@pytest.mark.parametrize("half", ["found", "held_out"])
def test_things_in_a_picture_are_not_what_was_learned(half: str) -> None:
    assert [said for said in ORDERS[half]["none"] if read_forget_order(said) is not None] == []
