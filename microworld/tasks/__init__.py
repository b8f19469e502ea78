"""Four families of tasks with known truth, and how outcomes are judged."""

from microworld.tasks.blind import blind_score
from microworld.tasks.draw import sample_tasks
from microworld.tasks.feedback import Feedback, feedback
from microworld.tasks.records import (
    FAMILIES,
    SHARES,
    SPLITS,
    Answer,
    Edit,
    EditStep,
    Family,
    Outcome,
    Score,
    Split,
    Tagged,
    Tags,
    Task,
)
from microworld.tasks.scoring import normalized, score

__all__ = [
    "FAMILIES",
    "SHARES",
    "SPLITS",
    "Answer",
    "Edit",
    "EditStep",
    "Family",
    "Feedback",
    "Outcome",
    "Score",
    "Split",
    "Tagged",
    "Tags",
    "Task",
    "blind_score",
    "feedback",
    "normalized",
    "sample_tasks",
    "score",
]
