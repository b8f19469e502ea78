"""Multiple choice: the protocol of APEX (section 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput, SnellenError
from snellen.experiments.design import BY_CLASS, IDENTITY, UNKNOWN, Claim, Design
from snellen.experiments.drawn_answers import DrawnQuestion, arm_drawn, asked, pool_said, recognition
from snellen.experiments.protocols.calibrated_accuracy import calibrated_accuracy
from snellen.experiments.protocols.protocol import RoundPart, closed_up, observed
from snellen.experiments.report import Result
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial, TrialKey
from snellen.models.under_test import Ranking
from snellen.scoring import ChoiceMetrics, Chosen, Observations, choice_metrics, confidence_interval
from snellen.tools.samples import NotShown, select
from snellen.tools.transforms import ParameterOutOfRange, apply

if TYPE_CHECKING:
    from snellen.experiments.design import Arm
    from snellen.experiments.drawn_answers import DrawnArm
    from snellen.experiments.protocols.protocol import RoundPlace
    from snellen.experiments.resources import DrawnPicture, Examination
    from snellen.memory.trials import TrialTable
    from snellen.models.under_test import Card

_OTHERS: Final = 5
"""Other classes that are drawn where one cannot be shown."""
_TRIED: Final = 8
"""Pictures of an arm that are tried where the first one refuses."""


class MultipleChoice:
    """Models choose among the answers of the arms."""

    def make(self, examination: Examination, design: Design, place: RoundPlace) -> list[Sample]:
        """Make and store one picture of each arm; see ``AskingProtocol``."""
        seeds = [f"{place.seed}/{place.experiment}/{which}/{place.round}" for which in range(len(design.arms))]
        arms = [arm_drawn(design.of_arm(which), arm, seeds[which]) for which, arm in enumerate(design.arms)]
        examination.prepare([(one.arm, seed) for one, seed in zip(arms, seeds, strict=True)])
        return [
            self._sample(examination, design, which, (arms[which], seeds[which]), place) for which in range(len(arms))
        ]

    def _sample(
        self, examination: Examination, design: Design, which: int, drawing: tuple[DrawnArm, str], place: RoundPlace
    ) -> Sample:
        chosen, drawn = _shown(examination, design.of_arm(which), design.arms[which], drawing)
        plain = examination.pictures.put(drawn.plain).id
        picture = plain if chosen.arm.transform == IDENTITY else examination.pictures.put(drawn.picture).id
        return Sample(
            place.investigation, place.experiment, place.round, which, picture, plain, drawn.label, drawn.origin,
            drawn.rejected, chosen.details,
        )  # fmt: skip

    def check(self, examination: Examination, design: Design, seed: int) -> None:
        """Make one picture of each arm, to see that it can be made; where that one cannot be changed so, some more.

        Pictures of a folder have many sizes, and what a transform can do depends on the picture. An arm that most of
        them refuse goes back to whoever designed it; else those that refuse are replaced, and counted as rejected.
        """
        for number, arm in enumerate(design.arms):
            refusals = []
            for turn in range(_TRIED):
                try:
                    chosen = f"{seed}/try/{number}" + f"/{turn}" * bool(turn)
                    self._try(examination, arm_drawn(design.of_arm(number), arm, chosen).arm, chosen)
                except ParameterOutOfRange as error:
                    refusals.append(error)
                if not refusals:
                    break
            if 2 * len(refusals) > _TRIED:
                msg = f"{arm.transform.name}: {refusals[-1]}"
                raise BadInput(msg) from refusals[-1]

    @staticmethod
    def _try(examination: Examination, arm: Arm, seed: str) -> None:
        selected = select(arm.select, examination.selection(seed))
        for call in (arm.transform, arm.against):
            apply(call, selected.picture, "try", selected.studio)

    def keys(self, design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
        """Name the trials about a sample, as it is shown, and in a paired experiment as it was before.

        Whether a model recognizes what has to be known is asked of the picture before it was transformed.
        """
        put = asked(design, sample)
        keys = [key_of(put, sample, fingerprint, plain=plain) for plain in design.conditions]
        return [*keys, *recognition_keys(design, sample, fingerprint)]

    def refuse(self, card: Card, design: Design) -> None:
        """Refuse to ask a model that only compares pictures with names for answers that are none."""
        bare = [name for name in design.classes if name.casefold() in {"yes", "no"} or name.isdigit()]
        if card.basis == "similarity" and bare:
            msg = (
                f"it compares pictures with texts, and {bare[0]!r} describes none: such a model can only be asked what "
                "is in a picture"
            )
            raise SnellenError(msg)

    def evaluated(
        self, examination: Examination, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str]
    ) -> EvaluatedChoices:
        """Look up all trials of an experiment."""
        return EvaluatedChoices.of(design, samples, fingerprints, examination.trials)


@dataclass(frozen=True)
class EvaluatedChoices:
    """The samples of one experiment, and what models said about them.

    Attributes:
        design: Of the experiment.
        samples: Round by round, in the order of the arms.
        choices: For each model by name and each condition (plain or not), the choice that was made about each sample
            measured so far; None for no usable answer.
        recognized: For each model by name, whether it recognized what has to be known of each sample, where anything
            has to be.
        trials: For each model and condition, what was measured about each sample.
    """

    design: Design
    samples: Sequence[Sample]
    choices: Mapping[tuple[str, bool], Mapping[Sample, str | None]]
    recognized: Mapping[str, Mapping[Sample, bool]] = field(default_factory=dict)
    trials: Mapping[tuple[str, bool], Mapping[Sample, Trial]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str], trials: TrialTable
    ) -> EvaluatedChoices:
        """Look up all trials of an experiment.

        Args:
            design: Of the experiment.
            samples: Its samples.
            fingerprints: Of each model by name.
            trials: Where they are.
        """
        choices: dict[tuple[str, bool], dict[Sample, str | None]] = {}
        measured: dict[tuple[str, bool], dict[Sample, Trial]] = {}
        questions = {sample: asked(design, sample) for sample in samples}
        by_arm = [design.of_arm(number).choices for number in range(len(design.arms))]
        choices_of = {sample: by_arm[sample.arm] for sample in samples}
        for name, fingerprint in fingerprints.items():
            for plain in design.conditions:
                keys = {sample: key_of(put, sample, fingerprint, plain=plain) for sample, put in questions.items()}
                known = trials.get(list(keys.values()))
                found = {sample: known[key] for sample, key in keys.items() if key in known}
                choices[name, plain] = {sample: chosen(one, choices_of[sample]) for sample, one in found.items()}
                measured[name, plain] = found
        recognized = {
            name: _recognized(design, samples, fingerprint, trials)
            for name, fingerprint in fingerprints.items()
            if design.known
        }
        return cls(design, samples, choices, recognized, measured)

    def observations(self, claim: Claim) -> Observations:
        """Return what a claim is about, a value for each picture of the rounds that are complete.

        Where models have to know what a picture shows, those count that all models of the claim recognized: the
        first of each arm is one round, the second of each the next. Whether one counts does not depend on the others,
        so they are independent draws from all that are recognized, and arms stay balanced.

        A picture before it was transformed is a part of its unit, and so is what another model says of it.
        """
        if claim.kind == "contrast":
            return self._contrasted(claim.model)
        if claim.kind in BY_CLASS:
            return self._by_class(claim.model)
        if claim.kind == "better":
            one, other = self._right(claim.model, plain=False), self._right(claim.other, plain=False)
            values = {sample: one[sample] - other[sample] for sample in one if sample in other}
        elif claim.kind == "drop":
            values = self._lost(claim.model, share=claim.share)
        elif claim.kind == "steadier":
            one, other = self._lost(claim.model), self._lost(claim.other)
            values = {sample: other[sample] - one[sample] for sample in one if sample in other}
        elif claim.kind == "favor":
            right = {sample: self.design.arms[sample.arm].answer == claim.answer for sample in self.samples}
            said = self.choices.get((claim.model, False), {})
            values = {sample: float(choice == claim.answer) - right[sample] for sample, choice in said.items()}
        elif claim.kind == "mistake":
            values = self._mistaken(claim.model, claim.answer)
        else:
            values = self._right(claim.model, plain=claim.kind == "plain")
        return self._observed(values, claim.model, *filter(None, [claim.other]))

    def complete(self, model: str) -> list[Sample]:
        """Return the samples of the rounds about which a model was asked in all conditions."""
        both = [self.choices.get((model, plain), {}) for plain in self.design.conditions]
        asked_about = [sample for sample in self.samples if all(sample in one for one in both)]
        parts = Counter(sample.round for sample in asked_about)
        return [sample for sample in asked_about if parts[sample.round] == len(self.design.arms)]

    def results(self, *, alpha: float) -> list[Result]:
        """Return the metrics of every model in every condition.

        Args:
            alpha: The error rate of the intervals.
        """
        results = []
        if self.design.tasks:
            return [
                one.model_copy(update={"task": part.design.skill})
                for part in self._by_task
                for one in part.results(alpha=alpha)
            ]
        for (name, plain), choices in self.choices.items():
            seen = self._observed(self._right(name, plain=plain), name)
            if not seen:
                continue
            counted = [sample for sample, part in self._parts(choices, name).items() if part in seen.by_unit]
            answers = [Chosen(self.design.arms[sample.arm].answer, choices[sample]) for sample in counted]
            exact = choice_metrics(answers, self.design.choices, unknown=self._unknown)
            metrics = self._metrics_by_kind(answers) if self.design.kinds else exact
            span = confidence_interval(seen, alpha=alpha)
            results.append(
                Result(
                    model=name, plain=plain, n=len(seen), unit=self.design.unit.name, average=metrics.average,
                    interval=(span.low, span.high), error_rate=alpha, interval_kind="confidence sequence",
                    by_class=metrics.by_class, by_arm=self._by_arm(name, seen, plain=plain),
                    abstention=metrics.abstention, invalid=metrics.invalid,
                    informedness=metrics.informedness, confusion=exact.confusion,
                    calibrated=calibrated_accuracy(self.design, self.trials.get((name, plain), {}), counted),
                )
            )  # fmt: skip
        return results

    def _by_arm(self, model: str, seen: Observations, *, plain: bool) -> list[float]:
        """Return how often a model was right about the pictures of each arm that are in complete rounds."""
        by_arm: dict[int, list[float]] = {}
        for sample, right in self._right(model, plain=plain).items():
            if RoundPart(sample.round, sample.arm) in seen.by_unit:
                by_arm.setdefault(sample.arm, []).append(right)
        return [sum(by_arm[number]) / len(by_arm[number]) for number in sorted(by_arm)]

    @property
    def _unknown(self) -> str | None:
        return UNKNOWN if self.design.unknown else None

    def _metrics_by_kind(self, answers: Sequence[Chosen]) -> ChoiceMetrics:
        kind = self.design.kind_of
        told = [Chosen(kind(one.truth), None if one.said is None else kind(one.said)) for one in answers]
        return choice_metrics(told, list(dict.fromkeys(map(kind, self.design.choices))), unknown=self._unknown)

    def _right(self, model: str, *, plain: bool) -> dict[Sample, float]:
        choices = self.choices.get((model, plain), {})
        arms = self.design.arms
        return {
            sample: float(self.design.is_right(choice, arms[sample.arm].answer)) for sample, choice in choices.items()
        }

    def _lost(self, model: str, *, share: float = 0) -> dict[Sample, float]:
        """Return whether a model is right before a transform, without a share of it, less whether it is afterwards."""
        before, after = self._right(model, plain=True), self._right(model, plain=False)
        both = {sample: (before[sample], after[sample]) for sample in before if sample in after}
        return dict(zip(both, self.design.lost(both.values(), share=share), strict=True))

    def _mistaken(self, model: str, pool: str) -> dict[Sample, float]:
        """Return 1 where a thing is taken for one of a pool, and -1 where for one of neither that nor its own."""
        values: dict[Sample, float] = {}
        for sample, choice in self.choices.get((model, False), {}).items():
            own = str(self.design.arms[sample.arm].select.arguments.get("class_name", ""))
            said = pool_said(self.design, sample, choice)
            values[sample] = 1.0 if said == pool else -1.0 if said not in {"", own} else 0.0
        return values

    def _by_class(self, model: str) -> Observations:
        """Return whether a model is right about each picture, by the name under which its class is compared."""
        right = self._right(model, plain=False)
        labels = {part: sample.label for sample, part in self._parts(right, model).items()}
        names = {label: name for name, members in self.design.compared.items() for label in members}
        seen = self._observed(right, model).by_unit.items()
        return Observations({(names[labels[part]], part): value for part, value in seen if labels[part] in names})

    def _contrasted(self, model: str) -> Observations:
        """Return whether a model is right about the first picture of a pair, less whether about the second."""
        half = len(self.design.arms) // 2
        right = {(sample.round, sample.arm): value for sample, value in self._right(model, plain=False).items()}
        values = {
            RoundPart(number, arm): value - right[number, arm + half]
            for (number, arm), value in right.items()
            if arm < half and (number, arm + half) in right
        }
        return observed(self.design, values, parts=half)

    @property
    def _by_task(self) -> list[EvaluatedChoices]:
        """What was said in each of two tasks that are compared, of rounds that are complete."""
        parts, half = [], len(self.design.arms) // 2
        for number, design in enumerate(self.design.parts):
            own = {
                sample: replace(sample, arm=sample.arm - number * half)
                for sample in self.samples
                if sample.arm // half == number
            }
            choices = {
                key: {own[sample]: choice for sample, choice in each.items() if sample in own}
                for key, each in self.choices.items()
            }
            parts.append(EvaluatedChoices(design, list(own.values()), choices))
        return parts

    def _observed(self, values: Mapping[Sample, float], *models: str) -> Observations:
        parts = {part: values[sample] for sample, part in self._parts(values, *models).items()}
        return observed(self.design, parts, parts=len(self.design.arms))

    def _parts(self, samples: Iterable[Sample], *models: str) -> dict[Sample, RoundPart]:
        """Return the part of a round that each sample is, of those that count for some models."""
        parts = {sample: RoundPart(sample.round, sample.arm) for sample in samples}
        if not self.design.known:
            return parts
        recognized = {
            part: all(self.recognized[name][sample] for name in models)
            for sample, part in parts.items()
            if all(sample in self.recognized[name] for name in models)
        }
        places = closed_up(recognized, parts=len(self.design.arms))
        return {sample: places[part] for sample, part in parts.items() if part in places}


def _shown(
    examination: Examination, design: Design, arm: Arm, drawing: tuple[DrawnArm, str], left: int = _OTHERS
) -> tuple[DrawnArm, DrawnPicture]:
    """Draw a picture of an arm; where of many classes one cannot be shown so, of another one, `left` times at most."""
    chosen, seed = drawing
    try:
        return chosen, examination.draw(chosen.arm, seed, named=design.about_things)
    except NotShown as error:
        if not design.pools or not left:
            raise
        seed = f"{seed}/other"
        other, drawn = _shown(examination, design, arm, (arm_drawn(design, arm, seed), seed), left - 1)
        return other, replace(drawn, rejected=drawn.rejected + error.tried)


def recognition_keys(design: Design, sample: Sample, fingerprint: str) -> list[TrialKey]:
    """Name the trials that say whether a model recognizes what has to be known of a sample."""
    return [key_of(put, sample, fingerprint, plain=True) for put in recognition(design, sample)]


def _recognized(design: Design, samples: Sequence[Sample], fingerprint: str, trials: TrialTable) -> dict[Sample, bool]:
    """Return for each sample whether all that has to be known was recognized, where all of it was asked."""
    questions = {sample: recognition(design, sample) for sample in samples}
    keys = {sample: recognition_keys(design, sample, fingerprint) for sample in samples}
    measured = trials.get([key for each in keys.values() for key in each])
    return {
        sample: all(
            chosen(measured[key], put.choices) == put.answer
            for key, put in zip(keys[sample], questions[sample], strict=True)
        )
        for sample in samples
        if all(key in measured for key in keys[sample])
    }


def key_of(put: DrawnQuestion, sample: Sample, fingerprint: str, *, plain: bool) -> TrialKey:
    """Name the trial in which a model is asked about a sample.

    Args:
        put: What is asked about the sample.
        sample: The sample.
        fingerprint: Of the model.
        plain: Whether it is asked about the picture before it was transformed.
    """
    picture = sample.plain if plain else sample.picture
    return TrialKey(fingerprint, (picture,), put.question, put.choices)


def chosen(trial: Trial, choices: Sequence[str]) -> str | None:
    """Return the choice that was made in a trial, by the mean log-probability of its tokens (APEX, section 3.2)."""
    place = Ranking(trial.scores).choice
    return None if place is None else choices[place]
