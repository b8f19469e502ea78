"""Random painters of the class that REPLACE has: the embedded profile's parts, and the hub's made small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snellen.profiles import Profile, load_profile

SETTINGS = {
    "embedded": "size = 64\nsteps = 2\nguidance = 2.0\nframe = 2\nmargin = 0.2\n",
    "hub": "size = 64\nsteps = 2\nguidance = 7.5\n",
}


def with_painter(profile: Profile, folder: Path, shape: str, tuning: str = "") -> Profile:
    """Write a painter of a shape, ``embedded`` or ``hub``, and return the profile with it."""
    import torch

    torch.manual_seed(9)
    _save(folder / "replace", profile.resolve("clip"), shape)
    file = folder / "painting.toml"
    file.write_text(
        f'extends = "{profile.path}"\nname = "painting"\n[models.replace]\nfolder = "replace"\n{SETTINGS[shape]}'
        + "".join(f'[models.{key}]\nfolder = "{profile.resolve(key)}"\n' for key in ("clip", "loc", "vqa"))
        + f"[tuning.replace]\n{tuning}"
    )
    return load_profile(file)


def _save(folder: Path, tokenizer: Path, shape: str) -> None:
    from diffusers import AutoencoderKL, DDIMScheduler, PNDMScheduler, StableDiffusionInpaintPipeline
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    text = CLIPTextConfig(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=24, bos_token_id=53, eos_token_id=54, pad_token_id=54,
    )  # fmt: skip
    noise: dict[str, Any] = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    halvings = 3 if shape == "embedded" else 4
    StableDiffusionInpaintPipeline(
        vae=AutoencoderKL(
            down_block_types=["DownEncoderBlock2D"] * halvings, up_block_types=["UpDecoderBlock2D"] * halvings,
            block_out_channels=[8] * halvings, norm_num_groups=4, latent_channels=4, sample_size=64,
        ),
        text_encoder=CLIPTextModel(text),
        tokenizer=CLIPTokenizer.from_pretrained(tokenizer),
        unet=_network(shape),
        scheduler=DDIMScheduler(
            **noise, prediction_type="v_prediction", rescale_betas_zero_snr=True, timestep_spacing="trailing",
            clip_sample=False, steps_offset=1,
        ) if shape == "embedded" else PNDMScheduler(**noise, skip_prk_steps=True, steps_offset=1),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    ).save_pretrained(folder)  # fmt: skip


def _network(shape: str) -> Any:  # noqa: ANN401 - diffusers is untyped
    from diffusers import UNet2DConditionModel

    common: dict[str, Any] = {
        "in_channels": 9, "out_channels": 4, "layers_per_block": 1, "norm_num_groups": 4, "cross_attention_dim": 32,
        "attention_head_dim": 4,
    }  # fmt: skip
    if shape == "hub":
        return UNet2DConditionModel(sample_size=8, block_out_channels=(8, 8, 16, 16), **common)
    return UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(8, 16, 16),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        **common,
    )
