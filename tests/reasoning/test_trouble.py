"""Trouble of a run is found in its records; that nothing is there is an answer like any other."""

from __future__ import annotations

import pytest

from benchmarks.oracle import Oracle
from snellen.reasoning.trouble import MAX_REASON, Trouble, trouble_in
from snellen.tools.program import StepRecord, parse
from snellen.values import Picture, Region, to_json
from tests.tools.test_program_page import EXAMPLES, GARDEN, YARD

FOUND = "BOX0=LOC(image=IMAGE,object='dog')\n"
NOTHING = "BOX0=LOC(image=IMAGE,object='wolf')\n"
END = "\nFINAL_RESULT=RESULT(var=A)"


def trouble(program: str) -> Trouble | None:
    return trouble_in(parse(program), Oracle([GARDEN]).run(program))


@pytest.mark.parametrize(
    "rest",
    [
        "A=COUNT(box=BOX0)",
        "A=BOX0",
        "A=len(BOX0) > 0",
        "A=EVAL(expr=\"'yes' if {BOX0} else 'no'\")",
        "A='none'\nif len(BOX0) > 0:\n    A=BOX0[0].label",
        "A=0\nfor B in BOX0:\n    A=A + 1",
        "A='{BOX0.label}'",
        "B=FILTER(object=BOX0,where='area > 3')\nA=COUNT(box=B)",
        "C=LOC(image=IMAGE,object='cat')\nB=LEFT_OF(object=BOX0,of=C)\nA=COUNT(box=B)",
        "C=LOC(image=IMAGE,object='cat')\nB=ONLY_IN(object=C,other=BOX0)\nA=COUNT(box=B)",
        "B=NAME(image=IMAGE,object=BOX0)\nA=B.label",
    ],
)
def test_nothing_found_is_no_trouble_where_it_is_an_answer(rest: str) -> None:
    assert trouble(NOTHING + rest + END) is None


@pytest.mark.parametrize(
    ("rest", "address"),
    [
        ("P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what is this?')", "2"),
        ("P=CROP_LEFTOF(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what is this?')", "2"),
        ("A=TAG(image=IMAGE,object=BOX0)", "2"),
        ("A=COLORPOP(image=IMAGE,object=BOX0)", "2"),
        ("C=LOC(image=IMAGE,object='cat')\nB=LEFT_OF(object=C,of=BOX0)\nA=COUNT(box=B)", "3"),
        ("C=LOC(image=IMAGE,object='cat')\nD=THINGS(image=IMAGE)\nA=BETWEEN(object=D,of=C,other=BOX0)", "4"),
        ("B=FIRST(object=BOX0)\nC=B\nP=CROP(image=IMAGE,box=C)\nA=VQA(image=P,question='what is this?')", "4"),
        ("for N in [1, 2]:\n    A=CROP(image=IMAGE,box=BOX0)\nA=1", "2[1].1"),
    ],
)
def test_nothing_found_is_trouble_where_a_step_rests_on_it(rest: str, address: str) -> None:
    found = trouble(NOTHING + rest + END)

    assert found is not None
    assert (found.kind, found.address, found.causes) == ("empty", address, ("1",))
    assert "object='wolf'" in found.reason


def test_where_something_is_found_there_is_no_trouble() -> None:
    assert trouble(FOUND + "P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what is this?')" + END) is None
    assert trouble("A=CROP(image=IMAGE,box=[])" + END) is None


def test_a_filter_that_keeps_nothing_is_the_cause() -> None:
    found = trouble(FOUND + "B=FILTER(object=BOX0,where='area < 0')\nA=CROP(image=IMAGE,box=B)" + END)

    assert found is not None
    assert (found.address, found.causes) == ("3", ("2",))


@pytest.mark.parametrize(
    ("rest", "causes"), [("A=BOX0[0].label", ("1",)), ("A=PICTURE(object=BOX0)", ("1",)), ("A=1 / 0", ())]
)
def test_a_failed_step_is_the_gravest_trouble(rest: str, causes: tuple[str, ...]) -> None:
    found = trouble(NOTHING + "B=CROP(image=IMAGE,box=BOX0)\n" + rest + END)

    assert found is not None
    assert (found.kind, found.address, found.causes) == ("error", "3", causes)
    assert found.reason.startswith("Step 3 failed: ")
    assert len(found.reason) <= MAX_REASON


@pytest.mark.parametrize(
    "rest", ["A=COUNT(box=BOX0)", "A=CROP(image=IMAGE,box=BOX0)", "A=TAG(image=IMAGE,object=BOX0)"]
)
def test_a_name_that_nobody_was_taught_is_no_trouble(rest: str) -> None:
    assert trouble(f"BOX0=LOC(image=IMAGE,object='unicorn')\n{rest}{END}") is None


def step(address: str, tool: str, output: object, **arguments: object) -> StepRecord:
    image = to_json(Picture("p", 10, 10))
    return StepRecord(address, int(address), f"X{address}={tool}(…)", tool, {"image": image, **arguments}, output)


DOG = to_json([Region((0, 0, 5, 5), 0.9, "dog")])


@pytest.mark.parametrize(
    ("records", "causes"),
    [
        ([step("1", "LOC", DOG, object="dogs"), step("2", "VQA", "no", question="Is there a dog?")], ("1", "2")),
        ([step("1", "LOC", [], object="dog"), step("2", "VQA", "yes", question="Is there a dog?")], ("1", "2")),
        ([step("1", "LOC", DOG, object="dog"), step("2", "VQA", "3", question="How many dogs?")], ("1", "2")),
        ([step("1", "VQA", "red", question="Is the lock green or purple?")], ("1",)),
    ],
)
def test_results_that_contradict_each_other_are_trouble(records: list[StepRecord], causes: tuple[str, ...]) -> None:
    found = trouble_in(parse("A=1\nB=2\nFINAL_RESULT=RESULT(var=A)"), records)

    assert found is not None
    assert (found.kind, found.address, found.causes) == ("contradiction", causes[-1], causes)


@pytest.mark.parametrize(
    "records",
    [
        [step("1", "LOC", DOG, object="dog"), step("2", "VQA", "yes", question="Is there a dog?")],
        [step("1", "LOC", DOG, object="cat"), step("2", "VQA", "no", question="Is there a dog?")],
        [step("1", "LOC", DOG, object="dog"), step("2", "VQA", "1", question="How many dogs are there?")],
        [step("1", "VQA", "purple", question="Is the lock green or purple?")],
    ],
)
def test_results_that_agree_are_none(records: list[StepRecord]) -> None:
    assert trouble_in(parse("A=1\nB=2\nFINAL_RESULT=RESULT(var=A)"), records) is None


@pytest.mark.parametrize(("program", "answer"), EXAMPLES, ids=[text.splitlines()[-2] for text, _ in EXAMPLES])
def test_no_example_of_the_language_is_in_trouble(program: str, answer: str) -> None:
    if answer.startswith("refused"):
        return
    records = Oracle([GARDEN, YARD] if "LEFT" in program.split("(")[1] else [GARDEN]).run(program)

    assert trouble_in(parse(program), records) is None


def test_records_that_were_left_out_or_shortened_are_no_trouble() -> None:
    program = NOTHING + "P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what is this?')" + END
    records = Oracle([GARDEN]).run(program)

    assert trouble_in(parse(program), records[1:]) is None
    assert trouble_in(parse(program), []) is None


def test_trouble_has_a_json_form() -> None:
    found = Trouble("empty", "2", "Step 2 rests on nothing.", ("1",))

    assert Trouble.from_json(found.to_json()) == found
