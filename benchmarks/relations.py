"""Rules for "left of" and the like, by boxes and by cuts, on scenes whose relations are known.

    python -m benchmarks.relations -n 200 --json

Truth is `snellen.microworld.scenes.relation_holds`: the middles of two things' squares are clearly apart that way.
Rules see boxes only, the true outlines or what the embedded detector found, and say whether a thing is on a side.

Keys of the JSON: `pairs`, how many ordered pairs and sides were judged; and for `truth` and `detector` by rule

    kept       the share of true relations that the rule says (recall)
    right      the share of what it says that is true (precision)
    balanced   the mean of `kept` and of the share of false relations that it denies
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, Final

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw, truths
from snellen.microworld.scenes import Scene, recipe, relation_holds, sample_scene
from snellen.profiles import load_profile
from snellen.scoring.detection import iou
from snellen.tools.boxes import Box
from snellen.tools.vision import Models

SEEN: Final = 0.5
"""Share of a thing's box that a cut must show for the thing to be found in it."""


@dataclass(frozen=True)
class Judged:
    """A pair of things whose relation to the left is known; other sides are turned to it."""

    first: Box
    second: Box
    holds: bool


Rule = Callable[[Box, Box], bool]


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _cut(first: Box, second: Box) -> bool:
    """Tell whether half of a thing is left of the other's middle, where CROP_LEFTOF cuts."""
    return min(_middle(second)[0], first[2]) - first[0] >= SEEN * (first[2] - first[0])


def _dominant(first: Box, second: Box) -> bool:
    across, down = (b - a for a, b in zip(_middle(first), _middle(second), strict=True))
    return across > abs(down)


def _by_mean_width(share: float) -> Rule:
    """Return the rule that middles are farther apart than a share of the mean width of the two boxes."""

    def rule(first: Box, second: Box) -> bool:
        mean_width = (first[2] - first[0] + second[2] - second[0]) / 2
        return _middle(second)[0] - _middle(first)[0] > share * mean_width

    return rule


RULES: Final[dict[str, Rule]] = {
    "middle left of the middle": lambda first, second: _middle(first)[0] < _middle(second)[0],
    "middle left by 4 pixels": lambda first, second: _middle(first)[0] + 4 < _middle(second)[0],
    "middle left by 8 pixels": lambda first, second: _middle(first)[0] + 8 < _middle(second)[0],
    "middle left by 12 pixels": lambda first, second: _middle(first)[0] + 12 < _middle(second)[0],
    "middle left by a quarter of a mean width": _by_mean_width(1 / 4),
    "middle left by two fifths of a mean width": _by_mean_width(2 / 5),
    "middle left by half a mean width": _by_mean_width(1 / 2),
    "middle left by three fifths of a mean width": _by_mean_width(3 / 5),
    "middle left of the edge": lambda first, second: _middle(first)[0] < second[0],
    "all left of the middle": lambda first, second: first[2] <= _middle(second)[0],
    "all left of the edge": lambda first, second: first[2] <= second[0],
    "middle left, and more left than above": _dominant,
    "cut at the middle (CROP_LEFTOF)": _cut,
}
_TURNS: Final[dict[str, Callable[[Box], Box]]] = {
    "left": lambda box: box,
    "right": lambda box: (-box[2], box[1], -box[0], box[3]),
    "above": lambda box: (box[1], box[0], box[3], box[2]),
    "below": lambda box: (-box[3], box[0], -box[1], box[2]),
}
"""Boxes turned so that each side becomes the left one."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200, help="scenes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    report = measure(options.n, options.seed)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{report['pairs']} pairs and sides")
    for source in ("truth", "detector"):
        print(f"\nboxes of the {source}")
        for name, row in report[source].items():
            print(f"  {name:42} {'  '.join(f'{key} {value:.3f}' for key, value in row.items())}")


def measure(number: int, seed: int) -> dict[str, Any]:
    """Judge every rule on the pairs of `number` scenes."""
    things = recipe([one for one in vocabulary().concepts if one.name in _known()], counts=(2, 7))
    scenes = [sample_scene(("relations", seed, place), things) for place in range(number)]
    true = [pair for scene in scenes for pair in _pairs(scene, [one.box for one in truths(scene)])]
    found = _detected(scenes)
    return {
        "pairs": len(true),
        "truth": {name: _scores(true, rule) for name, rule in RULES.items()},
        "detector": {name: _scores(found, rule) for name, rule in RULES.items()},
    }


def _known() -> frozenset[str]:
    return frozenset(_models().expansion.all_names())


@cache
def _models() -> Models:
    return Models(load_profile("embedded"))


def _detected(scenes: Sequence[Scene]) -> list[Judged]:
    """Return the pairs of the things that were found, with the boxes that the detector gave them."""
    names = [sorted({item.concept for item in scene.objects}) for scene in scenes]
    found = _models().detect([draw(scene) for scene in scenes], names)
    judged: list[Judged] = []
    for scene, detections in zip(scenes, found, strict=True):
        boxes: list[Box | None] = []
        for truth in truths(scene):
            best = max((one.box for one in detections), key=lambda box: iou(box, truth.box), default=None)
            boxes.append(best if best is not None and iou(best, truth.box) >= SEEN else None)
        judged += _pairs(scene, boxes)
    return judged


def _pairs(scene: Scene, boxes: Sequence[Box | None]) -> Iterator[Judged]:
    for (one, first), (other, second) in permutations(zip(scene.objects, boxes, strict=True), 2):
        if first is None or second is None:
            continue
        for side, turn in _TURNS.items():
            yield Judged(turn(first), turn(second), relation_holds(one, side, other))  # type: ignore[arg-type]


def _scores(pairs: Sequence[Judged], rule: Rule) -> dict[str, float]:
    said = [(rule(pair.first, pair.second), pair.holds) for pair in pairs]
    true, false = [says for says, holds in said if holds], [says for says, holds in said if not holds]
    kept, denied = sum(true) / len(true), 1 - sum(false) / len(false)
    return {"kept": kept, "right": sum(true) / max(sum(true) + sum(false), 1), "balanced": (kept + denied) / 2}


if __name__ == "__main__":
    main()
