"""What the painter is taught: canvases, latents, schedule; and that a saved one is read by the tool."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import AutoencoderKL, StableDiffusionInpaintPipeline
from PIL import Image
from transformers import CLIPModel

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels, Sticker, draw_array
from snellen.microworld.scenes import recipe, sample_scene
from snellen.microworld.training import autoencoder, clip, diffusion, inpainting_data
from snellen.microworld.training.corpus import Corpus
from snellen.microworld.training.detection_targets import known_names
from snellen.microworld.training.owlvit import clip_tokenizer
from snellen.profiles import load_profile
from snellen.tools.vision import Models

SCENES = [sample_scene(f"painter/{index}", recipe(vocabulary().share("known"))) for index in range(4)]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained classifier, for its text encoder."""
    folder = tmp_path_factory.mktemp("checkpoints")
    tokenizer = clip_tokenizer(folder)
    torch.manual_seed(1)
    clip.save(CLIPModel(clip.config(len(tokenizer))), tokenizer, folder / "clip")
    return folder / "clip"


@pytest.fixture(scope="module")
def artist(classifier: Path) -> diffusion.Artist:
    torch.manual_seed(2)
    reader = diffusion.reader_of(CLIPModel.from_pretrained(classifier, dtype=torch.float32))
    shape = diffusion.UNetShape(widths=(8, 16, 16), groups=4, heads=2)
    return diffusion.Artist(diffusion.network(shape, int(reader.config.hidden_size)), reader)


@pytest.fixture(scope="module")
def coder() -> AutoencoderKL:
    torch.manual_seed(4)
    return AutoencoderKL(**{**autoencoder.config(), "block_out_channels": (8, 8, 8), "norm_num_groups": 4})


def encode(pixels: Pixels) -> inpainting_data.Latents:
    scaled = pixels[:, ::4, ::4, [0, 1, 2, 0]].transpose(0, 3, 1, 2).astype(np.float32) / 128 - 1
    return scaled.astype(np.float16)


def test_a_sticker_fills_its_box() -> None:
    scene = SCENES[0]
    file = vocabulary().share("known")[0].files[0]
    changed = (draw_array(scene) != draw_array(scene, [Sticker(file, (20, 30, 60, 50))])).any(axis=-1)
    rows, columns = np.flatnonzero(changed.any(axis=1)), np.flatnonzero(changed.any(axis=0))
    assert 20 <= columns[0] <= 22
    assert 57 <= columns[-1] < 60
    assert 30 <= rows[0] <= 32
    assert 47 <= rows[-1] < 50


def test_canvases_take_turns_with_names_and_are_the_same_again() -> None:
    one, again = inpainting_data.painting(5), inpainting_data.painting(5)
    assert known_names()[5] in one.prompt
    assert np.array_equal(one.pixels, again.pixels)
    assert one.prompt == again.prompt
    assert one.pixels.shape == (inpainting_data.CANVAS, inpainting_data.CANVAS, 3)
    assert 0.2 < one.mask.mean() < 0.95
    assert (inpainting_data.hidden(one)[one.mask] == 127).all()
    assert np.array_equal(inpainting_data.hidden(one)[~one.mask], one.pixels[~one.mask])


def test_canvases_show_only_known_concepts() -> None:
    novel = {concept.name for concept in vocabulary().share("novel")}
    assert not any(inpainting_data.painting(index).prompt in novel for index in range(6))


def test_canvases_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inpainting_data, "CHUNK", 2)
    drawn = [inpainting_data.painting(index) for index in range(4)]
    for start in (0, 2):
        inpainting_data._keep(inpainting_data._file(tmp_path, start), drawn[start : start + 2], encode)
    held = inpainting_data.paintings(tmp_path, 3, encode)
    assert held.truth.shape == held.seen.shape == (3, 4, 16, 16)
    assert held.masks.shape == (3, 1, 16, 16)
    assert held.prompts == [each.prompt for each in drawn[:3]]
    outside = np.broadcast_to(held.masks == 0, held.truth.shape)
    assert np.array_equal(held.truth[outside], held.seen[outside])


