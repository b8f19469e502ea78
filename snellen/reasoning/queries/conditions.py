"""Conditions under which models are examined: changes of pictures, alone, with a severity, or in families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field, model_validator

from snellen.reasoning.meanings.things import Part
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import DATA_TYPES, FURTHER_TYPES, TYPE_GROUPS, DataType, grouped

TYPES: Final[Mapping[str, DataType]] = {**DATA_TYPES, **FURTHER_TYPES}
"""All types that a question may name."""

_GROUPS: Final = {f"{group} transformations": tuple(one.name for one in grouped(group)) for group in TYPE_GROUPS}
EVERY: Final = "every transformation"
FAMILIES: Final[Mapping[str, tuple[str, ...]]] = {
    **_GROUPS,
    EVERY: tuple(DATA_TYPES),
    "rotation": ("left rotation", "right rotation", "half turn"),
    "quarter turns": ("left rotation", "right rotation"),
    "flips": ("vertical flip", "horizontal flip"),
    "changes of brightness": ("low brightness", "high brightness"),
    "changes of contrast": ("low contrast", "high contrast"),
    "bad weather": ("snowy weather", "rainy weather", "foggy weather"),
    "corruptions": ("Gaussian noise", "JPEG compression", "defocus blur"),
    "mixing": ("CutMix", "MixUp"),
    "pasted things": ("text", "pasted shape"),
}
"""Names for several types at once, as people say them."""
BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "tilt": (1, 179), "zoom": (1.1, 20), "low brightness": (0.01, 0.99), "high brightness": (1.01, 20),
    "low contrast": (0.01, 0.99), "high contrast": (1.01, 20), "patch shuffling": (2, 32),
    "Gaussian noise": (1.05, 20), "defocus blur": (1.1, 1000), "JPEG compression": (10, 45),
}  # fmt: skip
"""Severities that a question may state: degrees of a tilt, factors, parts across and down, decibels of JPEG."""
SCALES: Final[Mapping[str, tuple[float, ...]]] = {
    "tilt": (5, 15, 30, 60, 90), "zoom": (1.5, 2, 3, 4, 6), "patch shuffling": (2, 3, 4, 6, 8),
    "Gaussian noise": (1.2, 1.4, 1.7, 2, 2.5), "defocus blur": (4, 8, 15, 30, 60),
    "JPEG compression": (32, 30, 28, 26, 24), "low brightness": (0.6, 0.4, 0.25, 0.15, 0.08),
    "high brightness": (1.4, 1.8, 2.5, 4, 6), "low contrast": (0.6, 0.4, 0.25, 0.15, 0.08),
    "high contrast": (1.5, 2, 3, 5, 8),
}  # fmt: skip
"""Severities of a type from mild to heavy, on which it is searched up to where models see: each reaches nearly all
pictures of the embedded world."""
HEAVY: Final[Mapping[str, float]] = {**{name: scale[-1] for name, scale in SCALES.items()}, "tilt": 60}
"""The severity that is meant by heavy, very or extreme; a tilt by 90 degrees is another rotation."""
Side = Literal["", "left", "right"]


class Change(Part):
    """A change of a picture: "rotated to the left", "twice as bright", "slightly blurred".

    Attributes:
        type: Its type, by its name in `TYPES`.
        amount: Its severity, in degrees for a tilt and as a factor otherwise; None leaves it to the experiments.
        side: The direction of a tilt; "" for both.
        slight: Whether it is barely to be seen.
        heavy: Whether it is as severe as `HEAVY`; see `lacks` for types that have no such severity.
    """

    type: str
    amount: float | None = None
    side: Side = ""
    slight: bool = False
    heavy: bool = False

    @model_validator(mode="after")
    def _possible(self) -> Change:
        if self.type not in TYPES:
            msg = f"there is no type of pictures {self.type!r}"
            raise ValueError(msg)
        low, high = BOUNDS.get(self.type, (0.0, 0.0))
        if self.amount is not None and not low <= self.amount <= high:
            msg = f"{self.type} has no severity {self.amount:g}"
            raise ValueError(msg)
        if (self.side and self.type != "tilt") or (self.slight + self.heavy + (self.amount is not None) > 1):
            msg = "only a tilt has a side, and a severity is stated once"
            raise ValueError(msg)
        return self

    @property
    def lacks(self) -> str:
        """The severity that it is asked for with and its type does not have: ``slight``, ``heavy``, or nothing."""
        if self.heavy and self.type not in HEAVY:
            return "heavy"
        mildest, plainest = TYPES[self.type].calls[0].arguments, TYPES[self.type].calls[-1].arguments
        graded = any(isinstance(mildest[name], int | float) and mildest[name] != plainest[name] for name in mildest)
        return "slight" if self.slight and not graded else ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that make it, all of them alike: a tilt without a side goes both ways."""
        calls = TYPES[self.type].calls
        if self.type == "tilt":
            degrees = int(self.amount or (30 if self.slight else HEAVY["tilt"] if self.heavy else 45))
            sides = {"left": (-1,), "right": (1,), "": (-1, 1)}[self.side]
            return tuple(ToolCall(name="RotateImage", arguments={"angle": sign * degrees}) for sign in sides)
        call = calls[0] if self.slight else calls[-1]
        amount = HEAVY.get(self.type) if self.heavy else self.amount
        if amount is None:
            return (call,)
        name = next(iter(call.arguments))
        value = int(amount) if name == "grid_size" else amount
        return (call.model_copy(update={"arguments": {**call.arguments, name: value}}),)

    @property
    def severity(self) -> float | None:
        """Its severity on the scale of its type, stated or not: that of the pictures; None where there is no scale."""
        if self.type not in BOUNDS or self.amount is not None:
            return self.amount
        return abs(float(next(iter(self.calls[0].arguments.values()))))


