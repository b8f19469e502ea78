"""``--pictures DIR``: experiments with pictures of a user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from snellen.cli.main import main
from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.protocols.multiple_choice import MultipleChoice
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.report import Experiment, Finding, Report
from snellen.runtime.context import Context
from snellen.runtime.resources import examining

CLASSES = ("dog", "cat", "horse", "tractor", "helicopter")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    for place, name in enumerate(CLASSES):
        (tmp_path / "own" / name).mkdir(parents=True)
        for number in range(3):
            picture = Image.new("RGB", (32, 32), (40 * place, 60 * number, 90))
            picture.save(tmp_path / "own" / name / f"{name}{number}.png")
    return tmp_path / "own"


async def designed(context: Context, query: str) -> Design:
    report = Report(query=query, models=["llava-upright"], alpha=0.05, seed=0)
    made = await context.examiner().investigator.design_experiment(report, [])
    assert made is not None
    return made


async def test_pictures_are_of_the_folder_and_of_nothing_else(own: Path, home: Path) -> None:
    context = examining("embedded", home, str(own))
    design = await designed(context, "Can the models recognize things?")
    made = MultipleChoice().make(context.examiner(), design, RoundPlace("t", 0, 0, 0))
    assert {sample.label for sample in made} <= set(CLASSES)
    assert all(sample.origin.startswith(sample.label) for sample in made)


async def test_groups_are_those_that_the_folder_has_classes_of(own: Path, home: Path) -> None:
    context = examining("embedded", home, str(own))
    design = await designed(context, "Can the models recognize animals under noise?")
    first, others = design.pools.values()
    assert {"dog", "cat"} <= {*first}
    assert {*others} == {"tractor", "helicopter"}
    made = MultipleChoice().make(context.examiner(), design, RoundPlace("t", 0, 0, 0))
    of = [arm.select.arguments["class_name"] for arm in design.arms]
    assert all(sample.label in design.pools[str(of[sample.arm])] for sample in made)
    with pytest.raises(BadInput, match="no pictures of 'instrument'"):
        await designed(context, "Can the models recognize instruments?")


async def test_three_classes_are_asked_about_alike(own: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "three").mkdir()
    for name in ("dog", "cat", "tractor"):
        (own / name).rename(tmp_path / "three" / name)
    context = examining("embedded", home, str(tmp_path / "three"))
    investigator = context.examiner().investigator
    opening = await investigator.open_report("Can the models recognize things?", ["llava-upright"])
    assert "verdicts are about the pictures in it" in opening.notes[0]
    first = await designed(context, "Can the models recognize things?")
    finding = Finding(claim=first.claims[0], verdict="yes")
    report = Report(query="Can the models recognize things?", models=["llava-upright"], alpha=0.05, seed=0)
    done = report.model_copy(update={"experiments": [Experiment(design=first, rounds=1, findings=[finding])]})
    second = await investigator.design_experiment(done, [])
    assert second is not None
    assert second.pools == {"things": ["cat", "dog", "tractor"]}
    assert len(second.arms) == 3


async def test_a_folder_of_unknown_classes_is_examined_by_its_classes(home: Path, tmp_path: Path) -> None:
    for name in ("widget", "gizmo"):
        (tmp_path / "odd" / name).mkdir(parents=True)
        Image.new("RGB", (9, 9)).save(tmp_path / "odd" / name / "1.png")
    context = examining("embedded", home, str(tmp_path / "odd"))
    assert (await designed(context, "Can the models recognize things?")).pools == {"things": ["gizmo", "widget"]}
    with pytest.raises(BadInput, match="no pictures of 'animal'"):
        await designed(context, "Can the models recognize animals?")


async def test_what_a_folder_does_not_say_is_not_asked(own: Path, home: Path) -> None:
    with pytest.raises(BadInput, match="not where, how many, how large or of which color"):
        await designed(examining("embedded", home, str(own)), "Can the models count?")


async def test_one_class_is_told_from_nothing(own: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (own / "dog").rename(tmp_path / "one" / "dog")
    with pytest.raises(BadInput, match="only pictures of 'dog'"):
        await designed(examining("embedded", home, str(tmp_path / "one")), "Can the models recognize things?")


@pytest.mark.parametrize("made", ["", "dog", "notes.txt"])
def test_a_folder_without_pictures_is_refused_at_once(
    made: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if made:
        (folder / made).write_text("") if "." in made else (folder / made).mkdir()
    assert main(["investigate", "Can the models recognize things?", "--pictures", str(folder)]) == 2
    assert "has no folders with pictures" in capsys.readouterr().err
