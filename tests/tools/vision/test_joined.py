"""Several patches see one thing, each with its own guess of where it is; learned names are surer than others."""

from __future__ import annotations

import PIL.Image
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from snellen.models.vision.detection import Detection, DetectionCall, Detector, covered, joined
from snellen.profiles import LocModel, LocTuning

EDGES = st.integers(0, 60)
BOXES = st.builds(lambda x, y, w, h: (x, y, x + w, y + h), EDGES, EDGES, st.integers(1, 60), st.integers(1, 60))
DETECTIONS = st.builds(Detection, BOXES, st.floats(0.1, 1), st.sampled_from(["panda", "boar"]))


class Wired(Detector):
    """A detector whose scores are given, so that it needs no checkpoint."""

    def __init__(self, *, joined: float | None = None, learned: float | None = None) -> None:
        self.settings = LocModel(
            class_name="OwlViTForObjectDetection", folder="none", threshold=0.25, nms_iou=0.5, joined=joined
        )
        self._tuning = LocTuning(threshold=learned)


def _found(detector: Detector, scores: list[list[float]], *, threshold: float | None = None) -> list[Detection]:
    boxes = torch.tensor([[0.5, 0.4, 0.4, 0.4], [0.5, 0.7, 0.4, 0.3], [0.1, 0.1, 0.1, 0.1]])
    call = DetectionCall(PIL.Image.new("RGB", (100, 100)), ("panda", "bear"), threshold)
    return detector.detections(call, torch.tensor(scores), boxes)


def test_covered_is_the_share_of_the_smaller_box() -> None:
    assert covered((0, 0, 10, 10), (0, 0, 5, 10)) == 1
    assert covered((0, 0, 10, 10), (5, 0, 25, 10)) == pytest.approx(0.5)
    assert covered((0, 0, 10, 10), (20, 0, 25, 10)) == covered((0, 0, 0, 0), (0, 0, 5, 5)) == 0


def test_boxes_of_one_thing_become_their_weighted_mean() -> None:
    best, rim = Detection((0, 0, 10, 10), 0.8, "panda"), Detection((0, 6, 10, 16), 0.4, "panda")
    apart = Detection((40, 40, 50, 50), 0.5, "panda")
    assert joined([rim, apart, best], shared=0.25) == [Detection((0, 1, 10, 11), 0.8, "panda"), apart]
    assert joined([rim, apart, best], shared=0.5) == [best, apart, rim]


def test_of_two_names_for_one_thing_the_better_has_it_and_its_box() -> None:
    panda, boar = Detection((0, 0, 10, 10), 0.8, "panda"), Detection((0, 2, 10, 12), 0.7, "boar")
    assert joined([boar, panda], shared=0.25) == [panda]
    piece, whole = Detection((40, 40, 44, 44), 0.4, "boar"), Detection((38, 38, 58, 58), 0.6, "panda")
    assert joined([piece, whole], shared=0.25) == [whole]


@given(st.lists(DETECTIONS, max_size=12), st.floats(0, 1))
def test_joined_boxes_keep_scores_names_and_the_frame(detections: list[Detection], shared: float) -> None:
    made = joined(detections, shared=shared)
    assert len(made) <= len(detections)
    assert [each.score for each in made] == sorted((each.score for each in made), reverse=True)
    assert {(each.score, each.name) for each in made} <= {(each.score, each.name) for each in detections}
    assert bool(made) == bool(detections)
    for each in made:
        assert min(d.box[0] for d in detections) <= each.box[0] < each.box[2] <= max(d.box[2] for d in detections)


def test_boxes_of_one_thing_are_joined_where_the_profile_says_so() -> None:
    scores = [[0.9, 0.1], [0.3, 0.1], [0.1, 0.3]]
    assert [each.box for each in _found(Wired(), scores)] == [(30, 20, 70, 60), (30, 55, 70, 85), (5, 5, 15, 15)]
    assert [(each.box, each.name) for each in _found(Wired(joined=0.1), scores)] == [
        ((30, 24, 70, 63), "panda"),
        ((5, 5, 15, 15), "bear"),
    ]


def test_who_asks_for_faint_boxes_gets_them() -> None:
    scores = [[0.2, 0.1], [0.1, 0.1], [0.1, 0.1]]
    assert _found(Wired(), scores) == []
    assert [each.name for each in _found(Wired(), scores, threshold=0.15)] == ["panda"]


@given(st.floats(0.05, 0.95), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_the_threshold_of_learned_names_means_that_of_the_model(own: float, scores: list[float]) -> None:
    given_scores = torch.tensor([*scores, own, 0.0, 1.0], dtype=torch.float64)
    moved = Wired(learned=own).comparable(given_scores)
    assert torch.allclose(moved[-3:], torch.tensor([0.25, 0.0, 1.0], dtype=torch.float64))
    assert torch.equal(moved.sort().values, moved[given_scores.sort(stable=True).indices])
    assert torch.equal(Wired().comparable(given_scores), given_scores)
