"""Circumstances that an asker tells of before a question: "It is often foggy here. Does clip still see cars?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from snellen.reasoning.queries.bounds import Named
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.nominal_actions import changed
from snellen.reasoning.reading.lexical_entries import LexicalNoun
from snellen.reasoning.reading.words import WordToken

CHANGES: Final = frozenset({"CHANGE", "CHANGED", "AROUND", "CLAUSE", "VERB_CHANGE", "EVERYTHING"})
"""Word classes of the grammar that name changes of pictures."""
_BACK: Final = frozenset({"still", "that", "this", "then", "them", "those", "these", "such", "nonetheless", "anyway"})
"""Words by which a question refers to what stands before it."""
_OURS: Final = frozenset({"i", "we", "my", "our", "us", "here"})
"""Words of sentences that tell of the asker's own circumstances."""
_DENIALS: Final = frozenset(
    {"not", "no", "never", "without", "rarely", "hardly", "seldom", "nothing", "none", "but", "?"}
)
"""Words of sentences that may tell that something is not so."""


def refers_back(question: Sequence[WordToken]) -> bool:
    """Tell whether a question refers to what stands before it."""
    return any(each.text in _BACK for each in question)


def changes_told(sentence: Sequence[WordToken], named: Named) -> frozenset[str]:
    """Return the changes of pictures that a sentence of the asker's tells of; none where it may deny or ask.

    Args:
        sentence: Its words.
        named: The phrases that begin at each of them.
    """
    words = {each.text for each in sentence}
    if not words & _OURS or words & _DENIALS:
        return frozenset()
    names: set[str] = set()
    reached = 0
    for start, phrases in enumerate(named):
        changes = [(end, value) for end, symbol, value in phrases if symbol in CHANGES]
        if changes and start >= reached:
            reached, name = max(changes)
            names.add(name)
    return frozenset(names)


def names(query: ModelQuery, symbol: str, value: object) -> bool:
    """Tell whether a query has what a word names."""
    if symbol == "MODEL":
        return any(set(cast("tuple[str, ...]", value)) & set(each.models) for each in query.questions)
    if symbol in CHANGES:
        types = set(changed(cast("str", value)).types)
        return any(bool(types & set(each.types)) for each in query.conditions)
    if symbol == "NOUN" and isinstance(value, LexicalNoun):
        return any(bool(set(value.names) & set(each.names)) for each in query.kinds)
    return False
