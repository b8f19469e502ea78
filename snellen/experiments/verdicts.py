"""Verdicts on claims, and how a question takes them: what each is called, and what a "yes" to a question means."""

from __future__ import annotations

from typing import Final, Literal

Verdict = Literal["yes", "no", "open"]
"""Whether a claim holds; "open" while the evidence does not say."""
Polarity = Literal["same", "opposite", "unknown"]
"""Whether "yes" to a question means that the property holds, that it does not, or cannot be told from the wording."""
VERDICTS: Final[dict[Verdict, str]] = {"yes": "yes", "no": "no", "open": "not decided"}
"""What each verdict is called for people."""
TURNED: Final[dict[Verdict, Verdict]] = {"yes": "no", "no": "yes", "open": "open"}
"""Whether the opposite of a claim holds."""
POLARITIES: Final[dict[str, Polarity]] = {"holds": "same", "fails": "opposite", "open": "unknown"}
"""The polarity of a question by its sense (`ModelQuestion.sense`)."""


def halfway(choices: int) -> float:
    """Return the accuracy halfway between guessing among so many choices and always being right: the bar of "good"."""
    return (1 + 1 / choices) / 2
