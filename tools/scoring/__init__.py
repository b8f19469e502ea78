"""Metrics: one function each, with its edge cases in the docstring."""

from tools.scoring.accuracy import accuracy, wilson_interval
from tools.scoring.choice import ChoiceMetrics, Chosen, choice_metrics
from tools.scoring.detection import Box, LabelledBox, Matches, f1, iou, match_boxes
from tools.scoring.evidence import Evidence, Shared, confidence_interval, evidence, prospect, share_errors
from tools.scoring.interval import Interval, bootstrap_interval, mean
from tools.scoring.observations import Observations
from tools.scoring.panoptic import LabelledMask, PanopticQuality, best_overlaps, mask_iou, panoptic_quality

__all__ = [
    "Box",
    "ChoiceMetrics",
    "Chosen",
    "Evidence",
    "Interval",
    "LabelledBox",
    "LabelledMask",
    "Matches",
    "Observations",
    "PanopticQuality",
    "Shared",
    "accuracy",
    "best_overlaps",
    "bootstrap_interval",
    "choice_metrics",
    "confidence_interval",
    "evidence",
    "f1",
    "iou",
    "mask_iou",
    "match_boxes",
    "mean",
    "panoptic_quality",
    "prospect",
    "share_errors",
    "wilson_interval",
]
