"""Actions of rules about shares, bounds and margins: the numbers of a question."""

from __future__ import annotations

from typing import Any, Final, cast

from snellen.reasoning.queries.model_query import HALF, Threshold

LOST: Final = {"at least": "at most", "at most": "at least", "more than": "less than", "less than": "more than"}
"""The bound for the rest by that for a share."""


def share(percent: float) -> float | None:
    """Take a share from percent or points."""
    return percent / 100 if 0 < percent < 100 else None  # noqa: PLR2004


def fraction(part: float) -> float | None:
    """Take a share from a number below one."""
    return part if 0 < part < 1 else None


def margin(how: str, value: float) -> float | None:
    """Take a bound for a margin, which is the least that models differ by."""
    return value if how in {"at least", "more than"} else None


def error_rate(percent: float) -> float | None:
    """Take the confidence that goes with an error rate in percent."""
    rest = share(percent)
    return None if rest is None else round(1 - rest, 10)


def ratio(part: float, whole: float) -> float | None:
    """Take a share as nine out of ten."""
    return round(part / whole, 4) if 0 < part < whole else None


def bound(how: str, value: float) -> Threshold:
    """Take a bound."""
    return Threshold(how=cast("Any", how), share=value)


def beyond_guessing(how: str) -> Threshold:
    """Take a bound by guessing: to be better than that, or no better."""
    is_better = how in {"at least", "more than"}
    return Threshold(how="more than" if is_better else "at most", share=HALF, guessing=True)


def bound_or_least(how: str | None, value: float) -> Threshold:
    """Take a bound; what has none is the least."""
    return bound(how or "at least", value)


def of_accuracy(threshold: Threshold) -> Threshold:
    """Take a bound as a share of the accuracy that there was."""
    return threshold.model_copy(update={"relative": True})


def kept(threshold: Threshold) -> Threshold:
    """Take a bound for the share that is kept as one for the share that is lost."""
    return of_accuracy(bound(LOST[threshold.how], round(1 - threshold.share, 10)))


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (share, fraction, margin, error_rate, ratio, bound, beyond_guessing, bound_or_least, of_accuracy, kept)
}
