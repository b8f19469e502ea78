"""Random MaskFormers, of the embedded shape and of the hub's, and pictures of one coloured thing each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image

from snellen.profiles import Profile, load_profile
from snellen.tuning import TuningExample

SIDE = 64


def save_segmenter(folder: Path, shape: str = "embedded", *, extra: str = "") -> Profile:
    """Write a random segmenter, ``embedded`` or ``hub``, and return a profile that has nothing else."""
    import torch
    from transformers import MaskFormerForInstanceSegmentation, MaskFormerImageProcessorPil

    torch.manual_seed(7)
    model = MaskFormerForInstanceSegmentation(_config(shape))
    if shape == "embedded":
        _show_red(model.eval())
    model.save_pretrained(folder / "seg")
    sizes = (
        {"height": SIDE, "width": SIDE} if shape == "embedded" else {"shortest_edge": SIDE, "longest_edge": 2 * SIDE}
    )
    MaskFormerImageProcessorPil(size=sizes, size_divisor=32, ignore_index=255).save_pretrained(folder / "seg")
    file = folder / "segmenter.toml"
    file.write_text(
        f'extends = "{shape}"\nname = "segmenter"\ndevice = "cpu"\ndtype = "float32"\n'
        '[models.seg]\nclass = "MaskFormerForInstanceSegmentation"\nfolder = "seg"\n'
        f'threshold = 0.5\noverlap = 0.0\n[tuning]\ndtype = "float32"\n[tuning.seg]\nvectors = 8\nrate = 0.1\n{extra}'
    )
    return load_profile(file)


def _show_red(model: Any) -> None:  # noqa: ANN401
    """Let a random model see: normalise its backbone, sharpen its decoder, and draw what is red as loudly as asked.

    Without that a random model is nearly constant, and no prompt could make it say anything else.
    """
    import torch
    from torch.nn import functional

    examples = [shown(number) for number in range(6)]
    pixels = torch.stack([torch.from_numpy(np.array(each.picture)).float() for each in examples]).permute(0, 3, 1, 2)
    pixels = (pixels / 255 - 0.45) / 0.225
    inside = torch.stack([torch.from_numpy(np.array(each.masks[0])) / 255 for each in examples])
    linear = [
        each for each in model.model.transformer_module.decoder.layers.modules() if isinstance(each, torch.nn.Linear)
    ]
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, torch.nn.BatchNorm2d):
                layer.train()
                layer.momentum = 0.5
        for _ in range(8):
            model.model.pixel_level_module(pixels)
        seen = model.eval().model.pixel_level_module(pixels).decoder_last_hidden_state
        red = functional.interpolate(inside[:, None], size=seen.shape[-2:], mode="area").flatten() > 0.5
        weight = (1 + 19.0 * red)[:, None].sqrt()
        direction = torch.linalg.lstsq(
            seen.permute(0, 2, 3, 1).flatten(0, 2) * weight, (2.0 * red - 1)[:, None] * weight
        )
        last = [each for each in model.mask_embedder.modules() if isinstance(each, torch.nn.Linear)][-1]
        last.weight.copy_(torch.outer(direction.solution[:, 0], 3 * torch.randn(last.in_features)))
        last.bias.zero_()
        for each in linear:
            each.weight *= 12
        model.class_predictor.weight *= 20


def _config(shape: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - transformers is imported late
    from transformers import MaskFormerConfig, ResNetConfig, SwinConfig

    if shape == "embedded":
        backbone = ResNetConfig(
            embedding_size=16, hidden_sizes=[16, 24, 32], depths=[1, 1, 1], layer_type="basic",
            out_features=["stage1", "stage2", "stage3"],
        )  # fmt: skip
    else:
        backbone = SwinConfig(
            image_size=384, embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 1, 2, 2], window_size=12,
            out_features=["stage1", "stage2", "stage3", "stage4"],
        )  # fmt: skip
    width, queries = (32, 10) if shape == "embedded" else (256, 100)
    decoder = {
        "model_type": "detr", "d_model": width, "encoder_layers": 0, "decoder_layers": 2, "num_queries": queries,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
        "dropout": 0.0,
    }  # fmt: skip
    return MaskFormerConfig(
        backbone_config=backbone, decoder_config=decoder, fpn_feature_size=width, mask_feature_size=width,
        num_labels=5, mask_weight=20.0, dice_weight=1.0, init_xavier_std=1.0,
    )  # fmt: skip


def shown(number: int, *, side: int = SIDE, things: int = 1, concept: str = "panda") -> TuningExample:
    """A noisy picture with red squares, and their masks."""
    random = np.random.default_rng(number)
    pixels = random.integers(60, 120, (side, side, 3), dtype=np.uint8)
    masks, boxes = [], []
    for index in range(things):
        size = side // 4
        x, y = (
            index * side // things + int(random.integers(0, side // things - size)),
            int(random.integers(0, side - size)),
        )
        mask = np.zeros((side, side), dtype=np.uint8)
        mask[y : y + size, x : x + size] = 255
        pixels[mask > 0] = (230, 20, 20)
        masks.append(PIL.Image.fromarray(mask))
        boxes.append((x, y, x + size, y + size))
    return TuningExample(PIL.Image.fromarray(pixels), concept, tuple(boxes), masks=tuple(masks))
