"""Questions about clean scenes of one to six known things: what is there, on which side, beside what.

The scenes are flat and clear. A question is asked only where the scene leaves no doubt, and its right answer comes from
the drawn squares and outlines alone, not from tools:

    existence   a thing that is there, or another one of its group that is not
    side        two things, one clearly on that side of the other, or on the opposite one
    beside      everything on a side of a thing, where every other thing is clearly on that side or clearly not
    nearest     the thing nearest to another one, nearer than the next by some pixels
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import truths
from snellen.microworld.scenes import Dice, Relation, Scene, SceneObject, recipe, relation_holds, sample_scene
from snellen.tools.boxes import distance

THINGS: Final = (1, 6)
CLEARLY_NOT: Final = 8
"""Pixels between two middles up to which nobody would say that one thing is on that side of the other."""
CLEARLY: Final = 24
"""Pixels from which on everybody would."""
NEARER: Final = 6
"""Pixels by which the nearest thing must be nearer than the next."""
TOOLS: Final[dict[Relation, str]] = {"left": "LEFT_OF", "right": "RIGHT_OF", "above": "ABOVE", "below": "BELOW"}
_OPPOSITE: Final[dict[Relation, Relation]] = {"left": "right", "right": "left", "above": "below", "below": "above"}
RELATIONS: Final = ("side", "beside", "nearest")


@dataclass(frozen=True)
class SceneProgram:
    """A question about a scene, as a program with its right answer.

    Attributes:
        kind: ``existence``, ``side``, ``beside`` or ``nearest``.
        scene: What it is about.
        program: What asks.
        answers: The right answers, sorted: a list of names, or one text.
    """

    kind: str
    scene: Scene
    program: str
    answers: tuple[str, ...]


def sample_questions(known: Sequence[str], *, scenes: int, seed: int) -> list[SceneProgram]:
    """Draw scenes of known things, and ask of each what can be asked; at most one question of a kind, two of existence.

    Args:
        known: Names of the things.
        scenes: How many scenes.
        seed: What they are drawn from.
    """
    drawn = recipe(known, counts=THINGS, styles=("flat",), weathers=("clear",))
    questions: list[SceneProgram] = []
    for number in range(scenes):
        scene = sample_scene(("composed", seed, number), drawn)
        dice = Dice("composed question", seed, number)
        questions += _existence(scene, known, dice)
        for each in (_sides(scene), _beside(scene), _nearest(scene)):
            questions += dice.sample(list(each), 1)
    return questions


def _existence(scene: Scene, known: Sequence[str], dice: Dice) -> Iterator[SceneProgram]:
    words = vocabulary()
    there = dice.choice(scene.objects).concept
    group = words.concept(there).group
    absent = [name for name in known if words.concept(name).group == group and not scene.named(name)]
    for name, answer in ((there, "yes"), *((other, "no") for other in dice.sample(absent, 1))):
        yield _asked("existence", scene, [answer], f"BOX0=LOC(image=IMAGE,object='{name}')", _whether("BOX0"))


def _sides(scene: Scene) -> Iterator[SceneProgram]:
    for one in _single(scene):
        for other in _single(scene):
            for side in TOOLS:
                if one is other or not (
                    relation_holds(one, side, other) or relation_holds(one, _OPPOSITE[side], other)
                ):
                    continue
                yield _asked(
                    "side",
                    scene,
                    ["yes" if relation_holds(one, side, other) else "no"],
                    f"BOX0=LOC(image=IMAGE,object='{one.concept}')",
                    f"BOX1=LOC(image=IMAGE,object='{other.concept}')",
                    f"BOX2={TOOLS[side]}(object=BOX0,of=BOX1)",
                    _whether("BOX2"),
                )


def _beside(scene: Scene) -> Iterator[SceneProgram]:
    for one in _single(scene):
        for side in TOOLS:
            apart = {item: _distance(item, side, one) for item in scene.objects if item is not one}
            there = [item.concept for item, pixels in apart.items() if pixels >= CLEARLY]
            doubtful = any(CLEARLY_NOT < pixels < CLEARLY for pixels in apart.values())
            if there and not doubtful:
                yield _related("beside", scene, there, f"{TOOLS[side]}(object=BOX1,of=BOX0)", one.concept)


def _nearest(scene: Scene) -> Iterator[SceneProgram]:
    boxes = dict(zip(scene.objects, (truth.box for truth in truths(scene)), strict=True))
    for one in _single(scene):
        near = sorted((distance(boxes[one], box), item.concept) for item, box in boxes.items() if item is not one)
        if len(near) == 1 or (len(near) > 1 and near[1][0] - near[0][0] >= NEARER):
            yield _related("nearest", scene, [near[0][1]], "NEAREST(object=BOX1,of=BOX0)", one.concept)


def _single(scene: Scene) -> list[SceneObject]:
    """Return the things of which there is one only, so that their name means them."""
    return [item for item in scene.objects if len(scene.named(item.concept)) == 1]


def _distance(item: SceneObject, side: Relation, other: SceneObject) -> int:
    """Return by how many pixels the middle of a thing is on a side of another's; negative on the opposite side."""
    (x, y), (a, b) = item.centre, other.centre
    return {"left": a - x, "right": x - a, "above": b - y, "below": y - b}[side]


def _related(kind: str, scene: Scene, names: Sequence[str], relation: str, reference: str) -> SceneProgram:
    return _asked(
        kind,
        scene,
        names,
        f"BOX0=LOC(image=IMAGE,object='{reference}')",
        "BOX1=THINGS(image=IMAGE)",
        f"BOX2={relation}",
        "FINAL_RESULT=RESULT(var=BOX2.label)",
    )


def _whether(regions: str) -> str:
    return f"FINAL_RESULT=RESULT(var='yes' if len({regions}) > 0 else 'no')"


def _asked(kind: str, scene: Scene, answers: Sequence[str], *steps: str) -> SceneProgram:
    return SceneProgram(kind, scene, "\n".join(steps), tuple(sorted(answers)))
