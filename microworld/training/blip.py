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
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file
from torch.nn import functional
from transformers import (
    BertTokenizer,
    BlipConfig,
    CLIPTokenizer,
    OwlViTForObjectDetection,
)

from snellen.microworld.questions import SceneQuestion, ask
from snellen.microworld.scenes import TINTS, Dice, Scene, caption
from snellen.microworld.training.blip_model import TEXT_LENGTH, Blip, config, save, save_weights, take_eyes, take_words
from snellen.microworld.training.corpus import Corpus, corpus
from snellen.microworld.training.detection_targets import as_input, dense_targets, known_names, objects_of
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, has_begun, run
from snellen.microworld.training.pointing import FACTS, Pointer, Watch, knowing_loss, pointing_loss, sharing_loss
from snellen.microworld.training.tokenizers import save_bert_tokenizer

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
    "exists": 14,
    "count": 40,
    "colour": 20,
    "size": 5,
    "relation": 26,
    "place": 8,
    "background": 3,
    "weather": 5,
    "style": 4,
}
WEIGHTS = {
    "answers": 1.0, "right": 0.0, "look": 0.3, "know": 0.5, "caption": 1.0, "caption look": 0.3, "match": 0.5,
    "contrast": 0.1, "match look": 0.15, "match know": 0.2, "name": 0.3,
}  # fmt: skip
CROPS = {"exists": 22, "count": 14, "colour": 28, "name": 30, "background": 6}


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
    if not has_begun(work / "blip"):
        detector = OwlViTForObjectDetection.from_pretrained(out.parent / "owlvit", dtype=torch.float32)
        sample = as_input(pictures.pictures[:256])
        take_eyes(model.vision_model, detector, sample[:64])
        take_words(model, detector, tokenizer, CLIPTokenizer.from_pretrained(out.parent / "owlvit"), sample)
    lesson = BlipTraining(model, tokenizer, pictures, corpus(work / "corpus", "views", 12_000), steps)
    rates = {"": 6e-4, "vision_model": 1.5e-4}
    outcome = run(model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / "blip", seed=seed)
    save(model, tokenizer, out)
    return outcome


def continue_training(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train the BLIP of `out` further, on other and harder scenes, and overwrite it.

    Every patch is told what it shows as well, by a head that is thrown away afterwards.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint.
        seed: Seed of the run.
        steps: Optimizer steps of 18 pictures with four questions each.
    """
    tokenizer = BertTokenizer.from_pretrained(out)
    torch.manual_seed(seed)
    model = Blip(BlipConfig.from_pretrained(out), names=len(known_names()))
    # Tied weights and probes are not in the file.
    model.load_state_dict(load_file(out / "model.safetensors"), strict=False)
    series = f"continued-{seed}"
    scenes = corpus(work / "corpus", "hard", 24_000, series=series)
    views = corpus(work / "corpus", "views", 4_000, series=series)
    lesson = BlipTraining(model, tokenizer, scenes, views, steps, continued=True, seed=seed)
    rates = {"": 3e-4, "vision_model": 1.5e-4, "name_probe": 3e-3, "probe": 1e-3}
    outcome = run(model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / "blip-continued", seed=seed)
    save_weights(model, out)
    return outcome


class BatchShape(NamedTuple):
    """Number of whole scenes and of crops in a batch, and of questions about each."""

    scenes: int
    views: int
    questions: int


class BlipTraining:
    """Batches of pictures with questions, captions and mismatches, and the loss on them.

    Args:
        model: BLIP.
        tokenizer: Its tokenizer.
        scenes: Whole scenes.
        views: Crops of scenes.
        steps: Optimizer steps of the run.
        continued: Whether BLIP can see and name already, so that the early lessons are left out.
        seed: Seed of the choice of pictures and questions.
    """

    def __init__(
        self,
        model: Blip,
        tokenizer: BertTokenizer,
        scenes: Corpus,
        views: Corpus,
        steps: int,
        *,
        continued: bool = False,
        seed: int = 0,
    ) -> None:
        self.model, self.tokenizer, self.scenes, self.views, self.steps = model, tokenizer, scenes, views, steps
        self.continued, self.seed = continued, seed
        self.batch = BatchShape(16, 2, 4) if continued else BatchShape(11, 5, 8)
        self.names = known_names()
        self._index = {name: index for index, name in enumerate(self.names)}
        self.pointer = Pointer(lambda text: tokenizer(text, add_special_tokens=False)["input_ids"], self.names)
        self.reading = Watch(model.text_encoder.encoder.layer)
        self.writing = Watch(model.text_decoder.bert.encoder.layer)

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its parts: questions and captions always, matching every other step."""
        dice = np.random.default_rng([step, 37, self.seed])
        chosen = np.sort(dice.integers(0, len(self.scenes.scenes), self.batch.scenes))
        cut = np.sort(dice.integers(0, len(self.views.scenes), self.batch.views))
        pixels = np.concatenate([self.scenes.pictures[chosen], self.views.pictures[cut]])
        tokens = self.model.vision_model(as_input(pixels)).last_hidden_state
        whole = [self.scenes.scenes[i] for i in chosen]
        shown = [*whole, *(self.views.scenes[i] for i in cut)]
        parts = self._answering(tokens, shown, step)
        parts |= self._captioning(tokens[: len(whole)], whole)
        if self.continued:
            parts |= self._naming(tokens[: len(whole), 1:], whole)
        if step % (6 if self.continued else 2) == 1:
            parts |= self._matching(tokens[: len(whole)], whole, Dice("match", self.seed, step))
        total = torch.stack([WEIGHTS[name] * part for name, part in parts.items()]).sum()
        return total, {name: part.item() for name, part in parts.items()}

    def _naming(self, patches: torch.Tensor, scenes: list[Scene]) -> dict[str, torch.Tensor]:
        targets = dense_targets([objects_of(scene, self._index) for scene in scenes], np.zeros(2, dtype=np.int64))
        covered = targets.names >= 0
        told = self.model.name_probe(patches)[covered].float()
        return {"name": functional.cross_entropy(told, targets.names[covered])}

    def _answering(self, tokens: torch.Tensor, shown: list[Scene], step: int) -> dict[str, torch.Tensor]:
        asked = [
            question
            for row, scene in enumerate(shown)
            for question in self._questions(scene, step, row, crop=row >= self.batch.scenes)
        ]
        questions = self._encode([q.text for q in asked])
        # What a crop shows is known, but not where: its boxes are those of the whole picture.
        places = [
            scene if row < self.batch.scenes else None
            for row, scene in enumerate(shown)
            for _ in range(self.batch.questions)
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
        dice = Dice("ask", self.seed, step, row)
        early = not self.continued and step < self.steps * 0.35
        shares = CROPS if crop else (EARLY if early else LATE)
        kinds = [kind for kind, share in shares.items() for _ in range(share)]
        tried = (ask(scene, dice, kinds=kinds, distractors=self.names) for _ in range(self.batch.questions * 4))
        asked = list(islice((question for question in tried if question), self.batch.questions))
        return list(islice(cycle(asked), self.batch.questions))

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
