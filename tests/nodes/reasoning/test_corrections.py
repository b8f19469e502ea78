from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.reasoning.corrections import Correction, read_correction


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("That is not a flamingo.", Correction(absent="flamingo")),
        ("that's not a fire engine", Correction(absent="fire engine")),
        ("There are no cats in the picture", Correction(absent="cat")),
        ("There is also a cat on the left", Correction(present="cat", side="left")),
        ("you missed the dog at the bottom", Correction(present="dog", side="bottom")),
        ("There is another bus.", Correction(present="bus")),
        ("That is a goose, not a swan", Correction(expected="goose", absent="swan")),
        ("it is not a swan but a goose", Correction(expected="goose", absent="swan")),
        ("The answer should be three", Correction(expected="three")),
        ("Hm. The right answer is red", Correction(expected="red")),
        ("there are 2 dogs", Correction(expected="2", present="dog")),
        ("there should be three", Correction(expected="three")),
        ("there are two more cats on the left", Correction(present="cat", side="left")),
        ("that is not a dog but that is a dog", Correction(expected="dog", absent="dog")),
        ("That's wrong.", Correction(otherwise=True)),
        ("no", Correction(otherwise=True)),
        ("no, look again", Correction(otherwise=True)),
        ("not that", Correction(otherwise=True)),
        ("It isn't right!", Correction(otherwise=True)),
        ("I do not like it", Correction()),
        ("asdfgh qwerty", Correction()),
        ("yes and no", Correction()),
        ("there are 2 dogs and there are 3 dogs", Correction()),
        ("the moon is made of cheese", Correction()),
        ("", Correction()),
    ],
)
def test_corrections_are_read(said: str, meant: Correction) -> None:
    assert read_correction(said) == meant
    assert bool(meant) is (meant != Correction())


@given(st.text(max_size=2000))
def test_any_text_is_read_without_harm(text: str) -> None:
    assert isinstance(read_correction(text), Correction)


def test_a_long_text_takes_no_time() -> None:
    assert read_correction("not a " * 100_000) == read_correction("not a " * 200_000)
