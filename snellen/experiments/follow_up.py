"""Follow-ups of weaknesses: what a model is to learn, and how its correction is measured.

A corrected model is measured on pictures that nobody has seen, beside itself as it was: the same experiments say what
it gained, a battery of others what it lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from snellen.experiments.design import IDENTITY, MOST_CLAIMS, Claim, Design, Name
from snellen.experiments.findings import confidence, discussed, figures
from snellen.experiments.report import (
    Budget,
    Conclusion,
    Discussion,
    Experiment,
    Finding,
    Opening,
    Report,
    Sufficiency,
    answered,
)
from snellen.experiments.units import UNITS
from snellen.reasoning.reasoner import ReasonerUsage

LOST: Final = 0.05
"""What may be lost in any ability of the battery without being called a loss."""
_IMAGES: Final = 240
"""Pictures of each experiment of a follow-up: how much was gained and lost matters, not only whether."""


class AccuracyChange(BaseModel):
    """The change in accuracy of a corrected model, over the same pictures."""

    model_config = ConfigDict(frozen=True)

    n: int
    """Units: a picture of each experiment is one."""
    mean: float
    interval: tuple[float, float]
    """A term of a confidence sequence at the report's error rate."""
    error_rate: float | None = None
    """Of the interval; reports of older versions do not say it."""
    experiments: int = 0
    """Those that it is over; 0 in reports of older versions, whose `n` counts the pictures of all of them."""


class ModelCorrection(BaseModel):
    """The correction of one model's weaknesses."""

    model_config = ConfigDict(frozen=True)

    model: Name
    experiments: list[int]
    """Those that it was weak in, from 0."""
    weaknesses: list[str]
    """What was found, in sentences."""
    called: str = ""
    """The model's name with its adapter; empty where nothing came of it."""
    trouble: str = ""
    """Why nothing did."""
    taught: int = 0
    """Pictures that it learned from."""
    steps: int = 0
    seconds: float = 0.0
    held_out: tuple[float, float] | None = None
    """The share of held-out lessons that it had right, and has."""
    gain: AccuracyChange | None = None
    """In the experiments that it was weak in."""
    elsewhere: AccuracyChange | None = None
    """In the battery."""

    def __str__(self) -> str:
        """Tell it in a sentence."""
        if not self.called:
            return f"{self.model} was not corrected. {self.trouble}"
        gained = f": {points(self.gain)} where it was weak" if self.gain else ""
        lost = f", {points(self.elsewhere)} elsewhere" if self.elsewhere else ""
        return f"{self.model} was corrected by {self.called}{gained}{lost}."


def points(change: AccuracyChange) -> str:
    """Write a change with its interval."""
    low, high = change.interval
    each = f" of each of {change.experiments} experiments" if change.experiments > 1 else ""
    counted = f"n = {UNITS['choice'].counted(change.n)}{each}"
    level = f"{confidence(change.error_rate)} confidence sequence, " if change.error_rate is not None else ""
    return f"{100 * change.mean:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f}, {level}{counted})"


def weaknesses(report: Report) -> dict[str, dict[int, list[str]]]:
    """Return what was found that models cannot do: for each by name, the experiments and what they say."""
    by_model: dict[str, dict[int, list[str]]] = {}
    for number, experiment in enumerate(report.experiments):
        for finding in experiment.findings:
            if _is_weak(finding, experiment.design):
                sentence = f"{finding.claim.model}: {figures(finding, experiment.design)}"
                by_model.setdefault(finding.claim.model, {}).setdefault(number, []).append(sentence)
    return by_model


def _is_weak(finding: Finding, design: Design) -> bool:
    kind, verdict = finding.claim.kind, finding.verdict
    loses = kind == "drop" and verdict == "yes" and not design.against  # more than otherwise may be little
    return (kind in {"ability", "plain"} and verdict == "no") or loses


def corrected_sample_set(investigation: str) -> str:
    """Return the name under which the pictures are kept that measure corrections."""
    return f"{investigation}/after"


def measured(corrections: Sequence[ModelCorrection]) -> list[str]:
    """Return the models that are measured again: each that was corrected, as it was and as it is."""
    return [name for one in corrections if one.called for name in (one.model, one.called)]


