"""Demonstrations are chosen by their wording and by what they show; mistakes by what they warn of."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from snellen.memory.demonstration_choice import VARIETY, Candidate, varied
from snellen.memory.demonstrations import DATABASE, Demonstration, DemonstrationPool, Failure, demonstration
from snellen.reasoning.subjects import subjects_of
from tests.graphs.scripted import embed

COUNTING = "A=LOC(image=IMAGE,object='cat')\nB=COUNT(box=A)\nC=RESULT(var=B)\n"
LARGEST = "A=LOC(image=IMAGE,object='cat')\nB=SORT(object=A,by='area')\nC=RESULT(var=B)\n"
CUTTING = "A=LOC(image=IMAGE,object='cat')\nB=CROP_LEFTOF(image=IMAGE,box=A)\nC=RESULT(var=B)\n"


def shown(instruction: str, program: str, *, critique: str = "", failure: Failure = "") -> Demonstration:
    made = demonstration(
        "program", instruction, plan=["Look"], program=program, correct=not critique, critique=critique
    )
    return replace(made, failure=failure)


@pytest.fixture
def pool(tmp_path: Path) -> DemonstrationPool:
    return DemonstrationPool(tmp_path, embed=embed, constructs=subjects_of)


def test_what_shows_something_else_comes_before_more_of_the_same() -> None:
    candidates = [Candidate(0.0, subjects_of(shown("a", program))) for program in (COUNTING, COUNTING, LARGEST)]

    assert varied(candidates, [0.9, 0.9 - VARIETY / 8, 0.9 - VARIETY / 4], 2) == [0, 2]
    assert varied(candidates, [0.9, 0.9, 0.9 - 2 * VARIETY], 2) == [0, 1]


def test_the_nearest_is_always_shown_and_comes_first(pool: DemonstrationPool) -> None:
    pool.add(shown("abc", COUNTING), shown("abcd", COUNTING), shown("abcz", LARGEST))

    assert pool.nearest("abc", "program", correct=True, k=2)[0].instruction == "abc"


def test_plans_are_told_apart_by_the_programs_that_were_written_to_them(pool: DemonstrationPool) -> None:
    for instruction, program in (("abc", COUNTING), ("abcd", COUNTING), ("abce", LARGEST)):
        written = shown(instruction, program)
        pool.add(written, demonstration("plan", instruction, plan=written.plan))

    plans = pool.nearest("abc", "plan", correct=True, k=2)
    programs = pool.nearest("abc", "program", correct=True, k=2)
    assert [one.instruction for one in plans] == [one.instruction for one in programs]


def test_mistakes_concern_the_right_ones_beside_them(pool: DemonstrationPool) -> None:
    about_cuts = shown("xyz", CUTTING, critique="Use LEFT_OF(object=BOX0,of=BOX1).")
    about_order = shown("xyz ", LARGEST.replace("area", "label"), critique="Labels have no order.")
    pool.add(about_cuts, about_order)
    right = shown("abc", "A=THINGS(image=IMAGE)\nB=LEFT_OF(object=A,of=A)\nC=RESULT(var=B)\n")

    def first(beside: Demonstration) -> Demonstration:
        return pool.nearest("abc", "program", correct=False, k=1, beside=[beside])[0]

    assert first(right) == about_cuts
    assert first(shown("abc", LARGEST)) == about_order


def test_mistakes_that_failed_alike_come_first(pool: DemonstrationPool) -> None:
    wrong = shown("abc", COUNTING, critique="no", failure="wrong")
    empty = shown("abcd", CUTTING, critique="no", failure="empty")
    pool.add(wrong, empty)

    assert pool.nearest("abc", "program", correct=False, k=1) == [wrong]
    assert pool.nearest("abc", "program", correct=False, k=1, failure="empty") == [empty]


def test_a_pool_without_failures_is_brought_up_to_date(pool: DemonstrationPool, tmp_path: Path) -> None:
    pool.add(shown("abc", COUNTING, critique="no", failure="empty"))
    with sqlite3.connect(tmp_path / DATABASE) as rows:
        rows.execute("ALTER TABLE demonstrations DROP COLUMN failure")
        rows.execute("DELETE FROM _sqlite_migrations WHERE name = '3_failures'")
    rows.close()

    again = DemonstrationPool(tmp_path, embed=embed, constructs=subjects_of)
    assert [one.failure for one in again.nearest("abc", "program", correct=False)] == [""]
