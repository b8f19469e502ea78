"""Boxes ``(x0, y0, x1, y1)`` in pixels, ends exclusive: how far apart they are, how much of one lies in another."""

from __future__ import annotations

import math
from typing import TypeAlias

Box: TypeAlias = tuple[int, int, int, int]


def distance(first: Box, second: Box) -> float:
    """Return the pixels between the edges of two boxes, the shortest way; 0 where they touch or overlap."""
    across = max(first[0] - second[2], second[0] - first[2], 0)
    down = max(first[1] - second[3], second[1] - first[3], 0)
    return math.hypot(across, down)


def shared(first: Box, second: Box) -> int:
    """Return the pixels that two boxes have in common."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    return max(width, 0) * max(height, 0)


def share_inside(part: Box, whole: Box) -> float:
    """Return the share in [0, 1] of ``part`` that lies in ``whole``; 0 for an empty ``part``."""
    area = max(part[2] - part[0], 0) * max(part[3] - part[1], 0)
    return shared(part, whole) / area if area else 0.0
