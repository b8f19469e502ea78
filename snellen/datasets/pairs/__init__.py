"""Pairs of pictures and texts, and how alike they should be (PairBench)."""

from snellen.datasets.pairs.benchmark import Kind, Pair, PairBenchmark, read_benchmark, truth
from snellen.datasets.pairs.building import SPLITS, Original, Originals, build, second_of
from snellen.datasets.pairs.judge_prompts import TEMPLATES, JudgeRequest, asked
from snellen.datasets.pairs.originals import FolderOriginals, PlacedOriginals, WorldOriginals

__all__ = [
    "SPLITS",
    "TEMPLATES",
    "FolderOriginals",
    "JudgeRequest",
    "Kind",
    "Original",
    "Originals",
    "Pair",
    "PairBenchmark",
    "PlacedOriginals",
    "WorldOriginals",
    "asked",
    "build",
    "read_benchmark",
    "second_of",
    "truth",
]
