from __future__ import annotations

import json
from collections.abc import Mapping

import PIL.Image
import pytest

from snellen.errors import BadInput, SnellenError
from snellen.profiles import load_profile
from snellen.tools.program import (
    If,
    ProgramError,
    ProgramLimits,
    StepRecord,
    check,
    final_value,
    inputs_for,
    load,
    parse,
    run,
)
from snellen.tools.program.steps import ProgramFailed
from snellen.tools.registry import ToolContext
from snellen.values import Region, Value
from tests.tools.doubles import Shelf

BOXES = [Region((0, 0, 10, 10), 0.9, "dog"), Region((20, 20, 40, 40), 0.8, "cat")]
KINDS = {"BOXES": "Regions", "IMAGE": "Picture", "NUMBER": "Number", "ANSWER": "Text"}


def execute(text: str, context: ToolContext, limits: ProgramLimits | None = None, **inputs: Value) -> list[StepRecord]:
    return list(run(parse(text), {"BOXES": BOXES, **inputs}, context, limits or ProgramLimits()))


def answer(text: str, context: ToolContext, **inputs: Value) -> object:
    return final_value(execute(text, context, None, **inputs))


def problems_of(text: str, inputs: Mapping[str, str] = KINDS) -> str:
    with pytest.raises(ProgramError) as refused:
        load(text, inputs)
    return "\n".join(map(str, refused.value.problems))


def test_a_program_of_the_paper_runs(context: ToolContext) -> None:
    text = """
    COUNT0=COUNT(box=BOXES)
    ANSWER0=EVAL(expr="'yes' if {COUNT0} > 1 else 'no'")
    FINAL_RESULT=RESULT(var=ANSWER0)
    """
    records = execute(text, context)
    assert [(each.address, each.tool, each.target, each.output) for each in records] == [
        ("1", "COUNT", "COUNT0", 2),
        ("2", "EVAL", "ANSWER0", "yes"),
        ("3", "RESULT", "FINAL_RESULT", "yes"),
    ]
    assert records[1].arguments == {"expr": "'yes' if {COUNT0} > 1 else 'no'"}
    assert records[0].source == "COUNT0=COUNT(box=BOXES)"
    assert records[0].line == 2
    assert final_value(records) == "yes"


def test_branches_run_one_way_and_leave_their_addresses(context: ToolContext) -> None:
    text = """
COUNT0=COUNT(box=BOXES)
if COUNT0 > 5:
    ANSWER0='many'
elif COUNT0 == 2 xor COUNT0 == 3:
    ANSWER0='few'
else:
    ANSWER0='none'
FINAL=RESULT(var=ANSWER0)
"""
    records = execute(text, context)
    assert [each.address for each in records] == ["1", "2", "2.else.1", "2.else.1.then.1", "3"]
    assert [each.output for each in records] == [2, False, True, "few", "few"]
    assert records[2].arguments == {"condition": "COUNT0 == 2 xor COUNT0 == 3"}
    assert records[2].source.startswith("elif COUNT0 == 2 xor")


def test_a_loop_goes_through_regions_and_names(context: ToolContext) -> None:
    text = """
FOUND=[]
for BOX in BOXES:
    if BOX == 'dog':
        FOUND=FOUND + ['the {BOX}']
for NAME in ['a', 'b']:
    FOUND=FOUND + [NAME]
FINAL=RESULT(var=FOUND)
"""
    records = execute(text, context)
    assert final_value(records) == ["the dog", "a", "b"]
    assert "2[1].1.then.1" in [each.address for each in records]
    assert "2[2].1.then.1" not in [each.address for each in records]


def test_a_result_in_every_branch_is_enough(context: ToolContext) -> None:
    text = "if len(BOXES) > 1:\n  R=RESULT(var='many')\nelse:\n  R=RESULT(var='one')"
    assert answer(text, context) == "many"


@pytest.mark.parametrize(
    "text",
    [
        "Here it is:\n```python\nN=COUNT(box=BOXES)\nR=RESULT(var=N)\n```\nThat counts.",
        "Step1: N=COUNT(box=BOXES)\nStep2: R=RESULT(var=N)",
        "Step1 N=COUNT(box=BOXES)\nStep 2 Program: R=RESULT(var=N)",
        "**Program:**\n\n  N=COUNT(box=BOXES)\r\n  R=RESULT(var=N)",
        "- Step1, N\\_1=COUNT(box=BOXES) # both\n- Step2, R=RESULT(var=N\\_1)",
        "R=RESULT(var=len(BOXES))",
        "R=RESULT(var=2); pass",
        "Step1=COUNT(box=BOXES)\nR=RESULT(var=Step1)",
    ],
)
def test_what_models_write_around_a_program_is_tolerated(text: str, context: ToolContext) -> None:
    assert answer(text, context) == 2


