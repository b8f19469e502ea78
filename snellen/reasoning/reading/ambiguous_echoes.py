"""Echoes by which people may mean something else than the meaning that they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from snellen.reasoning.meanings.meanings import Meaning, Query
from snellen.reasoning.meanings.phrases import noun_phrase
from snellen.reasoning.meanings.things import Everything, HasFact, HasSize, IsA, sets_within


def is_meant_otherwise(echoed: Meaning, covered: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether people may mean something else by the echo of a meaning, so that what the rules read counts.

    "The large dog" is the largest, "What are the cats?" wants a list, what "can fly" travels through the air, too, and
    "in the two pictures" is in each of them. "Phones" are telephones, too (`covered_names`).
    """
    if isinstance(echoed, Query) and echoed.what == "name" and noun_phrase(echoed.things).is_plural:
        return True
    return any(
        isinstance(each, HasSize | HasFact)
        or (isinstance(each, Everything) and each.picture == "both")
        or (isinstance(each, IsA) and not all(set(covered.get(name, ())) <= set(each.names) for name in each.names))
        for each in sets_within(echoed)
    )
