"""Values that actions copy from a text: parts of meanings, numbers, and texts of one sort each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from snellen.reasoning.meanings.things import IsA


@dataclass(frozen=True)
class Quantity:
    """A number that a text names: as it is, for an amount, and as a share ("90 %", "ten points")."""

    amount: float
    share: float

    def of(self, field: str) -> float:
        """Return what it is in a field; an error rate of 5 % is a confidence of 95 %."""
        if field == "confidence":
            return max(self.share, round(1 - self.share, 4))
        return self.amount if field == "amount" else self.share


class ModelWord(str):
    """The name of a model."""

    __slots__ = ()


class QuotedWord(str):
    """Words in quotation marks."""

    __slots__ = ()


class FactWord(str):
    """A verb phrase in the plural that holds of a kind of things: "can fly"."""

    __slots__ = ()


class ColourWord(str):
    """A colour."""

    __slots__ = ()


class NounWord(str):
    """The name of a thing."""

    __slots__ = ()


@dataclass(frozen=True)
class Copyable:
    """The values that a mention may stand for: parts of meanings, texts, numbers.

    Attributes:
        values: They themselves.
        kind: The kind of things of which a fact is said in the same word: pets are animals that are kept so.
    """

    values: tuple[Any, ...]
    kind: IsA | None = None
