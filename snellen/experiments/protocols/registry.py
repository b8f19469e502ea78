"""The registry of protocols: the ways in which experiments ask, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from snellen.experiments.protocols.free_answers import FreeAnswers
from snellen.experiments.protocols.multiple_choice import MultipleChoice
from snellen.experiments.protocols.pair_scoring import PairScoring

if TYPE_CHECKING:
    from snellen.experiments.protocols.protocol import AskingProtocol

PROTOCOLS: Final[Mapping[str, AskingProtocol]] = {
    "choice": MultipleChoice(),
    "freeform": FreeAnswers(),
    "pairs": PairScoring(),
}
