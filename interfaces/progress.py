"""What is being done at the moment, in a line: for clients that show it beside an answer that is still to come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from interfaces.following import (
    InvestigationProgress,
    LearningProgress,
    ModelsLoading,
    NodeFinished,
    Started,
    StepFinished,
)

LOADING: Final = "loading models: the first answer takes longer"
_AFTER: Final = {
    "recall": "planning",
    "plan": "writing the program",
    "write": "running the program",
    "judge": "thinking about the answer",
    "describe": "finding out what went wrong",
    "collect": "learning",
    "open_report": "designing an experiment",
    "check_design": "making pictures",
    "build_benchmark": "asking the models",
    "measure": "weighing the evidence",
}


@dataclass
class Progress:
    """Follows the events of a thread, and says what is being done.

    Attributes:
        line: In a line, e.g. ``asking clip: 32 of 96``; empty before anything is done.
        share: How much of the phase at hand is done, and of how much, where that is known.
    """

    line: str = ""
    share: tuple[float, float] | None = None
    _asked: int = 0

    def take(self, event: Any) -> bool:  # noqa: ANN401 - the events of any kind of thread
        """Take an event; tell whether something else is done after it."""
        before = self.line
        told = getattr(event, "told", {})
        self._asked = self._asked + told.get("done", 0) if told.get("phase") == "measure" else 0
        done, of = self._asked or told.get("done"), told.get("of")
        self.share = (float(done), float(of)) if done is not None and of is not None else None
        self.line = _line(event, done) or self.line
        return self.line != before


def _line(event: Any, done: float | None) -> str:  # noqa: ANN401 - as above
    match event:
        case Started():
            return "reading the message"
        case ModelsLoading():
            return LOADING
        case NodeFinished(node=node):
            return _AFTER.get(node, "")
        case StepFinished(record=record):
            return f"step {record.get('address', '')}: {record.get('tool', '')}"
        case LearningProgress(told=told):
            from interfaces.learning_display import phase_in_words

            return phase_in_words(told)
        case InvestigationProgress(told=told):
            from interfaces.investigation_display import doing

            return doing(told) + (f": {done} of {told['of']}" if done is not None and "of" in told else "")
        case _:
            return ""
