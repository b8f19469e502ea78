"""Truth that the segmenter is taught: the segments of a scene, their labels and middles, and which query owns each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np
import numpy.typing as npt
import torch

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import HORIZON, truths
from snellen.microworld.scenes import GROUNDS, PATTERNS, SIDE, Scene

ROWS = 5
FREE_QUERIES = 5
SKY = "sky"
# How far from its middle, in shares of the picture's side, a query still counts as lying on a thing.
REACH = 0.19
# Waves across the picture by which the middle of a thing is told: sine and cosine of each, across and down.
WAVES = (0.5, 1.0, 2.0)
PLACES = 4 * len(WAVES)
Masks = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Panoptic:
    """Every segment of a scene, as arrays over segments: things in the order of the scene, then stuff.

    Attributes:
        masks: (n, 128, 128), disjoint, together the whole picture; none is empty.
        labels: (n,) index among `labels()`.
    """

    masks: Masks
    labels: npt.NDArray[np.int64]


@cache
def labels() -> tuple[str, ...]:
    """Return the labels of segments: singulars of groups, then grounds, then kinds of background."""
    things = [group.singular for group in vocabulary().groups.values()]
    return (*things, SKY, *GROUNDS, *(f"{pattern} background" for pattern in PATTERNS))


@cache
def stuff() -> frozenset[str]:
    """Return the labels that are no things."""
    return frozenset(labels()[len(vocabulary().groups) :])


def panoptic(scene: Scene) -> Panoptic:
    """Return what a perfect segmenter would give for the picture of a scene."""
    words = vocabulary()
    number = {label: index for index, label in enumerate(labels())}
    found = [truth.mask for truth in truths(scene)]
    names = [words.groups[words.concept(item.concept).group].singular for item in scene.objects]
    free = ~np.logical_or.reduce(found) if found else np.ones((SIDE, SIDE), dtype=np.bool_)
    if scene.pattern in GROUNDS:
        above = np.arange(SIDE)[:, None] < HORIZON
        grounds = [(free & above, SKY), (free & ~above, scene.pattern)]
    else:
        grounds = [(free, f"{scene.pattern} background")]
    found += [mask for mask, _ in grounds]
    names += [name for _, name in grounds]
    kept = [index for index, mask in enumerate(found) if mask.any()]
    return Panoptic(np.stack([found[index] for index in kept]), np.array([number[names[index]] for index in kept]))


@dataclass(frozen=True)
class QueryAssignment:
    """Segments that queries answer for: of one picture, or of a batch with one more axis in front.

    Attributes:
        cells: (h, w) index of the segment of each cell.
        lying: (q,) index of the thing that each query lies on, or of the segment that it owns; -1 for none.
        labels: (q,) label of that segment; that of "nothing" for none.
        owns: (q,) whether the query answers for it.
    """

    cells: torch.Tensor
    lying: torch.Tensor
    labels: torch.Tensor
    owns: torch.Tensor


def wanted_of(truth: Panoptic, *, side: int, rows: int = ROWS) -> QueryAssignment:
    """Decide which query answers for which segment of a picture.

    A thing is owned by the anchored query nearest to its middle that owns none yet, nearest pairs first; the first two
    of the free queries own the stuff, the farther one (sky, background) first.
    """
    cells = segment_map(truth, side=side)
    things = [index for index, label in enumerate(truth.labels) if label < len(vocabulary().groups)]
    points = _anchors(rows)
    lying = np.full(rows * rows + FREE_QUERIES, -1, dtype=np.int64)
    owns = np.zeros(len(lying), dtype=np.bool_)
    if things:
        far = np.linalg.norm(points[:, None] - _middles(truth.masks[things])[None], axis=2)
        under = cells[(points[:, 0] * side).astype(np.int64), (points[:, 1] * side).astype(np.int64)]
        nearest = far.argmin(axis=1)
        on_thing = under < len(things)
        lying[: len(points)] = np.where(on_thing, under, np.where(far.min(axis=1) < REACH, nearest, -1))
        for query, thing in _pairs(far):
            lying[query], owns[query] = thing, True
    stuff_at = [index for index in range(len(truth.labels)) if index not in things][:FREE_QUERIES]
    for place, segment in enumerate(stuff_at):
        lying[rows * rows + place], owns[rows * rows + place] = segment, True
    named = np.where(lying >= 0, truth.labels[lying], len(labels()))
    return QueryAssignment(*(torch.from_numpy(each) for each in (cells.astype(np.uint8), lying, named, owns)))


def _anchors(rows: int) -> npt.NDArray[np.float64]:
    """Return the places (down, across) of the anchored queries, in shares of the picture's side."""
    at = (np.arange(rows) * 4 + 2.5) / (4 * rows)
    return np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1).reshape(-1, 2)


