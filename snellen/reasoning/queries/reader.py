"""The reader of questions about models: a meaning, several among which the user chooses, or the words not read.

Every word is accounted for by the meaning or by the grammar's list of words that carry none. It uses the parser, the
words and the lexicon of `snellen.reasoning.reading`, with a grammar of its own, `models.grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.queries.abilities import Recognise
from snellen.reasoning.queries.ability_actions import judged, replaced
from snellen.reasoning.queries.actions import ACTIONS
from snellen.reasoning.queries.bounds import Named, UnexaminedWords, left_out, unexamined
from snellen.reasoning.queries.circumstances import CHANGES, changes_told, names, refers_back
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion
from snellen.reasoning.queries.nominal_actions import ALL_BUT, OTHERS, PRONOUNS
from snellen.reasoning.queries.part_reading import questions_by_parts
from snellen.reasoning.queries.query_readings import AmbiguousQuery, QueryReading, UnderstoodQuery, UnreadQuery
from snellen.reasoning.queries.question_actions import asked_of_all, leaves_open, unsaid, whole
from snellen.reasoning.queries.vocabulary import (
    NounSource,
    Terminal,
    bases,
    is_numeral,
    judges_among,
    model_names,
    nouns,
    numerals,
    strangers,
)
from snellen.reasoning.reading.chart import Chart, ChartParser, ParsingTooLong, Word, reachable
from snellen.reasoning.reading.grammar_file import Grammar, read_grammar
from snellen.reasoning.reading.lexical_entries import real_words
from snellen.reasoning.reading.words import PUNCTUATION, KnownWords, PhraseTable, WordToken, tokens

if TYPE_CHECKING:
    from snellen.profiles import Profile

GRAMMAR: Final = Path(__file__).parent / "models.grammar"
MAX_CHARACTERS: Final = 1_000
MAX_WORDS: Final = 120
SECONDS: Final = 3.0
_CLEARLY: Final = 0.12
"""Readings that cost this much more than the cheapest are not meant."""
_SKIPPED: Final = 0.02
_COMMA: Final = 0.08
_CORRECTED: Final = 1.0
_SENTENCE_END: Final = re.compile(r"(?<=[.!?…])\s+|\n+")
_MOST_SENTENCES: Final = 6
_BEFORE_VERBS: Final = frozenset({"i", "we", "you", "they", "to"})
_MOST_NAMED: Final = 12
_ENDS: Final = frozenset(".!?…:;")
NOT_SAID_SO: Final = "The words are known, but this way of putting them is not read here."
WHICH_MODEL: Final = "Which model “it” is was not said: name one, or ask about “the models”."
_DECISIVE: Final = CHANGES | {
    "MODEL", "NOUN", "COLOUR", "BETTER", "BEST", "MORE_ROBUST", "MOST_ROBUST", "POINT_UNIT", "COUNT_WORD",
    "COLOUR_ABILITY", "TELL_SIDES", "TELL_HEIGHTS", "TELL_WHERE", "FREE_TRUE", "FREE_HELP", "FREE_FALSE", "PAIRS_ALL",
    "PAIRS_ORDER", "PAIRS_SYMMETRY", "PAIRS_HEED", "PAIRS_ASYMMETRY", "PAIRS_IGNORE",
}  # fmt: skip
"""Words that change what is examined, so that no sentence with one of them is left out."""


def read_query(text: str, models: Sequence[str], profile: Profile) -> QueryReading:
    """Read a question about models.

    Args:
        text: In the user's words.
        models: The models that it may name.
        profile: Says what pictures can show, and which models only judge pairs.
    """
    return _read_by(reader_of(models, profile), text)


def reader_of(models: Sequence[str], profile: Profile) -> QueryReader:
    """Return the reader of questions about some models of a profile."""
    return _reader(tuple(models), judges_among(models, profile), NounSource(profile))


@cache
def _grammar() -> tuple[Grammar, ChartParser]:
    grammar = read_grammar(GRAMMAR, ACTIONS)
    return grammar, ChartParser(grammar.productions)


@lru_cache(maxsize=8)
def _reader(models: tuple[str, ...], judges: tuple[str, ...], named: NounSource) -> QueryReader:
    return QueryReader(models, judges, tuple(nouns(named.profile)))


@lru_cache(maxsize=64)
def _read_by(reader: QueryReader, text: str) -> QueryReading:
    """Read a query once, however many ask: for its models, its protocol, its error rate and its experiments."""
    return reader.read(text)


class QueryReader:
    """A reader for some models and what pictures can show.

    Args:
        models: The names of the models.
        judges: Those that only judge pairs.
        lexicon: Names of what pictures show, and facts about it.
    """

    def __init__(self, models: Sequence[str], judges: Sequence[str], lexicon: Sequence[Terminal]) -> None:
        grammar, self._parser = _grammar()
        self._models, self._judges, self._spellings = tuple(models), tuple(judges), grammar.spellings
        phrases: list[tuple[tuple[str, ...], tuple[str, Any, float]]] = [
            (self._words_of(phrase), (symbol, value, 0.0)) for phrase, symbol, value in grammar.phrases
        ]
        said = {words for words, _ in phrases}
        self._grammar_words = frozenset(word for words in said for word in words) | frozenset(self._spellings)
        things = [one for one in lexicon if one.phrase not in self._spellings]  # no animal where one is "being" asked
        # What several models are called for short is no word of the language: "model" for model1 and model2.
        names = [one for one in model_names(models, judges) if not one.cost or self._words_of(one.phrase) not in said]
        phrases += [(self._words_of(each.phrase), (each.symbol, each.value, each.cost)) for each in (*things, *names)]
        self._phrases = PhraseTable(phrases)
        self._fillers = PhraseTable((self._words_of(phrase), None) for phrase in grammar.fillers)
        self._leading = PhraseTable((self._words_of(phrase), None) for phrase in grammar.leading)
        meaningless = [self._words_of(phrase) for phrase in (*grammar.fillers, *grammar.leading)]
        self._numbered = [each.phrase for each in lexicon if any(map(str.isdigit, each.phrase))]
        known = frozenset(word for words in (*(words for words, _ in phrases), *meaningless) for word in words)
        self.vocabulary = KnownWords(known | frozenset(self._spellings), real_words())
        self._of_models = frozenset(word for each in names for word in self._words_of(each.phrase))

    def read(self, text: str) -> QueryReading:
        """Read a query as a whole, or those of its sentences that stand alone."""
        reading = self._read(text)
        if not isinstance(reading, UnreadQuery):
            return reading
        sentences = [each for each in _SENTENCE_END.split(text[:MAX_CHARACTERS].strip()) if each]
        if not 1 < len(sentences) <= _MOST_SENTENCES:
            return reading
        return self._standing_alone(sentences) or self._in_circumstances(sentences) or reading

    def _standing_alone(self, sentences: Sequence[str]) -> UnderstoodQuery | None:
        """Read a query without sentences before or after it that add nothing to what is examined."""
        for length in range(len(sentences) - 1, 0, -1):
            for start in range(len(sentences) - length + 1):
                others = (*sentences[:start], *sentences[start + length :])
                reading = self._read(" ".join(sentences[start : start + length]))
                if isinstance(reading, UnderstoodQuery) and not any(self._adds(each, reading.query) for each in others):
                    return UnderstoodQuery(reading.query, reading.corrected, others)
        return None

    def _in_circumstances(self, sentences: Sequence[str]) -> UnderstoodQuery | None:
        """Read a last sentence under the changes of pictures that the asker's sentences before it tell of.

        "It rains a lot on our coast. Can clip still name boats?" refers back to the rain; the report says what was not
        read.
        """
        before = sentences[:-1]
        stories = [[self._uninflected(word) for word in tokens(each, self._spellings)] for each in before]
        named = {name for each in stories for name in changes_told(each, self._named_at(each))}
        if len(named) != 1 or not refers_back(tokens(sentences[-1], self._spellings)):
            return None
        name = named.pop()
        for joined in (f"{name}: {sentences[-1]}", f"under {name}, {sentences[-1]}"):
            reading = self._read(joined)
            if isinstance(reading, UnderstoodQuery) and not any(self._adds(each, reading.query) for each in before):
                return UnderstoodQuery(reading.query, reading.corrected, tuple(before))
        return None

    def left_out(
        self, text: str, query: ModelQuery, meant: AbstractSet[UnexaminedWords] = frozenset()
    ) -> tuple[str, ...]:
        """Return what a text bounds, denies or excepts and a reading of it does not, in sentences.

        Of its unexamined words those that are meant do not count.
        """
        cut = [self._uninflected(each) for each in tokens(text, self._spellings)]
        return left_out(text, cut, self._named_at(cut), query, meant=meant)

    def _named_at(self, cut: Sequence[WordToken]) -> Named:
        """Return the phrases of the grammar that begin at each word."""
        options = tuple((each.text,) for each in cut)
        return [
            [(end, symbol, value) for end, (symbol, value, _) in self._phrases.at(options, start)]
            for start in range(len(cut))
        ]

    def _adds(self, sentence: str, query: ModelQuery) -> bool:
        """Tell whether a sentence names models, things, changes or numbers that a query lacks, or asks for more."""
        cut = tokens(sentence, self._spellings)
        return (
            sentence.rstrip().endswith("?")
            or bool(self.strangers(sentence))
            or any(
                (symbol in _DECISIVE and not names(query, symbol, value)) or cut[start].text == "%"
                for start, phrases in enumerate(self._named_at(cut))
                for _, symbol, value in phrases
                if symbol != "NOUN" or not start or cut[start - 1].text not in _BEFORE_VERBS
            )
        )

    def _read(self, text: str) -> QueryReading:
        if len(text) > MAX_CHARACTERS:
            return UnreadQuery((), (), f"It has {len(text):,} characters; say it in at most {MAX_CHARACTERS:,}.")
        cut = [self._uninflected(each) for each in tokens(text, self._spellings)]
        if not any(each.text not in PUNCTUATION for each in cut):
            return UnreadQuery((), (), "There are no words in it.")
        if len(cut) > MAX_WORDS:
            return UnreadQuery((), (), f"It has more than {MAX_WORDS} words.")
        if others := self.strangers(text):
            why = f"There is no model {others[0]!r} to examine; there are {', '.join(self._models)}."
            return UnreadQuery(others, ("",) * len(others), why)
        options = tuple(self._options(each) for each in cut)
        unknown = [place for place, each in enumerate(options) if not each]
        if unknown:
            return self._unknown([cut[place] for place in unknown])
        try:
            return self._parsed(cut, options)
        except ParsingTooLong:
            return UnreadQuery((), (), "It can be read in too many ways; say it in fewer words.")

    def _parsed(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> QueryReading:
        skips = self._skips(text, options)
        leads = {start: [*skips[start], *(end for end, _ in self._leading.at(options, start))] for start in skips}
        chart = self._parser.parse(self._words(text, options, skips), seconds=SECONDS)
        meanings: dict[ModelQuery, float] = {}
        for start in reachable(0, leads):
            for value, cost in chart.values("start", start, len(text)).items():
                query = self.finished(value)
                if query is not None and cost < meanings.get(query, 1e9):
                    meanings[query] = cost
        if not meanings:
            return self._not_said_so(text, options, leads, chart)
        cheapest = min(meanings.values())
        near = [query for query, cost in meanings.items() if cost <= cheapest + _CLEARLY]
        merged = list(dict.fromkeys(map(unsaid, near)))
        near = merged if len(merged) == 1 < len(near) else near
        # A name with an "and" in it ("patching and reshuffling") is no list of two.
        near = [each for each in near if not any(set(other.questions) < set(each.questions) for other in near)]
        if len(near) > 1:
            return AmbiguousQuery(tuple(near))
        corrected = tuple(
            (token.written, each[0]) for token, each in zip(text, options, strict=True) if token.text not in each
        )
        return UnderstoodQuery(near[0], corrected)

    def _not_said_so(
        self,
        text: Sequence[WordToken],
        options: tuple[tuple[str, ...], ...],
        leads: dict[int, list[int]],
        chart: Chart,
    ) -> UnreadQuery:
        """Return what is known of a question whose words are known and that no rule reads."""
        written = " ".join(each.written for each in text)
        wholes = (value for start in reachable(0, leads) for value in chart.values("start", start, len(text)))
        whose = [value for value in wholes if leaves_open(value)]
        terminals = {
            start: [(end, symbol) for end, (symbol, *_) in self._phrases.at(options, start)] for start in leads
        }
        by_parts = questions_by_parts(chart, terminals, leads, len(text))
        queries = {query for aims in by_parts if (query := self.finished(whole(aims))) is not None}
        queries = {each for each in queries if not self.left_out(written, each)}
        if len(queries) == 1:
            return UnreadQuery((), (), NOT_SAID_SO, by_parts=queries.pop())
        why = " ".join(unexamined(written))
        of_all = None if why or not whose else asked_of_all(whose[0])
        return UnreadQuery((), (), why or (WHICH_MODEL if whose else NOT_SAID_SO), of_all)

    def finished(self, value: object) -> ModelQuery | None:
        """Name the models that are meant by others than those named; None where there are none."""
        if not isinstance(value, ModelQuery):
            return None
        try:
            questions = tuple(map(self._with_models, value.questions))
            return ModelQuery(questions=tuple(dict.fromkeys(questions)), confidence=value.confidence)
        except ValueError:
            return None

    def _with_models(self, question: ModelQuestion) -> ModelQuestion:
        names = question.models
        usual = [name for name in self._models if question.pairs or name not in self._judges]
        if names == (PRONOUNS["they"],):
            names = question.models[:0]
            question = replaced((question,), lambda _: {"models": ()})[0]
        elif PRONOUNS["it"] in names or PRONOUNS["they"] in names:
            msg = "it is not clear which model is meant"
            raise ValueError(msg)
        if names[:1] == (ALL_BUT,):
            names = tuple(name for name in usual if name not in names)
        elif OTHERS in names:
            first = tuple(name for name in names if name != OTHERS)
            names = (*first, *(name for name in usual if name not in first))
        if question.models and not names:
            msg = "nobody is left"
            raise ValueError(msg)
        named = replaced((question,), lambda _: {"models": names})
        only_judges = bool(names) and set(names) <= set(self._judges)
        # Whoever only judges pairs is asked about nothing else, where nothing else is named.
        unnamed = question.ability == Recognise() and (question.robust or question.comparison is not None)
        asked = judged(named) if only_judges and unnamed else named
        if asked is None:
            msg = "no judge is asked about such pairs"
            raise ValueError(msg)
        return asked[0]

    def strangers(self, text: str) -> tuple[str, ...]:
        """Return what looks like the name of a model in a text, and is none."""
        return strangers(text, self._models, self._numbered)

    def _words_of(self, phrase: str) -> tuple[str, ...]:
        return tuple(each.text for each in tokens(phrase, self._spellings))

    def _uninflected(self, token: WordToken) -> WordToken:
        """Take an inflected word for the word of the grammar that it is a form of, where only that is known."""
        stems = () if token.text in self.vocabulary.known else self._stems(token.text)
        return WordToken(stems[0], token.written) if stems else token

    def _stems(self, word: str) -> tuple[str, ...]:
        """Return the words of the grammar that a word may be a regular form of."""
        return tuple(self._spellings.get(each, each) for each in bases(word) if each in self._grammar_words)

    def _options(self, token: WordToken) -> tuple[str, ...]:
        """Return the known words that a token may be; none where it is not known. Names of models are spelled right."""
        word = token.text
        if word in self.vocabulary.known or word in PUNCTUATION or is_numeral(word):
            return (word, *self._stems(word))
        return tuple(each for each in self.vocabulary.corrections(word) if each not in self._of_models)

    def _words(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], skips: Mapping[int, list[int]]
    ) -> Iterator[Word]:
        for start in range(len(text)):
            terminals = [*self._phrases.at(options, start)]
            terminals += [(end, ("NUMERAL", value, 0.0)) for end, value in numerals(text, start)]
            for end, (symbol, value, cost) in terminals:
                extra = cost + _CORRECTED * sum(text[place].text not in options[place] for place in range(start, end))
                for reached in reachable(end, skips):
                    # A comma that is left out may have been an "and".
                    skipped = sum(_COMMA if token.text == "," else _SKIPPED for token in text[end:reached])
                    yield Word(symbol, start, reached, value, extra + skipped)

    def _skips(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> dict[int, list[int]]:
        """Return where one may go on from each place by leaving out what means nothing."""
        return {
            start: [
                *(end for end, _ in self._fillers.at(options, start)),
                *(end for end, _ in self._leading.at(options, start) if start and text[start - 1].text in _ENDS),
                *([start + 1] if text[start].text in PUNCTUATION else []),
            ]
            for start in range(len(text))
        }

    def _unknown(self, words: Sequence[WordToken]) -> UnreadQuery:
        words = list({each.text: each for each in words}.values())[:_MOST_NAMED]
        nearest = tuple(self.vocabulary.suggestion(each.text) for each in words)
        listed = ", ".join(
            f"“{word.written}”" + (f" (do you mean {near}?)" if near else "")
            for word, near in zip(words, nearest, strict=True)
        )
        return UnreadQuery(tuple(each.written for each in words), nearest, f"Not known here: {listed}.")
