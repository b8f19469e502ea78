"""Conditions under which the truth about models is measured: pictures, questions and right answers, in several formats.

A condition gives blocks of `BLOCK` pictures, about which one question is asked with the same choices; half of a block,
or as even a share as there is, has each right answer. Most conditions have several formats, ways of asking, so that
whoever manages only one of them is noticed. Names of conditions:

    see/THING             naming things: THING is a group ("birds"), a concept ("horse"), "things", "small things",
                          "large things", "things in the top left", "things alone", "things among others"
    see/THING under CHANGE  the same pictures, changed (`pictures.CHANGES`)
    notice/CHANGE         telling whether a picture was changed so
    count                 one to four things of a kind
    colors, color/TINT    telling tints; one of them from others
    sides, heights        left from right; above from below
    free/truth            questions answered in free words

Judges of pairs have conditions of their own (`judging`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from PIL import Image

from benchmarks.outside.pictures import CHANGES, SAID, in_quarter, of_size, scene_of, tinted
from snellen.microworld.concepts import plural, vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import TINTS, Dice, Scene, article, relation_holds, tintable

BLOCK: Final = 10
"""Pictures of a block."""
_OTHERS: Final = 1
"""Things beside the one that is asked about, where there are others."""


@dataclass(frozen=True)
class ShownPicture:
    """A picture, and the place of its right answer among the choices."""

    picture: Image.Image
    right: int


@dataclass(frozen=True)
class QuestionBlock:
    """Pictures that are asked about alike.

    Attributes:
        text: The question.
        choices: The answers; empty where they are free.
        shown: The pictures.
        chance: The share that is right by guessing.
        answers: Right answers in words, a picture each, where answers are free.
    """

    text: str
    choices: tuple[str, ...]
    shown: tuple[ShownPicture, ...]
    chance: float
    answers: tuple[str, ...] = ()


Make = Callable[[Dice, str], QuestionBlock]
"""Makes a block with dice, and a seed of its pictures."""


@dataclass(frozen=True)
class TruthCondition:
    """A condition.

    Attributes:
        name: Its name.
        formats: Its ways of asking, by their names.
    """

    name: str
    formats: Mapping[str, Make]

    def block(self, way: str, number: int) -> QuestionBlock:
        """Return a block of a format, always the same one.

        Args:
            way: The format.
            number: Of the block, from 0.
        """
        # Changed pictures show what the unchanged ones do.
        seed = f"{self.name.split(' under ')[0]}/{way}/{number}"
        return self.formats[way](Dice("outside", seed), seed)


def condition(name: str) -> TruthCondition:
    """Return the condition of a name.

    Raises:
        KeyError: There is none.
    """
    begun, _, rest = name.partition("/")
    if begun == "see":
        what, _, change = rest.partition(" under ")
        return TruthCondition(name, _seeing(what, change))
    if begun == "notice":
        return TruthCondition(name, {"whether": _whether_changed(rest), "which": _which_change(rest)})
    if begun == "color":
        return TruthCondition(name, {"open": _one_color(rest, listed=False), "either": _one_color(rest, listed=True)})
    return TruthCondition(name, _PLAIN[name])


def _known(group: str = "") -> list[str]:
    words = vocabulary()
    return [one.name for one in words.share("known") if not group or words.belongs(one, group)]


def _drawn(scene: Scene, change: str, dice: Dice) -> Image.Image:
    return CHANGES[change](scene, dice) if change else draw(scene)


def _even(dice: Dice, choices: int) -> list[int]:
    """Return the places of the right answers of a block, as evenly as it goes, in random order."""
    return dice.sample([number % choices for number in range(BLOCK)], BLOCK)


def _seeing(what: str, change: str) -> Mapping[str, Make]:
    words = vocabulary()
    if what in words.groups:
        return _naming(_known(what), words.groups[what].singular, change=change)
    if what in _known():
        group = words.concept(what).group
        near = [name for name in _known(group) if name != what]
        return _naming(near, words.groups[group].singular, change=change, always=what)
    if what in {"things alone", "things among others"}:
        return _naming(_known(), "object", change=change, others=_OTHERS if what == "things among others" else 0)
    size, quarter = what.removesuffix(" things"), what.removeprefix("things in the ")
    if what == "things":
        return _naming(_known(), "object", change=change)
    if size == what and quarter == what:
        raise KeyError(what)
    return _naming(_known(), "object", change=change, wanted=in_quarter(quarter) if size == what else of_size(size))


def _naming(
    names: Sequence[str],
    noun: str,
    *,
    change: str,
    always: str = "",
    others: int = 0,
    wanted: Callable[[Scene], bool] = lambda _: True,
) -> Mapping[str, Make]:
    """Ask for the name of a thing: which of three that are listed, and which of a few that are not.

    Args:
        names: Concepts that are shown and named.
        noun: What they are called.
        change: Of the pictures; "" for none.
        always: A concept that half of the pictures show, and every question names.
        others: How many other things are shown besides.
        wanted: What must hold of the pictures.
    """

    def make(dice: Dice, seed: str, *, listed: bool) -> QuestionBlock:
        few = min(3 if listed else 5, len(names)) - bool(always)
        named = dice.sample([*([always] if always else []), *dice.sample(names, few)], few + bool(always))
        shown = []
        for number, place in enumerate(_even(dice, 2 if always else len(named))):
            true = named[place] if not always else always if place == 0 else dice.choice(_without(named, always))
            beside = dice.sample(_without(_known(), *named), others)
            scene = scene_of(f"{seed}/{number}", [true], beside=beside, wanted=wanted)
            shown.append(ShownPicture(_drawn(scene, change, dice), named.index(true)))
        choices = tuple(map(article, named))
        text = f"is the {noun} in the image {', '.join(choices[:-1])} or {choices[-1]}?"
        # Who never names what half of the pictures show is worth no more than who guesses.
        chance = 1 / 2 if always else 1 / len(named)
        return QuestionBlock(text if listed else "what is in the image?", choices, tuple(shown), chance)

    return {"which": partial(make, listed=True), "open": partial(make, listed=False)}


def _without(names: Sequence[str], *left_out: str) -> list[str]:
    return [name for name in names if name not in left_out]


def _whether(dice: Dice, seed: str) -> QuestionBlock:
    """Ask whether a thing is there; where it is not, another is."""
    name = dice.choice(_known())
    shown = []
    for number, right in enumerate(_even(dice, 2)):
        first = name if right == 0 else dice.choice(_without(_known(), name))
        shown.append(ShownPicture(draw(scene_of(f"{seed}/{number}", [first])), right))
    text = dice.choice((f"can you see {article(name)}?", f"does the picture show {article(name)}?"))
    return QuestionBlock(text, ("yes", "no"), tuple(shown), 1 / 2)


def _colors(dice: Dice, seed: str) -> QuestionBlock:
    """Ask for the tint of a thing."""
    name, tints = dice.choice([one for one in _known() if tintable(one)]), tuple(TINTS)
    shown = [
        ShownPicture(draw(tinted(scene_of(f"{seed}/{number}", [name]), [tints[right]])), right)
        for number, right in enumerate(_even(dice, len(tints)))
    ]
    return QuestionBlock(f"what is the color of the {name}?", tints, tuple(shown), 1 / len(tints))


def _one_color(tint: str, *, listed: bool) -> Make:
    """Ask for a tint that is this one half of the time."""

    def make(dice: Dice, seed: str) -> QuestionBlock:
        name = dice.choice([one for one in _known() if tintable(one)])
        others = [one for one in TINTS if one != tint]
        pair = dice.sample([tint, dice.choice(others)], 2)
        choices = tuple(pair) if listed else tuple(TINTS)
        shown = []
        for number, place in enumerate(_even(dice, 2)):
            true = tint if place == 0 else next(one for one in pair if one != tint) if listed else dice.choice(others)
            scene = tinted(scene_of(f"{seed}/{number}", [name]), [true])
            shown.append(ShownPicture(draw(scene), choices.index(true)))
        text = f"is the {name} {pair[0]} or {pair[1]}?" if listed else f"what is the color of the {name}?"
        # Naming another tint whenever it is this one is worth no more than guessing between two.
        return QuestionBlock(text, choices, tuple(shown), 1 / 2)

    return make


def _either_color(dice: Dice, seed: str) -> QuestionBlock:
    return _one_color(dice.choice(tuple(TINTS)), listed=True)(dice, seed)


def _whether_changed(change: str) -> Make:
    """Ask whether a picture was changed; half were, the others are as they were."""

    def make(dice: Dice, seed: str) -> QuestionBlock:
        shown = []
        for number, right in enumerate(_even(dice, 2)):
            scene = scene_of(f"{seed}/{number}", [dice.choice(_known())])
            shown.append(ShownPicture(_drawn(scene, change if right == 0 else "", dice), right))
        return QuestionBlock(f"is the image {dice.choice(SAID[change])}?", ("yes", "no"), tuple(shown), 1 / 2)

    return make


def _which_change(change: str) -> Make:
    """Ask which of two changes was made."""

    def make(dice: Dice, seed: str) -> QuestionBlock:
        two = dice.sample([change, dice.choice([one for one in CHANGES if one != change])], 2)
        shown = []
        for number, right in enumerate(_even(dice, 2)):
            scene = scene_of(f"{seed}/{number}", [dice.choice(_known())])
            shown.append(ShownPicture(_drawn(scene, two[right], dice), right))
        choices = tuple(dice.choice(SAID[one]) for one in two)
        return QuestionBlock(f"is the image {choices[0]} or {choices[1]}?", choices, tuple(shown), 1 / 2)

    return make


def _count(text: str) -> Make:
    def make(dice: Dice, seed: str) -> QuestionBlock:
        name = dice.choice(_known())
        shown = []
        for number, right in enumerate(_even(dice, 4)):
            beside = dice.sample([one for one in _known() if one != name], dice.integer(0, 1))
            shown.append(ShownPicture(draw(scene_of(f"{seed}/{number}", [name] * (right + 1), beside=beside)), right))
        return QuestionBlock(text.format(plural(name)), ("1", "2", "3", "4"), tuple(shown), 1 / 4)

    return make


def _relation(sides: tuple[str, str], *, listed: bool) -> Make:
    """Ask on which side of another thing one is."""

    def make(dice: Dice, seed: str) -> QuestionBlock:
        one, other = dice.sample(_known(), 2)
        shown = []
        for number, right in enumerate(_even(dice, 2)):
            side = sides[right]
            scene = scene_of(
                f"{seed}/{number}", [one, other],
                wanted=lambda scene, side=side: relation_holds(scene.objects[0], side, scene.objects[1]),
            )  # fmt: skip
            shown.append(ShownPicture(draw(scene), right))
        to = "to the {}" if sides == ("left", "right") else "{}"
        of = " of" if sides == ("left", "right") else ""
        order = dice.sample(sides, 2)
        if listed:
            text = f"is the {one} {to.format(order[0])} or {to.format(order[1])}{of} the {other}?"
            return QuestionBlock(text, sides, tuple(shown), 1 / 2)
        return QuestionBlock(f"is the {one} {sides[0]}{of} the {other}?", ("yes", "no"), tuple(shown), 1 / 2)

    return make


def _free(dice: Dice, seed: str) -> QuestionBlock:
    """Ask for a tint, a number, or whether a thing is there, to be answered in free words."""
    blocks = (_colors, _count("how many {} are there?"), _whether)
    block = dice.choice(blocks)(dice, seed)
    answers = tuple(block.choices[one.right] for one in block.shown)
    return QuestionBlock(block.text, (), block.shown, 0, answers)


_PLAIN: Final[Mapping[str, Mapping[str, Make]]] = {
    "count": {"many": _count("how many {} are in the picture?"), "count": _count("count the {}.")},
    "colors": {"open": _colors, "either": _either_color},
    "sides": {
        "which": _relation(("left", "right"), listed=True),
        "whether": _relation(("left", "right"), listed=False),
    },
    "heights": {
        "which": _relation(("above", "below"), listed=True),
        "whether": _relation(("above", "below"), listed=False),
    },
    "free/truth": {"free": _free},
}
