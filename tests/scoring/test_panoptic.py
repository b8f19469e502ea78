"""Panoptic quality, and what it says at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from snellen.scoring import LabelledMask, best_overlaps, mask_iou, panoptic_quality

WIDTH = 12


def strip(low: int, high: int) -> NDArray[np.bool_]:
    mask = np.zeros((1, WIDTH), dtype=np.bool_)
    mask[0, low:high] = True
    return mask


def strips(cuts: list[int], labels: str) -> list[LabelledMask]:
    edges = [0, *sorted(cuts), WIDTH]
    pairs = itertools.pairwise(edges)
    return [LabelledMask(strip(*pair), label) for pair, label in zip(pairs, labels, strict=False) if pair[0] < pair[1]]


CUTS = st.lists(st.integers(0, WIDTH), min_size=3, max_size=3)
LABELS = st.text("ab", min_size=4, max_size=4)


def test_quality_is_the_overlap_of_matches_over_matches_and_half_of_what_is_left() -> None:
    true = [[LabelledMask(strip(0, 4), "dog"), LabelledMask(strip(4, 8), "dog"), LabelledMask(strip(8, 12), "grass")]]
    found = [[LabelledMask(strip(0, 3), "dog"), LabelledMask(strip(8, 12), "grass"), LabelledMask(strip(4, 8), "cat")]]
    quality = panoptic_quality(found, true)
    assert quality["dog"].segmentation == pytest.approx(0.75)
    assert quality["dog"].recognition == pytest.approx(2 / 3)
    assert quality["dog"].quality == pytest.approx(0.5)
    assert quality["dog"].true == 2
    assert quality["grass"].quality == 1.0
    assert (quality["cat"].quality, quality["cat"].true) == (0.0, 0)


def test_half_an_overlap_is_no_match() -> None:
    assert panoptic_quality([[LabelledMask(strip(0, 2), "a")]], [[LabelledMask(strip(0, 4), "a")]])["a"].quality == 0


def test_segments_match_only_within_their_picture() -> None:
    segment = LabelledMask(strip(0, 4), "a")
    assert panoptic_quality([[segment], []], [[], [segment]])["a"].quality == 0


def test_nothing_found_of_nothing_has_no_labels() -> None:
    assert panoptic_quality([[]], [[]]) == {}
    assert mask_iou(strip(0, 0), strip(0, 0)) == 0.0
    assert best_overlaps([], [strip(0, 4)]) == [0.0]
    assert best_overlaps([strip(0, 4)], []) == []


@given(CUTS, LABELS)
def test_the_truth_has_perfect_quality(cuts: list[int], labels: str) -> None:
    truth = strips(cuts, labels)
    assert {each.quality for each in panoptic_quality([truth], [truth]).values()} == {1.0}
    assert best_overlaps([each.mask for each in truth], [each.mask for each in truth]) == [1.0] * len(truth)


@given(CUTS, CUTS, LABELS, LABELS)
def test_quality_is_symmetric_and_the_product_of_its_parts(a: list[int], b: list[int], x: str, y: str) -> None:
    first, second = [strips(a, x)], [strips(b, y)]
    there, back = panoptic_quality(first, second), panoptic_quality(second, first)
    assert there.keys() == back.keys()
    for label, each in there.items():
        assert each.quality == pytest.approx(back[label].quality)
        assert each.quality == pytest.approx(each.segmentation * each.recognition)
        assert 0 <= each.quality <= 1
