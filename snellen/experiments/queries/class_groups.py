"""Subjects of pictures: groups of classes, as experiments name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from snellen.reasoning.language.inflection import plural
from snellen.tools.samples import folder_classes, groups_of

if TYPE_CHECKING:
    from snellen.profiles import Profile

LEAST: int = 4
"""Classes of a group from which it is worth examining: fewer say little about the group."""


@dataclass(frozen=True)
class ClassGroup:
    """Classes that have a name together.

    Attributes:
        name: In the plural.
        singular: In the singular.
        members: The classes, those of its subgroups among them.
        kin: Names of groups that share a class with it, itself included.
    """

    name: str
    singular: str
    members: tuple[str, ...]
    kin: frozenset[str] = field(default_factory=frozenset)

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
    """

    groups: Mapping[str, ClassGroup]
    classes: tuple[str, ...] = ()

    @classmethod
    def of(cls, profile: Profile) -> Subjects:
        """Return the groups of a profile's world, taught classes only; everyday ones where it has no world.

        Where all pictures come from a folder, they are what it has pictures of.
        """
        classes = folder_classes(profile)
        table = groups_of(profile)
        if not classes:
            return cls.made(table)
        ours = {
            name: (one, tuple(each for each in members if each in classes)) for name, (one, members) in table.items()
        }
        return cls.made(ours, classes=classes, least=2)

    @classmethod
    def made(
        cls, table: Mapping[str, tuple[str, tuple[str, ...]]], *, classes: tuple[str, ...] = (), least: int = LEAST
    ) -> Subjects:
        """Return the groups of a table: by name, the singular and the classes."""
        large = {name: row for name, row in table.items() if len(row[1]) >= least}
        return cls(
            {
                name: ClassGroup(
                    name, one, members, frozenset(other for other in large if set(large[other][1]) & set(members))
                )
                for name, (one, members) in large.items()
            },
            classes,
        )

    def apart(self, name: str) -> list[ClassGroup]:
        """Return the groups that share no class with one, in their order."""
        return [group for group in self.groups.values() if group.name not in self.groups[name].kin]

    def named(self, words: str) -> list[str]:
        """Return the groups that words name, in the order in which they do, longer names first where they overlap."""
        return self.masked(words)[0]

    def masked(self, words: str) -> tuple[list[str], str]:
        """Return the groups that words name, and the words in lower case with underscores in place of them."""
        by_place: dict[int, str] = {}
        rest = words.casefold()
        for written in sorted(self._written, key=len, reverse=True):
            pattern = re.compile(rf"\b{re.escape(written)}\b")
            for match in pattern.finditer(rest):
                by_place[match.start()] = self._written[written]
            rest = pattern.sub(lambda match: "_" * len(match[0]), rest)
        return list(dict.fromkeys(by_place[place] for place in sorted(by_place))), rest

    @cached_property
    def _written(self) -> dict[str, str]:
        return {
            written.casefold(): group.name
            for group in self.groups.values()
            for written in (group.name, group.singular, plural(group.singular), plural(group.name))
        }
