"""The reader of talk: from a sentence beside instructions to what it says about the conversation, by `talk.grammar`.

Names are open: any words that the grammar does not exclude may be one, so that it needs no lexicon. It accounts for
every other word; a sentence that it reads in part is unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from snellen.reasoning.meanings.talk import Agreement, Correction, Decline, Doubt, Talk
from snellen.reasoning.reading.chart import ChartParser, ParsingTooLong, Word
from snellen.reasoning.reading.grammar_file import read_grammar
from snellen.reasoning.reading.talk_parts import ACTIONS
from snellen.reasoning.reading.words import PUNCTUATION, KnownWords, PhraseTable, WordToken, tokens

GRAMMAR: Final = Path(__file__).parent / "talk.grammar"
MAX_CORRECTION: Final = 500
"""Characters of a correction that are read."""
_MOST_WORDS: Final = 40
_LONGEST_NAME: Final = 4
_SECONDS: Final = 1.0
_NEAR: Final = 0.25
"""Readings that cost so much more than the cheapest are not meant."""
_SKIPPED: Final = 0.02
_NAMED: Final = 0.3
_CORRECTED: Final = 1.0


@lru_cache(maxsize=1_024)
def read_talk(sentence: str) -> tuple[Talk, ...]:
    """Read one sentence of talk.

    Returns:
        What it may say, the likeliest first; nothing where it is no talk. A question is never taken for a correction,
        but for a doubt.
    """
    return _reader().read(sentence)


def read_correction(text: str) -> Correction | None:
    """Read what a text of a few sentences says was wrong with an answer; of several the first that says what is right.

    Args:
        text: The user's words, of which the first `MAX_CORRECTION` characters are read.

    Returns:
        None where no sentence corrects anything.
    """
    readings = [_correction_in(each) for each in sentences(text[:MAX_CORRECTION])]
    known = [each for each in readings if each is not None]
    telling = [each for each in known if not each.only_denies]
    if not known:
        return None
    if telling and telling[0].side and telling[0] == Correction(side=telling[0].side, manner=telling[0].manner):
        return telling[0].model_copy(update={"expected": telling[0].side, "side": ""})
    return (telling or known)[0]


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences, each with the punctuation that ends it."""
    parts, start = [], 0
    for place, letter in enumerate(text):
        ends = letter in "!?;\n" or (letter == "." and not text[place + 1 : place + 2].isalnum())
        if ends and text[place + 1 : place + 2] not in {*".!?"}:
            parts.append(text[start : place + 1])
            start = place + 1
    return [part for part in map(str.strip, [*parts, text[start:]]) if any(map(str.isalnum, part))]


def _correction_in(sentence: str) -> Correction | None:
    for each in read_talk(sentence.rstrip(" ?")):
        if isinstance(each, Correction):
            return each
        if isinstance(each, Doubt) and each.correction:
            return each.correction
        if isinstance(each, Decline) and each.bare:
            return Correction(manner="denied")
    return None


@cache
def _reader() -> TalkReader:
    return TalkReader()


class TalkReader:
    """A reader of the talk grammar."""

    def __init__(self) -> None:
        grammar = read_grammar(GRAMMAR, ACTIONS)
        self._spellings = grammar.spellings
        self._parser = ChartParser(grammar.productions)
        self._no_names = frozenset(phrase for phrase, symbol, _ in grammar.phrases if symbol == "NO_NAME")
        phrases = [each for each in grammar.phrases if each[1] != "NO_NAME"]
        # A word class without values stands for the words themselves.
        self._phrases = PhraseTable(
            (self._words_of(phrase), (symbol, phrase if value is None else value)) for phrase, symbol, value in phrases
        )
        self._fillers = PhraseTable((self._words_of(each), None) for each in grammar.fillers)
        self._leading = PhraseTable((self._words_of(each), None) for each in grammar.leading)
        known = [phrase for phrase, _, _ in phrases] + grammar.fillers + grammar.leading
        self._vocabulary = KnownWords(frozenset(word for each in known for word in self._words_of(each)))

    def read(self, sentence: str) -> tuple[Talk, ...]:
        """Read a sentence."""
        text = tokens(sentence[:MAX_CORRECTION], self._spellings)
        if not 0 < len(text) <= _MOST_WORDS:
            return ()
        options = tuple(self._options(each) for each in text)
        ends = [self._skips(text, options, place) for place in range(len(text))]
        try:
            chart = self._parser.parse(self._words(text, options, ends), seconds=_SECONDS)
            costs: dict[Any, float] = {}
            for start in _reach(0, [[*each, *self._leads(options, place)] for place, each in enumerate(ends)]):
                for value, cost in chart.values("talk", start, len(text)).items():
                    costs[value] = min(cost, costs.get(value, cost))
        except ParsingTooLong:
            return ()
        near = sorted((cost, place, each) for place, (each, cost) in enumerate(costs.items()))
        likely = [each for cost, _, each in near if cost <= near[0][0] + _NEAR]
        asked = sentence.rstrip().endswith("?")
        return tuple(dict.fromkeys(_as_asked(each) if asked else each for each in likely))

    def _words_of(self, phrase: str) -> tuple[str, ...]:
        return tuple(each.text for each in tokens(phrase, self._spellings))

    def _options(self, token: WordToken) -> tuple[str, ...]:
        known = token.text in self._vocabulary.known or token.text in self._no_names
        return (token.text,) if known else (token.text, *self._vocabulary.corrections(token.text))

    def _words(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], ends: Sequence[Sequence[int]]
    ) -> Iterator[Word]:
        for start in range(len(text)):
            for end, symbol, value, cost in self._terminals(text, options, start):
                for reached in _reach(end, ends):
                    yield Word(symbol, start, reached, value, cost + _SKIPPED * (reached - end))

    def _terminals(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], start: int
    ) -> Iterator[tuple[int, str, Any, float]]:
        for end, (symbol, value) in self._phrases.at(options, start):
            wrong = sum(text[place].text not in self._vocabulary.known for place in range(start, end))
            yield end, symbol, value, _CORRECTED * wrong
        if text[start].text.isdigit():
            yield start + 1, "NUMBER", text[start].text, 0.0
        for end in range(start + 1, min(start + _LONGEST_NAME, len(text)) + 1):
            last = text[end - 1]
            if last.text in self._no_names or last.text in PUNCTUATION or last.text.isdigit():
                break
            yield end, "NAME", " ".join(each.written for each in text[start:end]), _NAMED + 0.05 * (end - start)

    def _skips(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], start: int) -> list[int]:
        punctuated = [start + 1] if text[start].text in PUNCTUATION else []
        return [*(end for end, _ in self._fillers.at(options, start)), *punctuated]

    def _leads(self, options: tuple[tuple[str, ...], ...], start: int) -> list[int]:
        return [end for end, _ in self._leading.at(options, start)]


def _as_asked(talk: Talk) -> Talk:
    """Return what a sentence says that ends in a question mark: it corrects nothing, it doubts."""
    match talk:
        case Correction():
            return Doubt(correction=None if talk.only_denies else talk)
        case Agreement():
            return Doubt()
    return talk


def _reach(place: int, ends: Sequence[Sequence[int]]) -> list[int]:
    reached = [place]
    for each in reached:
        reached += [end for end in (ends[each] if each < len(ends) else ()) if end not in reached]
    return reached
