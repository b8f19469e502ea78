"""Free answers about pictures of which a scene graph is known (PROVE)."""

from snellen.datasets.prove.benchmark import (
    DescribedScene,
    Item,
    ProveBenchmark,
    QuestionDraft,
    Reason,
    Tuple,
    read_benchmark,
)
from snellen.datasets.prove.scenes import FolderScenes, Pictured, Scenes, WorldScenes

__all__ = [
    "DescribedScene",
    "FolderScenes",
    "Item",
    "Pictured",
    "ProveBenchmark",
    "QuestionDraft",
    "Reason",
    "Scenes",
    "Tuple",
    "WorldScenes",
    "read_benchmark",
]
