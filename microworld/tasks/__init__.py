"""Four families of tasks with known truth, and how outcomes are judged."""

from snellen.microworld.tasks.blind import blind_score
from snellen.microworld.tasks.draw import sample_tasks
from snellen.microworld.tasks.feedback import TruthFeedback, feedback
from snellen.microworld.tasks.scoring import normalized, score
from snellen.microworld.tasks.task import (
    FAMILIES,
    SHARES,
    SPLITS,
    EditAnswer,
    EditStep,
    Family,
    Score,
    Split,
    TagAnswer,
    TaggedRegion,
    TaskOutcome,
    TextAnswer,
    WorldTask,
)

__all__ = [
    "FAMILIES",
    "SHARES",
    "SPLITS",
    "EditAnswer",
    "EditStep",
    "Family",
    "Score",
    "Split",
    "TagAnswer",
    "TaggedRegion",
    "TaskOutcome",
    "TextAnswer",
    "TruthFeedback",
    "WorldTask",
    "blind_score",
    "feedback",
    "normalized",
    "sample_tasks",
    "score",
]
