"""Quantifiers of questions about models: for how many of them, or of the classes shown, something has to hold."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from snellen.reasoning.meanings.things import Part


class Quantifier(Part):
    """The number of models, or classes, for which something has to hold: "any of them", "all of them", "at most two".

    Attributes:
        how: The bound: all, fewer than all, more than half (`most`), half or more, or a number; `how many` asks for it.
        count: The number, where there is one: 1 for "any", 0 for "none" with `at most`.
    """

    how: Literal["all", "not all", "most", "at least half", "at least", "at most", "exactly", "how many"]
    count: int = Field(0, ge=0, le=400)

    @model_validator(mode="after")
    def _counted(self) -> Quantifier:
        fewest = {"at least": 1, "exactly": 1}.get(self.how, 0)
        if self.count < fewest or (self.count and self.how not in {"at least", "at most", "exactly"}):
            msg = f"there is no {self.how} {self.count} of models"
            raise ValueError(msg)
        return self

    @property
    def is_upper(self) -> bool:
        """True where it has to hold for so many at most."""
        return self.how in {"not all", "at most"}

    def least(self, of: int) -> int:
        """Return the least number, of so many, for which it holds; of an upper bound, for which it holds no longer.

        Raises:
            ValueError: It is neither a lower nor an upper bound.
        """
        match self.how:
            case "all" | "not all":
                return of
            case "most":
                return of // 2 + 1
            case "at least half":
                return (of + 1) // 2
            case "at least" | "at most":
                return self.count + (self.how == "at most")
        msg = f"{self.how} is no bound"
        raise ValueError(msg)

    def holds(self, number: int, of: int) -> bool:
        """Tell whether it is so where something holds for a number of models, of so many."""
        match self.how:
            case "all":
                return number == of
            case "not all":
                return number < of
            case "most":
                return 2 * number > of
            case "at least half":
                return 2 * number >= of
            case "at least":
                return number >= self.count
            case "at most":
                return number <= self.count
            case _:
                return number == self.count
