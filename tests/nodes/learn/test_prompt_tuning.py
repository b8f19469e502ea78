"""Learning on random models: what is collected, what survives an interruption, what is stored, and why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest
from langgraph.runtime import Runtime
from numpy.typing import NDArray

from snellen import microworld
from snellen.collection import SearchedPicture, WorldLibrary
from snellen.graphs.learn import graph
from snellen.graphs.states import AskState, LearnState
from snellen.learning.example_collection import gather_for
from snellen.learning.prompt_recall import PromptRecall
from snellen.learning.records import Collected, LearningOutcome, Need, StoredExample
from snellen.learning.resources import Learning
from snellen.memory import prompts as memory_prompts
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.nodes.ask.remembering import remember
from snellen.nodes.learn import prompt_tuning
from snellen.profiles import CollectionSettings, Profile, SnellenError
from snellen.runtime.context import Context
from snellen.tools.program import StepRecord
from snellen.tools.vision import Models
from snellen.tuning import Tally, TunedPrompt, TuningExample, Verdict, tune
from snellen.tuning.vqa import VqaTuner
from snellen.values import Picture, to_json
from tests.graphs.scripted import make_context
from tests.learning.collecting import on_both_sides
from tests.tuning.tiny import save_models

DOGS = Need("LOC", "dog", reason="It found none.")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    profile = save_models(tmp_path_factory.mktemp("tiny"), "small")
    few = CollectionSettings(scenes=3, held_out_scenes=2, found=2, held_out_found=1, related=2)
    steps = {key: getattr(profile.tuning, key).model_copy(update={"steps": 2}) for key in ("loc", "clip", "vqa")}
    return profile.model_copy(update={"collection": few, "tuning": profile.tuning.model_copy(update=steps)})


@pytest.fixture
def context(tiny: Profile, tmp_path: Path) -> Context:
    prompts, library = PromptPool(tmp_path), WorldLibrary(lambda: microworld, title="microworld")
    return replace(
        make_context(tmp_path),
        profile=tiny,
        models=Models(tiny, PromptRecall(prompts, tiny), window=0),
        learning=Learning(prompts=prompts, drafts=Drafts(tmp_path), annotated=library, found=library),
    )


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random models learn nothing; here what was learned is kept all the same."""

    def keep(_tuner: object, prompts: Sequence[TunedPrompt], *_: object, **__: object) -> list[Verdict]:
        tally = Tally(1, 1)
        return [
            Verdict(one, kept=True, reason="", expected=tally, expected_before=tally, others=tally, others_before=tally)
            for one in prompts
        ]

    monkeypatch.setattr(prompt_tuning, "validate", keep)


def learn(context: Context, *needs: Need) -> list[LearningOutcome]:
    state = LearnState(needs=[need.to_json() for need in needs])
    return [LearningOutcome.from_json(one) for one in asyncio.run(graph.ainvoke(state, context=context))["learned"]]


def gathered(context: Context, need: Need) -> Collected:
    return asyncio.run(gather_for(need, context, seed=0))


def test_every_tuned_prompt_is_kept_or_discarded_with_a_reason(context: Context) -> None:
    scenes, crops = learn(context, DOGS, Need("CLASSIFY", "dog"))

    assert scenes.kept + scenes.discarded == 3
    assert crops.kept + crops.discarded == 2
    assert bool(scenes.reasons) == bool(scenes.discarded)
    assert len(context.learner().prompts.rows()) == scenes.kept + crops.kept
    assert len(context.learner().drafts) == 0


@pytest.mark.usefixtures("keeping")
def test_what_was_learned_is_used_from_then_on_and_only_for_its_concept(context: Context, tiny: Profile) -> None:
    (learned,) = learn(context, DOGS)

    recollection = PromptRecall(context.learner().prompts, tiny)
    found = recollection.candidates("LOC", "dog")
    assert learned.kept == 3
    assert found is not None
    assert len(found) == 3
    assert recollection.concepts("LOC") == {"dog"}
    assert recollection.candidates("LOC", "cat") is None
    assert recollection.candidates("CLIP", "dog") is None


