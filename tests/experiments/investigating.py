"""What tests of investigations share: models that are right as often as the test says, and where they are examined."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import PIL.Image

from snellen import microworld
from snellen.errors import SnellenError
from snellen.experiments.design import Arm
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.resources import DrawnPicture, Examination
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.picture_ledger import Ledger
from snellen.memory.samples import SampleTable
from snellen.memory.trials import TrialTable
from snellen.models.under_test import Card, Question, Ranking
from snellen.profiles import load_profile
from snellen.reasoning.language.inflection import with_article
from snellen.tools.samples import Alignment, WorldSource

WORLD = WorldSource(microworld, title="microworld")

Rate = Callable[[Question, bool], float]
"""How probably a model is right about a question, told whether the picture was changed."""


@dataclass
class Oracle:
    """An executor of models that are right with given probabilities.

    Attributes:
        rates: By the name of the model.
        broken: What models say that fail when they are asked.
        unreadable: What is said of models that cannot be read.
        asked: How often each trial was measured, by model, question and picture.
        truths: For each picture that was made, the answers that may be right, and whether it was changed.
    """

    rates: dict[str, Rate]
    broken: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    asked: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    truths: dict[str, tuple[tuple[str, ...], bool]] = field(default_factory=dict)

    def card(self, model: str) -> Card:
        """Say what it is."""
        if model in self.unreadable:
            raise SnellenError(self.unreadable[model])
        return Card(model, f"fingerprint of {model}", "Oracle", None, "tokens", pictures=1, answers=True)

    def at_once(self, model: str) -> int:
        """Return 1: it is asked one shard after the other."""
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Answer rightly with the model's probability, always the same about the same picture."""
        if model in self.broken:
            raise SnellenError(self.broken[model])
        return [self._ranked(model, question) for question in questions]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Say nothing: what is examined here is chosen from."""
        return ["" for _ in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Find nothing alike."""
        return [0.0 for _ in questions]

    def _ranked(self, model: str, question: Question) -> Ranking:
        shown = named(question.pictures[0])
        self.asked[model, question.text, shown] += 1
        truths, changed = self.truths[shown]
        right = next(each for each in truths if each in question.choices)
        digest = hashlib.sha256(f"{model}/{question.text}/{shown}".encode()).digest()
        lot = int.from_bytes(digest[:6], "big") / 2**48
        wrong = [choice for choice in question.choices if choice != right]
        said = right if lot < self.rates[model](question, changed) else wrong[digest[7] % len(wrong)]
        return Ranking(tuple((0.0,) if choice == said else (-9.0,) for choice in question.choices))


@dataclass
class Preferring(Oracle):
    """An oracle with a model that takes what it prefers among the choices, as far as it prefers any.

    Attributes:
        prefers: By the name of the model, the choice that it prefers; None where it looks.
    """

    prefers: dict[str, Callable[[Question], str | None]] = field(default_factory=dict)

    def _ranked(self, model: str, question: Question) -> Ranking:
        said = self.prefers[model](question) if model in self.prefers else None
        if said is None:
            return super()._ranked(model, question)
        return Ranking(tuple((0.0,) if choice == said else (-9.0,) for choice in question.choices))


def named(picture: PIL.Image.Image) -> str:
    """Name a picture by its pixels."""
    return hashlib.sha256(picture.convert("RGB").tobytes()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Watched(Examination):
    """An examination that tells the oracle what is true of its pictures."""

    oracle: Oracle

    def draw(self, arm: Arm, seed: str, **more: bool) -> DrawnPicture:
        """Make a picture of an arm."""
        found = super().draw(arm, seed, **more)
        truths = (arm.answer, with_article(found.label))
        self.oracle.truths[named(found.plain)] = truths, False
        self.oracle.truths[named(found.picture)] = truths, arm.transform.name != "Identity"
        return found


def watched(folder: Path, oracle: Oracle, **more: Any) -> Watched:  # noqa: ANN401 - fields of an examination
    """Gather what investigations work with, over a home of the test's own."""
    return Watched(
        investigator=more.pop("investigator", None) or CaseExaminer(load_profile("embedded")),
        trials=TrialTable(folder),
        samples=SampleTable(folder),
        ledger=Ledger(folder),
        pictures=ArtifactStore(folder / FOLDER),
        executor=oracle,
        oracle=oracle,
        generation=more.pop("generation", WORLD),
        retrieval=more.pop("retrieval", WORLD),
        alignment=more.pop("alignment", Alignment(lambda _picture, texts: [1.0] * len(texts))),
        **more,
    )
