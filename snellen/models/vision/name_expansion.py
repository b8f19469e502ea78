"""From the words of a request to the names that a detector knows: plurals, hypernyms, qualifiers.

A detector trained on "hen" and "robin" was never shown "birds". Where the profile names a table of facts, a group is
expanded to its members; without one, only the plural is taken off. This is the one place where that happens.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from snellen.profiles import SnellenError

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_DETERMINERS = frozenset({"a", "an", "the", "all", "any", "every", "each", "some", "this", "that", "these", "those"})
_ANYTHING = frozenset({"object", "thing", "item"})
_COLOURS = frozenset(
    ("red", "green", "blue", "yellow", "purple", "orange", "pink", "brown", "black", "white", "gray", "grey")
)
_ADJECTIVES = _COLOURS | {"big", "large", "small", "little", "tiny"}
"""Words that a name may carry without being another thing."""
_IRREGULAR = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "mice": "mouse",
    "geese": "goose",
    "feet": "foot",
    "teeth": "tooth",
    "oxen": "ox",
    "knives": "knife",
    "wolves": "wolf",
    "leaves": "leaf",
    "loaves": "loaf",
    "scarves": "scarf",
    "shelves": "shelf",
    "calves": "calf",
    "policemen": "policeman",
    "buses": "bus",
    "lenses": "lens",
    "shoes": "shoe",
    "movies": "movie",
    "cookies": "cookie",
    "ties": "tie",
    "pies": "pie",
    "zombies": "zombie",
    "hoodies": "hoodie",
    "brownies": "brownie",
    "toes": "toe",
    "canoes": "canoe",
    "oboes": "oboe",
    "aches": "ache",
}
_INVARIABLE = frozenset(
    {"scissors", "glasses", "jeans", "trousers", "pants", "shorts", "skis", "series", "species", "headphones", "fries"}
)


def singular(name: str) -> str:
    """The singular of an English noun phrase, in lower case: only its last word changes (``green apples``)."""
    *first, last = name.casefold().split() or [""]
    return " ".join([*first, _singular_word(last)])


def _singular_word(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _INVARIABLE or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > len("dies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")):
        return word[:-2]
    return word[:-1]


def without_adjective(name: str) -> str:
    """Take the colour or the size off a name ("red dog"); other names stay as they are."""
    adjective, _, rest = name.partition(" ")
    return rest if adjective in _ADJECTIVES and rest else name


def split_colour(name: str) -> tuple[str, str]:
    """Return the colour before a name, and the rest ("red dog": red, dog); no colour where there is none."""
    colour, _, rest = name.partition(" ")
    return (colour, rest) if colour in _COLOURS and rest else ("", name)


@dataclass(frozen=True)
class KnownConcept:
    """A thing that the world's facts know."""

    name: str
    group: str
    facts: frozenset[str] = frozenset()
    taught: bool = True
    """Whether the checkpoints were ever shown one."""


