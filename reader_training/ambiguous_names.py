"""Names of things that people often say of something else: those that meanings of the wordings have no use for.

    python -m reader_training.ambiguous_names

writes `snellen/reasoning/learned/ambiguous_names.json`. Examples have to be made anew afterwards: the learned reader
sees such a word as it is, and a stand-in for any other name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from reader_training.example import Example
from reader_training.examples import ExampleMaker, worded
from snellen.reasoning.language.inflection import plural
from snellen.reasoning.learned.named_text import AMBIGUOUS

_LEAST: Final = 3
"""Wordings that must say a name of something else."""
_SHARE: Final = 0.5
"""Their share of the wordings that have it."""
_NAMES: Final = frozenset({"NOUN", "FACT"})


def ambiguous(examples: Iterable[Example], known: AbstractSet[str]) -> list[str]:
    """Return the names that meanings leave out, singular and plural alike.

    Args:
        examples: Without stand-ins.
        known: All names.
    """
    singular = {plural(name): name for name in sorted(known) if plural(name) in known}
    said, left = Counter[str](), Counter[str]()
    for each in examples:
        words, copied = each.text.words, {action for action in each.actions if isinstance(action, int)}
        used = {place for number in copied for span in each.text.mentions[number].spans for place in range(*span)}
        names = {
            (" ".join(words[start:end]), start in used)
            for mention in each.text.mentions
            if mention.kind in _NAMES
            for start, end in mention.spans
            if start >= each.text.begins
        }
        said.update(singular.get(name, name) for name, _ in names)
        left.update(singular.get(name, name) for name, is_used in names if not is_used)
    often = {name for name, number in left.items() if number >= max(_LEAST, _SHARE * said[name])}
    return sorted(name for name in known if singular.get(name, name) in often)


def main() -> None:
    """Derive the names and write them."""
    make = ExampleMaker(stand_ins=False)
    table: dict[str, list[Example]] = {"pictures": [], "models": []}
    for each in worded(make):
        table["pictures" if each.pictures else "models"].append(each)
    known = {"pictures": make.names.names, "models": make.names_of_models.names}
    names = {sort: ambiguous(examples, known[sort]) for sort, examples in table.items()}
    lines = [f'"{sort}": [\n' + ",\n".join(map(json.dumps, some)) + "\n]" for sort, some in names.items()]
    AMBIGUOUS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print({sort: len(some) for sort, some in names.items()})


if __name__ == "__main__":
    main()
