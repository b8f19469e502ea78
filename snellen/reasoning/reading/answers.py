"""The reader of free answers: from text and its question to statements, their tuples, and the words that were not read.

A sentence is covered by parts that captions.grammar derives, as many of its words as can be, at the least cost. Only an
aside of unknown words between punctuation marks may be left over. Any other word that no part covers could turn the
sense of the rest ("hardly any trees are visible"): then nothing of the sentence is read. What is not read is named, and
is never taken for false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, cast

from snellen.reasoning.language.inflection import singular
from snellen.reasoning.reading.actions import ACTIONS as INSTRUCTION_ACTIONS
from snellen.reasoning.reading.answer_parts import AnswerPart, ReadQuestion, Statement
from snellen.reasoning.reading.chart import ChartParser, ParsingTooLong, Word
from snellen.reasoning.reading.completion import AnswerCompletion, about_what, premise
from snellen.reasoning.reading.covered_sentences import LEFT_OUT, CoveredSentence, reached_from
from snellen.reasoning.reading.descriptions import ACTIONS
from snellen.reasoning.reading.grammar_file import read_grammar
from snellen.reasoning.reading.lexical_entries import Entry, GrammaticalNumber, LexicalNoun, entries, real_words
from snellen.reasoning.reading.reader import GRAMMAR
from snellen.reasoning.reading.tuples import TupleWriter
from snellen.reasoning.reading.words import PUNCTUATION, KnownWords, PhraseTable, WordToken, tokens
from snellen.scoring.scene_graph import Fact

CAPTIONS: Final = Path(__file__).parent / "captions.grammar"
MAX_TEXT: Final = 4_000
"""Characters of a text that are read."""
MAX_SENTENCES: Final = 60
MAX_WORDS: Final = 60
"""Words of a sentence that is read."""
STEPS: Final = 6_000
"""Of the parser for one sentence; they follow from the words alone, so that all machines score an answer alike."""
TEXT_STEPS: Final = 24_000
"""For one text."""
_SECONDS: Final = 30.0
"""For one sentence, where a machine is too slow by far."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+|;")
_LIST_MARK: Final = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*\u2022])\s+", re.MULTILINE)
_CORRECTED: Final = 1.0
_STRANGE: Final = 0.6
_NAMED: Final = 0.25
_LONGEST: Final = 40
"""Letters of a word that may be a name."""
_VERBAL: Final = ("ed", "ing")
"""Endings of words that are hardly the end of a noun."""
_ADVERBIAL: Final = "ly"
"""The ending of words that say how something is so, or that it hardly is."""


@dataclass(frozen=True)
class ReadAnswer:
    """A text as it was read.

    Attributes:
        statements: What it says.
        facts: The same as tuples, as far as tuples can say it.
        unread: Words that were not read; of a sentence of which nothing was read, all.
    """

    statements: tuple[Statement, ...]
    facts: tuple[Fact, ...]
    unread: tuple[str, ...] = ()


class AnswerReader:
    """Reads what texts say.

    Args:
        facts_file: The concepts and groups that are known by name; other nouns are read as they are written.
    """

    unreadable = 0
    """Tuples that are none: the reader makes none of these."""

    def __init__(self, facts_file: Path | None) -> None:
        self._facts_file = facts_file

    def read(self, text: str, question: str = "") -> list[Fact]:
        """Return the tuples that a text says, each once; see `answer`."""
        return list(self.answer(text, question).facts)

    def answer(self, text: str, question: str = "") -> ReadAnswer:
        """Read a text.

        Args:
            text: A caption, or an answer; of a long one only the beginning is read.
            question: The question that it answers.
        """
        return _answer(self._facts_file, text, question)

    def unread(self, text: str, question: str = "") -> Sequence[str]:
        """Return the words of a text that were not read."""
        return self.answer(text, question).unread

    async def read_all(self, texts: Sequence[tuple[str, str]]) -> list[list[Fact]]:
        """Read each text with the question beside it; see `snellen.datasets.prove.building.Reader`."""
        return [self.read(text, question) for text, question in texts]

    async def premises(self, questions: Sequence[str]) -> list[list[Fact]]:
        """Return what each question takes for granted."""
        return [self.premise(question) for question in questions]

    def premise(self, question: str) -> list[Fact]:
        """Return the tuples that a question takes for granted: who repeats them says nothing new."""
        return _grammar(self._facts_file).writer.facts(premise(self.question(question)))

    def question(self, question: str) -> ReadQuestion:
        """Read a question; of one that is not read nothing is known."""
        return _question(self._facts_file, question[:MAX_TEXT])


@cache
def _grammar(facts_file: Path | None) -> _CaptionGrammar:
    return _CaptionGrammar(facts_file)


