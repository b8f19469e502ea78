"""Scenes: the one description from which picture, boxes, masks, captions, relations and graph are derived.

A scene is data. `sample_scene` draws one from a seed; `snellen.microworld.drawing.draw` makes its picture. Only
`random.Random.random` (whose stream Python guarantees) feeds the sampling, and only integers the drawing, so that
a seed gives the same bytes on any machine.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeVar

from snellen.microworld.concepts import Concept, plural, vocabulary

SIDE = 128
MAX_OBJECTS = 7

Size = Literal["small", "medium", "large"]
Relation = Literal["left", "right", "above", "below"]

SIZES: dict[Size, tuple[int, int]] = {"small": (26, 31), "medium": (36, 44), "large": (52, 62)}
TINTS: dict[str, tuple[int, int, int]] = {
    "red": (235, 45, 45), "green": (40, 190, 70), "blue": (50, 100, 245), "yellow": (250, 215, 30),
    "purple": (170, 60, 220),
}  # fmt: skip
GROUND_COLOURS: dict[str, tuple[int, int, int]] = {
    "white": (250, 250, 250), "gray": (165, 168, 172), "blue": (165, 205, 245), "green": (175, 225, 170),
    "yellow": (250, 238, 160), "pink": (250, 195, 210), "purple": (208, 186, 240), "orange": (250, 208, 155),
}  # fmt: skip
PATTERNS = ("plain", "gradient", "striped", "checked", "dotted")
GROUNDS = ("grass", "sand", "water", "road")
STYLES = ("flat", "sketch", "pastel", "mosaic", "embossed", "grayscale", "posterized")
"""Styles of scenes, and of all that the shipped checkpoints were trained on."""
FURTHER_STYLES = ("cartoon", "plushie", "graffiti", "embroidery", "origami", "sculpture", "tattoo", "tiger stripes")
"""Styles that scenes are only given where they are asked for."""
WEATHERS = ("clear", "sunny", "rainy", "snowy", "foggy")
COLOURLESS_STYLES = frozenset({"sketch", "grayscale", "embossed", "sculpture", "tattoo", "tiger stripes"})
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven")
# Apart by at least this many pixels, centre to centre, before a relation counts as visible.
CLEARLY = 16

T = TypeVar("T")


class Dice:
    """Choices from a seed, stable over Python versions (only `Random.random` is guaranteed to be)."""

    def __init__(self, *seed: object) -> None:
        self._random = random.Random("/".join(map(str, seed)))

    def chance(self, probability: float) -> bool:
        """Return true with this probability."""
        return self._random.random() < probability

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """Return one of `options`.

        Raises:
            IndexError: If there are none.
        """
        return options[int(self._random.random() * len(options))]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different positions of `options` in random order (all of them if there are fewer)."""
        left = list(options)
        return [left.pop(int(self._random.random() * len(left))) for _ in range(min(count, len(left)))]


@dataclass(frozen=True)
class SceneObject:
    """One thing in a scene; its picture fills the square `box` as far as its outline allows.

    Attributes:
        concept: Name of the concept.
        file: The picture of it that was used.
        left: Left edge of the square, pixels.
        top: Upper edge of the square, pixels.
        side: Side of the square, pixels.
        size: The word for that side.
        tint: A colour name, or "" where it has its own colours.
        mirrored: Whether left and right are swapped.
    """

    concept: str
    file: str
    left: int
    top: int
    side: int
    size: Size
    tint: str
    mirrored: bool

    @property
    def centre(self) -> tuple[int, int]:
        """Centre of the square, x and y in pixels."""
        return self.left + self.side // 2, self.top + self.side // 2


