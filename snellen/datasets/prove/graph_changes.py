"""Changed graphs that programs are run on, and the words that are put into them.

The words are drawn anew for each program and graph, from a digest of both: whoever writes a program cannot know them,
and building a benchmark again still gives the same one.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.scoring.scene_graph import Fact, SceneGraph, name_of

if TYPE_CHECKING:
    from snellen.scoring.verification import Verified

_ONSETS: Final = ("b", "br", "d", "dr", "f", "fl", "g", "gr", "j", "k", "kl", "m", "n", "p", "pl", "r", "s", "sk", "sn",
                  "t", "tr", "v", "z")  # fmt: skip
_VOWELS: Final = ("a", "e", "i", "o", "u", "ai", "ea", "oo")
_CODAS: Final = ("b", "ck", "d", "g", "l", "m", "mp", "n", "nt", "p", "rd", "rk", "t", "x", "zz")
_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "color": (
        "amber", "aqua", "beige", "black", "blue", "bronze", "brown", "coral", "crimson", "cyan", "gold", "gray",
        "green", "indigo", "ivory", "khaki", "lavender", "lime", "magenta", "maroon", "navy", "olive", "orange",
        "peach", "pink", "plum", "purple", "red", "silver", "tan", "teal", "turquoise", "violet", "white", "yellow",
    ),
    "size": ("tiny", "small", "medium", "large", "huge", "enormous"),
    "place": ("top left", "top right", "bottom left", "bottom right", "center"),
}  # fmt: skip
"""Real values of a kind, beside those that a graph has: a program may neither know nonce words from real ones."""


@dataclass(frozen=True)
class GraphChange:
    """A graph in which something is otherwise.

    Attributes:
        about: What was changed, in words.
        graph: The changed graph.
        said: What the output must say now; empty where only the difference counts, and failing is one.
        gone: What it may no longer say.
        harmless: Whether nothing was changed that the answer needs: the output must stay.
        decoys: Whether unrelated things were added that are as the answer says of others, as far as they may be.
    """

    about: str
    graph: SceneGraph
    said: str = ""
    gone: str = ""
    harmless: bool = False
    decoys: bool = False

    def objection(self, before: str, after: Verified) -> str:
        """Say in what the output does not follow the change; empty where it does."""
        said = after.answer or ""
        if self.harmless:
            same = sorted(said.split(", ")) == sorted(before.split(", "))
            return "" if same else f"It depends on what was not asked: {self.about}."
        if said == before:
            return f"It says {before[:80]!r} all the same where {self.about}."
        if after.answer is None:
            return f"Where {self.about}, it fails: {after.trouble}" if self.said else ""
        if (self.said and not says(said, self.said)) or (self.gone and says(said, self.gone)):
            return f"Where {self.about}, it says {said[:80]!r}."
        return ""


class Draw:
    """Words and numbers that the writer of a program cannot foresee.

    Args:
        program: Its text.
        graph: The graph that it was written for.
    """

    def __init__(self, program: str, graph: SceneGraph) -> None:
        self._graph = graph
        content = repr((program, sorted(graph.facts), graph.caption))
        self._dice = random.Random(hashlib.sha256(content.encode("utf-8", "replace")).digest())
        self._taken = {word for fact in graph.facts for text in (fact.entity, fact.attribute) for word in text.split()}

    def word(self, begin: str = "") -> str:
        """Return a pronounceable word without a meaning that neither the graph nor an earlier draw has."""
        while True:
            parts = [choices for _ in range(2) for choices in (_ONSETS, _VOWELS)] + [_CODAS]
            word = begin + "".join(map(self._dice.choice, parts))
            if word not in self._taken:
                self._taken.add(word)
                return word

    def first_and_last(self, keys: Iterable[str]) -> tuple[str, str]:
        """Return two words of which one is sorted before all keys and the other behind them."""
        known = sorted(keys)
        first = next(
            (word for begin in ("ab", "aa", "A", "0") if not known or (word := self.word(begin)) < known[0]),
            self.word("aa"),
        )
        return first, self.word("zu") if not known or known[-1] < "zu" else self.word(f"{known[-1][:1]}zz")

    def number(self, other: int) -> int:
        """Return a number above another one."""
        return other + self._dice.randint(1, 6)

    def values(self, fact: Fact, said: str) -> list[str]:
        """Return values that replace one of a kind: a word without a meaning, and real ones where any are known.

        Args:
            fact: The attribute whose value is replaced.
            said: A text that has none of the real values.
        """
        if fact.attribute.isdecimal():
            return [str(self.number(int(fact.attribute[:9])))]
        facts = [one for one in self._graph.facts if one.attribute]
        own = {one.attribute for one in facts if name_of(one.entity) == name_of(fact.entity)}
        here = {one.attribute for one in facts if one.kind == fact.kind}
        found = [self.word()]
        for known in (here, set(_KNOWN.get(fact.kind, ())) - here):
            real = [value for value in known - own if not says(said, value) and not says(fact.attribute, value)]
            found += [self._dice.choice(sorted(real))] if real else []
        return found


def says(text: str, words: str) -> bool:
    """Tell whether a text has some words, as words."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


def says_any_of(text: str, words: str) -> bool:
    """Tell whether a text has one of some words, or its plural: ``animals`` says "animal"."""
    forms = (form for word in words.split() for form in (word, f"{word}s", f"{word}es", f"{word[:-1]}ies"))
    return any(says(text, form) for form in forms)
