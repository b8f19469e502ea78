"""Whether an answer says what was expected."""

from __future__ import annotations

import pytest

from snellen.learning.feedback import agrees
from snellen.values import Region


def region(label: str) -> Region:
    return Region(box=(0, 0, 1, 1), score=1.0, label=label)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes", "Yes"),
        (True, "yes"),
        ("true", "yes"),
        (False, "No."),
        (3, "3"),
        (3.0, "three"),
        ("three", "3"),
        ("A dog", "dog"),
        ("dog", "The  Dog."),
        (["cat", "dog"], "dog, cat"),
        ([], " "),
        (region("dog"), "a dog"),
        ([region("dog"), region("cat")], "cat, dog"),
    ],
)
def test_it_does(answer: object, expected: str) -> None:
    assert agrees(answer, expected)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("yes", "no"),
        (True, "no"),
        (3, "4"),
        ("dog", "cat"),
        (None, "none of them"),
        (["cat"], "cat, dog"),
        (["cat", "cat"], "cat"),
        (region("dog"), "cat"),
        ("another dog", "other dog"),
    ],
)
def test_it_does_not(answer: object, expected: str) -> None:
    assert not agrees(answer, expected)
