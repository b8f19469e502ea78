"""Evidence of a step: how sure the models behind it were, and what they came near to saying instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class ToolEvidence:
    """Evidence that a tool leaves beside its output; a run's confidence is estimated from it.

    Attributes:
        probability: Of the least sure answer or name that a model gave, in [0, 1].
        rivals: For an answer or a name, what the model would have said next.
        rejected: The highest detector score, in [0, 1], among what was looked for and left out.
        resemblance: The highest probability, in [0, 1], that a segment called otherwise is what was looked for.
        alone: How many regions only one of two models saw.
        untaught: Names that no tool was taught, on which the output depends.
    """

    probability: float | None = None
    rivals: dict[str, str] = field(default_factory=dict)
    rejected: float | None = None
    resemblance: float | None = None
    alone: int = 0
    untaught: list[str] = field(default_factory=list)

    def note_answer(self, answer: str, probability: float | None, rival: str = "") -> None:
        """Note an answer or a name with its probability; the least sure one counts."""
        if probability is not None and (self.probability is None or probability < self.probability):
            self.probability = probability
        if rival:
            self.rivals[answer] = rival

    def note_rejected(self, scores: Iterable[float]) -> None:
        """Note scores of what was left out."""
        self.rejected = max([*scores, *([] if self.rejected is None else [self.rejected])], default=None)

    def note_resemblance(self, probabilities: Iterable[float]) -> None:
        """Note how much what is called otherwise is like what was looked for."""
        known = [] if self.resemblance is None else [self.resemblance]
        self.resemblance = max([*probabilities, *known], default=None)

    def note_untaught(self, names: Iterable[str]) -> None:
        """Note names that no tool was taught."""
        self.untaught = list(dict.fromkeys([*self.untaught, *names]))

    def to_json(self) -> dict[str, Any]:
        """Return what was noted as plain JSON; empty where nothing was."""
        noted = {name: value for name, value in asdict(self).items() if value not in (None, {}, [])}
        if not self.alone:
            del noted["alone"]
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in noted.items()}
