"""Corrections in words: what "that is not a flamingo" or "there is also a cat on the left" asks of an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from snellen.reasoning.language.inflection import singular
from snellen.reasoning.language.lexicon import plain_words

MAX_CORRECTION: Final = 500
"""Characters of a correction that are read."""

_SIDES: Final = ("left", "right", "top", "bottom")
_THAT: Final = r"(?:that|this|it|they|these|those|which|the answer|the result)"
_IS: Final = r"(?:'s|'re| is| are| was| were| should be| must be| should have been)"
_WHERE: Final = (
    r"(?:\s+(?:in|on|at|to|near) the (?:[a-z]+ )?(?P<side>left|right|top|bottom)\b.*)?(?:\s+(?:in|of) the picture)?"
)
NUMBER: Final = r"(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+)"
"""A number as people write it in a message, as a regular expression."""
_NOT_BUT: Final = re.compile(
    rf"^(?:no,? )?{_THAT}?{_IS}?\s*not (?:an? |the |any )?(?P<absent>[\w -]+?),?\s+"
    rf"(?:but(?: {_THAT}{_IS})?|it is|they are)\s+(?:rather )?(?:an? |the )?(?P<expected>[\w -]+)$"
)
_RATHER: Final = re.compile(
    rf"^(?:no,? )?{_THAT}{_IS} (?:an? |the )?(?P<expected>[\w -]+?),? (?:and )?not (?:an? |the )?(?P<absent>[\w -]+)$"
)
_BESIDE: Final = re.compile(
    r"^(?:no,? )?(?:an? |the )?(?P<expected>[\w-]+(?: [\w-]+)?), not (?:an? |the )?(?P<absent>[\w-]+(?: [\w-]+)?)$"
)
_ABSENT: Final = re.compile(
    rf"^(?:no,? )?(?:{_THAT}{_IS} (?:not (?:an? |the |any )?|no )|there (?:is|are) (?:no|not an?|not any) |not an? )"
    rf"(?P<absent>[\w -]+?){_WHERE}$"
)
_PRESENT: Final = re.compile(
    r"^(?:no,? )?(?:but )?(?:there (?:is|are)|i (?:can )?see|you (?:missed|overlooked|forgot|left out)|it missed)"
    r"(?: also)? "
    rf"(?:an? |the |another |{NUMBER} more |some |also an? )?(?P<present>[\w -]+?){_WHERE}(?: too| as well)?$"
)
_COUNTED: Final = re.compile(
    rf"^(?:no,? )?(?:there (?:is|are|were|should be|must be)|i (?:can )?(?:only |just )?(?:see|saw|count|counted)) "
    rf"(?:only |just |exactly )?(?P<expected>{NUMBER})"
    rf"(?: (?!more\b|other\b)(?P<present>[\w -]+?))?{_WHERE}$"
)
_OTHERWISE: Final = re.compile(
    rf"^(?:no|nope|(?:no,? )?(?:(?:{_THAT}{_IS} )?(?:wrong|false|incorrect|not right|not correct|not true)"
    r"|you(?:'re| are| were) (?:wrong|mistaken|incorrect)|you got (?:it|that|this) wrong"
    r"|not (?:that|this)(?: one)?|(?:please )?(?:look|try) again))$"
)
_EXPECTED: Final = re.compile(
    rf"^(?:no,? )?(?:{_THAT}{_IS}|the (?:right|correct|true) (?:answer|number|count|colou?r|name|word|result) is) "
    r"(?:an? |the )?(?P<expected>[\w -]+)$"
)
_CHANGE: Final = re.compile(
    rf"^(?:please )?(?:make|correct|change|set) (?:it|that)(?: to)? (?P<expected>{NUMBER}|yes|no)$"
)


_VERBS: Final = frozenset(["is", "are", "was", "were", "be", "but", "and", "not", "that", "this", "there"])
"""Words that no name has: where they stand in one, the sentence says more than is read of it."""


@dataclass(frozen=True)
class WordedCorrection:
    """Correction in words, as far as it was understood; all fields empty where it was not.

    Attributes:
        expected: The right answer.
        absent: A name that is wrong, in the singular.
        present: A name of something that was missed, in the singular.
        side: Where that is: ``left``, ``right``, ``top`` or ``bottom``.
        otherwise: Nothing but that the answer is wrong.
    """

    expected: str = ""
    absent: str = ""
    present: str = ""
    side: str = ""
    otherwise: bool = False

    def __bool__(self) -> bool:
        """Whether anything was understood."""
        return self != WordedCorrection()


def read_correction(text: str) -> WordedCorrection:
    """Read a correction; of several sentences the first that is understood.

    Args:
        text: The user's words, of which the first `MAX_CORRECTION` characters are read.
    """
    words = plain_words(text[:MAX_CORRECTION]).casefold()
    for sentence in re.split(r"[.!?;\n]+", words):
        correction = _read_sentence(sentence.strip(" ,"))
        if correction:
            return correction
    return WordedCorrection()


def _read_sentence(sentence: str) -> WordedCorrection:
    if _OTHERWISE.match(sentence):
        return WordedCorrection(otherwise=True)
    for pattern in (_NOT_BUT, _RATHER, _ABSENT, _COUNTED, _PRESENT, _EXPECTED, _CHANGE, _BESIDE):
        match = pattern.match(sentence)
        if match:
            parts = {name: (value or "").strip() for name, value in match.groupdict().items()}
            side = parts.pop("side", "")
            if any(_VERBS.intersection(part.split()) for part in parts.values()):
                continue
            return WordedCorrection(
                expected=parts.get("expected", ""),
                absent=singular(parts.get("absent", "")),
                present=singular(parts.get("present", "")),
                side=side if side in _SIDES else "",
            )
    return WordedCorrection()
