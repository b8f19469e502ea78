"""Units: what is drawn independently in an experiment, and gives one observation of a claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Unit:
    """The unit that is drawn independently in a protocol, and gives one observation of a claim.

    Attributes:
        name: For people, in the singular.
        whole_round: Whether a round is one of them, because all of its arms are made of one draw. Otherwise each arm
            draws for itself.
    """

    name: str
    whole_round: bool

    def counted(self, n: int) -> str:
        """Write a number of them: ``41 originals``."""
        return f"{n:,} {self.name}{'s' * (n != 1)}"


OF_TASKS: Final = Unit("picture pair", whole_round=False)
"""The unit where two tasks are compared: a picture of the one and a picture of the other."""
UNITS: Final[Mapping[str, Unit]] = {
    "choice": Unit("picture", whole_round=False),
    "freeform": Unit("picture", whole_round=False),
    "pairs": Unit("original", whole_round=True),
}
"""The unit of each protocol.

Splits of an original, a picture before it was transformed and what another model says of it are parts of a unit, not
units of their own: a unit's value is the mean over its parts, and models and conditions are compared within it. The
pictures of a folder are drawn with replacement: two draws are two units, even of the same picture.
"""
