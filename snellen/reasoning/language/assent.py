# ruff: noqa: SIM905 - lists of words read best as running text
"""The judgement in a clause: that an answer is right, that it is wrong, or mere courtesy.

A clause judges if, beside words that only frame it ("I think that the answer is …"), nothing remains but one word of
judgement and its negations. Negations turn it round: "you missed nothing" agrees, "that is not right" does not.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Judgement: TypeAlias = Literal["right", "wrong", "kind"]
"""What a clause says of an answer; ``kind`` is a courtesy, which neither confirms nor corrects."""

_FRAME: Final = frozenset(
    "that this it you they these those the answer answers result number count is are was were be been being should "
    "would looks look seems seem got get very quite all so really just completely absolutely totally perfectly "
    "entirely exactly i think guess believe see find can could do does did there here a an any of with about in at "
    "actually indeed well yes to me still also now then were 's 're 'm anything made make".split()
)
_RIGHT: Final = frozenset("right correct true exactly accurate".split())
_WRONG: Final = frozenset("wrong incorrect false mistaken missing missed overlooked forgot forgotten".split())
FAULTS: Final = frozenset("error errors mistake mistakes fault faults problem problems issue issues".split())
"""What "there is one …" says nothing of a picture with."""
_KIND: Final = frozenset("fine good great okay ok perfect excellent nice lovely awesome amazing".split())
_TROUBLES: Final = frozenset("problem problems worries issue issues trouble bad".split())
_NOUNS: Final = FAULTS | _TROUBLES
_NEGATIONS: Final = frozenset("not never nothing none no without zero cannot".split())
_VERBS: Final = {"not miss": "not missed", "not overlook": "not overlooked", "not forget": "not forgot"}
"""After a negation only: "forget it" is an order."""


def judgement(clause: str) -> Judgement | None:
    """Return what a clause says of an answer; None where it says anything else.

    Args:
        clause: In small letters, without a denial before it ("no, …").
    """
    said_out = re.sub(r"n't\b", " not", clause)
    for verb, past in _VERBS.items():
        said_out = re.sub(rf"(?<=did ){verb}\b", past, said_out)
    judging = re.findall(r"'(?:s|re|m)\b|[\w-]+", said_out)
    known = _RIGHT | _WRONG | _KIND | _NOUNS
    said = [word for word in judging if word in known]
    # "Exactly right" is one judgement.
    said = [word for word in said if word != "exactly"] or said[:1]
    turned = sum(word in _NEGATIONS for word in judging)
    if len(said) != 1 or any(word not in known | _NEGATIONS | _FRAME for word in judging):
        return None
    # "No" negates a noun only: in "no that is wrong" it says that of its own.
    if "no" in judging and said[0] not in _NOUNS:
        return None
    if said[0] in _KIND | _TROUBLES:
        return "kind" if (said[0] in _KIND) is (turned % 2 == 0) else None
    return "right" if (said[0] in _RIGHT) is (turned % 2 == 0) else "wrong"