def opened(before: Report, corrections: Sequence[ModelCorrection], experiments: int, *, seed: int) -> Report:
    """Open the report about corrections: with other pictures, and as much evidence as it takes."""
    return Report(
        query=before.query,
        models=measured(corrections),
        alpha=before.alpha,
        seed=seed,
        budget=Budget(
            experiments=experiments, images=_IMAGES * experiments, each=_IMAGES, seconds=before.budget.seconds
        ),
    )


def follow_up(before: Report, corrections: Sequence[ModelCorrection], battery: Sequence[Design]) -> list[Design]:
    """Return the experiments that measure corrections: those that models were weak in, then the battery.

    Args:
        before: The report that found the weaknesses.
        corrections: What came of them.
        battery: Experiments about everything else; their claims are replaced.
    """
    made = [one for one in corrections if one.called]
    weak = sorted({number for one in made for number in one.experiments})
    again = [
        _again(before.experiments[number].design, [one for one in made if number in one.experiments]) for number in weak
    ]
    beside = [
        design.model_copy(
            update={
                "claims": [Claim(kind="better", model=one.model, other=one.called, threshold=LOST) for one in made],
                "least": _IMAGES,
            }
        )
        for design in battery
    ]
    return [*again, *beside]


def _again(design: Design, corrections: Sequence[ModelCorrection]) -> Design:
    called = {one.model: one.called for one in corrections}
    gains = [Claim(kind="better", model=one.called, other=one.model, threshold=0) for one in corrections]
    same = [
        claim.model_copy(update={"model": called[claim.model]})
        for claim in design.claims
        if claim.model in called and not claim.other
    ]
    return design.model_copy(update={"claims": [*gains, *same][:MOST_CLAIMS], "least": _IMAGES})


def plain(design: Design) -> Design:
    """Return an experiment with its pictures as they are before they are transformed."""
    arms = [arm.model_copy(update={"transform": IDENTITY}) for arm in design.arms]
    return design.model_copy(update={"arms": arms, "paired": False, "condition": ""})


class FollowUp:
    """Runs through experiments that are known beforehand (an `Examiner`).

    Args:
        designs: The experiments.
    """

    def __init__(self, designs: Sequence[Design]) -> None:
        self._designs = designs

    @property
    def usage(self) -> ReasonerUsage:
        """Nothing: no one is called."""
        return ReasonerUsage()

    async def open_report(self, query: str, models: Sequence[str]) -> Opening:  # noqa: ARG002 - it is known
        """Examine all of the models."""
        return Opening(models=list(models))

    async def design_experiment(self, report: Report, refusals: Sequence[str]) -> Design | None:  # noqa: ARG002 - as above
        """Return the next experiment."""
        number = len(report.experiments)
        return self._designs[number] if number < len(self._designs) else None

    async def discuss(self, report: Report, experiment: Experiment) -> Discussion:  # noqa: ARG002 - the one says it all
        """Say what was done and what it shows."""
        return discussed(experiment)

    async def judge_sufficiency(self, report: Report) -> Sufficiency:
        """Go on to the last experiment."""
        return Sufficiency(sufficient=len(report.experiments) >= len(self._designs))

    async def conclude(self, report: Report) -> Conclusion:
        """Say what was gained, and what was lost."""
        answers = [
            answered(
                finding.claim.about, _told(finding, one.design), property=finding.claim.stated(one.design),
                verdict=finding.verdict, polarity="unknown",
            )
            for one in report.experiments
            for finding in one.findings
            if finding.claim.kind == "better" and (finding.claim.of_gain or finding.verdict == "yes")
        ][:40]  # fmt: skip
        said = " ".join(one.sentence for one in answers)[:2_000]
        return Conclusion(answers=answers, conclusion=said, discussions=list(map(discussed, report.experiments)))


_GAINED: Final[Mapping[str, str]] = {"yes": "has learned", "no": "has become worse at", "open": "may not have learned"}


def _told(finding: Finding, design: Design) -> str:
    gained = finding.claim.of_gain
    who = finding.claim.model if gained else finding.claim.other
    change = _GAINED[finding.verdict] if gained else "has lost some of"
    if finding.trouble:
        return f"{who} could not be measured in {design.task}: {finding.trouble}"
    return f"{who} {change} {design.task}: {figures(finding, design)}."
