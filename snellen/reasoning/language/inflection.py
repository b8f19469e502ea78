# ruff: noqa: SIM905 - lists of words read best as running text
"""Singulars, plurals and articles of English nouns, as far as questions about pictures need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_IRREGULAR: Final = {
    "man": "men", "woman": "women", "mouse": "mice", "knife": "knives", "wolf": "wolves", "leaf": "leaves",
    "tomato": "tomatoes", "potato": "potatoes", "volcano": "volcanoes", "person": "people", "child": "children",
    "foot": "feet", "tooth": "teeth", "goose": "geese", "scarf": "scarves", "loaf": "loaves",
    "shelf": "shelves", "calf": "calves", "life": "lives", "hero": "heroes", "piece": "pieces",
}  # fmt: skip
_SINGULAR: Final = {many: one for one, many in _IRREGULAR.items()}
_UNCHANGED: Final = frozenset(
    "fish blowfish sheep deer corn rice meat bread sushi curry spaghetti honey wheat chocolate lightning weather "
    "clothing stationery equipment fruit food furniture scissors glasses headphones jeans skis fries noodles grapes "
    "cherries clothes sweets pants shorts trousers thumbs_up fried_shrimp fork_and_knife cherry_blossom".split()
)
_KEEPS_S: Final = ("ss", "us", "is")


def plural(noun: str) -> str:
    """Return the plural of a noun or noun phrase (``piece of clothing`` becomes ``pieces of clothing``)."""
    head, separator, rest = noun.partition(" of ")
    if separator:
        return f"{plural(head)} of {rest}"
    before, _, last = noun.rpartition(" ")
    return f"{before} {_plural_word(noun, last)}".strip()


def _plural_word(noun: str, word: str) -> str:
    if word in _UNCHANGED or noun.replace(" ", "_") in _UNCHANGED or word in _SINGULAR:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("s") and not word.endswith(("ss", "us")):
        return word
    return regular_plural(word)


def regular_plural(noun: str) -> str:
    """Return the plural by the rule alone, as mass nouns take it where they are counted: "two curries"."""
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def singular(noun: str) -> str:
    """Return the singular of a noun phrase that may be in the plural; mass nouns stay as they are."""
    head, separator, rest = noun.partition(" of ")
    if separator:
        return f"{singular(head)} of {rest}"
    before, _, last = noun.rpartition(" ")
    return f"{before} {_singular_word(last)}".strip()


def _singular_word(word: str) -> str:
    if word in _UNCHANGED or word.endswith(_KEEPS_S) or not word.endswith("s"):
        return _SINGULAR.get(word, word)
    if word in _SINGULAR:
        return _SINGULAR[word]
    if word.endswith("ies") and len(word) > len("pies"):
        return word[:-3] + "y"
    if word.endswith(("xes", "ches", "shes", "sses", "zes")):
        return word[:-2]
    return word[:-1]


def is_plural(noun: str) -> bool:
    """Return whether the phrase is written in a plural that differs from its singular."""
    return singular(noun) != noun


def with_article(noun: str) -> str:
    """Put ``a`` or ``an`` before a singular noun, nothing before a plural or a mass noun."""
    if not noun or plural(noun) == noun:
        return noun
    vowel = noun[0].lower() in "aeiou" or noun.lower().startswith(("hour", "heir", "honest", "honour"))
    return f"{'an' if vowel else 'a'} {noun}"


def listing(names: Sequence[str], word: str = "and") -> str:
    """Join names as English does: ``a``, ``a and b``, ``a, b and c``; ``none`` where there are none."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def counted(number: int, noun: str) -> str:
    """Say how many there are of something: ``1 prompt``, ``2 prompts``."""
    return f"{number} {noun}{'s' * (number != 1)}"
