"""What a message says about the answer before it: that it was right, or what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nodes.reasoning.corrections import MAX_CORRECTION, read_correction
from nodes.reasoning.lexicon import plain_words

_BEGINNINGS: Final = re.compile(
    r"^(?:(?:no|nope|nah|wrong|incorrect|sorry|hmm+|well|but|actually|not quite|i think|i meant|rather"
    r"|that(?:'s| is) (?:wrong|not right|not true|incorrect|not correct|false))\b[\s,.:;!-]*)+"
)
_DENIED: Final = re.compile(
    r"^(?:no|nope|nah|wrong|incorrect|false|not (?:quite|right|true|correct)"
    r"|that(?:'s| is) (?:wrong|not|incorrect|false))\b"
)
_RIGHT: Final = re.compile(
    r"^(?:yes,? )?(?:that(?:'s| is| was) |it(?:'s| is) |you(?:'re| are) |very |exactly|all |quite )*"
    r"(?:right|correct|true|exactly|perfect|well done|good job)(?:,? (?:thanks|thank you))?$"
)
_SIDE: Final = re.compile(
    r"^(?:it(?:'s| is)|that(?:'s| is)|i mean|i meant|they(?:'re| are))?\s*(?:(?:in|on|at|to) )?the "
    r"(?:one (?:in|on|at) the )?(?P<side>left|right|top|bottom)(?:most)?(?:\s+(?:one|side|picture|half))?"
    r"(?: of (?:it|the picture))?$"
)
_MOST_WORDS: Final = 4
"""Words of an answer that is given without saying that it is one: "no, dark blue"."""
_NAME: Final = re.compile(r"(?:an? |the )?[\w-]+(?: [\w-]+)*")


@dataclass(frozen=True)
class Remark:
    """What is said about an answer.

    Attributes:
        right: That it was right.
        expected: What it should have been.
        correction: What is wrong with it, in words that `read_correction` reads.
    """

    right: bool = False
    expected: str = ""
    correction: str = ""

    def __bool__(self) -> bool:
        """Whether it is about the answer at all."""
        return self != Remark()


def read_remark(text: str, *, shows: bool, noun: str = "") -> Remark:
    """Read a message that follows an answer; nothing where it is not about it.

    Args:
        text: The message.
        shows: Whether the answer was a picture or places in one.
        noun: What was looked for, in the singular: what "the left one" is one of.
    """
    if text.rstrip().endswith("?"):
        return Remark()
    words = plain_words(text[:MAX_CORRECTION]).casefold().strip(" .!,")
    if _RIGHT.match(words):
        return Remark(right=True)
    denied, bare = bool(_DENIED.match(words)), _BEGINNINGS.sub("", words).strip(" .!,")
    side = _SIDE.match(bare)
    if side is not None:
        return _sided(side["side"], shows=shows, noun=noun)
    for said in dict.fromkeys((words, bare)):
        if read_correction(said):
            return Remark(correction=said)
    if denied and bare and len(bare.split()) <= _MOST_WORDS and _NAME.fullmatch(bare):
        return Remark(expected=re.sub(r"^(?:an?|the) ", "", bare))
    return Remark(correction=words) if denied else Remark()


def _sided(side: str, *, shows: bool, noun: str) -> Remark:
    if not shows:
        return Remark(expected=side)
    return Remark(correction=f"you missed the {noun or 'one'} on the {side}")
