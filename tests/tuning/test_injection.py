from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

from snellen.models.injection import answer_prompts, deep_prompts, prompted_class_tokens, query_prompts
from snellen.models.vision.detection import DetectionCall
from snellen.models.vision.language import PictureAndText
from snellen.profiles import Profile
from snellen.tools.vision import Models
from tests.tuning.conftest import Learned, noise

QUESTIONS = ["is there a dog ?", "how many cats are in the picture ?", "a cat ?"]
PICTURES = [noise(1), noise(2), noise(3)]
SHAPES = ["small", pytest.param("hub", marks=pytest.mark.slow)]


def _hooks(model: Any) -> int:  # noqa: ANN401 - models are untyped
    return sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in model.modules())


def _fail_within(injected: AbstractContextManager[None], model: Any, before: int) -> None:  # noqa: ANN401
    with injected:
        assert _hooks(model) > before
        1 / 0  # noqa: B018


def _prompts(models: Models, pool: str, count: int = 2) -> np.ndarray[Any, np.dtype[np.float32]]:
    from snellen.tuning import tuner_of

    return np.random.default_rng(0).normal(size=(count, *tuner_of(models, pool).shape)).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_clip_without_prompts_is_the_original_bit_for_bit(learner: Callable[[str], Profile], shape: str) -> None:
    import torch

    models = Models(learner(shape), Learned(), window=0)
    checkpoint = models.encoder().checkpoint
    with torch.inference_mode():
        whole = checkpoint.model(pixel_values=checkpoint.pixels(PICTURES), **checkpoint.tokens(["a photo of a cat"]))
    assert np.array_equal(
        np.stack([each.embedding for each in models.encoder().pictures(PICTURES)]), whole.image_embeds.numpy()
    )
    names = ["a cat", "dog"]
    assert np.array_equal(models.similarity(PICTURES, names, names=names), models.similarity(PICTURES, names))


@pytest.mark.parametrize("shape", SHAPES)
def test_loc_without_prompts_is_the_original_bit_for_bit(learner: Callable[[str], Profile], shape: str) -> None:
    import torch

    plain, empty = Models(learner(shape), window=0), Models(learner(shape), Learned(), window=0)
    names = [["cat", "old dog"]] * 3
    assert empty.detect(PICTURES, names) == plain.detect(PICTURES, names)
    checkpoint, detector = plain.detector().checkpoint, plain.detector()
    with torch.inference_mode():
        tokens = detector.tokens(["cat", "old dog"])
        original = checkpoint.model.owlvit.get_text_features(**tokens).pooler_output
        assert torch.equal(detector.queries(tokens), original / original.norm(dim=-1, keepdim=True))


@pytest.mark.parametrize("shape", SHAPES)
def test_vqa_without_prompts_is_the_original_bit_for_bit(learner: Callable[[str], Profile], shape: str) -> None:
    import torch

    answerer = Models(learner(shape), window=0).answerer()
    for question in QUESTIONS[: 3 if shape == "small" else 1]:
        calls = [PictureAndText(picture, question) for picture in PICTURES]
        with torch.inference_mode():
            assert answerer.decode(answerer.read(calls).questions) == answerer(calls)


def test_names_without_prompts_do_not_notice_those_with(models: Models, learned: Learned) -> None:
    import torch

    detector = models.detector()
    calls = [DetectionCall(picture, ("cat", "dog", "old house")) for picture in PICTURES]
    with torch.inference_mode():
        before = detector.scores(detector.look(PICTURES), calls, ["cat", "dog", "old house"])
        learned.put("LOC", "dog", 5 * _prompts(models, "LOC"), np.ones((2, 32), dtype=np.float32))
        detector.settings = detector.settings.model_copy(update={"threshold": 0.0})
        after = detector.scores(detector.look(PICTURES), calls, ["cat", "dog", "old house"])
    assert torch.equal(before[..., [0, 2]], after[..., [0, 2]])
    assert not torch.allclose(before[..., 1], after[..., 1])


def test_texts_without_prompts_do_not_notice_those_with(models: Models, learned: Learned) -> None:
    names = ["cat", "dog", "house"]
    before = models.similarity(PICTURES, names, names=names)
    learned.put("CLIP", "dog", _prompts(models, "CLIP"), np.ones((2, 32), dtype=np.float32))
    after = models.similarity(PICTURES, names, names=names)
    assert np.array_equal(before[:, [0, 2]], after[:, [0, 2]])
    assert not np.allclose(before[:, 1], after[:, 1])
    assert np.array_equal(models.similarity(PICTURES, names), before)


def test_zero_prompts_of_right_answers_change_no_answer(models: Models, learned: Learned) -> None:
    calls = (PICTURES, QUESTIONS)
    before = models.answer(*calls)
    learned.put("VQA", "", 0 * _prompts(models, "VQA"), np.ones((2, 64), dtype=np.float32))
    assert models.answer(*calls) == before


def test_a_prompt_reaches_generation(models: Models) -> None:
    import torch

    answerer = models.answerer()
    with torch.inference_mode():
        reading = answerer.read([PictureAndText(PICTURES[0], QUESTIONS[0])])
        prompts = [torch.from_numpy(20 * _prompts(models, "VQA", 1) * sign) for sign in (1.0, -1.0, 0.3)]
        answers = {answerer.decode(reading.questions, each)[0] for each in prompts}
        answers.add(answerer.decode(reading.questions)[0])
    assert len(answers) > 1


