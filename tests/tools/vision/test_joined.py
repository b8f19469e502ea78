"""The boxes of learned names: several patches see one thing, each with its own guess of where it is."""

from __future__ import annotations

import PIL.Image
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from profiles import LocModel, LocTuning
from tools.vision.detection import Detection, DetectionCall, Detector, covered, joined, separated, suppress

EDGES = st.integers(0, 60)
BOXES = st.builds(lambda x, y, w, h: (x, y, x + w, y + h), EDGES, EDGES, st.integers(1, 60), st.integers(1, 60))
DETECTIONS = st.builds(Detection, BOXES, st.floats(0.1, 1), st.sampled_from(["panda", "boar"]))


class Wired(Detector):
    """A detector whose scores are given, so that it needs no checkpoint."""

    def __init__(self, **tuning: float) -> None:
        self.settings = LocModel(class_name="OwlViTForObjectDetection", folder="none", threshold=0.25, nms_iou=0.5)
        self._tuning = LocTuning(**tuning)


def _found(
    detector: Detector, scores: list[list[float]], *learned: str, threshold: float | None = None
) -> list[Detection]:
    boxes = torch.tensor([[0.5, 0.4, 0.4, 0.4], [0.5, 0.7, 0.4, 0.3], [0.1, 0.1, 0.1, 0.1]])
    call = DetectionCall(PIL.Image.new("RGB", (100, 100)), ("panda", "bear"), threshold)
    return detector.detections(call, torch.tensor(scores), boxes, learned=learned)


def test_covered_is_the_share_of_the_smaller_box() -> None:
    assert covered((0, 0, 10, 10), (0, 0, 5, 10)) == 1
    assert covered((0, 0, 10, 10), (5, 0, 25, 10)) == pytest.approx(0.5)
    assert covered((0, 0, 10, 10), (20, 0, 25, 10)) == covered((0, 0, 0, 0), (0, 0, 5, 5)) == 0


def test_boxes_of_one_thing_become_their_weighted_mean() -> None:
    best, rim = Detection((0, 0, 10, 10), 0.8, "panda"), Detection((0, 6, 10, 16), 0.4, "panda")
    apart = Detection((40, 40, 50, 50), 0.5, "panda")
    assert joined([rim, apart, best], shared=0.25) == [Detection((0, 1, 10, 11), 0.8, "panda"), apart]
    assert joined([rim, apart, best], shared=0.5) == [best, apart, rim]


def test_of_two_learned_names_for_one_thing_the_better_has_it_and_its_box() -> None:
    panda, boar = Detection((0, 0, 10, 10), 0.8, "panda"), Detection((0, 2, 10, 12), 0.7, "boar")
    assert joined([boar, panda], shared=0.25) == [panda]


def test_of_a_known_and_a_learned_name_for_one_thing_the_better_has_it() -> None:
    bear, panda = Detection((0, 0, 10, 10), 0.9, "bear"), Detection((0, 5, 10, 15), 0.7, "panda")
    piece = Detection((40, 40, 44, 44), 0.4, "bear")
    whole = Detection((38, 38, 58, 58), 0.6, "panda")
    assert separated([bear, piece], [panda, whole], shared=0.25) == [bear, whole]


@given(st.lists(DETECTIONS, max_size=12), st.floats(0, 1))
def test_joined_boxes_keep_scores_names_and_the_frame(detections: list[Detection], shared: float) -> None:
    made = joined(detections, shared=shared)
    assert len(made) <= len(detections)
    assert [each.score for each in made] == sorted((each.score for each in made), reverse=True)
    assert {(each.score, each.name) for each in made} <= {(each.score, each.name) for each in detections}
    assert bool(made) == bool(detections)
    for each in made:
        assert min(d.box[0] for d in detections) <= each.box[0] < each.box[2] <= max(d.box[2] for d in detections)


@given(st.lists(DETECTIONS, max_size=8), st.floats(0, 1))
def test_known_boxes_alone_are_as_ever(known: list[Detection], shared: float) -> None:
    known = suppress(known, iou=0.5)
    assert separated(known, [], shared=shared) == known


def test_names_that_were_not_learned_keep_their_boxes_and_threshold() -> None:
    scores = [[0.9, 0.1], [0.3, 0.1], [0.1, 0.3]]
    plain = _found(Wired(), scores)
    assert [each.box for each in plain] == [(30, 20, 70, 60), (30, 55, 70, 85), (5, 5, 15, 15)]
    assert _found(Wired(joined=0.1, threshold=0.5), scores) == plain
    assert _found(Wired(), scores, "panda") == plain


def test_a_learned_name_has_its_own_threshold_and_joined_boxes() -> None:
    scores = [[0.9, 0.1], [0.3, 0.1], [0.1, 0.3]]
    own = Wired(joined=0.1, threshold=0.2)
    assert [each.name for each in _found(own, scores, "panda")] == ["panda", "bear"]
    assert _found(Wired(joined=0.1, threshold=0.2), scores, "panda")[0].box == (30, 24, 70, 63)
    assert [each.name for each in _found(Wired(joined=0.1, threshold=0.95), scores, "panda")] == ["bear"]


def test_who_asks_for_faint_boxes_gets_those_of_learned_names_too() -> None:
    found = _found(Wired(joined=0.1, threshold=0.95), [[0.4, 0.1], [0.1, 0.1], [0.1, 0.1]], "panda", threshold=0.3)
    assert [each.name for each in found] == ["panda"]
