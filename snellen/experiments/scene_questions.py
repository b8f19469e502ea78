"""Questions about scenes of which everything is known, and the reading of answers to them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from snellen.datasets.prove.building import objections
from snellen.datasets.prove.filters import DraftReading
from snellen.errors import SnellenError
from snellen.scoring.scene_graph import SceneGraph

if TYPE_CHECKING:
    from snellen.datasets.prove import Pictured, QuestionDraft, Scenes
    from snellen.reasoning.language.scene_questions import CaseQuestionWriter
    from snellen.reasoning.reading.answers import AnswerReader
    from snellen.scoring.verification import Verifier

_TRIES: Final = 40
"""Scenes that are looked through for a question of a kind."""


@dataclass(frozen=True)
class SceneQuestions:
    """A source of free questions, and the reader of their answers.

    Attributes:
        scenes: Where pictures come from.
        quiz: Writes questions.
        reader: Reads answers.
        embedding: Of texts, vectors of length 1; each text is embedded once.
    """

    scenes: Scenes
    quiz: CaseQuestionWriter
    reader: AnswerReader
    embedding: Callable[[Sequence[str]], np.ndarray]
    _known: dict[str, np.ndarray] = field(default_factory=dict)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector for each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self.embedding(missing), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 1))

    def draw(self, kind: str, seed: str, verifier: Verifier) -> tuple[Pictured, QuestionDraft]:
        """Return a scene with a question of a kind that all filters let pass.

        Raises:
            SnellenError: No scene has one.
        """
        for turn in range(_TRIES):
            number = int.from_bytes(hashlib.sha256(f"{seed}/{turn}".encode()).digest()[:4], "big")
            scene = self.scenes.scene(number, 0)
            drafts = [draft for draft in self.quiz.drafts(scene, number) if draft.kind == kind]
            graph = SceneGraph(scene.facts, caption=scene.caption)
            verified = list(verifier.run_all([(draft.program, graph) for draft in drafts]))
            readings = [
                DraftReading(
                    self.reader.premise(draft.question),
                    self.reader.read(draft.answer, draft.question),
                    self.reader.read(result.answer or "", draft.question),
                )
                for draft, result in zip(drafts, verified, strict=True)
            ]
            against = objections(drafts, verified, readings, graph, self.embed, verifier=verifier)
            for draft, objection in zip(drafts, against, strict=True):
                if objection is None:
                    return scene, draft
        msg = f"Of {_TRIES} scenes none has a question of the kind {kind!r} that can be asked."
        raise SnellenError(msg)
