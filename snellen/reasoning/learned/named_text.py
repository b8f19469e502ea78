"""Texts for the learned reader: their words, with stand-ins for what they name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from snellen.reasoning.learned.mentions import BREAK, Lexeme, MentionedText, MentionFinder, ModelNames
from snellen.reasoning.queries.actions import ACTIONS as QUERY_ACTIONS
from snellen.reasoning.queries.reader import GRAMMAR as QUERY_GRAMMAR
from snellen.reasoning.reading.actions import ACTIONS
from snellen.reasoning.reading.grammar_file import Grammar, read_grammar
from snellen.reasoning.reading.lexical_entries import Entry, entries, entries_of_names, real_words
from snellen.reasoning.reading.reader import GRAMMAR
from snellen.reasoning.reading.words import PUNCTUATION, KnownWords, WordToken, tokens, unhyphenated

_GREYS: Final = frozenset({"gray", "black", "white"})
"""Colours that a picture without colours is said to have."""
_APART: Final = re.compile(r"(?<=\bnon)-(?=[a-z])|(?<=[a-z])-(?=free\b)|(?<=\d)(?=\+)", re.IGNORECASE)
"""Where names and numbers end within a word: "non-red", "bird-free", "4+"."""
_SHORTEST: Final = 4
"""Letters of a word that may be a misspelt one."""
AMBIGUOUS: Final = Path(__file__).parent / "ambiguous_names.json"
"""Names that people often say of something else ("a tie at the top", "our files", "I hand it a photo"), for texts about
pictures and about models; derived by `reader_training.ambiguous_names`."""


@cache
def _grammars() -> dict[str, Grammar]:
    return {"pictures": read_grammar(GRAMMAR, ACTIONS), "models": read_grammar(QUERY_GRAMMAR, QUERY_ACTIONS)}


def _plain_phrases(grammar: Grammar) -> set[str]:
    """Return the phrases of a grammar that name nothing."""
    phrases = {phrase for phrase, symbol, _ in grammar.phrases if symbol not in {"COLOUR", "NOUN"}}
    return phrases | {*grammar.fillers, *grammar.leading}


@cache
def _ambiguous() -> dict[str, frozenset[str]]:
    table: dict[str, list[str]] = json.loads(AMBIGUOUS.read_text(encoding="utf-8"))
    return {sort: frozenset(names) for sort, names in table.items()}


def _plain_words(grammar: Grammar) -> frozenset[str]:
    return frozenset(word for phrase in _plain_phrases(grammar) for word in phrase.split())


class NamedTexts:
    """Texts about the things of a facts file and about models.

    Args:
        facts_file: The concepts, groups and facts that may be named.
        names: Further names of things.
        models: The models that may be named; None where the texts are about pictures.
        stand_ins: Whether names are replaced.

    Attributes:
        names: All names that it finds.
    """

    def __init__(
        self,
        facts_file: Path | None,
        names: frozenset[str] = frozenset(),
        models: ModelNames | None = None,
        *,
        stand_ins: bool = True,
    ) -> None:
        sort = "pictures" if models is None else "models"
        grammar = _grammars()[sort]
        english = real_words().union(*(_plain_words(each) for each in _grammars().values()))
        self._colours = [(phrase, symbol, value) for phrase, symbol, value in grammar.phrases if symbol == "COLOUR"]
        self._spellings = grammar.spellings
        self._models = models or ModelNames(())
        phrases = _plain_phrases(grammar)
        self._optional = phrases | _ambiguous()[sort]
        named = (*entries(facts_file, covering=False), *entries_of_names(sorted(names)))
        lexemes = list(self._lexemes(named))
        self.names = frozenset(" ".join(words) for words, _ in lexemes)
        several = [tuple(phrase.split()) for phrase in sorted(phrases) if " " in phrase]
        self._finder = MentionFinder(lexemes, plain=several, complements=models is not None, stand_ins=stand_ins)
        known = frozenset(word for words, _ in lexemes for word in words)
        self._known = KnownWords(known | _plain_words(grammar) | frozenset(self._spellings), english)

    def of(self, text: str, before: str = "") -> MentionedText:
        """Return a text, after what was said before it, with stand-ins."""
        said = [*self._cut(before), WordToken(BREAK, BREAK)] if before else []
        said += self._cut(text)
        return self._finder.find(said, tuple(map(self._options, said)))

    def _cut(self, text: str) -> tuple[WordToken, ...]:
        cut = tokens(self._models.hidden(_APART.sub(" ", re.sub(r"[*]", " ", text))), self._spellings)
        return unhyphenated(cut, self._begins_with_a_name)

    def _begins_with_a_name(self, word: str) -> bool:
        """Tell whether a word with hyphens is no word itself, and begins with the name of something."""
        return not self._known.is_english(word) and not self._finder.is_name(word) and self._finder.begins(word)

    def _options(self, token: WordToken) -> tuple[str, ...]:
        word = token.text
        if word in self._known.known or word in PUNCTUATION or not word.isalpha():
            return (word,)
        found = self._known.nearest(word, most=1) if len(word) >= _SHORTEST and not self._known.is_english(word) else ()
        return (*found, word)

    def _lexemes(self, named: Iterable[Entry]) -> Iterator[tuple[tuple[str, ...], Lexeme]]:
        for entry in named:
            if entry.phrase in self._spellings:  # no animal where one is "being" asked
                continue
            words = self._words(entry.phrase)
            optional = " ".join(words) in self._optional
            yield words, Lexeme(entry.symbol, entry.value, entry.cost, optional=optional)
        for phrase, symbol, value in self._colours:
            yield self._words(phrase), Lexeme(symbol, value, optional=value in _GREYS)
        yield from self._models.lexemes()

    def _words(self, phrase: str) -> tuple[str, ...]:
        return tuple(each.text for each in tokens(phrase, self._spellings))
