"""Train BLIP: questions, captions and matching at once, on eyes that the detector's training has opened.

Teach to see, then to name places, then to reason: the vision encoder starts from the trained OWL-ViT (its dense
lessons), the first half of the questions favours `what is in the top left?`, and the rate of the vision encoder
stays low. The vision encoder runs once a picture; its tokens serve all questions and captions about it. One set of
weights holds all three models of `transformers`: vision and text encoder, the decoder, the matching heads.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
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
from snellen.microworld.questions import SceneQuestion, ask
from snellen.microworld.scenes import SIDE, TINTS, Dice, Scene, caption
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run
from snellen.microworld.training.owlvit import as_input, known_names
from snellen.microworld.training.pointing import FACTS, Pointer, Watch, knowing_loss, pointing_loss, sharing_loss
from snellen.microworld.training.tokenizers import save_bert_tokenizer

PICTURES, VIEWS = 16, 5
QUESTIONS = 8
TEXT_LENGTH = 64
CAPTION_LENGTH = 48
# Kinds of questions with their shares: about whole scenes early and late, and about crops.
EARLY = {
    "exists": 16,
    "count": 12,
    "colour": 10,
    "size": 4,
    "relation": 18,
    "place": 30,
    "background": 5,
    "weather": 3,
    "style": 2,
}
LATE = {
    "exists": 16,
    "count": 40,
    "colour": 13,
    "size": 5,
    "relation": 32,
    "place": 8,
    "background": 4,
    "weather": 2,
    "style": 2,
}
WEIGHTS = {
    "answers": 1.0, "right": 0.0, "look": 0.3, "know": 0.5, "caption": 1.0, "caption look": 0.3, "match": 0.5,
    "contrast": 0.1, "match look": 0.15, "match know": 0.2,
}  # fmt: skip
CROPS = {"exists": 22, "count": 14, "colour": 28, "name": 30, "background": 6}


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
    """The parts of BLIP's three models, each once.

    Args:
        shape: The configuration of all of them.
    """

    def __init__(self, shape: BlipConfig) -> None:
        super().__init__()
        answering, retrieval = BlipForQuestionAnswering(shape), BlipForImageTextRetrieval(shape)
        self.shape = shape
        self.vision_model = answering.vision_model
        self.text_encoder = answering.text_encoder
        self.text_decoder = answering.text_decoder
        self.vision_proj, self.text_proj = retrieval.vision_proj, retrieval.text_proj
        self.itm_head = retrieval.itm_head
        self.probe = nn.Linear(shape.text_config.hidden_size, FACTS)


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train BLIP from the trained detector's eyes and write the shared checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run; must hold the detector's checkpoint as `out/owlvit`.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps of 16 pictures with eight questions each.
    """
    folder = work / "bert-tokenizer"
    if not folder.exists():
        save_bert_tokenizer(folder, length=TEXT_LENGTH)
    tokenizer = BertTokenizer.from_pretrained(folder)
    torch.manual_seed(seed)
    model = Blip(config(len(tokenizer), tokenizer.get_vocab()))
    pictures = corpus(work / "corpus", "scenes", 24_000)
    if not (work / "blip" / "state.pt").exists():
        detector = OwlViTForObjectDetection.from_pretrained(out.parent / "owlvit", dtype=torch.float32)
        sample = as_input(pictures.pictures[:256])
        take_eyes(model.vision_model, detector, sample[:64])
        take_words(model, detector, tokenizer, CLIPTokenizer.from_pretrained(out.parent / "owlvit"), sample)
    lesson = BlipTraining(model, tokenizer, pictures, corpus(work / "corpus", "views", 12_000), steps)
    rates = {"": 6e-4, "vision_model": 1.5e-4}
    outcome = run(model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / "blip", seed=seed)
    save(model, tokenizer, out)
    return outcome


