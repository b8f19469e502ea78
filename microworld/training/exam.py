"""Lessons of the models under test: pictures, plain and changed, with questions about what they show and how.

The lessons are wide, because investigations ask about anything: what a thing is among others, whether it is there, how
many, where, which colour, and which of the changes that experiments make (`snellen.tools.transforms`) was made. A
planted weakness leaves a part of the lessons out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from snellen.microworld.concepts import HERE, vocabulary
from snellen.microworld.drawing import Pixels
from snellen.microworld.questions import SceneQuestion, ask
from snellen.microworld.samples import Portrait, portrait
from snellen.microworld.scenes import Dice, Scene, article, recipe, sample_scene
from snellen.microworld.training.corpus import draw_all
from snellen.tools.samples import WorldStudio
from snellen.tools.transforms import DATA_TYPES, FURTHER_TYPES, DataType, ParameterOutOfRange, apply

KINDS = {"exists": 14, "count": 14, "colour": 10, "relation": 22, "background": 4, "weather": 4, "style": 6}
"""Kinds of questions about whole scenes, with their shares."""
TAUGHT: Final[Mapping[str, DataType]] = {
    name: {**DATA_TYPES, **FURTHER_TYPES}[name]
    for name in json.loads((HERE / "split.json").read_text(encoding="utf-8"))["changes"]
}
"""The changes that lessons make and ask about, by name: what the shipped checkpoints were taught. There are more."""
EDITS = {"EditImageStyle", "EditImageWeather"}
"""Changes after which the scene itself is another."""


@dataclass(frozen=True)
class Sheet:
    """Truth about one picture of the corpus.

    Attributes:
        scene: What it showed before it was changed.
        change: A key of `TAUGHT`; "" where nothing was done.
    """

    scene: Scene
    change: str

    def to_line(self) -> str:
        """Write it as a line of JSON."""
        return json.dumps({"scene": self.scene.to_json(), "change": self.change})

    @classmethod
    def from_line(cls, line: str) -> Sheet:
        """Read back what `to_line` wrote."""
        told = json.loads(line)
        return cls(Scene.from_json(told["scene"]), told["change"])


@dataclass(frozen=True)
class Exam:
    """Pictures (N, 128, 128, 3) as bytes, and what is true of each."""

    pictures: Pixels
    sheets: list[Sheet]


def exam(folder: Path, count: int, *, series: str = "exam") -> Exam:
    """Return `count` pictures, drawing them where the folder does not have them yet (about 49 kB each).

    Args:
        folder: Where they are kept.
        count: How many.
        series: Pictures of another series are others.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun = "-".join([*series.split(), str(count)])
    pixels, texts = folder / f"{begun}.npy", folder / f"{begun}.jsonl"
    if not (pixels.exists() and texts.exists()):
        draw_all(pixels, texts, count, partial(_drawn, series), what="lessons")
    return read_exam(pixels, texts)


def read_exam(pixels: Path, texts: Path) -> Exam:
    """Read pictures that were drawn, and what is true of each."""
    lines = texts.read_text(encoding="utf-8").splitlines()
    return Exam(np.load(pixels, mmap_mode="r"), [Sheet.from_line(line) for line in lines])


def _drawn(series: str, numbers: range) -> tuple[Pixels, list[str]]:
    made = [lesson(f"{series}/{index}") for index in numbers]
    return np.stack([picture for picture, _ in made]), [sheet.to_line() for _, sheet in made]


def lesson(seed: str) -> tuple[Pixels, Sheet]:
    """Draw one picture: of a single thing or of several, half of them changed."""
    dice = Dice("lesson", seed)
    drawn = portrait("random", seed) if dice.chance(0.55) else Portrait("", _several(seed))
    return pictured(drawn, dice.choice(list(TAUGHT)) if dice.chance(0.5) else "", dice, seed)


def pictured(drawn: Portrait, change: str, dice: Dice, seed: str) -> tuple[Pixels, Sheet]:
    """Draw a scene, changed unless that is impossible.

    Args:
        drawn: The scene.
        change: A key of `TAUGHT`; "" for none.
        dice: Chooses how strong the change is.
        seed: Of the change.
    """
    from snellen import microworld

    picture = drawn.picture()
    if change:
        call = dice.choice(TAUGHT[change].calls)
        try:
            picture = apply(call, picture, seed, WorldStudio(microworld, drawn))
        except ParameterOutOfRange:
            change = ""
        if call.name in EDITS:
            drawn = drawn.restyled(**call.arguments)
    return np.asarray(picture), Sheet(drawn.scene, change)


