# ruff: noqa: ANN401, FBT001 - doubles stand in for models and reasoners
"""Reflection as nodes: programs run on the real interpreter, vision is by colour (tests/learning/colours.py)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from snellen.graphs.states import AskState
from snellen.nodes.ask.inference import run
from snellen.nodes.ask.reflection import describe, reflect_globally, reflect_locally
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.critique import Critique, FailedCase, Fault, Replay, StepCheck
from snellen.reasoning.task import Examples, Plan, Task
from snellen.runtime.context import Context
from snellen.tools.program import inputs_for
from snellen.values import to_json
from tests.graphs.scripted import ScriptedReasoner, make_context
from tests.learning.colours import PROFILE, Box, ColourModels, drawn

CAT: Box = (8, 8, 40, 40)
DOG: Box = (56, 56, 88, 88)
MORE = """\
BOX0=LOC(image=IMAGE,object='cat')
COUNT0=COUNT(box=BOX0)
BOX1=LOC(image=IMAGE,object='dog')
COUNT1=COUNT(box=BOX1)
ANSWER0=EVAL(expr="'yes' if {COUNT0} > {COUNT1} else 'no'")
FINAL_RESULT=RESULT(var=ANSWER0)
"""
NAMED = """\
BOX0=LOC(image=IMAGE,object='cat')
IMAGE0=CROP(image=IMAGE,box=BOX0)
ANSWER0=VQA(image=IMAGE0,question='what is this?')
FINAL_RESULT=RESULT(var=ANSWER0)
"""
EACH = """\
FOUND=0
for NAME in ['cat', 'dog']:
    BOX0=LOC(image=IMAGE,object=NAME)
    if len(BOX0) > 0:
        COUNT0=COUNT(box=BOX0)
        FOUND=FOUND + COUNT0