def test_eval_never_evaluates_the_text_of_a_variable(context: ToolContext) -> None:
    text = "A=EVAL(expr='{ANSWER}')\nB=EVAL(expr=ANSWER)\nR=RESULT(var=[A, B])"
    assert answer(text, context, ANSWER="1+1") == ["1+1", "1+1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=LOCK(image=IMAGE,object='x')\nR=RESULT(var=A)", "line 1: tool 'LOCK' is unknown; did you mean LOC?"),
        ("A=COUNT(boxs=BOXES)\nR=RESULT(var=A)", "line 1: COUNT has no argument 'boxs'; did you mean box?"),
        ("A=COUNT(box=BOXS)\nR=RESULT(var=A)", "line 1: variable BOXS is unknown; did you mean BOXES?"),
        ("A=COUNT()\nR=RESULT(var=A)", "line 1: COUNT lacks box; write COUNT(box: Regions) -> Number"),
        ("A=CROP(image=BOXES,box=BOXES)\nR=RESULT(var=A)", "line 1: CROP(image=BOXES) is Regions; it takes Picture"),
        ("A=EVAL(expr='{B} > 1')\nR=RESULT(var=A)", "variable B is unknown"),
        ("A=VQA(image=IMAGE,question='is {B} red')\nR=RESULT(var=A)", "variable B is unknown"),
        ("A=COUNT(box=BOXES)", "line 1: RESULT is missing"),
        ("if NUMBER:\n  R=RESULT(var=1)", "RESULT is only reached in some branches"),
        ("for B in BOXES:\n  R=RESULT(var=B)", "RESULT is only reached in some branches or in a loop"),
        ("if NUMBER:\n  A=1\nR=RESULT(var=A)", "line 3: A may have no value here"),
        ("for B in NUMBER:\n  A=1\nR=RESULT(var=1)", "line 1: for goes through a list, but NUMBER is Number"),
        ("A=EVAL(expr='1 +')\nR=RESULT(var=A)", "line 1: in EVAL: it cannot be read"),
        ("A=1\nB=COUNT(box=\nR=RESULT(var=B)", "line 2: it cannot be read"),
        ("COUNT(box=BOXES)", "give the step a name"),
        ("A=COUNT(BOXES)", "given a value without its name"),
        ("A=COUNT(**BOXES)", "** is not allowed"),
        ("A=COUNT(box=BOXES,box=BOXES)", "is given 'box' twice"),
        ("A=COUNT(" + ",".join(f"a{n}=1" for n in range(17)) + ")", "is given 17 arguments"),
        ("A += 1", "write NAME = NAME + 1"),
        ("import os", "leave it out"),
        ("while True:\n  A=1", "use 'for NAME in LIST:'"),
        ("A=os.system('x')", "os.system(…) cannot be called here"),
        ("A=eval('x')", "eval(…) cannot be called here"),
        ("A=BOXES.append(1)", "cannot be called here"),
        ("A.b=1", "is no step of a program"),
        ("A,B=1,2", "is no step of a program"),
        ("def f():\n  pass", "is no step of a program"),
        ("__A=1", "is no name for a variable"),
        ("", "the program is empty"),
        ("# nothing", "the program is empty"),
        ("A=1\n" * 65, "more than 64 statements"),
        ("A='" + "x" * 20_000 + "'", "longer than 20000 bytes"),
        ("if 1:\n if 1:\n  if 1:\n   if 1:\n    if 1:\n     A=1", "nest deeper than 4"),
    ],
)
def test_problems_name_the_line_and_the_remedy(text: str, expected: str) -> None:
    assert expected in problems_of(text)


def test_all_problems_are_listed_and_the_message_has_the_first() -> None:
    with pytest.raises(ProgramError, match=r"line 1: variable X is unknown.*and 2 more problems") as refused:
        load("A=COUNT(box=X)\nB=COUNT(box=Y)", KINDS)
    assert isinstance(refused.value, BadInput)
    assert [problem.line for problem in refused.value.problems] == [1, 2, 2]


def test_an_elif_chain_does_not_nest() -> None:
    chain = "if NUMBER == 0:\n A=0\n" + "".join(f"elif NUMBER == {n}:\n A={n}\n" for n in range(1, 9)) + "else:\n A=9\n"
    program = load(chain + "R=RESULT(var=A)", KINDS)
    assert isinstance(program.statements[0], If)


def test_a_variable_that_changes_its_type_in_a_branch_fits_any_argument() -> None:
    program = parse("A=IMAGE\nif NUMBER:\n  A=BOXES\nB=COUNT(box=A)\nR=RESULT(var=B)")
    assert check(program, KINDS) == []


