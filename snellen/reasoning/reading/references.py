"""References: what "one", "it" and "they" stand for, and which pictures are meant, once the whole sentence is read."""

from __future__ import annotations

from typing import Any

from snellen.reasoning.meanings.meanings import Meaning, pictures_in
from snellen.reasoning.meanings.things import Filter, IsA, One, Ordinal, Part, Things, Union
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
    resolved = _Resolution(None if before is None else spoken_of(before)).of(value)
    if resolved is None:
        return None
    names = pictures_in(resolved)
    if pictures == 1:
        return resolved if names <= {"picture"} else None
    if "picture" in names:
        try:
            resolved = type(resolved).model_validate(_two_pictures(resolved).model_dump())
        except ValueError:
            return None
    return resolved


def _two_pictures(value: Any) -> Any:  # noqa: ANN401 - of any part of a meaning, the same part
    return in_picture(value, "both")


class _Resolution:
    """The references of a meaning, resolved in the order in which they were said."""

    def __init__(self, spoken_of: Things | None) -> None:
        self.spoken_of = spoken_of
        self.kind: Things | None = None if spoken_of is None else kind_of(spoken_of)
        self.mentioned = spoken_of
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
            return self.kind or value.things
        update = {name: self._resolved(getattr(value, name)) for name in type(value).model_fields}
        resolved: Any = value.model_copy(update=update)
        if isinstance(resolved, Filter) and isinstance(resolved.property, IsA):
            self.kind = self.mentioned = resolved
        elif isinstance(resolved, Filter | One | Ordinal):
            self.mentioned = resolved
        return resolved

    def _antecedent(self, value: Things) -> Things:
        if self.mentioned is None:
            self.failed = True
            return value
        if isinstance(value, One) and isinstance(self.mentioned, Filter | Union):
            return One(things=self.mentioned)
        return self.mentioned
