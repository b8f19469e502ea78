"""The reader: from an instruction to its meaning, to meanings that the user must choose from, or to words unread.

Every content word is accounted for: by the meaning, by the grammar's list of words that mean nothing, or as an aside
about the speaker, which is shown. What is left is not guessed at: it is named, with the nearest known word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from snellen.reasoning.language.inflection import singular
from snellen.reasoning.meanings.echo_reader import read_echo
from snellen.reasoning.meanings.meanings import Meaning
from snellen.reasoning.meanings.things import Everything, Filter, IsA, Things
from snellen.reasoning.reading.actions import ACTIONS
from snellen.reasoning.reading.ambiguous_echoes import is_meant_otherwise
from snellen.reasoning.reading.asides import Aside, AsideFinder
from snellen.reasoning.reading.chart import Chart, ChartParser, ParsingTooLong, Word, reachable
from snellen.reasoning.reading.grammar_file import read_grammar
from snellen.reasoning.reading.lexical_entries import (
    LexicalNoun,
    covered_names,
    entries,
    entries_of_names,
    known_names,
    real_words,
)
from snellen.reasoning.reading.references import finished
from snellen.reasoning.reading.words import (
    PUNCTUATION,
    KnownWords,
    PhraseTable,
    WordToken,
    tokens,
)

GRAMMAR: Final = Path(__file__).parent / "pictures.grammar"
FOLLOW_UPS: Final = Path(__file__).parent / "follow_ups.grammar"
MAX_CHARACTERS: Final = 1_000
MAX_WORDS: Final = 120
SECONDS: Final = 2.0
_CLEARLY: Final = 0.12
"""Readings that cost this much more than the cheapest are not meant."""
_TAKEN_APART: Final = 0.2
"""What it costs to read a part of a name of several words ("old woman") by itself."""
_SKIPPED: Final = 0.02
_COMMA: Final = 0.08
_CORRECTED: Final = 1.0
_ASIDE: Final = 2.0
_OPEN: Final = 0.5
_MOST_WORDS_OF_A_NAME: Final = 2
_DETERMINERS: Final = frozenset({"a", "an", "the", "any", "no", "each", "every", "this", "that", "many", "all", "two"})
_VERBAL: Final = ("ing", "ed")
_CONTENT: Final = frozenset({"NOUN", "COLOUR", "SIZE", "LARGER", "SUPERLATIVE"})
"""Terminals of words that say what is asked for."""
_NAMES: Final = frozenset({"NOUN", "COLOUR"})


@dataclass(frozen=True)
class Understood:
    """One meaning.

    Attributes:
        meaning: The meaning.
        asides: Clauses about the speaker that say nothing about the pictures.
        corrected: Words that were taken for another: as written, as read.
        probability: Of the meaning, where no rule of a grammar reads the instruction.
    """

    meaning: Meaning
    asides: tuple[str, ...] = ()
    corrected: tuple[tuple[str, str], ...] = ()
    probability: float = 1.0


@dataclass(frozen=True)
class Ambiguous:
    """Several meanings, among which only the user can choose; or one, of which only the user knows if it is meant."""

    meanings: tuple[Meaning, ...]


@dataclass(frozen=True)
class Unread:
    """No meaning.

    Attributes:
        words: The words that are not known, or the part that fits nothing.
        nearest: The nearest known word to each of them, empty where there is none.
        why: A sentence.
    """

    words: tuple[str, ...]
    nearest: tuple[str, ...]
    why: str


Reading = Understood | Ambiguous | Unread


def read(
    instruction: str,
    pictures: int,
    facts_file: Path | None,
    *,
    names: frozenset[str] = frozenset(),
    open_: bool = False,
    before: Meaning | None = None,
) -> Reading:
    """Read an instruction about one picture or two; the same one is read once, whoever routes it, answers or asks back.

    Args:
        instruction: The instruction.
        pictures: The number of pictures.
        facts_file: The concepts, groups and facts that instructions may name.
        names: Further names of things, such as those that the user taught.
        open_: Whether a word that is not known is the name of a thing.
        before: The meaning of the instruction before it in a conversation, to which it may refer.
    """
    return _reader(facts_file, names, open_, before is not None).read_once(instruction, pictures, before)


def mentioned(text: str, facts_file: Path | None, *, names: frozenset[str] = frozenset()) -> Things | None:
    """Return the things of the last name in a text that is no instruction; None where it has none."""
    return _reader(facts_file, names, False, False).mentioned(text)  # noqa: FBT003 - cached


def reader_of(facts_file: Path | None) -> InstructionReader:
    """Return the reader for the concepts of a facts file; without one any word may be a name."""
    return _reader(facts_file, frozenset(), facts_file is None, False)  # noqa: FBT003 - cached


@lru_cache(maxsize=8)
def _reader(
    facts_file: Path | None,
    names: frozenset[str],
    open_: bool,  # noqa: FBT001 - cached
    follows: bool,  # noqa: FBT001 - cached
) -> InstructionReader:
    return InstructionReader(facts_file, names, open_=open_, follows=follows)


class InstructionReader:
    """A reader for the concepts of one facts file.

    Attributes:
        vocabulary: All words that it knows.
        read_once: Does what `read` does; of what it has read lately it tells the same again.
    """

    def __init__(
        self,
        facts_file: Path | None,
        names: frozenset[str] = frozenset(),
        *,
        open_: bool = False,
        follows: bool = False,
    ) -> None:
        """Read the grammar; `follows` says whether what it reads follows another instruction."""
        grammar = read_grammar(GRAMMAR, ACTIONS)
        if follows:
            grammar.add(read_grammar(FOLLOW_UPS, ACTIONS))
        self.read_once = lru_cache(maxsize=1_024)(self.read)
        self._open = open_
        self._names = known_names(facts_file, names)
        self._covered = covered_names(self._names.kinds)
        self._spellings = grammar.spellings
        self._parser = ChartParser(grammar.productions)
        lexicon = (*entries(facts_file), *entries_of_names(sorted(names)))
        phrases: list[tuple[str, tuple[str, Any, float]]] = [
            (phrase, (symbol, value, 0.0)) for phrase, symbol, value in grammar.phrases
        ]
        phrases += [(each.phrase, (each.symbol, each.value, each.cost)) for each in lexicon]
        self._phrases = PhraseTable((self._words_of(phrase), value) for phrase, value in phrases)
        self._fillers = PhraseTable((self._words_of(phrase), None) for phrase in grammar.fillers)
        self._leading = PhraseTable((self._words_of(phrase), None) for phrase in grammar.leading)
        markers = next(p for p in grammar.productions if p.symbol == "ask_for").items[0].strip('"').split("|")
        markers += next(p for p in grammar.productions if p.symbol == "ask_whether").items[0].strip('"').split("|")
        markers += ["anyway", "it strikes me that"]
        self._compounds = {
            "".join(self._words_of(each.phrase)).replace("-", ""): (each.symbol, each.value, each.cost)
            for each in reversed(lexicon)
            if each.symbol == "NOUN"
        }
        self._terminal_words = frozenset(word for phrase, _ in phrases for word in self._words_of(phrase))
        known = grammar.fillers + grammar.leading
        self.vocabulary = KnownWords(
            self._terminal_words
            | frozenset(word for phrase in known for word in self._words_of(phrase))
            | frozenset(self._spellings),
            real_words(),
        )
        self._asides = AsideFinder(
            PhraseTable((self._words_of(each), None) for each in markers),
            frozenset(phrase for phrase, (symbol, _, _) in phrases if symbol in _CONTENT and " " not in phrase),
        )

    def read(self, instruction: str, pictures: int, before: Meaning | None = None) -> Reading:
        """Read an instruction, which may refer to the meaning of the one before it."""
        if len(instruction) > MAX_CHARACTERS:
            return Unread((), (), f"An instruction has at most {MAX_CHARACTERS} characters.")
        said = read_echo(instruction.strip(), self._names)
        echoed = None if said is None else finished(said, pictures)
        if echoed is not None and not is_meant_otherwise(echoed, self._covered):
            return Understood(echoed)
        reading = self._read_by_rules(instruction, pictures, before)
        return reading if echoed is None or isinstance(reading, Understood) else Understood(echoed)

    def _read_by_rules(self, instruction: str, pictures: int, before: Meaning | None) -> Reading:
        text = tokens(instruction, self._spellings)
        if not any(each.text not in PUNCTUATION for each in text):
            return Unread((), (), "There are no words in it.")
        if len(text) > MAX_WORDS:
            return Unread((), (), f"An instruction has at most {MAX_WORDS} words.")
        options = tuple(self._options(each) for each in text)
        try:
            return self._read(text, options, pictures, before)
        except ParsingTooLong:
            return Unread((), (), "It can be read in too many ways; say it in fewer words.")

    def mentioned(self, text: str) -> Things | None:
        """Return the things of the last name in a text; None where it has none."""
        cut = tokens(text, self._spellings)
        words = self._words(cut, tuple((each.text,) for each in cut), {place: [] for place in range(len(cut))})
        nouns = [each for each in words if each.symbol == "NOUN" and isinstance(each.value, LexicalNoun)]
        last = max(nouns, key=lambda each: (each.end, each.end - each.start), default=None)
        if last is None or not isinstance(last.value, LexicalNoun) or not last.value.names:
            return None
        name, *others = last.value.names
        return Filter(things=Everything(), property=IsA(name=name, or_names=tuple(others)))

    def names_in(self, instruction: str) -> Iterator[tuple[str, str, LexicalNoun | str | None]]:
        """Yield the nouns and colours of an instruction, the longest first, and the words between them.

        Yields:
            The words, the terminal of a name (``NOUN`` or ``COLOUR``) and its value; neither for other words.
        """
        text = tokens(instruction[:MAX_CHARACTERS], self._spellings)
        options = tuple(self._options(each) for each in text)
        place = 0
        while place < len(text):
            names = [
                (end, -cost, symbol, value)
                for end, (symbol, value, cost) in self._terminals(text, options, place)
                if symbol in _NAMES
            ]
            end, _, symbol, value = max(names, key=lambda name: name[:2], default=(place + 1, 0.0, "", None))
            yield " ".join(token.text for token in text[place:end]), symbol, value
            place = end

    def _read(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], pictures: int, before: Meaning | None
    ) -> Reading:
        ends = self._skips(text, options)
        asides = tuple(self._asides.find(text, options))
        first = reachable(0, {**ends, **self._leads(options, ends)})
        words = list(self._words(text, options, ends))
        unknown = [place for place, each in enumerate(options) if not each]
        chart = self._parser.parse(words, seconds=SECONDS)
        starts = dict.fromkeys(first, 0.0)
        tails = {len(text): 0.0}
        for aside in asides:
            for place in reachable(aside.end, ends):
                starts.setdefault(place, _ASIDE)
            tails.setdefault(aside.start, _ASIDE)
        meanings = self._meanings(chart, starts, tails, pictures, before)
        if not meanings:
            return self._unread(text, unknown, asides)
        cheapest = min(cost for cost, _, _ in meanings.values())
        near = [meaning for meaning, (cost, _, _) in meanings.items() if cost <= cheapest + _CLEARLY]
        if len(near) > 1:
            return Ambiguous(tuple(near))
        _, start, end = meanings[near[0]]
        corrected = tuple(
            (token.written, each[0])
            for token, each in zip(text[start:end], options[start:end], strict=True)
            if each and token.text not in each
        )
        skipped = (text[:start] if starts[start] else (), text[end:] if tails[end] else ())
        said = tuple(" ".join(token.written for token in part) for part in skipped)
        return Understood(near[0], tuple(each for each in said if any(c.isalpha() for c in each)), corrected)

    def _meanings(
        self, chart: Chart, starts: dict[int, float], tails: dict[int, float], pictures: int, before: Meaning | None
    ) -> dict[Meaning, tuple[float, int, int]]:
        meanings: dict[Meaning, tuple[float, int, int]] = {}
        for symbol, start, end in chart.spans:
            if symbol not in {"start", "follow_up"} or start not in starts or end not in tails:
                continue
            around = starts[start] + tails[end]
            # Of an instruction with asides the longest part that can be read is the instruction.
            around += 0.05 * (start + max(tails) - end) if around else 0.0
            for value, cost in chart.values(symbol, start, end).items():
                meaning = finished(value, pictures, before)
                if meaning is not None and cost + around < meanings.get(meaning, (1e9, 0, 0))[0]:
                    meanings[meaning] = (cost + around, start, end)
        return meanings

    def _words_of(self, phrase: str) -> tuple[str, ...]:
        return tuple(each.text for each in tokens(phrase, self._spellings))

    def _options(self, token: WordToken) -> tuple[str, ...]:
        """Return the known words that a token may be; none where it is not known."""
        word = token.text
        if word in self.vocabulary.known or word in PUNCTUATION or word.replace("-", "") in self._compounds:
            return (word,)
        if self._open and word.isalpha():
            return (word,)
        return self.vocabulary.corrections(word)

    def _words(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], ends: dict[int, list[int]]
    ) -> Iterator[Word]:
        terminals = [(start, *each) for start in range(len(text)) for each in self._terminals(text, options, start)]
        names = {
            (start, end)
            for start, end, (symbol, _, cost) in terminals
            if symbol == "NOUN" and not cost and end > start + 1
        }
        for start, end, (symbol, value, cost) in terminals:
            extra = cost + _CORRECTED * sum(text[place].text not in options[place] for place in range(start, end))
            if any(first <= start and end <= last and (first, last) != (start, end) for first, last in names):
                extra += _TAKEN_APART
            for reached in reachable(end, ends):
                # A comma that is left out may have been an "and".
                skipped = sum(_COMMA if token.text == "," else _SKIPPED for token in text[end:reached])
                yield Word(symbol, start, reached, value, extra + skipped)

    def _terminals(
        self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...], start: int
    ) -> Iterator[tuple[int, tuple[str, Any, float]]]:
        yield from self._phrases.at(options, start)
        squeezed = ""
        for end in range(start, min(start + 4, len(text))):
            squeezed += text[end].text.replace("-", "")
            entry = self._compounds.get(squeezed)
            if entry and (end > start or "-" in text[end].text or text[end].text not in self.vocabulary.known):
                yield end + 1, (entry[0], entry[1], entry[2] + 0.1)
        yield from self._open_names(text, start)
        if text[start].text in {"'", '"'}:
            for end in range(start + 2, min(start + 8, len(text))):
                if text[end].text == text[start].text:
                    words = " ".join(token.written for token in text[start + 1 : end])
                    yield end + 1, ("SAYING", words, 0.0)
                    break

    def _open_names(
        self, text: Sequence[WordToken], start: int
    ) -> Iterator[tuple[int, tuple[str, LexicalNoun, float]]]:
        """Yield the names that words which are not known may be, where they may be names at all."""
        words: list[str] = []
        is_determined = start > 0 and text[start - 1].text in _DETERMINERS
        for token in text[start : start + _MOST_WORDS_OF_A_NAME] if self._open else ():
            if not token.text.isalpha() or token.text in self._terminal_words:
                return
            # "The man" is somebody, "hey man" is nobody; "the building" is a thing, "the man wearing" is none.
            if not is_determined and (token.text in self.vocabulary.known or token.text.endswith(_VERBAL)):
                return
            if words and token.text.endswith(_VERBAL):
                return
            words.append(token.text)
            name = singular(" ".join(words))
            noun = LexicalNoun((name,), "one" if name == " ".join(words) else "many")
            yield start + len(words), ("NOUN", noun, _OPEN)

    def _skips(self, text: Sequence[WordToken], options: tuple[tuple[str, ...], ...]) -> dict[int, list[int]]:
        """Return where one may go on from each place by leaving out what means nothing."""
        return {
            start: [
                *(end for end, _ in self._fillers.at(options, start)),
                *([start + 1] if text[start].text in PUNCTUATION else []),
            ]
            for start in range(len(text))
        }

    def _leads(self, options: tuple[tuple[str, ...], ...], ends: dict[int, list[int]]) -> dict[int, list[int]]:
        """Return where one may go on from each place at the beginning."""
        return {start: [*ends[start], *(end for end, _ in self._leading.at(options, start))] for start in ends}

    def _unread(self, text: Sequence[WordToken], unknown: Sequence[int], asides: Sequence[Aside]) -> Unread:
        outside = [place for place in unknown if not any(each.start <= place < each.end for each in asides)]
        places = outside or unknown
        if places:
            words = tuple(text[place].written for place in places)
            nearest = tuple(self.vocabulary.suggestion(text[place].text) for place in places)
            listed = ", ".join(
                f"“{word}”" + (f" (do you mean {near}?)" if near else "")
                for word, near in zip(words, nearest, strict=True)
            )
            return Unread(words, nearest, f"Not known: {listed}.")
        return Unread((), (), "The words are known, but not said in this way.")
