"""Answers to queries, read from the answers of a report alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from benchmarks.outside.queries import NEITHER, OutsideQuery
from snellen.experiments.report import Answer

_BETTER: Final = re.compile(r"(\S+) is better than (\S+)")


def said_of(answers: Sequence[Answer], query: OutsideQuery) -> str:
    """Return the answer to a query: yes, no, the name of a model, or "undecided".

    Args:
        answers: Of the report.
        query: The query.
    """
    if query.asks == "which":
        return _named(answers, query)
    models = set(query.models)
    mine = [one for one in answers if set(one.about.split(" and ")) == models] or list(answers)
    said = {_yes_or_no(one, query) for one in mine}
    if not said:
        return NEITHER
    # One part that fails is enough to refute a statement about all parts.
    refuted = "no" if query.asks == "whether" else "yes"
    if refuted in said:
        return refuted
    return NEITHER if NEITHER in said else said.pop()


def _yes_or_no(answer: Answer, query: OutsideQuery) -> str:
    if answer.answer is not None:
        return answer.answer
    if answer.holds is None:
        return NEITHER
    better = _BETTER.match(answer.property)
    turned = better is not None and better[1] != query.models[0]
    return query.answer(holds=answer.holds != turned)


def _named(answers: Sequence[Answer], query: OutsideQuery) -> str:
    """Return the model that is better, or worse, than each of the others."""
    beaten: dict[str, set[str]] = {name: set() for name in query.models}
    for one in answers:
        better = _BETTER.match(one.property)
        if better is None or one.holds is None or not {better[1], better[2]} <= set(beaten):
            continue
        winner, loser = (better[1], better[2]) if one.holds else (better[2], better[1])
        beaten[winner].add(loser)
    others = len(query.models) - 1
    if query.statement.kind == "worst":
        losing = {name: sum(name in losers for losers in beaten.values()) for name in beaten}
        return next((name for name, count in losing.items() if count == others), NEITHER)
    return next((name for name, losers in beaten.items() if len(losers) == others), NEITHER)
