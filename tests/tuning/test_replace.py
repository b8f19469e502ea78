"""REPLACE learns: where vectors enter, what they are learned from, and by what paintings prove them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import PIL.Image
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.models.injection import word_vectors
from snellen.models.vision.inpainting import Painter, PaintingCall, central, mentions, square
from snellen.profiles import Profile, load_profile
from snellen.tools.vision import Models
from snellen.tuning import Instance, TunedPrompt, TuningExample, tune, tuner_of, validate
from snellen.tuning.replace import ReplaceTuner, phrase, place_of
from tests.tuning.conftest import Learned, noise, settings
from tests.tuning.painters import with_painter

SHAPES = ["embedded", "hub"]
BOX = (10, 12, 40, 44)
NAMES = ["cat", "old cat", "owl", "bobcat", "photo of"]


@pytest.fixture(scope="module")
def painting(learner: Callable[[str], Profile], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Profile]:
    made: dict[str, Profile] = {}

    def make(shape: str) -> Profile:
        if shape not in made:
            few = "steps = 4\nspread = 0.1\n"
            made[shape] = with_painter(learner("small"), tmp_path_factory.mktemp(shape), shape, few)
        return made[shape]

    return make


@pytest.fixture(scope="module")
def tuner(painting: Callable[[str], Profile]) -> Any:  # noqa: ANN401
    return tuner_of(Models(painting("embedded"), window=0), "REPLACE")


def masked(size: tuple[int, int], *boxes: tuple[int, int, int, int]) -> PIL.Image.Image:
    mask = PIL.Image.new("L", size, 0)
    for box in boxes:
        mask.paste(255, box)
    return mask


def instances(count: int) -> list[Instance]:
    return [
        Instance(
            TuningExample(noise(index, 50 + 7 * index), NAMES[index % 3], (BOX,) if index % 2 else ()), names=("dog",)
        )
        for index in range(count)
    ]


def vector(seed: int, *, scale: float = 3.0) -> NDArray[np.float32]:
    return scale * np.random.default_rng(seed).normal(size=(1, 32)).astype(np.float32)


def painted(models: Models, *prompts: str) -> list[bytes]:
    picture = noise(3, 60)
    mask = masked(picture.size, BOX)
    return [each.tobytes() for each in models.inpaint([picture] * len(prompts), [mask] * len(prompts), prompts)]


@pytest.mark.parametrize("shape", SHAPES)
def test_without_vectors_a_painting_is_the_original_bit_for_bit(painting: Callable[[str], Profile], shape: str) -> None:
    learned = Learned()
    learned.put("REPLACE", "owl", vector(1)[None], np.ones((1, 64), dtype=np.float32))
    learned.put("REPLACE", "horse", np.zeros((2, 1, 32), dtype=np.float32), np.ones((2, 64), dtype=np.float32))
    plain, taught = (Models(painting(shape), prompts, window=0) for prompts in (None, learned))
    prompts = ["a cat", "an owlet", "a horse"]
    assert painted(taught, *prompts) == painted(plain, *prompts)
    assert painted(taught, "an owl") != painted(plain, "an owl")


def test_the_hubs_painting_is_the_pipelines_own(painting: Callable[[str], Profile]) -> None:
    models = Models(painting("hub"), Learned(), window=0)
    painter, picture = models.painter(), noise(3, 64)
    mask = masked(picture.size, BOX)
    (ours,) = models.inpaint([picture], [mask], ["a cat"])
    (theirs,) = painter.pipeline(
        prompt=["a cat"], image=[picture], mask_image=[mask], width=64, height=64, num_inference_steps=2,
        guidance_scale=7.5, generator=[torch.Generator("cpu").manual_seed(0)],
    ).images  # fmt: skip
    assert ours.crop(BOX).tobytes() == theirs.crop(BOX).tobytes()


def test_a_vector_changes_what_is_painted_and_nothing_else(painting: Callable[[str], Profile]) -> None:
    learned = Learned()
    models = Models(painting("embedded"), learned, window=0)
    picture, mask = noise(4, 60), masked((60, 60), (5, 5, 20, 20), (30, 28, 55, 50))
    (before,) = models.inpaint([picture], [mask], ["a red old cat"])
    learned.put("REPLACE", "old cat", vector(1)[None], np.ones((1, 64), dtype=np.float32))
    (after,) = models.inpaint([picture], [mask], ["a red old cat"])
    (again,) = models.inpaint([picture], [mask], ["a red Old  Cat"])
    changed = (np.asarray(before) != np.asarray(after)).any(axis=2)
    assert changed[5:20, 5:20].any()
    assert changed[28:50, 30:55].any()
    assert not changed[np.asarray(mask) == 0].any()
    assert again.tobytes() == after.tobytes()


def test_a_vector_reaches_the_tokens_of_its_words_only(tuner: ReplaceTuner, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of several words and tokens, in the middle of others; what guidance takes for nothing is left alone."""
    painter: Painter = tuner._painter
    text = "a red old cat on a cat"
    added: list[torch.Tensor] = []
    real = painter.pipeline.text_encoder.embeddings.token_embedding.forward

    def remembered(tokens: torch.Tensor) -> Any:  # noqa: ANN401
        added.append(tokens)
        return real(tokens)

    monkeypatch.setattr(painter.pipeline.text_encoder.embeddings.token_embedding, "forward", remembered)
    seen: list[torch.Tensor] = []
    handle = painter.pipeline.text_encoder.encoder.register_forward_pre_hook(
        lambda _, __, named: seen.append(named["inputs_embeds"]), with_kwargs=True
    )
    picture = noise(1, 60)
    for vectors in ({"old cat": vector(2)}, {"old cat": 0 * vector(2)}, {}):
        painter([PaintingCall(picture, masked(picture.size, BOX), text, vectors)])
    handle.remove()
    moved = [(first - second).abs().sum(-1)[0] > 0 for first, second in zip(seen[:2], seen[4:], strict=True)]
    tokens = painter.pipeline.tokenizer.convert_ids_to_tokens(added[0][0])
    assert [token for token, there in zip(tokens, moved[0], strict=True) if there] == [
        "o",
        "l",
        "d</w>",
        "c",
        "a",
        "t</w>",
    ]
    assert moved[0].nonzero().flatten().tolist() == list(range(5, 11))
    assert not moved[1].any()
    assert all(torch.equal(first, second) for first, second in zip(seen[2:4], seen[4:], strict=True))


