"""Small LLaVA, BLIP-2 and Idefics3 with eyes that begin as the detector's, and the tokenizer that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import (
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2Processor,
    Blip2QFormerConfig,
    Blip2VisionConfig,
    BlipImageProcessorPil,
    CLIPVisionConfig,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    OPTConfig,
    OwlViTForObjectDetection,
    PreTrainedTokenizerFast,
)
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

from snellen.microworld.scenes import SIDE
from snellen.microworld.training.blip_model import take_layers
from snellen.microworld.training.exam import TAUGHT
from snellen.microworld.training.tokenizers import words

WIDTH, LAYERS, HEADS = 128, 3, 4
"""The decoder's width, layers and heads."""
VISION: dict[str, Any] = {
    "hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 3, "num_attention_heads": 6,
    "image_size": SIDE, "patch_size": 16, "hidden_act": "gelu",
}  # fmt: skip
"""The eyes: the detector's, of whose layers they have the first three."""
QUERIES = 16
SIGNS = ("<pad>", "<s>", "</s>", "<unk>", "<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>")
CHAT = (
    "{% for message in messages %}{{ 'User: ' if message['role'] == 'user' else 'Assistant: ' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image> {% else %}{{ part['text'] }} {% endif %}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
PLAIN = "Question: {question} Answer:"


def tokenizer() -> PreTrainedTokenizerFast:
    """Make a tokenizer of whole words in lower case; each word of the microworld has a token."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    said = {word for change in TAUGHT.values() for phrase in change.said for word in phrase.split()}
    listed = sorted({*words(), *said, "user", "assistant", "question", "answer", *map(str, range(11)), *"?.,:'-"})
    table = {word: place for place, word in enumerate(dict.fromkeys([*SIGNS, *listed]))}
    reader = Tokenizer(models.WordLevel(table, unk_token="<unk>"))  # noqa: S106 - a sign for words that are not listed
    reader.normalizer = normalizers.Lowercase()
    reader.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=reader,
        pad_token="<pad>",  # noqa: S106 - as above
        bos_token="<s>",  # noqa: S106
        eos_token="</s>",  # noqa: S106
        unk_token="<unk>",  # noqa: S106
        additional_special_tokens=list(SIGNS[4:]),
        model_max_length=256,
    )


@dataclass(frozen=True)
class ModelInTraining:
    """A model that is taught.

    Attributes:
        model: Of its class of transformers.
        processor: What prepares its inputs, in tests and ever after.
        see: From pictures (B, 3, 128, 128) in [-1, 1] to tokens (B, T, width) as the decoder reads them.
        read: From embeddings, mask and positions to logits.
        prompt: A question's text with the signs for a picture.
    """

    model: Any
    processor: Any
    see: Callable[[torch.Tensor], torch.Tensor]
    read: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
    prompt: Callable[[str], str]


def _llama(size: int) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=size, hidden_size=WIDTH, intermediate_size=3 * WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=256, tie_word_embeddings=True,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip


def _spoken(text: str) -> str:
    return f"User: <image> {text} Assistant:"


def llava(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """LLaVA: patches, projected, stand before the question."""
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**VISION), text_config=_llama(len(reader)),
        image_token_id=reader.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1, vision_feature_select_strategy="default", tie_word_embeddings=True,
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    tower, eyes = model.model.vision_tower, detector.owlvit.vision_model
    tower = getattr(tower, "vision_model", tower)
    tower.embeddings.load_state_dict(eyes.embeddings.state_dict(), strict=False)
    tower.pre_layrnorm.load_state_dict(eyes.pre_layernorm.state_dict())
    for mine, theirs in zip(tower.encoder.layers, eyes.encoder.layers, strict=False):
        mine.load_state_dict(theirs.state_dict())
    pixels = CLIPImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    processor = LlavaProcessor(
        pixels, reader, patch_size=16, vision_feature_select_strategy="default", chat_template=CHAT,
        num_additional_image_tokens=1,
    )  # fmt: skip
    return ModelInTraining(
        model,
        processor,
        lambda seen: torch.stack(list(model.model.get_image_features(pixel_values=seen).pooler_output)),
        lambda embeds, mask, places: model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits,
        _spoken,
    )


def blip2(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """BLIP-2: a few queries look at the patches, and stand before the question."""
    queries = Blip2QFormerConfig(
        vocab_size=8, hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=2, num_attention_heads=HEADS,
        encoder_hidden_size=192, cross_attention_frequency=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    text = OPTConfig(
        vocab_size=len(reader), hidden_size=WIDTH, ffn_dim=3 * WIDTH, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, max_position_embeddings=128, word_embed_proj_dim=WIDTH, dropout=0.0,
        pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    config = Blip2Config(
        vision_config=Blip2VisionConfig(**VISION).to_dict(), qformer_config=queries.to_dict(),
        text_config=text.to_dict(),
        num_query_tokens=QUERIES, image_token_index=reader.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    model = Blip2ForConditionalGeneration(config)
    _take_eyes(model.vision_model, detector)
    pixels = BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return ModelInTraining(
        model,
        Blip2Processor(pixels, reader, num_query_tokens=QUERIES),
        lambda seen: model.get_image_features(pixel_values=seen, return_dict=True).pooler_output,
        lambda embeds, mask, places: (
            model.language_model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits
        ),
        lambda text: "<image>" + PLAIN.format(question=text),
    )


def idefics3(reader: PreTrainedTokenizerFast, detector: OwlViTForObjectDetection) -> ModelInTraining:
    """Idefics3: patches, shuffled by fours, stand where the prompt says."""
    config = Idefics3Config(
        vision_config=VISION, text_config=_llama(len(reader)).to_dict(), scale_factor=2, pad_token_id=0,
        image_token_id=reader.convert_tokens_to_ids("<image>"), tie_word_embeddings=True,
    )  # fmt: skip
    model = Idefics3ForConditionalGeneration(config)
    tower, eyes = model.model.vision_model, detector.owlvit.vision_model
    with torch.no_grad():
        weight, places, shift = _folded(detector)
        tower.embeddings.patch_embedding.weight.copy_(weight)
        tower.embeddings.patch_embedding.bias.zero_()
        tower.embeddings.position_embedding.weight.copy_(places[1:] + shift)
    for mine, theirs in zip(tower.encoder.layers, eyes.encoder.layers, strict=False):
        mine.load_state_dict(theirs.state_dict())
    longest = {"longest_edge": SIDE}
    pixels = Idefics3ImageProcessorPil(
        size=longest, max_image_size=longest, do_image_splitting=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    tokens = (SIDE // 16) ** 2 // 4
    return ModelInTraining(
        model,
        Idefics3Processor(pixels, reader, image_seq_len=tokens, chat_template=CHAT),
        lambda seen: torch.stack(list(model.model.get_image_features(pixel_values=seen[:, None]).pooler_output)),
        lambda embeds, mask, places: model(inputs_embeds=embeds, attention_mask=mask, position_ids=places).logits,
        _spoken,
    )


ARCHITECTURES: dict[str, Callable[[PreTrainedTokenizerFast, OwlViTForObjectDetection], ModelInTraining]] = {
    "llava": llava,
    "blip2": blip2,
    "idefics3": idefics3,
}


@torch.no_grad()
def _folded(detector: OwlViTForObjectDetection) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Fold the detector's first normalisation into its embeddings, for eyes that have none (as BLIP's, see `blip`)."""
    eyes = detector.owlvit.vision_model
    norm, embedding = eyes.pre_layernorm, eyes.embeddings
    width = norm.weight.shape[0]
    grain = torch.rand(64, 3, SIDE, SIDE).mul(2).sub(1)
    deviation = embedding(grain).std(dim=-1, correction=0).mean(dim=0)
    gain = norm.weight[:, None] * (torch.eye(width) - 1.0 / width) / deviation[1:].mean()
    weight = torch.einsum("oh,hcij->ocij", gain, embedding.patch_embedding.weight)
    return weight, embedding.position_embedding.weight @ gain.T, norm.bias


@torch.no_grad()
def _take_eyes(vision: Any, detector: OwlViTForObjectDetection) -> None:  # noqa: ANN401 - a module of transformers
    """Copy the detector's eyes into BLIP-2's, whose queries, keys and values are one matrix."""
    weight, places, shift = _folded(detector)
    vision.embeddings.patch_embedding.weight.copy_(weight)
    vision.embeddings.patch_embedding.bias.zero_()
    vision.embeddings.class_embedding.zero_()
    vision.embeddings.position_embedding.copy_((places + shift)[None])
    take_layers(vision, detector.owlvit.vision_model)