def test_inputs_have_the_names_of_the_paper() -> None:
    assert list(inputs_for(1)) == ["IMAGE"]
    assert list(inputs_for(2)) == ["LEFT", "RIGHT"]
    assert list(inputs_for(3)) == ["PICTURE1", "PICTURE2", "PICTURE3"]


def test_nothing_runs_when_the_check_fails(context: ToolContext) -> None:
    with pytest.raises(ProgramError):
        run(parse("A=COUNT(box=NONE)\nR=RESULT(var=A)"), {}, context)


def test_a_step_that_fails_ends_the_run_with_its_record(context: ToolContext) -> None:
    records = execute("A=[1]\nB=EVAL(expr='{A}[3]')\nR=RESULT(var=B)", context)
    assert [each.error is None for each in records] == [True, False]
    assert records[1].arguments == {"expr": "{A}[3]"}
    with pytest.raises(ProgramFailed, match=r"stopped at step 2 \(line 2\): there is no item 3"):
        final_value(records)


def test_a_failure_of_the_machine_is_a_sentence(
    shelf: Shelf, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(picture: PIL.Image.Image) -> None:
        raise OSError(28, "No space left on device")

    image = shelf.put(PIL.Image.new("RGB", (8, 8)))
    monkeypatch.setattr(shelf, "put", full)
    records = execute("A=CROP(image=IMAGE,box=BOXES)\nR=RESULT(var=A)", context, IMAGE=image)
    assert "No space left on device" in str(records[-1].error)


def test_steps_iterations_and_seconds_are_limited(context: ToolContext) -> None:
    loop = "A=0\nfor X in [1,2,3,4]:\n  for Y in [1,2,3,4]:\n    A=A + 1\nR=RESULT(var=A)"
    assert "after 9 steps" in str(execute(loop, context, ProgramLimits(steps=9))[-1].error)
    assert len(execute(loop, context, ProgramLimits(steps=9))) == 10
    assert "at most 3 items" in str(execute(loop, context, ProgramLimits(iterations=3))[-1].error)
    assert "after 0 seconds" in str(execute(loop, context, ProgramLimits(seconds=0))[-1].error)


def test_limits_come_from_the_profile() -> None:
    assert ProgramLimits.of(load_profile("embedded")) == ProgramLimits()


def test_an_interrupted_run_goes_on_where_it_was(context: ToolContext) -> None:
    text = "A=0\nfor X in BOXES:\n  A=A + 1\nif A == 2:\n  B=COUNT(box=BOXES)\nelse:\n  B=0\nR=RESULT(var=A + B)"
    program, inputs = parse(text), {"BOXES": BOXES}
    whole = list(run(program, inputs, context))
    assert final_value(whole) == 4
    for count in range(len(whole) + 1):
        stored = [StepRecord.from_json(json.loads(json.dumps(each.to_json()))) for each in whole[:count]]
        rest = list(run(program, inputs, context, done=stored))
        assert [each.address for each in stored + rest] == [each.address for each in whole]
        assert final_value(stored + rest) == 4


def test_a_failed_step_is_tried_again(context: ToolContext) -> None:
    program, inputs = parse("A=COUNT(box=BOXES)\nR=RESULT(var=A)"), {"BOXES": BOXES}
    failed = StepRecord("1", 1, "A=COUNT(box=BOXES)", "COUNT", error="a full disk")
    assert final_value(list(run(program, inputs, context, done=[failed]))) == 2


def test_a_record_of_another_version_is_refused() -> None:
    with pytest.raises(BadInput, match="not written by this version"):
        StepRecord.from_json({"address": "1", "colour": "red"})


def test_a_run_without_a_result_has_no_value() -> None:
    with pytest.raises(SnellenError, match="no result"):
        final_value([])


def test_records_carry_pictures_and_warnings(shelf: Shelf, context: ToolContext) -> None:
    image = shelf.put(PIL.Image.new("RGB", (50, 50), "red"))
    records = execute("A=CROP(image=IMAGE,box=BOXES)\nB=CROP(image=A,box=[])\nR=RESULT(var=B)", context, IMAGE=image)
    assert records[0].pictures == [image.id, records[0].value.id]
    assert records[0].warnings == []
    assert "whole picture" in records[1].warnings[0]


def test_list_asks_the_reasoner(context: ToolContext) -> None:
    assert answer("A=LIST(query='fruit', max=2)\nR=RESULT(var=A)", context) == ["fruit 0", "fruit 1"]
    assert "empty" in str(execute("A=LIST(query=' ')\nR=RESULT(var=A)", context)[-1].error)
    assert "out of range" in str(execute("A=LIST(query='x', max=0)\nR=RESULT(var=A)", context)[-1].error)
