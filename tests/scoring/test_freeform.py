"""PROVE's scores, over words that are alike as far as they share words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.scoring.freeform import AnswerTuples, score_answers
from snellen.scoring.scene_graph import Fact

DOG, RED, HOUSE = Fact("dog"), Fact("dog", attribute="red"), Fact("dog", relation="in front of", target="house")
CAT, BLUE = Fact("cat"), Fact("dog", attribute="blue")
SCENE = (DOG, RED, HOUSE, Fact("house"), Fact("tree"))
ASKED = AnswerTuples(said=(), reference=(DOG, RED, HOUSE), premise=(DOG,), scene=SCENE, picture="p")
FACTS = st.lists(st.sampled_from([*SCENE, CAT, BLUE]), max_size=6)


class Words:
    """Embeds texts by the words that they have, and remembers which it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float64]:
        self.texts += texts
        known = sorted({word for text in texts for word in text.split()})
        rows = np.array([[float(word in text.split()) for word in known] for text in texts])
        unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def scores(*said: Fact, asked: AnswerTuples = ASKED) -> tuple[float | None, float | None]:
    (found,) = score_answers([replace(asked, said=said)], Words())
    return found.hscore.value, found.tscore.value


def test_the_right_answer_is_wholly_helpful_and_true() -> None:
    assert scores(DOG, RED, HOUSE) == pytest.approx((1, 1))


def test_helpfulness_is_recall_without_the_premises() -> None:
    helpful, truthful = scores(RED)
    assert truthful == pytest.approx(1)
    # "red dog" shares one of five words, of two its own, with "dog in front of house".
    assert helpful == pytest.approx((1 + 1 / np.sqrt(2 * 5)) / 2)


def test_truthfulness_is_precision() -> None:
    helpful, truthful = scores(DOG, RED, HOUSE, CAT)
    assert helpful == pytest.approx(1)
    assert truthful == pytest.approx(3 / 4), "there is no cat, and it shares no word with anything"


def test_planted_answers_are_ordered() -> None:
    true, half, false = scores(RED, HOUSE), scores(RED, CAT), scores(CAT)
    assert true[0] > half[0] > false[0]  # type: ignore[operator]
    assert true[1] > half[1] > false[1]  # type: ignore[operator]
    unasked = scores(Fact("tree"))
    assert unasked == pytest.approx((0, 1)), "true, but of no help"


def test_who_says_nothing_helps_nobody_and_does_not_lie() -> None:
    assert scores() == (0, None)
    (found,) = score_answers([ASKED], Words())
    assert found.tscore.undefined == "the answer says nothing"
    assert found.average.value is None
    assert "tscore is undefined" in found.average.undefined


def test_a_question_that_gives_its_answer_away_has_no_helpfulness() -> None:
    given_away = replace(ASKED, premise=(DOG, RED, HOUSE), said=(DOG,))
    (found,) = score_answers([given_away], Words())
    assert found.hscore.value is None
    assert "nothing is left" in found.hscore.undefined


def test_what_a_picture_shows_is_true_and_only_asked_where_it_matters() -> None:
    asked: list[tuple[Hashable, str]] = []

    def entails(pairs: Sequence[tuple[Hashable, Fact]]) -> list[float]:
        asked.extend((picture, fact.text) for picture, fact in pairs)
        return [0.9 if fact.text == "cat" else 0.0 for _, fact in pairs]

    words = Words()
    rows = [replace(ASKED, said=(RED, CAT)), replace(ASKED, said=(CAT, CAT)), replace(ASKED, said=(CAT,), picture="q")]
    found = score_answers(rows, words, entails)
    assert [one.tscore.value for one in found] == pytest.approx([0.95, 0.9, 0.9])
    assert asked == [("p", "cat"), ("q", "cat")], "what the scene says is not asked, and nothing twice"
    assert len(words.texts) == len(set(words.texts))
    assert score_answers([], words, entails) == []


@given(FACTS, FACTS, FACTS)
def test_scores_are_shares_and_saying_more_never_helps_less(
    said: list[Fact], more: list[Fact], reference: list[Fact]
) -> None:
    asked = AnswerTuples(said=said, reference=reference, premise=[], scene=SCENE)
    less, all_of_it = score_answers([asked, replace(asked, said=[*said, *more])], Words())
    for measure in (less.hscore, less.tscore, less.average, all_of_it.hscore):
        assert (measure.value is None) == bool(measure.undefined)
        assert measure.value is None or 0 <= measure.value <= 1 + 1e-9
    if less.hscore.value is not None:
        assert (all_of_it.hscore.value or 0) >= less.hscore.value - 1e-9
    (twice,) = score_answers([replace(asked, said=[*said, *said])], Words())
    for one, other in ((twice.hscore, less.hscore), (twice.tscore, less.tscore)):
        assert (one.value, one.n) == pytest.approx((other.value, other.n)), "who repeats himself gains nothing"
