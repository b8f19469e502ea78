"""Truth about judges: scores of pairs that we make ourselves, in both orders."""

from __future__ import annotations

from typing import Final

from PIL import Image, ImageEnhance, ImageFilter

from benchmarks.outside.pictures import scene_of
from snellen.datasets.pairs import TEMPLATES, Pair, asked
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Dice
from snellen.models.under_test import ModelUnderTest, Question, rate

JUDGED: Final = ("judge/order", "judge/symmetry")
ORIGINALS: Final = 2
"""Originals of a block, each with three pairs in both orders."""
NEAR: Final = 1.0
"""Points between two scores that count as alike (PairBench's ε)."""
_CHANGES: Final = {
    "R": lambda picture, dice: picture.rotate(dice.choice((-25, -15, 15, 25)), Image.Resampling.BICUBIC),
    "GB": lambda picture, dice: picture.filter(ImageFilter.GaussianBlur(dice.choice((1.5, 2.0, 2.5)))),
    "CJ": lambda picture, dice: ImageEnhance.Color(picture).enhance(dice.choice((0.2, 2.5))),
}
"""Ours, by the split of PairBench that says which change it is."""


def judged(judge: ModelUnderTest, name: str, number: int) -> list[float]:
    """Return how good a judge's scores of each original of a block are.

    Args:
        judge: It reads two pictures.
        name: ``judge/order``: the mean over the three comparisons of pairs that differ in likeness, 1 where the more
            alike score higher, -1 where they score lower. ``judge/symmetry``: the share of pairs that are scored alike
            both ways round.
        number: Of the block.
    """
    return [_judged(judge, name, f"{number}/{place}") for place in range(ORIGINALS)]


def _judged(judge: ModelUnderTest, name: str, seed: str) -> float:
    dice = Dice("outside judge", seed)
    names = [concept.name for concept in vocabulary().share("known")]
    one, other = (draw(scene_of(f"judge/{seed}/{place}", [dice.choice(names)])) for place in range(2))
    split = dice.choice(tuple(_CHANGES))
    seconds = (one.resize((116, 116)), _CHANGES[split](one, dice), other)
    text = asked(
        Pair(
            id="1", split=split, kind="transformed", original="1", first="1.png", second="2.png", digests=[],
            template=dice.integer(0, TEMPLATES - 1),
        ),
        "sensitive",
    ).text  # fmt: skip
    questions = [Question(both, text) for second in seconds for both in ((one, second), (second, one))]
    scores = [score or 0.0 for score in rate(judge, questions)]
    if name == "judge/symmetry":
        return sum(abs(scores[place] - scores[place + 1]) <= NEAR for place in (0, 2, 4)) / 3
    same, changed, apart = ((scores[place] + scores[place + 1]) / 2 for place in (0, 2, 4))
    return sum((high > low) - (high < low) for high, low in ((same, changed), (changed, apart), (same, apart))) / 3
