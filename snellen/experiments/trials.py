"""From trials to findings: who was right about which picture, what that says about each claim, who decides when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from snellen.experiments.protocols.protocol import RoundPart, observed
from snellen.experiments.schema import UNKNOWN, Claim, Design, Experiment, Finding, Report, Result
from snellen.memory.trials import Trial, TrialKey
from snellen.models.under_test import Ranking
from snellen.scoring import Chosen, Observations, choice_metrics, confidence_interval, share_errors

if TYPE_CHECKING:
    from snellen.memory.samples import Sample
    from snellen.memory.trials import TrialTable


@dataclass(frozen=True)
class ChoicesEvaluated:
    """The samples of one experiment, and what models said about them.

    Attributes:
        design: Of the experiment.
        samples: Round by round, in the order of the arms.
        said: For each model by name and each condition (plain or not), the choice that was made about each sample
            measured so far; None for no usable answer.
    """

    design: Design
    samples: Sequence[Sample]
    said: Mapping[tuple[str, bool], Mapping[Sample, str | None]]

    @classmethod
    def of(
        cls, design: Design, samples: Sequence[Sample], fingerprints: Mapping[str, str], trials: TrialTable
    ) -> ChoicesEvaluated:
        """Look up all trials of an experiment.

        Args:
            design: Of the experiment.
            samples: Its samples.
            fingerprints: Of each model by name.
            trials: Where they are.
        """
        said: dict[tuple[str, bool], dict[Sample, str | None]] = {}
        for name, fingerprint in fingerprints.items():
            for plain in design.conditions:
                keys = {sample: key_of(design, sample, fingerprint, plain=plain) for sample in samples}
                found = trials.get(list(keys.values()))
                said[name, plain] = {
                    sample: chosen(found[key], design.choices) for sample, key in keys.items() if key in found
                }
        return cls(design, samples, said)

    def observations(self, claim: Claim) -> Observations:
        """Return what a claim is about, a value for each picture of the rounds that are complete.

        A picture before it was transformed is a part of its unit, and so is what another model says of it.
        """
        if claim.kind == "better":
            one, other = self._right(claim.model, plain=False), self._right(claim.other, plain=False)
            values = {sample: one[sample] - other[sample] for sample in one if sample in other}
        elif claim.kind == "drop":
            before, after = self._right(claim.model, plain=True), self._right(claim.model, plain=False)
            values = {sample: before[sample] - after[sample] for sample in before if sample in after}
        else:
            values = self._right(claim.model, plain=claim.kind == "plain")
        return self._observed(values)

    def results(self, *, alpha: float) -> list[Result]:
        """Return the metrics of every model in every condition.

        Args:
            alpha: The error rate of the intervals.
        """
        found = []
        for (name, plain), said in self.said.items():
            seen = self._observed(self._right(name, plain=plain))
            if not seen:
                continue
            answers = [
                Chosen(self.design.arms[sample.arm].answer, choice)
                for sample, choice in said.items()
                if RoundPart(sample.round, sample.arm) in seen.by_unit
            ]
            unknown = UNKNOWN if self.design.unknown else None
            metrics = choice_metrics(answers, self.design.choices, unknown=unknown)
            span = confidence_interval(seen, alpha=alpha)
            found.append(
                Result(
                    model=name, plain=plain, n=len(seen), unit=self.design.unit.name, average=metrics.average,
                    interval=(span.low, span.high), error_rate=alpha, interval_kind="confidence sequence",
                    by_class=metrics.by_class, abstention=metrics.abstention, invalid=metrics.invalid,
                    informedness=metrics.informedness,
                )
            )  # fmt: skip
        return found

    def _right(self, model: str, *, plain: bool) -> dict[Sample, float]:
        said = self.said.get((model, plain), {})
        return {sample: float(choice == self.design.arms[sample.arm].answer) for sample, choice in said.items()}

    def _observed(self, values: Mapping[Sample, float]) -> Observations:
        parts = {RoundPart(sample.round, sample.arm): value for sample, value in values.items()}
        return observed(self.design, parts, parts=len(self.design.arms))


def key_of(design: Design, sample: Sample, fingerprint: str, *, plain: bool) -> TrialKey:
    """Name the trial in which a model is asked about a sample.

    Args:
        design: Of the experiment.
        sample: The sample.
        fingerprint: Of the model.
        plain: Whether it is asked about the picture before it was transformed.
    """
    picture = sample.plain if plain else sample.picture
    return TrialKey(fingerprint, (picture,), design.asked(design.arms[sample.arm]), tuple(design.choices))


def chosen(trial: Trial, choices: Sequence[str]) -> str | None:
    """Return the choice that was made in a trial, by the mean log-probability of its tokens (APEX, section 3.2)."""
    place = Ranking(trial.scores).choice
    return None if place is None else choices[place]


def decided(report: Report) -> Report:
    """Return the report with the verdicts that all its evidence together allows at its error rate (e-BH)."""
    examined = [finding for finding in report.findings if not finding.trouble]
    shared = share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.alpha)
    verdicts = iter(shared.decided)

    def ruled(finding: Finding) -> Finding:
        if finding.trouble:
            return finding
        return finding.model_copy(update={"verdict": finding.leaning if next(verdicts) else "open"})

    experiments = [
        one.model_copy(update={"findings": [ruled(finding) for finding in one.findings]}) for one in report.experiments
    ]
    return report.model_copy(update={"experiments": experiments})


def error_rate(report: Report) -> float:
    """Return the error rate of each claim's interval that goes with the verdicts of a report."""
    examined = [finding for finding in report.findings if not finding.trouble]
    return share_errors([math.exp(finding.logarithm) for finding in examined], alpha=report.alpha).alpha


def replaced(report: Report, number: int, experiment: Experiment) -> Report:
    """Return the report with another state of one experiment."""
    experiments = [experiment if place == number else one for place, one in enumerate(report.experiments)]
    return report.model_copy(update={"experiments": experiments})
