"""Substitution: a demonstration of the same wording up to the things and colours that are named, made to fit.

"Roll call for the dog." teaches "Roll call for the cats.": what no grammar has is done as somebody showed it. The words
between the names must be the same, and every name that differs must stand in the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from snellen.reasoning.language.inflection import plural, singular, with_article
from snellen.reasoning.reading.lexical_entries import LexicalNoun
from snellen.reasoning.reading.reader import reader_of
from snellen.reasoning.reading.words import PUNCTUATION

_TEXT: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class NamedThing:
    """A noun or a colour of an instruction.

    Attributes:
        symbol: ``NOUN`` or ``COLOUR``.
        written: As it was written, in lower case.
        name: The concept, group or colour; empty where it is not a single one.
    """

    symbol: str
    written: str
    name: str

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways in which a program may write it: in the singular and the plural, by its name and as written."""
        if self.symbol != "NOUN":
            return (self.name, self.written)
        return (self.name, plural(self.name), singular(self.written), plural(singular(self.written)))


@dataclass(frozen=True)
class Substitution:
    """Substitution of the names of one facts file.

    Attributes:
        facts_file: The file; without one any word that is not of the grammar may be a name.
    """

    facts_file: Path | None

    def in_program(self, program: str, shown: str, instruction: str) -> str | None:
        """Return the program of a demonstration with the names of another instruction.

        Args:
            program: The program.
            shown: The instruction that it was shown for.
            instruction: The other instruction.

        Returns:
            The program; None where the wordings differ in more than names, or a name that differs is not in it.
        """
        exchanged = self._exchanged(shown, instruction)
        if exchanged is None:
            return None
        texts = " ".join(_TEXT.findall(program))
        if any(not any(_occurs(old, texts) for old in forms) for forms in exchanged):
            return None
        table = {old: new for forms in exchanged for old, new in forms.items()}
        return _TEXT.sub(lambda text: _replaced(text.group(), table), program)

    def in_words(self, sentence: str, shown: str, instruction: str) -> str:
        """Return a sentence of a demonstration's plan with the names of another instruction."""
        exchanged = self._exchanged(shown, instruction) or []
        return _replaced(sentence, {old: new for forms in exchanged for old, new in forms.items()})

    def _exchanged(self, shown: str, instruction: str) -> list[dict[str, str]] | None:
        """Return for each name that differs what takes the place of its forms; None where the wordings differ."""
        before, after = _parts(shown, self.facts_file), _parts(instruction, self.facts_file)
        if len(before) != len(after):
            return None
        exchanged: list[dict[str, str]] = []
        for old, new in zip(before, after, strict=True):
            if isinstance(old, str) or isinstance(new, str):
                if old != new:
                    return None
            elif old.symbol != new.symbol or (old.name != new.name and not (old.name and new.name)):
                return None
            elif old.name != new.name:
                exchanged.append(_table(old, new))
        forms: dict[str, str] = {}
        if any(forms.setdefault(old, new) != new for table in exchanged for old, new in table.items()):
            return None
        return exchanged


def wording(instruction: str) -> tuple[str, ...]:
    """Return the words of an instruction, by which the same one is known again."""
    return tuple(_WORD.findall(instruction.casefold()))


def _table(old: NamedThing, new: NamedThing) -> dict[str, str]:
    if old.symbol != "NOUN":
        return dict.fromkeys(old.forms, new.name)
    one, many = new.name, plural(new.name)
    return {form: many if form == plural(singular(form)) and form != singular(form) else one for form in old.forms}


def _occurs(word: str, texts: str) -> bool:
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", texts, re.IGNORECASE) is not None


def _replaced(text: str, table: Mapping[str, str]) -> str:
    forms = sorted(filter(None, table), key=len, reverse=True)
    if not forms:
        return text
    pattern = rf"(?P<article>\ban? )?\b(?P<form>{'|'.join(map(re.escape, forms))})\b"

    def exchange(match: re.Match[str]) -> str:
        new = table[match["form"].lower()]
        return with_article(new) if match["article"] else new

    return re.sub(pattern, exchange, text, flags=re.IGNORECASE)


@lru_cache(maxsize=4096)
def _parts(instruction: str, facts_file: Path | None) -> tuple[str | NamedThing, ...]:
    return tuple(_cut(instruction, facts_file))


def _cut(instruction: str, facts_file: Path | None) -> Iterator[str | NamedThing]:
    """Cut an instruction into names and the words between them."""
    for words, symbol, value in reader_of(facts_file).names_in(instruction):
        if not symbol:
            if words not in PUNCTUATION:
                yield words
            continue
        names = value.names if isinstance(value, LexicalNoun) else (str(value),)
        is_one = len(names) == 1 or singular(words) == names[0]  # what else it covers is not named
        is_single = is_one and not (isinstance(value, LexicalNoun) and value.fact)
        yield NamedThing(symbol, words, names[0] if is_single else "")
