from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.reasoning.language.corrections import WordedCorrection, read_correction


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("That is not a flamingo.", WordedCorrection(absent="flamingo")),
        ("that's not a fire engine", WordedCorrection(absent="fire engine")),
        ("There are no cats in the picture", WordedCorrection(absent="cat")),
        ("There is also a cat on the left", WordedCorrection(present="cat", side="left")),
        ("you missed the dog at the bottom", WordedCorrection(present="dog", side="bottom")),
        ("There is another bus.", WordedCorrection(present="bus")),
        ("That is a goose, not a swan", WordedCorrection(expected="goose", absent="swan")),
        ("it is not a swan but a goose", WordedCorrection(expected="goose", absent="swan")),
        ("The answer should be three", WordedCorrection(expected="three")),
        ("Hm. The right answer is red", WordedCorrection(expected="red")),
        ("there are 2 dogs", WordedCorrection(expected="2", present="dog")),
        ("there should be three", WordedCorrection(expected="three")),
        ("there are two more cats on the left", WordedCorrection(present="cat", side="left")),
        ("that is not a dog but that is a dog", WordedCorrection(expected="dog", absent="dog")),
        ("That's wrong.", WordedCorrection(otherwise=True)),
        ("no", WordedCorrection(otherwise=True)),
        ("no, look again", WordedCorrection(otherwise=True)),
        ("not that", WordedCorrection(otherwise=True)),
        ("It isn't right!", WordedCorrection(otherwise=True)),
        ("I do not like it", WordedCorrection()),
        ("asdfgh qwerty", WordedCorrection()),
        ("yes and no", WordedCorrection()),
        ("there are 2 dogs and there are 3 dogs", WordedCorrection()),
        ("the moon is made of cheese", WordedCorrection()),
        ("", WordedCorrection()),
    ],
)
def test_corrections_are_read(said: str, meant: WordedCorrection) -> None:
    assert read_correction(said) == meant
    assert bool(meant) is (meant != WordedCorrection())


@given(st.text(max_size=2000))
def test_any_text_is_read_without_harm(text: str) -> None:
    assert isinstance(read_correction(text), WordedCorrection)


def test_a_long_text_takes_no_time() -> None:
    assert read_correction("not a " * 100_000) == read_correction("not a " * 200_000)
