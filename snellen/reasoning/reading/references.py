"""References: what "one", "it" and "they" stand for, and which pictures are meant, once the whole sentence is read."""

from __future__ import annotations

from typing import Any

from snellen.reasoning.meanings.meanings import Meaning, pictures_in
from snellen.reasoning.meanings.things import Everything, Filter, IsA, One, Ordinal, Part, Things, Union, sets_within
from snellen.reasoning.reading.follow_ups import Fragment, completed, kind_of, spoken_of
from snellen.reasoning.reading.noun_phrases import BEFORE, SAME_KIND, SPOKEN_OF, in_picture


def finished(value: Any, pictures: int, before: Meaning | None = None) -> Meaning | None:  # noqa: ANN401
    """Complete a meaning: what "one", "it" and the pictures refer to; None where they refer to nothing.

    Args:
        value: What a start symbol of the grammar means.
        pictures: The number of pictures.
        before: The meaning of the instruction before this one, to which it may refer.
    """
    if isinstance(value, Fragment):
        value = completed(value, before) if before is not None else None
        if value is None:
            return None
    resolved = _Resolution(before).of(value)
    if resolved is None:
        return None
    names = pictures_in(resolved)
    if pictures == 1:
        return resolved if names <= {"picture"} else None
    try:  # places compare within one picture
        return type(resolved).model_validate((_two_pictures(resolved) if "picture" in names else resolved).model_dump())
    except ValueError:
        return None


def _two_pictures(value: Any) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
    return in_picture(value, "both")


class _Resolution:
    """The references of a meaning, resolved in the order in which they were said.

    A pronoun never stands for the subject that it says something of: in "is the girl below it" it is not the girl.
    """

    def __init__(self, before: Meaning | None) -> None:
        self.spoken_of = None if before is None else spoken_of(before)
        self.kind: Things | None = None if self.spoken_of is None else kind_of(self.spoken_of)
        self.mentioned = self.spoken_of
        self.earlier: list[Things] = [] if before is None else _named_in(before)
        self.subjects: list[Things] = []
        self.failed = False

    def of(self, meaning: Meaning) -> Meaning | None:
        """Return the meaning with all references resolved; None where one refers to nothing."""
        resolved: Meaning = self._resolved(meaning)
        return None if self.failed else resolved

    def _resolved(self, value: Any) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
        if isinstance(value, tuple):
            return tuple(self._resolved(each) for each in value)
        if not isinstance(value, Part):
            return value
        if value in {BEFORE, One(things=BEFORE)}:
            return self._antecedent(value)
        if value in {SPOKEN_OF, One(things=SPOKEN_OF)}:
            self.failed |= self.spoken_of is None
            single = isinstance(value, One) and isinstance(self.spoken_of, Filter)
            return One(things=self.spoken_of) if single else self.spoken_of
        if isinstance(value, Filter) and value.property == SAME_KIND:
            return self._same_kind(value.things)
        resolved = value.model_copy(update=self._fields(value))
        if isinstance(resolved, Filter) and isinstance(resolved.property, IsA):
            self.kind = self.mentioned = resolved
        elif isinstance(resolved, Ordinal) and isinstance(resolved.things, Everything):
            # "The leftmost object": "the lowest one" is any object, too.
            self.kind, self.mentioned = resolved.things, resolved
        elif isinstance(resolved, Filter | One | Ordinal):
            self.mentioned = resolved
        return resolved

    def _same_kind(self, among: Things) -> Things:
        """Return the things of the kind that was named last: "the one in the right picture" is of that picture."""
        if isinstance(self.kind, Filter) and isinstance(among, Everything) and among.picture != "picture":
            return Filter(things=among, property=self.kind.property)
        return self.kind or among

    def _fields(self, value: Part) -> dict[str, Any]:
        """Return the fields of a part, resolved; a property is said of the things before it."""
        fields: dict[str, Any] = {}
        for name in type(value).model_fields:
            is_said = name in {"property", "properties"} and "things" in fields
            if is_said:
                self.subjects.append(fields["things"])
            fields[name] = self._resolved(getattr(value, name))
            if is_said:
                self.subjects.pop()
        return fields

    def _antecedent(self, value: Things) -> Things:
        subjects = [_bare(each) for each in self.subjects]
        candidates = [each for each in (self.mentioned, self.spoken_of, *self.earlier) if each is not None]
        mentioned = next((each for each in candidates if _bare(each) not in subjects), None)
        if mentioned is None:
            self.failed = True
            return value
        if isinstance(value, One) and isinstance(mentioned, Filter | Union):
            return One(things=mentioned)
        return mentioned


def _bare(things: Things) -> Things:
    return things.things if isinstance(things, One) else things


def _named_in(meaning: Meaning) -> list[Things]:
    """Return the single things that a meaning names, in order."""
    return [each for each in sets_within(meaning) if isinstance(each, One)]
