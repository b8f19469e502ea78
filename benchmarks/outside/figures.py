"""Figures of the benchmark: what was right, wrong and undecided, by kind, and whether two ways differ by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any, Final, Literal

Judgement = Literal["right", "wrong", "undecided"]
JUDGED: Final[tuple[Judgement, ...]] = ("right", "wrong", "undecided")


def judged(said: str, true: str) -> Judgement:
    """Judge an answer; a refusal and no answer are undecided."""
    if said == true:
        return "right"
    return "wrong" if said not in {"undecided", "refused"} else "undecided"


def counts(rows: Iterable[tuple[str, str]]) -> dict[Judgement, int]:
    """Count the judgements of pairs of what was said and what is true."""
    found = Counter(judged(said, true) for said, true in rows)
    return {one: found[one] for one in JUDGED}


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the exact two-sided p-value of McNemar's test that two ways do something equally often.

    Args:
        first: For each query whether the first way did.
        second: The same of the second way.

    Returns:
        1 where they never differ.
    """
    only = [
        sum(a and not b for a, b in zip(first, second, strict=True)),
        sum(b and not a for a, b in zip(first, second, strict=True)),
    ]
    tosses = sum(only)
    tail = sum(comb(tosses, heads) for heads in range(min(only) + 1)) / 2**tosses
    return min(1.0, float(2 * tail))


def compared(each: Sequence[Mapping[str, Any]], one: str, other: str) -> dict[str, float]:
    """Return McNemar's p between two ways, for how often they are wrong, and right.

    Args:
        each: Queries with ``true``, and what each way ``says``.
        one: A way.
        other: Another one.
    """

    def did(way: str, what: Judgement) -> list[bool]:
        return [judged(row[way]["says"], row["true"]) == what for row in each]

    return {what: round(mcnemar(did(one, what), did(other, what)), 4) for what in ("wrong", "right")}


def by_kind(each: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> dict[str, dict[str, dict[Judgement, int]]]:
    """Return the counts of each kind of query, by way."""
    kinds = dict.fromkeys(row["kind"] for row in each)
    return {
        kind: {way: counts((row[way]["says"], row["true"]) for row in each if row["kind"] == kind) for way in ways}
        for kind in kinds
    }
