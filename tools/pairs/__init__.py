"""Pairs of pictures and texts, and how alike they should be (PairBench)."""

from tools.pairs.building import SPLITS, Original, Originals, build, second_of
from tools.pairs.originals import FolderOriginals, PlacedOriginals, WorldOriginals
from tools.pairs.prompting import TEMPLATES, Request, asked
from tools.pairs.records import Benchmark, Kind, Pair, read_benchmark, truth

__all__ = [
    "SPLITS",
    "TEMPLATES",
    "Benchmark",
    "FolderOriginals",
    "Kind",
    "Original",
    "Originals",
    "Pair",
    "PlacedOriginals",
    "Request",
    "WorldOriginals",
    "asked",
    "build",
    "read_benchmark",
    "second_of",
    "truth",
]
