"""Routing of a chat's messages to the graphs: cues decide, sentence similarity where there are none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from snellen.reasoning.language.forget_requests import read_forget_order

if TYPE_CHECKING:
    from snellen.reasoning.case_based.composition import Similarity
    from snellen.reasoning.reasoner import Route

_TRIALS: Final = (
    r"investigate|experiment|benchmark|examine|evaluate|robust|robustness|weakness(?:es)?|sensitive to|struggle|"
    r"fail on|failure"
)
_SIGHT: Final = (
    r"see|tell|recogni[sz]e|distinguish|confuse|handle|count|better|worse|able|affected|understand|good at|bad at"
)
_WHY: Final = r"why|how come|explain|how did you|how do you know|what made you|show me how|what did you do"
_CUES: Final[tuple[tuple[Route, str], ...]] = (
    ("learn", r"^\W*(?:please |can you |could you |now )*(?:learn|teach yourself|get to know)\b"),
    ("explain", rf"^\W*(?:{_WHY})\b|\b(?:explain|reason for)\b"),
    ("investigate", rf"\b(?:{_TRIALS})\b|\b(?:models?|vlms?|clip|blip|detectors?)\b.*\b(?:{_SIGHT})\b"),
)
_SAYINGS: Final[tuple[tuple[Route, str], ...]] = (
    ("ask", "Is there a dog in the picture?"),
    ("ask", "How many cats are there?"),
    ("ask", "Blur the background of the car."),
    ("ask", "What color is the umbrella?"),
    ("ask", "Tag the animals that can fly."),
    ("ask", "Both pictures show a bird."),
    ("investigate", "How well can vision models tell left from right?"),
    ("investigate", "Find out whether noise harms recognition more than rotation does."),
    ("investigate", "Which kinds of pictures do the models get wrong?"),
    ("explain", "Why did you give that answer?"),
    ("explain", "Which step went wrong?"),
    ("forget", "Forget what I taught you about flamingos."),
    ("forget", "Throw away the last correction."),
)
_LEAST: Final = 0.35
"""Below this cosine with everything known, a message is unclear."""


def route_of(message: str, similarity: Similarity, *, is_task: bool) -> Route:
    """Say where a message belongs.

    Args:
        message: What the user wrote.
        similarity: Compares it with sayings whose place is known.
        is_task: Whether it reads as a visual task that the reasoner can solve.
    """
    cue = cue_of(message)
    if cue is not None:
        return cue
    if is_task:
        return "ask"
    if not re.search(r"[a-z]{2}", message.lower()):
        return "unclear"
    alike = similarity(message, [saying for _, saying in _SAYINGS])
    likeness, route = max(zip(alike, (route for route, _ in _SAYINGS), strict=True), key=lambda pair: pair[0])
    return route if likeness >= _LEAST else "unclear"


def cue_of(message: str) -> Route | None:
    """Say where a message belongs by its words alone; None where they do not tell."""
    low = " ".join(message.lower().split())
    if read_forget_order(message) is not None:
        return "forget"
    return next((route for route, pattern in _CUES if re.search(pattern, low)), None)
