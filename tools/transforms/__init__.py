"""What experiments do to pictures: APEX's transform tools (appendix A) and PairBench's transforms."""

from tools.transforms import geometric, pixel, semantic
from tools.transforms.transform import TRANSFORMS, OutOfReach, Sample, Studio, apply
from tools.transforms.types import DATA_TYPES, TYPE_GROUPS, DataType, TypeGroup, grouped

__all__ = [
    "DATA_TYPES",
    "TRANSFORMS",
    "TYPE_GROUPS",
    "DataType",
    "OutOfReach",
    "Sample",
    "Studio",
    "TypeGroup",
    "apply",
    "geometric",
    "grouped",
    "pixel",
    "semantic",
]