FINAL_RESULT=RESULT(var=FOUND)
"""


@pytest.fixture(scope="module")
def cases() -> CaseReasoner:
    return CaseReasoner(PROFILE)


def failed(
    folder: Path, program: str, expected: str | None, *things: tuple[str, Box], models: Any, reasoner: Any, **more: Any
) -> tuple[AskState, Any]:
    """Run a program on a picture and return the state and a runtime."""
    context: Context = replace(make_context(folder, reasoner=reasoner), models=models)
    runtime = SimpleNamespace(context=context, stream_writer=lambda _: None)
    picture = context.pictures.put(drawn(*things))
    fields = {"instruction": "xyzzy", "pictures": [to_json(picture)], "program": program, "expected": expected, **more}
    state = AskState(**fields)
    return replace(state, **asyncio.run(run(state, runtime))), runtime  # type: ignore[arg-type]


def described(state: AskState, runtime: Any) -> dict[str, Any]:
    command = asyncio.run(describe(state, runtime))
    assert isinstance(command.update, dict)
    return command.update


def reflected(state: AskState, runtime: Any, *, locally: bool = False) -> tuple[AskState, Critique]:
    state = replace(state, **described(state, runtime))
    state = replace(state, **asyncio.run((reflect_locally if locally else reflect_globally)(state, runtime)))
    return state, Critique.from_json(state.critiques[-1])


@pytest.mark.parametrize("locally", [False, True])
def test_a_blind_detector_is_found_and_its_concept_named(tmp_path: Path, cases: CaseReasoner, locally: bool) -> None:
    models = ColourModels(blind=frozenset({"cat"}))
    state, runtime = failed(tmp_path, MORE, "yes", ("cat", CAT), models=models, reasoner=cases)
    assert state.answer == "no"
    state, critique = reflected(state, runtime, locally=locally)
    assert [(one.place, one.address, one.tool, one.concept) for one in critique.faults] == [("tool", "1", "LOC", "cat")]
    assert critique.method == ("local" if locally else "global")
    assert critique.certainty > 0.5
    assert critique.faults[0].right_output == "1 cat somewhere"


def test_a_wrong_answer_is_found_and_the_right_one_inferred(tmp_path: Path, cases: CaseReasoner) -> None:
    models = ColourModels(answers={"what is this?": "dog"})
    state, runtime = failed(tmp_path, NAMED, "cat", ("cat", CAT), ("dog", DOG), models=models, reasoner=cases)
    _, critique = reflected(state, runtime)
    assert [(one.address, one.tool, one.right_output) for one in critique.faults] == [("3", "VQA", "cat")]


def test_iterations_are_named_one_by_one(tmp_path: Path, cases: CaseReasoner) -> None:
    models = ColourModels(blind=frozenset({"dog"}))
    state, runtime = failed(tmp_path, EACH, "2", ("cat", CAT), ("dog", DOG), models=models, reasoner=cases)
    _, critique = reflected(state, runtime)
    assert critique.faults[0].address == "2[2].1"
    assert critique.faults[0].concept == "dog"


def test_two_faults_are_named_together(tmp_path: Path, cases: CaseReasoner) -> None:
    models = ColourModels(blind=frozenset({"cat", "dog"}))
    program = MORE.replace("{COUNT0} > {COUNT1}", "{COUNT0} > 0 and {COUNT1} > 0")
    state, runtime = failed(tmp_path, program, "yes", ("cat", CAT), ("dog", DOG), models=models, reasoner=cases)
    _, critique = reflected(state, runtime)
    assert {one.concept for one in critique.faults} == {"cat", "dog"}


def test_a_correction_in_words_is_enough(tmp_path: Path, cases: CaseReasoner) -> None:
    models = ColourModels(blind=frozenset({"cat"}))
    program = "BOX0=LOC(image=IMAGE,object='cat')\nN=COUNT(box=BOX0)\nR=RESULT(var=N)\n"
    state, runtime = failed(
        tmp_path, program, None, ("cat", CAT), models=models, reasoner=cases, correction="There is a cat on the left."
    )
    _, critique = reflected(state, runtime)
    assert critique.faults[0].address == "1"


@pytest.mark.parametrize("wrong", ["len(BOX0) < len(BOX1)", "len(BOX0) == len(BOX1)"])
def test_a_wrong_statement_is_found_by_writing_the_program_again(
    tmp_path: Path, cases: CaseReasoner, wrong: str
) -> None:
    instruction = "Are there more cats than dogs in the picture?"
    written = asyncio.run(cases.write_program(Task(instruction, inputs_for(1)), Plan([]), Examples()))
    program = written.replace("len(BOX0) > len(BOX1)", wrong)
    assert program != written
    asked = {"instruction": instruction}
    state, runtime = failed(tmp_path, program, "yes", ("cat", CAT), models=ColourModels(), reasoner=cases, **asked)
    _, critique = reflected(state, runtime)
    assert [(one.place, one.address) for one in critique.faults] == [("program", "3")]
    assert critique.program == written
    planned = replace(state, plan=["Count the dogs only."])
    _, critique = reflected(planned, runtime)
    assert critique.faults[0].place == "plan"


def test_a_program_outside_its_reach_is_put_right_by_small_edits(tmp_path: Path, cases: CaseReasoner) -> None:
    program = MORE.replace("{COUNT0} > {COUNT1}", "len([1, 2]) < 2")
    state, runtime = failed(tmp_path, program, "yes", ("cat", CAT), models=ColourModels(), reasoner=cases)
    _, critique = reflected(state, runtime)
    assert [(one.place, one.address) for one in critique.faults] == [("program", "5")]
    assert 0 < critique.certainty < 0.8


def test_results_become_language(tmp_path: Path, cases: CaseReasoner) -> None:
    models = ColourModels(answers={"what is this?": "dog"})
    state, runtime = failed(tmp_path, NAMED, "cat", ("cat", CAT), ("dog", DOG), models=models, reasoner=cases)
    update = described(state, runtime)
    assert update["setting"] == "IMAGE: a picture of cat, dog"
    by_address = {one["address"]: one for one in update["described"]}
    assert by_address["2"]["caption"] == "a picture of cat"
    assert by_address["1"]["evidence"]
    assert by_address["3"]["evidence"]


def test_what_is_described_fits_a_checkpoint_and_can_be_done_twice(tmp_path: Path, cases: CaseReasoner) -> None:
    things = [("cat" if i % 2 else "dog", (12 * i, 8, 12 * i + 9, 90)) for i in range(8)]
    program = "".join(f"BOX{i}=LOC(image=IMAGE,object='{name}')\n" for i, name in enumerate(["cat", "dog", "bus"] * 6))
    program += "FINAL_RESULT=RESULT(var=BOX0)\n"
    state, runtime = failed(tmp_path, program, "cat", *things, models=ColourModels(), reasoner=cases)
    first = described(state, runtime)
    assert len(json.dumps(first)) < 12_000
    assert described(replace(state, **first), runtime) == first


def test_a_critique_that_did_not_help_moves_suspicion_elsewhere(tmp_path: Path, cases: CaseReasoner) -> None:
    program = MORE.replace("{COUNT0} > {COUNT1}", "{COUNT0} > 0 or {COUNT1} > 0")
    models = ColourModels(blind=frozenset({"cat", "dog"}))
    state, runtime = failed(tmp_path, program, "yes", ("cat", CAT), ("dog", DOG), models=models, reasoner=cases)
    state, first = reflected(state, runtime)
    _, second = reflected(state, runtime)
    assert {first.faults[0].address, second.faults[0].address} == {"1", "3"}


def test_without_feedback_nothing_is_made_up(tmp_path: Path, cases: CaseReasoner) -> None:
    state, runtime = failed(tmp_path, MORE, None, ("cat", CAT), models=ColourModels(), reasoner=cases)
    _, critique = reflected(state, runtime)
    assert critique == Critique((), 0.0, "global")


class AskedReasoner(ScriptedReasoner):
    """Finds the second step wrong and does not know its right output."""

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        return Critique((Fault("tool", "3", "VQA", "", "It is a cat."),), 0.6, "global")

    async def infer_answer(self, case: FailedCase, address: str, replay: Replay) -> str:
        return "cat" if (await replay({address: "cat"})).agrees else ""

    async def check_step(self, case: FailedCase, address: str, checked: Any, replay: Replay) -> StepCheck:
        self.checked = [one.address for one in checked]
        wrong = Fault("tool", address, "VQA", "", "It is a cat.")
        return StepCheck(address, right=address != "3", fault=wrong if address == "3" else None, certainty=0.7)


def test_any_reasoner_is_asked_for_the_answer_it_left_open(tmp_path: Path) -> None:
    reasoner = AskedReasoner()
    models = ColourModels(answers={"what is this?": "dog"})
    state, runtime = failed(tmp_path, NAMED, "cat", ("cat", CAT), models=models, reasoner=reasoner)
    _, critique = reflected(state, runtime)
    assert critique.faults[0].right_output == "cat"
    _, critique = reflected(state, runtime, locally=True)
    assert (critique.method, critique.faults[0].address, critique.certainty) == ("local", "3", 0.7)
    assert reasoner.checked == ["1", "2"]
