"""The record of a reading: how an instruction was understood, as a state keeps it and as people are shown it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput
from snellen.reasoning.meanings.meanings import read_meaning, write_meaning

if TYPE_CHECKING:
    from snellen.reasoning.meanings.meanings import Meaning

ReadingStatus = Literal["understood", "ambiguous", "unread", "as it stands"]
"""One meaning; several, none of them chosen; none; none, and VQA is asked the question as it stands."""
MAX_OPTIONS: Final = 4
"""Meanings to choose from; what can be meant in more ways is said anew."""
_MAX_SENTENCE: Final = 1_000


@dataclass(frozen=True)
class MeaningOption:
    """A meaning that an instruction may have.

    Attributes:
        understood: The meaning in a sentence.
        meaning: The meaning as JSON.
    """

    understood: str
    meaning: dict[str, Any]


@dataclass(frozen=True)
class UnknownWord:
    """A word that is not known.

    Attributes:
        word: As it was written.
        nearest: The nearest known word; empty where none is near.
        learnable: Whether it may be a thing, which tools can be taught.
    """

    word: str
    nearest: str = ""
    learnable: bool = False


@dataclass(frozen=True)
class ReadingRecord:
    """A record of how an instruction was read.

    Attributes:
        status: What came of it.
        understood: The meaning in a sentence; empty where there is not one.
        meaning: The meaning as JSON; empty where there is not one.
        asides: Clauses about the speaker, which were left aside.
        corrected: Words that were taken for another: as written, as read.
        options: The meanings that the user chooses from, also once one is chosen.
        unknown: Words that are not known.
        why: Why there is no meaning, in a sentence.
        probability: Of the meaning, where no rule of a grammar reads the instruction.
    """

    status: ReadingStatus
    understood: str = ""
    meaning: Mapping[str, Any] | None = None
    asides: tuple[str, ...] = ()
    corrected: tuple[tuple[str, str], ...] = ()
    options: tuple[MeaningOption, ...] = ()
    unknown: tuple[UnknownWord, ...] = ()
    why: str = ""
    probability: float = 1.0

    def chosen(self, place: int) -> ReadingRecord:
        """Return the record with one of its options as the meaning.

        Args:
            place: The place of the option, from 0.
        """
        option = self.options[place]
        return replace(self, status="understood", understood=option.understood, meaning=option.meaning)

    def typed_meaning(self) -> Meaning | None:
        """Return the meaning; None where there is not one, or where what was stored is none."""
        if not self.meaning:
            return None
        try:
            return read_meaning(json.dumps(self.meaning))
        except BadInput:
            return None

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON."""
        data = asdict(self)
        return data | {"corrected": [list(pair) for pair in self.corrected], "asides": list(self.asides)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ReadingRecord | None:
        """Read what :meth:`to_json` wrote; None of what an older thread holds, which is nothing."""
        if not data:
            return None
        return cls(
            status=data["status"],
            understood=str(data.get("understood", "")),
            meaning=data.get("meaning") or None,
            asides=tuple(map(str, data.get("asides", ()))),
            corrected=tuple((str(one), str(other)) for one, other in data.get("corrected", ())),
            options=tuple(MeaningOption(**each) for each in data.get("options", ())),
            unknown=tuple(UnknownWord(**each) for each in data.get("unknown", ())),
            why=str(data.get("why", "")),
            probability=float(data.get("probability", 1.0)),
        )


def option_of(meaning: Meaning, sentence: str) -> MeaningOption:
    """Return a meaning with its sentence as an option."""
    return MeaningOption(sentence[:_MAX_SENTENCE], json.loads(write_meaning(meaning)))
