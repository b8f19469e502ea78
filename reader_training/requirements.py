"""Which words ask for a part of the meaning: those that never came without it in the wordings of people.

    python -m reader_training.requirements out/examples.pkl

writes `snellen/reasoning/learned/word_requirements.json`, and says how often a word of it raises a false alarm on
meanings that were kept from it.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from reader_training.example import Example
from snellen.reasoning.learned.word_requirements import REQUIREMENTS, unmet

_LEAST: Final = 12
"""Wordings that a word must stand in."""
_MISSED: Final = 0.03
"""The share of them that may lack every part that is required."""
_MANY: Final = 24
"""Of so many wordings one may lack them."""
_MOST: Final = 6
"""Parts of which one is required."""
_OFTEN: Final = 3
"""Wordings that a part must stand beside."""
_LIFT: Final = 3
"""How much more often a part must stand with the word than it does anyway."""
_COMMON: Final = 0.3
"""A share of all meanings: what more of them have says nothing."""
_SAYING_NOTHING: Final = frozenset({"default", "end", "more", "new", "none", "value False", "value True", "value "})
_NOT_ANSWERED: Final = "kind Unanswerable"
_TALK: Final = "worded talk"


def required(examples: Sequence[Example]) -> dict[str, list[str]]:
    """Return words with the actions of which one is required, from examples of one language."""
    meanings = [(each, _parts(each)) for each in examples]
    often = Counter(part for _, parts in meanings for part in parts)
    beside: dict[str, list[frozenset[str]]] = defaultdict(list)
    for example, parts in meanings:
        for word in example.text.plain_words:
            beside[word].append(parts)
    table = {}
    for word, some in sorted(beside.items()):
        chosen = _cover(some, often, len(examples)) if len(some) >= _LEAST else []
        if chosen and sum(not parts.isdisjoint(chosen) for _, parts in meanings) <= _COMMON * len(examples):
            table[word] = chosen
    return table


def _parts(example: Example) -> frozenset[str]:
    return frozenset(each for each in example.actions if isinstance(each, str)) - _SAYING_NOTHING


def _cover(meanings: Sequence[frozenset[str]], often: Counter[str], count: int) -> list[str]:
    """Return parts of which nearly each of some meanings has one, the most frequent first; none if there are none."""
    least = max(_MISSED * len(meanings), len(meanings) >= _MANY)
    counts = Counter(part for parts in meanings for part in parts)
    marked = {part for part, number in counts.items() if number / len(meanings) >= _LIFT * often[part] / count}
    chosen: list[str] = []
    left = list(meanings)
    while marked and len(left) > least and len(chosen) < _MOST:
        beside = {part: sum(part in parts for parts in left) for part in sorted(marked)}
        nearly = max(beside.values()) * (1 - _MISSED)
        best = min((part for part in beside if beside[part] >= nearly), key=lambda part: often[part])
        rest = [parts for parts in left if best not in parts]
        if len(left) - len(rest) < max(_OFTEN, least):
            break
        chosen, left = [*chosen, best], rest
        marked.remove(best)
    return chosen if len(left) <= least else []


def main() -> None:
    """Derive the words, write them, and count false alarms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("examples", type=Path)
    options = parser.parse_args()
    examples: list[Example] = pickle.loads(options.examples.read_bytes())  # noqa: S301 - our own file
    worded = [each for each in examples if each.source.startswith("worded") and each.source != _TALK]
    worded = [each for each in worded if _NOT_ANSWERED not in each.actions]
    table, kept = {}, {}
    for language in ("pictures", "models"):
        of_language = [each for each in worded if bool(each.pictures) == (language == "pictures")]
        table[language] = required([each for each in of_language if not each.validation])
        kept[language] = [each for each in of_language if each.validation]
    lines = [
        f'"{language}": {{\n' + ",\n".join(f"{json.dumps(word)}: {json.dumps(parts)}" for word, parts in words.items())
        for language, words in table.items()
    ]
    REQUIREMENTS.write_text("{\n" + "\n},\n".join(lines) + "\n}\n}\n", encoding="utf-8")
    for language, some in kept.items():
        alarms = Counter(word for each in some for word in unmet(each.text, each.actions, each.pictures))
        print(
            language,
            len(table[language]),
            "words;",
            alarms.total(),
            "false alarms of",
            len(some),
            alarms.most_common(9),
        )


if __name__ == "__main__":
    main()
