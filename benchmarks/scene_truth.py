"""Whether a question and its answer are right by the scene itself, without tuples, programs or whoever reads them.

The wordings of `snellen.reasoning.language.scene_questions` are parsed by patterns of their own, and looked up in
positions, sizes and tints of the drawn objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.scenes import Scene, SceneObject, place, relation_holds

_SIDES: Final = {"to the left of": "left", "to the right of": "right", "above": "above", "below": "below"}
_SIDE: Final = "|".join(_SIDES)
_PLACE: Final = "(?:top|bottom) (?:left|right)"


def right(scene: Scene, question: str, answer: str) -> bool:
    """Tell whether the question is clear in this scene, and the answer true and complete.

    Raises:
        ValueError: No pattern fits the question.
    """
    asked = question.lower().rstrip("?.").strip()
    told = answer.lower().rstrip(".").strip()
    for pattern, check in _CHECKS:
        match = re.fullmatch(pattern, asked)
        if match:
            return check(scene, told, *match.groups())
    raise ValueError(question)


def meant(scene: Scene, phrase: str) -> list[SceneObject]:
    """Return the objects that a definite phrase may mean: "red dog", "dog in the top left"."""
    match = re.fullmatch(rf"(?:the )?(.+?)(?: in the ({_PLACE}))?(?: ({_SIDE}) the (.+))?", phrase.strip())
    if match is None:
        return []
    words, where, side, beside = match.groups()
    found = [item for item in scene.objects if _called(item, words, scene)]
    if where:
        found = [item for item in found if place(item) == where]
    if side:
        others = meant(scene, beside)
        found = [item for item in found if any(relation_holds(item, _SIDES[side], other) for other in others)]  # type: ignore[arg-type]
    return found


def _called(item: SceneObject, words: str, scene: Scene) -> bool:
    tint = item.tint if scene.shows_colour else ""
    names = {item.concept, f"{item.size} {item.concept}", *([f"{tint} {item.concept}"] if tint else [])}
    return words in names


def _one(scene: Scene, phrase: str) -> SceneObject | None:
    found = meant(scene, phrase)
    return found[0] if len(found) == 1 else None


def _color(scene: Scene, told: str, phrase: str) -> bool:
    if phrase == "background":
        return scene.shows_colour and told == f"the background is {scene.colour}"
    item = _one(scene, phrase)
    return item is not None and scene.shows_colour and bool(item.tint) and told.endswith(f" {item.tint}")


def _size(scene: Scene, told: str, phrase: str) -> bool:
    item = _one(scene, phrase)
    return item is not None and told.endswith(f" {item.size}")


def _place(scene: Scene, told: str, phrase: str) -> bool:
    item = _one(scene, phrase)
    return item is not None and told.endswith(f"in the {place(item)} of the picture")


def _count(scene: Scene, told: str, names: str) -> bool:
    number = sum(plural(item.concept) == names for item in scene.objects)
    return number > 0 and re.search(rf"\b{number}\b", told) is not None


def _between(scene: Scene, told: str, one: str, other: str) -> bool:
    first, second = _one(scene, one), _one(scene, other)
    if first is None or second is None:
        return False
    return {side for side in _SIDES if re.search(rf"\b{side} the {re.escape(other)}", told)} == {
        side
        for side, name in _SIDES.items()
        if relation_holds(first, name, second)  # type: ignore[arg-type]
    }


def _things(scene: Scene, told: str, side: str, phrase: str) -> bool:
    target = _one(scene, phrase)
    if target is None:
        return False
    there = [item for item in scene.objects if item is not target and relation_holds(item, _SIDES[side], target)]  # type: ignore[arg-type]
    said = re.split(rf" (?:is|are) {side} ", told)[0]
    return _listed(said, {item.concept for item in there})


def _listed(said: str, names: set[str]) -> bool:
    """Whether a list names exactly these things."""
    rest = said
    for name in sorted(names, key=len, reverse=True):
        if not re.search(rf"\b{re.escape(name)}\b", rest):
            return False
        rest = re.sub(rf"\b{re.escape(name)}\b", "", rest)
    return bool(names) and not re.sub(r"\b(?:an?|the|and|i can see)\b|[,\s]", "", rest)


def _in_place(scene: Scene, told: str, where: str) -> bool:
    names = {item.concept for item in scene.objects if place(item) == where}
    return _listed(re.split(r" (?:is|are) in the ", told)[0], names)


def _which(scene: Scene, told: str, value: str) -> bool:
    names = {
        item.concept for item in scene.objects
        if item.size == value or (scene.shows_colour and item.tint == value)
    }  # fmt: skip
    return _listed(re.split(rf" (?:is|are) {value}$", told)[0], names)


def _members(scene: Scene, told: str, group: str) -> bool:
    words = vocabulary()
    names = {
        item.concept for item in scene.objects
        if group in _plurals(words.groups[words.concept(item.concept).group].singular)
    }  # fmt: skip
    return _listed(told, names)


def _plurals(singular: str) -> set[str]:
    return {plural(singular), re.sub(r"^(\w+) of ", r"\1s of ", singular)}


def _whether_side(scene: Scene, told: str, one: str, side: str, other: str) -> bool:
    first, second = _one(scene, one), _one(scene, other)
    if first is None or second is None:
        return False
    return told.startswith("yes" if relation_holds(first, _SIDES[side], second) else "no")  # type: ignore[arg-type]


def _whether(scene: Scene, told: str, phrase: str, value: str) -> bool:
    item = _one(scene, phrase)
    if item is None or (value not in {"small", "medium", "large"} and not scene.shows_colour):
        return False
    return told.startswith("yes" if value in {item.size, item.tint} else "no")


def _described(scene: Scene, told: str, phrase: str) -> bool:
    item = _one(scene, phrase)
    tint = item.tint if item is not None and scene.shows_colour else ""
    if item is None:
        return False
    return all(re.search(rf"\b{word}\b", told.split(item.concept, 1)[-1]) for word in (item.size, tint, place(item)))


def _setting(name: str) -> Callable[[Scene, str], bool]:
    return lambda scene, told: told == f"the {'background' if name == 'pattern' else name} is {getattr(scene, name)}"


_CHECKS: Final[Sequence[tuple[str, Callable[..., bool]]]] = (
    (r"what is the weather like|how is the weather", _setting("weather")),
    (r"what is the background|what kind of background is it", _setting("pattern")),
    (r"what style is it|what is the style of the picture", _setting("style")),
    (r"(?:what color (?:is|are)|what is the color of) (?:the )?(.+)", _color),
    (r"which color does the (.+) have", _color),
    (r"how big (?:is|are) the (.+)", _size),
    (r"(?:is|are) the (.+) small, medium or large", _size),
    (r"where (?:is|are) the (.+) in relation to the (.+)", _between),
    (r"where (?:is|are) the (.+), seen from the (.+)", _between),
    (r"where (?:in the picture )?(?:is|are) the (.+)", _place),
    (r"how many (.+?) (?:are there|can you see)|", _count),
    (r"what is the number of (.+)", _count),
    (rf"what is in the ({_PLACE}) of the picture", _in_place),
    (r"which thing in the picture is (.+)", _which),
    (rf"(?:what is|what can you see|name what is) ({_SIDE}) the (.+)", _things),
    (r"which (.+) can you see", _members),
    (rf"(?:is|are) the (.+?) ({_SIDE}) the (.+)", _whether_side),
    (r"(?:is|are) the (.+) (\w+)", _whether),
    (r"(?:can you describe|describe) the (.+)", _described),
    (r"what does the (.+) look like", _described),
)
