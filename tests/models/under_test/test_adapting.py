"""Models under test that learn what they could not, and keep what they could."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from snellen.memory.adapters import AdapterStore
from snellen.models.loading import fingerprint
from snellen.models.under_test import AdapterExample, AdapterExamples, Question, adapt, model_under_test
from snellen.models.under_test.choice_ranking import written
from snellen.models.under_test.lora_adapters import _chosen
from snellen.profiles import CorrectionSettings, SnellenError, load_profile
from snellen.profiles.model_settings import TESTED
from tests.models.under_test import architectures

SETTINGS = CorrectionSettings(rank=4, rate=5e-3, steps=100, every=10, batch=8, keeping=5)


def _picture(colour: str, seed: int) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 40, (24, 24, 3))
    shade = np.array({"red": (200, 10, 10), "blue": (10, 10, 200), "green": (10, 160, 10)}[colour])
    return Image.fromarray((noise + shade).astype(np.uint8))


def _wanted(begun: int, count: int) -> list[AdapterExample]:
    return [
        AdapterExample(Question((_picture(colour, seed),), "what colour house ?", ("red", "blue")), colour)
        for seed in range(begun, begun + count // 2)
        for colour in ("red", "blue")
    ]


def _others(begun: int, count: int) -> list[AdapterExample]:
    return [
        AdapterExample(Question((_picture("green", seed),), "is there a dog ?", ("yes", "no")), "yes")
        for seed in range(begun, begun + count)
    ]


LESSONS = AdapterExamples(_wanted(0, 24), _others(0, 24), _wanted(100, 16), _others(100, 16))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "llava" else pytest.mark.slow) for name in architectures.ARCHITECTURES],
)
def test_a_model_learns_what_it_is_taught_and_keeps_what_it_said(name: str, tmp_path: Path) -> None:
    model = architectures.local(name)
    steps: list[int] = []
    found = adapt(model, LESSONS, tmp_path / "a", SETTINGS, progress=lambda step, _: steps.append(step))
    assert found is not None
    assert not found.trouble
    assert found.wanted > max(found.wanted_before, 0.9)
    assert found.others >= found.others_before - SETTINGS.spoilt
    assert steps == list(range(1, SETTINGS.steps + 1))


@pytest.mark.slow
def test_lessons_that_all_ask_something_else_teach_as_much(tmp_path: Path) -> None:
    words = ["dog", "cat", "the", "is", "there", "what", "one", "left"]
    questions = [f"what colour {first} {second} ?" for first in words for second in words]
    lessons = AdapterExamples(
        [
            replace(one, question=replace(one.question, text=text))
            for one, text in zip(_wanted(0, 64), questions, strict=True)
        ],
        LESSONS.others,
        LESSONS.wanted_held_out,
        LESSONS.others_held_out,
    )
    found = adapt(architectures.local("llava"), lessons, tmp_path / "a", SETTINGS)
    assert found is not None
    assert not found.trouble
    assert found.wanted > 0.9


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=12), count=st.integers(1, 20), seed=st.integers(0, 1_000))
def test_an_update_has_as_many_lessons_as_there_are_up_to_its_size(sizes: list[int], count: int, seed: int) -> None:
    lessons = _wanted(0, 2)
    groups = [
        [replace(lessons[0], answer=f"{which}/{place}") for place in range(size)] for which, size in enumerate(sizes)
    ]
    chosen = _chosen(groups, count, np.random.default_rng(seed))
    assert len({one.answer for one in chosen}) == len(chosen) <= count
    # Less is chosen only where a question has more lessons than its share of two.
    assert len(chosen) == min(count, sum(sizes)) or max(sizes) > -(-count // 2)


@pytest.mark.parametrize("name", architectures.ARCHITECTURES)
def test_what_is_asked_otherwise_is_computed_together_as_it_is_alone(name: str) -> None:
    model = architectures.local(name)
    texts = ["what colour house ?", "what colour dog ?", "is there a dog ?", "is the house red or blue ?"]
    questions = [Question((_picture("red", seed),), text) for seed, text in enumerate(texts)]
    answers = ["red", "blue", "yes", "blue"]

    def told(some: Sequence[int]) -> list[float]:
        batches = model.answered([questions[place] for place in some], [answers[place] for place in some])
        found = [written(model.module, inputs, tokens).gather(-1, tokens[..., None]).sum(dim=(1, 2))
                 for inputs, tokens in batches]  # fmt: skip
        return sorted(torch.cat(found).tolist())

    together = [*model.answered(questions, answers)]
    assert [len(tokens) for _, tokens in together] != [1] * len(questions)
    np.testing.assert_allclose(told(range(4)), sorted(one for place in range(4) for one in told([place])), atol=1e-4)


@pytest.mark.slow
def test_a_corrected_checkpoint_is_another_model_and_leaves_the_first_as_it_was(tmp_path: Path) -> None:
    model = architectures.local("llava")
    folder = tmp_path / "llava"
    model.module.save_pretrained(folder)
    model.processor.save_pretrained(folder)
    file = tmp_path / "mine.toml"
    file.write_text('dtype = "float32"\n[tested.it]\nclass = "AutoModelForImageTextToText"\nfolder = "llava"\n')
    profile, store = load_profile(file), AdapterStore(tmp_path / "home")
    draft = store.draft("t", "it")
    adapt(model, LESSONS, draft, SETTINGS)
    known = fingerprint(profile, TESTED + "it")
    adapter = store.keep(draft, model="it", fingerprint=known, about="colours", origin="t", proof={"steps": 30})
    assert not draft.exists()
    assert store.find(adapter.name) == adapter
    assert adapter.name == f"it+{adapter.id}"

    plain, corrected = (model_under_test(profile, name, store.find) for name in ("it", adapter.name))
    assert corrected.card.name == adapter.name
    assert corrected.card.fingerprint == f"{plain.card.fingerprint}+{adapter.id}"
    questions = [lesson.question for lesson in LESSONS.wanted_held_out]
    right = [one.question.choices.index(one.answer) for one in LESSONS.wanted_held_out]
    shares = [
        np.mean([ranked.choice == place for ranked, place in zip(one.rank(questions), right, strict=True)])
        for one in (plain, corrected)
    ]
    assert shares[0] < 0.8 < shares[1]

    other = file.read_text().replace("llava", "idefics3")
    architectures.local("idefics3").module.save_pretrained(tmp_path / "idefics3")
    architectures.local("idefics3").processor.save_pretrained(tmp_path / "idefics3")
    file.write_text(other)
    with pytest.raises(SnellenError, match="another checkpoint"):
        model_under_test(load_profile(file), adapter.name, store.find)


@pytest.mark.slow
def test_an_interrupted_training_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    whole = adapt(architectures.local("llava"), LESSONS, tmp_path / "whole", SETTINGS)
    steps: list[int] = []
    stopped = adapt(
        architectures.local("llava"),
        LESSONS,
        tmp_path / "parts",
        SETTINGS,
        progress=lambda step, _: steps.append(step),
        should_stop=lambda: len(steps) == 25,
    )
    assert stopped is None
    again: list[int] = []
    found = adapt(
        architectures.local("llava"), LESSONS, tmp_path / "parts", SETTINGS, progress=lambda step, _: again.append(step)
    )
    assert again[0] == 21, "it was saved after 20 steps"
    assert found is not None
    assert whole is not None
    assert (found.wanted, found.others) == (whole.wanted, whole.others)
    (tmp_path / "parts" / "progress.pt").write_bytes(b"cut off")
    afresh = adapt(architectures.local("llava"), LESSONS, tmp_path / "parts", SETTINGS, should_stop=lambda: True)
    assert afresh is None


def test_what_cannot_be_learned_is_said_and_not_kept(tmp_path: Path) -> None:
    lost = [
        AdapterExample(lesson.question, lesson.question.choices[place % 2])
        for place, lesson in enumerate(_others(0, 40))
    ]
    found = adapt(
        architectures.local("llava"),
        AdapterExamples(lost[:20], LESSONS.others, lost[20:], LESSONS.others_held_out),
        tmp_path / "a",
        SETTINGS.model_copy(update={"steps": 10, "rate": 1e-6}),
    )
    assert found is not None
    assert found.trouble.startswith("It did not learn")


def test_what_is_kept_is_found_whole_forgotten_and_its_damage_noticed(tmp_path: Path) -> None:
    store = AdapterStore(tmp_path)
    draft = store.draft("t")
    draft.mkdir(parents=True)
    (draft / "adapter_model.safetensors").write_bytes(b"weights")
    adapter = store.keep(draft, model="m", fingerprint="f", about="", origin="t", proof={})
    assert [one.name for one in store] == [adapter.name]
    assert store.damaged() == []
    (adapter.folder / "adapter_model.safetensors").write_bytes(b"others")
    assert store.damaged() == [adapter.folder]
    assert store.forget(adapter.name)
    assert not store.forget(adapter.name)
    assert list(store) == []