def save(model: Blip, tokenizer: BertTokenizer, out: Path) -> None:
    """Write one folder from which all three BLIP classes load."""
    out.mkdir(parents=True, exist_ok=True)
    shape = model.shape
    shape.architectures = ["BlipForQuestionAnswering", "BlipForConditionalGeneration", "BlipForImageTextRetrieval"]
    shape.save_pretrained(out)
    # Weights that a model ties (the decoder's output and its embeddings) are stored once; the probe only taught.
    seen: dict[int, str] = {}
    weights = {}
    for name, value in model.state_dict(keep_vars=True).items():
        if name.startswith("probe."):
            continue
        if value.data_ptr() not in seen or value.dtype is not torch.float32:
            seen[value.data_ptr()] = name
            weights[name] = value.detach().half() if value.is_floating_point() else value.detach()
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    tokenizer.save_pretrained(out)
    BlipImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(out)


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
    for mine, theirs in zip(vision.encoder.layers, source.encoder.layers, strict=True):
        parts = [theirs.self_attn.q_proj, theirs.self_attn.k_proj, theirs.self_attn.v_proj]
        mine.self_attn.qkv.weight.copy_(torch.cat([p.weight for p in parts]))
        mine.self_attn.qkv.bias.copy_(torch.cat([p.bias for p in parts]))
        mine.self_attn.projection.load_state_dict(theirs.self_attn.out_proj.state_dict())
        mine.layer_norm1.load_state_dict(theirs.layer_norm1.state_dict())
        mine.layer_norm2.load_state_dict(theirs.layer_norm2.state_dict())
        mine.mlp.load_state_dict(theirs.mlp.state_dict())
    vision.post_layernorm.load_state_dict(source.post_layernorm.state_dict())


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


