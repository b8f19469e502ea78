"""Train the models under test: small LLaVA, BLIP-2 and Idefics3, some of them with a part of the lessons left out.

Their eyes begin as the detector's, whose patches already know what they show. A picture goes through the eyes once;
its tokens serve several questions. Which lessons a model never had is in `planted.json`: an investigation shall find
it, so nothing but the training and the benchmark of investigations reads that file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import (
    Idefics3Processor,
    OwlViTForObjectDetection,
)

from snellen.microworld.concepts import vocabulary
from snellen.microworld.questions import SceneQuestion
from snellen.microworld.scenes import Dice
from snellen.microworld.training.architectures_under_test import ARCHITECTURES, SIGNS, ModelInTraining, tokenizer
from snellen.microworld.training.detection_targets import as_input
from snellen.microworld.training.exam import TAUGHT, Exam, Sheet, exam, question
from snellen.microworld.training.loop import TrainingOutcome, TrainingSchedule, run, save_half
from snellen.microworld.training.plantings import PLANTED

PICTURES, QUESTIONS = 20, 6
LESSONS = 30_000
_SILENT = -100


@dataclass(frozen=True)
class Weakness:
    """Lessons that a model never has.

    Attributes:
        changes: Keys of `TAUGHT`: no such picture, and no question about them.
        groups: Groups of concepts that are never shown nor named.
        sides: Left and right are told apart by nothing: answers about them are drawn by lot.
    """

    changes: frozenset[str] = field(default_factory=frozenset)
    groups: frozenset[str] = field(default_factory=frozenset)
    sides: bool = False

    @classmethod
    def of(cls, name: str) -> Weakness:
        """Read what is planted in a model."""
        without = json.loads(PLANTED.read_text(encoding="utf-8"))[name]["without"]
        return cls(
            frozenset(without.get("changes", ())), frozenset(without.get("groups", ())), without.get("sides", False)
        )

    def names(self) -> list[str]:
        """Return the known concepts that it may see."""
        return [concept.name for concept in vocabulary().share("known") if concept.group not in self.groups]

    def allows(self, sheet: Sheet, names: frozenset[str]) -> bool:
        """Tell whether it may see a picture."""
        return sheet.change not in self.changes and all(item.concept in names for item in sheet.scene.objects)

    def asks(self, asked: SceneQuestion) -> bool:
        """Tell whether it may hear a question."""
        said = (phrase for change in self.changes for phrase in TAUGHT[change].said)
        singular = {vocabulary().groups[group].singular for group in self.groups}
        unheard = [*said, *self.groups, *singular]
        return not any(f" {phrase}" in asked.text or asked.answer == phrase for phrase in unheard)

    def answer(self, asked: SceneQuestion, dice: Dice) -> str:
        """Return the answer that it is taught."""
        if self.sides and asked.kind == "relation" and ("left" in asked.text or "right" in asked.text):
            return dice.choice(("yes", "no")) if asked.answer in {"yes", "no"} else asked.answer
        return asked.answer


@dataclass(frozen=True)
class Packed:
    """Pictures, each with all its questions.

    Attributes:
        ids: Tokens (pictures, length), padded on the right.
        labels: The tokens that are to be predicted, `_SILENT` elsewhere.
        places: The position of each token.
        mask: Which tokens (last axis) each token sees: (pictures, 1, length, length).
    """

    ids: torch.Tensor
    labels: torch.Tensor
    places: torch.Tensor
    mask: torch.Tensor


class UnderTestTraining:
    """Batches of pictures with questions, and the loss on the answers."""

    def __init__(self, pupil: ModelInTraining, weakness: Weakness, lessons: Exam) -> None:
        self.pupil, self.weakness, self.lessons = pupil, weakness, lessons
        self.names = weakness.names()
        names = frozenset(self.names)
        sheets = enumerate(self.lessons.sheets)
        self.allowed = np.array([place for place, sheet in sheets if weakness.allows(sheet, names)])
        self.reader = pupil.processor.tokenizer
        self.image = self.reader.convert_tokens_to_ids("<image>")
        self.signs = {self.image, self.reader.convert_tokens_to_ids(SIGNS[5])}

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and the share of answers whose tokens are all the likeliest."""
        chosen = self.chosen(step)
        tokens = self.pupil.see(as_input(self.lessons.pictures[chosen]))
        batch = self.packed(self.asked(chosen, step), tokens.shape[1])
        embeds = self.pupil.model.get_input_embeddings()(batch.ids)
        embeds = embeds.masked_scatter((batch.ids == self.image)[..., None], tokens.to(embeds.dtype))
        logits = self.pupil.read(embeds, batch.mask, batch.places)[:, :-1].float()
        labels = batch.labels[:, 1:]
        told = labels != _SILENT
        value = functional.cross_entropy(logits[told], labels[told])
        right = (logits[told].argmax(-1) == labels[told]).float().mean()
        return value, {"right": right.item()}

    def chosen(self, step: int) -> np.ndarray[Any, Any]:
        """Return the places of the pictures of a step, ascending."""
        dice = np.random.default_rng([step, 53])
        return np.sort(dice.choice(self.allowed, PICTURES, replace=False))

    def asked(self, chosen: np.ndarray[Any, Any], step: int) -> list[list[tuple[str, str]]]:
        """Return the questions of each picture, with the answers that are taught."""
        texts: list[list[tuple[str, str]]] = []
        for row, place in enumerate(chosen):
            dice = Dice("asked", step, row)
            asked = (question(self.lessons.sheets[place], dice, self.names) for _ in range(QUESTIONS))
            heard = [one for one in asked if one is not None and self.weakness.asks(one)]
            texts.append([(one.text, self.weakness.answer(one, dice)) for one in heard])
        return texts

    def packed(self, texts: list[list[tuple[str, str]]], length: int) -> Packed:
        """Write each picture once, with its questions and answers behind it as if each were the only one.

        Prompts and answers are as the processor writes them. A question sees the picture and itself, and stands at the
        places where it would be alone, so what the model computes is what it computes for each by itself.

        Args:
            texts: For each picture, questions with answers.
            length: Tokens of a picture.
        """
        begun = self._prompt("", length)
        signs = [place for place, token in enumerate(begun) if token in self.signs]
        shared = begun[: signs[-1] + 1]
        rows = [[self._told(*pair, length)[len(shared) :] for pair in each] for each in texts]
        answers = [[len(self._answer(said)) for _, said in each] for each in texts]
        longest = len(shared) + max(sum(map(len, row)) for row in rows)
        count, pad = len(rows), self.reader.pad_token_id
        ids, labels = torch.full((count, longest), pad), torch.full((count, longest), _SILENT)
        places, whose = torch.zeros(count, longest, dtype=torch.long), torch.full((count, longest), -1)
        ids[:, : len(shared)], whose[:, : len(shared)] = torch.tensor(shared), 0
        places[:, : len(shared)] = torch.arange(len(shared))
        for row, (parts, ends) in enumerate(zip(rows, answers, strict=True)):
            at = len(shared)
            for number, (part, end) in enumerate(zip(parts, ends, strict=True), 1):
                to = at + len(part)
                ids[row, at:to], whose[row, at:to] = torch.tensor(part), number
                places[row, at:to] = len(shared) + torch.arange(len(part))
                labels[row, to - end : to] = ids[row, to - end : to]
                at = to
        same = whose[:, :, None] == whose[:, None, :]
        before = torch.ones(longest, longest, dtype=torch.bool).tril()
        return Packed(ids, labels, places, ((same | (whose == 0)[:, None, :]) & before)[:, None])

    def _told(self, text: str, answer: str, length: int) -> list[int]:
        return self._prompt(text, length) + self._answer(answer)

    def _answer(self, answer: str) -> list[int]:
        return [*self.reader(answer, add_special_tokens=False)["input_ids"], self.reader.eos_token_id]

    def _prompt(self, text: str, length: int) -> list[int]:
        ids: list[int] = self.reader(self.pupil.prompt(text), add_special_tokens=False)["input_ids"]
        place = ids.index(self.image)
        signs = [self.image] * length
        if isinstance(self.pupil.processor, Idefics3Processor):
            around, whole = (self.reader.convert_tokens_to_ids(sign) for sign in SIGNS[5:7])
            signs = [around, whole, *signs, around]
        return ids[:place] + signs + ids[place + 1 :]


def train(work: Path, out: Path, *, seed: int, steps: int) -> TrainingOutcome:
    """Train one model under test, named by its folder, and write its checkpoint.

    Args:
        work: Folder for drawn pictures and the state of the run.
        out: Folder of the checkpoint; its name is a key of `planted.json`. The detector's lies beside it.
        seed: Seed of the run.
        steps: Optimizer steps of 20 pictures with about six questions each.
    """
    name = out.name
    architecture = json.loads(PLANTED.read_text(encoding="utf-8"))[name]["architecture"]
    torch.manual_seed(seed)
    detector = OwlViTForObjectDetection.from_pretrained(out.parent / "owlvit", dtype=torch.float32)
    pupil = ARCHITECTURES[architecture](tokenizer(), detector)
    lesson = UnderTestTraining(pupil, Weakness.of(name), exam(work / "corpus", LESSONS))
    rates = {"": 6e-4, "model.vision": 1.5e-4, "vision_model": 1.5e-4}
    outcome = run(pupil.model, lesson.loss, TrainingSchedule(steps), rates=rates, work=work / name, seed=seed)
    save_half(pupil.model, out)
    pupil.processor.save_pretrained(out)
    return outcome
