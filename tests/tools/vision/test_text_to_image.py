"""Pictures made from words and changed by words, with a text-to-image pipeline as a user would name one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.errors import BadInput, SnellenError
from snellen.models.vision.made_pictures import MadePictures
from snellen.models.vision.text_to_image import ImageCall, TextToImage
from snellen.profiles import Profile, TextToImageModel, load_profile
from snellen.tools.calls import ToolCall
from snellen.tools.samples import SampleSelection, Selected, prepare, select, sources_of
from snellen.tools.transforms import apply
from snellen.tools.vision import Models

CAT = ToolCall(name="TextToImageGeneration", arguments={"class_name": "cat"})


@pytest.fixture(scope="module")
def profile(hub_folders: Path, tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """The hub profile with a text-to-image pipeline of random weights in a folder, and nothing else that is loaded."""
    import torch
    from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
    from transformers import CLIPTextModel, CLIPTokenizer

    torch.manual_seed(4)
    root, painter = tmp_path_factory.mktemp("text-to-image"), hub_folders / "replace"
    StableDiffusionPipeline(
        vae=AutoencoderKL(
            down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
            block_out_channels=[8, 8], norm_num_groups=4, latent_channels=4, sample_size=64,
        ),
        text_encoder=CLIPTextModel.from_pretrained(painter / "text_encoder"),
        tokenizer=CLIPTokenizer.from_pretrained(painter / "tokenizer"),
        unet=UNet2DConditionModel(
            sample_size=32, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4, cross_attention_dim=32,
            attention_head_dim=4, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        ),
        scheduler=DDIMScheduler(timestep_spacing="trailing", steps_offset=1, clip_sample=False),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    ).save_pretrained(root / "pipeline")  # fmt: skip
    file = root / "mine.toml"
    file.write_text(
        'extends = "hub"\ndevice = "cpu"\ndtype = "float32"\n[samples]\nsize = 64\n'
        '[models.text_to_image]\nfolder = "pipeline"\nsize = 64\nsteps = 2\nbatch = 2\n'
    )
    return load_profile(file)


@pytest.fixture(scope="module")
def maker(profile: Profile) -> TextToImage:
    return TextToImage(profile, profile.entry(TextToImageModel))


@pytest.fixture
def models(profile: Profile, maker: TextToImage, monkeypatch: pytest.MonkeyPatch) -> Models:
    monkeypatch.setattr("snellen.models.vision.models.TextToImage", lambda *_: maker)
    return Models(profile)


@pytest.fixture
def batches(maker: TextToImage, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The prompts of every batch that is computed from now on."""
    computed: list[list[str]] = []
    real = maker._batch

    def counted(calls: Sequence[ImageCall], size: tuple[int, int]) -> list[PIL.Image.Image]:
        computed.append([call.prompt for call in calls])
        return real(calls, size)

    monkeypatch.setattr(maker, "_batch", counted)
    return computed


def far(one: PIL.Image.Image, other: PIL.Image.Image) -> float:
    return float(np.abs(np.asarray(one).astype(float) - np.asarray(other)).mean())


def test_a_call_gives_the_same_picture_alone_and_in_company(maker: TextToImage) -> None:
    calls = [ImageCall(f"a {name}", (64, 64), seed) for seed, name in enumerate(("cat", "dog", "cat"))]
    together = maker(calls)
    assert {(one.mode, one.size) for one in together} == {("RGB", (64, 64))}
    for call, picture in zip(calls, together, strict=True):
        assert far(maker([call])[0], picture) < 1
    assert far(together[0], together[2]) > 1


@pytest.mark.parametrize("size", [(64, 64), (37, 91), (200, 11), (1, 1)])
def test_pictures_of_any_size_are_made_and_changed_at_that_size(maker: TextToImage, size: tuple[int, int]) -> None:
    grey = PIL.Image.new("L", size, 90)
    made, changed = maker([ImageCall("a cat", size), ImageCall("a cartoon of a cat", size, 3, grey)])
    assert made.size == changed.size == size
    assert changed.mode == "RGB"


