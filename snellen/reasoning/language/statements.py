"""Statements of answers, captions and questions as tuples of a scene graph, read without a language model.

Plain descriptive English about things, how many there are, their colors, sizes and places, how they stand to each
other, and about background, weather and style. A short answer says what its question leaves open: "red" to "What color
is the dog?" says that there is a red dog.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from snellen.reasoning.language.lexicon import FILLERS, Lexicon
from snellen.reasoning.language.phrases import SETTING_KINDS, SPOKEN, Item, Mark, Phrase, Phrasing, Value
from snellen.scoring.scene_graph import MAX_NAME, Fact

MAX_TEXT: Final = 4_000
"""Characters of a text that are read."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_REFUSAL: Final = re.compile(
    r"\b(?:can(?:not|'t| not)|am (?:not able|unable)|(?:do not|don't) know|not sure|won't|will not|sorry)\b"
    r"(?!.*\bsee (?:a|an|any)\b)",
    re.IGNORECASE,
)
_YES: Final = re.compile(
    r"^[^.!?]{0,20}?\b(?:yes|yeah|yep|correct|indeed)\b[,.!]?|^that is (?:right|true)\b|"
    r"^(?:it|they|he|she|there) (?:is|are|does|do|has)\W*$",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^\W*(?:no|nope|nah)(?:[.,!;]|$)|^i (?:do not|don't) think so|"
    r"^(?:it|they|he|she|there)(?:'s not| (?:is|are|does|do|has)(?: not|n't))\W*$",
    re.IGNORECASE,
)
_NEITHER: Final = re.compile(r"^\W*neither\b", re.IGNORECASE)
_NONE: Final = re.compile(r"^\W*(?:none|no one|zero)\W*$", re.IGNORECASE)
_POLAR: Final = re.compile(
    r"^\W*(?:is|are|was|were|does|do|did|can|could|would|will|has|have)\b(?! you (?:describe|tell|name|say what))",
    re.IGNORECASE,
)
_DESCRIBES: Final = re.compile(r"\bdescribe\b|\btell me about\b|\blooks? like\b", re.IGNORECASE)
_WANTS: Final = (
    ("count", re.compile(r"\bhow many\b|\bcount\b|\bnumber of\b", re.IGNORECASE)),
    ("color", re.compile(r"\bcolou?rs?\b", re.IGNORECASE)),
    ("size", re.compile(r"\bsize\b|\bhow (?:big|large|small|tall)\b", re.IGNORECASE)),
    ("category", re.compile(r"\b(?:kind|sort|type) of (?:thing|object)\b", re.IGNORECASE)),
)
_WHERE: Final = re.compile(
    r"\bwhere\b|\b(?:which|what) (?:part|corner|quarter|side)\b|\bstand(?:s)? to\b|\brelat(?:ed|ion|ive) to\b",
    re.IGNORECASE,
)
_SIDE_OF: Final = re.compile(r"\bwhich side of\b", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionStatement:
    """Question as data: what it asks, and what it takes for granted.

    Attributes:
        wants: A kind of value, ``count``, ``category``, ``thing``, ``relation``, ``whether``, or ``all``.
        subject: The thing it is about.
        relation: How what is asked for stands to the target.
        target: The other thing.
        values: What is true of the things that are asked for.
        whether: What it asks the truth of.
        premise: What it takes for granted.
    """

    wants: str = "all"
    subject: str = ""
    relation: str = ""
    target: str = ""
    values: tuple[Value, ...] = ()
    whether: tuple[Fact, ...] = ()
    premise: tuple[Fact, ...] = ()

    @property
    def names(self) -> set[str]:
        """The things that it names."""
        named = {fact.entity for fact in (*self.premise, *self.whether)} | {self.subject, self.target}
        return named - {""} - set(SETTING_KINDS)


class Statements:
    """Reads what texts say.

    Args:
        lexicon: The nouns it knows; others are found by their article.
    """

    unreadable = 0
    """Tuples that are none: rules make none of these."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._phrasing = Phrasing(lexicon)

    def read(self, text: str, question: str = "") -> list[Fact]:
        """Return the tuples that a text says, each once.

        Args:
            text: A caption, or an answer; of a long one only the beginning is read.
            question: What it answers.
        """
        asked = self.asked(question) if question else QuestionStatement()
        phrasing = self._phrasing.knowing(asked.names)
        said = " ".join(text[:MAX_TEXT].split())
        facts, rest = _briefly(said, asked)
        for sentence in _SENTENCE.split(rest):
            if not _REFUSAL.search(sentence):
                clause = _Clause(asked)
                clause.follow(phrasing.items(sentence))
                clause.answer()
                facts += clause.facts
        return _complete(facts)

    async def read_all(self, texts: Sequence[tuple[str, str]]) -> list[list[Fact]]:
        """Read each text with the question beside it; see `snellen.datasets.prove.building.Reader`."""
        return [self.read(text, question) for text, question in texts]

    async def premises(self, questions: Sequence[str]) -> list[list[Fact]]:
        """Return what each question takes for granted."""
        return [self.premise(question) for question in questions]

    def premise(self, question: str) -> list[Fact]:
        """Return the tuples that a question takes for granted: who repeats them says nothing new."""
        return _complete(self.asked(question).premise)

    def asked(self, question: str) -> QuestionStatement:
        """Read a question."""
        text = " ".join(question[:MAX_TEXT].split())
        items = self._phrasing.items(text)
        phrases = [item for item in items if isinstance(item, Phrase) and not item.nothing]
        clause = _Clause(QuestionStatement())
        clause.follow(items)
        if _POLAR.search(text):
            return _polar(items, phrases, clause)
        premise = tuple(fact for fact in clause.facts if not _empty(fact))
        first = phrases[0].name if phrases else ""
        second = phrases[1].name if len(phrases) > 1 else ""
        wants = next((name for name, pattern in _WANTS if pattern.search(text)), "")
        if wants:
            return QuestionStatement(wants, first, premise=premise)
        if first in SETTING_KINDS:
            return QuestionStatement(first, first, premise=premise)
        if _DESCRIBES.search(text):
            return QuestionStatement("all", first, premise=premise)
        if _WHERE.search(text):
            one, other = (second, first) if _SIDE_OF.search(text) else (first, second)
            return QuestionStatement("relation" if other else "place", one, target=other, premise=premise)
        return _for_things(items, premise)


@dataclass
class _Clause:
    """What was said so far in a sentence.

    Attributes:
        asked: The question that it answers.
        facts: What was said.
        group: The things that are spoken of.
    """

    asked: QuestionStatement
    facts: list[Fact] = field(default_factory=list)
    group: list[Phrase] = field(default_factory=list)
    _things: list[Phrase] = field(default_factory=list)
    """What was named outside of relations: the answers, where things are asked for."""
    _bare: list[Value | Mark] = field(default_factory=list)
    """Properties and numbers of which nothing in the sentence is the owner."""
    _last: Phrase | None = None
    """The phrase just before: a place that follows is its own."""
    _relation: str = ""
    _sources: list[Phrase] = field(default_factory=list)
    """What stands in a relation whose other side is still to come."""
    _beyond: tuple[str, list[Phrase]] | None = None
    """The relation whose other side was named last: "above the cat and the egg"."""
    _beside: tuple[str, str] | None = None
    """Where a thing that has no name yet stands: "the thing above the dog is a cat"."""
    _not: bool = False
    _denying: bool = False
    """Whether the word just before was a "not"."""
    _be: bool = False
    _is: bool = False
    """Whether the word just before was a form of "to be": what nobody knows is a state then."""
    _joined: bool = False

    def follow(self, items: Sequence[Item]) -> None:
        """Take a sentence in."""
        for place, item in enumerate(items):
            if isinstance(item, Mark):
                self._mark(item)
                continue
            if isinstance(item, Value):
                self._value(item)
            else:
                after = items[place + 1] if place + 1 < len(items) else None
                self._phrase(item, begins=isinstance(after, Mark) and after.sign == "be")
            self._joined = self._denying = self._is = False
        if self._relation:
            self._unfinished()

    def answer(self) -> None:
        """Give what was named or said by itself the sense that the question gives it."""
        asked = self.asked
        if asked.wants == "category" and asked.subject:
            kinds = [one.name for one in self._things if one.general]
            self.facts = [fact for fact in self.facts if fact.entity not in kinds]
            self.facts += [Fact(asked.subject, attribute=name, kind="category") for name in kinds]
        for bare in self._bare if asked.subject else ():
            if isinstance(bare, Value):
                self.facts += _held(asked.subject, bare)
            elif asked.wants in {"count", "whether"}:
                self.facts += _counted(asked.subject, int(bare.value))
        if asked.wants == "thing":
            passed = {asked.target, *SETTING_KINDS}
            named = [one.name for one in self._things if not (one.name in passed or one.negated or one.nothing)]
            self.facts += [_relation(name, asked.relation, asked.target) for name in named if asked.relation]
            self.facts += [fact for name in named for value in asked.values for fact in _held(name, value)]

    def _phrase(self, one: Phrase, *, begins: bool) -> None:
        denied = self._not and not self._relation and (self._denying or not self._be or not self.group)
        one = replace(one, negated=one.negated or denied)
        if one.nothing and one.values and (self.group or self.asked.wants == one.values[0].kind):
            # "A red one", "the top left one": a value of what is spoken of, or asked about.
            self._bare += [] if self.group else one.values
            self.facts += [fact for value in one.values for fact in self._owned(value)]
        elif self._joined and self._beyond and not begins:
            # "Above the dog and the egg"; but "above the dog, and the egg is red" is about the egg.
            self.facts += [
                *_own(one),
                *(_relation(source.name, self._beyond[0], one.name) for source in self._beyond[1]),
            ]
        elif self._be and self.group and one.general and not (self._relation or self._joined):
            self.facts += [
                Fact(each.name, attribute=one.name, kind="category", negated=self._not) for each in self.group
            ]
        elif self._relation:
            self._other_side(one)
        else:
            self._subject(one, begins=begins)

    def _subject(self, one: Phrase, *, begins: bool) -> None:
        """Take a phrase for what is spoken of from here on."""
        self._last, self._beyond = one, None
        if one.negated or not one.nothing:
            self.facts += _own(one)
        self._things.append(one)
        if self._joined and begins and self._be:
            self._joined = self._be = False
        if self._joined and self.group:
            self.group.append(one)
            return
        if self._be and self.group and all(each.nothing for each in self.group):
            self.facts += [_relation(one.name, *self._beside)] if self._beside else []
            self.facts += [fact for each in self.group for value in each.values for fact in _held(one.name, value)]
        self.group, self._not = [one], False

    def _other_side(self, one: Phrase) -> None:
        """Take a phrase for the other side of a relation."""
        self._last = one
        if not one.nothing:
            self.facts += _own(one)
        sources = [source for source in self._sources if not source.nothing]
        self.facts += [_relation(source.name, self._relation, one.name, negated=self._not) for source in sources]
        self._beside = None if len(sources) == len(self._sources) else (self._relation, one.name)
        self._beyond, self._relation = (self._relation, sources), ""

    def _value(self, value: Value) -> None:
        if value.kind in SETTING_KINDS:
            self.facts += _held(value.kind, value, negated=self._not)
        elif value.kind == "place" and self._last is not None and not self._last.nothing:
            self.facts += _held(self._last.name, value, negated=self._not)
        elif self.group and not all(one.nothing for one in self.group):
            self.facts += self._owned(value)
        else:
            self._bare.append(value)
        self._not = False

    def _owned(self, value: Value) -> list[Fact]:
        return [fact for one in self.group for fact in _held(one.name, value, negated=self._not)]

    def _mark(self, mark: Mark) -> None:
        if mark.sign == "word" and self._is and self.group and mark.value not in FILLERS:
            self.facts += [
                Fact(one.name, attribute=mark.value, negated=self._not) for one in self.group if not one.nothing
            ]
        self._is = mark.sign == "be" or (self._is and mark.sign == "not")
        self._denying = mark.sign == "not"
        self._joined = mark.sign == "and" or (self._joined and mark.sign == "word")
        if mark.sign == "relation":
            self._relation = SPOKEN[mark.value]
            self._sources = list(self.group) or ([Phrase(self.asked.subject)] if self.asked.subject else [])
        elif mark.sign == "it":
            self._it()
        elif mark.sign == "number":
            if self.group and self._be:
                self.facts += [fact for one in self.group for fact in _counted(one.name, int(mark.value))]
            else:
                self._bare.append(mark)
        elif mark.sign == "not":
            self._not = True
        elif mark.sign == "be":
            self._be, self._last = True, None
        elif mark.sign == "and":
            self._last = None
            self._not = self._not and self._relation != ""

    def _it(self) -> None:
        """Take a pronoun for what was asked about, or for what it stands beside."""
        if self._relation and self.asked.target:
            self._other_side(Phrase(self.asked.target, definite=True))
        elif not self.group and self.asked.subject and self.asked.subject not in SETTING_KINDS:
            self.group = [Phrase(self.asked.subject, definite=True)]

    def _unfinished(self) -> None:
        """Read "on the left": beside what was asked about."""
        if self.asked.target:
            self.facts += [
                _relation(one.name, self._relation, self.asked.target, negated=self._not)
                for one in self._sources
                if not one.nothing and one.name != self.asked.target
            ]


def _polar(items: Sequence[Item], phrases: Sequence[Phrase], clause: _Clause) -> QuestionStatement:
    """Read a question for whether something is so, or which of two things is."""
    given = [fact for one in phrases if one.definite for fact in _own(one)]
    names = [one.name for one in phrases]
    first, second = [*names, "", ""][:2]
    if any(isinstance(item, Mark) and item.sign == "or" for item in items):
        offered = next((item for item in items if isinstance(item, Value)), None)
        sides = any(isinstance(item, Mark) and item.sign == "relation" for item in items)
        if sides:
            return QuestionStatement(
                "relation", first, target=names[-1] if len(names) > 1 else "", premise=tuple(given)
            )
        wants = "thing" if offered is None else offered.kind
        values = tuple(item for item in items if isinstance(item, Value))
        premise = tuple(given) if wants != "thing" else ()
        return QuestionStatement(wants, first if wants != "thing" else "", values=values, premise=premise)
    texts = {fact.text for fact in given}
    whether = tuple(fact for fact in clause.facts if fact.text not in texts and not _empty(fact))
    return QuestionStatement("whether", first, target=second, whether=whether, premise=tuple(given))


def _briefly(said: str, asked: QuestionStatement) -> tuple[list[Fact], str]:
    """Read what a yes, a no or a "neither" says, and return the rest of the text."""
    if asked.wants == "whether":
        yes, no = _YES.search(said), _NO.search(said)
        ended = yes or no
        if ended:
            return [*asked.premise, *_ruled(asked.whether, holds=yes is not None)], said[ended.end() :]
    elif asked.subject and _NEITHER.search(said):
        return [fact for value in asked.values for fact in _held(asked.subject, value, negated=True)], said
    elif asked.subject and asked.wants == "count" and _NONE.search(said):
        return list(_counted(asked.subject, 0)), said
    return [], said


def _for_things(items: Sequence[Item], premise: Iterable[Fact]) -> QuestionStatement:
    """Read a question for what stands somewhere, or is somehow."""
    found = ((at, item) for at, item in enumerate(items) if isinstance(item, Mark) and item.sign == "relation")
    place, mark = next(found, (None, None))
    given = tuple(premise)
    if place is not None and mark is not None:
        relation = SPOKEN[mark.value]
        target = next((item.name for item in items[place:] if isinstance(item, Phrase) and not item.nothing), "")
        general = {item.name for item in items[:place] if isinstance(item, Phrase) and item.general}
        known = tuple(fact for fact in given if fact.entity not in general and not fact.relation)
        return QuestionStatement("thing", relation=relation if target else "", target=target, premise=known)
    values = [item for item in items if isinstance(item, Value) and item.kind not in SETTING_KINDS]
    values += [value for item in items if isinstance(item, Phrase) and item.nothing for value in item.values]
    general = {item.name for item in items if isinstance(item, Phrase) and item.general}
    return QuestionStatement(
        "thing", values=tuple(values), premise=tuple(fact for fact in given if fact.entity not in general)
    )


def _own(one: Phrase) -> Iterator[Fact]:
    """Yield what a noun phrase says by itself."""
    if one.negated or one.number == 0:
        yield Fact(one.name, negated=True)
        return
    if one.name not in SETTING_KINDS:
        yield Fact(one.name)
    if one.number is not None:
        yield from _counted(one.name, one.number)
    for value in one.values:
        yield from _held(one.name, value)


def _held(name: str, value: Value, *, negated: bool = False) -> Iterator[Fact]:
    """Yield that a thing has a property."""
    if value.kind in SETTING_KINDS:
        yield Fact(value.kind, attribute=value.value, kind=SETTING_KINDS[value.kind], negated=negated)
    elif name not in {"weather", "style"}:
        yield Fact(name, attribute=value.value, kind=value.kind, negated=negated)


def _counted(name: str, number: int) -> Iterator[Fact]:
    if number == 0:
        yield Fact(name, negated=True)
    elif name not in SETTING_KINDS:
        yield Fact(name, attribute=str(number), kind="count")


def _relation(one: str, relation: str, other: str, *, negated: bool = False) -> Fact:
    return Fact(one, relation=relation, target=other, kind="spatial", negated=negated)


def _ruled(whether: Sequence[Fact], *, holds: bool) -> Iterator[Fact]:
    """Yield what an answer says about what was asked: a "no" denies what was added, not the things it is about."""
    if holds:
        yield from whether
        return
    added = [fact for fact in whether if fact.attribute or fact.relation]
    yield from (replace(fact, negated=not fact.negated) for fact in added or whether)


def _empty(fact: Fact) -> bool:
    """Whether a tuple is about a thing without a name."""
    return "object" in {fact.entity, fact.target}


def _complete(facts: Iterable[Fact]) -> list[Fact]:
    """Return each tuple once, after the things that it is about."""
    found: dict[tuple[str, bool], Fact] = {}
    said = list(facts)
    denied = {fact.entity for fact in said if fact.negated and not fact.attribute and not fact.relation}
    for fact in said:
        if max(len(fact.entity), len(fact.target)) > MAX_NAME or _empty(fact):
            continue
        for name in (fact.entity, fact.target):
            if name and name not in denied and name not in SETTING_KINDS:
                found.setdefault((name, False), Fact(name))
        found.setdefault((fact.text, fact.negated), fact)
    return list(found.values())
