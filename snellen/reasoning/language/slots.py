"""Reading an instruction: which of its words can be exchanged (slots), and what it is about (cues)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Literal

from snellen.reasoning.language.inflection import is_plural, plural, singular
from snellen.reasoning.language.lexicon import (
    ACTS,
    ASKS,
    CANONICAL,
    COLOURS,
    COMPARATORS,
    CUES,
    EDITS,
    FILLERS,
    NUMBERS,
    PLACES,
    RELATIONS,
    SETTINGS,
    SIZES,
    STRUCTURE,
    Lexicon,
    Noun,
    plain_words,
)

Kind = Literal[
    "NOUN", "COLOR", "SIZE", "NUMBER", "RELATION", "COMPARATOR", "PLACE", "SETTING", "PICTURE", "EMOJI", "FACT", "CLASS"
]


@dataclass(frozen=True)
class Slot:
    """Words of an instruction that another instruction may have otherwise.

    Attributes:
        kind: What may stand there.
        text: The words as written.
        value: What they mean: a noun in the singular, a number in digits, a relation, an operator.
        start: Position of the first character in the reading's text.
        end: Position behind the last one.
        group: Whether a noun is a hypernym.
        known: Whether a noun is one of the lexicon's (others are nouns by their place).
        head: The noun within a CLASS (``animal`` of ``wild animals that can fly``).
        placed: Whether an unknown noun stands where only nouns stand: behind an article, a number, an adjective.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int
    group: bool = False
    known: bool = True
    head: str = ""
    placed: bool = True

    @property
    def many(self) -> str:
        """The plural of a noun's value."""
        return plural(self.value)


@dataclass(frozen=True)
class Frame:
    """Features that two instructions must share for the program of one to fit the other."""

    cues: frozenset[str]
    kinds: tuple[Kind, ...]
    structure: tuple[str, ...]


@dataclass(frozen=True)
class InstructionReading:
    """An instruction in plain words, with its slots in order."""

    text: str
    slots: tuple[Slot, ...]
    cues: frozenset[str]

    @cached_property
    def masked(self) -> str:
        """The text with each slot's kind in its place: what is left is wording."""
        return _masked(self.text, self.slots)

    @cached_property
    def wording(self) -> frozenset[str]:
        """The words besides the slots, in lower case."""
        return frozenset(re.findall(r"[a-z]+", "".join(text for text in re.split(r"[A-Z]+", self.masked))))

    @cached_property
    def frame(self) -> Frame:
        """The frame of the instruction."""
        kinds = tuple(slot.kind for slot in self.slots)
        if self.cues & (EDITS | {"tag"}):
            # "Cover A with B" and "put B over A" mean the same.
            return Frame(self.cues, tuple(sorted(kinds)), ())
        words = re.findall(r"[a-z]+", self.masked)
        return Frame(self.cues, kinds, tuple(sorted(word for word in words if word in STRUCTURE)))

    def of(self, *kinds: Kind) -> list[Slot]:
        """Return the slots of these kinds, in order."""
        return [slot for slot in self.slots if slot.kind in kinds]

    def without(self, *slots: Slot) -> str:
        """Return the text with these slots' words taken out."""
        text = self.text
        for slot in sorted(slots, key=lambda one: one.start, reverse=True):
            text = f"{text[: slot.start]} {text[slot.end :]}"
        return tidy(text)

    def has(self, pattern: str) -> bool:
        """Return whether the wording (not the slots) holds a pattern."""
        return re.search(pattern, self.masked) is not None


def tidy(text: str) -> str:
    """Remove doubled blanks and stray punctuation."""
    text = re.sub(r"\s+([,.?!;:])", r"\1", " ".join(text.split()))
    return re.sub(r"^[\s,;:.?!]+|[\s,;:]+$", "", text)


def read(instruction: str, lexicon: Lexicon, *, pictures: int = 1) -> InstructionReading:
    """Find the slots and cues of an instruction.

    Args:
        instruction: In any wording.
        lexicon: The nouns that are known.
        pictures: How many pictures it is about; only with two or more can words choose between them.
    """
    text = plain_words(instruction)
    if pictures == 1:
        text = re.sub(r"\s*\bin (?:each|every) picture\b", "", text, flags=re.IGNORECASE)
    finder = _Finder(text, lexicon, pictures)
    slots = tuple(sorted(finder.slots, key=lambda slot: slot.start))
    # "black and white" and "turn the rest gray" are what an edit is about, so colours stay readable here.
    cues = cues_of(_masked(text, [slot for slot in slots if slot.kind not in {"COLOR", "FACT"}]))
    if "tag" in cues:
        slots = _classes(text, slots)
    if cues & EDITS:
        slots = tuple(
            slot for slot in slots if slot.kind in {"NOUN", "EMOJI", "PICTURE", "FACT"} or _tints(slot, slots)
        )
    if cues == {"name"}:
        slots = tuple(slot for slot in slots if slot.value != "object" or len(slots) == 1)
    return InstructionReading(text, slots, cues)


