from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.values import (
    Picture,
    Region,
    Value,
    accepts,
    as_number,
    as_text,
    convert,
    from_json,
    kind_of,
    picture_ids,
    to_json,
    truth,
)

pixels = st.integers(0, 10_000)
regions = st.builds(
    Region,
    box=st.tuples(pixels, pixels, pixels, pixels),
    score=st.floats(0, 1),
    label=st.text(max_size=20),
    mask=st.none() | st.text(max_size=8),
    picture=st.text(max_size=8),
)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30)
program_values = (
    scalars | regions | st.builds(Picture, id=st.text(), width=pixels, height=pixels) | st.lists(scalars | regions)
)


@given(program_values)
def test_every_value_survives_json(value: Value) -> None:
    assert from_json(json.loads(json.dumps(to_json(value), allow_nan=False))) == value


@pytest.mark.parametrize("data", [{"type": "Door"}, {"type": "Picture"}, {}, {"type": "Region", "box": [1]}])
def test_data_of_another_version_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="not written by this version"):
        from_json(data)


def test_kinds_are_named_as_the_catalogue_names_them() -> None:
    region = Region((0, 0, 1, 1), 0.5)
    given = [Picture("a", 1, 1), region, [region], [], "x", 1, 1.5, True, ["x", 1], None, [region, "x"]]
    names = ["Picture", "Region", "Regions", "Regions", "Text", "Number", "Number", "Bool", "Texts", "Any", "Any"]
    assert [kind_of(value) for value in given] == names


def test_a_single_region_is_taken_where_several_are() -> None:
    region = Region((0, 0, 1, 1), 0.5)
    assert accepts("Regions", "Region")
    assert convert(region, "Regions") == [region]
    assert convert("cat, dog ,", "Texts") == ["cat", "dog"]
    assert convert([], "Texts") == []
    assert convert(3.0, "Text") == "3"
    with pytest.raises(BadInput, match="expected Picture, but this is Text"):
        convert("x", "Picture")


@pytest.mark.parametrize(("text", "number"), [("3", 3), (" Three ", 3), ("2.5", 2.5), ("-1", -1), ("x", None)])
def test_answers_read_as_numbers(text: str, number: float | None) -> None:
    assert as_number(text) == number


@pytest.mark.parametrize("value", ["no", "No ", "false", "", "none", "0", 0, [], False, None])
def test_negative_answers_are_false(value: object) -> None:
    assert not truth(value)


@pytest.mark.parametrize("value", ["yes", "red", "3", 2, ["no"], True])
def test_other_answers_are_true(value: object) -> None:
    assert truth(value)


def test_answers_are_written_as_a_visual_question_has_them() -> None:
    region = Region((1, 2, 3, 4), 0.5, "cat")
    assert [as_text(value) for value in (True, False, 3.0, 2.5, region, ["a", 1])] == [
        "yes", "no", "3", "2.5", "cat", "a, 1",
    ]  # fmt: skip


def test_pictures_of_a_value_are_listed_once() -> None:
    masked = Region((0, 0, 1, 1), 0.5, mask="m")
    assert picture_ids([Picture("a", 1, 1), masked, masked, "text"]) == ["a", "m"]
