"""Which pictures an investigation looks at, over its whole graph, and what its report says about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.collection import ClassFolders
from snellen.errors import BadInput
from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.protocols.multiple_choice import MultipleChoice
from snellen.experiments.report import Report
from snellen.graphs.investigate import builder
from snellen.graphs.states import InvestigateState
from snellen.memory.samples import Sample, SampleTable
from snellen.profiles import load_profile
from snellen.runtime.context import Context
from snellen.tools.calls import ToolCall
from snellen.tools.samples import FolderSource
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import make_context

MODELS = [f"model{number}" for number in range(4)]


def context(folder: Path, oracle: Oracle, **more: Any) -> Context:  # noqa: ANN401 - fields of an examination
    return replace(make_context(folder), examination=watched(folder, oracle, **more))


async def asked(
    given: Context,
    thread: str,
    query: str,
    models: list[str],
    *,
    images: int = 40,
    **more: Any,  # noqa: ANN401
) -> Report:
    state = InvestigateState(investigation=thread, query=query, models=models, budget={"images": images}, **more)
    config: Any = {"configurable": {"thread_id": thread}, "recursion_limit": 4_000}
    return Report.model_validate((await builder.compile().ainvoke(state, config, context=given))["report"])


def pictures(given: Context, thread: str, report: Report) -> set[str]:
    samples = given.examiner().samples
    return {one.picture for number in range(len(report.experiments)) for one in samples.of(thread, number)}


def warnings(report: Report) -> list[str]:
    """Return what a report says of pictures that were looked at before."""
    return [note for note in report.notes if "informed" in note]


async def test_what_follows_from_an_overview_is_asked_about_fresh_pictures(tmp_path: Path) -> None:
    given = context(tmp_path, Oracle(dict.fromkeys(MODELS, lambda *_: 0.75)))
    overview = await asked(given, "overview", "Can models recognize birds?", MODELS)
    seen = pictures(given, "overview", overview)
    follow_ups = {
        "narrowed": ("Can models recognize birds?", MODELS[:1]),
        "compared": (f"Is {MODELS[0]} better than {MODELS[1]} at birds?", MODELS[:2]),
        "of-others": ("Can models recognize fruit?", MODELS),
    }
    for thread, (query, models) in follow_ups.items():
        report = await asked(given, thread, query, models)
        fresh = pictures(given, thread, report)
        assert fresh
        assert not fresh & seen
        assert not warnings(report)
        seen |= fresh


async def test_the_same_question_looks_at_the_same_pictures_and_says_so(tmp_path: Path) -> None:
    oracle = Oracle({"sound": lambda *_: 0.97})
    given = context(tmp_path, oracle)
    first = await asked(given, "first", "Can sound recognize birds?", ["sound"])
    asked_before = sum(oracle.asked.values())
    again = await asked(given, "second", "can sound recognize  birds", ["sound"])
    assert again.seed == first.seed
    assert sum(oracle.asked.values()) == asked_before
    assert any("asked before (first)" in note and "no further evidence" in note for note in again.notes)
    more = await asked(given, "third", first.query, ["sound"], alpha=0.01, images=80)
    assert more.seed == first.seed
    assert pictures(given, "third", more) >= pictures(given, "first", first), "evidence goes on where it was"


async def test_a_seed_that_informed_another_question_is_named_with_what_follows(tmp_path: Path) -> None:
    given = context(tmp_path, Oracle({"sound": lambda *_: 0.97}))
    first = await asked(given, "first", "Can sound recognize birds?", ["sound"], seed=3)
    assert (first.seed, warnings(first)) == (3, [])
    second = await asked(given, "second", "Does sound know birds?", ["sound"], seed=3)
    (note,) = warnings(second)
    assert "seed 3 informed 1 other investigation before (first)" in note
    assert "more than 5 % of its verdicts may be wrong" in note


async def test_a_seed_of_a_home_from_before_the_ledger_is_suspect(tmp_path: Path) -> None:
    SampleTable(tmp_path).add([Sample("old", 0, 0, 0, "p", "p", "dog", "world")])
    given = context(tmp_path, Oracle({"sound": lambda *_: 0.97}))
    chosen = await asked(given, "first", "Can sound recognize birds?", ["sound"], seed=0)
    assert any("may have informed 1 investigations from before" in note for note in chosen.notes)
    fresh = await asked(given, "second", "Can sound recognize fruit?", ["sound"])
    assert not fresh.notes


def own_folder(folder: Path, sides: dict[str, list[int]]) -> FolderSource:
    """Make a folder of squares of noise, so many of each class and each so large."""
    dice = np.random.default_rng(0)
    for name, each in sides.items():
        (folder / name).mkdir(parents=True)
        for number, side in enumerate(each):
            values = dice.integers(0, 256, (side, side, 3), dtype=np.uint8)
            PIL.Image.fromarray(values).save(folder / name / f"{number}.png")

    def opened(content: bytes, _name: str) -> PIL.Image.Image:
        import io

        return PIL.Image.open(io.BytesIO(content)).convert("RGB")

    return FolderSource(ClassFolders(folder, open_picture=opened))


async def test_of_a_folder_draws_are_fresh_though_its_pictures_are_not(tmp_path: Path) -> None:
    source = own_folder(tmp_path / "mine", {"dog": [24] * 3, "cat": [24] * 3})
    profile = load_profile("embedded").drawing_from(tmp_path / "mine")
    given = context(
        tmp_path,
        Oracle({"sound": lambda *_: 0.97}),
        investigator=CaseExaminer(profile),
        generation=None,
        retrieval=source,
        source="mine",
    )
    folder = str(tmp_path / "mine")
    query = "Is sound robust to {}?"
    first = await asked(given, "first", query.format("half turns"), ["sound"], folder=folder)
    second = await asked(given, "second", query.format("vertical flips"), ["sound"], folder=folder)
    assert first.seed != second.seed
    assert first.images > 6, "a picture may come more than once"
    assert not any("the same folder" in note for note in first.notes)
    assert any("the same folder" in note and "say nothing of others" in note for note in second.notes)


def pasted(size: int) -> Design:
    select = ToolCall(name="TextToImageRetrieval", arguments={"class_name": "dog"})
    shape = ToolCall(name="PasteGeometricShapeAtRandomPosition", arguments={"shape": "square", "size": size})
    return Design(
        difficulty=1,
        purpose="A shape or none.",
        skill="noticing a shape",
        question="Is there a red square?",
        arms=[Arm(answer="yes", select=select, transform=shape), Arm(answer="no", select=select)],
        claims=[Claim(kind="ability", model="sound", threshold=0.75)],
    )


SMALL_FIRST = 1
"""A seed whose first draw below is a small picture: one that can be changed is not looked into further."""


def test_a_design_that_most_pictures_of_a_folder_refuse_goes_back_with_the_bound(tmp_path: Path) -> None:
    source = own_folder(tmp_path / "mine", {"dog": [40, 40, 40, 200]})
    examination = watched(tmp_path, Oracle({"sound": lambda *_: 1.0}), generation=None, retrieval=source)
    with pytest.raises(BadInput, match=r"PasteGeometricShape.*size=160 does not fit .* 40 × 40: at most 40"):
        MultipleChoice().check(examination, pasted(160), SMALL_FIRST)
    MultipleChoice().check(examination, pasted(40), SMALL_FIRST)


def test_the_few_pictures_that_are_too_small_are_replaced_and_counted(tmp_path: Path) -> None:
    source = own_folder(tmp_path / "mine", {"dog": [40, 200, 200, 200]})
    examination = watched(tmp_path, Oracle({"sound": lambda *_: 1.0}), generation=None, retrieval=source)
    design = pasted(160)
    MultipleChoice().check(examination, design, 0)
    made = [examination.draw(design.arms[0], f"{number}") for number in range(24)]
    assert {one.picture.size for one in made} == {(200, 200)}
    assert 0 < sum(one.rejected for one in made) < 24
