"""Parts of BLIP, and where they begin: eyes and words are taken from the trained detector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional
from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForImageTextRetrieval,
    BlipForQuestionAnswering,
    BlipImageProcessorPil,
    CLIPTokenizer,
    OwlViTForObjectDetection,
)

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import SIDE
from snellen.microworld.training.detection_targets import known_names
from snellen.microworld.training.pointing import FACTS

TEXT_LENGTH = 64


def config(tokens: int, special: dict[str, int]) -> BlipConfig:
    """Return BLIP's shape: the detector's ViT, text encoder and decoder of 3 × 192 each."""
    text = {
        "vocab_size": tokens, "hidden_size": 192, "encoder_hidden_size": 192, "intermediate_size": 576,
        "num_hidden_layers": 3, "num_attention_heads": 6, "max_position_embeddings": TEXT_LENGTH,
        "projection_dim": 64, "bos_token_id": special["[DEC]"], "sep_token_id": special["[SEP]"],
        "eos_token_id": special["[SEP]"], "pad_token_id": special["[PAD]"],
        "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "label_smoothing": 0.0,
    }  # fmt: skip
    vision = {
        "hidden_size": 192, "intermediate_size": 768, "num_hidden_layers": 4, "num_attention_heads": 6,
        "image_size": SIDE, "patch_size": 16, "hidden_act": "gelu",
    }  # fmt: skip
    return BlipConfig(text_config=text, vision_config=vision, projection_dim=64, image_text_hidden_size=64)


class Blip(nn.Module):
    """The parts of BLIP's three models, each once, and the probes that teach them.

    Args:
        shape: The configuration of all of them.
        names: Names that a probe tells patches apart by; without them there is no such probe.
    """

    def __init__(self, shape: BlipConfig, *, names: int = 0) -> None:
        super().__init__()
        answering, retrieval = BlipForQuestionAnswering(shape), BlipForImageTextRetrieval(shape)
        self.shape = shape
        self.vision_model = answering.vision_model
        self.text_encoder = answering.text_encoder
        self.text_decoder = answering.text_decoder
        self.vision_proj, self.text_proj = retrieval.vision_proj, retrieval.text_proj
        self.itm_head = retrieval.itm_head
        self.probe = nn.Linear(shape.text_config.hidden_size, FACTS)
        if names:
            self.name_probe = nn.Linear(shape.vision_config.hidden_size, names)


def save(model: Blip, tokenizer: BertTokenizer, out: Path) -> None:
    """Write one folder from which all three BLIP classes load."""
    out.mkdir(parents=True, exist_ok=True)
    shape = model.shape
    shape.architectures = ["BlipForQuestionAnswering", "BlipForConditionalGeneration", "BlipForImageTextRetrieval"]
    shape.save_pretrained(out)
    save_weights(model, out)
    tokenizer.save_pretrained(out)
    BlipImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(out)


def save_weights(model: Blip, out: Path) -> None:
    """Write the weights (fp16) of all three classes.

    Weights that a model ties (the decoder's output and its embeddings) are stored once; the probes only taught.
    """
    seen: dict[int, str] = {}
    weights = {}
    for name, value in model.state_dict(keep_vars=True).items():
        if name.startswith(("probe.", "name_probe.")):
            continue
        if value.data_ptr() not in seen or value.dtype is not torch.float32:
            seen[value.data_ptr()] = name
            weights[name] = value.detach().half() if value.is_floating_point() else value.detach()
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})


@torch.no_grad()
def take_eyes(vision: Any, detector: OwlViTForObjectDetection, sample: torch.Tensor) -> None:  # noqa: ANN401 - untyped
    """Copy the detector's vision encoder into BLIP's.

    OWL-ViT normalises the embedded patches before its first layer, BLIP does not: the normalisation's centring and
    gain are linear and folded into the embedding, its division replaced by the mean deviation over `sample`. Later
    layers normalise their inputs themselves, so little is lost, and training mends it.

    Args:
        vision: BLIP's vision model.
        detector: The trained detector.
        sample: Pictures (B, 3, 128, 128) on which the deviation is measured.
    """
    source = detector.owlvit.vision_model
    norm, embedding = source.pre_layernorm, source.embeddings
    deviation = embedding(sample).std(dim=-1, correction=0).mean(dim=0)
    width = norm.weight.shape[0]
    centre = torch.eye(width) - 1.0 / width
    gain = (norm.weight[:, None] * centre) / deviation[1:].mean()
    target = vision.embeddings
    target.patch_embedding.weight.copy_(torch.einsum("oh,hcij->ocij", gain, embedding.patch_embedding.weight))
    target.patch_embedding.bias.zero_()
    positions = embedding.position_embedding.weight @ gain.T + norm.bias
    first = (embedding.class_embedding + embedding.position_embedding.weight[0]) @ (norm.weight[:, None] * centre).T
    positions[0] = first / deviation[0] + norm.bias
    target.class_embedding.zero_()
    target.position_embedding.copy_(positions[None])
    take_layers(vision, source)
    vision.post_layernorm.load_state_dict(source.post_layernorm.state_dict())


@torch.no_grad()
def take_layers(vision: Any, source: Any) -> None:  # noqa: ANN401 - untyped
    """Copy the detector's layers into an encoder that has as many or fewer, with queries, keys and values in one."""
    for mine, theirs in zip(vision.encoder.layers, source.encoder.layers, strict=False):
        parts = [theirs.self_attn.q_proj, theirs.self_attn.k_proj, theirs.self_attn.v_proj]
        mine.self_attn.qkv.weight.copy_(torch.cat([part.weight for part in parts]))
        if mine.self_attn.qkv.bias is not None:
            mine.self_attn.qkv.bias.copy_(torch.cat([part.bias for part in parts]))
        mine.self_attn.projection.load_state_dict(theirs.self_attn.out_proj.state_dict())
        mine.layer_norm1.load_state_dict(theirs.layer_norm1.state_dict())
        mine.layer_norm2.load_state_dict(theirs.layer_norm2.state_dict())
        mine.mlp.load_state_dict(theirs.mlp.state_dict())


@torch.no_grad()
def take_words(
    model: Blip, detector: OwlViTForObjectDetection, words: BertTokenizer, read: CLIPTokenizer, sample: torch.Tensor
) -> None:
    """Let words begin where the detector has learned to find what they mean.

    The detector scores a patch by the cosine of its class embedding with a name's text vector. A linear map from
    BLIP's patch tokens to those class embeddings is fitted, and becomes key and value of four heads of every
    cross-attention of the text encoder; the name's text vector becomes the embedding of its words, which the same
    heads take as queries. So a word looks at its thing from the first step, and training has to learn one way of
    looking instead of 230.

    Args:
        model: BLIP with the detector's eyes.
        detector: The trained detector.
        words: BLIP's tokenizer.
        read: The detector's tokenizer.
        sample: Pictures (B, 3, 128, 128) to fit the map on.
    """
    seen = model.vision_model(sample).last_hidden_state[:, 1:].flatten(0, 1)
    features, _ = detector.image_embedder(sample)
    meant = functional.normalize(detector.class_head.dense0(features.flatten(1, 2)), dim=-1).flatten(0, 1)
    width = meant.shape[-1]
    inputs = torch.cat([seen, torch.ones(len(seen), 1)], dim=1)
    gram = inputs.T @ inputs + 1e-3 * len(inputs) * torch.eye(inputs.shape[1])
    fitted = torch.linalg.solve(gram, inputs.T @ (meant * width**0.5)).T
    for layer in model.text_encoder.encoder.layer:
        cross = layer.crossattention
        cross.self.query.weight[:width] = 0.0
        cross.self.query.weight[:width, :width].fill_diagonal_(1.0)
        for part in (cross.self.key, cross.self.value):
            part.weight[:width], part.bias[:width] = fitted[:, :-1], fitted[:, -1]
        cross.output.dense.weight[:width, :width].fill_diagonal_(0.5)
    vectors = _word_vectors(detector, words, read)
    for embeddings in (model.text_encoder.embeddings, model.text_decoder.bert.embeddings):
        table = embeddings.word_embeddings.weight
        for token, vector in vectors.items():
            table[token, :width] = vector * 0.04 * width**0.5


def _word_vectors(
    detector: OwlViTForObjectDetection, words: BertTokenizer, read: CLIPTokenizer
) -> dict[int, torch.Tensor]:
    """Return a unit vector for each word of a known name, by token: of the name it is, or of those it is part of."""
    names = known_names()
    tokens = read(names, padding="max_length", truncation=True, max_length=read.model_max_length, return_tensors="pt")
    vectors = detector.owlvit.get_text_features(tokens.input_ids, tokens.attention_mask).pooler_output
    vectors = functional.normalize(vectors, dim=-1)
    found: dict[int, list[torch.Tensor]] = {}
    alone = {name: vector for name, vector in zip(names, vectors, strict=True) if " " not in name}
    for name, vector in zip(names, vectors, strict=True):
        for word in name.split():
            for form in {word, plural(word)}:
                ids = words(form, add_special_tokens=False)["input_ids"]
                if len(ids) == 1:
                    found.setdefault(ids[0], []).append(alone.get(word, vector))
    return {token: functional.normalize(torch.stack(items).mean(0), dim=-1) for token, items in found.items()}
