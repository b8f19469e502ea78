# ruff: noqa: FBT003 - truth values are values of programs
"""Claims about outputs, other outputs, and differences between programs."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from snellen.reasoning.case_based.fault_localisation import in_words
from snellen.reasoning.case_based.repairs import MAX_ALTERNATIVES, alternatives, difference, edits, hints_of
from snellen.reasoning.critique import Critique, FailedCase, Fault, Feedback, StepEvidence
from snellen.reasoning.output_constraints import REST, met
from snellen.reasoning.task import Task
from snellen.tools.program import StepRecord, parse
from snellen.values import Picture, Region, to_json

PROGRAM = """\
BOX0=LOC(image=IMAGE,object='cat')
COUNT0=COUNT(box=BOX0)
if COUNT0 > 1:
    ANSWER0='many'
else:
    ANSWER0='few'
for BOX in BOX0:
    N0=COUNT(box=BOX)
FINAL_RESULT=RESULT(var=ANSWER0)
"""

boxes = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(41, 90), st.integers(41, 90))
regions = st.lists(st.builds(Region, boxes, st.floats(0, 1), st.sampled_from(["cat", "dog"])), max_size=4)


def located(found: list[Region]) -> StepRecord:
    arguments = {"image": to_json(Picture("p", 100, 100)), "object": "cat"}
    return StepRecord("1", 1, "", "LOC", arguments, to_json(found))


@given(regions, st.one_of(st.just(""), st.just(REST), boxes.map(lambda box: json.dumps(list(box)))))
def test_a_steps_own_output_meets_what_speaks_for_it(own: list[Region], scope: str) -> None:
    assert met(StepEvidence("1", "", "", 0.5, None, scope), own, own)


@given(regions)
def test_other_outputs_are_bounded_and_never_the_steps_own(own: list[Region]) -> None:
    others = alternatives(located(own), [(to_json(own), 0.5), (3, 0.5), (False, 0.2)], [])
    assert 0 < len(others) <= MAX_ALTERNATIVES
    assert all(to_json(one.output) != to_json(own) for one in others)
    assert all(isinstance(one.output, list) for one in others)


def test_claims_are_about_a_box_the_rest_a_number_or_whether_there_is_any() -> None:
    one, other = Region((0, 0, 9, 9), 0.9, "cat"), Region((50, 50, 60, 60), 0.9, "cat")
    gone = StepEvidence("1", "", "", -0.9, [], "[0, 0, 9, 9]")
    assert met(gone, [other], [one])
    assert not met(gone, [one, other], [one])
    assert not met(StepEvidence("1", "", "", 0.5, scope=REST), [one, other], [one])
    assert met(StepEvidence("1", "", "", -0.5, 2), [one, other], [one])
    assert met(StepEvidence("1", "", "", -0.5, True), [one], [])
    assert met(StepEvidence("1", "", "", -0.5, "2"), 2, 3)


def classified(own: list[Region], given: list[Region], *categories: str) -> StepRecord:
    arguments = {"image": to_json(Picture("p", 100, 100)), "object": to_json(given), "categories": list(categories)}
    return StepRecord("3", 3, "", "CLASSIFY", arguments, to_json(own))


def test_names_that_the_feedback_lists_are_given_to_what_was_found() -> None:
    penguin, hen, box = (Region((x, 0, x + 9, 9), 0.9, name) for x, name in ((0, "penguin"), (20, "hen"), (40, "box")))
    own = [Region(hen.box, 0.8, "hen"), Region(box.box, 0.3, "chick")]
    record = classified(own, [penguin, hen, box], "hen", "chick", "penguin")
    best = alternatives(record, [], [], expected=("hen", "penguin", "penguin"))[0]
    assert [(one.box, one.label) for one in best.output] == [
        (hen.box, "hen"), (penguin.box, "penguin"), (box.box, "penguin"),
    ]  # fmt: skip
    assert best.distance == 2.4
    fewer = alternatives(record, [], [], expected=("hen",))[0]
    assert [one.label for one in fewer.output] == ["hen"]
    assert not any(one.suggested for one in alternatives(record, [], [], expected=("hen", "chick")))
    assert not any(one.suggested for one in alternatives(record, [], [], expected=("whale",)) if one.output)


def test_a_name_that_is_missing_is_claimed_for_any_box() -> None:
    missing = StepEvidence("3", "the table of facts", "", -0.4, "penguin")
    assert met(missing, [Region((0, 0, 9, 9), 0.9, "penguin")], [])
    assert not met(missing, [Region((0, 0, 9, 9), 0.9, "hen")], [])
    record = classified([], [Region((0, 0, 9, 9), 0.9, "hen")], "hen")
    assert all(isinstance(one.output, list) for one in alternatives(record, [("penguin", 0.4)], []))


def test_a_question_with_options_has_only_these_answers() -> None:
    record = StepRecord("1", 1, "", "VQA", {"question": "is the lock green or purple?"}, "green")
    assert [one.output for one in alternatives(record, [], ["lock"])] == ["purple"]


def test_programs_differ_where_their_statements_do() -> None:
    assert difference(PROGRAM, PROGRAM.replace("=IMAGE,", " = IMAGE, ")) is None
    for old, new, address in (
        ("'cat'", "'dog'", "1"),
        ("> 1", "> 2", "3"),
        ("'few'", "'some'", "3.else.1"),
        ("N0=COUNT(box=BOX)", "N0=COUNT(box=BOX0)", "4[1].1"),
    ):
        edit = difference(PROGRAM, PROGRAM.replace(old, new))
        assert edit is not None
        assert edit.addresses == (address,)
    assert difference("not a program(", PROGRAM) is not None


def test_every_edit_is_a_program_that_differs_in_one_statement() -> None:
    tried = edits(PROGRAM)
    assert tried
    for edit in tried:
        parse(edit.program)
        assert len(edit.addresses) == 1


def test_hints_are_the_words_that_answers_are_compared_with() -> None:
    assert hints_of("A=EVAL(expr=\"'yes' if {B} == 'blue' else 'no'\")", "red, green") == ["red", "green", "blue"]


def test_a_critique_survives_its_json() -> None:
    critique = Critique((Fault("tool", "4[2].1", "LOC", "cat", "It is blind.", "1 cat"),), 0.7, "local", "X=1")
    assert Critique.from_json(json.loads(json.dumps(critique.to_json()))) == critique


def test_a_case_finds_its_steps_and_feedback_may_be_empty() -> None:
    case = FailedCase(Task("x", {}), Feedback(), "", [], "", ())
    assert case.step("1") is None
    assert not case.feedback
    assert Feedback(region=Region((0, 0, 1, 1), 1.0))


def test_values_are_written_for_one_who_cannot_see() -> None:
    assert in_words([]) == "nothing"
    assert in_words([Region((0, 0, 1, 1), 0.5, "cat")]) == "1 region: cat [0, 0, 1, 1] (0.50)"
    assert in_words(True) == "yes"
    assert in_words("") == "nothing"
    assert in_words([Region((0, 0, 1, 1), 0.5, "cat")] * 20).endswith("and 8 more")
