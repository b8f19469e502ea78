"""REPLACE learns through the same graph: found pictures with the place of their subject, proved by paintings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import PIL.Image
import pytest

from snellen import microworld
from snellen.collection import WorldLibrary
from snellen.graphs.learn import graph
from snellen.graphs.states import LearnState
from snellen.learning.example_collection import MOST_PAINTED, gather_for, painted_place
from snellen.learning.prompt_recall import PromptRecall
from snellen.learning.records import Collected, LearningOutcome, Need
from snellen.learning.resources import Learning
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.models.vision.inpainting import central
from snellen.nodes.learn import prompt_tuning
from snellen.profiles import CollectionSettings, Profile, WorldSettings
from snellen.runtime.context import Context
from snellen.tools.vision import Models
from snellen.tuning import Tally, TunedPrompt, Verdict
from tests.graphs.scripted import make_context
from tests.learning.collecting import on_both_sides
from tests.tuning.conftest import noise
from tests.tuning.painters import with_painter
from tests.tuning.tiny import save_models

ELEPHANTS = Need("REPLACE", "elephant", reason="It painted something else.")


@pytest.fixture(scope="module")
def painting(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    folder = tmp_path_factory.mktemp("painting")
    profile = with_painter(save_models(folder, "small"), folder, "embedded", "steps = 1\n")
    few = CollectionSettings(found=2, held_out_found=2, related=1)
    return profile.model_copy(
        update={"collection": few, "world_settings": WorldSettings(facts="microworld/concepts.json")}
    )


@pytest.fixture
def context(painting: Profile, tmp_path: Path) -> Context:
    prompts, library = PromptPool(tmp_path), WorldLibrary(lambda: microworld, title="microworld")
    return replace(
        make_context(tmp_path),
        profile=painting,
        models=Models(painting, PromptRecall(prompts, painting), window=0),
        learning=Learning(prompts=prompts, drafts=Drafts(tmp_path), annotated=library, found=library),
    )


def learn(context: Context) -> LearningOutcome:
    state = LearnState(needs=[ELEPHANTS.to_json()])
    (learned,) = asyncio.run(graph.ainvoke(state, context=context))["learned"]
    return LearningOutcome.from_json(learned)


def gathered(context: Context, seed: int) -> Collected:
    return asyncio.run(gather_for(ELEPHANTS, context, seed=seed))


@pytest.mark.parametrize("seed", [0, 1])
def test_pictures_to_prove_on_are_not_those_to_train_on(context: Context, seed: int) -> None:
    collected = gathered(context, seed)
    assert (len(collected.training), len(collected.held_out)) == (2, 2)
    assert not on_both_sides(collected)
    assert {one.concept for one in collected.training + collected.held_out} == {"elephant"}
    assert len(collected.names) == 1
    assert (
        {*collected.names} < {one.concept for one in collected.negatives} == {one.concept for one in collected.others}
    )


def test_a_picture_keeps_something_around_the_place_to_paint(context: Context) -> None:
    for example in gathered(context, 2).training:
        picture = context.pictures.get(example.picture)
        ((x0, y0, x1, y1),) = example.boxes
        assert 0 <= x0 < x1 <= picture.width
        assert 0 <= y0 < y1 <= picture.height
        assert (x1 - x0) * (y1 - y0) <= MOST_PAINTED * picture.width * picture.height
    assert context.models is not None
    unknown = Models(context.models.profile, window=0)
    unknown.__dict__["expansion"] = context.models.expansion
    detector = unknown.detector()
    detector.settings = detector.settings.model_copy(update={"threshold": 1.0})
    assert painted_place(noise(1), unknown) == central((40, 40))


def test_what_was_learned_is_judged_stored_and_used(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    first = learn(context)
    assert (first.trouble, first.kept + first.discarded) == ("", 2)

    def keep(_tuner: object, prompts: Sequence[TunedPrompt], *_: object, **__: object) -> list[Verdict]:
        tally = Tally(1, 1)
        return [
            Verdict(one, kept=True, reason="", expected=tally, expected_before=tally, others=tally, others_before=tally)
            for one in prompts
        ]

    picture = noise(3)
    mask = PIL.Image.new("L", picture.size, 0)
    mask.paste(255, (8, 8, 30, 30))

    def painted(prompt: str) -> bytes:
        assert context.models is not None
        (result,) = context.models.inpaint([picture], [mask], [prompt])
        return bytes(result.tobytes())

    context.learner().prompts.forget(all_=True)
    before = painted("an elephant"), painted("a dog")
    monkeypatch.setattr(prompt_tuning, "validate", keep)
    assert learn(context).kept == 2
    assert {row.pool for row in context.learner().prompts.rows()} == {"REPLACE"}
    assert painted("an elephant") != before[0]
    assert painted("a dog") == before[1]
