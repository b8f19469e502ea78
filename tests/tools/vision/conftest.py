"""Folders as a user would save them: every class of the hub profile, the hub's config values, less depth and width.

Widths and depths are the smallest that keep the architecture; vocabularies, special tokens, patch sizes, text lengths
and class counts are the hub's. Weights are random: what is tested is that the code reads and runs them.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from snellen.profiles import Profile, load_profile
from snellen.tools.registry import ToolContext
from snellen.tools.vision import Models
from snellen.values import Picture

SEED = 20


class MemoryPictures:
    """A picture store for tests."""

    def __init__(self) -> None:
        self.pictures: dict[str, PIL.Image.Image] = {}

    def put(self, picture: PIL.Image.Image) -> Picture:
        identity = f"{len(self.pictures):064d}"
        self.pictures[identity] = picture
        return Picture(identity, picture.width, picture.height)

    def get(self, picture_id: str) -> PIL.Image.Image:
        return self.pictures[picture_id]


@pytest.fixture
def pictures() -> MemoryPictures:
    return MemoryPictures()


@pytest.fixture(scope="session")
def noise() -> Callable[[int], PIL.Image.Image]:
    """Pictures of differing sizes, the same for the same number."""

    def make(number: int) -> PIL.Image.Image:
        random = np.random.default_rng(number)
        shape = (90 + 7 * (number % 5), 70 + 11 * (number % 4), 3)
        return PIL.Image.fromarray(random.integers(0, 256, shape, dtype=np.uint8))

    return make


@pytest.fixture(scope="session")
def hub_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for each entry of the hub profile, written with ``save_pretrained``."""
    import torch

    root = tmp_path_factory.mktemp("hub")
    torch.manual_seed(SEED)
    _save_owlvit(root / "loc")
    _save_clip(root / "clip")
    _save_blip(root)
    _save_maskformer(root / "seg")
    _save_inpainting(root / "replace")
    return root


@pytest.fixture(scope="session")
def hub_profile(hub_folders: Path) -> Profile:
    """The hub profile with its ids replaced by folders, as docs/profiles.md tells a user to do."""
    entries = "\n".join(
        f'[models.{key}]\nfolder = "{key}"\n{extra}'
        for key, extra in {
            "loc": "threshold = 0.0",
            "vqa": "max_new_tokens = 4",
            "caption": "max_new_tokens = 6",
            "match": "",
            "seg": "threshold = 0.0\noverlap = 0.0\nmask_threshold = 0.0",
            "clip": "",
            "replace": "size = 64\nsteps = 2",
        }.items()
    )
    file = hub_folders / "mine.toml"
    file.write_text(f'extends = "hub"\nname = "mine"\ndevice = "cpu"\ndtype = "float32"\n{entries}\n')
    return load_profile(file)


@pytest.fixture(scope="session")
def hub_models(hub_profile: Profile) -> Models:
    return Models(hub_profile)


@pytest.fixture
def context(pictures: MemoryPictures, hub_models: Models) -> ToolContext:
    return ToolContext(pictures, hub_models, lambda _query, _max, _candidates: [], hub_models.profile)


def _save_clip_tokenizer(folder: Path) -> None:
    """A byte-level BPE tokenizer with a few merges; special tokens have the hub's ids."""
    from transformers import CLIPTokenizer

    letters = string.ascii_lowercase + string.digits
    vocabulary = {"!": 0}
    vocabulary |= {piece: index for index, piece in enumerate([*letters, *(f"{each}</w>" for each in letters)], 1)}
    merges = [("d", "o"), ("do", "g</w>"), ("c", "a"), ("ca", "t</w>"), ("o", "f</w>")]
    vocabulary |= {"".join(pair): 100 + index for index, pair in enumerate(merges)}
    vocabulary |= {"<|startoftext|>": 49406, "<|endoftext|>": 49407}
    CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=77).save_pretrained(folder)


