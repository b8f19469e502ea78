"""Asides: what people put before or after what they ask, and that changes nothing of it.

`reader_training/wordings/asides.tsv` has lines with a sort (`pictures`, `models`, `both`), a place (`before`, `after`)
and an aside, written by people who were told to name nothing that could be asked for.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reader_training.examples import WORDINGS
from snellen.reasoning.learned.mentions import MentionedText, TextMention
from snellen.reasoning.reading.words import tokens

_AFTER: Final = 1 / 3
"""The share of asides that stand after a text."""


@dataclass(frozen=True)
class Asides:
    """Asides for texts about pictures (True) and about models (False).

    Attributes:
        before: Those that stand before a text, as words.
        after: Those that stand after it.
    """

    before: Mapping[bool, Sequence[tuple[str, ...]]]
    after: Mapping[bool, Sequence[tuple[str, ...]]]

    @classmethod
    def read(cls, file: Path = WORDINGS / "asides.tsv") -> Asides:
        """Read a file of lines with a sort of texts, a place, and an aside."""
        found: dict[str, dict[bool, list[tuple[str, ...]]]] = defaultdict(lambda: {True: [], False: []})
        for line in file.read_text(encoding="utf-8").splitlines():
            sort, place, aside = line.split("\t")
            words = tuple(each.text for each in tokens(aside, {}))
            for of_pictures in (True, False):
                if sort in {"both", "pictures" if of_pictures else "models"}:
                    found[place][of_pictures].append(words)
        return cls(found["before"], found["after"])

    def beside(self, pictures: int, text: MentionedText, dice: random.Random) -> MentionedText:
        """Put an aside before or after a text."""
        of_pictures = pictures > 0
        if dice.random() < _AFTER:
            return MentionedText((*text.words, *dice.choice(self.after[of_pictures])), text.mentions)
        aside = dice.choice(self.before[of_pictures])
        start = text.begins
        words = (*text.words[:start], *aside, *text.words[start:])
        return MentionedText(words, tuple(_moved(each, start, len(aside)) for each in text.mentions))


def _moved(mention: TextMention, start: int, by: int) -> TextMention:
    """Move the places of a mention that are at a place of the text or behind it."""
    spans = tuple((a + by, b + by) if a >= start else (a, b) for a, b in mention.spans)
    return replace(mention, spans=spans)
