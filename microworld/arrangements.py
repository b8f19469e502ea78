"""Pictures by description: so many things, of a size or color, at a place, beside others ("a dog in the top left")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Final

from snellen.errors import BadInput
from snellen.microworld.concepts import Share, plural, vocabulary
from snellen.microworld.scenes import (
    MAX_OBJECTS,
    NUMBERS,
    SIDE,
    SIZES,
    TINTS,
    Dice,
    Relation,
    Scene,
    SceneObject,
    article,
    listing,
    recipe,
    relation_holds,
    sample_scene,
    tintable,
)

ANY: Final = "random"
"""Asks for any class at all (APEX, section 3.4)."""

_RELATIONS: Final[dict[str, Relation]] = {
    "to the left of": "left", "left of": "left", "to the right of": "right", "right of": "right", "above": "above",
    "over": "above", "below": "below", "under": "below",
}  # fmt: skip
PLACES: Final[dict[str, tuple[int, int, int, int]]] = {
    "top left": (0, 0, SIDE // 2, SIDE // 2), "top right": (SIDE // 2, 0, SIDE, SIDE // 2),
    "bottom left": (0, SIDE // 2, SIDE // 2, SIDE), "bottom right": (SIDE // 2, SIDE // 2, SIDE, SIDE),
    "left half": (0, 0, SIDE // 2, SIDE), "right half": (SIDE // 2, 0, SIDE, SIDE),
    "top half": (0, 0, SIDE, SIDE // 2), "bottom half": (0, SIDE // 2, SIDE, SIDE),
    "middle": (SIDE // 4, SIDE // 4, SIDE - SIDE // 4, SIDE - SIDE // 4),
}  # fmt: skip
"""Parts of a picture in which a thing can be: left, upper, right and lower edge in pixels."""
_PLACED: Final = re.compile(rf"^(.+) in the ({'|'.join(PLACES)})$")
_BESIDE: Final = re.compile(rf" (?:is )?({'|'.join(sorted(_RELATIONS, key=len, reverse=True))}|and) ")
_AND: Final = re.compile(" and ")
_COUNTED: Final = re.compile(rf"^({'|'.join([*NUMBERS[1:], *map(str, range(1, MAX_OBJECTS + 1))])}) (.+)$")
_TINTED: Final = re.compile(rf"^({'|'.join(TINTS)}) (.+)$")
_SIZED: Final = re.compile(rf"^({'|'.join(SIZES)}) (.+)$")
_TRIES: Final = 400
"""Scenes that are looked at for one in which the things stand as they shall."""


@dataclass(frozen=True)
class ArrangementPart:
    """Things of one kind.

    Attributes:
        asked: How they were called.
        names: The concepts that are meant, from which the dice choose.
        count: How many there are.
        tint: A key of `TINTS`, or "" for any color.
        alike: Whether all of them are of one concept.
        size: A key of `SIZES`, or "" for any size.
    """

    asked: str
    names: tuple[str, ...]
    count: int = 1
    tint: str = ""
    alike: bool = True
    size: str = ""


@dataclass(frozen=True)
class Arrangement:
    """Content of a picture.

    Attributes:
        parts: In the order of the description.
        relation: Where the first part is, seen from the second, of two; None where that is left open.
        place: A key of `PLACES`, in which the only thing lies with all of its square; "" for anywhere.
    """

    parts: tuple[ArrangementPart, ...]
    relation: Relation | None = None
    place: str = ""

    def is_held_by(self, things: Sequence[SceneObject]) -> bool:
        """Tell whether things stand as they shall."""
        if self.place and not all(is_in(thing, self.place) for thing in things):
            return False
        return self.relation is None or relation_holds(things[0], self.relation, things[1])


def is_in(thing: SceneObject, place: str) -> bool:
    """Tell whether the square of a thing lies within a part of the picture, a key of `PLACES`."""
    left, top, right, bottom = PLACES[place]
    return (
        left <= thing.left
        and top <= thing.top
        and thing.left + thing.side <= right
        and thing.top + thing.side <= bottom
    )


def read(words: str, *, share: Share = "known") -> Arrangement:
    """Read a description.

    Args:
        words: Such as "dog", "birds", "two red cars", "a dog to the left of a cat", "a dog in the top left",
            "a dog and a cat and a tree", "random".
        share: Which concepts groups and "random" stand for; a concept may be any.

    Raises:
        BadInput: It cannot be understood, or not be drawn.
    """
    text = " ".join(words.casefold().split())
    text, place = (match[1], match[2]) if (match := _PLACED.match(text)) else (text, "")
    texts, between = _parted(text)
    parts = tuple(_part(text, share) for text in texts)
    relation = _RELATIONS.get(between)
    if relation is not None and any(part.count > 1 for part in parts):
        msg = f"The microworld draws one thing {between} one other, not {words[:80]!r}."
        raise BadInput(msg)
    if sum(part.count for part in parts) > MAX_OBJECTS:
        msg = f"The microworld draws at most {MAX_OBJECTS} things, not {words[:80]!r}."
        raise BadInput(msg)
    if place and sum(part.count for part in parts) > 1:
        msg = f"The microworld draws one thing in the {place}, not {words[:80]!r}."
        raise BadInput(msg)
    return Arrangement(parts, relation, place)


def arranged(wanted: Arrangement, seed: str, *, style: str = "flat") -> tuple[str, Scene]:
    """Draw a scene of an arrangement, in clear weather.

    Args:
        wanted: What it shall show.
        seed: The same arguments give the same scene.
        style: One of `STYLES`.

    Returns:
        What it shows in words, and the scene.

    Raises:
        BadInput: No place was found for everything.
    """
    dice = Dice("arrangement", seed)
    chosen: list[list[str]] = []
    for part in wanted.parts:
        taken = {name for names in chosen for name in names}
        among = [name for name in part.names if name not in taken] or list(part.names)
        chosen.append(
            [dice.choice(among)] * part.count if part.alike else [dice.choice(among) for _ in range(part.count)]
        )
    required = [name for names in chosen for name in names]
    tints = [part.tint for part in wanted.parts for _ in range(part.count)]
    sizes = [part.size for part in wanted.parts for _ in range(part.count)]
    how = recipe(required, required=tuple(required), counts=(1, 1), styles=(style,), weathers=("clear",))
    for attempt in range(_TRIES):
        scene = sample_scene(f"arrangement/{seed}/{attempt}", how)
        things = tuple(
            replace(thing, tint=tint or thing.tint) for thing, tint in zip(scene.objects, tints, strict=False)
        )
        placed = len(things) == len(required)
        sized = all(size in {"", thing.size} for thing, size in zip(things, sizes, strict=False))
        if placed and sized and wanted.is_held_by(things):
            return _said(wanted, chosen), replace(scene, objects=things)
    msg = f"The microworld finds no place for {_said(wanted, chosen)}."
    raise BadInput(msg)


def members(class_name: str, *, share: Share = "known") -> tuple[str, ...]:
    """Return the concepts that a class stands for.

    Raises:
        BadInput: There is no such class.
    """
    known, name = vocabulary(), _plain(class_name)
    if name == ANY:
        return tuple(concept.name for concept in known.share(share))
    classes = _classes()
    if name in classes and classes[name] not in known.groups:
        return (classes[name],)
    if name in classes:
        concepts = known.members(classes[name])
        return tuple(concept.name for concept in concepts if concept in known.share(share))
    near = get_close_matches(name, classes, n=3)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    msg = f"The microworld has no class {class_name[:80]!r}.{hint}"
    raise BadInput(msg)


def _parted(text: str) -> tuple[list[str], str]:
    """Part a description where several things are named; names of things may themselves hold an "and"."""
    if (things := _listed(text)) is not None:
        return things, "and" if len(things) > 1 else ""
    splits = [([text[: one.start()], text[one.end() :]], one[1]) for one in _BESIDE.finditer(text)]
    known = [split for split in splits if all(map(_is_thing, split[0]))]
    return next(iter([*known, *splits]), ([text], ""))


def _listed(text: str, room: int = MAX_OBJECTS) -> list[str] | None:
    """Return the things of a list with "and" between them; None where it is none, or is too long."""
    if _is_thing(text):
        return [text]
    for match in _AND.finditer(text) if room > 1 else ():
        rest = _listed(text[match.end() :], room - 1) if _is_thing(text[: match.start()]) else None
        if rest is not None:
            return [text[: match.start()], *rest]
    return None


def _is_thing(text: str) -> bool:
    return _is_class(_taken_apart(text)[-1])


def _part(text: str, share: Share) -> ArrangementPart:
    form, rest = _taken_apart(text)
    part, tint = _of(rest, share), form.tint
    part = replace(form, asked=part.asked, names=part.names, alike=form.alike or part.alike)
    if not tint:
        return part
    names = tuple(name for name in part.names if tintable(name))
    if not names:
        msg = f"The microworld draws no {tint} {rest[:80]}: its name says another color."
        raise BadInput(msg)
    return replace(part, names=names)


def _taken_apart(text: str) -> tuple[ArrangementPart, str]:
    """Return how many there are, whether they are alike, their size and color; and the class, which may begin so."""
    count, size, tint, rest = 1, "", "", _plain(text)
    if not _is_class(rest) and (match := _COUNTED.match(rest)):
        count, rest = NUMBERS.index(match[1]) if match[1] in NUMBERS else int(match[1]), match[2]
    alike, rest = rest.startswith("identical "), rest.removeprefix("identical ")
    if not _is_class(rest) and (match := _SIZED.match(rest)):
        size, rest = match[1], match[2]
    if not _is_class(rest) and (match := _TINTED.match(rest)):
        tint, rest = match[1], match[2]
    return ArrangementPart("", (), count, tint, alike, size), rest


def _of(text: str, share: Share) -> ArrangementPart:
    names = members(text, share=share)
    return ArrangementPart(_plain(text), names, alike=_plain(text) == ANY or len(names) == 1)


def _said(arrangement: Arrangement, chosen: list[list[str]]) -> str:
    texts = []
    for part, names in zip(arrangement.parts, chosen, strict=True):
        name = names[0] if len(set(names)) == 1 else part.asked
        tinted = " ".join(filter(None, (part.size, part.tint, name if part.count == 1 else plural(name))))
        texts.append(article(tinted) if part.count == 1 else f"{NUMBERS[part.count]} {tinted}")
    if len(texts) == 1:
        where = f" in the {arrangement.place}" if arrangement.place else ""
        return f"{chosen[0][0] if texts[0] == article(chosen[0][0]) and not where else texts[0]}{where}"
    if arrangement.relation is None:
        return listing(texts)
    words = {"left": "to the left of", "right": "to the right of"}
    between = words.get(arrangement.relation, arrangement.relation)
    return f"{texts[0]} {between} {texts[1]}"


def _plain(text: str) -> str:
    plain = " ".join(text.casefold().split())
    return plain.removeprefix("a ").removeprefix("an ").removeprefix("the ")


def _is_class(text: str) -> bool:
    return _plain(text) == ANY or _plain(text) in _classes()


@cache
def _classes() -> dict[str, str]:
    """Every name of a class, singular and plural, with the concept or group that it means; concepts come first."""
    known = vocabulary()
    names = {name: group.name for group in known.groups.values() for name in (group.singular, group.name)}
    for concept in known.concepts:
        names[plural(concept.name)] = names[concept.name] = concept.name
    return names
