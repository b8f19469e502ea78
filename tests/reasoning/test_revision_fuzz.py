"""Mutated programs and damaged records: trouble is found and rules are applied without a foreign exception."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import replace

import PIL.Image

from snellen.models.vision.name_expansion import Expansion
from snellen.profiles import load_profile
from snellen.reasoning.case_based.revisions.choice import RULES, first_revision
from snellen.reasoning.case_based.revisions.failed_run import FailedRun
from snellen.reasoning.revision import same_program
from snellen.reasoning.trouble import Trouble, trouble_in
from snellen.tools.program import Program, ProgramError, ProgramLimits, Statement, StepRecord, load, parse, run
from snellen.tools.program.rewriting import rewritten
from snellen.values import Region, Value
from tests.tools import test_program_fuzz as fuzz
from tests.tools.doubles import Shelf, context_of

MUTATED = 2_000
SEEDS = [
    """BOX0=FILTER(object=BOXES,where='area < 0')
IMAGE0=CROP_LEFTOF(image=IMAGE,box=BOX0)
BOX1=LOC(image=IMAGE0,object='hen')
IMAGE1=CROP(image=IMAGE0,box=BOX1)
A=VQA(image=IMAGE1,question='what color is the hen?')
R=RESULT(var=A)""",
    """BOX0=LOC(image=IMAGE,object='car')
if len(BOX0) > 0:
    P=PICTURE(object=BOX0)
else:
    P=CROP(image=IMAGE,box=BOX0)
A=VQA(image=P,question='is it red or blue?')
R=RESULT(var=A)""",
]
INPUTS = {"IMAGE": "Picture", "BOXES": "Regions", "BOX": "Region", "COUNTED": "Number", "NAME": "Text"}


def same(statement: Statement) -> list[Statement]:
    return [statement]


def records_of(program: Program, rng: random.Random) -> list[StepRecord]:
    """Run a program without models; damage its records as a checkpoint may, and more."""
    shelf = Shelf()
    image = shelf.put(PIL.Image.new("RGB", (16, 16), "red"))
    box = Region((2, 2, 8, 8), 0.9, "dog", picture=image.id)
    inputs: dict[str, Value] = {"IMAGE": image, "BOXES": [box, box], "BOX": box, "COUNTED": 2, "NAME": "dog"}
    try:
        records = list(run(program, inputs, context_of(shelf), ProgramLimits(steps=40)))
    except ProgramError:
        return []
    kept = [one for one in records if rng.random() > 0.1]
    return [replace(one, output=[]) if one.error is None and rng.random() < 0.1 else one for one in kept]


def test_mutated_programs_are_rewritten_and_revised_within_bounds() -> None:
    rng, profile = random.Random(5), load_profile("embedded")
    names, outcomes, slowest = Expansion.read(profile.facts_path(), split=profile.split_path()), Counter[str](), 0.0
    seeds = [*fuzz.SEEDS, *SEEDS * 4]
    for number in range(MUTATED):
        text = rng.choice(seeds)
        text = fuzz.torn(text, rng) if number % 3 == 0 else fuzz.respelt(text, rng)
        try:
            program = parse(text)
        except ProgramError:
            outcomes["refused"] += 1
            continue
        started = time.thread_time()
        again = parse(rewritten(program, same))
        assert same_program(again.text, rewritten(again, same))
        records = records_of(program, rng)
        trouble = trouble_in(program, records)
        anywhere = Trouble(rng.choice(list(RULES)), "1", "A guess.", ("1", "2", "3", "4", "2.then.1", "9[1].1"))
        for one in (trouble, anywhere):
            revision = one and first_revision(FailedRun(program, records, names), one, [], is_valid=is_valid)
            if revision:
                load(revision.program, INPUTS)
                assert not same_program(revision.program, text)
                outcomes["revised"] += 1
        outcomes["in trouble" if trouble else "in order"] += 1
        slowest = max(slowest, time.thread_time() - started)
    assert slowest < 2
    assert min(outcomes[each] for each in ("refused", "revised", "in trouble", "in order")) > MUTATED // 50, outcomes


def is_valid(text: str) -> bool:
    try:
        load(text, INPUTS)
    except ProgramError:
        return False
    return True