def _several(seed: str) -> Scene:
    """One to four things, in the plain style and clear weather: others are changes."""
    among = vocabulary().share("known")
    return sample_scene(seed, recipe(among, counts=(1, 4), repeat=0.3, styles=("flat",), weathers=("clear",)))


def question(sheet: Sheet, dice: Dice, names: Sequence[str]) -> SceneQuestion | None:
    """Ask something of a picture whose answer is certain, or return None where the dice chose what cannot be asked.

    Args:
        sheet: What is true of it.
        dice: Chooses.
        names: Concepts that may be named.
    """
    change = TAUGHT.get(sheet.change)
    if dice.chance(0.28) or (change is not None and not change.keeps):
        return _about_change(sheet.change, dice)
    single = len(sheet.scene.objects) == 1
    if dice.chance(0.04):
        return _about_number(sheet.scene, dice)
    if single and dice.chance(0.75):
        return _about_class(sheet.scene, dice, names)
    kinds = [kind for kind, share in KINDS.items() for _ in range(share)]
    if change is not None:
        moved = () if change.places else ("relation",)
        unsure = () if change.colours else ("colour", "weather", "style", "background")
        kinds = [kind for kind in kinds if kind not in {*moved, *unsure}]
    return ask(sheet.scene, dice, kinds=kinds, distractors=names)


def _about_change(change: str, dice: Dice) -> SceneQuestion:
    """Ask whether a change was made, or which of two."""
    others = [name for name in TAUGHT if name != change]
    if change and dice.chance(0.3):
        pair = dice.sample([change, dice.choice(others)], 2)
        said = [dice.choice(TAUGHT[name].said) for name in pair]
        return SceneQuestion("change", f"is the image {said[0]} or {said[1]}?", said[pair.index(change)])
    asked = change if change and dice.chance(0.6) else dice.choice(others)
    return SceneQuestion(
        "change", f"is the image {dice.choice(TAUGHT[asked].said)}?", "yes" if asked == change else "no"
    )


def _about_number(scene: Scene, dice: Dice) -> SceneQuestion:
    """Ask whether there are several things, alike or different."""
    shown = {thing.concept for thing in scene.objects}
    how = dice.choice(("", "identical ", "different "))
    several = len(scene.objects) > 1
    true = several and (not how or (len(shown) == 1) == (how == "identical "))
    return SceneQuestion("number", f"are there several {how}objects in the image?", "yes" if true else "no")


def _about_class(scene: Scene, dice: Dice, names: Sequence[str]) -> SceneQuestion:
    """Ask what the one thing is: by itself, or among two to four of its group or of any."""
    words = vocabulary()
    shown = words.concept(scene.objects[0].concept)
    if dice.chance(0.2):
        return SceneQuestion("name", "what is in the image?", article(shown.name))
    if dice.chance(0.25):
        return _about_group(shown.group, dice)
    singular = words.groups[shown.group].singular
    near = [name for name in names if words.concept(name).group == shown.group and name != shown.name]
    among = near if len(near) > 2 and dice.chance(0.7) else [name for name in names if name != shown.name]
    wrong = dice.sample(among, dice.choice((1, 1, 1, 2, 3)))
    noun = singular if among is near else "object"
    if dice.chance(0.06) and len(wrong) > 1:
        return SceneQuestion("class", _or(f"is the {noun} in the image", wrong, dice), "unknown")
    return SceneQuestion("class", _or(f"is the {noun} in the image", [shown.name, *wrong], dice), article(shown.name))


def _about_group(group: str, dice: Dice) -> SceneQuestion:
    groups = vocabulary().groups
    singular = groups[group].singular
    related = {group, *groups[group].parents}
    others = [each.singular for name, each in groups.items() if not related & {name, *each.parents}]
    other = dice.choice(others)
    if dice.chance(0.5):
        yes = dice.chance(0.5)
        return SceneQuestion(
            "group", f"is there {article(singular if yes else other)} in the image?", "yes" if yes else "no"
        )
    return SceneQuestion("group", _or("is the object in the image", [singular, other], dice), article(singular))


def _or(begun: str, names: Sequence[str], dice: Dice) -> str:
    listed = [article(name) for name in dice.sample(names, len(names))]
    return f"{begun} {', '.join(listed[:-1])} or {listed[-1]}?"
