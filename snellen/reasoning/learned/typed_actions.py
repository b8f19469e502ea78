"""Meanings as sequences of actions: the choices that build a well-typed value, made one after the other.

The types of a meaning say which actions are possible at each point: a kind, a value, a number, one more element, or a
copy of something that the text names. So whatever a network chooses among them is a well-typed meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from snellen.reasoning.learned.copyables import (
    ColourWord,
    Copyable,
    FactWord,
    ModelWord,
    NounWord,
    Quantity,
    QuotedWord,
)
from snellen.reasoning.meanings.things import Part

Copy: TypeAlias = int
"""The number of a mention whose value is copied."""
Action: TypeAlias = str | Copy
Choose: TypeAlias = Callable[[Sequence[Action]], Action]
"""Chooses one of the possible actions."""
Words: TypeAlias = Mapping[tuple[str, str], Sequence[str]]
"""The texts that a field of a class may have beside copies, by the names of both."""
NUMBERS: Final = tuple(range(-3, 13))
"""Whole numbers that an action may be."""
MORE, END, DEFAULT, NEW, NONE = "more", "end", "default", "new", "none"
MAX_ACTIONS: Final = 96


_COPIED_TEXTS: Final[Mapping[tuple[str, str], type[str]]] = {
    ("ModelQuestion", "models"): ModelWord,
    ("Say", "words"): QuotedWord,
    ("Kind", "fact"): FactWord,
    ("NameColours", "colours"): ColourWord,
}
"""The texts that a field copies; others copy the names of things."""


class NoSuchMeaning(Exception):  # noqa: N818 - it says what happened
    """Actions build nothing, or a value is built by no actions."""


@dataclass(frozen=True)
class TypedActions:
    """The actions that build values of one type.

    Attributes:
        target: The type: a class of parts, or a union of such.
        words: Texts of fields that are copied from nowhere.
        untaught: Actions that the shipped weights know nothing of: nothing is built by them. The weights have a row for
            each other action, so a constructor or a value that is added to a meaning stands here until the reader is
            trained with it; meanwhile only the grammars write it. A field that is added stands here as
            ``field Change.heavy``: no action decides on it, and it keeps its default.
    """

    target: Any
    words: Words
    untaught: frozenset[str] = frozenset()

    def build(self, choose: Choose, mentions: Sequence[Copyable]) -> Any:  # noqa: ANN401 - a value of the target
        """Build a value by choices.

        Args:
            choose: Makes them.
            mentions: What may be copied.

        Raises:
            NoSuchMeaning: The choices build nothing that is valid.
        """
        try:
            return _Builder(self.words, choose, mentions, self.untaught).value(self.target, ("", ""))
        except ValidationError as error:
            raise NoSuchMeaning from error

    def actions(self, value: Part, mentions: Sequence[Copyable]) -> list[Action]:
        """Return the actions that build a value, copying where they can.

        Raises:
            NoSuchMeaning: It names what no mention has, or takes an action that is untaught.
        """
        actions = list(_Writer(self.words, mentions, self.untaught).actions(self.target, value, ("", "")))
        if not self.untaught.isdisjoint(each for each in actions if isinstance(each, str)):
            raise NoSuchMeaning
        return actions

    def possible(self, before: Sequence[Action], mentions: Sequence[Copyable]) -> Sequence[Action] | Any:  # noqa: ANN401
        """Return the actions that are possible after others, as a list; the value itself where it is whole.

        Raises:
            NoSuchMeaning: The actions before build nothing that is valid.
        """
        left = iter(before)

        def choose(possible: Sequence[Action]) -> Action:
            for action in left:
                return action
            raise _Open(list(possible))

        try:
            return self.build(choose, mentions)
        except _Open as stop:
            return stop.possible

    def vocabulary(self) -> list[str]:
        """Return all actions but copies, in a fixed order."""
        names = {MORE, END, DEFAULT, NEW, NONE, *(f"number {each}" for each in NUMBERS)}
        seen: set[Any] = set()
        waiting: list[tuple[Any, tuple[str, str]]] = [(self.target, ("", ""))]
        while waiting:
            kind, place = waiting.pop()
            kind = _bare(kind)
            options = _options(kind)
            for option in options:
                names.add(_kind_action(option)) if _is_part(option) else waiting.append((option, place))
            if get_origin(kind) is Literal:
                names.update(map(str, _values(kind, place, self.words)))
            elif get_origin(kind) is tuple:
                waiting.append((get_args(kind)[0], place))
            elif kind is bool or kind is str:
                names.update(map(str, _values(kind, place, self.words)))
            for option in (*options, kind):
                if _is_part(option) and option not in seen and _kind_action(option) not in self.untaught:
                    seen.add(option)
                    waiting += [
                        (field.annotation, (option.__name__, name))
                        for name, field in option.model_fields.items()
                        if _field_action(option, name) not in self.untaught
                    ]
        return sorted(names - self.untaught)


class _Open(Exception):  # noqa: N818 - it never leaves this file
    def __init__(self, possible: list[Action]) -> None:
        super().__init__()
        self.possible = possible


@dataclass
class _Builder:
    words: Words
    choose: Choose
    mentions: Sequence[Copyable]
    untaught: frozenset[str] = frozenset()
    made: int = 0

    def pick(self, possible: Sequence[Action]) -> Action:
        possible = [each for each in possible if each not in self.untaught]
        if not possible:
            raise NoSuchMeaning
        self.made += 1
        if self.made > MAX_ACTIONS:
            raise NoSuchMeaning
        action = self.choose(possible)
        if action not in possible:
            raise NoSuchMeaning
        return action

    def copies(self, fits: Callable[[Any], bool]) -> list[Action]:
        return [number for number, each in enumerate(self.mentions) if any(map(fits, each.values))]

    def copied(self, number: int, fits: Callable[[Any], bool], place: tuple[str, str] = ("", "")) -> Any:  # noqa: ANN401
        value = next(each for each in self.mentions[number].values if fits(each))
        if isinstance(value, Quantity):
            return value.of(place[1])
        return str(value) if isinstance(value, str) else value

    def value(self, kind: Any, place: tuple[str, str]) -> Any:  # noqa: ANN401 - one way of each type
        kind = _bare(kind)
        options = _options(kind)
        if options:
            return self.one_of(options, place)
        if _is_part(kind):
            return self.part(kind)
        if get_origin(kind) is tuple:
            raise NoSuchMeaning  # built with its field, which says how many
        fits = _fits(kind, place)
        action = self.pick([*_values(kind, place, self.words), *self.copies(fits)])
        return self.copied(action, fits, place) if isinstance(action, int) else _read(action)

    def one_of(self, options: Sequence[Any], place: tuple[str, str]) -> Any:  # noqa: ANN401
        parts = [each for each in options if _is_part(each)]
        plain = [each for each in options if not _is_part(each) and each is not NoneType]

        def fits(value: Any) -> bool:  # noqa: ANN401
            return isinstance(value, tuple(parts)) if parts else any(_fits(each, place)(value) for each in plain)

        possible: list[Action] = [_kind_action(each) for each in parts if each.__name__ not in _ONLY_COPIED]
        possible += [NONE] if NoneType in options else []
        possible += [action for each in plain for action in _values(_bare(each), place, self.words)]
        action = self.pick([*possible, *self.copies(fits)])
        if isinstance(action, int):
            return self.copied(action, fits, place)
        if action == NONE:
            return None
        chosen = next((each for each in parts if _kind_action(each) == action), None)
        return self.fields(chosen) if chosen is not None else _read(action)

    def part(self, kind: type[Part]) -> Part:
        def fits(value: Any) -> bool:  # noqa: ANN401
            return isinstance(value, kind)

        if kind.__name__ not in _MAY_BE_COPIED:
            return self.fields(kind)
        action = self.pick([NEW, *self.copies(fits)])
        return self.copied(action, fits) if isinstance(action, int) else self.fields(kind)

    def fields(self, kind: type[Part]) -> Part:
        update = {}
        for name, field in kind.model_fields.items():
            if name == "kind" or _field_action(kind, name) in self.untaught:
                continue
            place = (kind.__name__, name)
            if _has_default_action(field) and self.pick([DEFAULT, NEW]) == DEFAULT:
                continue
            if get_origin(_bare(field.annotation)) is tuple:
                update[name] = tuple(self.elements(field, place))
            else:
                update[name] = self.value(field.annotation, place)
        return kind(**update)

    def elements(self, field: FieldInfo, place: tuple[str, str]) -> Iterator[Any]:
        least, most = _length(field)
        least = max(least, 1 if _has_default_action(field) else 0)
        element = get_args(_bare(field.annotation))[0]
        for number in range(most):
            if number >= least and self.pick([MORE, END]) == END:
                return
            yield self.value(element, place)


@dataclass(frozen=True)
class _Writer:
    words: Words
    mentions: Sequence[Copyable]
    untaught: frozenset[str] = frozenset()

    def copy_of(self, value: object, kind: Any, place: tuple[str, str]) -> int | None:  # noqa: ANN401
        for number, each in enumerate(self.mentions):
            if isinstance(value, Part):
                if any(type(one) is type(value) and one == value for one in each.values):
                    return number
                continue
            fitting = [
                one for one in each.values if any(_fits(option, place)(one) for option in (_options(kind) or (kind,)))
            ]
            for one in fitting:
                same = one.of(place[1]) if isinstance(one, Quantity) else str(one)
                if same == value:
                    return number
        return None

    def actions(self, kind: Any, value: Any, place: tuple[str, str]) -> Iterator[Action]:  # noqa: ANN401
        kind = _bare(kind)
        options = _options(kind)
        copy = self.copy_of(value, kind, place)
        if copy is not None:
            yield copy
        elif value is None:
            yield NONE
        elif options:
            if isinstance(value, Part):
                if type(value).__name__ in _ONLY_COPIED:
                    raise NoSuchMeaning
                yield _kind_action(type(value))
                yield from self.fields(value)
            else:
                yield self.plain(options, value, place)
        elif isinstance(value, Part):
            if type(value).__name__ in _MAY_BE_COPIED:
                yield NEW
            yield from self.fields(value)
        else:
            yield self.plain((kind,), value, place)

    def plain(self, kinds: Sequence[Any], value: object, place: tuple[str, str]) -> Action:
        for kind in kinds:
            if kind is not NoneType and not _is_part(kind):
                for action in _values(_bare(kind), place, self.words):
                    if _same(_read(str(action)), value):
                        return action
        raise NoSuchMeaning

    def taught(self, value: Part) -> Iterator[tuple[str, FieldInfo]]:
        """Yield the fields of a part that actions decide on, which the others must be left out of."""
        for name, field in type(value).model_fields.items():
            if _field_action(type(value), name) in self.untaught:
                if getattr(value, name) != field.default:
                    raise NoSuchMeaning
            elif name != "kind":
                yield name, field

    def fields(self, value: Part) -> Iterator[Action]:
        for name, field in self.taught(value):
            inner, place = getattr(value, name), (type(value).__name__, name)
            if _has_default_action(field):
                if inner == field.default:
                    yield DEFAULT
                    continue
                yield NEW
            if isinstance(inner, tuple):
                least, most = _length(field)
                least = max(least, 1 if _has_default_action(field) else 0)
                for number, each in enumerate(inner):
                    if number >= least:
                        yield MORE
                    yield from self.actions(get_args(_bare(field.annotation))[0], each, place)
                if least <= len(inner) < most:
                    yield END
            else:
                yield from self.actions(field.annotation, inner, place)


_ONLY_COPIED: Final = frozenset({"HasFact", "HasColour"})
"""Parts that come from mentions alone."""
_MAY_BE_COPIED: Final = frozenset({"Kind"})
_UNBOUNDED: Final = 6


def _bare(kind: Any) -> Any:  # noqa: ANN401 - types
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind


def _options(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401
    if get_origin(kind) not in {Union, UnionType}:
        return ()
    return tuple(one for each in get_args(kind) for one in (_options(_bare(each)) or (_bare(each),)))


def _is_part(kind: Any) -> bool:  # noqa: ANN401
    return isinstance(kind, type) and issubclass(kind, Part)


def _kind_action(kind: type[Part]) -> str:
    return f"kind {kind.__name__}"


def _field_action(kind: type[Part], name: str) -> str:
    return f"field {kind.__name__}.{name}"


def _has_default_action(field: FieldInfo) -> bool:
    """Tell whether a field is left at its default by an action of its own: one of parts or of several."""
    if field.is_required():
        return False
    kind = _bare(field.annotation)
    return _is_part(kind) or get_origin(kind) is tuple or (kind is str)


def _length(field: FieldInfo) -> tuple[int, int]:
    least, most = 0, _UNBOUNDED
    for each in field.metadata:
        least, most = getattr(each, "min_length", least), min(getattr(each, "max_length", most), _UNBOUNDED)
    return least, most


def _values(kind: Any, place: tuple[str, str], words: Words) -> list[Action]:  # noqa: ANN401
    if get_origin(kind) is Literal:
        return [] if place in _COPIED_TEXTS else [f"value {each}" for each in get_args(kind)]
    if kind is bool:
        return ["value True", "value False"]
    if kind is int or kind is float:
        return [f"number {each}" for each in NUMBERS] if kind is int else ["number 0"]
    return [f"word {each}" for each in words.get(place, ())]


def _read(action: str) -> Any:  # noqa: ANN401
    name, _, text = action.partition(" ")
    if name == "number":
        return int(text)
    return {"True": True, "False": False}.get(text, text) if name == "value" else text


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _fits(kind: Any, place: tuple[str, str]) -> Callable[[Any], bool]:  # noqa: ANN401
    """Return the condition that the value of a mention may be copied into a field."""
    kind = _bare(kind)
    if kind is float:
        return lambda value: isinstance(value, Quantity)
    copied = _COPIED_TEXTS.get(place, NounWord)
    if kind is str:
        return lambda value: isinstance(value, copied)
    if get_origin(kind) is Literal and place in _COPIED_TEXTS:
        return lambda value: isinstance(value, copied) and value in get_args(kind)
    return lambda _: False
