"""Outputs given to a run from outside, and calls taken from other runs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.tools.program import StepRecord, final_value, parse, run
from snellen.tools.registry import ToolContext
from snellen.values import Region, Value
from tests.tools.doubles import Shelf, context_of

BOXES = [Region((0, 0, 10, 10), 0.9, "dog"), Region((20, 20, 40, 40), 0.8, "cat")]
LOOP = """
TOTAL=0
for BOX in BOXES:
    ONE=COUNT(box=BOX)
    if ONE > 1:
        TOTAL=TOTAL + 10
    else:
        TOTAL=TOTAL + ONE
ANSWER=EVAL(expr='{TOTAL} * 2')
FINAL=RESULT(var=ANSWER)
"""


def execute(
    text: str, context: ToolContext, overrides: Mapping[str, Value] | None = None, known: list[StepRecord] | None = None
) -> list[StepRecord]:
    return list(run(parse(text), {"BOXES": BOXES}, context, overrides=overrides, known=known or ()))


def test_a_given_output_replaces_the_call_and_is_marked(context: ToolContext) -> None:
    text = "N=COUNT(box=BOXES)\nM=EVAL(expr='{N} + 1')\nR=RESULT(var=M)"
    records = execute(text, context, {"1": 7})
    assert [each.output for each in records] == [7, 8, 8]
    assert [each.given for each in records] == [True, False, False]
    assert records[0].arguments["box"]
    assert StepRecord.from_json(records[0].to_json()) == records[0]


def test_records_of_computed_steps_are_written_as_before(context: ToolContext) -> None:
    assert "given" not in execute(LOOP, context)[0].to_json()


def test_iterations_and_branches_are_addressed_one_by_one(context: ToolContext) -> None:
    assert final_value(execute(LOOP, context)) == 4
    assert final_value(execute(LOOP, context, {"2[2].1": 5})) == 22
    assert final_value(execute(LOOP, context, {"2[1].2": True})) == 22
    assert final_value(execute(LOOP, context, {"2[1].2.else.1": 100})) == 202
    assert final_value(execute(LOOP, context, {"2": BOXES[:1]})) == 2


def test_an_address_that_is_not_reached_changes_nothing(context: ToolContext) -> None:
    assert final_value(execute(LOOP, context, {"2[1].2.then.1": 100, "9": 1})) == 4


@pytest.mark.parametrize(("overrides", "said"), [({"1": "many"}, "expected Number"), ({"2": 3}, "goes through a list")])
def test_an_output_of_the_wrong_kind_is_the_steps_error(
    overrides: dict[str, Value], said: str, context: ToolContext
) -> None:
    text = "N=COUNT(box=BOXES)\nfor BOX in BOXES:\n    M=COUNT(box=BOX)\nR=RESULT(var=N)"
    records = execute(text, context, overrides)
    assert said in (records[-1].error or "")


def test_a_known_call_is_not_made_again(context: ToolContext) -> None:
    text = "N=LIST(query='pets',max=2)\nR=RESULT(var=N)"
    first = execute(text, context)
    asked: list[str] = []

    def refuse(query: str, *_: object) -> list[str]:
        asked.append(query)
        return ["asked again"]

    again = ToolContext(pictures=Shelf(), models=None, list_knowledge=refuse, profile=None)
    assert final_value(execute(text, again, known=first)) == ["pets 0", "pets 1"]
    assert not asked
    assert final_value(execute(text.replace("pets", "birds"), again, known=first)) == ["asked again"]


def test_what_was_given_or_reads_variables_is_never_known(context: ToolContext) -> None:
    text = "N=COUNT(box=BOXES)\nM=EVAL(expr='{N} + 1')\nR=RESULT(var=M)"
    assert final_value(execute(text, context, known=execute(text, context, {"1": 7}))) == 3


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_runs_own_outputs_change_nothing_whichever_are_given(data: st.DataObject) -> None:
    context = context_of(Shelf())
    records = execute(LOOP, context)
    chosen = data.draw(st.sets(st.sampled_from([each.address for each in records])))
    again = execute(LOOP, context, {each.address: each.value for each in records if each.address in chosen})
    assert [each.output for each in again] == [each.output for each in records]
    assert {each.address for each in again if each.given} == chosen
