"""Names that are drawn for each picture, and the slots in the texts of a design that they fill.

A slot stands in brackets and names a pool: ``[thing]`` is the thing that was drawn for a picture, ``[a thing]`` the
same with its article, ``[things]`` in the plural; ``[other thing]`` and ``[another thing]`` are a second one, ``[third
thing]`` and ``[a third thing]`` a third. Names that are drawn for a picture differ, also those of several pools. So "Is
the [thing] to the left of the [other thing]?" is asked of a ship and a violin in one picture, of a hen and a tie in the
next.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from snellen.reasoning.language.inflection import plural, with_article

_SLOT: Final = re.compile(r"\[(a |an |an(?=other ))?([^\[\]]+)\]")
_FURTHER: Final = ("other", "third")


@dataclass(frozen=True)
class Slot:
    """A slot of a text.

    Attributes:
        name: What fills it: the name of a pool, or "other" or "third" and that of a pool.
        pool: The pool that it is drawn from.
        many: Whether it is filled in the plural.
    """

    name: str
    pool: str
    many: bool


def slot_of(body: str, pools: Iterable[str]) -> Slot | None:
    """Return the slot that is called so, without its article; None where no pool fills it."""
    names = {form: Slot(name, name, many) for name in pools for form, many in ((plural(name), True), (name, False))}
    further, _, rest = body.partition(" ")
    first = names.get(rest)
    if body in names or first is None or further not in _FURTHER:
        return names.get(body)
    return Slot(f"{further} {first.name}", first.pool, first.many)


def slots_in(texts: Iterable[str], pools: Iterable[str]) -> tuple[dict[str, Slot], list[str]]:
    """Return the slots of some texts by what fills them, and what stands in brackets but is no slot."""
    bodies = [match[2] for text in texts for match in _SLOT.finditer(text)]
    known = list(pools)
    found = {body: slot_of(body, known) for body in bodies}
    return {slot.name: slot for slot in found.values() if slot}, [body for body in bodies if found[body] is None]


def drawn_names(slots: Mapping[str, Slot], pools: Mapping[str, Sequence[str]], seed: str) -> dict[str, str]:
    """Draw a name for each slot; all differ, as far as pools have names enough, and those of a pool are alike probable.

    Args:
        slots: Of a design, by what fills them.
        pools: The names to draw from.
        seed: The same seed draws the same names.
    """
    names: dict[str, str] = {}
    # What is in a large pool, too, is first drawn from the small one, which could have nothing else.
    for pool in sorted(dict.fromkeys(slot.pool for slot in slots.values()), key=lambda each: len(pools[each])):
        wanted = sorted(name for name, slot in slots.items() if slot.pool == pool)
        free = [name for name in pools[pool] if name not in names.values()]
        among = free if len(free) >= len(wanted) else pools[pool]
        names |= zip(wanted, random.Random(f"{seed}/{pool}").sample(among, len(wanted)), strict=True)
    return names


def filled(text: str, names: Mapping[str, str]) -> str:
    """Return a text with its slots filled; as it is where nothing was drawn."""

    def fill(match: re.Match[str]) -> str:
        slot = slot_of(match[2], names)
        name = names.get(slot.name) if slot else None
        if slot is None or name is None:
            return match[0]
        return plural(name) if slot.many else with_article(name) if match[1] else name

    return _SLOT.sub(fill, text) if names else text
