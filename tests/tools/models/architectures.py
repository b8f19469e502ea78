"""Small models of the real architectures with random weights, and inputs as their processors make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from transformers import (
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2QFormerConfig,
    Blip2VisionConfig,
    CLIPVisionConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    OPTConfig,
)

VOCABULARY = 100
PICTURE = 99
SIDE = 24
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}


def _llama() -> LlamaConfig:
    return LlamaConfig(vocab_size=VOCABULARY, intermediate_size=48, num_key_value_heads=2, **SMALL)


def llava() -> tuple[Any, int]:
    """Nine patches become nine tokens."""
    vision = CLIPVisionConfig(intermediate_size=48, image_size=SIDE, patch_size=8, **SMALL)
    config = LlavaConfig(vision_config=vision, text_config=_llama(), image_token_id=PICTURE)
    return LlavaForConditionalGeneration(config), 9


def blip2() -> tuple[Any, int]:
    """Six queries become six tokens."""
    vision = Blip2VisionConfig(intermediate_size=48, image_size=SIDE, patch_size=8, **SMALL)
    queries = Blip2QFormerConfig(vocab_size=10, intermediate_size=48, encoder_hidden_size=32, **SMALL)
    text = OPTConfig(vocab_size=VOCABULARY, ffn_dim=48, max_position_embeddings=128, word_embed_proj_dim=32, **SMALL)
    config = Blip2Config(
        vision_config=vision.to_dict(),
        qformer_config=queries.to_dict(),
        text_config=text.to_dict(),
        num_query_tokens=6,
        image_token_index=PICTURE,
    )
    return Blip2ForConditionalGeneration(config), 6


def idefics3() -> tuple[Any, int]:
    """Thirty-six patches, shuffled by fours, become nine tokens."""
    vision = {"intermediate_size": 48, "image_size": SIDE, "patch_size": 4, **SMALL}
    config = Idefics3Config(
        vision_config=vision, text_config=_llama().to_dict(), scale_factor=2, image_token_id=PICTURE
    )
    return Idefics3ForConditionalGeneration(config), 9


ARCHITECTURES: dict[str, Callable[[], tuple[Any, int]]] = {"llava": llava, "blip2": blip2, "idefics3": idefics3}


def made(name: str, *, pictures: int = 2, question: int = 7) -> tuple[Any, dict[str, torch.Tensor]]:
    """Make a model, and inputs of so many pictures with questions of so many tokens."""
    torch.manual_seed(11)
    model, places = ARCHITECTURES[name]()
    model.eval()
    tokens = torch.randint(5, PICTURE - 1, (pictures, question))
    ids = torch.cat([torch.full((pictures, places), PICTURE), tokens], dim=1)
    shape = (pictures, 1, 3, SIDE, SIDE) if name == "idefics3" else (pictures, 3, SIDE, SIDE)
    return model, {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.randn(shape)}
