"""What pictures can be of: groups of classes, as experiments name them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from nodes.reasoning.inflection import plural
from tools.samples.metaclasses import METACLASSES

if TYPE_CHECKING:
    from profiles import Profile

LEAST: int = 4
"""Classes of a group from which it is worth examining: fewer say little about the group."""


@dataclass(frozen=True)
class Group:
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
        """What one of them is said to be: "a bird", "a food"."""
        return f"{'an' if self.singular[0].lower() in 'aeiou' else 'a'} {self.singular}"


@dataclass(frozen=True)
class Subjects:
    """The groups that there are.

    Attributes:
        groups: By name, with `LEAST` classes at least.
    """

    groups: Mapping[str, Group]

    @classmethod
    def of(cls, profile: Profile) -> Subjects:
        """Return the groups of a profile's world, taught classes only; everyday ones where it has no world."""
        path, split = profile.facts_path(), profile.split_path()
        if path is None:
            return cls.made({name: (one, members) for name, (one, members) in METACLASSES.items()})
        facts = json.loads(path.read_text(encoding="utf-8"))
        known = None if split is None else set(json.loads(split.read_text(encoding="utf-8"))["known"])
        members: dict[str, list[str]] = {name: [] for name in facts["groups"]}
        for row in facts["concepts"]:
            if known is None or row["name"] in known:
                for name in (row["group"], *facts["groups"][row["group"]]["parents"]):
                    members[name].append(row["name"])
        return cls.made({name: (facts["groups"][name]["singular"], tuple(found)) for name, found in members.items()})

    @classmethod
    def made(cls, table: Mapping[str, tuple[str, tuple[str, ...]]]) -> Subjects:
        """Return the groups of a table: by name, the singular and the classes."""
        large = {name: row for name, row in table.items() if len(row[1]) >= LEAST}
        return cls(
            {
                name: Group(
                    name, one, members, frozenset(other for other in large if set(large[other][1]) & set(members))
                )
                for name, (one, members) in large.items()
            }
        )

    def apart(self, name: str) -> list[Group]:
        """Return the groups that share no class with one, in their order."""
        return [group for group in self.groups.values() if group.name not in self.groups[name].kin]

    def named(self, words: str) -> list[str]:
        """Return the groups that words name, in the order in which they do, longer names first where they overlap."""
        found: dict[int, str] = {}
        rest = words.casefold()
        for written in sorted(self._written, key=len, reverse=True):
            pattern = re.compile(rf"\b{re.escape(written)}\b")
            for match in pattern.finditer(rest):
                found[match.start()] = self._written[written]
            rest = pattern.sub(lambda match: "_" * len(match[0]), rest)
        return list(dict.fromkeys(found[place] for place in sorted(found)))

    @cached_property
    def _written(self) -> dict[str, str]:
        return {
            written.casefold(): group.name
            for group in self.groups.values()
            for written in (group.name, group.singular, plural(group.singular), plural(group.name))
        }
