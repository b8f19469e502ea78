"""Findings of experiments in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from snellen.experiments.constant_answers import constant_answer
from snellen.experiments.design import EXTREMES, PLACES, Claim, Design
from snellen.experiments.report import Discussion, Experiment, Finding, Pattern, Result
from snellen.experiments.units import Unit
from snellen.reasoning.language.inflection import plural

_SHARP: Final = 0.15
"""A class this much below the average of its experiment is worth a word."""


def discussed(experiment: Experiment) -> Discussion:
    """Say what was done in an experiment, and what it shows."""
    design = experiment.design
    pictures = f"{experiment.images} pictures, {experiment.rounds} for each of {len(design.arms)} kinds"
    recap = f"{design.purpose} {pictures}."[:600]
    weaknesses = [weakness for result in experiment.results if (weakness := _weakness(result, design))]
    shown = [_told(finding, design) for finding in experiment.findings]
    return Discussion(recap=recap, interpretation=" ".join([*shown, *weaknesses])[:1_200])


@dataclass(frozen=True)
class MainFigure:
    """The main figure of a result, by the name and on the scale of the claims about it.

    Attributes:
        name: What it is.
        mean: Its value.
        interval: Around it.
        parts: The same by answer or by kind of question, and what else was measured.
    """

    name: str
    mean: float
    interval: tuple[float, float]
    parts: dict[str, float]


def scored(result: Result, design: Design) -> MainFigure:
    """Return the main figure of a result.

    A judge's result keeps the share of pairs in the right order, its claims are about the concordance, which is that
    share less the share in the wrong order: a report tells the concordance alone.
    """
    if design.protocol != "pairs":
        return MainFigure(design.scored, result.average, result.interval, result.by_class)
    low, high = result.interval
    parts = {name: value for name, value in result.by_class.items() if name != "order"}
    return MainFigure("concordance", 2 * result.average - 1, (2 * low - 1, 2 * high - 1), parts)


def figures(finding: Finding, design: Design, *, turned: bool = False) -> str:  # noqa: PLR0911 - a kind each
    """Say what was measured of a claim, with its interval.

    Args:
        finding: What was measured.
        design: Of its experiment.
        turned: Say of a comparison by how much the second model is better than the first.
    """
    mean, (low, high) = finding.mean, finding.interval
    if turned:
        mean, low, high = 0 - mean, 0 - high, 0 - low
    if finding.claim.measure:
        return _measured(finding.claim, mean, low, high)
    if finding.claim.kind == "drop":
        return _loss(finding.claim, design, mean, low, high)
    if finding.claim.kind in EXTREMES:
        likeliest = finding.likeliest or "none"
        name = plural(likeliest) if design.compared.get(likeliest) == [likeliest] else likeliest
        return f"of pictures of {name} it is right in {100 * mean:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
    points = f"{100 * mean:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})"
    if finding.claim.kind == "steadier":
        return f"a difference of {points} in what is lost in {design.task}"
    if finding.claim.kind == "favor":
        said = f"{finding.claim.answer} name" if finding.claim.answer in PLACES else f"“{finding.claim.answer}”"
        more = f"{100 * abs(mean):.0f} points {'more' if mean >= 0 else 'less'}"
        return (
            f"it chooses {said} {more} often ({100 * low:+.0f} to {100 * high:+.0f}) than it is right in {design.task}"
        )
    if finding.claim.kind == "mistake":
        return f"a name of {finding.claim.answer} is chosen {points} more often than that of another wrong thing"
    if finding.claim.kind == "better":
        return f"a difference of {points} in {design.task}"
    if finding.claim.kind == "contrast":
        return f"a difference of {points} between {design.task}"
    task = f"{design.skill} {design.plain_condition}" if finding.claim.kind == "plain" else design.task
    return f"right in {100 * mean:.0f} % ({100 * low:.0f} to {100 * high:.0f}) in {task}"


def _loss(claim: Claim, design: Design, mean: float, low: float, high: float) -> str:
    """Say by how much accuracy fell, or how far it is from the share of it that may be lost."""
    points, change = f"{100 * abs(mean):.0f} points", f"({0 - 100 * high:+.0f} to {0 - 100 * low:+.0f})"
    if claim.share:
        kept = f"{100 * (1 - claim.share):.4g} % of what it was"
        side = "below" if mean >= 0 else "above"
        return f"accuracy beyond guessing is {points} {side} {kept} {change} in {design.task}"
    if design.against:
        change = f"({100 * low:+.0f} to {100 * high:+.0f})"
        more = "more" if mean >= 0 else "less"
        return f"it loses {points} {change} {more} {design.condition} than {design.against} in {design.skill}"
    return f"accuracy {'fell' if mean >= 0 else 'rose'} {points} {change} in {design.task}"


def _measured(claim: Claim, mean: float, low: float, high: float) -> str:
    """Say what was measured of free answers or scores."""
    if claim.kind == "better":
        return f"a difference of {100 * mean:+.0f} points ({100 * low:+.0f} to {100 * high:+.0f})"
    if claim.measure == "order":
        return f"concordance {mean:.2f} ({low:.2f} to {high:.2f})"
    called = {
        "truth": "truth",
        "help": "of what is asked for",
        "symmetry": "alike both ways",
        "heed": "following the criterion",
    }
    return f"{100 * mean:.0f} % {called[claim.measure]} ({100 * low:.0f} to {100 * high:.0f})"


def sample_size(found: Finding | Result, design: Design) -> str:
    """Say how many units a figure is over: ``n = 41 originals``; of older reports, what they counted instead."""
    if found.unit or not design.unit.whole_round:
        unit = Unit(found.unit, design.unit.whole_round) if found.unit else design.unit
        return f"n = {unit.counted(found.n)}"
    return f"n = {found.n:,} splits of {design.unit.name}s, counted by an older version as if they were independent"


def interval_name(found: Finding | Pattern | Result) -> str:
    """Name the interval of a figure: ``95 % confidence sequence``; of older reports, what they showed instead."""
    level = "" if found.error_rate is None else f"{100 * (1 - found.error_rate):.4g} % "
    return f"{level}{found.interval_kind}{', which ignores stopping' if found.interval_kind == 'bootstrap' else ''}"


def _told(finding: Finding, design: Design) -> str:
    if finding.trouble:
        return f"{finding.claim.model}: {finding.trouble}"
    holds = {"yes": "Yes", "no": "No", "open": "Not decided"}[finding.verdict]
    return f"{finding.claim.stated(design)}? {holds}: {figures(finding, design)}, {sample_size(finding, design)}."


def _weakness(result: Result, design: Design) -> str:
    constant = constant_answer(result)
    if constant is not None:
        where = (
            f"{design.plain_condition.capitalize()}, " if result.plain else f"In {result.task}, " * bool(result.task)
        )
        return f"{where}{result.model} {constant}."
    if result.plain or len(result.by_class) < 2:  # noqa: PLR2004 - one class is the average
        return ""
    name, share = min(result.by_class.items(), key=lambda pair: pair[1])
    if result.average - share < _SHARP:
        return ""
    return f"{result.model} is weakest where the answer is {name!r}: {100 * share:.0f} %."
