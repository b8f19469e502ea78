from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.scoring import Chosen, choice_metrics

ANSWERS = st.lists(
    st.builds(Chosen, st.sampled_from("abc"), st.sampled_from(["a", "b", "c", "unknown", None])),
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
    answers = [Chosen(truth, said) for truth in "aaabbbbb"]
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


def test_nothing_answered_shows_nothing() -> None:
    found = choice_metrics([], ["a", "b"])
    assert (found.n, found.average, found.by_class, found.informedness) == (0, 0, {}, None)
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
    assert found.informedness is None or -1 <= found.informedness <= 1
