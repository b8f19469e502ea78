"""Rounds of pictures: their places, and those that were drawn and wait in memory for their turn."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.memory.samples import Sample


@dataclass(frozen=True)
class RoundPlace:
    """The place of a round of pictures.

    Attributes:
        investigation: The owner of the pictures. Which ones they are does not depend on it: whoever asks the same again
            with the same seed gets pictures that were measured.
        experiment: The number of the experiment, from 0.
        round: The number of the round, from 0.
        seed: Chooses the pictures.
    """

    investigation: str
    experiment: int
    round: int
    seed: int


@dataclass(frozen=True)
class DrawnRound:
    """A round that is drawn, and not stored.

    Attributes:
        design: Of its experiment.
        place: Its place.
        samples: Its samples.
        pictures: Their PNG files, by the pictures' ids.
    """

    design: Design
    place: RoundPlace
    samples: Sequence[Sample]
    pictures: Mapping[str, bytes]


@dataclass
class WaitingRounds:
    """Rounds of the next look at an experiment, drawn while models were asked; safe for threads.

    Only the latest look's are kept. Of two investigations of a home that take turns, one may find its rounds gone, and
    draws the same ones again.
    """

    _rounds: Sequence[DrawnRound] = ()
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def replace(self, rounds: Sequence[DrawnRound]) -> None:
        """Have these wait, and drop those that did."""
        with self._changing:
            self._rounds = tuple(rounds)

    def take(self, design: Design, place: RoundPlace) -> DrawnRound | None:
        """Return the round of a design at a place, which then waits no more; None where it was not drawn."""
        with self._changing:
            found = next((one for one in self._rounds if one.place == place and one.design == design), None)
            self._rounds = tuple(one for one in self._rounds if one is not found)
            return found