def test_reading_with_vectors_of_nothing_is_the_pipelines_own_reading(tuner: ReplaceTuner) -> None:
    painter = tuner._painter
    texts = ["a cat", "an old cat on a photo"]
    words = painter.words(texts, ["cat"])
    with torch.no_grad():
        own, _ = painter.pipeline.encode_prompt(texts, painter.device, 1, do_classifier_free_guidance=False)
        assert torch.equal(painter.read(words.tokens, torch.zeros(2, 24, 32)), own)
    assert [words.places["cat"][row].sum().item() for row in (0, 1)] == [3, 3]


def test_hooks_are_gone_after_the_call_even_when_it_fails(tuner: ReplaceTuner) -> None:
    encoder = tuner._painter.pipeline.text_encoder

    def fail_within() -> None:
        with word_vectors(encoder, torch.zeros(1, 24, 32)):
            assert encoder.get_input_embeddings()._forward_hooks
            1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        fail_within()
    assert not encoder.get_input_embeddings()._forward_hooks


@given(
    st.lists(st.sampled_from(["cat", "Old", "old  cat", "bobcat", "cats", "owl", "photo", "of", "-", "a"]), max_size=8)
)
def test_mentions_are_whole_words_and_take_no_place_twice(parts: list[str]) -> None:
    text = " ".join(parts)
    taken: set[int] = set()
    for concept, spans in mentions(text, NAMES).items():
        for start, end in spans:
            assert " ".join(text[start:end].casefold().split()) == concept
            assert not taken & set(range(start, end))
            assert not text[max(start - 1, 0) : start].isalnum()
            assert not text[end : end + 1].isalnum()
            taken |= set(range(start, end))


def test_the_longest_name_is_meant() -> None:
    assert mentions("an old cat and a cat", ["cat", "old cat", "dog", ""]) == {"old cat": [(3, 10)], "cat": [(17, 20)]}
    assert mentions("a bobcat, cats", ["cat"]) == {}
    assert mentions("a cat (small)?", ["cat (small)"]) == {"cat (small)": [(2, 13)]}


def test_like_surroundings_weigh_more(painting: Callable[[str], Profile]) -> None:
    learned = Learned()
    models = Models(painting("embedded"), learned, window=0)
    painter, picture = models.painter(), noise(5, 60)
    call = PaintingCall(picture, masked(picture.size, BOX), "a cat")
    (feature,) = painter.look([painter.close_up(call)]).features()
    learned.put("REPLACE", "cat", np.stack([vector(1), vector(2)]), np.stack([feature, -feature]))
    near = painted_with(painter, call, {"cat": vector(1)})
    assert painter([call])[0].tobytes() == near
    learned.put("REPLACE", "cat", np.stack([vector(1), vector(2)]), np.stack([feature, feature]))
    assert painter([call])[0].tobytes() == painted_with(painter, call, {"cat": np.mean([vector(1), vector(2)], axis=0)})


