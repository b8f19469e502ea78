"""The tasks for a chat model: asked with the real graph, with perfect sight, by replies that were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks import chat_tasks
from benchmarks.chat_tasks import FOLDER, RECORDINGS, ChatTaskResult, measure, report
from benchmarks.recorded_model import RecordedModel, profile_of, serving
from benchmarks.recordings import Recordings
from benchmarks.reference_programs import Reference, SeenScenes, read_references
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw, truths
from tests.benchmarks.chat_requests import plan_request, program_request

TASKS = {task.id: task for task in read_references(FOLDER)}
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_shipped_pictures_are_drawn_from_their_scenes() -> None:
    scenes = {"scene": "a01", "beach": "a10", "right": "a22", "left": "a08"}
    for name, task in scenes.items():
        with Image.open(EXAMPLES / f"{name}.png") as picture:
            assert np.array_equal(np.asarray(picture.convert("RGB")), np.asarray(draw(TASKS[task].scenes[-1]))), name


def test_the_tasks_are_about_known_things_and_what_is_right_is_there() -> None:
    assert len(TASKS) == 25
    novel = {concept.name for concept in vocabulary().share("novel")}
    for task in TASKS.values():
        concepts = {item.concept for scene in task.scenes for item in scene.objects}
        assert concepts & novel <= ({"wave"} if task.id == "a10" else set()), task.id
        boxes = {(truth.concept, truth.box) for truth in truths(task.scenes[0])}
        for key in ("expect_regions", "changed", "unchanged"):
            assert {(each["concept"], tuple(each["box"])) for each in task.row.get(key, ())} <= boxes, task.id


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS.keys())
def test_every_task_can_be_answered_by_a_program(task: Reference) -> None:
    seen = SeenScenes(task.scenes)
    assert seen.is_right(seen.truth(task.program), task.row)


async def test_recorded_replies_are_run_and_scored_with_perfect_sight(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path / "kept.jsonl")
    animals, fruit = (f"BOX0=LOC(image=IMAGE,object='{name}')\n" for name in ("animals", "fruit"))
    programs = {
        "a11": f"{animals}BOX1=SORT(object=BOX0,by='x')\nFINAL_RESULT=RESULT(var=BOX1[-1].label)",
        "a15": f"{fruit}IMAGE0=TAG(image=IMAGE,object=BOX0)\nFINAL_RESULT=RESULT(var=IMAGE0)",
        "a12": f"{animals}FINAL_RESULT=RESULT(var=len(BOX0))",
    }
    for name, program in programs.items():
        recordings.add(plan_request(TASKS[name].says), {"steps": ["Look.", "Answer."]})
        recordings.add(program_request(TASKS[name].says), {"program": program})
    model = RecordedModel(recordings)
    with serving(model) as base_url:
        profile = tmp_path / "recorded.toml"
        profile.write_text(profile_of(base_url), encoding="utf-8")
        results = await measure([TASKS[name] for name in programs], profile, sight="perfect")
    assert [(result.id, result.right, result.answer) for result in results] == [
        ("a11", True, "dog"),
        ("a15", True, "a picture of 128x128"),
        ("a12", False, "5"),
    ]
    assert [result.program for result in results] == list(programs.values())
    assert report(results, model)["right"] == 2


@pytest.mark.slow
async def test_the_programs_that_a_language_model_wrote_are_right_with_perfect_sight(tmp_path: Path) -> None:
    model = RecordedModel(Recordings(RECORDINGS))
    with serving(model) as base_url:
        profile = tmp_path / "recorded.toml"
        profile.write_text(profile_of(base_url), encoding="utf-8")
        results = await measure(list(TASKS.values()), profile, sight="perfect")
    assert {result.id: result.answer for result in results if not result.right} == {}
    assert not model.unanswered


@pytest.mark.parametrize(("seen", "cause"), [(True, "sight"), (False, "written")])
async def test_a_wrong_answer_is_sights_fault_where_perfect_sight_gives_the_right_one(
    monkeypatch: pytest.MonkeyPatch, *, seen: bool, cause: str
) -> None:
    async def asked(tasks: Sequence[Reference], profile: object, sight: str, at_once: int) -> list[ChatTaskResult]:
        right = {"embedded": "a01", "perfect": "a03" if seen else ""}[sight]
        program = "FINAL_RESULT=RESULT(var='cat')"
        return [ChatTaskResult(task.id, task.says, task.id == right, sight, program) for task in tasks]

    monkeypatch.setattr(chat_tasks, "_asked", asked)
    results = await measure([TASKS["a01"], TASKS["a03"]], "embedded")
    assert [(result.right, result.cause, result.with_perfect_sight) for result in results] == [
        (True, "", ""),
        (False, cause, "perfect"),
    ]
    assert report(results, None)[cause] == 1
