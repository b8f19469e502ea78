"""Sentences that the grammars derive, with their meanings: what the learned reader begins with.

    python -m reader_training.grammar_sentences pictures 14000 --seed 5 > sentences.jsonl

A derivation is drawn at random; the sentence counts if the reader gives it one meaning.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from reader_training.meanings_to_word import MODELS
from snellen.profiles import load_profile
from snellen.reasoning.meanings.meanings import write_part
from snellen.reasoning.meanings.things import sets_within
from snellen.reasoning.queries.actions import ACTIONS as QUERY_ACTIONS
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import GRAMMAR as QUERIES
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.queries.vocabulary import model_names, nouns
from snellen.reasoning.reading.actions import ACTIONS
from snellen.reasoning.reading.chart import Production
from snellen.reasoning.reading.grammar_file import Grammar, read_grammar
from snellen.reasoning.reading.reader import GRAMMAR, Understood, read

_DEEPEST: Final = 14
_MOST_WORDS: Final = 26
_MOST_PARTS: Final = 20
_PLAIN: Final = 0.7
"""How often a noun or a name is in the lexicon as it is, without a description of several kinds."""


class SentenceSampler:
    """Draws sentences of a grammar."""

    def __init__(self, grammar: Grammar, lexicon: list[tuple[str, str]], dice: random.Random) -> None:
        self._dice = dice
        self._rules: dict[str, list[Production]] = defaultdict(list)
        for each in grammar.productions:
            self._rules[each.symbol].append(each)
        self._phrases: dict[str, list[str]] = defaultdict(list)
        for phrase, symbol in [*((phrase, symbol) for phrase, symbol, _ in grammar.phrases), *lexicon]:
            self._phrases[symbol].append(phrase)
        self._depths = self._shortest()

    def _shortest(self) -> dict[str, int]:
        """Return how deep the shallowest derivation of each symbol is."""
        depths: dict[str, int] = dict.fromkeys(self._phrases, 0)
        changed = True
        while changed:
            changed = False
            for symbol, rules in self._rules.items():
                known = [
                    1 + max(depths[item] for item in rule.items)
                    for rule in rules
                    if all(item in depths for item in rule.items)
                ]
                if known and min(known) < depths.get(symbol, 99):
                    depths[symbol] = min(known)
                    changed = True
        return depths

    def sentence(self) -> str:
        """Draw a sentence."""
        return " ".join(self._derived("start", _DEEPEST))

    def _derived(self, symbol: str, depth: int) -> Iterator[str]:
        rules = [
            rule
            for rule in self._rules.get(symbol, ())
            if all(self._depths.get(item, 99) < depth for item in rule.items)
        ]
        if not rules or (symbol in self._phrases and self._dice.random() < _PLAIN):
            yield self._dice.choice(self._phrases.get(symbol) or [""])
            return
        weights = [1 / (1 + 4 * rule.cost) / (1 + len(rule.items)) ** 0.5 for rule in rules]
        for item in self._dice.choices(rules, weights)[0].items:
            yield from self._derived(item, depth - 1)


def sentences(sort: str, number: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield so many different sentences that are read."""
    dice = random.Random(seed)
    profile = load_profile("embedded")
    read_it: Callable[[str, random.Random], dict[str, Any] | None]
    if sort == "pictures":
        grammar, read_it = read_grammar(GRAMMAR, ACTIONS), _read_picture
        lexicon = [(each.phrase, each.symbol) for each in nouns(profile)]
    else:
        grammar, read_it = read_grammar(QUERIES, QUERY_ACTIONS), _read_query
        lexicon = [(each.phrase, each.symbol) for each in (*nouns(profile), *model_names(MODELS, MODELS[5:]))]
        lexicon += [(str(each), "NUMERAL") for each in (2, 5, 10, 20, 45, 50, 75, 80, 90, 95)]
    sampler = SentenceSampler(grammar, lexicon, dice)
    seen: set[str] = set()
    while len(seen) < number:
        text = sampler.sentence()
        if text in seen or len(text.split()) > _MOST_WORDS:
            continue
        row = read_it(text, dice)
        if row is not None:
            seen.add(text)
            yield {"text": text, **row}


def _read_picture(text: str, dice: random.Random) -> dict[str, Any] | None:
    pictures = 2 if {"picture", "pictures"} & set(text.split()) and dice.random() < 0.5 else 1  # noqa: PLR2004
    reading = read(text, pictures, load_facts())
    if not isinstance(reading, Understood) or reading.asides or reading.corrected:
        return None
    if sum(1 for _ in sets_within(reading.meaning)) > _MOST_PARTS:
        return None
    return {"pictures": pictures, "meaning": json.loads(write_part(reading.meaning))}


def _read_query(text: str, _: random.Random) -> dict[str, Any] | None:
    reading = read_query(text, MODELS, load_profile("embedded"))
    if not isinstance(reading, UnderstoodQuery) or reading.corrected or reading.unread:
        return None
    return {"meaning": reading.query.model_dump(mode="json")}


def load_facts() -> Path | None:
    """Return the facts file of the embedded profile."""
    return load_profile("embedded").facts_path()


def main() -> None:
    """Print sentences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sort", choices=("pictures", "models"))
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    for row in sentences(options.sort, options.number, options.seed):
        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
