"""A small world with known truth: its concepts, pictures, tasks and library.

The rest of Snellen reaches it only through a profile (`Profile.world()`), and only by the names exported here.
"""

from microworld.arrangements import members
from microworld.described import Described, described
from microworld.facts import list_names
from microworld.library import FoundPicture, LibraryScene, pictures, scenes
from microworld.samples import Portrait, cut_out, portrait
from microworld.tasks import (
    FAMILIES,
    SHARES,
    SPLITS,
    Feedback,
    Outcome,
    Score,
    Tagged,
    Task,
    blind_score,
    feedback,
    normalized,
    sample_tasks,
    score,
)

__all__ = [
    "FAMILIES",
    "SHARES",
    "SPLITS",
    "Described",
    "Feedback",
    "FoundPicture",
    "LibraryScene",
    "Outcome",
    "Portrait",
    "Score",
    "Tagged",
    "Task",
    "blind_score",
    "cut_out",
    "described",
    "feedback",
    "list_names",
    "members",
    "normalized",
    "pictures",
    "portrait",
    "sample_tasks",
    "scenes",
    "score",
]
