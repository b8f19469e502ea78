"""Changed graphs that programs are run on, the words that are put into them, and changes that an answer does not need.

Under these the output of a program that looks at the right facts stays as it was: unrelated things are added, removed
and renamed, with attributes and relations of the kinds that were asked about, and what other things are is changed.
What a question may be about stays: whatever question, answer or output has a word of, and, where they name a kind of
things that the graph does not have ("How many animals are there?"), every thing.

The words are drawn anew for each program and graph, from a digest of both: whoever writes a program cannot know them,
and building a benchmark again still gives the same one.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from snellen.scoring.scene_graph import WHOLE, Fact, SceneGraph, name_of

if TYPE_CHECKING:
    from snellen.datasets.prove.benchmark import QuestionDraft
    from snellen.datasets.prove.filters import DraftReading
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
_ABOUT_ALL: Final = re.compile(
    r"\b(?:(?:how many|number of|all|list|name)(?: the| of the| different)* (?:thing|object|item)s"
    r"|everything|else|only|except|than|most|least"
    r"|(?:larg|bigg|small|tini|tall|short|near|clos|farth|furth|dark|bright|light|high|low|old|young|wid|long)est"
    r"|(?:left|right|top|bottom)most)\b",
    re.IGNORECASE,
)
"""Questions for which every thing of a picture counts."""
_SETTING: Final = frozenset({WHOLE, "background", "weather", "style"})
_MOST_KINDS: Final = 12
"""Kinds of attributes and of relations that added things have."""


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
        answer = after.answer or ""
        if self.harmless:
            same = sorted(answer.split(", ")) == sorted(before.split(", "))
            return "" if same else f"It depends on what was not asked: {self.about}."
        if answer == before:
            return f"It says {before[:80]!r} all the same where {self.about}."
        if after.answer is None:
            return f"Where {self.about}, it fails: {after.trouble}" if self.said else ""
        if (self.said and not says(answer, self.said)) or (self.gone and says(answer, self.gone)):
            return f"Where {self.about}, it says {answer[:80]!r}."
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
        words = [self.word()]
        for known in (here, set(_KNOWN.get(fact.kind, ())) - here):
            real = [value for value in known - own if not says(said, value) and not says(fact.attribute, value)]
            words += [self._dice.choice(sorted(real))] if real else []
        return words


def says(text: str, words: str) -> bool:
    """Tell whether a text has some words, as words."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None


def says_any_of(text: str, words: str) -> bool:
    """Tell whether a text has one of some words, or its plural: ``animals`` says "animal"."""
    forms = (form for word in words.split() for form in (word, f"{word}s", f"{word}es", f"{word[:-1]}ies"))
    return any(says(text, form) for form in forms)


def harmless_changes(
    draft: QuestionDraft, reading: DraftReading, graph: SceneGraph, output: str, draw: Draw
) -> list[GraphChange]:
    """Change what has nothing to do with an answer.

    Args:
        draft: The question.
        reading: What it and its answer say.
        graph: The scene's.
        output: What the program says about it.
        draw: Chooses what is put in.
    """
    question = _Question(draft, reading, graph, output)
    changes = [question.others_changed(draw)]
    if not question.about_all:
        changes += question.added(draw)
    if not question.about_all and not question.general:
        changes += question.without_another(draw)
    return changes


