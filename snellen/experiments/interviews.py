"""Asking models freely, each question once: what was said is kept among the trials of all investigations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.memory.trials import Trial, TrialKey
from snellen.models.under_test import SHARD, Question

if TYPE_CHECKING:
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.trials import TrialTable
    from snellen.models.under_test import Card, Executor

MOST_SAID: Final = 20_000
"""Characters of an answer that are kept."""

Spoken = tuple[tuple[str, ...], str]
"""What is asked: the ids of pictures, in their order, and the words."""


@dataclass(frozen=True)
class Interviews:
    """Puts free questions to models.

    Attributes:
        executor: Who asks them.
        trials: Where answers are kept.
        pictures: Where picture ids lead to pictures.
    """

    executor: Executor
    trials: TrialTable
    pictures: ArtifactStore

    def card(self, model: str) -> Card:
        """Say what a model is.

        Raises:
            SnellenError: It cannot be read.
        """
        return self.executor.card(model)

    def stored(self, places: Iterable[Path]) -> dict[Path, str]:
        """Take picture files in, and return the id of each.

        Raises:
            BadInput: One is no picture.
        """
        from snellen.memory.artifacts import read_picture

        found: dict[Path, str] = {}
        for place in dict.fromkeys(places):
            found[place] = self.pictures.put(read_picture(place.read_bytes(), place.name).convert("RGB")).id
        return found

    def answers(
        self, model: str, asked: Sequence[Spoken], *, progress: Callable[[int], None] = lambda _: None
    ) -> list[str]:
        """Return what a model says to each question; what it was asked before is not asked again.

        Args:
            model: Its name in the profile.
            asked: The questions.
            progress: Called with the number of different questions that are answered.

        Raises:
            SnellenError: It cannot answer; what it had said is kept.
        """

        def measure(shard: Sequence[TrialKey], questions: Sequence[Question]) -> list[Trial]:
            said = self.executor.answer(model, questions)
            return [
                Trial(key, (), basis="answer", said=text[:MOST_SAID]) for key, text in zip(shard, said, strict=True)
            ]

        return [trial.said for trial in self._trials(model, asked, measure, progress)]

    def likenesses(
        self, model: str, asked: Sequence[Spoken], *, progress: Callable[[int], None] = lambda _: None
    ) -> list[float]:
        """Return how alike an encoder finds the two things of each pair: a cosine.

        Args:
            model: Its name in the profile.
            asked: Two pictures without words, or a picture and a text.
            progress: Called with the number of different pairs that are compared.

        Raises:
            SnellenError: It cannot compare these.
        """

        def measure(shard: Sequence[TrialKey], questions: Sequence[Question]) -> list[Trial]:
            cosines = self.executor.alike(model, questions)
            return [Trial(key, ((cosine,),), basis="similarity") for key, cosine in zip(shard, cosines, strict=True)]

        return [trial.scores[0][0] for trial in self._trials(model, asked, measure, progress)]

    def _trials(
        self,
        model: str,
        asked: Sequence[Spoken],
        measure: Callable[[Sequence[TrialKey], Sequence[Question]], list[Trial]],
        progress: Callable[[int], None],
    ) -> list[Trial]:
        """Look up the trials of questions; measure and keep those that are missing, shard by shard."""
        fingerprint = self.card(model).fingerprint
        keys = [TrialKey(fingerprint, pictures, text, ()) for pictures, text in asked]
        known = self.trials.get(keys)
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        done = len(set(keys)) - len(missing)
        progress(done)
        for begun in range(0, len(missing), SHARD):
            shard = missing[begun : begun + SHARD]
            questions = [Question(tuple(map(self.pictures.get, key.pictures)), key.question) for key in shard]
            trials = measure(shard, questions)
            self.trials.add(trials)
            known.update({trial.key: trial for trial in trials})
            progress(done + begun + len(shard))
        return [known[key] for key in keys]
