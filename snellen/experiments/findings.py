"""Findings of experiments in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from snellen.experiments.constant_answers import constant_answer
from snellen.experiments.design import EXTREMES, Claim, Design
from snellen.experiments.report import Discussion, Experiment, Finding, Pattern, Result
from snellen.experiments.units import Unit
from snellen.reasoning.language.inflection import plural
from snellen.sentences import capitalized

_NAMED: Final = 4
"""Classes that a model fails at which are named."""
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
    """Say what was measured of a claim, with its interval and threshold: "right in 87 % (79 to 95, threshold 75)".

    Args:
        finding: What was measured.
        design: Of its experiment.
        turned: Say of a comparison by how much the second model is better than the first.
    """
    mean, (low, high), threshold = finding.mean, finding.interval, finding.claim.threshold
    falls = finding.claim.kind == "drop" and not design.against  # a drop is told as what becomes of the accuracy
    if turned or falls:
        mean, low, high, threshold = 0 - mean, 0 - high, 0 - low, 0 - threshold
    if finding.claim.measure == "order" and finding.claim.kind != "better":
        return f"concordance {hundredths(mean)} ({hundredths(low)} to {hundredths(high)}, threshold {threshold:g})"
    if finding.claim.kind in {"ability", "plain"}:
        return _share(finding.claim, design, f"{100 * mean:.0f} %", _around(low, high, threshold))
    if finding.claim.kind in EXTREMES:
        likeliest = finding.likeliest or "none"
        name = plural(likeliest) if design.compared.get(likeliest) == [likeliest] else likeliest
        return f"right in {100 * mean:.0f} % ({100 * low:.0f} to {100 * high:.0f}) of the pictures of {name}"
    if finding.claim.kind == "classes":
        return _count_of_classes(finding, design)
    around = _around_difference(low, high, threshold, finding.claim)
    points = f"{100 * mean:+.0f} points ({around})"
    match finding.claim.kind:
        case "drop":
            return _loss(finding.claim, design, mean, around)
        case "mistake":
            return f"{_how_often(finding)}a difference of {points}"
        case "favor":
            more = f"{100 * abs(mean):.0f} points {'more' if mean >= 0 else 'less'}"
            return f"it chooses {finding.claim.said} {more} often ({around}) than that answer is right in {design.task}"
        case "contrast":
            return f"a difference of {points} between {design.task}"
    what = "" if finding.claim.measure else f" in {design.task}"
    lost = " in what is lost" if finding.claim.kind == "steadier" else ""
    return f"a difference of {points}{lost}{what}"


def right_order(finding: Finding) -> str:
    """Say which share of pairs was in the right order, where that is what is asked: ties count half."""
    share, *around = ((1 + value) / 2 for value in (finding.mean, *finding.interval, finding.claim.threshold))
    pairs = f"{100 * share:.0f} % of pairs in the right order ({_around(*around)})"
    return f"{pairs}, a concordance of {hundredths(finding.mean)}"


def hundredths(value: float) -> str:
    """Write a figure to two decimals, rounded as it is in percent: 64.5 % is told as 64 %, and so 0.645 as 0.64."""
    return f"{round(100 * value) / 100:.2f}"


def _count_of_classes(finding: Finding, design: Design) -> str:
    """Say about how many classes a model was right often enough, and about which it was not."""
    number = len(design.compared)
    held, least, most = (round(number * share) for share in (finding.mean, *finding.interval))
    often = f"right in more than {100 * finding.claim.threshold:.3g} % about {held} of {number} kinds"
    few = [f"{plural(name)} ({100 * finding.by_class[name]:.0f} %)" for name in finding.among[:_NAMED]]
    others = f" and {len(finding.among) - _NAMED} more" if len(finding.among) > _NAMED else ""
    left = f", not about {', '.join(few)}{others}" if few else ""
    return f"{often} ({least} to {most}, threshold {finding.claim.count}){left}, in {design.task}"


def _loss(claim: Claim, design: Design, mean: float, around: str) -> str:
    """Say by how much accuracy fell, or how far it is from the share of it that may be lost."""
    points = f"{100 * abs(mean):.0f} points"
    if design.against:
        more = "more" if mean >= 0 else "less"
        return f"it loses {points} ({around}) {more} {design.condition} than {design.against} in {design.skill}"
    if claim.share:
        kept = f"{100 * (1 - claim.share):.4g} % of what it was"
        side = "above" if mean > 0 else "below"
        return f"accuracy beyond guessing is {points} {side} {kept} ({around}) in {design.task}"
    return f"accuracy {'rose' if mean > 0 else 'fell'} {points} ({around}) in {design.task}"


def _around(low: float, high: float, threshold: float) -> str:
    """Write an interval and a threshold in percent: "79 to 95, threshold 75"."""
    return f"{100 * low:.0f} to {100 * high:.0f}, threshold {_bar(threshold)}"


def _around_difference(low: float, high: float, threshold: float, claim: Claim) -> str:
    """Write an interval of a difference and a threshold in points: "+10 to +50, threshold 0".

    An end that any difference is within says nothing: then it is "-72 or less", not "-100 to -72".
    """
    ends, most = (f"{100 * low:+.0f}", f"{100 * high:+.0f}"), round(100 * max(-claim.low, claim.high))
    told = f"{ends[0]} to {ends[1]}"
    if ends[0] == f"{-most:+d}" and ends[1] != f"{most:+d}":
        told = f"{ends[1]} or less"
    elif ends[1] == f"{most:+d}" and ends[0] != f"{-most:+d}":
        told = f"{ends[0]} or more"
    return f"{told}, threshold {_bar(threshold, sign='+')}"


def _bar(threshold: float, *, sign: str = "") -> str:
    return f"{100 * threshold:{sign}.3g}" if threshold else "0"


def _share(claim: Claim, design: Design, share: str, around: str) -> str:
    """Say how often something was so."""
    if claim.measure:
        called = {
            "truth": "truth",
            "help": "of what is asked for",
            "symmetry": "alike both ways",
            "heed": "following the criterion",
        }
        return f"{share} {called[claim.measure]} ({around})"
    task = f"{design.skill} {design.plain_condition}" if claim.kind == "plain" else design.task
    return f"right in {share} ({around}) in {task}"


def _how_often(finding: Finding) -> str:
    """Say how often a mistake was made, and how often another one; nothing of reports that did not count them."""
    if finding.shares is None:
        return ""
    taken, otherwise = (f"{100 * share:.0f} %" for share in finding.shares)
    return (
        f"it chooses a name of {finding.claim.answer} in {taken} of {finding.n} pictures and that of another wrong "
        f"thing in {otherwise}, "
    )


def sample_size(found: Finding | Result, design: Design) -> str:
    """Say how many units a figure is over: ``n = 41 originals``; of older reports, what they counted instead."""
    if found.unit or not design.unit.whole_round:
        unit = Unit(found.unit, design.unit.whole_round) if found.unit else design.unit
        return f"n = {unit.counted(found.n)}"
    return f"n = {found.n:,} splits of {design.unit.name}s, counted by an older version as if they were independent"


def interval_name(found: Finding | Pattern | Result) -> str:
    """Name the interval of a figure: ``95 % confidence sequence``; of older reports, what they showed instead."""
    level = "" if found.error_rate is None else f"{confidence(found.error_rate)} "
    return f"{level}{found.interval_kind}{', which ignores stopping' if found.interval_kind == 'bootstrap' else ''}"


def confidence(error_rate: float) -> str:
    """Write what is left by an error rate, with as many digits as it takes not to be 100 %: "94.29 %", "99.9985 %"."""
    digits = 2 if error_rate <= 0 else max(2, 1 - math.floor(math.log10(100 * error_rate)))
    level = f"{100 * (1 - error_rate):.{digits}f}".rstrip("0").rstrip(".")
    return f"{level} %"


def _told(finding: Finding, design: Design) -> str:
    if finding.trouble:
        return f"{finding.claim.model}: {finding.trouble}"
    holds = {"yes": "Yes", "no": "No", "open": "Not decided"}[finding.verdict]
    return f"{finding.claim.stated(design)}? {holds}: {figures(finding, design)}, {sample_size(finding, design)}."


def _weakness(result: Result, design: Design) -> str:
    constant = constant_answer(result)
    if constant is not None:
        where = (
            f"{capitalized(design.plain_condition)}, " if result.plain else f"In {result.task}, " * bool(result.task)
        )
        return f"{where}{result.model} {constant}."
    if result.plain or len(result.by_class) < 2:  # noqa: PLR2004 - one class is the average
        return ""
    name, share = min(result.by_class.items(), key=lambda pair: pair[1])
    if result.average - share < _SHARP:
        return ""
    return f"{result.model} is weakest where the answer is {name!r}: {100 * share:.0f} %."