class _Question:
    """What a question is about, and what it is not."""

    def __init__(self, draft: QuestionDraft, reading: DraftReading, graph: SceneGraph, output: str) -> None:
        self.graph, self.keys = graph, graph.get_entities()
        self.said = f"{draft.question} {draft.answer} {output}"
        about = [*reading.premise, *reading.answer]
        self.names = {name_of(key) for fact in about for key in (fact.entity, fact.target) if key}
        self.kinds = {fact.kind for fact in about if fact.attribute}
        known = set(graph.names.values())
        self.general = any(not {fact.entity, fact.target or fact.entity} <= known for fact in about if not fact.negated)
        listed = all(says(output, name) for name in known - _SETTING)
        self.about_all = listed or _ABOUT_ALL.search(draft.question) is not None
        self.named = all(says_any_of(draft.question, fact.entity) for fact in reading.new)
        self.asked = [fact for fact in reading.new if fact.attribute or fact.relation] if self.named else []

    def _unrelated(self, key: str) -> bool:
        """Tell whether nothing is said of a thing, nor of anything that has its attributes."""
        values = [fact.attribute for fact in self.graph.facts if fact.entity == key and fact.attribute]
        named = name_of(key) in self.names or says_any_of(self.said, name_of(key))
        return not named and not any(says_any_of(self.said, value) for value in values)

    def others_changed(self, draw: Draw) -> GraphChange:
        """Change what other things are, what nobody asked about the named ones, the caption, and the order."""
        kept = {"count", "category"} | (self.kinds if self.general or self.about_all else set())
        if self.about_all:
            kept |= {"size", "place"}  # by which things are compared
        free = {key for key in self.keys if self._unrelated(key)}

        def changed(fact: Fact) -> Fact:
            affected = fact.kind in (kept if fact.entity in free else kept | self.kinds)
            if not fact.attribute or affected or says_any_of(self.said, fact.attribute):
                return fact
            return replace(fact, attribute=draw.word())

        facts = [changed(fact) for fact in self.graph.facts]
        turned = [Fact(key) for key in [*self.keys[1:], *self.keys[:1]] if name_of(key) == key]
        return GraphChange("other things are otherwise", SceneGraph([*turned, *facts]), harmless=True)

    def added(self, draw: Draw) -> Iterator[GraphChange]:
        """Add two things that are related to each other alone: before all others, and behind them."""
        first, last = draw.first_and_last(self.keys)
        others = draw.word(), draw.word()
        before = self._things(first, others[0], draw)
        yield GraphChange("there is another thing", self._with(before, []), harmless=True)
        behind = self._things(others[1], last, draw)
        if self.named:  # the question is about things that it names: others may be what it asks
            kinds = {fact.kind for fact in self.asked if fact.attribute}
            behind = [fact for fact in behind if fact.entity != last or not fact.attribute or fact.kind not in kinds]
            behind += [
                replace(fact, entity=last, target=others[1] if fact.target else "", negated=False)
                for fact in self.asked
                if fact.kind != "count"
            ]
        yield GraphChange("there is one more thing", self._with([], behind), harmless=True, decoys=True)

    def _things(self, one: str, other: str, draw: Draw) -> list[Fact]:
        """Return what is known of two new things: an attribute of each kind that others have, and each relation."""
        facts = [fact for fact in self.graph.facts if fact.entity not in _SETTING]
        kinds = list(dict.fromkeys(fact.kind for fact in facts if fact.attribute and fact.kind != "count"))
        relations = list(dict.fromkeys((fact.kind, fact.relation) for fact in facts if fact.relation))
        known = [Fact(one), Fact(other)]
        for key in (one, other):
            known += [Fact(key, attribute=draw.word(), kind=kind) for kind in kinds[:_MOST_KINDS]]
        known += [Fact(one, relation=relation, target=other, kind=kind) for kind, relation in relations[:_MOST_KINDS]]
        return known

    def without_another(self, draw: Draw) -> Iterator[GraphChange]:
        """Remove a thing that nothing is said of, and rename all of them."""
        free = [key for key in self.keys if self._unrelated(key) and key not in _SETTING]
        if not free:
            return
        left = [fact for fact in self.graph.facts if free[0] not in {fact.entity, fact.target}]
        yield GraphChange(f"there is no {free[0]}", SceneGraph(left, caption=self.graph.caption), harmless=True)
        names = {key: draw.word() for key in free}
        renamed = [
            replace(fact, entity=names.get(fact.entity, fact.entity), target=names.get(fact.target, fact.target))
            for fact in self.graph.facts
        ]
        yield GraphChange(
            "other things have other names", SceneGraph(renamed, caption=self.graph.caption), harmless=True
        )

    def _with(self, before: list[Fact], behind: list[Fact]) -> SceneGraph:
        return SceneGraph([*before, *self.graph.facts, *behind], caption=self.graph.caption)