def painted_with(painter: Painter, call: PaintingCall, vectors: dict[str, NDArray[np.float32]]) -> bytes:
    return painter([PaintingCall(call.picture, call.mask, call.prompt, vectors)])[0].tobytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_batch_is_tuned_as_each_instance_alone(painting: Callable[[str], Profile], shape: str) -> None:
    tool = tuner_of(Models(painting(shape), window=0), "REPLACE")
    several = instances(4)
    together = tune(tool, several)
    for instance, tuned in zip(several, together, strict=True):
        (alone,) = tune(tool, [instance])
        assert (alone.instance, alone.steps, alone.concept) == (tuned.instance, 4, instance.concept)
        np.testing.assert_allclose(tuned.prompt, alone.prompt, atol=1e-5)
        np.testing.assert_allclose(tuned.loss, alone.loss, atol=1e-5)
        np.testing.assert_allclose(tuned.feature, alone.feature, atol=1e-5)
    assert tool.shape == together[0].prompt.shape == (1, 32)


def test_the_order_and_the_chunks_of_instances_do_not_matter(tuner: ReplaceTuner) -> None:
    several = instances(3)
    forth = tune(tuner, several)
    apart: Any = tuner_of(tuner._models, "REPLACE")
    apart.common = apart.common.model_copy(update={"memory": 1})
    back = tune(apart, several[::-1])
    for one, two in zip(forth, back[::-1], strict=True):
        assert one.instance == two.instance
        np.testing.assert_allclose(one.prompt, two.prompt, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_vector_lowers_the_error_of_what_it_learns(painting: Callable[[str], Profile], shape: str) -> None:
    profile = settings(painting(shape), "REPLACE", steps=10, rate=0.3)
    tool: Any = tuner_of(Models(profile, window=0), "REPLACE")
    several = instances(2)
    tuned = tune(tool, several)

    def error(prompts: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(2)
        for step in range(6):
            batch.steps[:] = step
            total += tool.errors(prompts, batch, tool._noise(batch))
        return total

    with torch.no_grad():
        batch = tool.prepare(several)
        before, after = error(torch.zeros(2, 1, 32)), error(torch.stack([torch.from_numpy(t.prompt) for t in tuned]))
    assert (after < before).all()


def test_noise_follows_instance_and_step_and_nothing_else(tuner: ReplaceTuner) -> None:
    several = instances(3)
    with torch.no_grad():
        every, one = tuner.prepare(several), tuner.prepare(several[1:2])
        together, alone = tuner._noise(every), tuner._noise(one)
        tuner.judge(torch.zeros(3, 1, 32), every)
        later = tuner._noise(every)
    assert torch.equal(together.values[1], alone.values[0])
    assert together.times[1] == alone.times[0]
    assert not torch.equal(together.values[0], together.values[1])
    assert not torch.equal(together.values, later.values)
    assert every.take(torch.tensor([2])).steps.tolist() == [1]


def test_times_go_over_the_noisy_part_of_the_schedule(painting: Callable[[str], Profile]) -> None:
    tool: Any = tuner_of(Models(settings(painting("embedded"), "REPLACE", noise=0.5), window=0), "REPLACE")
    with torch.no_grad():
        batch = tool.prepare(instances(1))
    times = []
    for step in range(20):
        batch.steps[:] = step
        times.append(int(tool._noise(batch).times[0]))
    assert min(times) >= 499
    assert max(times) <= 999
    assert max(b - a for a, b in zip(sorted(times), sorted(times)[1:], strict=False)) < 100


def _counted(real: Callable[[torch.Tensor], Any], calls: list[int], pixels: torch.Tensor) -> Any:  # noqa: ANN401
    calls.append(len(pixels))
    return real(pixels)


def test_pictures_are_encoded_once_however_many_steps(
    painting: Callable[[str], Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for steps in (1, 4):
        tool: Any = tuner_of(Models(settings(painting("embedded"), "REPLACE", steps=steps), window=0), "REPLACE")
        vae = tool._painter.pipeline.vae
        encoded: list[int] = []
        real = vae.encode
        monkeypatch.setattr(vae, "encode", partial(_counted, real, encoded))
        tune(tool, instances(2))
        counts.append(len(encoded))
    assert counts == [2, 2]  # the pictures, and what is around the masks


def test_the_models_are_as_they_were(tuner: ReplaceTuner) -> None:
    before = {name: each.detach().clone() for name, each in tuner.module.named_parameters()}
    tune(tuner, instances(1))
    for name, each in tuner.module.named_parameters():
        assert each.requires_grad
        assert each.grad is None
        assert torch.equal(each, before[name])


class Imitator:
    """Paints what a list says, by whether vectors are given."""

    def __init__(self, painter: Painter, *, plain: PIL.Image.Image, taught: PIL.Image.Image) -> None:
        self.painter, self.plain, self.taught = painter, plain, taught
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.painter, name)

    def __call__(self, calls: Sequence[PaintingCall]) -> list[PIL.Image.Image]:
        self.asked += [call.prompt for call in calls]
        return [self.taught if call.vectors else self.plain for call in calls]


def _tuned(concept: str) -> TunedPrompt:
    return TunedPrompt("p", "REPLACE", concept, vector(1), np.ones(64, dtype=np.float32), 4, 0.1, accepted=False)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("good", [True, False])
def test_a_vector_stays_if_its_paintings_are_recognised(
    painting: Callable[[str], Profile], monkeypatch: pytest.MonkeyPatch, *, known: bool, good: bool
) -> None:
    """By CLIP's word for the concept where CLIP knows it; by what its pictures look like where it does not."""
    models = Models(painting("embedded"), window=0)
    tool: Any = tuner_of(models, "REPLACE")
    owl, dog = noise(70, 60), noise(71, 60)
    imitator = Imitator(tool._painter, plain=dog, taught=owl if good else dog)
    tool._painter = imitator
    shown = {crop.crop(BOX).tobytes(): name for crop, name in ((owl, "owl"), (dog, "dog"))}
    monkeypatch.setattr(tool, "_names", lambda crops, _: [shown[crop.tobytes()] if known else "dog" for crop in crops])
    held_out = [TuningExample(owl, "owl", (BOX,))] * 3
    others = [TuningExample(dog, "dog", (BOX,))] * 2
    (verdict,) = validate(tool, [_tuned("owl")], held_out, others=others, names=["dog", "horse"])
    assert verdict.kept is good
    assert verdict.expected.right == (3 if good else 0)
    assert verdict.expected_before.right == 0
    assert (verdict.others.of, verdict.others_before.of) == (0, 0)
    assert set(imitator.asked) == {"an owl"}


def test_a_painting_is_not_compared_with_the_picture_it_was_painted_into(tuner: ReplaceTuner) -> None:
    """What the picture itself looks like would speak for the painting: the other pictures of the concept decide."""
    pictures = [noise(80 + index, 30) for index in range(3)]
    looks = np.stack([each.embedding for each in tuner._models.encoder().pictures(pictures)])
    halfway = (looks[1] + looks[2]) / 2
    assert tuner._alike(pictures[:1], looks[[0, 1]], [halfway]) == [
        bool(looks[0] @ looks[1] > looks[0] @ halfway / np.linalg.norm(halfway))
    ]
    assert tuner._alike(pictures[:1], looks[:1], [halfway]) == [True]


def test_real_paintings_are_judged_with_and_without_the_vector(tuner: ReplaceTuner) -> None:
    held_out = [TuningExample(noise(90 + index, 60), "owl", (BOX,)) for index in range(2)]
    others = [TuningExample(noise(95 + index, 60), "dog") for index in range(2)]
    verdicts = validate(tuner, [_tuned("owl")], held_out, others=others, names=["dog"])
    assert [verdict.expected.of for verdict in verdicts] == [2]
    assert verdicts[0].reason


def test_names_are_worded_as_programs_word_them() -> None:
    assert [phrase("a {}", name) for name in ("owl", "cat")] == ["an owl", "a cat"]
    assert phrase("a photo of a {}", "old cat") == "a photo of an old cat"
    assert phrase("{}", "owl") == "owl"


SIDES = st.integers(1, 90)


@given(st.tuples(SIDES, SIDES), st.data())
def test_squares_and_middles_lie_in_the_picture(size: tuple[int, int], data: st.DataObject) -> None:
    x, y = data.draw(st.integers(0, size[0] - 1)), data.draw(st.integers(0, size[1] - 1))
    box = (x, y, data.draw(st.integers(x + 1, size[0])), data.draw(st.integers(y + 1, size[1])))
    x0, y0, x1, y1 = square(box, size)
    assert x1 - x0 == y1 - y0 >= 1
    assert 0 <= x0 < x1 <= size[0]
    assert 0 <= y0 < y1 <= size[1]
    if max(box[2] - box[0], box[3] - box[1]) <= min(size):
        assert x0 <= box[0] < box[2] <= x1
        assert y0 <= box[1] < box[3] <= y1
    x0, y0, x1, y1 = central(size)
    assert 0 <= x0 < x1 <= size[0]
    assert 0 <= y0 < y1 <= size[1]
    assert place_of(TuningExample(PIL.Image.new("RGB", size))) == central(size)


def test_the_profiles_have_the_papers_settings() -> None:
    for name in ("hub", "embedded"):
        learning = load_profile(name).tuning.replace
        assert (learning.vectors, learning.rate, learning.steps) == (1, 5e-3, 100)
