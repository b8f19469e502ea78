"""What a message says about the answer before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.reasoning.replies import Remark, read_remark


@pytest.mark.parametrize(
    "text", ["That's right", "correct!", "Yes, that is correct.", "exactly", "Perfect, thanks", "you're right"]
)
def test_praise_is_understood(text: str) -> None:
    assert read_remark(text, shows=False) == Remark(right=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No, blue", "blue"),
        ("nope, dark blue.", "dark blue"),
        ("Wrong, a flamingo", "flamingo"),
        ("No, it's the left one", "left"),
        ("It's on the right", "right"),
    ],
)
def test_a_right_answer_may_be_given_in_short(text: str, expected: str) -> None:
    assert read_remark(text, shows=False) == Remark(expected=expected)


@pytest.mark.parametrize(
    "text",
    ["No, it's the left one", "no, the left one", "It's on the left.", "the leftmost", "I mean the left picture"],
)
def test_a_side_means_the_thing_that_was_looked_for(text: str) -> None:
    assert read_remark(text, shows=True, noun="dog") == Remark(correction="you missed the dog on the left")


@pytest.mark.parametrize(
    ("text", "correction"),
    [
        ("That is not a flamingo", "that is not a flamingo"),
        ("Actually there are two", "there are two"),
        ("nope, it is red", "it is red"),
        ("You missed the cat on the left", "you missed the cat on the left"),
        ("Wrong.", "wrong"),
    ],
)
def test_what_corrections_say_is_handed_on(text: str, correction: str) -> None:
    assert read_remark(text, shows=False) == Remark(correction=correction)


@pytest.mark.parametrize(
    "text",
    [
        "Is there a dog?",
        "Blur the background",
        "What color is the cat?",
        "Are the models robust to noise?",
        "thanks",
        "",
    ],
)
def test_a_new_wish_is_no_remark(text: str) -> None:
    assert not read_remark(text, shows=True, noun="dog")


@given(st.text(max_size=2_000), st.booleans())
def test_any_text_is_read_without_trouble(text: str, shows: bool) -> None:  # noqa: FBT001 - drawn
    remark = read_remark(text, shows=shows)

    assert not remark or sum(map(bool, (remark.right, remark.expected, remark.correction))) == 1
