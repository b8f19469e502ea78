"""Small models of the real architectures with random weights, their processors, and inputs as these make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2Processor,
    Blip2QFormerConfig,
    Blip2VisionConfig,
    BlipConfig,
    BlipForQuestionAnswering,
    CLIPConfig,
    CLIPModel,
    CLIPVisionConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    IdeficsConfig,
    IdeficsForVisionText2Text,
    IdeficsProcessor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    OPTConfig,
    PreTrainedTokenizerFast,
    ProcessorMixin,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.idefics.image_processing_pil_idefics import IdeficsImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

from snellen.models.loading import Checkpoint
from snellen.models.under_test import AnswererModel, Card, ContrastiveModel, InterleavedModel, LocalModel

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


def idefics() -> tuple[Any, int]:
    """One token stands for a picture, which every later one looks at through a resampler."""
    config = IdeficsConfig(
        vocab_size=VOCABULARY, intermediate_size=48, alpha_initializer="ones", use_resampler=True, **SMALL,
        vision_config={
            "embed_dim": 32, "intermediate_size": 48, "image_size": SIDE, "patch_size": 8, "num_hidden_layers": 2,
            "num_attention_heads": 4,
        },
        perceiver_config={
            "use_resampler": True, "resampler_n_latents": 4, "resampler_depth": 1, "resampler_n_heads": 2,
            "resampler_head_dim": 16,
        },
    )  # fmt: skip
    return IdeficsForVisionText2Text(config), 1


ARCHITECTURES: dict[str, Callable[[], tuple[Any, int]]] = {
    "llava": llava, "blip2": blip2, "idefics3": idefics3, "idefics": idefics,
}  # fmt: skip


def made(name: str, *, pictures: int = 2, question: int = 7) -> tuple[Any, dict[str, torch.Tensor]]:
    """Make a model, and inputs of so many pictures with questions of so many tokens."""
    torch.manual_seed(11)
    model, places = ARCHITECTURES[name]()
    model.eval()
    tokens = torch.randint(5, PICTURE - 1, (pictures, question))
    ids = torch.cat([torch.full((pictures, places), PICTURE), tokens], dim=1)
    shape = (pictures, 1, 3, SIDE, SIDE) if name.startswith("idefics") else (pictures, 3, SIDE, SIDE)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.randn(shape)}
    if name == "idefics":
        inputs["image_attention_mask"] = torch.ones(*ids.shape, 1, dtype=torch.long)
    return model, inputs


WORDS = tuple(
    """
    <pad> <s> </s> <unk> <fake_token_around_image> <global-img> <end_of_utterance> User : Assistant ? .
    , Question Answer is there a an the dog cat yes no unknown what colour house red blue left of to one
    1 2 3 4 5 6 7 8 9 10
    """.split()  # noqa: SIM905 - thus it can be read
)
CHAT = (
    "{% for m in messages %}User: {% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %} {% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """Read words between spaces; those that are not listed are unknown."""
    table = {word: place for place, word in enumerate(WORDS)} | {"<image>": PICTURE}
    learner = Tokenizer(models.WordLevel(table, unk_token="<unk>"))
    learner.pre_tokenizer = pre_tokenizers.Whitespace()
    signs = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"]
    return PreTrainedTokenizerFast(
        tokenizer_object=learner,
        unk_token="<unk>",
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=signs,
    )


def processor(name: str) -> ProcessorMixin:
    """Make what prepares questions for a model of `ARCHITECTURES`."""
    square = {"height": SIDE, "width": SIDE}
    if name == "idefics3":
        side = {"longest_edge": SIDE}
        pixels = Idefics3ImageProcessorPil(size=side, max_image_size=side, do_image_splitting=False)
        return Idefics3Processor(pixels, tokenizer(), image_seq_len=9, chat_template=CHAT)
    if name == "idefics":
        return IdeficsProcessor(IdeficsImageProcessorPil(image_size=SIDE, size=square), tokenizer(), image_size=SIDE)
    pixels = CLIPImageProcessorPil(size=square, crop_size=square, do_center_crop=False)
    if name == "blip2":
        return Blip2Processor(pixels, tokenizer(), num_query_tokens=6)
    return LlavaProcessor(
        pixels, tokenizer(), patch_size=8, vision_feature_select_strategy="default", chat_template=CHAT,
        num_additional_image_tokens=1,
    )  # fmt: skip


def local(name: str, *, batch: int = 8) -> LocalModel:
    """Make an adapter over a random model."""
    torch.manual_seed(11)
    model, _ = ARCHITECTURES[name]()
    model.generation_config.update(pad_token_id=0, eos_token_id=2, bos_token_id=1)
    pictures = 2 if name.startswith("idefics") else 1
    card = Card(name, "0" * 16, type(model).__name__, 1, "tokens", pictures=pictures, answers=True)
    kind = InterleavedModel if name == "idefics" else LocalModel
    return kind(model.eval(), processor(name), card, batch=batch)


def contrastive() -> ContrastiveModel:
    """Make an adapter over a random CLIP."""
    torch.manual_seed(11)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48}
    model = CLIPModel(
        CLIPConfig(
            text_config={**shape, "vocab_size": VOCABULARY, "eos_token_id": 2, "max_position_embeddings": 20},
            vision_config={**shape, "image_size": SIDE, "patch_size": 8},
            projection_dim=16,
        )
    )
    square = {"height": SIDE, "width": SIDE}
    pixels = CLIPImageProcessorPil(size=square, crop_size=square, do_center_crop=False)
    card = Card("clip", "0" * 16, "CLIPModel", 1, "similarity", pictures=1, answers=False)
    checkpoint = Checkpoint(model.eval(), tokenizer(), pixels, torch.device("cpu"), torch.float32)
    return ContrastiveModel(checkpoint, card)


def answerer() -> AnswererModel:
    """Make an adapter over a random BLIP."""
    torch.manual_seed(11)
    # As BLIP's eyes begin by default, they see nothing.
    vision = {"intermediate_size": 48, "image_size": SIDE, "patch_size": 8, "initializer_range": 0.2, **SMALL}
    text = {
        "intermediate_size": 48, "vocab_size": VOCABULARY, "max_position_embeddings": 64, "encoder_hidden_size": 32,
        "pad_token_id": 0, "bos_token_id": 1, "sep_token_id": 2, "eos_token_id": 2, "is_decoder": True,
        "initializer_range": 0.2, **SMALL,
    }  # fmt: skip
    model = BlipForQuestionAnswering(BlipConfig(vision_config=vision, text_config=text))
    pixels = CLIPImageProcessorPil(size={"height": SIDE, "width": SIDE}, do_center_crop=False)
    checkpoint = Checkpoint(model.eval(), tokenizer(), pixels, torch.device("cpu"), torch.float32)
    card = Card("blip", "0" * 16, "BlipForQuestionAnswering", 1, "tokens", pictures=1, answers=True)
    return AnswererModel(checkpoint, card)
