"""Random models of the three tools' classes, small and at the hub's shapes, in folders that a profile names."""

from __future__ import annotations

import string
from pathlib import Path

from snellen.profiles import Profile, load_profile

WORDS = ["is", "there", "a", "dog", "cat", "how", "many", "cats", "are", "in", "the", "picture", "no", "yes", "?"]
TOWER = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4, "num_attention_heads": 2}
EXACT = '[tuning]\ndtype = "float32"\n'
SHAPES = {
    "small": (TOWER, TOWER | {"num_hidden_layers": 2}, {"clip": 32, "loc": 64, "vqa": 64}, 16),
    "hub": (
        {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16},
        {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8},
        {"clip": 224, "loc": 768, "vqa": 384},
        32,
    ),
}


def save_models(folder: Path, shape: str) -> Profile:
    """Write the models of a shape, ``small`` or ``hub``, and return a profile of them."""
    import torch

    torch.manual_seed(4)
    vision, text, sides, patch = SHAPES[shape]
    _save_clip(folder / "clip", vision, text, sides["clip"], patch if shape == "small" else 14)
    _save_owlvit(folder / "loc", vision, text, sides["loc"], patch)
    _save_blip(folder / "vqa", vision, text, sides["vqa"], 16)
    entries = "\n".join(f'[models.{key}]\nfolder = "{key}"\n' for key in ("clip", "loc", "vqa"))
    tuning = "".join(
        f"[tuning.{key}]\nvectors = {vectors}\nrate = 0.01\n"
        for key, vectors in ({"clip": 3, "loc": 4, "vqa": 5} if shape == "small" else {}).items()
    )
    file = folder / "mine.toml"
    file.write_text(f'extends = "hub"\nname = "{shape}"\ndevice = "cpu"\ndtype = "float32"\n{entries}{EXACT}{tuning}')
    return load_profile(file)


def _save_clip_tokenizer(folder: Path) -> None:
    from transformers import CLIPTokenizer

    letters = string.ascii_lowercase
    vocabulary = {piece: index for index, piece in enumerate(["!", *letters, *(f"{each}</w>" for each in letters)])}
    vocabulary |= {"<|startoftext|>": len(vocabulary), "<|endoftext|>": len(vocabulary) + 1}
    CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=24).save_pretrained(folder)


def _save_clip(folder: Path, vision: dict[str, int], text: dict[str, int], side: int, patch: int) -> None:
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    config = CLIPConfig(
        text_config=text | {"vocab_size": 64, "max_position_embeddings": 24, "eos_token_id": 54, "projection_dim": 32},
        vision_config=vision | {"image_size": side, "patch_size": patch, "projection_dim": 32},
        projection_dim=32,
    )
    CLIPModel(config).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": side}, crop_size=side).save_pretrained(folder)
    _save_clip_tokenizer(folder)


def _save_owlvit(folder: Path, vision: dict[str, int], text: dict[str, int], side: int, patch: int) -> None:
    from transformers import OwlViTConfig, OwlViTForObjectDetection, OwlViTImageProcessorPil

    config = OwlViTConfig(
        text_config=text | {"vocab_size": 64, "max_position_embeddings": 24},
        vision_config=vision | {"image_size": side, "patch_size": patch},
        projection_dim=text["hidden_size"],
    )
    OwlViTForObjectDetection(config).save_pretrained(folder)
    OwlViTImageProcessorPil(size={"height": side, "width": side}).save_pretrained(folder)
    _save_clip_tokenizer(folder)


def _save_blip(folder: Path, vision: dict[str, int], text: dict[str, int], side: int, patch: int) -> None:
    from transformers import BertTokenizer, BlipConfig, BlipForQuestionAnswering, BlipImageProcessorPil

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]"]
    words = [*special, *WORDS, *string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys(words))}
    config = BlipConfig(
        text_config=text
        | {"vocab_size": len(vocabulary), "encoder_hidden_size": vision["hidden_size"], "bos_token_id": 5}
        | {"eos_token_id": 3, "sep_token_id": 3, "pad_token_id": 0, "max_position_embeddings": 24}
        | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "initializer_range": 0.2},
        vision_config=vision | {"image_size": side, "patch_size": patch},
        projection_dim=32,
        image_text_hidden_size=32,
    )
    # Question and answer share a width in BLIP; the decoder attends to questions, not to patches.
    config.text_config.encoder_hidden_size = vision["hidden_size"] = text["hidden_size"]
    config.vision_config.hidden_size = text["hidden_size"]
    config.vision_config.num_attention_heads = text["num_attention_heads"]
    BlipForQuestionAnswering(config).save_pretrained(folder)
    BlipImageProcessorPil(size={"height": side, "width": side}).save_pretrained(folder)
    tokenizer = BertTokenizer(vocab=vocabulary, model_max_length=24)
    tokenizer.add_special_tokens({"bos_token": "[DEC]"})
    tokenizer.save_pretrained(folder)