def _save_bert_tokenizer(folder: Path) -> None:
    """A WordPiece tokenizer whose special tokens stand where bert-base-uncased and BLIP have them."""
    from transformers import BertTokenizer

    words = [f"[unused{index}]" for index in range(30522)]
    words[0], words[100:104] = "[PAD]", ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = ["is", "there", "a", "dog", "cat", "how", "many", "cats", "are", "in", "the", "picture", "of", "no", "?"]
    words[1000 : 1000 + len(known)] = known
    words[2000:2052] = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(words)}, model_max_length=512)
    tokenizer.add_special_tokens({"bos_token": "[DEC]", "additional_special_tokens": ["[ENC]"]})
    tokenizer.save_pretrained(folder)


def _save_owlvit(folder: Path) -> None:
    from transformers import OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessorPil

    text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = OwlViTConfig(
        text_config=text | {"vocab_size": 49408, "max_position_embeddings": 16},
        vision_config=text | {"image_size": 768, "patch_size": 32},
        projection_dim=32,
    )
    OwlViTForObjectDetection(config).save_pretrained(folder)
    OwlViTImageProcessorPil().save_pretrained(folder)
    _save_clip_tokenizer(folder)


def _save_clip(folder: Path) -> None:
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config=tower | {"vocab_size": 49408, "max_position_embeddings": 77, "eos_token_id": 2},
        vision_config=tower | {"image_size": 224, "patch_size": 14},
        projection_dim=32,
    )
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 224}, crop_size=224).save_pretrained(folder)
    _save_clip_tokenizer(folder)


def _save_blip(root: Path) -> None:
    import transformers

    tower = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    for key, name in {
        "vqa": "BlipForQuestionAnswering",
        "caption": "BlipForConditionalGeneration",
        "match": "BlipForImageTextRetrieval",
    }.items():
        config = transformers.BlipConfig(
            text_config=tower | {"vocab_size": 30524, "encoder_hidden_size": 32, "bos_token_id": 30522},
            vision_config=tower | {"image_size": 384, "patch_size": 16},
            projection_dim=32,
            image_text_hidden_size=256,
        )
        getattr(transformers, name)(config).save_pretrained(root / key)
        transformers.BlipImageProcessorPil(size={"height": 384, "width": 384}).save_pretrained(root / key)
        _save_bert_tokenizer(root / key)


def _save_maskformer(folder: Path) -> None:
    import torch
    from transformers import (
        MaskFormerConfig,
        MaskFormerForInstanceSegmentation,
        MaskFormerImageProcessorPil,
        SwinConfig,
    )

    backbone = SwinConfig(
        image_size=384,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=12,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    )
    decoder = {
        "model_type": "detr",
        "d_model": 32,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "num_queries": 100,
    }
    config = MaskFormerConfig(
        backbone_config=backbone, decoder_config=decoder, fpn_feature_size=32, mask_feature_size=32, num_labels=133
    )
    model = MaskFormerForInstanceSegmentation(config)
    with torch.no_grad():
        model.class_predictor.bias[-1] = -10.0  # random queries would mostly say "no object"
    model.save_pretrained(folder)
    size = {"shortest_edge": 64, "longest_edge": 128}
    MaskFormerImageProcessorPil(size=size, size_divisor=32, ignore_index=255).save_pretrained(folder)


def _save_inpainting(folder: Path) -> None:
    from diffusers import AutoencoderKL, PNDMScheduler, StableDiffusionInpaintPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    _save_clip_tokenizer(folder / "made" / "tokenizer")
    text = CLIPTextConfig(
        vocab_size=49408, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2
    )
    StableDiffusionInpaintPipeline(
        vae=AutoencoderKL(
            in_channels=3,
            out_channels=3,
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            block_out_channels=[8, 8, 8, 8],
            norm_num_groups=4,
            latent_channels=4,
            sample_size=512,
        ),
        text_encoder=CLIPTextModel(text),
        tokenizer=CLIPTokenizer.from_pretrained(folder / "made" / "tokenizer"),
        unet=UNet2DConditionModel(
            sample_size=64,
            in_channels=9,
            out_channels=4,
            layers_per_block=1,
            block_out_channels=(8, 8, 16, 16),
            norm_num_groups=4,
            cross_attention_dim=32,
            attention_head_dim=4,
        ),
        scheduler=PNDMScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", skip_prk_steps=True, steps_offset=1
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)
