# ruff: noqa: ANN401, FBT001 - answers are any values
from __future__ import annotations

from typing import Any

import pytest

from snellen.learning.feedback import agreement, bears_on, closeness
from snellen.reasoning.critique import Feedback
from snellen.reasoning.meanings.talk import Correction
from snellen.reasoning.reading.talk_reader import read_correction
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, to_json

PICTURE = Picture("p", 100, 100)
CAT = Region((0, 0, 20, 20), 0.9, "cat")
DOG = Region((60, 0, 80, 20), 0.9, "dog")


def tagged(*regions: Region) -> list[StepRecord]:
    arguments = {"image": to_json(PICTURE), "object": to_json(list(regions))}
    drawn = Picture("drawn", 100, 100)
    return [StepRecord("1", 1, "", "TAG", arguments, to_json(drawn))]


def judged(feedback: Feedback, before: Any, after: Any) -> bool:
    return agreement(feedback, before, ())(after, ())


@pytest.mark.parametrize(
    ("feedback", "before", "after", "agrees"),
    [
        (Feedback("yes"), "no", "yes", True),
        (Feedback("3"), 2, 3, True),
        (Feedback("3"), 2, 4, False),
        (Feedback(correction="that is not a flamingo"), "flamingo", "goose", True),
        (Feedback(correction="that is not a flamingo"), "flamingo", "flamingo", False),
        (Feedback(correction="there is another cat"), 2, 3, True),
        (Feedback(correction="there is another cat"), 2, 1, False),
        (Feedback(correction="there are 4 cats"), 2, 3, False),
        (Feedback(correction="there are 4 cats"), 2, 4, True),
        (Feedback(correction="there are 4 cats"), "no", "yes", True),
        (Feedback(correction="that is wrong"), 2, 3, True),
        (Feedback(correction="no, it is red"), "blue", "red", True),
        (Feedback(correction="nonsense"), "blue", "red", True),
        (Feedback(correction="nonsense"), "blue", "blue", False),
        (Feedback(), "blue", "red", False),
        (Feedback("yes"), "no", None, False),
        (Feedback(region=CAT), [], [CAT], True),
        (Feedback(region=CAT), [], [DOG], False),
    ],
)
def test_an_answer_is_judged_by_the_feedback(feedback: Feedback, before: Any, after: Any, agrees: bool) -> None:
    assert judged(feedback, before, after) is agrees


@pytest.mark.parametrize(
    ("said", "answer", "bears"),
    [
        ("that is not a house", "purple", False),
        ("there is also a cat on the left", "purple", False),
        ("that is not a flamingo", "flamingo", True),
        ("that is not a flamingo", "a flamingo", True),
        ("that is not a cat", "dog, cats", True),
        ("there is also a cat on the left", "no", True),
        ("that is not a cat", 3, True),
        ("that is not a cat", Picture("drawn", 100, 100), True),
        ("that is wrong", "purple", True),
        ("it should be green", "purple", True),
    ],
)
def test_words_about_things_say_nothing_of_other_answers(said: str, answer: object, bears: bool) -> None:
    assert bears_on(read_correction(said) or Correction(), answer) is bears


@pytest.mark.parametrize(
    ("feedback", "regions", "agrees"),
    [
        (Feedback("cat, dog"), (CAT, DOG), True),
        (Feedback("cat, dog"), (CAT,), False),
        (Feedback(correction="there is also a dog on the right"), (CAT, DOG), True),
        (Feedback(correction="there is also a dog on the left"), (CAT, DOG), False),
        (Feedback(correction="that is not a cat"), (DOG,), True),
        (Feedback(correction="that is not a cat"), (CAT, DOG), False),
        (Feedback(region=DOG), (CAT, DOG), True),
    ],
)
def test_a_tagged_picture_says_what_was_tagged(feedback: Feedback, regions: tuple[Region, ...], agrees: bool) -> None:
    drawn = Picture("drawn", 100, 100)
    assert agreement(feedback, drawn, tagged(CAT))(drawn, tagged(*regions)) is agrees


def test_a_list_comes_closer_with_each_name_that_is_expected() -> None:
    measure = closeness(Feedback("cat, dog, dog"))
    drawn = Picture("drawn", 100, 100)
    assert measure(drawn, tagged(CAT, DOG, DOG)) == 1
    assert measure(drawn, tagged(CAT, DOG)) == pytest.approx(0.8)
    assert measure(drawn, tagged(CAT, CAT, CAT)) == pytest.approx(1 / 3)
    assert measure(drawn, tagged()) == measure("cat", ()) == measure(None, ()) == 0
    assert closeness(Feedback("yes"))("yes", ()) == closeness(Feedback())([], ()) == 0
