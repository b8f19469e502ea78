"""A small world with known truth: its concepts, pictures, tasks and library.

The rest of Snellen reaches it only through a profile (`Profile.world()`), and only by the names exported here.
"""

from snellen.microworld.arrangements import members
from snellen.microworld.facts import list_names
from snellen.microworld.library import FoundPicture, LibraryScene, pictures, scenes
from snellen.microworld.samples import Portrait, cut_out, portrait
from snellen.microworld.scene_graphs import Described, described
from snellen.microworld.tasks import (
    FAMILIES,
    SHARES,
    SPLITS,
    Score,
    TaggedRegion,
    TaskOutcome,
    TruthFeedback,
    WorldTask,
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
    "FoundPicture",
    "LibraryScene",
    "Portrait",
    "Score",
    "TaggedRegion",
    "TaskOutcome",
    "TruthFeedback",
    "WorldTask",
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