@dataclass(frozen=True)
class Scene:
    """The whole truth about one picture.

    Attributes:
        seed: What it was drawn from; noise of style and weather follows it.
        pattern: One of `PATTERNS` or of `GROUNDS`.
        colour: A key of `GROUND_COLOURS`; "" on grounds, which have their own.
        style: One of `STYLES`.
        weather: One of `WEATHERS`.
        objects: One to seven objects that do not overlap.
    """

    seed: str
    pattern: str
    colour: str
    style: str
    weather: str
    objects: tuple[SceneObject, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the scene as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Scene:
        """Read back what `to_json` wrote."""
        return cls(**{**data, "objects": tuple(SceneObject(**item) for item in data["objects"])})

    def named(self, concept: str) -> tuple[SceneObject, ...]:
        """Return the objects of one concept."""
        return tuple(o for o in self.objects if o.concept == concept)

    def grouped(self, group: str) -> tuple[SceneObject, ...]:
        """Return the objects under a hypernym (`animals`)."""
        words = vocabulary()
        return tuple(o for o in self.objects if words.belongs(words.concept(o.concept), group))

    @property
    def shows_colour(self) -> bool:
        """True if colours can be told: neither the style nor the fog takes them away."""
        return self.style not in COLOURLESS_STYLES


def relation_holds(first: SceneObject, relation: Relation, second: SceneObject) -> bool:
    """Tell whether `first` is left of, right of, above or below `second`, by their centres and clearly so."""
    (ax, ay), (bx, by) = first.centre, second.centre
    distance = {"left": bx - ax, "right": ax - bx, "above": by - ay, "below": ay - by}[relation]
    return distance >= CLEARLY


def relations(scene: Scene) -> list[tuple[int, Relation, int]]:
    """Return every clear relation as (index of the first object, relation, index of the second)."""
    names: tuple[Relation, ...] = ("left", "right", "above", "below")
    return [
        (i, name, j)
        for i, a in enumerate(scene.objects)
        for j, b in enumerate(scene.objects)
        for name in names
        if i != j and relation_holds(a, name, b)
    ]


def scene_graph(scene: Scene) -> dict[str, Any]:
    """Return the scene graph: nodes with attributes, edges with relations, and the setting."""
    words = vocabulary()
    nodes = [
        {
            "id": index,
            "name": item.concept,
            "group": words.concept(item.concept).group,
            "box": [item.left, item.top, item.left + item.side, item.top + item.side],
            "attributes": [item.size, *([item.tint] if item.tint else [])],
        }
        for index, item in enumerate(scene.objects)
    ]
    edges = [{"subject": i, "relation": name, "object": j} for i, name, j in relations(scene)]
    setting = {"pattern": scene.pattern, "colour": scene.colour, "style": scene.style, "weather": scene.weather}
    return {"objects": nodes, "relations": edges, "setting": setting}


def article(words: str) -> str:
    """Put `a` or `an` before words, nothing before a plural or a mass noun."""
    first = words.rsplit(maxsplit=1)[-1] if words else ""
    if plural(words) == words or plural(first) == first:
        return words
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def phrase(item: SceneObject, *, colour: bool = True) -> str:
    """Name an object with its tint: `a red dog`."""
    return article(f"{item.tint} {item.concept}" if item.tint and colour else item.concept)


def listing(parts: Sequence[str]) -> str:
    """Join phrases as English does: `a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def setting(scene: Scene) -> str:
    """Name the background: `grass`, `a blue striped background`."""
    return scene.pattern if scene.pattern in GROUNDS else article(f"{scene.colour} {scene.pattern} background")


def caption(scene: Scene) -> str:
    """Return the short caption: what there is from left to right, equal things counted, and the background."""
    counted: dict[str, int] = {}
    for item in sorted(scene.objects, key=lambda o: (o.centre, o.concept)):
        name = f"{item.tint} {item.concept}" if item.tint and scene.shows_colour else item.concept
        counted[name] = counted.get(name, 0) + 1
    parts = [article(name) if count == 1 else f"{NUMBERS[count]} {plural(name)}" for name, count in counted.items()]
    return f"{listing(parts)} on {setting(scene)}"


def detailed_caption(scene: Scene) -> str:
    """Return every fact of the scene in sentences: objects, sizes, places, relations, style and weather."""
    words = {"left": "to the left of", "right": "to the right of", "above": "above", "below": "below"}
    sentences = [f"The picture shows {caption(scene)}."]
    sentences += [f"The {o.concept} in the {place(o)} is {o.size}." for o in scene.objects]
    sentences += [
        f"The {scene.objects[i].concept} is {words[name]} the {scene.objects[j].concept}."
        for i, name, j in relations(scene)
        if i < j
    ]
    style = "" if scene.style == "flat" else f" It is drawn in a {scene.style} style."
    return " ".join(sentences) + f" The weather is {scene.weather}." + style


def place(item: SceneObject) -> str:
    """Name the part of the picture an object's centre lies in: `top left`, `bottom right`."""
    x, y = item.centre
    return f"{'top' if y < SIDE // 2 else 'bottom'} {'left' if x < SIDE // 2 else 'right'}"


@dataclass(frozen=True)
class Recipe:
    """Limits of what `sample_scene` draws.

    Attributes:
        concepts: Names to choose from.
        required: Names that must appear, each as often as it is listed.
        counts: Smallest and largest number of objects.
        styles: Styles to choose from; None for the usual mix (mostly flat).
        weathers: Weathers to choose from; None for the usual mix (mostly clear).
        repeat: Probability that an object repeats an earlier concept, so that there is something to count.
    """

    concepts: tuple[str, ...]
    required: tuple[str, ...] = ()
    counts: tuple[int, int] = (1, MAX_OBJECTS)
    styles: tuple[str, ...] | None = None
    weathers: tuple[str, ...] | None = None
    repeat: float = 0.2


def recipe(concepts: Iterable[Concept | str], **options: Any) -> Recipe:  # noqa: ANN401 - the fields of Recipe
    """Return a recipe over concepts given as records or by name."""
    return Recipe(tuple(c if isinstance(c, str) else c.name for c in concepts), **options)


def sample_scene(seed: object, recipe: Recipe) -> Scene:
    """Draw a scene.

    Args:
        seed: Any value with a stable `str`; the same seed and recipe give the same scene.
        recipe: What may appear.

    Raises:
        ValueError: If the recipe names no concept or asks for more than seven objects.
    """
    if not recipe.concepts or len(recipe.required) > MAX_OBJECTS:
        msg = f"a scene needs at least one concept and at most {MAX_OBJECTS} required objects"
        raise ValueError(msg)
    dice = Dice("scene", seed)
    count = max(dice.integer(*recipe.counts), len(recipe.required), 1)
    names = list(recipe.required)
    while len(names) < count:
        names.append(dice.choice(names) if names and dice.chance(recipe.repeat) else dice.choice(recipe.concepts))
    style = dice.choice(recipe.styles) if recipe.styles else _usually("flat", STYLES, dice)
    weather = dice.choice(recipe.weathers) if recipe.weathers else _usually("clear", WEATHERS, dice)
    grounded = dice.chance(0.35)
    pattern = dice.choice(GROUNDS if grounded else PATTERNS)
    colour = "" if grounded else dice.choice(tuple(GROUND_COLOURS))
    return Scene(str(seed), pattern, colour, style, weather, _placed(names, dice))


def _usually(plain: str, options: Sequence[str], dice: Dice) -> str:
    return plain if dice.chance(0.7) else dice.choice([o for o in options if o != plain])


def _placed(names: list[str], dice: Dice) -> tuple[SceneObject, ...]:
    """Give every name a size and a free square; crowded scenes get smaller objects."""
    placed: list[SceneObject] = []
    for attempt in range(40):
        small = 1.0 if attempt >= 30 else 0.3 + 0.02 * attempt
        placed = []
        for name in names:
            item = _free_square(name, placed, dice, small=small, crowd=len(names))
            if item is None:
                break
            placed.append(item)
        if len(placed) == len(names):
            return tuple(placed)
    return tuple(placed)


def _free_square(name: str, placed: list[SceneObject], dice: Dice, *, small: float, crowd: int) -> SceneObject | None:
    size: Size = "small"
    if not dice.chance(small):
        size = "medium" if crowd > 3 or dice.chance(0.5) else "large"
    low, high = SIZES[size]
    for _ in range(20):
        side = dice.integer(low, high)
        left, top = dice.integer(1, SIDE - side - 1), dice.integer(1, SIDE - side - 1)
        if all(_apart(left, top, side, other) for other in placed):
            return sample_object(name, left, top, side, size, dice)
    return None


def sample_object(name: str, left: int, top: int, side: int, size: Size, dice: Dice) -> SceneObject:
    """Draw an object's picture, tint and direction for a given square."""
    concept = vocabulary().concept(name)
    tint = dice.choice(tuple(TINTS)) if dice.chance(0.35) and tintable(name) else ""
    return SceneObject(name, dice.choice(concept.files), left, top, side, size, tint, dice.chance(0.5))


def _apart(left: int, top: int, side: int, other: SceneObject) -> bool:
    return (
        left + side < other.left
        or other.left + other.side < left
        or top + side < other.top
        or other.top + other.side < top
    )


def tintable(name: str) -> bool:
    """Tell whether a thing may be tinted: a red tint on a green apple would make its own name false."""
    return not {"red", "green", "orange", "blue"} & set(name.split())
