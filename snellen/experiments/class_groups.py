"""Subjects of pictures: groups of classes, as experiments name them, and the kinds of things that questions name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.reasoning.queries.echo import kind_in_words
from snellen.tools.samples import folder_classes, groups_of

if TYPE_CHECKING:
    from snellen.profiles import Profile
    from snellen.reasoning.queries.abilities import Kind

LEAST: Final = 4
"""Classes of a group from which experiments choose it by themselves; where a question names it, two will do."""


@dataclass(frozen=True)
class ClassGroup:
    """Classes that have a name together.

    Attributes:
        name: In the plural.
        singular: In the singular.
        members: The classes, those of its subgroups among them.
        kin: Names of groups that share a class with it, itself included.
        drawn: Whether pictures of it can be asked for by its name; otherwise they are by those of its classes.
    """

    name: str
    singular: str
    members: tuple[str, ...]
    kin: frozenset[str] = field(default_factory=frozenset)
    drawn: bool = True

    @property
    def called(self) -> str:
        """A member of it in words: "a bird", "a food"."""
        return f"{'an' if self.singular[0].lower() in 'aeiou' else 'a'} {self.singular}"


@dataclass(frozen=True)
class Subjects:
    """The groups that there are.

    Attributes:
        groups: By name, with `LEAST` classes at least; two will do for a folder of one's own.
        classes: Those of the folder that all pictures come from; none where pictures are made of anything.
        small: Groups with fewer classes.
        novel: Classes that no model of the profile was taught.
        facts: By a fact as a verb phrase, the classes of which it holds.
        changes: Types of pictures that the models of the profile were taught; None where that is not known.
        arranged: Whether pictures show things where, and among which others, they are asked for.
    """

    groups: Mapping[str, ClassGroup]
    classes: tuple[str, ...] = ()
    small: Mapping[str, ClassGroup] = field(default_factory=dict)
    novel: frozenset[str] = frozenset()
    facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    changes: frozenset[str] | None = None
    arranged: bool = True

    @classmethod
    def of(cls, profile: Profile) -> Subjects:
        """Return the groups of a profile's world, taught classes only; everyday ones where it has no world.

        Where all pictures come from a folder, they are what it has pictures of.
        """
        classes = folder_classes(profile)
        table = groups_of(profile)
        if classes:
            table = {
                name: (one, tuple(each for each in members if each in classes))
                for name, (one, members) in table.items()
            }
        facts, novel = _facts(profile)
        made = cls.made(table, classes=classes, least=2 if classes else LEAST, facts=facts, novel=novel)
        return replace(made, changes=_changes(profile), arranged=profile.facts_path() is not None)

    @classmethod
    def made(
        cls,
        table: Mapping[str, tuple[str, tuple[str, ...]]],
        *,
        classes: tuple[str, ...] = (),
        least: int = LEAST,
        facts: Mapping[str, frozenset[str]] | None = None,
        novel: frozenset[str] = frozenset(),
    ) -> Subjects:
        """Return the groups of a table: by name, the singular and the classes."""
        every = {
            name: ClassGroup(
                name, one, members, frozenset(other for other in table if set(table[other][1]) & set(members))
            )
            for name, (one, members) in table.items()
            if members
        }
        large = {name: group for name, group in every.items() if len(group.members) >= least}
        small = {name: group for name, group in every.items() if name not in large}
        return cls(large, classes, small, novel, facts or {})

    def apart(self, group: ClassGroup) -> list[ClassGroup]:
        """Return the groups that share no class with one, in their order."""
        members = set(group.members)
        return [other for other in self.groups.values() if not set(other.members) & members]

    def kind(self, kind: Kind) -> ClassGroup | None:
        """Return the classes of a kind of things as a group; None where it is things of any kind.

        Raises:
            BadInput: There is no picture of such things here.
        """
        if not kind.names and not kind.fact and not kind.without:
            return None
        named = [self._named(name) for name in kind.names]
        members = members_of(named) or self.all_classes
        without = {member for name in kind.without for member in self._named(name).members}
        facts = kind.fact.split("|") if kind.fact else []
        holding = frozenset[str]().union(*(self.facts.get(fact, frozenset()) for fact in facts))
        members = [one for one in members if one not in without and (not facts or one in holding)]
        if not members:
            msg = f"There are no pictures of {kind_in_words(kind)} here."
            raise BadInput(msg)
        if len(named) == 1 and members == list(named[0].members):
            return named[0]
        words = kind_in_words(kind)
        return ClassGroup(words, "thing" if not kind.names else kind.names[0], tuple(members), drawn=False)

    def siblings(self, name: str) -> list[str]:
        """Return the other classes of the smallest group that a class is in."""
        groups = [group for group in (*self.groups.values(), *self.small.values()) if name in group.members]
        smallest = min(groups, key=lambda group: len(group.members), default=None)
        return [other for other in smallest.members if other != name] if smallest else []

    def _named(self, name: str) -> ClassGroup:
        group = self._by_name.get(name.casefold())
        if group is not None:
            return group
        if self.classes and name not in self.classes:
            msg = f"There are no pictures of {name!r} here: there are {', '.join(self.classes[:20])}."
            raise BadInput(msg)
        return ClassGroup(name, name, (name,))

    @cached_property
    def all_classes(self) -> list[str]:
        """The classes of all groups."""
        return members_of(self.groups.values())

    @cached_property
    def _by_name(self) -> dict[str, ClassGroup]:
        groups = (*self.small.values(), *self.groups.values())
        return {name.casefold(): group for group in groups for name in (group.name, group.singular)}


def members_of(groups: Iterable[ClassGroup]) -> list[str]:
    """Return the classes of some groups, each once."""
    return list(dict.fromkeys(member for group in groups for member in group.members))


def _facts(profile: Profile) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return the taught classes of which each fact holds, and the classes that were not taught."""
    path, split = profile.facts_path(), profile.split_path()
    if path is None:
        return {}, frozenset()
    table = json.loads(path.read_text(encoding="utf-8"))
    names = [row["name"] for row in table["concepts"]]
    known = set(names) if split is None else set(json.loads(split.read_text(encoding="utf-8"))["known"])
    holding: dict[str, set[str]] = {}
    for row in table["concepts"]:
        for key in row["facts"]:
            phrase = table["facts"][key][0]
            if row["name"] in known:
                holding.setdefault(phrase if " " in phrase else f"are {phrase}", set()).add(row["name"])
    return {fact: frozenset(some) for fact, some in holding.items()}, frozenset(names) - known


def _changes(profile: Profile) -> frozenset[str] | None:
    """Return the types of pictures that the models of a profile were taught, where its split says so."""
    split = profile.split_path()
    listed = None if split is None else json.loads(split.read_text(encoding="utf-8")).get("changes")
    return None if listed is None else frozenset(map(str, listed))