def _tints(slot: Slot, slots: Sequence[Slot]) -> bool:
    """Whether a colour belongs to the noun right behind it (the others say how to edit)."""
    return slot.kind == "COLOR" and any(one.kind == "NOUN" and 0 <= one.start - slot.end <= 1 for one in slots)


def cues_of(masked: str) -> frozenset[str]:
    """Return what a masked instruction is about; ``truth`` for a yes/no question or a statement about nothing else."""
    low = masked.lower()
    found = [cue for cue, pattern in CUES if re.search(pattern, low)]
    edits = frozenset(found) & (EDITS | {"tag"})
    if edits:
        return edits
    if found:
        return frozenset(found)
    if re.search(ASKS, low):
        return frozenset({"name"})
    return frozenset({"act"}) if re.search(ACTS, low) else frozenset({"truth"})


def _masked(text: str, slots: Sequence[Slot]) -> str:
    parts, position = [], 0
    for slot in slots:
        parts += [text[position : slot.start].lower(), slot.kind]
        position = slot.end
    return "".join([*parts, text[position:].lower()])


_OF: Final = r"(?:of (?:the |these )?(?:two |three |four )?)?"
_PICTURES: Final[tuple[tuple[str, str], ...]] = (
    ("none", rf"(?:in )?(?:neither|none|no) {_OF}pictures?|neither of them"),
    ("any", rf"(?:in )?(?:at least one|one or both|one or more|either|any) {_OF}pictures?"),
    ("one", rf"(?:in )?(?:exactly|only|just) one {_OF}pictures?|(?:in )?(?:one|an?) {_OF}pictures?"),
    ("both", rf"(?:in )?(?:both|each|every|all) (?:one )?{_OF}(?:the )?(?:two |three |four )?pictures?"),
    ("left", r"(?:in |on )?the (?:left|first)(?:[- ]hand)?(?: (?:picture|one)\b)|than in the left\b(?! of)"),
    ("right", r"(?:in |on )?the (?:right|second)(?:[- ]hand)?(?: (?:picture|one)\b)|than in the right\b(?! of)"),
    ("other", r"(?:in |on )?the other(?: (?:picture|one))?\b"),
    ("all", r"in total|in all\b|altogether|together|combined|overall|(?:in )?(?:the |these )?(?:two )?pictures"),
)
_BEFORE_NOUNS: Final = (
    r"(?:\b(?:an?|the|any|some|no|every|each|all|both|many|more|fewer|less|than|as|of|with|into|and|or|nor)\s+)$"
)
"""What an unknown word must follow to be taken for a noun rather than for a verb."""
_WORD: Final = re.compile(r"[^\W_][\w\-]*(?:'s)?")
_VERBS_OF_FACTS: Final = r"\b(?:that|which|who)\s+(?!(?:is|are|you|we|they|it)\b)([a-z][^,.?!;]*)"


