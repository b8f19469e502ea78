"""Completion of answers: what the parts of an answer say, in the light of the question.

"Red" says of a dog that it is red, where its colour was asked. Pronouns are taken for what was spoken of last, and for
what was asked about.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

from snellen.reasoning.meanings.meanings import Are, Exist, SettingIs
from snellen.reasoning.meanings.things import (
    Filter,
    HasColour,
    InRelation,
    IsA,
    IsNot,
    One,
    Ordinal,
    Part,
    Property,
    Things,
    Union,
    sets_within,
)
from snellen.reasoning.reading.answer_parts import (
    Amount,
    AnswerPart,
    DepthRelation,
    DescribedOnly,
    Group,
    Mention,
    OpenRelation,
    ReadQuestion,
    Ruling,
    StatedSentence,
    Statement,
)
from snellen.reasoning.reading.descriptions import denied_statement, says_each, there_is, union
from snellen.reasoning.reading.noun_phrases import BEFORE, SAME_KIND, QuantifiedThings

_PRONOUNS: Final = (BEFORE, One(things=BEFORE))


class AnswerCompletion:
    """Statements that an answer has made so far.

    Args:
        question: What it answers.
        groups: Names of kinds of many things: "an animal" says what a dog is, and "a cat" does not.

    Attributes:
        statements: What it said in whole sentences.
        completed: What it said in parts that the question completes.
        abridged: The same without what the question says of the things: "red" to "What colour is the small dog?" says
            that there is a red dog.
    """

    def __init__(self, question: ReadQuestion, groups: Collection[str] = ()) -> None:
        self.statements: list[Statement] = []
        self.completed: list[Statement] = []
        self.abridged: list[Statement] = []
        self._question = question
        self._groups = groups
        self._subject = question.subject
        self._reference: Group = ()
        self._stating: Group = ()
        self._is_about_background = (question.setting or "").startswith("background") or _are_about_background(
            question.tested
        )

    def ask(self, question: ReadQuestion) -> None:
        """Take a question in: it says what it takes for granted."""
        self.statements += premise(question)

    def take(self, parts: Sequence[AnswerPart]) -> bool:
        """Take a sentence in; return whether all its parts say something, without which nothing of it is said."""
        lists = (self.statements, self.completed, self.abridged)
        lengths = [len(each) for each in lists]
        state = self._subject, self._reference, self._is_about_background
        if all(self._take(part) for part in parts):
            return True
        for each, length in zip(lists, lengths, strict=True):
            del each[length:]
        self._subject, self._reference, self._is_about_background = state
        return False

    def _take(self, part: AnswerPart) -> bool:
        """Take one more part in; return whether it says something: "red" says nothing where nothing was asked."""
        match part:
            case StatedSentence():
                return self._stated(part)
            case Mention():
                return self._mentioned(part.group)
            case DescribedOnly():
                return self._described(part.properties)
            case Amount():
                return self._counted(part)
            case OpenRelation():
                return self._beside(part)
            case Ruling():
                return self._denied(part.group) if part.group else self._ruled(part)
        return True

    def _stated(self, part: StatedSentence) -> bool:
        self._stating = ()
        group = self._resolved_group(part.subject)
        if part.subject and not group:
            return self._described([each.property for each in part.statements if isinstance(each, Are)])
        self._stating = group
        statements = [self._resolved(each) for each in part.statements]
        if any(map(_has_pronoun, statements)):
            return False
        self.statements += statements
        relations = [part for each in statements for part in _parts(each) if isinstance(part, InRelation)]
        self._reference = tuple(QuantifiedThings(each.of) for each in relations[:1]) or self._reference
        if not relations:
            self._answers(group)  # a sentence that has a relation of its own says where the thing is
        if part.subject or _are_about_background(part.statements):
            self._is_about_background = not part.subject
        self._subject = _affirmed(group) or self._subject
        return True

    def _mentioned(self, group: Group) -> bool:
        group = self._resolved_group(group)
        kinds = [kind for each in group if (kind := _kind(each.things)) is not None and kind.name in self._groups]
        if self._subject and group and len(kinds) == len(group):
            return self._complete(self._subject, tuple(kinds))
        self.statements += [there_is(each) for each in group]
        self._answers(group)
        self._subject = _affirmed(group) or self._subject
        self._is_about_background = self._is_about_background and not group
        return bool(group)

    def _answers(self, group: Group) -> None:
        """Say of things that are named in answer what the things that are asked for are like."""
        if self._question.wants == "things" and self._question.sought:
            known = {_kind(each.things) for each in self._question.reference}
            answers = tuple(_single(each) for each in _affirmed(group) if _kind(each.things) not in known)
            self.completed += says_each(answers, self._question.sought).statements
            self.abridged += says_each(answers, tuple(map(_abridged, self._question.sought))).statements

    def _described(self, said: Sequence[Property]) -> bool:
        self._stating = self._subject
        said = [self._resolved(each) for each in said]
        colours = [each.colour for each in said if isinstance(each, HasColour)]
        if self._is_about_background and colours:
            settings = [SettingIs(aspect="background colour", value=each) for each in colours]
            self.completed += settings
            self.abridged += settings
            return len(colours) == len(said)
        return bool(said) and not any(map(_has_pronoun, said)) and self._complete(self._subject, tuple(said))

    def _complete(self, group: Group, said: tuple[Property, ...]) -> bool:
        """Say properties of what was spoken of; return whether anything was."""
        self.completed += says_each(tuple(map(_single, group)), said).statements
        self.abridged += says_each(tuple(_short(_single(each)) for each in group), said).statements
        return bool(group)

    def _counted(self, part: Amount) -> bool:
        """Say a number of what was spoken of: of what was asked about only where its number was asked for."""
        if self._question.wants != "number" and not self.statements:
            return False
        for each in self._subject:
            for things, statements in ((each.things, self.completed), (_abridged(each.things), self.abridged)):
                counted = things.things if isinstance(things, One) else things
                statements.append(Exist(things=counted, quantity=part.quantity, number=part.number))
        return bool(self._subject)

    def _beside(self, part: OpenRelation) -> bool:
        reference = self._question.reference or self._reference
        if not reference or not self._subject:
            return False
        relation = InRelation(relation=part.relation, of=union(reference))
        subject = tuple(map(_single, self._subject))
        self.completed += says_each(subject, (relation,)).statements
        self.abridged += says_each(tuple(map(_short, subject)), (_abridged(relation),)).statements
        return True

    def _denied(self, group: Group) -> bool:
        """Deny of things what was asked for: "the cat is not"."""
        sought = tuple(IsNot(property=each) for each in self._question.sought)
        return bool(sought) and self._complete(self._resolved_group(group), sought)

    def _ruled(self, part: Ruling) -> bool:
        """Affirm or deny what was asked."""
        question = self._question
        if part.verdict == "neither":
            return bool(question.offered) and self._described([IsNot(property=each) for each in question.offered])
        if part.verdict == "none" and question.wants == "number":
            return self._counted(Amount(0))
        if part.verdict == "none" and question.wants == "things":
            self.statements += [there_is(each) for each in question.reference]
            return True
        affirmed = part.verdict == "yes"
        self.statements += question.tested if affirmed else [denied_statement(each) for each in question.tested]
        return affirmed or bool(question.tested)

    def _resolved_group(self, group: Group) -> Group:
        """Return noun phrases with their pronouns resolved; nothing where a pronoun stands for nothing."""
        resolved: list[QuantifiedThings] = []
        for each in group:
            if each.things not in _PRONOUNS:
                resolved.append(replace(each, things=self._resolved(each.things, before=tuple(resolved))))
            elif self._subject:
                resolved += map(_single, self._subject)
            else:
                return ()
        return tuple(resolved)

    def _other(self) -> Group:
        """Return what a pronoun on the other side of a relation stands for: nothing is beside itself."""
        kinds = {_kind(each.things) for each in self._stating}
        for group in (self._question.reference, self._subject, self._reference):
            if group and not kinds & {_kind(each.things) for each in group}:
                return group
        return ()

    def _resolved(self, value: Any, *, before: Group = (), is_other: bool = False) -> Any:  # noqa: ANN401 - of any part, the same
        """Return a part of a statement with its pronouns and "ones" resolved, where they stand for something.

        Args:
            value: The part.
            before: What was named before in the same list.
            is_other: Whether it is the other side of a relation.
        """
        if isinstance(value, tuple):
            return tuple(self._resolved(each, before=before) for each in value)
        if isinstance(value, DepthRelation):
            other = self._resolved(value.other, is_other=True)
            return replace(value, subject=self._resolved(value.subject), other=other)
        if not isinstance(value, Part):
            return value
        if value in _PRONOUNS:
            group = self._other() if is_other else self._subject
            return union(tuple(map(_single, group))) if group else value
        if isinstance(value, Filter) and value.property == SAME_KIND:
            kinds = (_kind(each.things) for each in (*before[::-1], *self._subject))
            kind = next((each for each in kinds if each is not None), None)
            return value.things if kind is None else Filter(things=value.things, property=kind)
        update = {
            name: self._resolved(getattr(value, name), before=before, is_other=name == "of")
            for name in type(value).model_fields
        }
        return value.model_copy(update=update)


def premise(question: ReadQuestion) -> list[Statement]:
    """Return what a question takes for granted: who repeats it says nothing new."""
    named = (*question.subject, *question.reference)
    if question.wants == "ruling":
        named = tuple(each for each in named if isinstance(each.things, One))
    return [Exist(things=each.things) for each in named]


def about_what(question: ReadQuestion) -> list[Statement]:
    """Return that there is all that a question names."""
    relations = [part for each in question.sought for part in sets_within(each) if isinstance(part, InRelation)]
    named = (*(each.things for each in (*question.subject, *question.reference)), *(each.of for each in relations))
    return [Exist(things=things) for things in named]


def _are_about_background(statements: Sequence[Statement]) -> bool:
    return any(isinstance(each, SettingIs) and each.aspect.startswith("background") for each in statements)


def _affirmed(group: Group) -> Group:
    """Return what is said to be there."""
    return tuple(each for each in group if not (each.quantity == "exactly" and each.number == 0))


def _single(of: QuantifiedThings) -> QuantifiedThings:
    """Return a noun phrase that was mentioned before as a known one."""
    return QuantifiedThings(of.things, "the", grammatical=of.grammatical)


def _short(of: QuantifiedThings) -> QuantifiedThings:
    return replace(of, things=_abridged(of.things))


def _abridged(value: Any) -> Any:  # noqa: ANN401 - of a set or a property, the same
    """Return a set without what narrows it besides its kind, or a property whose sets are so."""
    match value:
        case Filter(things=Filter()) if _kind(value.things) is not None and value.property != _kind(value):
            return _abridged(value.things)
        case One() | Ordinal():
            return value.model_copy(update={"things": _abridged(value.things)})
        case Union():
            return Union(one=_abridged(value.one), other=_abridged(value.other))
        case InRelation():
            return value.model_copy(update={"of": _abridged(value.of)})
    return value


def _kind(things: Things) -> IsA | None:
    match things:
        case One() | Ordinal():
            return _kind(things.things)
        case Filter(property=IsA() as kind):
            return kind
        case Filter():
            return _kind(things.things)
    return None


def _has_pronoun(value: Statement | Property) -> bool:
    return any(part == BEFORE for part in _parts(value))


def _parts(value: Statement | Property) -> list[Part]:
    """Return all parts of a statement or a property."""
    sets = (value.subject, value.other) if isinstance(value, DepthRelation) else (value,)
    return [part for each in sets for part in sets_within(each)]
