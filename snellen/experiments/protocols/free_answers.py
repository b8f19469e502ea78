"""Free answers about scenes of which everything is known: the protocol of PROVE within investigations.

A sample is a picture with a question whose answer a program has verified; arms are kinds of questions. Answers are read
by rules and scored on the scene graph alone, with the calibrated metric: it is all there is to know here, so no model
has to be asked what the picture shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.datasets.prove.building import objections
from snellen.datasets.prove.filters import DraftReading
from snellen.errors import BadInput, SnellenError
from snellen.experiments.protocols.protocol import RoundPart, RoundPlace, observed, said_of
from snellen.experiments.schema import Claim, Design, Result
from snellen.memory.samples import Sample
from snellen.memory.trials import TrialKey
from snellen.scoring import Observations, confidence_interval
from snellen.scoring.freeform import AnswerScores, AnswerTuples, score_answers
from snellen.scoring.scene_graph import Fact, SceneGraph
from snellen.scoring.verification import Verifier

if TYPE_CHECKING:
    from snellen.datasets.prove import QuestionDraft, Scenes
    from snellen.experiments.resources import Examination
    from snellen.models.under_test import Card
    from snellen.reasoning.language.scene_questions import Quiz
    from snellen.reasoning.language.statements import Statements

_TRIES: Final = 40
"""Scenes that are looked through for a question of a kind."""


@dataclass(frozen=True)
class Questioning:
    """What free questions are made and answers are read with.

    Attributes:
        scenes: Where pictures come from.
        quiz: Writes questions.
        reader: Reads answers.
        embedding: Of texts, vectors of length 1; each text is embedded once.
    """

    scenes: Scenes
    quiz: Quiz
    reader: Statements
    embedding: Callable[[Sequence[str]], np.ndarray]
    _known: dict[str, np.ndarray] = field(default_factory=dict)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return a vector for each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known.update(zip(missing, self.embedding(missing), strict=True))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 1))

    def questions(self, kind: str, seed: str, verifier: Verifier) -> tuple[Any, QuestionDraft]:
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
                    self.reader.read(found.answer or "", draft.question),
                )
                for draft, found in zip(drafts, verified, strict=True)
            ]
            against = objections(drafts, verified, readings, graph, self.embed, verifier=verifier)
            for draft, objection in zip(drafts, against, strict=True):
                if objection is None:
                    return scene, draft
        msg = f"Of {_TRIES} scenes none has a question of the kind {kind!r} that can be asked."
        raise SnellenError(msg)


class FreeAnswers:
    """Models answer in their own words."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store a scene with a question of each kind; see ``AskingProtocol``."""
        questioning = _questioning(examination)
        made = []
        with Verifier(workers=1) as verifier:
            for which, arm in enumerate(design.arms):
                seed = f"free/{place.seed}/{place.experiment}/{which}/{place.round}"
                scene, draft = questioning.questions(arm.answer, seed, verifier)
                picture = examination.pictures.put(scene.picture.convert("RGB")).id
                details = {
                    "question": draft.question, "answer": draft.answer,
                    "tuples": [[one.entity, one.attribute, one.relation, one.target, one.kind] for one in scene.facts],
                }  # fmt: skip
                made.append(
                    Sample(
                        place.investigation,
                        place.experiment,
                        place.round,
                        which,
                        picture,
                        picture,
                        f"{draft.question} {draft.answer}",
                        questioning.scenes.title,
                        0,
                        json.dumps(details),
                    )
                )
        return made

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """See that a question of each kind can be made.

        Raises:
            BadInput: It cannot.
        """
        if not Verifier.available():
            Verifier()
        questioning = _questioning(examination)
        with Verifier(workers=1) as verifier:
            for arm in design.arms:
                try:
                    questioning.questions(arm.answer, f"free/{seed}/try", verifier)
                except SnellenError as error:
                    raise BadInput(str(error)) from error

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:  # noqa: ARG002 - of the sample
        """Name the one trial about a sample."""
        return [TrialKey(fingerprint, (sample.picture,), str(json.loads(sample.details)["question"]), ())]

    def refuse(self, card: Card, design: Design) -> None:  # noqa: ARG002 - whatever is asked
        """Refuse to ask a model that does not write."""
        if not card.answers:
            msg = "it compares pictures with texts, and cannot answer freely"
            raise SnellenError(msg)

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> FreelyEvaluated:
        """Look up all answers of an experiment, and score them."""
        questioning = _questioning(examination)
        scores = {}
        for name, said in said_of(examination, self, design, samples, fingerprints).items():
            rows = [answered(sample, trials[0].said, questioning.reader) for sample, trials in said.items()]
            found = score_answers(rows, questioning.embed, metric="calibrated")
            scores[name] = dict(zip(said, found, strict=True))
        return FreelyEvaluated(design, scores)


