"""One adapter for a whole tool: what it may touch, what it learns, and that nothing is left of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from snellen.profiles import BadInput, Profile, SnellenError
from snellen.tools.vision import Models
from snellen.tuning import Instance, TuningExample, tuner_of, validate
from snellen.tuning.lora import PLACES, LoraOutcome, adapt
from tests.tuning.conftest import examples, instances, noise
from tests.tuning.painters import with_painter
from tests.tuning.segmenters import save_segmenter, shown

pytest.importorskip("peft", reason="the extra `lora` is not installed")

POOLS = ["CLIP", "LOC", "VQA", "REPLACE"]


@pytest.fixture(scope="module")
def profiles(learner: Callable[[str], Profile], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Profile]:
    small = learner("small")
    painting = with_painter(small, tmp_path_factory.mktemp("painting"), "embedded")
    return {"CLIP": small, "LOC": small, "VQA": small, "REPLACE": painting}


def _tuner(profile: Profile, pool: str, *, score: float = 0.999, **lora: object) -> Any:  # noqa: ANN401
    table, key = profile.tuning, pool.lower()
    tool = getattr(table, key).model_copy(update={"score": score})
    changes = {"lora": table.lora.model_copy(update=lora), key: tool}
    changed = profile.model_copy(update={"tuning": table.model_copy(update=changes)})
    return tuner_of(Models(changed, window=0), pool)


def _taught(pool: str, count: int = 3) -> list[Instance]:
    if pool == "REPLACE":
        return [
            Instance(TuningExample(noise(row, 64), "cat", ((10, 12, 40, 44),)), names=("dog",)) for row in range(count)
        ]
    return instances(pool, count)


def _held_out(pool: str) -> list[TuningExample]:
    if pool == "REPLACE":
        return [TuningExample(noise(90, 64), "cat", ((10, 12, 40, 44),))]
    return examples(pool, 3, seed=7)


def _adapt(tuner: Any, pool: str, **options: Any) -> LoraOutcome | None:  # noqa: ANN401
    return adapt(tuner, _taught(pool), _held_out(pool), names=("house", "tree"), **options)


def _state(module: Any) -> tuple[Any, ...]:  # noqa: ANN401
    modules = [(name, id(each), each.training) for name, each in module.named_modules()]
    learning = [(name, id(each), each.requires_grad) for name, each in module.named_parameters()]
    return modules, learning, set(vars(module))


def _same_numbers(module: Any, numbers: dict[str, Any]) -> bool:  # noqa: ANN401
    now = module.state_dict()
    return now.keys() == numbers.keys() and all(bool((now[name] == each).all()) for name, each in numbers.items())


@pytest.mark.parametrize("pool", POOLS)
def test_afterwards_the_model_is_bit_for_bit_what_it_was(profiles: dict[str, Profile], pool: str) -> None:
    import torch

    tuner = _tuner(profiles[pool], pool, steps=3, rate=0.05)
    next(iter(tuner.module.parameters())).requires_grad = False
    state, random = _state(tuner.module), torch.get_rng_state()
    numbers = {name: each.clone() for name, each in tuner.module.state_dict().items()}
    seen = tuner.features(_held_out(pool))
    outcome = _adapt(tuner, pool)

    assert outcome is not None
    assert outcome.steps == 3
    assert _state(tuner.module) == state
    assert _same_numbers(tuner.module, numbers)
    assert all(np.array_equal(*pair) for pair in zip(seen, tuner.features(_held_out(pool)), strict=True))
    assert all(each.grad is None for each in tuner.module.parameters())
    assert bool((torch.get_rng_state() == random).all())


@pytest.mark.parametrize("ends", ["stopped", "failed"])
def test_an_adapter_that_is_not_finished_leaves_nothing_either(profiles: dict[str, Profile], ends: str) -> None:
    tuner = _tuner(profiles["LOC"], "LOC")
    state, told = _state(tuner.module), list[int]()

    def progress(step: int) -> None:
        told.append(step)
        if ends == "failed" and step == 2:
            raise KeyboardInterrupt

    if ends == "failed":
        with pytest.raises(KeyboardInterrupt):
            _adapt(tuner, "LOC", progress=progress)
    else:
        assert _adapt(tuner, "LOC", progress=progress, should_stop=lambda: len(told) == 2) is None
    assert told == [1, 2]
    assert _state(tuner.module) == state


@pytest.mark.parametrize("pool", ["CLIP", "LOC", "VQA"])
def test_it_learns_by_the_losses_of_prompts(profiles: dict[str, Profile], pool: str) -> None:
    start, end = (_adapt(_tuner(profiles[pool], pool, steps=steps, rate=0.02), pool) for steps in (1, 25))

    assert start is not None
    assert end is not None
    assert end.loss < start.loss
    assert end.weights > 0
    assert end.instances == 3


def test_repeated_it_is_the_same(profiles: dict[str, Profile]) -> None:
    first, again = (_adapt(_tuner(profiles["LOC"], "LOC", steps=4), "LOC") for _ in range(2))

    assert first is not None
    assert again is not None
    assert first.loss == again.loss


@pytest.mark.parametrize("pool", ["CLIP", "VQA"])
def test_what_memory_keeps_apart_is_learned_together(profiles: dict[str, Profile], pool: str) -> None:
    together, apart = _tuner(profiles[pool], pool, steps=4, rate=0.01), _tuner(profiles[pool], pool, steps=4, rate=0.01)
    apart.common = apart.common.model_copy(update={"memory": 1})
    apart.size = lambda _: 2**20
    one, two = _adapt(together, pool), _adapt(apart, pool)

    assert one is not None
    assert two is not None
    assert one.loss == pytest.approx(two.loss, abs=1e-4)


@pytest.mark.parametrize("pool", ["CLIP", "LOC", "VQA"])
def test_training_ends_when_every_instance_is_accepted(profiles: dict[str, Profile], pool: str) -> None:
    tuner = _tuner(profiles[pool], pool, score=1e-9)
    judge = tuner.judge

    def content(prompts: Any, batch: Any) -> Any:  # noqa: ANN401
        judgement = judge(prompts, batch)
        judgement.accepted[:] = content.steps >= 4  # type: ignore[attr-defined]
        content.steps += 1  # type: ignore[attr-defined]
        return judgement

    content.steps = 0  # type: ignore[attr-defined]
    tuner.judge = content
    outcome = _adapt(tuner, pool)
    assert outcome is not None
    assert (outcome.steps, outcome.accepted) == (4, 3)


def test_what_rivals_say_is_looked_at_again_before_it_is_believed(profiles: dict[str, Profile]) -> None:
    tuner, prepared = _tuner(profiles["CLIP"], "CLIP", steps=13), list[int]()
    prepare = tuner.prepare

    def counted(chunk: Any) -> Any:  # noqa: ANN401
        prepared.append(len(chunk))
        return prepare(chunk)

    tuner.prepare = counted
    _adapt(tuner, "CLIP")
    assert prepared == [3, 3]

    tuner = _tuner(profiles["VQA"], "VQA", steps=13)
    prepare, tuner.prepare = tuner.prepare, counted
    _adapt(tuner, "VQA")
    assert prepared == [3, 3, 3]


@pytest.mark.parametrize("pool", ["CLIP", "LOC", "VQA"])
def test_without_the_adapter_validation_finds_what_it_finds_for_prompts(
    profiles: dict[str, Profile], pool: str
) -> None:
    tuner = _tuner(profiles[pool], pool, steps=1)
    others, held_out, names = examples(pool, 4, seed=3), _held_out(pool), ("house", "tree")
    outcome = adapt(tuner, _taught(pool), held_out, others=others, names=names)
    concept = _taught(pool)[0].concept
    seen = tuner.look(held_out, [concept, *names])
    if pool == "LOC":  # each is asked for its own name
        right = sum(tuner.right(tuner.look([each], ()), None, each.concept)[0] for each in held_out)
    else:
        right = sum(tuner.right(seen, None, concept))

    assert outcome is not None
    assert (outcome.expected_before.right, outcome.expected_before.of) == (right, 3)
    assert outcome.others_before.of == outcome.others.of == 4
    assert outcome.reason


def test_validation_is_the_one_of_prompts(profiles: dict[str, Profile]) -> None:
    tuner = _tuner(profiles["CLIP"], "CLIP", steps=1)

    assert validate(tuner, [], []) == []
    with pytest.raises(SnellenError, match="held out"):
        adapt(tuner, _taught("CLIP"), [])


def test_a_prompt_of_no_vectors_is_the_model_by_itself(profiles: dict[str, Profile]) -> None:
    """So the losses of prompts are those of an adapter, when they are given none."""
    import torch

    clip, loc, vqa = (_tuner(profiles[pool], pool) for pool in ("CLIP", "LOC", "VQA"))
    pictures = [each.picture for each in examples("CLIP", 3)]
    with torch.no_grad():
        seen = clip._encoder.embed(clip._encoder.patches(pictures)[None], torch.zeros(1, 3, 0, clip.shape[-1]))[0]
        tokens = loc._detector.tokens(["cat", "old dog"])
        queries = [loc._detector.queries(tokens, prompts) for prompts in (None, torch.zeros(2, 0, loc.shape[-1]))]
        (_, reading), *_ = vqa.look(examples("VQA", 1), ()).groups
        prompts = (None, torch.zeros(len(reading.questions), 0, vqa.shape[-1]))
        answers = [vqa._answerer.decode(reading.questions, each) for each in prompts]
    np.testing.assert_allclose(seen, clip.features(examples("CLIP", 3)), atol=1e-5)
    np.testing.assert_allclose(queries[0], queries[1], atol=1e-6)
    assert answers[0] == answers[1]


def test_without_the_library_the_remedy_is_told(profiles: dict[str, Profile], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(SnellenError, match=r"pip install 'snellen\[lora\]'"):
        _adapt(_tuner(profiles["LOC"], "LOC"), "LOC")


def test_a_tool_that_prompts_bring_its_names_has_no_place_for_one(tmp_path: Path) -> None:
    tuner = tuner_of(Models(save_segmenter(tmp_path), window=0), "SEG")
    assert "SEG" not in PLACES
    with pytest.raises(BadInput, match="only by prompts"):
        adapt(tuner, [Instance(shown(1))], [shown(2)])
