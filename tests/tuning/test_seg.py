"""SEG learns a concept that it has no label for, and forgets nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.models.injection import extra_queries, overhearing
from snellen.models.vision.segmentation import Segment, layered
from snellen.profiles import BadInput, Profile, load_profile
from snellen.scoring import mask_iou
from snellen.tools.vision import Models
from snellen.tuning import Instance, TunedPrompt, TuningExample, tune, tuner_of, validate
from snellen.tuning.seg import mask_losses
from tests.tuning.conftest import Learned, settings
from tests.tuning.segmenters import save_segmenter, shown

SHAPES = ["embedded", "hub"]


@pytest.fixture(scope="module")
def segmenting(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Profile]:
    made: dict[str, Profile] = {}

    def make(shape: str) -> Profile:
        if shape not in made:
            made[shape] = save_segmenter(tmp_path_factory.mktemp(shape), shape)
        return made[shape]

    return make


@pytest.fixture
def profile(segmenting: Callable[[str], Profile]) -> Profile:
    return segmenting("embedded")


def _tuner(profile: Profile, **changes: object) -> Any:  # noqa: ANN401
    return tuner_of(Models(settings(profile, "SEG", **changes), window=0), "SEG")


def _without(example: TuningExample) -> TuningExample:
    noise = np.random.default_rng(example.picture.width).integers(60, 120, (64, 64, 3), dtype=np.uint8)
    return TuningExample(PIL.Image.fromarray(noise), "dog")


def _instances(count: int) -> list[Instance]:
    """Instances with differing numbers of things and negatives."""
    return [
        Instance(shown(index, things=1 + index % 2), tuple(_without(shown(index)) for _ in range(index % 3)))
        for index in range(count)
    ]


def _same(first: list[Segment], second: list[Segment]) -> bool:
    def told(segment: Segment) -> tuple[Any, ...]:
        return segment.name, segment.score, segment.box, segment.mask.tobytes()

    return [told(each) for each in first] == [told(each) for each in second]


@pytest.mark.parametrize("shape", SHAPES)
def test_without_prompts_the_model_gives_what_its_class_gives(segmenting: Callable[[str], Profile], shape: str) -> None:
    """Bit for bit, listened to or not."""
    import torch

    segmenter = Models(segmenting(shape), Learned(), window=0).segmenter()
    pictures = [shown(1).picture, shown(2).picture]
    with torch.inference_mode():
        original = segmenter.checkpoint.model(pixel_values=segmenter.checkpoint.pixels(pictures))
        (deaf,), (heard,) = segmenter.look(pictures, listen=False), segmenter.look(pictures)
    for sight in (deaf, heard):
        assert torch.equal(sight.output.class_queries_logits, original.class_queries_logits)
        assert torch.equal(sight.output.masks_queries_logits, original.masks_queries_logits)
    model = segmenter.checkpoint.model
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in model.modules())


@pytest.mark.parametrize("shape", SHAPES)
def test_extra_queries_are_the_decoders_own_with_the_models_queries_deaf_to_them(
    segmenting: Callable[[str], Profile], shape: str
) -> None:
    """The class's decoder, given all queries together and a mask, says the same of the further ones."""
    import torch

    segmenter = Models(segmenting(shape), window=0).segmenter()
    module = segmenter.checkpoint.model.model.transformer_module
    prompts = torch.randn(1, 3, module.queries_embedder.weight.shape[1], generator=torch.Generator().manual_seed(1))
    own = module.queries_embedder.weight[None]
    both = torch.cat([own, prompts], dim=1)
    allowed = torch.ones(both.shape[1], both.shape[1], dtype=torch.bool)
    allowed[: own.shape[1], own.shape[1] :] = False
    asked: list[Any] = []
    with torch.inference_mode():
        handle = module.decoder.register_forward_pre_hook(lambda _, __, named: asked.append(named), with_kwargs=True)
        with overhearing(module.decoder) as heard:
            pixels = segmenter.checkpoint.pixels([shown(3).picture])
            plain = segmenter.checkpoint.model(pixel_values=pixels).transformer_decoder_last_hidden_state
        handle.remove()
        state = torch.zeros_like(both)
        for layer in module.decoder.layers:
            state = layer(
                state, allowed[None, None], asked[0]["spatial_position_embeddings"], both,
                asked[0]["encoder_hidden_states"],
            )  # fmt: skip
        whole = module.decoder.layernorm(state)
        extra = extra_queries(module.decoder, prompts, heard.collected())
    torch.testing.assert_close(whole[:, : own.shape[1]], plain, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(extra, whole[:, own.shape[1] :], atol=1e-5, rtol=1e-5)


def test_queries_that_show_nothing_draw_nothing(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pictures a prompt stays silent in: what the model sees by itself is all there is."""
    import torch

    segmenter = Models(profile, window=0).segmenter()
    monkeypatch.setattr(segmenter, "something", lambda states: torch.full(states.shape[:-1], -9.0))
    with torch.inference_mode():
        (sight,) = segmenter.look([shown(1).picture])
        prompt = np.ones((8, segmenter.checkpoint.model.config.decoder_config.hidden_size), dtype=np.float32)
        assert segmenter.novel(sight, 0, {"panda": prompt}) == []


def test_only_the_own_thread_is_listened_to(profile: Profile) -> None:
    import torch

    segmenter = Models(profile, window=0).segmenter()
    decoder = segmenter.checkpoint.model.model.transformer_module.decoder

    def elsewhere() -> None:
        with torch.inference_mode():
            segmenter.look([shown(1).picture], listen=False)

    with overhearing(decoder) as heard:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert not any(heard.outputs.values())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_batch_is_tuned_as_each_instance_alone(segmenting: Callable[[str], Profile], shape: str) -> None:
    """Pictures of other shapes in the company do not matter either."""
    tuner = _tuner(segmenting(shape), steps=12)
    wide = shown(9)
    several = _instances(4)
    if shape == "hub":
        broad = PIL.Image.new("RGB", (96, 64), (90, 90, 90))
        several.append(Instance(wide, (TuningExample(broad, "dog"),)))
    together = tune(tuner, several)
    for instance, tuned in zip(several, together, strict=True):
        (alone,) = tune(tuner, [instance])
        assert (alone.instance, alone.steps, alone.accepted) == (tuned.instance, tuned.steps, tuned.accepted)
        # Kernels of some processors round otherwise where they are given other shapes.
        np.testing.assert_allclose(tuned.prompt, alone.prompt, atol=1e-4, rtol=0)
        np.testing.assert_allclose(tuned.loss, alone.loss, atol=1e-4)
        np.testing.assert_allclose(tuned.feature, alone.feature, atol=1e-4)


def test_memory_bounds_what_is_tuned_together(profile: Profile) -> None:
    tuner, sizes = _tuner(profile, steps=1), []
    prepare = tuner.prepare

    def counted(chunk: list[Instance]) -> Any:  # noqa: ANN401
        sizes.append(len(chunk))
        return prepare(chunk)

    tuner.prepare = counted
    one = tuner.size(_instances(1)[0])
    assert tuner.size(_instances(3)[2]) > one
    tuner.common = tuner.common.model_copy(update={"memory": 1})
    tuner.size = lambda _: 2**19
    tune(tuner, _instances(3))
    assert sizes == [2, 1]


def test_one_picture_is_learned_by_heart_and_its_thing_becomes_a_segment(profile: Profile) -> None:
    """The loss falls, the thing is found under its new name, everything else is as before."""
    tuner = _tuner(profile, steps=100, score=0.6)
    example = shown(1)
    blank = TuningExample(PIL.Image.new("RGB", (64, 64), (90, 90, 90)), "dog")
    instance = Instance(example, (blank,))
    (tuned,) = tune(tuner, [instance])
    (begun,) = tune(_tuner(profile, steps=1), [instance])
    assert tuned.loss < begun.loss
    learned = Learned()
    learned.put("SEG", "panda", tuned.prompt[None], tuned.feature[None])
    plain, taught = Models(profile, window=0), Models(profile, learned, window=0)
    (before,), (after,) = plain.segment([example.picture]), taught.segment([example.picture])
    (panda,) = [each for each in after if each.name == "panda"]
    assert mask_iou(panda.inside(), np.asarray(example.masks[0]) > 0) >= 0.5
    outside = [each for each in before if not (each.inside() & panda.inside()).any()]
    assert all(any(_same([each], [other]) for other in after) for each in outside)


def test_prompts_of_zeros_and_of_something_unlike_change_nothing(profile: Profile) -> None:
    picture = shown(1).picture
    before = Models(profile, window=0).segment([picture])[0]
    learned = Learned()
    width = tuner_of(Models(profile, window=0), "SEG").shape
    learned.put("SEG", "panda", np.zeros((2, *width), dtype=np.float32), np.ones((2, width[1]), dtype=np.float32))
    assert _same(Models(profile, learned, window=0).segment([picture])[0], before)
    (feature,) = Models(profile, window=0).segmenter().features([picture])
    unlike = Models(settings(profile, "SEG", similarity=0.9), learned, window=0)
    learned.put("SEG", "panda", 9 * np.ones((1, *width), dtype=np.float32), -feature[None])
    assert _same(unlike.segment([picture])[0], before)


def test_pictures_of_other_shapes_do_not_change_a_picture(segmenting: Callable[[str], Profile]) -> None:
    models = Models(segmenting("hub"), window=0)
    square, wide = shown(1).picture, PIL.Image.new("RGB", (120, 64), (200, 30, 30))
    alone, together = models.segment([square]), models.segment([square, wide, square])
    assert [each.mask.size for each in together[1]] == [(120, 64)] * len(together[1])
    for one in (together[0], together[2]):
        assert [(each.name, each.box) for each in one] == [(each.name, each.box) for each in alone[0]]


def _segment(low: int, high: int, name: str = "thing", score: float = 0.9) -> Segment:
    mask = np.zeros((1, 12), dtype=np.uint8)
    mask[0, low:high] = 255
    return Segment(PIL.Image.fromarray(mask), (low, 0, high, 1), score, name)


def test_what_a_prompt_finds_is_laid_over_what_the_model_called_otherwise() -> None:
    animal, grass, dog = _segment(2, 6, "animal"), _segment(6, 12, "grass"), _segment(0, 2, "dog")
    found = layered([_segment(3, 7, "panda", 0.8)], [animal, grass, dog])
    assert [(each.name, each.box) for each in found] == [
        ("grass", (7, 0, 12, 1)), ("dog", (0, 0, 2, 1)), ("panda", (3, 0, 7, 1)),
    ]  # fmt: skip
    assert found[1] is dog


def test_several_queries_of_one_thing_are_one_segment() -> None:
    queries = [_segment(2, 6, "panda"), _segment(2, 7, "panda"), _segment(3, 5, "yak"), _segment(8, 10, "panda")]
    assert [each.box for each in layered(queries, [])] == [(2, 0, 6, 1), (8, 0, 10, 1)]
    assert layered([], [queries[0], queries[1]]) == queries[:2]


SPANS = st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12)).filter(lambda span: span[0] < span[1]), max_size=5)


@given(SPANS, SPANS)
def test_no_pixel_belongs_to_two_segments_and_none_is_invented(
    novel: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    given_ = [_segment(*span, "panda") for span in novel]
    known = layered([_segment(*span) for span in others], [])
    found = layered(given_, known)
    claimed = np.sum([each.inside() for each in found], axis=0) if found else np.zeros(1)
    assert claimed.max() <= 1
    allowed = np.any([each.inside() for each in (*given_, *known)], axis=0) if given_ or known else claimed > 0
    assert not ((claimed > 0) & ~allowed).any()
    assert bool(novel) <= bool(found)


def test_the_mask_loss_is_the_classs_own() -> None:
    import torch
    from transformers.models.maskformer.modeling_maskformer import dice_loss, sigmoid_focal_loss

    logits, masks = (
        torch.randn(3, 20, generator=torch.Generator().manual_seed(0)),
        (torch.arange(60) % 3 == 0).view(3, 20),
    )
    focal, dice = mask_losses(logits, masks.float(), torch.ones(20))
    torch.testing.assert_close(focal.sum(), sigmoid_focal_loss(logits, masks.float(), 1))
    torch.testing.assert_close(dice.sum(), dice_loss(logits, masks.float(), 1))


def test_padding_counts_for_nothing() -> None:
    import torch

    logits, masks, real = torch.randn(2, 9), torch.ones(2, 9), torch.ones(9)
    real[6:] = 0
    for whole, cut in zip(
        mask_losses(logits, masks, real), mask_losses(logits[:, :6], masks[:, :6], real[:6]), strict=True
    ):
        torch.testing.assert_close(whole, cut)


def test_an_example_without_masks_cannot_be_learned(profile: Profile) -> None:
    with pytest.raises(BadInput, match="an example of 'panda' has none"):
        tune(_tuner(profile), [Instance(replace(shown(1), masks=()))])


def test_masks_are_part_of_what_an_example_says() -> None:
    whole, bare = shown(1), replace(shown(1), masks=())
    assert whole.digest() == shown(1).digest() != bare.digest()


class TestValidation:
    """What is right with a prompt, on a tuner whose model finds what it is told."""

    @pytest.fixture
    def tuner(self, profile: Profile) -> Any:  # noqa: ANN401
        return _tuner(profile)

    def _verdict(self, tuner: Any, novel: Callable[[int], list[Segment]], known: list[Segment]) -> Any:  # noqa: ANN401
        tuner._segmenter.known = lambda sight: [list(known) for _ in sight.rows]
        tuner._segmenter.novel = lambda sight, place, _: novel(sight.rows[place])
        tuned = TunedPrompt(
            "p", "SEG", "panda", np.ones(tuner.shape, dtype=np.float32), np.ones(tuner.shape[1], dtype=np.float32),
            3, 0.1, accepted=True,
        )  # fmt: skip
        tuner.settings = tuner.settings.model_copy(update={"similarity": -1.0})
        held_out = [shown(1), shown(2)]
        other = replace(shown(3), concept="dog")
        (verdict,) = validate(tuner, [tuned], held_out, others=[other])
        return verdict

    def _true(self, number: int, name: str) -> Segment:
        example = shown(number)
        return Segment(example.masks[0], example.boxes[0], 0.9, name)

    def test_a_prompt_that_finds_its_things_is_kept(self, tuner: Any) -> None:  # noqa: ANN401
        held = {0: 1, 1: 2}
        asked: list[int] = []

        def novel(row: int) -> list[Segment]:
            asked.append(row)
            return [self._true(held[row], "panda")] if len(asked) <= 2 else []

        verdict = self._verdict(tuner, novel, [self._true(3, "animal")])
        assert verdict.kept
        assert (verdict.expected.right, verdict.expected_before.right, verdict.others.right) == (2, 0, 1)

    def test_one_that_calls_others_so_too_is_discarded(self, tuner: Any) -> None:  # noqa: ANN401
        held = [1, 2, 3]
        asked: list[int] = []

        def novel(_: int) -> list[Segment]:
            asked.append(0)
            return [self._true(held[len(asked) - 1], "panda")]

        verdict = self._verdict(tuner, novel, [self._true(3, "animal")])
        assert not verdict.kept
        assert "became wrong" in verdict.reason

    def test_one_that_draws_elsewhere_is_discarded(self, tuner: Any) -> None:  # noqa: ANN401
        verdict = self._verdict(tuner, lambda _: [self._true(7, "panda")], [])
        assert not verdict.kept


def test_the_hub_profile_has_the_papers_settings() -> None:
    tuning = load_profile("hub").tuning.seg
    assert (tuning.vectors, tuning.rate, tuning.steps, tuning.nearest) == (100, 0.1, 100, 10)
