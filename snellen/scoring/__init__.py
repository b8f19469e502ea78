"""Metrics: one function each, with its edge cases in the docstring."""

from snellen.scoring.calibrated_choices import calibrated_choices
from snellen.scoring.choice import ChoiceMetrics, Chosen, choice_metrics
from snellen.scoring.detection import Box, LabelledBox, Matches, f1, iou, match_boxes
from snellen.scoring.evidence import Evidence, Shared, confidence_interval, evidence, prospect, share_errors
from snellen.scoring.extremes import evidence_against_least
from snellen.scoring.group_counts import GroupEvidence
from snellen.scoring.measure import Interval, accuracy, bootstrap_interval, mean, wilson_interval
from snellen.scoring.observations import Observations
from snellen.scoring.panoptic import LabelledMask, PanopticQuality, best_overlaps, mask_iou, panoptic_quality

__all__ = [
    "Box",
    "ChoiceMetrics",
    "Chosen",
    "Evidence",
    "GroupEvidence",
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
    "calibrated_choices",
    "choice_metrics",
    "confidence_interval",
    "evidence",
    "evidence_against_least",
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
