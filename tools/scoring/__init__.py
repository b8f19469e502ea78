"""Metrics: one function each, with its edge cases in the docstring."""

from tools.scoring.accuracy import accuracy, wilson_interval
from tools.scoring.detection import Box, LabelledBox, Matches, f1, iou, match_boxes
from tools.scoring.interval import Interval, bootstrap_interval, mean

__all__ = [
    "Box",
    "Interval",
    "LabelledBox",
    "Matches",
    "accuracy",
    "bootstrap_interval",
    "f1",
    "iou",
    "match_boxes",
    "mean",
    "wilson_interval",
]
