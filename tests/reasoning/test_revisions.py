"""The rules by which the case-based Reasoner revises a program, with perfect sight of what a detector missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.oracle import Oracle
from snellen.memory.demonstrations import demonstration
from snellen.microworld.scenes import Scene, SceneObject
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.case_based.revisions.choice import RULES
from snellen.reasoning.revision import ProposedRevision, same_program
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import trouble_in
from snellen.tools.program import StepRecord, final_value, parse
from snellen.tools.registry import ToolContext
from snellen.values import Picture, Region, Untaught

TASK = Task("What color is the hen?", {"IMAGE": "Picture"})
PLAN = Plan(["Locate the hen.", "Ask for its color.", "Give the result."])
YARD = Scene(
    "yard", "grass", "", "flat", "clear",
    (
        SceneObject("hen", "chicken.png", 8, 70, 40, "medium", "red", mirrored=False),
        SceneObject("dog", "dog.png", 80, 70, 40, "medium", "blue", mirrored=False),
        SceneObject("running shoe", "running_shoe.png", 60, 8, 30, "small", "", mirrored=False),
    ),
)  # fmt: skip
ASKS = "P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what color is the hen?')\n"
END = "FINAL_RESULT=RESULT(var=A)\n"
HEN = "BOX0=LOC(image=IMAGE,object='hen')\n"


class ShortSighted(Oracle):
    """Sees everything, but LOC misses these words, takes things for others, and sees nothing in narrow pictures."""

    def __init__(
        self,
        scene: Scene,
        *,
        misses: Sequence[str] = (),
        mistakes: dict[str, str] | None = None,
        narrow: int = 0,
    ) -> None:
        super().__init__([scene])
        self._misses, self._mistakes, self._narrow = misses, mistakes or {}, narrow

    def _locate(self, context: ToolContext, image: Picture, object: str) -> list[Region]:
        if object in self._misses or image.width < self._narrow:
            return []
        regions = super()._locate(context, image, object)
        if isinstance(regions, Untaught):
            return regions
        return [replace(one, label=self._mistakes.get(one.label, one.label)) for one in regions]


def examples(*tried: str) -> Examples:
    wrong = [demonstration("program", TASK.instruction, plan=[], program=one, correct=False) for one in tried]
    return Examples(programs_incorrect=wrong)


async def revised(
    program: str, sight: Oracle, *tried: str, plan: Plan = PLAN
) -> tuple[ProposedRevision | None, list[StepRecord]]:
    """Return the revision of a program, and the steps of its run."""
    records = sight.run(program)
    trouble = trouble_in(parse(program), records)
    if trouble is None:
        return None, records
    reasoner = CaseReasoner(load_profile("embedded"))
    made = await reasoner.revise(TASK, plan, program, records, trouble, examples(*tried))
    return made, sight.run(made.program) if made is not None else records


def value(records: list[StepRecord]) -> Any:  # noqa: ANN401 - an answer
    return final_value(records)


async def test_boxes_take_the_place_of_cuts() -> None:
    program = (
        "BOX0=LOC(image=IMAGE,object='dog')\nIMAGE0=CROP_LEFTOF(image=IMAGE,box=BOX0)\n"
        "BOX1=LOC(image=IMAGE0,object='hen')\nP=CROP(image=IMAGE0,box=BOX1)\n"
        "A=VQA(image=P,question='what color is the hen?')\n" + END
    )
    made, records = await revised(program, ShortSighted(YARD, narrow=120))

    assert made is not None
    assert value(records) == "red"
    assert made.program == (
        "BOX0=LOC(image=IMAGE,object='dog')\nBOX2=LOC(image=IMAGE,object='hen')\n"
        "BOX1=LEFT_OF(object=BOX2,of=BOX0)\nP=CROP(image=IMAGE,box=BOX1)\n"
        "A=VQA(image=P,question='what color is the hen?')\n" + END
    )


async def test_a_cut_that_serves_anything_else_stays() -> None:
    program = (
        "BOX0=LOC(image=IMAGE,object='dog')\nIMAGE0=CROP_LEFTOF(image=IMAGE,box=BOX0)\n"
        "BOX1=LOC(image=IMAGE0,object='cat')\nP=CROP(image=IMAGE0,box=BOX1)\n"
        "B=VQA(image=IMAGE0,question='what is this?')\nA=VQA(image=P,question='is it red?')\n" + END
    )
    made, _ = await revised(program, ShortSighted(YARD))

    assert made is not None
    assert "CROP_LEFTOF" in made.program


@pytest.mark.parametrize("reference", ["unicorn", "cat"])
async def test_a_cut_by_nothing_stays(reference: str) -> None:
    program = (
        f"BOX0=LOC(image=IMAGE,object='{reference}')\nIMAGE0=CROP_LEFTOF(image=IMAGE,box=BOX0)\n"
        "BOX1=LOC(image=IMAGE0,object='rooster')\nP=CROP(image=IMAGE0,box=BOX1)\n"
        "A=VQA(image=P,question='is it red?')\n" + END
    )
    made, _ = await revised(program, ShortSighted(YARD))

    assert made is not None
    assert "CROP_LEFTOF" in made.program


async def test_a_crop_is_widened() -> None:
    program = (
        "BOX0=LOC(image=IMAGE,object='dog')\nIMAGE0=CROP(image=IMAGE,box=BOX0)\n"
        "BOX1=LOC(image=IMAGE0,object='cat')\nA=TAG(image=IMAGE0,object=BOX1)\n" + END
    )
    made, _ = await revised(program, ShortSighted(YARD))

    assert made is not None
    assert "WIDE0=WIDEN(image=IMAGE,object=BOX0)\nIMAGE0=CROP(image=IMAGE,box=WIDE0)\n" in made.program


async def test_kinds_of_a_thing_are_looked_for() -> None:
    program = "BOX0=LOC(image=IMAGE,object='shoe')\nA=COLORPOP(image=IMAGE,object=BOX0)\n" + END
    made, records = await revised(program, ShortSighted(YARD))

    assert made is not None
    assert "object='shoe, running shoe'" in made.program
    assert [one.label for one in records[0].value] == ["running shoe"]


async def test_a_thing_that_was_taken_for_another_of_its_kind_is_named() -> None:
    made, records = await revised(HEN + ASKS + END, ShortSighted(YARD, misses=["hen"], mistakes={"hen": "rooster"}))

    assert made is not None
    assert "LOC(image=IMAGE,object='birds')" in made.program
    assert value(records) == "red"
    assert made.plan.steps == [*PLAN.steps[:-1], made.change, PLAN.steps[-1]]


async def test_the_group_of_a_thing_with_a_colour_keeps_it() -> None:
    program = "BOX0=LOC(image=IMAGE,object='red hen')\nA=TAG(image=IMAGE,object=BOX0)\n" + END
    made, _ = await revised(program, ShortSighted(YARD, misses=["red hen"]))

    assert made is not None
    assert "object='red birds'" in made.program
    assert "label in ['hen']" in made.program


async def test_the_likest_is_taken_where_a_question_takes_the_thing_for_granted() -> None:
    sight = ShortSighted(YARD, misses=["hen"])
    first, _ = await revised(HEN + ASKS + END, sight)
    assert first is not None
    second, _ = await revised(HEN + ASKS + END, sight, first.program)

    assert second is not None
    assert "SELECT(image=IMAGE,object=BOX1,query='hen')" in second.program
    third, _ = await revised(HEN + ASKS + END, sight, first.program, second.program)
    assert third is None


@pytest.mark.parametrize(
    "rest",
    [
        "P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='is the hen red?')\n",
        "P=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='is there a hen or a cat?')\n",
        "A=TAG(image=IMAGE,object=BOX0)\n",
        "N=COUNT(box=BOX0)\nP=CROP(image=IMAGE,box=BOX0)\nA=VQA(image=P,question='what color is the hen?')\n",
        "P=CROP_LEFTOF(image=IMAGE,box=BOX0)\nB=LOC(image=P,object='dog')\nA=COUNT(box=B)\n",
    ],
)
async def test_nothing_is_guessed_that_may_not_be_there(rest: str) -> None:
    without = replace(YARD, objects=YARD.objects[1:])
    made, records = await revised(HEN + rest + END, ShortSighted(without))
    tried = [made.program] if made else []
    again, _ = await revised(HEN + rest + END, ShortSighted(without), *tried)

    assert made is not None
    assert again is None
    assert "SELECT" not in made.program
    assert next(one for one in records if one.target == "BOX0").value == []


async def test_a_picture_of_nothing_is_the_whole_one_where_vqa_sees_the_thing() -> None:
    program = HEN + "P=PICTURE(object=BOX0)\nA=VQA(image=P,question='what color is the hen?')\n" + END
    sight = ShortSighted(YARD, misses=["hen", "birds"])
    first, _ = await revised(program, sight)
    assert first is not None
    second, records = await revised(program, sight, first.program)

    assert second is not None
    assert "SEEN0=VQA(image=IMAGE,question='is there a hen?')" in second.program
    assert value(records) == "red"


async def test_a_picture_of_nothing_stays_a_failure_where_nobody_sees_the_thing() -> None:
    program = HEN + "P=PICTURE(object=BOX0)\nA=VQA(image=P,question='what color is the hen?')\n" + END
    sight = ShortSighted(replace(YARD, objects=YARD.objects[1:]))
    first, _ = await revised(program, sight)
    assert first is not None
    _, records = await revised(program, sight, first.program)

    assert records[-1].error is not None
    assert records[-1].tool == "PICTURE"


@pytest.mark.parametrize(
    "program",
    [
        "A=1 / 0\n" + END,
        "BOX0=LOC(image=IMAGE,object='unicorn')\nA=BOX0[0].label\n" + END,
        "BOX0=LOC(image=IMAGE,object='objects')\nB=FILTER(object=BOX0,where='area < 0')\nA=TAG(image=IMAGE,object=B)\n"
        + END,
    ],
)
async def test_an_answer_stands_where_no_rule_applies(program: str) -> None:
    made, _ = await revised(program, ShortSighted(YARD))

    assert made is None


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("program", ["{", "A=1", HEN + "if BOX0:\n    A=1\nelse:\n    A=BOX0[0].label\n" + END])
async def test_rules_refuse_nothing_and_never_fail(kind: Any, program: str) -> None:  # noqa: ANN401 - a kind
    from snellen.reasoning.case_based.revisions.failed_run import FailedRun
    from snellen.tools.program import ProgramError

    try:
        tree = parse(program)
    except ProgramError:
        return
    run = FailedRun(tree, [], Oracle([YARD]).expansion)
    for rule in RULES[kind]:
        for address in ("", "1", "2", "2.else.1", "9", "2[1].1"):
            made = rule(run, address)
            assert made is None or not same_program(made.program, program)