@lru_cache(maxsize=2_048)
def _answer(facts_file: Path | None, text: str, question: str) -> ReadAnswer:
    grammar = _grammar(facts_file)
    asked = _question(facts_file, question[:MAX_TEXT]) if question else ReadQuestion()
    completion = AnswerCompletion(asked, grammar.groups)
    names = frozenset(fact.entity for fact in grammar.writer.facts(about_what(asked)))
    unread, steps = list[str](), TEXT_STEPS
    sentences = [each for each in _SENTENCE.split(_LIST_MARK.sub("", text[:MAX_TEXT])) if each and not each.isspace()]
    for written in sentences[:MAX_SENTENCES]:
        try:
            sentence = _sentence(facts_file, written, grammar.mentioned(written, names), is_open=asked.is_open)
        except ParsingTooLong:
            sentence = None
        if sentence is None or sentence.steps > steps:
            steps -= min(steps, STEPS)
            unread += written.split()[:MAX_WORDS]
            continue
        steps -= sentence.steps
        if sentence.repeated is not None:
            completion.ask(sentence.repeated)
            continue
        unread += sentence.unread if completion.take(sentence.parts) else sentence.words
    unread += ["…"] if len(text) > MAX_TEXT or len(sentences) > MAX_SENTENCES else []
    facts = grammar.writer.facts([*completion.statements, *completion.abridged])
    return ReadAnswer(
        tuple(dict.fromkeys([*completion.statements, *completion.completed])), tuple(facts), tuple(unread)
    )


@dataclass(frozen=True)
class _ReadSentence:
    """A sentence as the grammar alone reads it.

    Attributes:
        parts: What covers it.
        unread: The words that none covers.
        words: All words.
        repeated: The question that it is, where it is nothing else.
        steps: How many it took.
    """

    parts: tuple[AnswerPart, ...]
    unread: tuple[str, ...]
    words: tuple[str, ...]
    repeated: ReadQuestion | None
    steps: int


@lru_cache(maxsize=1_024)
def _sentence(facts_file: Path | None, written: str, names: frozenset[str], *, is_open: bool) -> _ReadSentence:
    """Read a sentence once: a caption is read beside each question about its picture.

    Args:
        facts_file: The concepts and groups that are known by name.
        written: The sentence.
        names: Those nouns of its question that it mentions.
        is_open: Whether a word that nobody knows is an answer by itself.

    Raises:
        ParsingTooLong: It has too many words, or takes too many steps.
    """
    sentence = _grammar(facts_file).sentence(written, names, is_open=is_open)
    parts, unread = sentence.parts()
    repeated = sentence.whole("question") if unread and not parts else None
    return _ReadSentence(
        tuple(parts),
        tuple(unread),
        tuple(sentence.words()),
        repeated if isinstance(repeated, ReadQuestion) else None,
        STEPS - int(sentence.chart.steps),
    )


@lru_cache(maxsize=4_096)
def _question(facts_file: Path | None, question: str) -> ReadQuestion:
    try:
        value = _grammar(facts_file).sentence(question).whole("question")
    except ParsingTooLong:
        return ReadQuestion()
    return value if isinstance(value, ReadQuestion) else ReadQuestion()


def _groups(facts_file: Path | None) -> frozenset[str]:
    """Return the names of the groups of a facts file, in the singular."""
    if facts_file is None:
        return frozenset()
    table = json.loads(facts_file.read_text(encoding="utf-8"))
    return frozenset(row["singular"] for row in table["groups"].values())


def _as_written(entry: Entry) -> LexicalNoun:
    """Return a noun of the lexicon under its own name: a "kitty" in a caption is looked for among names as they are."""
    noun = cast("LexicalNoun", entry.value)
    return replace(noun, names=(singular(entry.phrase),), fact="") if entry.cost else noun


