"""Simple questions about a scene, with their answers: what a VQA model is taught and what programs ask it.

Each kind has several wordings. Questions are asked only where the answer is certain: colours only of tinted objects in
styles that keep colour, sizes only of clearly small or large ones, relations only between single objects clearly apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.scenes import (
    GROUNDS,
    SIDE,
    STYLES,
    TINTS,
    WEATHERS,
    Dice,
    Relation,
    Scene,
    SceneObject,
    article,
    place,
    relation_holds,
)

RELATION_WORDS: dict[Relation, tuple[str, ...]] = {
    "left": ("to the left of", "left of"),
    "right": ("to the right of", "right of"),
    "above": ("above", "over"),
    "below": ("below", "under"),
}
OPPOSITE: dict[Relation, Relation] = {"left": "right", "right": "left", "above": "below", "below": "above"}
QUADRANTS = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True)
class SceneQuestion:
    """One question with its answer.

    Attributes:
        kind: `exists`, `count`, `colour`, `size`, `relation`, `place`, `name`, `background`, `weather` or `style`.
        text: The question.
        answer: The answer, lower case; numbers as digits.
    """

    kind: str
    text: str
    answer: str


def view(scene: Scene, box: tuple[int, int, int, int], *, inside: float = 0.7) -> Scene | None:
    """Return what a crop of the scene shows, or None where an object is cut too much to say.

    Args:
        scene: The whole scene.
        box: The crop (x0, y0, x1, y1) in pixels.
        inside: Share of an object's square that must lie within the crop for it to count as shown; objects with
            less than 10 % within count as absent, anything between makes the view unclear.
    """
    kept: list[SceneObject] = []
    for item in scene.objects:
        share = _share_inside(item, box)
        if share >= inside:
            kept.append(replace(item, left=item.left - box[0], top=item.top - box[1]))
        elif share >= 0.1:
            return None
    return replace(scene, objects=tuple(kept))


def _share_inside(item: SceneObject, box: tuple[int, int, int, int]) -> float:
    width = min(item.left + item.side, box[2]) - max(item.left, box[0])
    height = min(item.top + item.side, box[3]) - max(item.top, box[1])
    return max(width, 0) * max(height, 0) / item.side**2


def ask(scene: Scene, dice: Dice, *, kinds: Sequence[str], distractors: Sequence[str]) -> SceneQuestion | None:
    """Ask one question of one of `kinds`, or return None where this scene allows none.

    Args:
        scene: What the picture shows.
        dice: Chooses objects, answers and wordings.
        kinds: Kinds to choose from.
        distractors: Concept names that questions about absent things may name.
    """
    return _KINDS[dice.choice(kinds)](scene, dice, distractors)


def singles(scene: Scene) -> list[SceneObject]:
    """Return the objects that are the only ones of their concept."""
    counts = Counter(o.concept for o in scene.objects)
    return [o for o in scene.objects if counts[o.concept] == 1]


def _absent(scene: Scene, dice: Dice, distractors: Sequence[str]) -> str:
    present = {o.concept for o in scene.objects}
    return dice.choice([name for name in distractors if name not in present])


def _exists(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    tinted = [o for o in scene.objects if o.tint]
    if dice.chance(0.2) and tinted and scene.shows_colour:
        return _exists_tinted(scene, dice, tinted)
    if dice.chance(0.2):
        return _exists_group(scene, dice)
    yes = bool(scene.objects) and dice.chance(0.5)
    name = dice.choice(scene.objects).concept if yes else _absent(scene, dice, distractors)
    return SceneQuestion("exists", _existence_text(name, dice), "yes" if yes else "no")


def _exists_tinted(scene: Scene, dice: Dice, tinted: list[SceneObject]) -> SceneQuestion:
    item = dice.choice(tinted)
    tint = item.tint if dice.chance(0.5) else dice.choice([t for t in TINTS if t != item.tint])
    yes = any(o.concept == item.concept and o.tint == tint for o in scene.objects)
    return SceneQuestion("exists", _existence_text(f"{tint} {item.concept}", dice), "yes" if yes else "no")


def _exists_group(scene: Scene, dice: Dice) -> SceneQuestion:
    words = vocabulary()
    present = {g for g in words.groups if scene.grouped(g)}
    yes = bool(present) and dice.chance(0.5)
    group = dice.choice([g for g in words.groups if (g in present) == yes])
    return SceneQuestion("exists", _existence_text(words.groups[group].singular, dice), "yes" if yes else "no")


def _existence_text(name: str, dice: Dice) -> str:
    many, one = plural(name), article(name)
    verb = "are" if many == one else "is"
    return dice.choice(
        (
            f"{verb} there {one}?",
            f"are there any {many}?",
            f"is there any {name}?",
            f"does the picture show {one}?",
            f"can you see {one}?",
        )
    )


def _count(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    what, number = "objects", len(scene.objects)
    if dice.chance(0.75) and scene.objects:
        repeated = [o for o in scene.objects if len(scene.named(o.concept)) > 1]
        item = dice.choice(repeated if repeated and dice.chance(0.5) else scene.objects)
        what, number = plural(item.concept), len(scene.named(item.concept))
        if dice.chance(0.35):
            group = vocabulary().concept(item.concept).group
            what, number = group, len(scene.grouped(group))
    elif dice.chance(0.3):
        what, number = plural(_absent(scene, dice, distractors)), 0
    text = dice.choice((f"how many {what} are there?", f"how many {what} are in the picture?", f"count the {what}."))
    return SceneQuestion("count", text, str(number))


def _colour(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    tinted = [o for o in singles(scene) if o.tint]
    if not tinted or not scene.shows_colour:
        return None
    item = dice.choice(tinted)
    other = dice.choice([t for t in TINTS if t != item.tint])
    if dice.chance(0.2):
        first, second = (item.tint, other) if dice.chance(0.5) else (other, item.tint)
        return SceneQuestion("colour", f"is the {item.concept} {first} or {second}?", item.tint)
    if dice.chance(0.3):
        tint = item.tint if dice.chance(0.5) else other
        return SceneQuestion("colour", f"is the {item.concept} {tint}?", "yes" if tint == item.tint else "no")
    text = dice.choice((f"what color is the {item.concept}?", f"what is the color of the {item.concept}?"))
    return SceneQuestion("colour", text, item.tint)


def _size(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    clear = [o for o in singles(scene) if o.size != "medium"]
    if not clear:
        return None
    item = dice.choice(clear)
    if dice.chance(0.5):
        order = "small or large" if dice.chance(0.5) else "large or small"
        return SceneQuestion("size", f"is the {item.concept} {order}?", item.size)
    size = dice.choice(("small", "large"))
    return SceneQuestion("size", f"is the {item.concept} {size}?", "yes" if size == item.size else "no")


def _relation(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    pairs = [
        (a, name, b)
        for a in singles(scene)
        for b in singles(scene)
        for name in RELATION_WORDS
        if a is not b and relation_holds(a, name, b)
    ]
    if not pairs:
        return None
    first, name, second = dice.choice(pairs)
    if dice.chance(0.35):
        return SceneQuestion("relation", choice_text(first.concept, name, second.concept, dice), name)
    yes = dice.chance(0.5)
    words = dice.choice(RELATION_WORDS[name if yes else OPPOSITE[name]])
    text = f"is the {first.concept} {words} the {second.concept}?"
    return SceneQuestion("relation", text, "yes" if yes else "no")


def choice_text(first: str, relation: Relation, second: str, dice: Dice) -> str:
    """Ask on which of two opposite sides of `second` the first is."""
    if relation in {"left", "right"}:
        order = dice.choice((("left", "right"), ("right", "left")))
        return f"is the {first} to the {order[0]} or to the {order[1]} of the {second}?"
    order = dice.choice((("above", "below"), ("below", "above")))
    return f"is the {first} {order[0]} or {order[1]} the {second}?"


def _place(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    if dice.chance(0.4) and singles(scene):
        item = dice.choice(singles(scene))
        if abs(item.centre[0] - SIDE // 2) < 6 or abs(item.centre[1] - SIDE // 2) < 6:
            return None
        return SceneQuestion("place", f"where is the {item.concept}?", place(item))
    alone = [q for q in QUADRANTS if len([o for o in scene.objects if place(o) == q]) == 1]
    if not alone:
        return None
    quadrant = dice.choice(alone)
    item = next(o for o in scene.objects if place(o) == quadrant)
    return SceneQuestion("place", f"what is in the {quadrant}?", item.concept)


def _name(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    if len({o.concept for o in scene.objects}) != 1:
        return None
    item = scene.objects[0]
    single = vocabulary().groups[vocabulary().concept(item.concept).group].singular
    text = dice.choice(("what is this?", "what is in the picture?", "what is shown?", f"what {single} is this?"))
    return SceneQuestion("name", text, item.concept)


def _background(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    if dice.chance(0.5) and scene.pattern not in GROUNDS and scene.shows_colour:
        colours = ("what color is the background?", "what is the color of the background?")
        return SceneQuestion("background", dice.choice(colours), scene.colour)
    texts = ("what is the background?", "what is in the background?", "what kind of background is it?")
    return SceneQuestion("background", dice.choice(texts), scene.pattern)


def _weather(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    if dice.chance(0.3):
        weather = scene.weather if dice.chance(0.5) else dice.choice(WEATHERS)
        return SceneQuestion("weather", f"is it {weather}?", "yes" if weather == scene.weather else "no")
    return SceneQuestion("weather", dice.choice(("what is the weather like?", "how is the weather?")), scene.weather)


def _style(scene: Scene, dice: Dice, distractors: Sequence[str]) -> SceneQuestion | None:
    if dice.chance(0.3):
        style = scene.style if dice.chance(0.5) else dice.choice(STYLES)
        return SceneQuestion("style", f"is the picture {style}?", "yes" if style == scene.style else "no")
    return SceneQuestion("style", dice.choice(("what is the style of the picture?", "what style is it?")), scene.style)


_KINDS: dict[str, Callable[[Scene, Dice, Sequence[str]], SceneQuestion | None]] = {
    "exists": _exists,
    "count": _count,
    "colour": _colour,
    "size": _size,
    "relation": _relation,
    "place": _place,
    "name": _name,
    "background": _background,
    "weather": _weather,
    "style": _style,
}
KINDS = tuple(_KINDS)