def test_what_is_asked_for_again_is_not_made_again(models: Models, batches: list[list[str]]) -> None:
    first = models.imagine(["a cat", "a dog", "a cat"], size=(64, 64), seeds=[1, 1, 1], by="text_to_image")
    assert batches == [["a cat", "a dog"]]
    assert first[0].tobytes() == first[2].tobytes()
    again = models.imagine(["a dog"], size=(64, 64), seeds=[1], by="text_to_image")
    assert len(batches) == 1
    assert again[0].tobytes() == first[1].tobytes()
    again[0].paste(0, (0, 0, 64, 64))
    assert models.imagine(["a dog"], size=(64, 64), seeds=[1], by="text_to_image")[0].tobytes() == first[1].tobytes()
    models.imagine(["a dog"], size=(64, 64), seeds=[2], by="text_to_image")
    changed = models.restyle(first[:2], ["a cartoon"] * 2, seeds=[1, 1])
    assert len(batches) == 3
    assert models.restyle([first[0].copy()], ["a cartoon"], seeds=[1])[0].tobytes() == changed[0].tobytes()
    assert len(batches) == 3


def test_pictures_of_a_round_are_made_together(profile: Profile, models: Models, batches: list[list[str]]) -> None:
    generation, retrieval = sources_of(profile, models, open_picture=lambda *_: PIL.Image.new("RGB", (1, 1)))
    assert retrieval is None
    teapot = CAT.model_copy(update={"arguments": {"class_name": "a teapot", "image_type": "plushie"}})
    prepare([(CAT, "1"), (teapot, "2")], generation)
    assert batches == [["a photo of a cat", "a plush toy of a teapot"]]
    drawn = select(teapot, SampleSelection("2", None, generation))
    assert drawn.class_name == "teapot"
    assert not drawn.certain
    assert len(batches) == 1


def chosen(profile: Profile, models: Models) -> Selected:
    generation, _ = sources_of(profile, models, open_picture=lambda *_: PIL.Image.new("RGB", (1, 1)))
    return select(CAT, SampleSelection("s", None, generation))


@pytest.mark.parametrize("style", ["plushie", "tiger stripes", "tattoo"])
def test_a_type_changes_the_picture_itself_and_is_painted_once(
    style: str, profile: Profile, models: Models, batches: list[list[str]]
) -> None:
    selected = chosen(profile, models)
    call = ToolCall(name="EditImageStyle", arguments={"style": style})
    one = apply(call, selected.picture, "s", selected.studio)
    count = len(batches)
    assert apply(call, selected.picture, "s", selected.studio).tobytes() == one.tobytes()
    assert len(batches) == count
    assert any("cat" in prompt for prompt in batches[-1])
    snow = apply(
        ToolCall(name="EditImageWeather", arguments={"weather": "snowy"}), selected.picture, "s", selected.studio
    )
    assert snow.tobytes() != one.tobytes()


def test_only_so_many_pictures_are_kept() -> None:
    made: list[str] = []

    def make(calls: Sequence[ImageCall]) -> list[PIL.Image.Image]:
        made.extend(call.prompt for call in calls)
        return [PIL.Image.new("RGB", call.size) for call in calls]

    kept = MadePictures(most=3 * 100)
    for prompt in ("a", "b", "a", "c", "a"):
        kept.made("x", [ImageCall(prompt, (10, 5))], make)
    assert made == ["a", "b", "c"]
    kept.made("x", [ImageCall("b", (10, 5))], make)
    kept.made("y", [ImageCall("a", (10, 5))], make)
    assert made == ["a", "b", "c", "b", "a"]
    (huge,) = kept.made("x", [ImageCall("huge", (100, 100))], make)
    assert huge.size == (100, 100)


def test_a_profile_says_what_is_wrong_with_its_pipeline(profile: Profile, tmp_path: Path) -> None:
    file = tmp_path / "few.toml"
    file.write_text('extends = "hub"\n[models.text_to_image]\nedit_steps = 1\nstrength = 0.5\n')
    with pytest.raises(BadInput, match="nothing would be changed"):
        load_profile(file)
    missing = profile.entry(TextToImageModel).model_copy(update={"folder": str(tmp_path / "nowhere"), "id": None})
    with pytest.raises(SnellenError, match=r"models\.text_to_image\.folder"):
        TextToImage(
            profile.model_copy(update={"models": profile.models.model_copy(update={"text_to_image": missing})}), missing
        )
