# ruff: noqa: SIM905 - lists of words read best as running text
"""Orders to forget, read from a message: a verb of forgetting, and words that name what was learned.

The grammar is small on purpose. What it does not cover is no order: a sentence about a picture ("remove the cars")
names nothing that was learned. What it covers is only asked about (``snellen.nodes.chat.forgetting``), so that a
misreading costs no more than a question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MOST_CHARACTERS: Final = 200
"""Longer messages are no order to forget."""
_LEAD: Final = (
    r"(?:(?:please|kindly|now|then|ok|okay|hey|snellen|so|and|i want you to|i'd like you to|i would like you to|"
    r"(?:can|could|would|will) you)[,:]?\s+)*"
)
_TAIL: Final = r"(?:,?\s+(?:please|now|again|too|completely|entirely|for good|thanks|thank you))*"
_VERB: Final = r"(?:forget|unlearn|delete|erase|remove|discard|clear|wipe|undo|throw away)"
_OF: Final = r"(?:about|of|on|for)"
_NAMED: Final = r"(?P<named>[\w' -]{1,60}?)"
_LEARNED: Final = (
    r"(?:what(?:ever)?|all|everything|anything|the (?:things?|lessons?|prompts?|demonstrations?|examples?))"
    r"(?: (?:that|which))? "
    r"(?:(?:i|we)(?:'ve| have)?(?: just)? (?:taught|told) you|"
    r"you(?:'ve| have| were)?(?: just)? (?:learn(?:ed|t)?|know|remember(?:ed)?|memori[sz]ed|taught))"
)
_MEMORY: Final = (
    r"(?:(?:your|the|that|this|my) )?(?:last |latest |previous |learned |learnt )?"
    r"(?:memor(?:y|ies)|knowledge|lessons?|prompts?|demonstrations?|corrections?)"
)
_ALL: Final = r"(?:all|everything|anything)"
_EVERYTHING: Final = (
    re.compile(rf"{_LEAD}(?:forget|unlearn) (?:absolutely )?(?:everything|all|all of it){_TAIL}"),
    re.compile(rf"{_LEAD}{_VERB} (?:about )?(?=all|everything|anything|whatever)(?!.* just ){_LEARNED}{_TAIL}"),
    re.compile(
        rf"{_LEAD}{_VERB} (?:(?:all (?:of )?)?(?:your |my )?(?:whole |entire )?(?:memory|memories|knowledge)"
        rf"|all (?:of )?your (?:lessons|prompts|demonstrations|corrections)){_TAIL}"
    ),
)
"""Orders to forget all that was ever learned."""
_ORDERS: Final = (
    re.compile(rf"{_LEAD}{_VERB} (?:about )?{_LEARNED}(?: {_OF} {_NAMED})?{_TAIL}"),
    # "The lessons on the blackboard" are things in a picture, unless somebody is to forget them.
    re.compile(
        rf"{_LEAD}(?!(?:forget|unlearn)\b){_VERB} {_MEMORY}(?: (?:about|(?:of|on|for)(?! the\b)) {_NAMED})?{_TAIL}"
    ),
    re.compile(rf"{_LEAD}(?:forget|unlearn) {_MEMORY}(?: {_OF} {_NAMED})?{_TAIL}"),
    re.compile(rf"{_LEAD}{_VERB} your (?:lessons?|prompts?|demonstrations?|corrections?) {_OF} {_NAMED}{_TAIL}"),
    re.compile(rf"{_LEAD}(?:forget|unlearn)(?: (?:about )?(?:it|that|this))?{_TAIL}"),
    re.compile(rf"{_LEAD}(?:forget|unlearn) (?:{_ALL} )?(?:{_OF} )?(?P<named>[\w'-]+(?: [\w'-]+){{0,2}}?){_TAIL}"),
)
_ARTICLES: Final = re.compile(r"^(?:(?:an?|the|all|my|your)\s+)+")
_NO_NAME: Final = frozenset(
    "i you he she it we they me us what which who when where how in on at of from with to by and or not no but that "
    "this these those everything anything all there here left right is are was were be do does did have has had "
    "picture pictures image photo background".split()
)
"""Words that no name of a thing has: where one stands, the sentence says more than a name."""
_YES: Final = re.compile(
    r"(?:yes|yep|yeah|sure|confirm(?:ed)?|i confirm|go ahead|do (?:it|so|that))"
    r"(?:,? (?:please|sure|go ahead|do (?:it|so|that)|(?:forget|delete) (?:it|that|them|all of it)|i confirm))*"
)
_NO: Final = re.compile(
    r"(?:no|nope|don't|do not|stop|cancel|keep (?:it|that|them))(?:,? (?:thanks|thank you|keep (?:it|that|them)))*"
)


@dataclass(frozen=True)
class ForgetOrder:
    """An order to forget.

    Attributes:
        concept: What is to be forgotten about; empty for what was learned last.
        everything: Whether all that was ever learned is meant.
    """

    concept: str = ""
    everything: bool = False


def read_forget_order(text: str) -> ForgetOrder | None:
    """Read an order to forget; None where a message is none."""
    words = _bare(text).rstrip(" ?!.,")
    if len(words) > _MOST_CHARACTERS:
        return None
    if any(pattern.fullmatch(words) for pattern in _EVERYTHING):
        return ForgetOrder(everything=True)
    for pattern in _ORDERS:
        found = pattern.fullmatch(words)
        if found is None:
            continue
        named = _ARTICLES.sub("", (found.groupdict().get("named") or "").strip())
        if _NO_NAME.isdisjoint(named.split()):
            return ForgetOrder(named)
    return None


def agrees(text: str) -> bool:
    """Tell whether a message is a plain yes to the question before it."""
    return _YES.fullmatch(_bare(text)) is not None


def declines(text: str) -> bool:
    """Tell whether a message is a plain no to the question before it."""
    return _NO.fullmatch(_bare(text)) is not None


def _bare(text: str) -> str:
    return " ".join(text[: 2 * _MOST_CHARACTERS].replace("\u2019", "'").casefold().split()).strip(" .!,")
