"""Lists of regions and relations between them, and what they say to bad input."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from itertools import product
from typing import Any

import PIL.Image
import pytest

from snellen.errors import BadInput, SnellenError
from snellen.tools.program import ProgramError, StepRecord, caveat_of, decided_value, load, parse, run
from snellen.tools.registry import ToolContext, catalogue
from snellen.values import Region, Untaught, Value, from_json, to_json
from tests.tools.doubles import Shelf


def thing(label: str, *box: int, score: float = 0.9) -> Region:
    x0, y0, x1, y1 = box
    return Region((x0, y0, x1, y1), score, label)


HOUSE = thing("house", 40, 40, 60, 60)
CAT, DOG = thing("cat", 5, 42, 15, 58), thing("dog", 85, 40, 99, 60)
BIRD, ANT = thing("bird", 45, 2, 55, 12), thing("ant", 47, 90, 50, 93)
HALF = thing("horse", 40, 40, 50, 60)
THINGS = [HOUSE, CAT, DOG, BIRD, ANT, HALF]


def call(context: ToolContext, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - whatever the tool takes and gives
    found = catalogue().find(name)
    assert found is not None
    return found(context, **arguments)


def labels(context: ToolContext, name: str, **arguments: Any) -> list[str]:  # noqa: ANN401
    return [region.label for region in call(context, name, **arguments)]


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("LEFT_OF", ["cat"]),
        ("RIGHT_OF", ["dog"]),
        ("ABOVE", ["bird"]),
        ("BELOW", ["ant"]),
        ("NEAREST", ["cat"]),
        ("NEXT_TO", []),
        ("INSIDE", []),
        ("ON", []),
    ],
)
def test_a_relation_leaves_out_the_reference_and_the_half_of_it(
    context: ToolContext, relation: str, expected: list[str]
) -> None:
    assert labels(context, relation, object=THINGS, of=HOUSE) == expected


def test_what_is_straight_beside_comes_before_what_is_nearer_askew(context: ToolContext) -> None:
    askew, straight = thing("askew", 61, 30, 68, 45), thing("straight", 44, 0, 56, 10)
    assert labels(context, "ABOVE", object=[askew, straight], of=thing("car", 40, 50, 60, 60)) == ["straight", "askew"]


def test_a_thing_stands_on_what_its_lower_edge_touches(context: ToolContext) -> None:
    table = thing("table", 20, 50, 80, 90)
    cup, lamp, rug = thing("cup", 40, 35, 50, 55), thing("lamp", 40, 0, 50, 20), thing("rug", 20, 85, 80, 99)
    assert labels(context, "ON", object=[cup, lamp, rug], of=table) == ["cup"]


def test_between_is_near_the_line_and_between_its_ends(context: ToolContext) -> None:
    assert labels(context, "BETWEEN", object=THINGS, of=CAT, other=DOG) == ["house", "horse"]
    assert labels(context, "BETWEEN", object=THINGS, of=CAT, other=CAT) == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("top", ["bird"]),
        ("the bottom edge", ["ant"]),
        ("middle", ["house", "horse"]),
        ("left", ["cat", "horse", "ant"]),
        ("lower-right", ["dog", "house"]),
        ("top middle", ["bird"]),
        ("left edge", ["cat"]),
    ],
)
def test_places_are_parts_of_the_picture(context: ToolContext, shelf: Shelf, place: str, expected: list[str]) -> None:
    image = shelf.put(PIL.Image.new("RGB", (100, 99)))
    assert sorted(labels(context, "AT", image=image, object=THINGS, place=place)) == sorted(expected)


def test_rows_go_down_and_their_regions_from_left_to_right(context: ToolContext) -> None:
    rows = call(context, "ROWS", object=[DOG, ANT, HOUSE, BIRD, CAT])
    assert [[region.label for region in row] for row in rows] == [["bird"], ["cat", "house", "dog"], ["ant"]]
    assert call(context, "COLUMNS", object=[]) == []


def test_lists_are_filtered_sorted_and_taken_apart(context: ToolContext) -> None:
    assert labels(context, "FILTER", object=THINGS, where="area >= 280 and label != 'house'") == ["dog"]
    assert labels(context, "SORT", object=THINGS, by="left")[:2] == ["cat", "house"]
    assert labels(context, "FIRST", object=THINGS, n=2) == ["house", "cat"]
    assert labels(context, "LAST", object=THINGS, n=2) == ["ant", "horse"]
    assert labels(context, "LAST", object=THINGS, n=0) == []
    groups = call(context, "GROUP", object=[CAT, DOG, CAT])
    assert [[region.label for region in group] for group in groups] == [["cat", "cat"], ["dog"]]
    assert from_json(to_json(groups)) == groups


def test_sets_over_two_pictures_go_by_label_or_another_key(context: ToolContext) -> None:
    assert labels(context, "ONLY_IN", object=[CAT, DOG], other=[replace(CAT, label="Cat")]) == ["dog"]
    assert labels(context, "IN_BOTH", object=[CAT, DOG], other=[ANT, DOG], by="height") == ["dog"]


MANY = [thing("dot", x, y, x + 1, y + 1) for x, y in product(range(100), repeat=2)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("FILTER", {"object": MANY, "where": "area > 1"}),
        ("SORT", {"object": MANY, "by": "area"}),
        ("GROUP", {"object": MANY}),
        ("ONLY_IN", {"object": [CAT], "other": MANY}),
        ("LEFT_OF", {"object": MANY, "of": MANY}),
        ("NEAREST", {"object": MANY[:1000], "of": MANY}),
        ("BETWEEN", {"object": MANY, "of": MANY, "other": MANY}),
        ("ROWS", {"object": MANY}),
        ("FIRST", {"object": MANY, "n": -1}),
        ("FIRST", {"object": MANY, "n": 1.5}),
        ("SORT", {"object": [replace(CAT, score=math.nan)], "by": "score"}),
        ("SORT", {"object": THINGS, "by": "label"}),
        ("SORT", {"object": THINGS, "by": "area if label == 'cat' else label"}),
        ("PICTURE", {"object": [replace(CAT, picture="f" * 64)]}),
        ("PICTURE", {"object": [CAT]}),
        ("SAME", {"object": [replace(CAT, picture="f" * 64)], "other": [DOG], "by": "colour"}),
        ("COLORPOP", {"object": [replace(CAT, mask="f" * 64)]}),
        ("SAME", {"object": [CAT], "other": [DOG], "by": "weight"}),
        ("SELECT", {"object": THINGS, "query": "closest to the house"}),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence_and_soon(
    context: ToolContext, shelf: Shelf, name: str, arguments: dict[str, Any]
) -> None:
    if name in {"SELECT", "COLORPOP"}:
        arguments = arguments | {"image": shelf.put(PIL.Image.new("RGB", (9, 9)))}
    started = time.thread_time()
    with pytest.raises(SnellenError) as error:
        call(context, name, **arguments)
    assert "\n" not in str(error.value)
    assert time.thread_time() - started < 1


def test_ten_thousand_regions_are_counted_and_shortened(context: ToolContext) -> None:
    assert call(context, "COUNT", box=MANY) == 10_000
    assert len(call(context, "FIRST", object=MANY, n=3)) == 3


GIVEN = {"Picture": None, "Regions": MANY, "Condition": "area > 1", "Key": "area", "Order": "area", "Texts": ["dot"]}
SPOKEN = {"by": "size", "place": "left", "emoji": "red_heart"}
ON_REGIONS = [tool.name for tool in catalogue() if any(each.kind == "Regions" for each in tool.parameters)]


@pytest.mark.parametrize("name", ON_REGIONS)
def test_any_tool_takes_ten_thousand_regions_or_says_in_a_sentence_why_not(
    context: ToolContext, shelf: Shelf, name: str
) -> None:
    found = catalogue().find(name)
    assert found is not None
    image = shelf.put(PIL.Image.new("RGB", (100, 100)))
    arguments: dict[str, Any] = {
        each.name: image if each.kind == "Picture" else GIVEN.get(each.kind, SPOKEN.get(each.name, "dot"))
        for each in found.parameters
        if each.required
    }
    started = time.thread_time()
    try:
        found(context, **arguments)
    except SnellenError as error:
        assert "\n" not in str(error)  # noqa: PT017 - a value is as good
    assert time.thread_time() - started < 2


def test_a_score_that_is_no_number_is_never_the_best(context: ToolContext, shelf: Shelf) -> None:
    image = shelf.put(PIL.Image.new("RGB", (100, 100)))
    unsure = replace(DOG, score=math.nan)
    cut = call(context, "CROP", image=image, box=[unsure, CAT])
    assert (cut.width, cut.height) == (CAT.width, CAT.height)
    assert labels(context, "LEFT_OF", object=[unsure, replace(CAT, score=math.nan)], of=HOUSE) == ["cat"]


def test_a_slow_condition_stops_with_the_program(context: ToolContext) -> None:
    late = replace(context, deadline=time.monotonic() - 1)
    with pytest.raises(BadInput, match="took too long"):
        call(late, "FILTER", object=THINGS, where="area > 1")


def test_a_mask_of_another_size_gives_way_to_the_box(context: ToolContext, shelf: Shelf) -> None:
    image, small = shelf.put(PIL.Image.new("RGB", (20, 20), "red")), shelf.put(PIL.Image.new("L", (5, 5), 255))
    call(context, "COLORPOP", image=image, object=[Region((2, 2, 6, 6), 1.0, mask=small.id)])
    assert context.warnings == ["A mask has another size than the picture, so the region's box is used."]


REFUSED = [
    ("A=BOXES[0].label < BOXES[1].label", "which has no order"),
    ("A=max(BOXES.label)", "labels have no order"),
    ("A=sorted(BOXES)", "use SORT"),
    ("A=BOX < BOX", "compare a field"),
    ("A=BOXES.area > 3", "is a list, which has no order"),
    ("A=BOXES.label == 'dog'", "never equals"),
    ("A=BOXES.box", "take one"),
    ("A=BOX[0]", "only lists and texts have items"),
    ("A=3\nB=A.area", "Number has no field"),
    ("A=BOX.aera", "did you mean .area?"),
    ("A=IMAGE.label", "Picture has no field"),
    ("A=BOX + 3", "+ joins two lists"),
    ("A=-BOX", "not a number"),
    ("A=distance(BOX, 3)", "it takes two regions"),
    ("A=SORT(object=BOXES,by='label')", "it takes a number of each region"),
    ("A=FILTER(object=BOXES,where='area')", "it takes a condition"),
    ("A=FILTER(object=BOXES,where='colour == 3')", "variable colour is unknown"),
    ("A=FILTER(object=BOXES,where='area >')", "cannot be read"),
    ("A=FILTER(object=BOXES,where=W)", "variable W is unknown"),
    ("A=AT(image=IMAGE,object=BOXES,place='at home')", "is no place"),
    ("A=SAME(object=BOX,other=BOX,by='smell')", "cannot compare by"),
    ("A=SELECT(image=IMAGE,object=BOXES,query='left of the dog')", "LEFT_OF"),
    ("A='{BOX.nose}'", "there is no field .nose"),
]


@pytest.mark.parametrize(("steps", "reason"), REFUSED)
def test_what_has_no_sense_is_refused_before_the_run(steps: str, reason: str) -> None:
    inputs = {"IMAGE": "Picture", "BOXES": "Regions", "BOX": "Region"}
    with pytest.raises(ProgramError) as error:
        load(f"{steps}\nR=RESULT(var=1)", inputs)
    assert reason in str(error.value)


def ran(text: str, context: ToolContext, **inputs: Value) -> list[StepRecord]:
    return list(run(parse(text), inputs, context))


def test_fields_are_read_one_by_one_and_of_lists(context: ToolContext) -> None:
    text = "R=RESULT(var='{BOXES[0].label} {BOXES.area} {BOX.x} {N}')"
    assert ran(f"N=sum(BOXES.width)\n{text}", context, BOXES=[CAT, DOG], BOX=CAT)[-1].output == "cat 160, 280 10 24"


def test_mixed_kinds_in_one_order_stop_the_step_with_a_sentence(context: ToolContext) -> None:
    records = ran("A=[1, 'b']\nR=RESULT(var=sorted(A))", context)
    assert "have no order" in str(records[-1].error)


def test_a_name_that_nobody_was_taught_stays_apart_from_what_was_not_found(context: ToolContext) -> None:
    records = ran("S=FIRST(object=BOXES)\nN=COUNT(box=S)\nR=RESULT(var=N)", context, BOXES=Untaught("unicorn"))
    assert records[-1].value == 0
    assert isinstance(records[0].value, Untaught)
    assert records[0].output == {"type": "Untaught", "name": "unicorn"}
    assert caveat_of(records) == "never taught unicorn; any answer is a guess; teach it: snellen learn unicorn"
    assert decided_value(records) == "undecided"
    assert caveat_of(ran("R=RESULT(var=len(BOXES))", context, BOXES=[])) is None


def test_a_step_that_reads_variables_is_not_taken_from_another_run(context: ToolContext) -> None:
    text = "A=FILTER(object=BOXES,where='area > {N}')\nR=RESULT(var=len(A))"
    known = ran(text, context, BOXES=[CAT, DOG], N=200)
    again = list(run(parse(text), {"BOXES": [CAT, DOG], "N": 0}, context, known=known))
    assert (known[-1].value, again[-1].value) == (1, 2)