class _Finder:
    """One pass over a text; what an earlier kind has taken is not looked at again."""

    def __init__(self, text: str, lexicon: Lexicon, pictures: int) -> None:
        self.text, self.low, self.lexicon = text, text.lower(), lexicon
        self.slots: list[Slot] = []
        self._quotes()
        self._emoji()
        if pictures > 1:
            self._table("PICTURE", _PICTURES)
        self._table("PLACE", [(value, _any_of(words)) for value, words in PLACES.items()])
        self._nouns()
        self._relations()
        self._comparators()
        self._numbers()
        self._words("COLOR", COLOURS)
        self._words("SIZE", SIZES)
        for words in SETTINGS.values():
            self._words("SETTING", words)
        self._facts()
        self._unknown()

    def _free(self, start: int, end: int) -> bool:
        return all(end <= slot.start or slot.end <= start for slot in self.slots)

    def _add(
        self, kind: Kind, value: str, span: tuple[int, int], *, noun: Noun | None = None, known: bool = True
    ) -> None:
        start, end = span
        if start < end and self._free(start, end):
            group = noun is not None and noun.group
            self.slots.append(Slot(kind, self.text[start:end], value, start, end, group, known))

    def _table(self, kind: Kind, rows: Sequence[tuple[str, str]]) -> None:
        for value, pattern in rows:
            for found in re.finditer(rf"\b(?:{pattern})\b", self.low):
                self._add(kind, value, found.span())

    def _words(self, kind: Kind, words: frozenset[str]) -> None:
        for found in _WORD.finditer(self.low):
            if found[0] in words:
                self._add(kind, CANONICAL.get(found[0], found[0]), found.span())

    def _quotes(self) -> None:
        for found in re.finditer(r"'([^']+)'|\"([^\"]+)\"", self.text):
            inner = 1 if found[1] else 2
            self._add("NOUN", found[inner], found.span(inner), known=False)

    def _emoji(self) -> None:
        found = re.search(r".*\b(?:an?|the)\s+(\S.*?)\s+emoji\b", self.low)
        if found:
            self._add("EMOJI", self.text[slice(*found.span(1))], found.span(1))
        for found in re.finditer(r"\b[a-z]+(?:_[a-z]+)+\b", self.low):
            self._add("EMOJI", found[0], found.span())

    def _nouns(self) -> None:
        for found in _noun_pattern(tuple(self.lexicon.nouns)).finditer(self.low):
            noun = self.lexicon.nouns[found[0]]
            if found[0] == "weather" or (found[0] == "orange" and self._orange_is_a_colour(found.start(), found.end())):
                continue
            self._add("NOUN", noun.name, found.span(), noun=noun)

    def _orange_is_a_colour(self, start: int, end: int) -> bool:
        before = self.low[:start].split()[-1:] or [""]
        after = _WORD.search(self.low, end)
        followed = after is not None and (after[0] == "background" or after[0] in self.lexicon.nouns)
        return followed or before[0] in {"is", "are", "or"}

    def _relations(self) -> None:
        if re.search(r"\bemoji\b|\bblur|\b(put|place|stick)\b", self.low):
            rows = [(value, _any_of([one for one in words if " of" in one])) for value, words in RELATIONS.items()]
            rows = [(value, pattern) for value, pattern in rows if pattern]
        else:
            rows = [(value, _any_of(words)) for value, words in RELATIONS.items()]
        self._table("RELATION", rows)

    def _comparators(self) -> None:
        counted = re.search(r"\bnumber of\b", self.low) is not None
        phrases = [(one, op) for op, words in COMPARATORS.items() for one in words]
        for phrase, op in sorted(phrases, key=lambda pair: len(pair[0]), reverse=True):
            if phrase in {"smaller than", "larger than"} and not counted:
                continue
            for found in re.finditer(rf"\b{phrase}\b", self.low):
                self._add("COMPARATOR", op, found.span())

    def _numbers(self) -> None:
        for found in _WORD.finditer(self.low):
            word = found[0]
            if word.isdigit():
                self._add("NUMBER", str(int(word)), found.span())
            elif word in NUMBERS and (word != "one" or self._counts(found.start(), found.end())):
                self._add("NUMBER", str(NUMBERS[word]), found.span())

    def _counts(self, start: int, end: int) -> bool:
        """Whether ``one`` is a number: right behind a comparator, or right before a noun."""
        return any(
            (slot.kind == "COMPARATOR" and 0 <= start - slot.end <= 1)
            or (slot.kind == "NOUN" and slot.start == end + 1)
            for slot in self.slots
        )

    def _facts(self) -> None:
        for found in re.finditer(_VERBS_OF_FACTS, self.low):
            if any(slot.kind == "NOUN" and slot.end <= found.start() for slot in self.slots):
                fact = re.split(
                    r"\s+(?:in the picture|you can see|and (?:tag|label|mark|count|name|tell|say))\b", found[1]
                )[0]
                self._add("FACT", fact.strip(), (found.start(1), found.start(1) + len(fact)))
        for fact in self.lexicon.facts:
            for found in re.finditer(rf"\b{re.escape(fact)} (?=[a-z])", self.low):
                if any(slot.kind == "NOUN" and slot.start == found.end() for slot in self.slots):
                    self._add("FACT", fact, (found.start(), found.end() - 1))

    def _unknown(self) -> None:
        for start, end in list(self._runs()):
            text = self.text[start:end]
            value = singular(text) if text == text.lower() else text
            named = text != text.lower() and start > 0
            placed = named or re.search(_BEFORE_NOUNS, self.low[:start]) is not None or self._behind_adjective(start)
            self.slots.append(Slot("NOUN", text, value, start, end, known=False, placed=placed))

    def _behind_adjective(self, start: int) -> bool:
        return any(
            slot.end + 1 == start and slot.kind in {"NUMBER", "COLOR", "SIZE", "COMPARATOR"} for slot in self.slots
        )

    def _runs(self) -> Iterator[tuple[int, int]]:
        """Runs of words that are neither taken nor part of how sentences are built."""
        start = end = 0
        for found in _WORD.finditer(self.text):
            word = found[0].lower()
            open_word = word not in FILLERS and self._free(*found.span())
            if open_word and end and self.text[end : found.start()] == " ":
                end = found.end()
                continue
            if end:
                yield start, end
            start, end = found.span() if open_word else (0, 0)
        if end:
            yield start, end


