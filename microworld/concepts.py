"""The vocabulary of the microworld: concepts, their groups, their pictures and what is known of them.

Everything is read from two files beside this module: `concepts.json` (names, hypernyms, art, facts) and
`split.json` (which concepts the shipped checkpoints were taught, and which are *novel*).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

HERE = Path(__file__).parent
ART = HERE / "art"

Share = Literal["known", "novel", "mixed"]


@dataclass(frozen=True)
class Concept:
    """One nameable thing.

    Attributes:
        name: The name used in questions, captions and labels, lower case.
        group: Its most specific hypernym, in the plural (`birds`).
        files: Names of its pictures in `microworld/art`, at least one.
        facts: Keys into the table of facts (`fly`, `edible`).
        novel: Whether no shipped checkpoint has ever seen it.
    """

    name: str
    group: str
    files: tuple[str, ...]
    facts: frozenset[str]
    novel: bool


@dataclass(frozen=True)
class Hypernym:
    """A hypernym: `birds`, in the singular `bird`, which are also `animals`."""

    name: str
    singular: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """All concepts and groups, in the order of the file."""

    concepts: tuple[Concept, ...]
    groups: dict[str, Hypernym]
    facts: dict[str, tuple[str, ...]]

    def concept(self, name: str) -> Concept:
        """Return the concept called `name`.

        Raises:
            KeyError: If there is none.
        """
        return _by_name()[name]

    def share(self, share: Share) -> tuple[Concept, ...]:
        """Return the known, the novel or all concepts."""
        if share == "mixed":
            return self.concepts
        return tuple(c for c in self.concepts if c.novel == (share == "novel"))

    def belongs(self, concept: Concept, group: str) -> bool:
        """Tell whether `concept` is one of `group`, directly or through a parent (a hen is an animal)."""
        return group == concept.group or group in self.groups[concept.group].parents

    def members(self, group: str) -> tuple[Concept, ...]:
        """Return every concept of `group`, those of its subgroups included."""
        return tuple(c for c in self.concepts if self.belongs(c, group))


@cache
def vocabulary() -> Vocabulary:
    """Read the vocabulary of the microworld (once a process)."""
    table = json.loads((HERE / "concepts.json").read_text(encoding="utf-8"))
    novel = set(json.loads((HERE / "split.json").read_text(encoding="utf-8"))["novel"])
    concepts = tuple(
        Concept(row["name"], row["group"], tuple(row["files"]), frozenset(row["facts"]), row["name"] in novel)
        for row in table["concepts"]
    )
    groups = {name: Hypernym(name, row["singular"], tuple(row["parents"])) for name, row in table["groups"].items()}
    return Vocabulary(concepts, groups, {key: tuple(value) for key, value in table["facts"].items()})


@cache
def _by_name() -> dict[str, Concept]:
    return {concept.name: concept for concept in vocabulary().concepts}


def plural(name: str) -> str:
    """Return the plural of a concept's name, as questions and captions use it.

    Names that are plural already (`scissors`, `fries`) and mass nouns keep their form.
    """
    if name in _UNCHANGED or (name.endswith("s") and not name.endswith(("ss", "us", "bus"))):
        return name
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    head, _, last = name.rpartition(" ")
    if last in _IRREGULAR:
        return f"{head} {_IRREGULAR[last]}".strip()
    if name.endswith(("s", "x", "ch", "sh")):
        return name + "es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return name[:-1] + "ies"
    return name + "s"


_UNCHANGED = frozenset(
    {
        "fish", "tropical fish", "blowfish", "corn", "rice", "meat", "bread", "fries", "sushi", "curry", "spaghetti",
        "honey", "jeans", "thumbs up", "fried shrimp", "fork and knife", "cherry blossom", "wheat", "chocolate",
        "lightning",
    }
)  # fmt: skip
_IRREGULAR = {
    "man": "men", "woman": "women", "mouse": "mice", "knife": "knives", "wolf": "wolves", "leaf": "leaves",
    "tomato": "tomatoes", "potato": "potatoes", "volcano": "volcanoes", "person": "people",
}  # fmt: skip