class _CaptionGrammar:
    """The grammar of captions, with the word classes of the grammar of instructions and the nouns of a facts file."""

    def __init__(self, facts_file: Path | None) -> None:
        shared, own = read_grammar(GRAMMAR, INSTRUCTION_ACTIONS), read_grammar(CAPTIONS, ACTIONS)
        self.spellings = {**shared.spellings, **own.spellings}
        self.parser = ChartParser(own.productions)
        used = {item for production in own.productions for item in production.items}
        phrases = [each for each in shared.phrases if each[1].isupper() and each[1] in used]
        phrases += own.phrases
        nouns = [each for each in entries(facts_file) if each.symbol == "NOUN" and isinstance(each.value, LexicalNoun)]
        self.groups = _groups(facts_file)
        self.writer = TupleWriter(self.groups)
        closed: list[tuple[str, tuple[str, Any, float]]] = [
            (text, (symbol, value, 0.0)) for text, symbol, value in phrases
        ]
        named = [(each.phrase, ("NOUN", _as_written(each), each.cost)) for each in nouns]
        self.phrases = PhraseTable((self.words_of(text), value) for text, value in [*closed, *named])
        self.nouns = frozenset(each.phrase for each in nouns)
        fillers = [each for each in (*shared.fillers, *own.fillers) if each not in self.nouns]
        self.fillers = PhraseTable((self.words_of(text), None) for text in fillers)
        self.joints = PhraseTable((self.words_of(text), None) for text, symbol, _ in own.phrases if symbol == "JOINT")
        self.closed = frozenset(word for text, _ in closed for word in self.words_of(text)) | frozenset(self.spellings)
        self.closed |= frozenset(word for text in fillers for word in self.words_of(text))
        self.structural = self.closed | {word for text, _, _ in shared.phrases for word in self.words_of(text)}
        known = self.closed | {word for text, _ in named for word in self.words_of(text)}
        self.vocabulary = KnownWords(frozenset(known), real_words())

    def words_of(self, phrase: str) -> tuple[str, ...]:
        """Cut a phrase into words."""
        return tuple(each.text for each in tokens(phrase, self.spellings))

    def mentioned(self, text: str, names: Collection[str]) -> frozenset[str]:
        """Return those names that may be read in a text: of one to three of its words, in the singular."""
        words = [each.text for each in tokens(text, self.spellings)][: MAX_WORDS + 1]
        spans = (words[start : start + length] for start in range(len(words)) for length in (1, 2, 3))
        return frozenset(singular(" ".join(span)) for span in spans) & frozenset(names) if names else frozenset()

    def sentence(self, text: str, names: Collection[str] = (), *, is_open: bool = False) -> CoveredSentence:
        """Parse a sentence.

        Args:
            text: The sentence.
            names: Nouns that are known besides those of the lexicon.
            is_open: Whether a word that nobody knows is an answer by itself.

        Raises:
            ParsingTooLong: It has too many words, or takes too many steps.
        """
        cut = tokens(text, self.spellings)
        if len(cut) > MAX_WORDS:
            raise ParsingTooLong
        options = tuple(self._options(each) for each in cut)
        ends = self._skips(cut, options)
        chart = self.parser.parse(
            self._words(cut, options, ends, names, is_open=is_open), seconds=_SECONDS, steps=STEPS
        )
        joints = {start: [end for end, _ in self.joints.at(options, start)] for start in range(len(cut))}
        return CoveredSentence(cut, chart, ends, joints, self.structural)

    def _options(self, token: WordToken) -> tuple[str, ...]:
        if token.text in self.vocabulary.known or token.text in PUNCTUATION:
            return (token.text,)
        return self.vocabulary.corrections(token.text)

    def _skips(self, cut: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> dict[int, list[int]]:
        return {
            start: [
                *(end for end, _ in self.fillers.at(options, start)),
                *([start + 1] if cut[start].text in PUNCTUATION else []),
            ]
            for start in range(len(cut))
        }

    def _words(
        self,
        cut: Sequence[WordToken],
        options: tuple[tuple[str, ...], ...],
        ends: dict[int, list[int]],
        names: Collection[str],
        *,
        is_open: bool,
    ) -> Iterator[Word]:
        for start in range(len(cut)):
            for end, (symbol, value, cost) in (
                *self.phrases.at(options, start),
                *self._names(cut, start, names, is_open=is_open),
            ):
                wrong = sum(
                    bool(options[place]) and cut[place].text not in options[place] for place in range(start, end)
                )
                extra = 0 if symbol in {"OPEN", "STRANGE"} else _CORRECTED * wrong
                for reached in reached_from(end, ends):
                    yield Word(symbol, start, reached, value, cost + extra + LEFT_OUT * (reached - end))

    def _names(
        self, cut: Sequence[WordToken], start: int, names: Collection[str], *, is_open: bool
    ) -> Iterator[tuple[int, tuple[str, Any, float]]]:
        """Yield names as they are written, of one to three words, and words for properties that nobody knows."""
        cost, words = 0.0, []
        for end in range(start + 1, min(start + 3, len(cut)) + 1):
            word = cut[end - 1].text
            if not word[0].isalpha() or len(word) > _LONGEST or word in self.closed:
                break
            words.append(word)
            cost += _NAMED if word in self.vocabulary.known else _STRANGE
            if word.endswith(_VERBAL) or words[0].endswith(_ADVERBIAL):
                continue
            name = singular(" ".join(words))
            number: GrammaticalNumber = "one" if name == " ".join(words) else "many"
            if name in names:
                yield end, ("NOUN", LexicalNoun((name,), number), 0.0)
            yield end, ("OPEN", LexicalNoun((name,), number, is_open=True), cost)
        word = cut[start].text
        if not word[0].isalpha() or len(word) > _LONGEST or word in self.closed:
            return
        if word not in self.nouns and not word.endswith(_ADVERBIAL):
            cost = _STRANGE + (_NAMED if word in self.vocabulary.known else 0)
            yield start + 1, ("STRANGE", word, cost)
            if is_open:
                yield start + 1, ("ANSWER", word, cost)
