"""Free answers about pictures of which a scene graph is known (PROVE)."""

from tools.prove.records import Benchmark, Draft, Item, Reason, Scene, Tuple, read_benchmark
from tools.prove.scenes import FolderScenes, Pictured, Scenes, WorldScenes

__all__ = [
    "Benchmark",
    "Draft",
    "FolderScenes",
    "Item",
    "Pictured",
    "Reason",
    "Scene",
    "Scenes",
    "Tuple",
    "WorldScenes",
    "read_benchmark",
]
