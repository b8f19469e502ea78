"""Templates of instructions: several to a type, some of them only met in the test split."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import Dice, article
from snellen.microworld.tasks.task import Split
from snellen.sentences import capitalized

PICTURE = ("picture", "image", "photo")


@dataclass(frozen=True)
class Wordings:
    """Templates with the same meaning.

    Attributes:
        common: Used in every split.
        test: Used in the test split only, beside the common ones.
    """

    common: tuple[str, ...]
    test: tuple[str, ...] = ()


@dataclass(frozen=True)
class Instruction:
    """An instruction and the template it was made from, in which everything that matters is masked."""

    text: str
    masked: str


def say(wordings: Wordings, dice: Dice, split: Split, **slots: str) -> Instruction:
    """Choose a template and fill it; `{picture}` is filled with one of the words for it."""
    options = wordings.common + (wordings.test if split == "test" else ())
    template = dice.choice(options)
    text = template.format(picture=dice.choice(PICTURE), **slots)
    return Instruction(capitalized(text), template)


def be(name: str) -> str:
    """Return the verb that goes with a concept's name: cherries *are*, a dog and meat *is*."""
    return "are" if name.endswith("s") and plural(name) == name else "is"


def some(name: str) -> str:
    """Put the indefinite article before a name where English wants one."""
    return article(name)
