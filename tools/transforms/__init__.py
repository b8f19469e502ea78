"""Transforms of an experiment's pictures: APEX's transform tools (appendix A) and PairBench's transforms."""

from snellen.tools.transforms import geometric, pixel, semantic
from snellen.tools.transforms.transform import (
    ANY,
    OTHER,
    SAME,
    TRANSFORMS,
    ParameterOutOfRange,
    SourcePicture,
    Studio,
    apply,
)
from snellen.tools.transforms.types import DATA_TYPES, FURTHER_TYPES, TYPE_GROUPS, DataType, TypeGroup, grouped

__all__ = [
    "ANY",
    "DATA_TYPES",
    "FURTHER_TYPES",
    "OTHER",
    "SAME",
    "TRANSFORMS",
    "TYPE_GROUPS",
    "DataType",
    "ParameterOutOfRange",
    "SourcePicture",
    "Studio",
    "TypeGroup",
    "apply",
    "geometric",
    "grouped",
    "pixel",
    "semantic",
]
