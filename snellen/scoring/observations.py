"""Observations that evidence is computed from: one value for each independent unit."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Observations:
    """Values of units that were drawn independently of each other, one of each.

    Evidence multiplies what each observation says, which is right only if no two of them share what they are about. So
    values come by unit, and a unit that has several parts is one value.

    Attributes:
        by_unit: The value of each unit, by its name, in the order in which they were drawn.
    """

    by_unit: Mapping[Any, float]  # any hashable name: mappings are not covariant in their keys

    def __post_init__(self) -> None:
        """Keep a copy that nobody changes."""
        object.__setattr__(self, "by_unit", MappingProxyType(dict(self.by_unit)))

    @classmethod
    def of_parts(cls, parts: Iterable[tuple[Hashable, float]]) -> Observations:
        """Return the mean of each unit's parts.

        Args:
            parts: The name of the unit and a value, as often as the unit has parts; all parts of each unit.
        """
        rows: dict[Hashable, list[float]] = {}
        for unit, value in parts:
            rows.setdefault(unit, []).append(value)
        return cls({unit: sum(row) / len(row) for unit, row in rows.items()})

    @classmethod
    def independent(cls, values: Iterable[float]) -> Observations:
        """Return values each of which is a unit of its own, as a simulation draws them."""
        return cls(dict(enumerate(values)))

    @property
    def values(self) -> tuple[float, ...]:
        """The values, without the names of their units."""
        return tuple(self.by_unit.values())

    @property
    def mean(self) -> float:
        """Their mean; 0 where there are none."""
        return sum(self.by_unit.values()) / len(self) if self else 0.0

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.by_unit)

    def __neg__(self) -> Observations:
        """Return the values of the same units with the other sign."""
        return Observations({unit: -value for unit, value in self.by_unit.items()})