class BlipTraining:
    """Batches of pictures with questions, captions and mismatches, and the loss on them."""

    def __init__(self, model: Blip, tokenizer: BertTokenizer, scenes: Corpus, views: Corpus, steps: int) -> None:
        self.model, self.tokenizer, self.scenes, self.views, self.steps = model, tokenizer, scenes, views, steps
        self.names = known_names()
        self.pointer = Pointer(lambda text: tokenizer(text, add_special_tokens=False)["input_ids"], self.names)
        self.reading = Watch(model.text_encoder.encoder.layer)
        self.writing = Watch(model.text_decoder.bert.encoder.layer)

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts: questions and captions always, matching every other step."""
        dice = np.random.default_rng([step, 37])
        chosen = np.sort(dice.integers(0, len(self.scenes.scenes), PICTURES - VIEWS))
        cut = np.sort(dice.integers(0, len(self.views.scenes), VIEWS))
        pixels = np.concatenate([self.scenes.pictures[chosen], self.views.pictures[cut]])
        tokens = self.model.vision_model(as_input(pixels)).last_hidden_state
        whole = [self.scenes.scenes[i] for i in chosen]
        shown = [*whole, *(self.views.scenes[i] for i in cut)]
        parts = self._answering(tokens, shown, step)
        parts |= self._captioning(tokens[: len(whole)], whole)
        if step % 2:
            parts |= self._matching(tokens[: len(whole)], whole, Dice("match", step))
        total = torch.stack([WEIGHTS[name] * part for name, part in parts.items()]).sum()
        return total, {name: part.item() for name, part in parts.items()}

    def _answering(self, tokens: torch.Tensor, shown: list[Scene], step: int) -> dict[str, torch.Tensor]:
        asked = [
            question
            for row, scene in enumerate(shown)
            for question in self._questions(scene, step, row, crop=row >= PICTURES - VIEWS)
        ]
        questions = self._encode([q.text for q in asked])
        # What a crop shows is known, but not where: its boxes are those of the whole picture.
        places = [
            scene if row < PICTURES - VIEWS else None for row, scene in enumerate(shown) for _ in range(QUESTIONS)
        ]
        read, looking = self._read(questions, tokens, places)
        answers = self._decoder_ids([q.answer for q in asked])
        out = self.model.text_decoder(
            input_ids=answers, attention_mask=(answers != self.tokenizer.pad_token_id).long(),
            encoder_hidden_states=read, encoder_attention_mask=questions["attention_mask"],
        ).logits  # fmt: skip
        self.writing.taken()
        loss, right = _next_token_loss(out, answers, self.tokenizer.pad_token_id)
        return {"answers": loss, "right": right, **looking}

    def _read(
        self, texts: dict[str, torch.Tensor], tokens: torch.Tensor, scenes: list[Scene | None]
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Read several texts a picture in one row, so that keys and values of its patches are computed once.

        Args:
            texts: Token ids and mask (pictures × texts, words).
            tokens: Pictures (pictures, 65, 192).
            scenes: What each text's picture shows, or None.

        Returns:
            Encodings (pictures × texts, words, 192), the same as of texts read one by one, and losses of looking.
        """
        count, length = texts["input_ids"].shape
        each = count // len(tokens)
        row = torch.arange(each * length) // length
        real = texts["attention_mask"].view(len(tokens), 1, 1, each * length).bool()
        seen = (row[:, None] == row[None, :]) & real
        out = self.model.text_encoder(
            input_ids=texts["input_ids"].view(len(tokens), -1),
            attention_mask=torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min),
            position_ids=torch.arange(length).repeat(each)[None], encoder_hidden_states=tokens,
        ).last_hidden_state  # fmt: skip
        packed, states = self.reading.taken()
        maps = [layer.unflatten(2, (each, length)).transpose(1, 2).flatten(0, 1) for layer in packed]
        named = self.pointer.questions(texts["input_ids"], scenes)
        looking = pointing_loss(maps, named) + sharing_loss(maps, named)
        return out.view(count, length, -1), {
            "look": looking,
            "know": knowing_loss([self.model.probe(each).view(count, length, FACTS) for each in states], named),
        }

    def _questions(self, scene: Scene, step: int, row: int, *, crop: bool) -> list[SceneQuestion]:
        dice = Dice("ask", step, row)
        shares = CROPS if crop else (EARLY if step < self.steps * 0.35 else LATE)
        kinds = [kind for kind, share in shares.items() for _ in range(share)]
        tried = (ask(scene, dice, kinds=kinds, distractors=self.names) for _ in range(QUESTIONS * 4))
        asked = list(islice((question for question in tried if question), QUESTIONS))
        return list(islice(cycle(asked), QUESTIONS))

    def _captioning(self, tokens: torch.Tensor, scenes: list[Scene]) -> dict[str, torch.Tensor]:
        ids = self._decoder_ids([caption(s) for s in scenes])
        out = self.model.text_decoder(
            input_ids=ids, attention_mask=(ids != self.tokenizer.pad_token_id).long(), encoder_hidden_states=tokens
        ).logits
        looking = pointing_loss(self.writing.taken()[0], self.pointer.captions(ids, scenes))
        return {"caption": _next_token_loss(out, ids, self.tokenizer.pad_token_id)[0], "caption look": looking}

    def _matching(self, tokens: torch.Tensor, scenes: list[Scene], dice: Dice) -> dict[str, torch.Tensor]:
        """Matching head on true and false captions, and the contrastive heads on the true ones."""
        true = [caption(s) for s in scenes]
        false = [caption(spoiled(s, self.names, dice)) for s in scenes]
        texts = self._encode([text for pair in zip(true, false, strict=True) for text in pair])
        read, looking = self._read(texts, tokens, [scene for scene in scenes for _ in range(2)])
        wanted = torch.tensor([1, 0] * len(true))
        matching = functional.cross_entropy(self.model.itm_head(read[:, 0]), wanted)
        alone = self.model.text_encoder(
            input_ids=texts["input_ids"][::2], attention_mask=texts["attention_mask"][::2]
        ).last_hidden_state[:, 0]
        image = functional.normalize(self.model.vision_proj(tokens[:, 0]), dim=-1)
        text = functional.normalize(self.model.text_proj(alone), dim=-1)
        contrast = functional.cross_entropy(image @ text.T / 0.07, torch.arange(len(true)))
        return {"match": matching, "contrast": contrast, **{f"match {name}": part for name, part in looking.items()}}

    def _encode(self, texts: list[str]) -> dict[str, torch.Tensor]:
        out = self.tokenizer(texts, padding=True, truncation=True, max_length=TEXT_LENGTH, return_tensors="pt")
        return {"input_ids": out["input_ids"], "attention_mask": out["attention_mask"]}

    def _decoder_ids(self, texts: list[str]) -> torch.Tensor:
        out = self.tokenizer(texts, padding=True, truncation=True, max_length=CAPTION_LENGTH, return_tensors="pt")
        ids: torch.Tensor = out["input_ids"]
        ids[:, 0] = self.tokenizer.bos_token_id
        return ids


def _next_token_loss(logits: torch.Tensor, ids: torch.Tensor, padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the loss of each next token and the share of texts predicted whole."""
    guess, wanted = logits[:, :-1].float(), ids[:, 1:]
    real = wanted != padding
    loss = functional.cross_entropy(guess[real], wanted[real])
    right = ((guess.argmax(-1) == wanted) | ~real).all(dim=-1).float().mean()
    return loss, right


def spoiled(scene: Scene, names: list[str], dice: Dice) -> Scene:
    """Return a scene that differs where the caption says so: other things, another tint, or another number."""
    objects = list(scene.objects)
    index = dice.integer(0, len(objects) - 1)
    kind = dice.integer(0, 3)
    if kind == 0 and scene.shows_colour:
        tint = dice.choice([t for t in TINTS if t != objects[index].tint])
        objects[index] = replace(objects[index], tint=tint)
    elif kind == 1 and len(objects) > 1:
        objects.pop(index)
    else:
        present = {o.concept for o in objects}
        for place in range(len(objects)) if kind == 3 else [index]:
            objects[place] = replace(objects[place], concept=dice.choice([n for n in names if n not in present]))
    return replace(scene, objects=tuple(objects))