def test_prompted_names_equal_the_same_names_alone(models: Models) -> None:
    import torch

    detector = models.detector()
    prompts = torch.from_numpy(_prompts(models, "LOC", 2))
    with torch.inference_mode():
        together = detector.queries(detector.tokens(["cat", "old wooden house"]), prompts)
        alone = [
            detector.queries(detector.tokens([name]), prompt[None])[0]
            for name, prompt in zip(["cat", "old wooden house"], prompts, strict=True)
        ]
    torch.testing.assert_close(together, torch.stack(alone), atol=1e-5, rtol=1e-5)


def test_the_order_of_words_and_their_end_are_where_they_were(models: Models) -> None:
    """With prompts that every word ignores, the query is the original one: no position and no end moved."""
    import torch

    detector = models.detector()
    text = detector.checkpoint.model.owlvit.text_model
    tokens = detector.tokens(["cat", "old house"])
    with torch.inference_mode():
        hidden: list[torch.Tensor] = []
        handle = text.encoder.layers[0].register_forward_pre_hook(lambda _, args: hidden.append(args[0]))
        plain = detector.queries(tokens)
        with query_prompts(text, torch.zeros(2, 3, 32)):
            prompted = text(**tokens)
        handle.remove()
    assert torch.equal(hidden[0], hidden[1][:, 3:])
    assert prompted.last_hidden_state.shape == (2, tokens["input_ids"].shape[1], 32)
    assert plain.shape == prompted.pooler_output.shape


def test_hooks_are_gone_after_the_call_even_when_it_fails(models: Models) -> None:
    import torch

    clip, owlvit = models.encoder().checkpoint.model, models.detector().checkpoint.model
    blip = models.answerer().checkpoint.model
    hooks = [
        deep_prompts(clip.vision_model, torch.zeros(1, 3, 2, 32)),
        query_prompts(owlvit.owlvit.text_model, torch.zeros(1, 2, 32)),
        answer_prompts(blip.text_decoder, torch.zeros(1, 2, 32)),
    ]
    for model, injected in zip((clip, owlvit, blip), hooks, strict=True):
        before = _hooks(model)
        with pytest.raises(ZeroDivisionError):
            _fail_within(injected, model, before)
        assert _hooks(model) == before


def test_other_threads_do_not_see_a_prompt(models: Models) -> None:
    import torch

    encoder = models.encoder()
    before = encoder.encode(PICTURES[:1])[0].embedding
    seen: list[Any] = []
    with deep_prompts(encoder.checkpoint.model.vision_model, torch.ones(1, 3, 3, 32)):
        other = threading.Thread(target=lambda: seen.append(encoder.encode(PICTURES[:1])[0].embedding))
        other.start()
        other.join()
        here = encoder.encode(PICTURES[:1])[0].embedding
    assert np.array_equal(seen[0], before)
    assert not np.allclose(here, before)


def test_patches_seen_with_prompts_equal_the_hooked_model(models: Models) -> None:
    import torch

    encoder = models.encoder()
    prompts = torch.from_numpy(_prompts(models, "CLIP", 3))
    with torch.inference_mode():
        embedded = encoder.embed(encoder.patches(PICTURES)[:, None], prompts)[:, 0].numpy()
        with deep_prompts(encoder.checkpoint.model.vision_model, prompts):
            whole = np.stack([each.embedding for each in encoder.encode(PICTURES)])
    np.testing.assert_allclose(embedded, whole, atol=1e-6)


@pytest.mark.parametrize("layers", [1, 3, 4])
def test_pictures_of_an_instance_share_its_prompt(models: Models, layers: int) -> None:
    """With prompts in any number of layers, the last included."""
    import torch

    encoder = models.encoder()
    vision = encoder.checkpoint.model.vision_model
    width, depth = vision.config.hidden_size, vision.config.num_hidden_layers
    prompts = torch.randn(2, min(layers, depth), 3, width, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        patches = encoder.patches([*PICTURES, noise(4)])
        patches = patches.view(2, 2, *patches.shape[1:])
        together = encoder.embed(patches, prompts)
        with deep_prompts(vision, prompts.repeat_interleave(2, dim=0)):
            alone = np.stack([each.embedding for each in encoder.encode([*PICTURES, noise(4)])])
    np.testing.assert_allclose(together.flatten(0, 1).numpy(), alone, atol=1e-6)


def test_deep_prompts_are_what_vpt_deep_defines(models: Models) -> None:
    import torch

    vision = models.encoder().checkpoint.model.vision_model
    prompts = torch.from_numpy(_prompts(models, "CLIP", 2))
    layers, vectors = prompts.shape[1:3]
    with torch.inference_mode():
        patches = models.encoder().patches(PICTURES[:2])
        hidden = patches
        for depth, layer in enumerate(vision.encoder.layers):
            if depth < layers:
                rest = hidden[:, 1:] if depth == 0 else hidden[:, 1 + vectors :]
                hidden = torch.cat([hidden[:, :1], prompts[:, depth], rest], dim=1)
            hidden = layer(hidden, None)
        wanted = torch.cat([hidden[:, :1], hidden[:, 1 + vectors :]], dim=1)
        with deep_prompts(vision, prompts):
            given = vision.encoder(inputs_embeds=patches).last_hidden_state
        tokens = prompted_class_tokens(vision, patches[:, None], prompts)
    torch.testing.assert_close(given, wanted, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(tokens[:, 0], wanted[:, 0], atol=1e-5, rtol=1e-5)
