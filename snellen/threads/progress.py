"""Progress in a line, for clients that show it beside an answer that is still to come."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from snellen.summaries.investigations import doing
from snellen.summaries.learning import phase_in_words
from snellen.threads.ask import SessionEvent
from snellen.threads.events import (
    InvestigationProgress,
    LearningProgress,
    ModelsLoading,
    NodeFinished,
    Started,
    StepFinished,
    Waits,
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
class ProgressLine:
    """Follows the events of a thread, and says what is being done.

    Attributes:
        line: In a line, e.g. ``asking clip: 32 of 96``; empty before anything is done.
        share: How much of the phase at hand is done, and of how much, where that is known.
    """

    line: str = ""
    share: tuple[float, float] | None = None
    _asked: Counter[str] = field(default_factory=Counter)

    def take(self, event: Any) -> bool:  # noqa: ANN401 - the events of any kind of thread
        """Take an event; tell whether something else is done after it."""
        before = self.line
        progress = getattr(event, "told", {})
        done, of = progress.get("done"), progress.get("of")
        if progress.get("phase") == "measure":  # models are asked side by side, and each event tells of one shard
            self._asked[progress["model"]] += progress["done"]
            done = self._asked[progress["model"]]
        else:
            self._asked.clear()
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
            return _revising(event) or _AFTER.get(node, "")
        case StepFinished(record=record):
            return f"step {record.get('address', '')}: {record.get('tool', '')}"
        case LearningProgress(told=progress):
            return phase_in_words(progress)
        case InvestigationProgress(told=progress):
            return doing(progress) + (f": {done} of {progress['of']}" if done is not None and "of" in progress else "")
        case _:
            return ""


_NEXT: Final = {
    "recall": "planning",
    "plan": "writing the program",
    "write": "loading the models",
    "run": "judging",
    "revise": "judging",
    "judge": "remembering",
    "describe": "finding out what went wrong",
    "reflect_globally": "correcting",
    "reflect_locally": "correcting",
    "store": "trying again",
}
"""What happens after each node, told while it happens."""


def _revising(event: NodeFinished) -> str:
    """Say what is done about a run in trouble; empty where nothing is."""
    if event.node == "run" and event.update.get("trouble"):
        return "revising the program"
    return "running the revised program" if event.node == "revise" and event.update.get("revisions") else ""


def doing_after(event: SessionEvent) -> str:
    """Say what takes its time after an event."""
    match event:
        case Started():
            return "recalling demonstrations"
        case NodeFinished(node="judge", update=update) if update.get("attempts"):
            return "describing what was seen"
        case NodeFinished(node=node):
            return _revising(event) or _NEXT.get(node, "going on")
        case StepFinished():
            return "running the program"
        case LearningProgress(told=progress):
            return phase_in_words({name: progress[name] for name in ("need", "phase") if name in progress})
        case Waits():
            return "waiting for a decision"
        case _:
            return "finishing"
