"""The grammar of instructions about pictures: every rule makes something of what its parts can be."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Hashable

from snellen.reasoning.reading.actions import ACTIONS
from snellen.reasoning.reading.grammar_file import read_grammar
from snellen.reasoning.reading.lexical_entries import LexicalNoun
from snellen.reasoning.reading.reader import FOLLOW_UPS, GRAMMAR

_VALUES = 12
"""Different values of a symbol that are kept."""
_ROUNDS = 8


def test_every_rule_has_parts_and_none_fails_on_what_they_can_be() -> None:
    grammar, chance = read_grammar(GRAMMAR, ACTIONS), random.Random(5323)
    grammar.add(read_grammar(FOLLOW_UPS, ACTIONS))
    values: dict[str, list[Hashable]] = defaultdict(list)
    for _, symbol, value in grammar.phrases:
        if value not in values[symbol]:
            values[symbol].append(value)
    values["NOUN"] = [LexicalNoun(("dog",), "one"), LexicalNoun(("cat",), "many"), LexicalNoun(("ship", "boat"), "one")]
    values["SAYING"] = ["none at all"]
    for symbol in (
        "FACT_ADJECTIVE",
        "FACT_BASE",
        "FACT_PLURAL",
        "FACT_THIRD",
        "FACT_COMPLEMENT",
        "FACT_PART",
        "FACT_GAP",
    ):
        values[symbol] = ["can fly"]
    values["FACT_PARTICIPLE"] = values["KIND_ADJECTIVE"] = ["flying"]
    for _ in range(_ROUNDS):
        for production in grammar.productions:
            known = values[production.symbol]
            if all(values[item] for item in production.items):
                for _ in range(1 if len(known) == _VALUES else _VALUES):
                    meaning = production.action([chance.choice(values[item]) for item in production.items])
                    if meaning is not None and meaning not in known and len(known) < _VALUES:
                        known.append(meaning)
    assert [each for each in grammar.productions if not all(values[item] for item in each.items)] == []
