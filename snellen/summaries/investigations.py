"""Investigations in words: figures with their intervals, the guarantee of a report, the work at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.experiments.findings import hundredths, interval_name, sample_size

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Finding, Pattern, Report, Result
    from snellen.graphs.states import Json


def figures(finding: Finding, design: Design) -> str:
    """Write the figures of a finding: ``0.31 (0.18 to 0.44), n = 58 pictures``.

    Args:
        finding: What was measured.
        design: Of its experiment.
    """
    if not finding.n:
        return "not measured"
    low, high = finding.interval
    return f"{hundredths(finding.mean)} ({hundredths(low)} to {hundredths(high)}), {sample_size(finding, design)}"


def intervals(shown: Sequence[Finding | Result]) -> str:
    """Name the intervals of figures that stand together, for the head of their column: ``95 % confidence sequence``."""
    return "; ".join(dict.fromkeys(interval_name(one) for one in shown if one.n)) or "interval"


def pattern_in_words(pattern: Pattern) -> str:
    """Tell a pattern of failure with the interval of its share, and where its pictures are from."""
    low, high = pattern.interval
    interval = f"{hundredths(low)} to {hundredths(high)}, {interval_name(pattern)}"
    share = f"a share of {hundredths(pattern.mean)} ({interval}), of which more than {pattern.bar:.2g} is proved"
    return f"{pattern.sentence} Experiment {pattern.experiment}: {share}."


def guarantee(report: Report) -> str:
    """Say what the verdicts and the intervals of a report are worth."""
    spent = f"{report.images:,} pictures, {report.trials:,} questions to models, {report.seconds:.0f} s."
    if not any(finding.n for finding in report.findings):
        return f"Nothing is measured yet; {spent}"
    count = len([finding for finding in report.findings if not finding.trouble])
    shares = f"e-BH over {count} claim{'s' * (count != 1)}"
    if report.patterns_alpha:
        patterns, verdicts = (f"{100 * rate:.4g} %" for rate in (report.patterns_alpha, report.verdicts_alpha))
        shares = f"{shares}: {verdicts}; all patterns of failure together: {patterns}"
    return (
        f"On average at most {100 * report.alpha:g} % of such verdicts are wrong, whenever one stops "
        f"({shares}); {spent} Intervals: {_all_intervals(report)}."
    )


def _all_intervals(report: Report) -> str:
    """Name the intervals of all claims; where those that name either side have others, say which are which."""
    either = intervals([one for one in report.findings if one.claim.names_either])
    others = intervals([one for one in report.findings if not one.claim.names_either])
    together = intervals(report.findings)
    return f"{others}; of comparisons, {either}" if ";" in together else together


def doing(told: Json) -> str:
    """Say in words what an investigation is doing, without counts."""
    model = told.get("model", "")
    phases = {"build": "making pictures", "lessons": f"making lessons for {model}", "teach": f"teaching {model}"}
    return phases.get(told.get("phase", ""), f"asking {model}")
