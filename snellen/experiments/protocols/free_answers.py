"""Free answers about scenes of which everything is known: the protocol of PROVE within investigations.

A sample is a picture with a question whose answer a program has verified; arms are kinds of questions. Answers are read
by rules and scored on the scene graph alone, with the calibrated metric: it is all there is to know here, so no model
has to be asked what the picture shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from snellen.errors import BadInput, SnellenError
from snellen.experiments.design import Claim, Design
from snellen.experiments.protocols.protocol import RoundPart, observed, trials_of
from snellen.experiments.report import Result
from snellen.memory.samples import Sample
from snellen.memory.trials import TrialKey
from snellen.scoring import Observations, confidence_interval
from snellen.scoring.freeform import AnswerScores, AnswerTuples, score_answers
from snellen.scoring.judge_replies import quoted
from snellen.scoring.scene_graph import Fact
from snellen.scoring.verification import Verifier

if TYPE_CHECKING:
    from snellen.experiments.protocols.protocol import RoundPlace
    from snellen.experiments.resources import Examination
    from snellen.experiments.scene_questions import SceneQuestions
    from snellen.models.under_test import Card
    from snellen.reasoning.reading.answers import AnswerReader


def question_key(fingerprint: str, picture: str, question: str) -> TrialKey:
    """Name the trial in which a model is asked freely about a picture."""
    return TrialKey(fingerprint, (picture,), question, ())


def refuse_mute(card: Card) -> None:
    """Refuse to ask a model that does not write.

    Raises:
        SnellenError: It does not.
    """
    if not card.answers:
        msg = "it compares pictures with texts, and cannot answer freely"
        raise SnellenError(msg)


class FreeAnswers:
    """Models answer in their own words."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store a scene with a question of each kind; see ``AskingProtocol``."""
        questions = _questions(examination)
        samples = []
        with Verifier(workers=1) as verifier:
            for which, arm in enumerate(design.arms):
                seed = f"free/{place.seed}/{place.experiment}/{which}/{place.round}"
                scene, draft = questions.draw(arm.answer, seed, verifier)
                picture = examination.pictures.put(scene.picture.convert("RGB")).id
                tuples = [(one.entity, one.attribute, one.relation, one.target, one.kind) for one in scene.facts]
                details = json.dumps({"question": draft.question, "answer": draft.answer, "tuples": tuples})
                samples.append(
                    Sample(
                        place.investigation, place.experiment, place.round, which, picture, picture,
                        f"{draft.question} {draft.answer}", questions.scenes.title, 0, details,
                    )
                )  # fmt: skip
        return samples

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Check that a question of each kind can be made.

        Raises:
            BadInput: It cannot.
        """
        questions = _questions(examination)
        with Verifier(workers=1) as verifier:
            for arm in design.arms:
                try:
                    questions.draw(arm.answer, f"free/{seed}/try", verifier)
                except SnellenError as error:
                    raise BadInput(str(error)) from error

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:  # noqa: ARG002 - of the sample
        """Name the one trial about a sample."""
        return [question_key(fingerprint, sample.picture, str(json.loads(sample.details)["question"]))]

    def refuse(self, card: Card, design: Design) -> None:  # noqa: ARG002 - whatever is asked
        """Refuse to ask a model that does not write."""
        refuse_mute(card)

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> EvaluatedAnswers:
        """Look up all answers of an experiment, and score them."""
        questions = _questions(examination)
        scores, unread = {}, {}
        for name, trials in trials_of(self, examination, design, samples, fingerprints).items():
            rows = [read_answer(sample, about[0].said, questions.reader) for sample, about in trials.items()]
            scores[name] = dict(zip(trials, score_answers(rows, questions.embed, metric="calibrated"), strict=True))
            unread[name] = [
                about[0].said for sample, about in trials.items() if _is_unread(sample, about[0].said, questions.reader)
            ]
        return EvaluatedAnswers(design, scores, unread)


@dataclass(frozen=True)
class EvaluatedAnswers:
    """The answers of one experiment with their scores.

    Attributes:
        design: Of the experiment.
        scores: For each model by name, of each sample that it was asked about.
        unread: The answers of each model in which words were not read.
    """

    design: Design
    scores: Mapping[str, Mapping[Sample, AnswerScores]]
    unread: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def observations(self, claim: Claim) -> Observations:
        """Return the scores, or their differences, of the pictures of the rounds that are complete.

        Each question has a picture of its own (`SceneQuestions.draw`).
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
        results = []
        for name, scores in self.scores.items():
            unread = self.unread.get(name, ())
            truth, help_ = self._observed(self._values(name, "truth")), self._observed(self._values(name, "help"))
            if not truth:
                continue
            kinds: dict[str, list[float]] = {}
            silent = []
            for sample, scored in scores.items():
                part = RoundPart(sample.round, sample.arm)
                if part in truth.by_unit:
                    kinds.setdefault(self.design.arms[sample.arm].answer, []).append(truth.by_unit[part])
                    silent.append(scored.tscore.value is None)
            span = confidence_interval(truth, alpha=alpha)
            by_class = {kind: sum(row) / len(row) for kind, row in kinds.items()}
            results.append(
                Result(
                    model=name, plain=False, n=len(truth), unit=self.design.unit.name, average=truth.mean,
                    interval=(span.low, span.high), error_rate=alpha, interval_kind="confidence sequence",
                    by_class={**by_class, "help": help_.mean}, abstention=sum(silent) / len(silent),
                    invalid=len(unread) / len(scores), informedness=None, not_understood=quoted(unread),
                )
            )  # fmt: skip
        return results

    def _observed(self, values: Mapping[RoundPart, float]) -> Observations:
        return observed(self.design, values, parts=len(self.design.arms))

    def _values(self, model: str, measure: str) -> dict[RoundPart, float]:
        """Return the helpfulness or the truth of answers; an answer that says nothing tells no truth."""
        return {
            RoundPart(sample.round, sample.arm): (one.hscore if measure == "help" else one.tscore).value or 0.0
            for sample, one in self.scores.get(model, {}).items()
        }


def read_answer(sample: Sample, answer: str, reader: AnswerReader) -> AnswerTuples:
    """Return an answer about a sample with all that it is measured by."""
    details = json.loads(sample.details)
    question = str(details["question"])
    return AnswerTuples(
        said=reader.read(answer, question),
        reference=reader.read(str(details["answer"]), question),
        premise=reader.premise(question),
        scene=[Fact(*row) for row in details["tuples"]],
        picture=sample.picture,
    )


def _is_unread(sample: Sample, answer: str, reader: AnswerReader) -> bool:
    return bool(reader.unread(answer, str(json.loads(sample.details)["question"])))


def is_right(sample: Sample, answer: str, reader: AnswerReader) -> bool:
    """Return whether an answer says some of what was asked for, and nothing that is not in the scene, word for word."""
    known = read_answer(sample, answer, reader)
    stated, premise = {fact.text for fact in known.said}, {fact.text for fact in known.premise}
    expected = {fact.text for fact in known.reference} - premise
    true = {fact.text for fact in (*known.scene, *known.reference)}
    return bool(stated & expected) and stated <= true


def _questions(examination: Examination) -> SceneQuestions:
    if examination.scene_questions is None:
        msg = "This profile has no world of which everything is known: build a benchmark with `snellen prove build`."
        raise BadInput(msg)
    return examination.scene_questions
