"""LoRA for comparison: it learns from what prompts learn from, and nothing of it stays."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from snellen import microworld
from snellen.collection import WorldLibrary
from snellen.learning.lora_comparison import LoraLearned, adapt
from snellen.learning.prompt_recall import PromptRecall
from snellen.learning.records import Need
from snellen.learning.resources import Learning
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.profiles import CollectionSettings, Profile
from snellen.runtime.context import Context
from snellen.tools.vision import Models
from tests.graphs.scripted import make_context
from tests.tuning.tiny import save_models

DOGS = Need("LOC", "dog", reason="It found none.")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    profile = save_models(tmp_path_factory.mktemp("tiny"), "small")
    few = CollectionSettings(scenes=3, held_out_scenes=2, found=2, held_out_found=1, related=2)
    lora = profile.tuning.lora.model_copy(update={"steps": 2, "rank": 4})
    tuning = profile.tuning.model_copy(update={"lora": lora})
    return profile.model_copy(update={"collection": few, "tuning": tuning})


@pytest.fixture
def context(tiny: Profile, tmp_path: Path) -> Context:
    prompts, library = PromptPool(tmp_path), WorldLibrary(lambda: microworld, title="microworld")
    return replace(
        make_context(tmp_path),
        profile=tiny,
        models=Models(tiny, PromptRecall(prompts, tiny), window=0),
        learning=Learning(prompts=prompts, drafts=Drafts(tmp_path), annotated=library, found=library),
    )


def adapted(context: Context, need: Need, told: list[dict[str, Any]] | None = None) -> LoraLearned:
    heard: list[dict[str, Any]] = [] if told is None else told

    async def run() -> LoraLearned:
        found = await adapt(need, context, tell=heard.append)
        await asyncio.sleep(0)
        return found

    return asyncio.run(run())


@pytest.mark.parametrize(("tool", "examples"), [("LOC", 3), ("CLASSIFY", 2)])
def test_an_adapter_is_trained_and_judged_on_what_prompts_learn_from(
    context: Context, tool: str, examples: int
) -> None:
    pytest.importorskip("peft")
    told: list[dict[str, Any]] = []
    came = adapted(context, Need(tool, "dog"), told)

    assert came.outcome is not None
    assert came.outcome.instances == examples
    assert came.outcome.steps == 2
    assert came.outcome.reason in str(came)
    assert [each["phase"] for each in told] == ["collect", "adapt", "adapt"]
    assert told[-1]["step"] == told[-1]["of"] == 2
    assert LoraLearned.from_json(json.loads(json.dumps(came.to_json()))) == came


def test_nothing_is_stored_and_the_models_that_answer_notice_nothing(context: Context) -> None:
    pytest.importorskip("peft")
    detector = context.vision().detector().checkpoint.model
    before = {name: each.clone() for name, each in detector.state_dict().items()}
    adapted(context, DOGS)

    after = detector.state_dict()
    assert all(np.array_equal(each, after[name]) for name, each in before.items())
    assert before.keys() == after.keys()
    assert not context.learner().prompts.rows()
    assert len(context.learner().drafts) == 0


def test_what_cannot_be_learned_is_said(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = adapted(context, Need("COUNT", "dog"))
    assert "does not learn" in str(nothing)
    assert LoraLearned.from_json(nothing.to_json()) == nothing

    monkeypatch.setitem(sys.modules, "peft", None)
    assert "pip install" in adapted(context, DOGS).trouble
