from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.scoring import Chosen, choice_metrics, wilson_interval

ANSWERS = st.lists(
    st.builds(
        Chosen, st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "unknown", None]), st.sampled_from("xyz")
    ),
    max_size=30,
)


def test_classes_count_alike_however_many_answers_they_have() -> None:
    answers = [Chosen("a", "a")] * 9 + [Chosen("b", "a")]
    found = choice_metrics(answers, ["a", "b"])
    assert found.average == 0.5
    assert found.by_class == {"a": 1, "b": 0}
    assert found.confusion == {"a": {"a": 9}, "b": {"a": 1}}


@pytest.mark.parametrize("said", ["a", "b", "unknown"])
def test_one_answer_to_everything_is_not_informed(said: str) -> None:
    answers = [Chosen(truth, said, str(place)) for place, truth in enumerate("aaabbbbb")]
    assert choice_metrics(answers, ["a", "b", "unknown"], unknown="unknown").informedness == 0


def test_always_right_is_fully_informed_and_always_wrong_is_the_contrary() -> None:
    right = [Chosen(truth, truth) for truth in "abcabc"]
    assert choice_metrics(right, list("abc")).informedness == 1
    wrong = [Chosen("a", "b"), Chosen("b", "a")]
    assert choice_metrics(wrong, list("ab")).informedness == -1


def test_abstentions_and_no_answers_are_wrong_and_told_apart() -> None:
    answers = [Chosen("a", "unknown"), Chosen("a", None), Chosen("a", "a"), Chosen("b", "b")]
    found = choice_metrics(answers, ["a", "b", "unknown"], unknown="unknown")
    assert (found.abstention, found.invalid) == (0.25, 0.25)
    assert found.by_class["a"] == pytest.approx(1 / 3)
    assert found.confusion["a"] == {"a": 1, "unknown": 1, "": 1}
    assert choice_metrics(answers[2:], ["a", "b"]).abstention is None


def test_pictures_that_vary_together_leave_more_open() -> None:
    dice = random.Random(5)
    alone, together = [], []
    for place in range(60):
        right = dice.random() < 0.6
        for copy in range(5):
            answer = "a" if right else "b"
            together.append(Chosen("a", answer, f"{place}"))
            alone.append(Chosen("a", answer, f"{place}/{copy}"))
    wide, narrow = (choice_metrics(rows, ["a", "b"]).interval for rows in (together, alone))
    assert wide.high - wide.low > 1.8 * (narrow.high - narrow.low)


def test_nothing_answered_shows_nothing() -> None:
    found = choice_metrics([], ["a", "b"])
    assert (found.n, found.average, found.by_class, found.informedness) == (0, 0, {}, None)
    assert (found.interval.low, found.interval.high) == (0, 1)
    assert choice_metrics([Chosen("a", "a")], ["a", "b"]).informedness is None


@pytest.mark.parametrize("answer", [Chosen("d", "a"), Chosen("a", "d"), Chosen("unknown", "a")])
def test_strangers_are_refused(answer: Chosen) -> None:
    with pytest.raises(ValueError, match="none of the choices"):
        choice_metrics([answer], ["a", "b", "unknown"], unknown="unknown")


@given(ANSWERS)
def test_figures_agree_with_each_other(answers: list[Chosen]) -> None:
    found = choice_metrics(answers, ["a", "b", "c", "unknown"], unknown="unknown")
    assert sum(sum(row.values()) for row in found.confusion.values()) == found.n == len(answers)
    assert 0 <= found.average <= 1
    assert 0 <= found.interval.low <= found.interval.high <= 1
    assert found.informedness is None or -1 <= found.informedness <= 1


def test_an_interval_has_a_width_where_every_class_is_all_right_or_all_wrong() -> None:
    answers = [Chosen(truth, "a", f"{truth}{place}") for truth in ("a", "b") for place in range(14)]
    found = choice_metrics(answers, ["a", "b"])
    assert found.average == 0.5
    assert found.interval.low < 0.45
    assert found.interval.high > 0.55
    alone = choice_metrics([one for one in answers if one.truth == "a"], ["a", "b"])
    assert (alone.interval.low, alone.interval.high) == pytest.approx((wilson_interval(14, 14).low, 1))