@pytest.mark.usefixtures("keeping")
def test_what_is_remembered_of_a_concept_is_read_once_until_it_changes(
    context: Context, tiny: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = context.learner().prompts
    recollection, candidates, read = PromptRecall(pool, tiny), PromptPool.candidates, []

    def counted(*asked: Any, **options: Any) -> memory_prompts.RecalledPrompts:  # noqa: ANN401 - as it is asked
        read.append(asked)
        return candidates(*asked, **options)

    monkeypatch.setattr(PromptPool, "candidates", counted)
    learn(context, DOGS)
    found = [recollection.candidates("LOC", "dog") for _ in range(3)]
    assert len(read) == 1
    assert [each is found[0] for each in found] == [True] * 3

    pool.forget(ids=[pool.rows()[0].id])
    after = recollection.candidates("LOC", "dog")
    assert after is not None
    assert len(after) == 2
    learn(context, DOGS)
    again = recollection.candidates("LOC", "dog")
    assert again is not None
    assert len(again) == 3


@pytest.mark.usefixtures("keeping")
def test_learning_the_same_twice_stores_it_once(context: Context) -> None:
    first, second = learn(context, DOGS), learn(context, DOGS)

    assert [one.already for one in (*first, *second)] == [0, 3]
    assert len(context.learner().prompts.rows()) == 3


@pytest.mark.usefixtures("keeping")
def test_an_interrupted_tuning_goes_on_with_what_is_missing(
    context: Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[int] = []
    real: Callable[..., object] = tune

    def tuned(*, whole: bool) -> Callable[..., object]:
        def counted(tuner: object, instances: Sequence[object], *, progress: object, should_stop: object) -> object:
            asked.append(len(instances))
            done = real(tuner, instances if whole else instances[:1], progress=progress, should_stop=should_stop)
            if not whole:
                raise KeyboardInterrupt
            return done

        return counted

    monkeypatch.setattr(prompt_tuning, "tune", tuned(whole=False))
    with pytest.raises(KeyboardInterrupt):
        learn(context, DOGS)
    monkeypatch.setattr(prompt_tuning, "tune", tuned(whole=True))
    learn(context, DOGS)

    assert asked == [3, 2]
    resumed = {row.id for row in context.learner().prompts.rows()}
    fresh = replace(context, learning=replace(context.learner(), prompts=PromptPool(tmp_path / "other")))
    learn(fresh, DOGS)
    assert len(resumed) == 3
    assert len(fresh.learner().prompts.rows()) == 3


def test_pictures_to_prove_on_are_not_those_to_train_on(context: Context) -> None:
    for need in (DOGS, Need("SELECT", "dog")):
        collected = gathered(context, need)
        assert not on_both_sides(collected)


def test_a_question_proves_its_own_prompt(context: Context) -> None:
    picture = context.pictures.put(PIL.Image.new("RGB", (8, 8)))
    collected = gathered(context, Need("VQA", question="is there a dog?", answer="yes", picture=picture))

    assert (
        collected.training
        == collected.held_out
        == (StoredExample(picture.id, question="is there a dog?", answer="yes"),)
    )


@pytest.mark.parametrize(
    ("need", "said"),
    [
        (Need("LOC", "gizmo"), "no annotated scenes of 'gizmo'"),
        (Need("CLASSIFY", "gizmo"), "no pictures of 'gizmo'"),
        (Need("CROP", "dog"), "CROP does not learn"),
        (Need("LOC", " "), "Nothing says what LOC should learn"),
        (Need("VQA", question="is there a dog?"), "right answer to the question is not known"),
    ],
)
def test_what_cannot_be_learned_is_said_and_the_rest_is_learned(context: Context, need: Need, said: str) -> None:
    trouble, scenes = learn(context, need, DOGS)

    assert said in str(trouble)
    assert (trouble.kept, trouble.discarded) == (0, 0)
    assert scenes.kept + scenes.discarded == 3


def test_one_picture_is_not_enough(context: Context) -> None:
    class One:
        def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
            return [SearchedPicture(PIL.Image.new("RGB", (9, 9)), concept)] * min(count, 3)

    alone = replace(context, learning=replace(context.learner(), found=One()))

    assert "only one different picture of 'dog'" in gathered(alone, Need("CLASSIFY", "dog")).trouble


def test_without_sources_the_remedy_is_told(context: Context) -> None:
    bare = replace(context, learning=replace(context.learner(), annotated=None, found=None))

    assert "collection.annotated" in gathered(bare, DOGS).trouble
    assert "name a folder of pictures" in gathered(bare, Need("SELECT", "dog")).trouble
    with pytest.raises(SnellenError, match="cannot learn"):
        replace(context, learning=None).learner()


def test_a_right_answer_is_remembered_once_whatever_the_last_bits_of_what_was_seen(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = context.pictures.put(PIL.Image.new("RGB", (8, 8)))
    asked = {"image": to_json(picture), "question": "is it a cat?"}
    step = StepRecord("1", 1, "ANSWER0=VQA(…)", "VQA", asked, "no", "ANSWER0", [picture.id]).to_json()
    state = AskState(instruction="Is it?", verdict="right", plan=["Look"], program="p", steps=[step, step])
    real, calls = VqaTuner.features, list[int]()

    def features(tuner: VqaTuner, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        calls.append(len(examples))
        return [np.nextafter(one, np.float32(len(calls)), dtype=np.float32) for one in real(tuner, examples)]

    monkeypatch.setattr(VqaTuner, "features", features)
    for _ in range(2):
        asyncio.run(remember(state, Runtime(context=context)))

    assert len(calls) == 2
    assert [(row.question, row.steps) for row in context.learner().prompts.rows()] == [("is it a cat?", 0)]


def test_a_checkpoint_that_is_not_here_yet_has_no_prompts(context: Context, tiny: Profile) -> None:
    elsewhere = tiny.models.loc.model_copy(update={"folder": "", "id": "nobody/nothing"}) if tiny.models.loc else None
    absent = tiny.model_copy(update={"models": tiny.models.model_copy(update={"loc": elsewhere})})
    recollection = PromptRecall(context.learner().prompts, absent)

    assert recollection.concepts("LOC") == frozenset()
    learn(context, DOGS)
    assert recollection.concepts("LOC") == frozenset()
    assert recollection.candidates("LOC", "dog") is None


def test_what_states_carry_is_read_back_as_it_was() -> None:
    need = Need("VQA", question="q", answer="a", picture=Picture("0" * 64, 3, 4), reason="r")
    example = StoredExample("1" * 64, "dog", ((1, 2, 3, 4),))
    collected = Collected(need, (example,), (example,), (), (example,), ("cat",), "library")
    learned = LearningOutcome(need, 1, 2, ("why",), 0, "", 1.5, pictures=("1" * 64,))
    earlier = {name: value for name, value in learned.to_json().items() if name != "pictures"}

    assert Need.from_json(need.to_json()) == need
    assert Collected.from_json(collected.to_json()) == collected
    before = {name: value for name, value in collected.to_json().items() if name != "negatives"}
    assert Collected.from_json(before).negatives == collected.others
    assert LearningOutcome.from_json(learned.to_json()) == learned
    assert LearningOutcome.from_json(earlier).pictures == ()
    assert LearnState(needs=[need.to_json()]).needs[0]["picture"] is not None
    assert np.isfinite(learned.seconds)