@dataclass(frozen=True)
class FreelyEvaluated:
    """The answers of one experiment with their scores.

    Attributes:
        design: Of the experiment.
        scores: For each model by name, of each sample that it was asked about.
    """

    design: Design
    scores: Mapping[str, Mapping[Sample, AnswerScores]]

    def observations(self, claim: Claim) -> Observations:
        """Return the scores, or their differences, of the pictures of the rounds that are complete.

        Each question has a picture of its own (`Questioning.questions`).
        """
        values = self._values(claim.model, claim.measure)
        if claim.kind == "better":
            others = self._values(claim.other, claim.measure)
            values = {part: value - others[part] for part, value in values.items() if part in others}
        return self._observed(values)

    def results(self, *, alpha: float) -> list[Result]:
        """Return how truthful each model is, by kind of question, and how often it says nothing.

        Args:
            alpha: The error rate of the intervals.
        """
        found = []
        for name, scores in self.scores.items():
            seen, helped = self._observed(self._values(name, "truth")), self._observed(self._values(name, "help"))
            if not seen:
                continue
            kinds: dict[str, list[float]] = {}
            silent = []
            for sample, scored in scores.items():
                part = RoundPart(sample.round, sample.arm)
                if part in seen.by_unit:
                    kinds.setdefault(self.design.arms[sample.arm].answer, []).append(seen.by_unit[part])
                    silent.append(scored.tscore.value is None)
            span = confidence_interval(seen, alpha=alpha)
            by_class = {kind: sum(row) / len(row) for kind, row in kinds.items()}
            found.append(
                Result(
                    model=name, plain=False, n=len(seen), unit=self.design.unit.name, average=seen.mean,
                    interval=(span.low, span.high), error_rate=alpha, interval_kind="confidence sequence",
                    by_class={**by_class, "help": helped.mean}, abstention=sum(silent) / len(silent), invalid=0.0,
                    informedness=None,
                )
            )  # fmt: skip
        return found

    def _observed(self, values: Mapping[RoundPart, float]) -> Observations:
        return observed(self.design, values, parts=len(self.design.arms))

    def _values(self, model: str, measure: str) -> dict[RoundPart, float]:
        """Return the helpfulness or the truth of answers: who says nothing tells no truth."""
        found = {}
        for sample, one in self.scores.get(model, {}).items():
            value = one.hscore.value if measure == "help" else one.tscore.value
            found[RoundPart(sample.round, sample.arm)] = value or 0.0
        return found


def answered(sample: Sample, said: str, reader: Statements) -> AnswerTuples:
    """Return an answer about a sample with all that it is measured by."""
    details = json.loads(sample.details)
    question, right = str(details["question"]), str(details["answer"])
    return AnswerTuples(
        said=reader.read(said, question),
        reference=reader.read(right, question),
        premise=reader.premise(question),
        scene=[Fact(*row) for row in details["tuples"]],
        picture=sample.picture,
    )


def right(sample: Sample, said: str, reader: Statements) -> bool:
    """Tell whether an answer says some of what was asked for, and nothing that is not in the scene, word for word."""
    known = answered(sample, said, reader)
    told, premise = {fact.text for fact in known.said}, {fact.text for fact in known.premise}
    wanted = {fact.text for fact in known.reference} - premise
    true = {fact.text for fact in (*known.scene, *known.reference)}
    return bool(told & wanted) and told <= true


def _questioning(examination: Examination) -> Questioning:
    if examination.questioning is None:
        msg = "This profile has no world of which everything is known: build a benchmark with `snellen prove build`."
        raise BadInput(msg)
    return examination.questioning