@dataclass(frozen=True)
class Expansion:
    """Turns what a program asks for into names.

    Attributes:
        concepts: Everything the facts know; empty without a table of facts.
        parents: The groups that each group belongs to.
        singulars: From a group's singular to its name.
        qualifiers: What may stand before a group, and the fact it stands for (``wild`` animals).
        learned: What a tool has learned since, whether the facts know of it or not.
    """

    concepts: Sequence[KnownConcept] = ()
    parents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    singulars: Mapping[str, str] = field(default_factory=dict)
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    learned: frozenset[str] = frozenset()

    @classmethod
    def read(cls, facts: Path | None, *, split: Path | None = None) -> Expansion:
        """Read a table of facts; without one, only plurals are understood.

        Args:
            facts: JSON with ``concepts`` (``name``, ``group``, ``facts``), ``groups`` (``singular``, ``parents``) and
                ``facts`` (phrases for each).
            split: JSON whose ``known`` lists the concepts that the checkpoints were taught; without it, all were.

        Raises:
            SnellenError: A file is missing or is not of that form.
        """
        if facts is None:
            return cls()
        try:
            known = None if split is None else json.loads(split.read_text(encoding="utf-8"))["known"]
            return cls._from_table(json.loads(facts.read_text(encoding="utf-8")), known=known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            files = " and ".join(str(each) for each in (facts, split) if each is not None)
            msg = f"The facts in {files} cannot be read ({error!r}): correct world.facts or world.split in the profile."
            raise SnellenError(msg) from error

    @classmethod
    def _from_table(cls, table: dict[str, Any], *, known: Sequence[str] | None) -> Expansion:
        groups: dict[str, dict[str, Any]] = table.get("groups", {})
        concepts = tuple(
            KnownConcept(
                name=row["name"],
                group=row.get("group", ""),
                facts=frozenset(row.get("facts", ())),
                taught=known is None or row["name"] in known,
            )
            for row in table["concepts"]
        )
        phrases = table.get("facts", {})
        return cls(
            concepts=concepts,
            parents={name: tuple(group.get("parents", ())) for name, group in groups.items()},
            singulars={group.get("singular") or singular(name): name for name, group in groups.items()}
            | {singular(name): name for name in groups},
            qualifiers={words: fact for fact in phrases for words in (fact, *phrases[fact])},
        )

    def taught(self, names: Iterable[str]) -> Expansion:
        """The same, with these concepts as if the checkpoints had been taught them: groups expand to them as well."""
        learned = frozenset(names)
        concepts = [replace(each, taught=each.taught or each.name in learned) for each in self.concepts]
        return replace(self, concepts=concepts, learned=learned)

    def all_names(self) -> list[str]:
        """Every name that the checkpoints were taught."""
        return [concept.name for concept in self._taught]

    @cached_property
    def _taught(self) -> Sequence[KnownConcept]:
        return [concept for concept in self.concepts if concept.taught]

    @cached_property
    def _named(self) -> Mapping[str, Sequence[str]]:
        """The names of concepts by what they are called: their name, and its singular."""
        named: dict[str, list[str]] = {}
        for concept in self.concepts:
            for called in {concept.name, singular(concept.name)}:
                named.setdefault(called, []).append(concept.name)
        return named

    @cached_property
    def _in_group(self) -> Mapping[str, Sequence[KnownConcept]]:
        """The taught members of each group, directly or through other groups."""
        members: dict[str, list[KnownConcept]] = {}
        for concept in self._taught:
            for group in self._groups_of(concept):
                members.setdefault(group, []).append(concept)
        return members

    def untaught(self, words: str) -> list[str]:
        """The names among the words that the checkpoints were never taught; none where no table tells what they know.

        A taught thing keeps its name with a colour or a size before it ("red dog").
        """
        if not self.concepts:
            return []
        taught = self.learned.union(self.all_names())
        parts = [words] if self._known(words) else _parts(words)
        return [_bare(part) for part in parts if not self._teaches(_bare(part), taught)]

    def untaught_in(self, text: str) -> list[str]:
        """The things of the table that a text speaks of and the checkpoints were never taught."""
        words = _as_words(text)
        taught = self.learned.union(self.all_names())
        for name in sorted((_as_words(each) for each in taught), key=len, reverse=True):
            words = words.replace(name, " ; ")
        unknown = (concept.name for concept in self.concepts if concept.name not in taught.union(_COLOURS))
        return [name for name in unknown if _as_words(name) in words]

    def _teaches(self, words: str, taught: frozenset[str]) -> bool:
        if words in taught or not taught.isdisjoint(self._known(words)):
            return True
        qualifier, _, rest = words.partition(" ")
        return qualifier in _ADJECTIVES and bool(rest) and self._teaches(rest, taught)

    def related(self, concept: str, count: int) -> list[str]:
        """Taught concepts that may be taken for this one: of its group first, then of groups beside it, then any.

        Returns:
            At most ``count`` names, always the same; any, where nothing is known of the concept.
        """
        wanted = next((each for each in self.concepts if each.name == concept), None)
        groups = self._groups_of(wanted) if wanted else frozenset()

        def distance(other: KnownConcept) -> tuple[int, str]:
            shared = 2 if not groups & self._groups_of(other) else int(wanted is None or other.group != wanted.group)
            return shared, hashlib.sha256(f"{concept} {other.name}".encode()).hexdigest()

        others = (each for each in self.concepts if each.taught and each.name != concept)
        return [each.name for each in sorted(others, key=distance)[:count]]

    def names(self, words: str) -> list[str]:
        """The names to look for when a program asks for ``words``.

        A concept gives its own name, a group those of its members that were taught, ``wild animals`` or ``pets`` those
        of which the fact holds, ``red animals`` each with the word before it, ``objects`` everything; several may be
        given between commas
        or ``and``. Words that nothing is known of are looked for as they are, in the singular.
        """
        whole = self._known(words)
        if whole:
            return whole
        return _each_once(name for part in _parts(words) for name in self._known(part) or [_bare(part)])

    def _known(self, words: str) -> list[str]:
        bare = _bare(words)
        if bare in self._named:
            return list(self._named[bare])
        if bare in _ANYTHING:
            return self.all_names()
        return [concept.name for concept in self._members(bare)] or self._each_qualified(bare)

    def _each_qualified(self, words: str) -> list[str]:
        """What no fact stands for goes to every member: a detector that knows "red dog" never saw "red animal"."""
        qualifier, _, rest = words.partition(" ")
        is_list = qualifier.endswith(",")
        return [f"{qualifier} {concept.name}" for concept in self._members(rest)] if rest and not is_list else []

    def _members(self, words: str) -> Sequence[KnownConcept]:
        if words in self.singulars:
            return self._in_group.get(self.singulars[words], ())
        if words in self.qualifiers:  # a fact used as a noun: pets
            return [concept for concept in self._taught if self.qualifiers[words] in concept.facts]
        for qualifier, fact in self.qualifiers.items():
            rest = words.removeprefix(f"{qualifier} ")
            if rest != words:
                return [concept for concept in self._members(rest) if fact in concept.facts]
        return []

    def _groups_of(self, concept: KnownConcept) -> set[str]:
        groups: set[str] = set()
        pending = [concept.group]
        while pending:
            group = pending.pop()
            if group not in groups:
                groups.add(group)
                pending.extend(self.parents.get(group, ()))
        return groups


def _as_words(text: str) -> str:
    """Return the words of a text in the singular, a space before and after each."""
    return f" {' '.join(map(_singular_word, _WORD.findall(text.casefold())))} "


def _parts(words: str) -> list[str]:
    return [part for piece in words.split(",") for part in piece.split(" and ") if part.strip()]


def _bare(words: str) -> str:
    kept = [word for word in words.casefold().split() if word not in _DETERMINERS]
    return singular(" ".join(kept)) if kept else words.strip()


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