def test_standardised_latents_decode_to_the_same_picture(coder: AutoencoderKL) -> None:
    pixels = torch.rand(6, 3, 64, 64) * 2 - 1
    with torch.no_grad():
        before = coder.decode(coder.encode(pixels).latent_dist.mode()).sample
        autoencoder.standardise(coder, pixels)
        after = coder.encode(pixels).latent_dist
        torch.testing.assert_close(coder.decode(after.mode()).sample, before, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(after.mean.mean(dim=(0, 2, 3)), torch.zeros(4), atol=1e-3, rtol=0)
    torch.testing.assert_close(after.mean.std(dim=(0, 2, 3)), torch.ones(4), atol=1e-3, rtol=0)
    assert after.std.max() < 1e-3


def test_the_autoencoder_learns_and_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {**autoencoder.config(), "block_out_channels": (8, 8, 8), "norm_num_groups": 4}
    monkeypatch.setattr(autoencoder, "config", lambda: small)
    monkeypatch.setattr(autoencoder, "BATCH", 1)
    scenes = Corpus(np.stack([draw_array(scene) for scene in SCENES]), SCENES)
    model = autoencoder.train_autoencoder(scenes, tmp_path, seed=1, steps=1)
    again = autoencoder.train_autoencoder(scenes, tmp_path, seed=1, steps=1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert autoencoder.kept_names(model, scenes, lambda crops: [""] * len(crops)) == (0.0, 0.0)


def test_no_signal_is_left_where_painting_begins() -> None:
    schedule = diffusion.noise_schedule()
    clean, noise = torch.randn(2, 4, 4, 4), torch.randn(2, 4, 4, 4)
    last = torch.full((2,), 999)
    torch.testing.assert_close(schedule.add_noise(clean, noise, last), noise, atol=1e-3, rtol=0)
    torch.testing.assert_close(schedule.get_velocity(clean, noise, last), -clean, atol=1e-3, rtol=0)
    schedule.set_timesteps(20)
    assert schedule.timesteps[0] == 999


def test_the_reader_reads_names_as_the_classifier_does(classifier: Path) -> None:
    model = CLIPModel.from_pretrained(classifier, dtype=torch.float32).eval()
    tokens = diffusion.reading_tokenizer(classifier)("a red dog", return_tensors="pt")
    with torch.no_grad():
        theirs = model.text_model(**tokens).last_hidden_state
        ours = diffusion.reader_of(model).eval()(tokens.input_ids).last_hidden_state
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("step", [0, 9])
def test_both_lessons_give_gradients(
    artist: diffusion.Artist, classifier: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    monkeypatch.setattr(diffusion, "BATCH", 2)
    monkeypatch.setattr(diffusion, "SCENE_BATCH", 2)
    monkeypatch.setattr(diffusion, "SCENES_SHARE", 1.0)
    latents = np.random.default_rng(0).standard_normal((3, 4, 16, 16)).astype(np.float16)
    canvases = inpainting_data.Paintings(
        latents, latents, np.ones((3, 1, 16, 16), dtype=np.uint8), ["a dog", "car", "a pie"]
    )
    whole = diffusion.Captioned(latents.repeat(2, 2).repeat(2, 3), ["a dog on grass"] * 3, torch.zeros(1, 4, 32, 32))
    lesson = diffusion.DiffusionTraining(artist, diffusion.reading_tokenizer(classifier), canvases, whole, steps=10)
    loss, parts = lesson.loss(step)
    torch.autograd.backward(loss)
    assert torch.isfinite(loss)
    assert parts["scenes"] == float(step == 9)
    assert all(parameter.grad is not None for parameter in artist.denoiser.parameters())
    assert all(parameter.grad is None for parameter in artist.average.parameters())


def test_the_tool_reads_what_training_writes(
    artist: diffusion.Artist, coder: AutoencoderKL, classifier: Path, tmp_path: Path
) -> None:
    diffusion.save(artist, coder, diffusion.reading_tokenizer(classifier), tmp_path / "diffusion")
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "embedded"\nname = "mine"\n[models.replace]\nclass = "StableDiffusionInpaintPipeline"\n'
        'folder = "diffusion"\nsize = 64\nsteps = 2\nguidance = 2.0\nframe = 2\nmargin = 0.2\n'
    )
    picture = Image.fromarray(draw_array(SCENES[0]))
    mask = Image.new("L", picture.size, 0)
    mask.paste(255, (30, 30, 70, 60))
    painted = np.asarray(Models(load_profile(file)).inpaint([picture], [mask], ["a dog"])[0])
    changed = (painted != np.asarray(picture)).any(axis=-1)
    assert changed[30:60, 30:70].any()
    changed[30:60, 30:70] = False
    assert not changed.any()


@pytest.mark.slow
def test_the_pipeline_paints_what_was_taught(
    coder: AutoencoderKL, classifier: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "BATCH", 8)
    monkeypatch.setattr(diffusion, "SCENES_SHARE", 0.0)
    dice, names = np.random.default_rng(0), ["a dog", "a red car", "a cat", "a pizza"]
    looks = dice.standard_normal((4, 4, 4, 4)).repeat(4, 2).repeat(4, 3)
    which = dice.integers(0, 4, 128)
    masks = np.zeros((128, 1, 16, 16), dtype=np.uint8)
    masks[:, :, 3:13, 3:13] = 1
    truth = np.where(masks > 0, looks[which], dice.standard_normal((128, 4, 1, 1))).astype(np.float16)
    canvases = inpainting_data.Paintings(
        truth, np.where(masks > 0, 0, truth).astype(np.float16), masks, [names[i] for i in which]
    )
    artist = _taught(canvases, classifier, steps=260)
    diffusion.save(artist, coder, diffusion.reading_tokenizer(classifier), tmp_path / "pipeline")
    pipeline = StableDiffusionInpaintPipeline.from_pretrained(tmp_path / "pipeline", dtype=torch.float32)
    mask = torch.zeros(1, 1, 64, 64)
    mask[:, :, 12:52, 12:52] = 1
    for index, name in enumerate(names):
        painted = pipeline(
            prompt=[name], image=torch.zeros(1, 3, 64, 64), mask_image=mask, width=64, height=64,
            masked_image_latents=torch.zeros(1, 4, 16, 16), num_inference_steps=10, guidance_scale=1.0,
            output_type="latent", generator=torch.Generator().manual_seed(1),
        ).images[0].numpy()  # fmt: skip
        errors = [((painted - look)[:, 3:13, 3:13] ** 2).mean() for look in looks]
        assert int(np.argmin(errors)) == index
        assert errors[index] < 1.0


def _taught(canvases: inpainting_data.Paintings, classifier: Path, *, steps: int) -> diffusion.Artist:
    torch.manual_seed(0)
    reader = diffusion.reader_of(CLIPModel.from_pretrained(classifier, dtype=torch.float32))
    artist = diffusion.Artist(diffusion.network(diffusion.UNetShape(widths=(32, 48, 48), groups=8), 128), reader)
    nowhere = diffusion.Captioned(canvases.truth[:1], [""], torch.zeros(1, 4, 16, 16))
    lesson = diffusion.DiffusionTraining(
        artist, diffusion.reading_tokenizer(classifier), canvases, nowhere, steps=steps
    )
    learning = [parameter for parameter in artist.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=2e-3)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 2e-3 * min(1.0, (step + 1) / 30) * (1 - step / steps)
        loss, _ = lesson.loss(step)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
    return artist