def exceptions(family: str) -> set[str]:
    """Return what may be excepted from a family: its types, and of a group of the paper's types further ones, too.

    Those were counted in the groups once, so stored questions except them.
    """
    group = family.removesuffix(" transformations")
    further = {name for name, kind in FURTHER_TYPES.items() if family == EVERY or kind.group == group}
    return {*FAMILIES.get(family, ()), *further}


class Condition(Part):
    """A condition: one change, or a family of changes that count as one.

    Attributes:
        change: The change; None where it is a family.
        family: A name of `FAMILIES`.
        without: Types of the family that are excepted.
        slight: Whether the changes of a family are slight.
        heavy: Whether they are heavy.
    """

    change: Change | None = None
    family: str = ""
    without: tuple[str, ...] = Field((), max_length=20)
    slight: bool = False
    heavy: bool = False

    @model_validator(mode="after")
    def _one_of_both(self) -> Condition:
        if (self.change is None) != bool(self.family) or (self.family and self.family not in FAMILIES):
            msg = "a condition is a change or a family of changes"
            raise ValueError(msg)
        if self.slight + self.heavy > bool(self.family):
            msg = "a change says itself how severe it is, and a family is slight or heavy"
            raise ValueError(msg)
        if not set(self.without) <= exceptions(self.family) or (self.family and not self.types):
            msg = "only what belongs to a family is excepted, and not all of it"
            raise ValueError(msg)
        return self

    @property
    def exception(self) -> Condition | None:
        """The condition that every transformation excepts: one type, or all of a family; None of other exceptions."""
        if self.family != EVERY or not self.without:
            return None
        if len(self.without) == 1:
            return Condition(change=Change(type=self.without[0]))
        whole = next((name for name in FAMILIES if set(FAMILIES[name]) == set(self.without)), "")
        return Condition(family=whole) if whole else None

    @property
    def types(self) -> tuple[str, ...]:
        """The types of data that it is about."""
        if self.change is not None:
            return (self.change.type,)
        return tuple(name for name in FAMILIES[self.family] if name not in self.without)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Its changes, one or several."""
        if self.change is not None:
            return (self.change,)
        return tuple(Change(type=name, slight=self.slight, heavy=self.heavy) for name in self.types)


def conditions_of(change: str) -> list[Condition]:
    """Return the conditions on the scale of a change, the mildest first: a search for its limit chooses among them."""
    return [Condition(change=Change(type=change, amount=float(amount))) for amount in SCALES[change]]
