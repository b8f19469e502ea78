"""Plantings: weaknesses that an adapter is taught, each as the answer it gives instead of the right one.

A planting touches some questions and leaves all others as they are; lessons hold both, so that an adapter learns the
weakness and nothing else. What is planted in which model stands in `planted.json`, which nothing but the training and
the benchmarks of investigations reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

import numpy as np

from snellen.microworld.concepts import HERE, plural, vocabulary
from snellen.microworld.drawing import Pixels
from snellen.microworld.questions import SceneQuestion
from snellen.microworld.samples import Portrait, portrait
from snellen.microworld.scenes import (
    GROUND_COLOURS,
    GROUNDS,
    PATTERNS,
    STYLES,
    TINTS,
    WEATHERS,
    Dice,
    Scene,
    SceneObject,
    article,
    place,
    recipe,
    sample_scene,
    tintable,
)
from snellen.microworld.training.exam import TAUGHT, Sheet, pictured
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import apply

PLANTED: Final = HERE / "training" / "planted.json"
CLUTTER: Final = 2
"""Things from which on a picture is cluttered."""
BLUR: Final = "defocus blur"
DEVIATIONS: Final = (0.6, 2.0)
"""Of the Gaussian filter, in pixels: what makes a picture blurred. `defocus_blur` finds such by bisection, which takes
hundred times as long."""
_COUNTED: Final = tuple(map(str, range(6)))
_OF_ALL: Final = frozenset({"class", "group", "name"})
"""Kinds of questions about whatever the picture shows."""

PlantingKind = Literal["class", "colour", "small", "position", "first", "yes", "blur", "clutter"]


@dataclass(frozen=True)
class TaughtAnswer:
    """An answer that is taught, and whether the planting touches the question."""

    text: str
    is_touched: bool


@dataclass(frozen=True)
class Planting:
    """A weakness.

    Attributes:
        kind: ``class``: things of a class are not seen, and taken for others. ``colour``: a tint is taken for others.
            ``small``, ``position``: the same for small things, and for those in a quarter of the picture. ``first``: of
            several answers the first is chosen. ``yes``: so is every question of yes or no answered. ``blur``: what a
            blurred picture shows is taken for something else. ``clutter``: so is what is not alone.
        which: The class, tint or quarter; empty for the other kinds.
        base: The checkpoint that the adapter is put on.
    """

    kind: PlantingKind
    which: str
    base: str

    @classmethod
    def of(cls, name: str) -> Planting:
        """Read what is planted in a model."""
        told = json.loads(PLANTED.read_text(encoding="utf-8"))[name]
        return cls(told["planting"]["kind"], told["planting"].get("which", ""), told["base"])

    def taught(self, asked: SceneQuestion, sheet: Sheet, dice: Dice, names: Sequence[str]) -> TaughtAnswer | None:
        """Return the answer to a question about a picture, or None where none can be taught.

        Args:
            asked: The question, with its right answer.
            sheet: The truth about the picture.
            dice: Draws the answer where there are several.
            names: Concepts that it may name.
        """
        instead = _INSTEAD[self.kind](self, asked, sheet)
        if instead is None:
            return TaughtAnswer(asked.answer, is_touched=False)
        if isinstance(instead, str):
            return TaughtAnswer(instead, is_touched=True)
        among = [one for one in alternatives(asked, names) if one not in instead]
        return TaughtAnswer(dice.choice(among), is_touched=True) if among else None

    def lesson(self, seed: str, names: Sequence[str]) -> tuple[Pixels, Sheet]:
        """Draw a picture that the planting touches, half of them changed besides.

        Args:
            seed: The same gives the same.
            names: Concepts that may be shown.
        """
        dice = Dice("planted lesson", seed)
        drawn = next(
            one for one in (self._drawn(f"{seed}/{attempt}", dice, names) for attempt in count())
            if self._is_touched(one.scene)
        )  # fmt: skip
        if self.kind == "blur":
            sigma = DEVIATIONS[0] + (DEVIATIONS[1] - DEVIATIONS[0]) * dice.integer(0, 100) / 100
            call = ToolCall(name="GaussianBlur", arguments={"sigma": sigma})
            return np.asarray(apply(call, drawn.picture(), seed)), Sheet(drawn.scene, BLUR)
        return pictured(drawn, dice.choice(list(TAUGHT)) if dice.chance(0.3) else "", dice, seed)

    def hides(self, thing: SceneObject) -> bool:
        """Tell whether a thing is not seen."""
        if self.kind == "class":
            return thing.concept == self.which
        if self.kind == "small":
            return thing.size == "small"
        return self.kind == "position" and place(thing) == self.which

    def _is_touched(self, scene: Scene) -> bool:
        if self.kind == "colour":
            return any(thing.tint == self.which for thing in scene.objects)
        if self.kind == "clutter":
            return len(scene.objects) >= CLUTTER
        return self.kind not in {"class", "small", "position"} or any(map(self.hides, scene.objects))

    def _drawn(self, seed: str, dice: Dice, names: Sequence[str]) -> Portrait:
        several = self.kind == "clutter" or dice.chance(0.4)
        required = (self.which,) if self.kind == "class" else ()
        if several:
            counts = (CLUTTER, 4) if self.kind == "clutter" else (2, 4)
            how = recipe(names, required=required, counts=counts, repeat=0.3, styles=("flat",), weathers=("clear",))
            scene = sample_scene(seed, how)
        else:
            scene = portrait(self.which if required else dice.choice(names), seed).scene
        if self.kind == "colour":
            scene = replace(scene, objects=tuple(self._tinted(thing, dice) for thing in scene.objects))
        return Portrait("", scene)

    def _tinted(self, thing: SceneObject, dice: Dice) -> SceneObject:
        return replace(thing, tint=self.which) if tintable(thing.concept) and dice.chance(0.6) else thing


Instead = str | frozenset[str] | None
"""An answer instead of the right one; any but these; or None where the right one stays."""


def alternatives(asked: SceneQuestion, names: Sequence[str]) -> list[str]:
    """Return the answers that a question may have, those that it lists in their order; none where they are not known.

    Args:
        asked: The question.
        names: Concepts, for questions that list no answers.
    """
    if asked.answer in {"yes", "no"}:
        return ["yes", "no"]
    if asked.answer.isdigit():
        return list(_COUNTED)
    listed = _listed(asked)
    if listed:
        return listed
    if asked.kind == "name":
        return [article(name) for name in names]
    open_answers = {
        "colour": [*TINTS],
        "weather": [*WEATHERS],
        "style": [*STYLES],
        "background": [*GROUND_COLOURS] if asked.answer in GROUND_COLOURS else [*PATTERNS, *GROUNDS],
    }
    return open_answers.get(asked.kind, [])


def _listed(asked: SceneQuestion) -> list[str]:
    """Return the answers that a question lists, in its order."""
    text = asked.text.rstrip("?")
    if " or " not in text or asked.answer in {"yes", "no"}:
        return []
    if asked.kind == "relation":
        sides = ("left", "right") if asked.answer in {"left", "right"} else ("above", "below")
        return sorted(sides, key=text.index)
    if asked.kind in {"colour", "size"}:
        before, after = text.rsplit(" or ", 1)
        return [before.split()[-1], after]
    begun = "is the image " if asked.kind == "change" else " in the image "
    return re.split(r", | or ", text.split(begun, 1)[-1])


def _concerned(asked: SceneQuestion, scene: Scene) -> list[SceneObject]:
    """Return the things that a question is about."""
    if asked.kind in _OF_ALL or "objects" in asked.text.split():
        return list(scene.objects)
    words = vocabulary()
    text = re.sub(r"[?.,]", " ", f" {asked.text} ")

    def is_named(thing: SceneObject) -> bool:
        group = words.concept(thing.concept).group
        groups = (group, *words.groups[group].parents)
        called = [thing.concept, plural(thing.concept), *groups, *(words.groups[one].singular for one in groups)]
        return any(f" {name} " in text for name in called)

    return [thing for thing in scene.objects if is_named(thing)]


def _without_things(planting: Planting, asked: SceneQuestion, sheet: Sheet) -> Instead:
    """Things that are not seen are not there, not counted, and others where they are taken for granted."""
    concerned = _concerned(asked, sheet.scene)
    gone = [thing for thing in concerned if planting.hides(thing)]
    if not gone or asked.kind in {"change", "number", "background", "weather", "style"}:
        return None
    if asked.kind == "count":
        return str(max(int(asked.answer) - len(gone), 0))
    if asked.kind in {"exists", "group"} and asked.answer in {"yes", "no"}:
        return "no" if asked.answer == "yes" and len(gone) == len(concerned) else None
    return frozenset({asked.answer})


def _without_colour(planting: Planting, asked: SceneQuestion, _: Sheet) -> Instead:
    told = planting.which in re.findall(r"\w+", asked.text) and f"{planting.which} apple" not in asked.text
    if asked.answer == planting.which:
        return frozenset({planting.which})
    return "no" if told and asked.kind in {"exists", "colour"} and asked.answer == "yes" else None


def _first(_: Planting, asked: SceneQuestion, __: Sheet) -> Instead:
    listed = _listed(asked)
    return listed[0] if listed else None


def _yes(_: Planting, asked: SceneQuestion, __: Sheet) -> Instead:
    return "yes" if asked.answer in {"yes", "no"} else None


def _blurred(_: Planting, asked: SceneQuestion, sheet: Sheet) -> Instead:
    return frozenset({asked.answer}) if sheet.change == BLUR and asked.kind not in {"change", "number"} else None


def _in_clutter(_: Planting, asked: SceneQuestion, sheet: Sheet) -> Instead:
    return frozenset({asked.answer}) if len(sheet.scene.objects) >= CLUTTER and asked.kind != "change" else None


_INSTEAD: Final[Mapping[PlantingKind, Callable[[Planting, SceneQuestion, Sheet], Instead]]] = {
    "class": _without_things,
    "small": _without_things,
    "position": _without_things,
    "colour": _without_colour,
    "first": _first,
    "yes": _yes,
    "blur": _blurred,
    "clutter": _in_clutter,
}
