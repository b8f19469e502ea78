"""The grammar of questions about models: every rule makes something of what its parts can be."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable

from snellen.reasoning.queries.actions import ACTIONS
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.reader import GRAMMAR
from snellen.reasoning.reading.grammar_file import read_grammar
from snellen.reasoning.reading.lexical_entries import LexicalNoun

_VALUES = 12
"""Different values of a symbol that are kept."""
_ROUNDS = 5


def test_every_rule_has_parts_and_means_something_of_the_right_sort() -> None:
    grammar, chance = read_grammar(GRAMMAR, ACTIONS), random.Random(5323)
    values: dict[str, list[Hashable]] = defaultdict(list)
    for _, symbol, value in grammar.phrases:
        if value not in values[symbol]:
            values[symbol].append(value)
    values["NUMERAL"] = [0.5, 2.0, 45.0, 90.0]
    values["NOUN"] = [LexicalNoun(("bird",)), LexicalNoun(("vehicle",))]
    values["MODEL"] = [("clip",), ("blip",)]
    values["WHICH_JUDGE"] = [("llava-judge", "idefics3-judge")]
    for symbol in ("FACT_ADJECTIVE", "FACT_BASE", "FACT_PLURAL", "FACT_COMPLEMENT", "FACT_PART", "FACT_GAP"):
        values[symbol] = ["can fly"]
    values["FACT_PARTICIPLE"] = values["KIND_ADJECTIVE"] = ["flying"]
    for _ in range(_ROUNDS):
        for production in grammar.productions:
            known = values[production.symbol]
            for _ in range(1 if known else _VALUES):
                if all(values[item] for item in production.items):
                    meaning = production.action([chance.choice(values[item]) for item in production.items])
                    if meaning is not None and meaning not in known and len(known) < _VALUES:
                        known.append(meaning)
    assert [each for each in grammar.productions if not all(values[item] for item in each.items)] == []
    assert all(isinstance(value, ModelQuery) for value in values["start"])