def _middles(masks: Masks) -> npt.NDArray[np.float64]:
    """Return the middles (n, 2) of the boxes of masks, down and across, in shares of the picture's side."""
    found = []
    for axis in (2, 1):
        touched: npt.NDArray[np.bool_] = np.asarray(masks.any(axis=axis))
        first, last = touched.argmax(axis=1), SIDE - 1 - touched[:, ::-1].argmax(axis=1)
        found.append((first + last + 1) / (2 * SIDE))
    return np.stack(found, axis=1)


def _pairs(far: npt.NDArray[np.float64]) -> list[tuple[int, int]]:
    """Pair queries and things (q, n), the nearest first, each once."""
    left = far.copy()
    pairs = []
    for _ in range(min(left.shape)):
        query, thing = np.unravel_index(left.argmin(), left.shape)
        pairs.append((int(query), int(thing)))
        left[query], left[:, thing] = np.inf, np.inf
    return pairs


def stacked(wanted: Sequence[QueryAssignment]) -> QueryAssignment:
    """Put what is wanted of several pictures into one batch."""
    return QueryAssignment(
        *(torch.stack([getattr(one, each.name) for one in wanted]) for each in fields(QueryAssignment))
    )


def mirrored(truth: Panoptic) -> Panoptic:
    """Return the segments of the mirrored picture."""
    return Panoptic(np.ascontiguousarray(truth.masks[:, :, ::-1]), truth.labels)


def segment_map(truth: Panoptic, *, side: int) -> npt.NDArray[np.int64]:
    """Return the index of the segment at the middle of each of `side` × `side` cells."""
    at = ((np.arange(side) + 0.5) * SIDE / side).astype(np.int64)
    return truth.masks[:, at[:, None], at[None]].argmax(axis=0)


def thing_map(truth: Panoptic, things: int, *, side: int) -> npt.NDArray[np.int64]:
    """Return the index of the thing that covers most of each of `side` × `side` cells; -1 where none covers 30 %."""
    edges = (np.arange(side + 1) * SIDE / side).round().astype(np.int64)
    sums = np.pad(truth.masks[:things].astype(np.int64).cumsum(1).cumsum(2), ((0, 0), (1, 0), (1, 0)))
    corners = sums[:, edges[:, None], edges[None]]
    covered = corners[:, 1:, 1:] - corners[:, :-1, 1:] - corners[:, 1:, :-1] + corners[:, :-1, :-1]
    enough = covered.max(axis=0) >= 0.3 * (SIDE / side) ** 2
    return np.where(enough, covered.argmax(axis=0), -1)


def place_codes(masks: Masks) -> npt.NDArray[np.float32]:
    """Return where the middles of things are: sines and cosines (n, 12) of the middles of the boxes of masks."""
    down, across = _middles(masks).T
    angles = np.stack([2 * np.pi * wave * middle for middle in (across, down) for wave in WAVES], axis=1)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def gathered(codes: list[npt.NDArray[np.float32]], maps: list[npt.NDArray[np.int64]]) -> torch.Tensor:
    """Return the code of the thing at each place (B, h, w, 12); anything where there is none."""
    return torch.from_numpy(np.stack([own[each.clip(0, len(own) - 1)] for own, each in zip(codes, maps, strict=True)]))