def _any_of(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


@lru_cache(maxsize=8)
def _noun_pattern(nouns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_any_of(nouns)})\b") if nouns else re.compile(r"(?!)")


_TAGGED: Final = re.compile(
    r"^(?:first )?(?:find and name|identify|tag|label|mark|annotate|outline|"
    r"(?:put|draw) (?:a |an )?(?:name )?(?:tags?|labels?|box(?:es)?) (?:on|around|to))\s+(?P<what>.+?)"
    r"(?:\s+(?:in|of|on) (?:the|this|each) picture)?(?:\s+(?:that )?you can see)?"
    r"(?:\s+(?:in|of|on) (?:the|this) picture)?"
    r"(?:\s+with (?:their|its) names?)?(?:,?\s*\band (?:tag|label|mark|name) (?:them|it)(?: all)?)?"
    r"(?: in (?:the|this) picture)?[.!?]*$",
    re.IGNORECASE,
)
_DETERMINERS: Final = r"^(?:(?:all|every|each|any|both|of|the|these|those|an?)\s+)+"


def _classes(text: str, slots: Sequence[Slot]) -> tuple[Slot, ...]:
    """Read what is to be tagged as one CLASS, or as several joined by ``and``."""
    found = _TAGGED.match(text)
    if not found:
        return tuple(slots)
    start, end = found.span("what")
    nouns = [slot for slot in slots if slot.kind == "NOUN" and start <= slot.start < end]
    classes = [_class(text, span, nouns) for span in _coordinated(text, (start, end), nouns)]
    return tuple(sorted([slot for slot in slots if slot.kind == "PICTURE"] + classes, key=lambda slot: slot.start))


def _coordinated(text: str, span: tuple[int, int], nouns: Sequence[Slot]) -> list[tuple[int, int]]:
    """Split a phrase at each ``and`` that stands between two known nouns (or a comma)."""
    start, end = span
    spans = []
    for found in re.finditer(r",?\s+and\s+(?:the |all the |all )?|,\s+(?:the |all the |all )?", text[:end]):
        behind = [slot for slot in nouns if slot.start == found.end() or _only_adjective(text, found.end(), slot)]
        before = [slot for slot in nouns if start <= slot.start < found.start() and slot.known]
        if found.start() >= start and behind and before and (behind[0].known or is_plural(behind[0].text)):
            spans.append((start, found.start()))
            start = found.end()
    return [*spans, (start, end)]


def _only_adjective(text: str, start: int, noun: Slot) -> bool:
    return noun.start > start and " " not in text[start : noun.start].strip()


def _class(text: str, span: tuple[int, int], nouns: Sequence[Slot]) -> Slot:
    start, end = span
    words = text[start:end]
    bare = re.sub(_DETERMINERS, "", words, flags=re.IGNORECASE)
    start = end - len(bare)
    head = next((slot for slot in nouns if start <= slot.start < end), None)
    if re.match(r"everything|anything|what\b|those\b|things?\b|objects?\b", words, re.IGNORECASE) or head is None:
        query = re.sub(r"^(everything|anything|what|those)\b\s*(that|which)?", "things that", bare, flags=re.IGNORECASE)
        return Slot("CLASS", text[start:end], query.strip(), start, end, head="object")
    return Slot("CLASS", text[start:end], bare, start, end, group=head.group, known=head.known, head=head.value)


def nouns_written_out(reading: InstructionReading) -> InstructionReading:
    """Return the reading without unknown words that may be verbs: perhaps they are only wording."""
    slots = tuple(slot for slot in reading.slots if slot.known or slot.placed)
    return replace(reading, slots=slots)


def with_colours(reading: InstructionReading) -> InstructionReading:
    """Return the reading with each colour that stands right before a noun taken into the noun's slot."""
    slots: list[Slot] = []
    for slot in reading.slots:
        before = slots[-1] if slots else None
        if slot.kind == "NOUN" and before is not None and before.kind == "COLOR" and before.end + 1 == slot.start:
            words = reading.text[before.start : slot.end]
            slots[-1] = replace(slot, text=words, value=f"{before.value} {slot.value}", start=before.start, placed=True)
        else:
            slots.append(slot)
    return replace(reading, slots=tuple(slots))
