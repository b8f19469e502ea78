"""Whether a program looks at what it verifies: facts are changed in turn, and its output must follow them.

A program that says "red" is right about a red dog without having looked. So each fact that the answer needs is changed
in a copy of the graph: a value for another one, a relation or an entity is taken away, things are doubled. The output
must differ there, and say the new value where it said the old one. Where only what nobody asked about was changed, it
must be the same: a program cannot pass by telling changed graphs from the one that it was written for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tools.prove.filters import Objection, Reading
from tools.scoring.scene_graph import MAX_NAME, Fact, SceneGraph, name_of, numbered

if TYPE_CHECKING:
    from tools.prove.records import Draft
    from tools.scoring.verification import Verified, Verifier

_MOST: Final = 24
"""Changed graphs that one program is run on."""
_VALUES: Final = {
    "color": ("purple", "orange", "teal", "beige"),
    "size": ("small", "medium", "large"),
    "place": ("top left", "top right", "bottom left", "bottom right"),
}  # fmt: skip
"""Values that replace others of their kind; of other kinds any value does."""
_PLAIN: Final = ("ordinary", "unusual", "simple", "rare")
_THINGS: Final = ("thimble", "abacus", "weathervane")
"""Names for things that become others."""
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True)
class Change:
    """A graph in which something is otherwise.

    Attributes:
        about: What was changed, in words.
        graph: The changed graph.
        said: What the output must say now; empty where only the difference counts, and failing is one.
        gone: What it may no longer say.
        harmless: Whether nothing was changed that the answer needs: the output must stay.
    """

    about: str
    graph: SceneGraph
    said: str = ""
    gone: str = ""
    harmless: bool = False

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
        if (self.said and not _says(said, self.said)) or (self.gone and _says(said, self.gone)):
            return f"Where {self.about}, it says {said[:80]!r}."
        return ""


def blindness(
    drafts: Sequence[Draft],
    verified: Sequence[Verified],
    readings: Sequence[Reading],
    graph: SceneGraph,
    verifier: Verifier,
) -> list[Objection | None]:
    """Return which programs do not look at what they verify, with what gave them away; None for those that do.

    Args:
        drafts: Questions whose programs give their answers.
        verified: What the programs said.
        readings: What questions and answers say.
        graph: The scene's.
        verifier: Runs the programs on changed graphs.
    """
    found: list[Objection | None] = []
    for draft, output, reading in zip(drafts, verified, readings, strict=True):
        needed = needed_changes(reading, graph, output.answer or "")
        loose = [] if needed else _mentioned_changes(draft, graph)
        changes = [*needed, *loose, harmless_change(draft, reading, graph)]
        after = list(verifier.run_all([(draft.program, change.graph) for change in changes]))
        notes = [change.objection(output.answer or "", each) for change, each in zip(changes, after, strict=True)]
        if loose:
            # Nothing says which facts the answer needs: it must need some of those about the things it names.
            notes = [notes[0] if all(notes[:-1]) else "", notes[-1]]
        note = next(filter(None, notes), "")
        found.append(Objection("program ignores the scene", note) if note else None)
    return found


def needed_changes(reading: Reading, graph: SceneGraph, output: str) -> list[Change]:
    """Change each fact that the answer needs, and each that the question needs to tell one thing from others."""
    changes = [change for fact in reading.new for change in _against(fact, graph, output)]
    if not all(fact.negated for fact in reading.new):
        changes += _of_premise(reading.premise, graph)
    return changes[:_MOST]


def harmless_change(draft: Draft, reading: Reading, graph: SceneGraph) -> Change:
    """Change what has nothing to do with an answer: values of other kinds of other things, the caption, the order."""
    said = f"{draft.question} {draft.answer}"
    about = [*reading.premise, *reading.answer]
    names = {name_of(key) for fact in about for key in (fact.entity, fact.target)}
    kinds = {fact.kind for fact in about if fact.attribute} | {"category", "count"}

    def changed(fact: Fact) -> Fact:
        named = name_of(fact.entity) in names or _says(said, name_of(fact.entity))
        if not fact.attribute or named or fact.kind in kinds:
            return fact
        return replace(fact, attribute=_another(fact, graph, said))

    facts = [changed(fact) for fact in graph.facts]
    keys = graph.get_entities()
    turned = [Fact(key) for key in [*keys[1:], *keys[:1]] if name_of(key) == key]
    return Change("other things are otherwise", SceneGraph([*turned, *facts]), harmless=True)


def _against(fact: Fact, graph: SceneGraph, output: str) -> Iterator[Change]:
    """Change what an answer says, so that it is no longer so; what it denies, so that it is."""
    if fact.negated:
        yield from _made_so(fact, graph)
    elif fact.relation:
        pairs = {(one.entity, one.target) for one in graph.facts if one.relation and _alike(one, fact)}
        if pairs:
            yield _unrelated(pairs, graph, said=fact.text)
    elif fact.kind == "count":
        yield from _doubled(fact, graph, output)
    elif fact.attribute:
        keys = {one.entity for one in graph.facts if one.attribute and _alike(one, fact)}
        if keys:
            yield _revalued(fact, keys, graph, output)
    elif any(name_of(key) == fact.entity for key in graph.get_entities()):
        yield _renamed(fact.entity, graph, output)


def _of_premise(premise: Sequence[Fact], graph: SceneGraph) -> Iterator[Change]:
    """Take away the things that a question is about, and what tells them from others of their name."""
    names = [name_of(key) for key in graph.get_entities()]
    for fact in premise:
        if fact.negated or fact.entity not in names:
            continue
        several = names.count(fact.entity) > 1
        if not fact.attribute and not fact.relation:
            yield _without_thing(fact.entity, graph)
        elif several and fact.attribute and fact.kind != "count":
            keys = {one.entity for one in graph.facts if one.attribute and _alike(one, fact)}
            if keys:
                yield _revalued(fact, keys, graph, "")
        elif several and fact.relation:
            pairs = {(one.entity, one.target) for one in graph.facts if one.relation and _alike(one, fact)}
            if pairs:
                yield _unrelated(pairs, graph, said=fact.text)


def _made_so(fact: Fact, graph: SceneGraph) -> Iterator[Change]:
    """Make true what an answer denies."""
    so = replace(fact, negated=False)
    if not fact.relation and not fact.attribute:
        yield Change(f"there is a {fact.entity}", SceneGraph([*graph.facts, so], caption=graph.caption))
        return
    keys = [key for key in graph.get_entities() if name_of(key) == fact.entity]
    if fact.attribute and fact.kind != "count" and keys:
        facts = [one for one in graph.facts if one.entity not in keys or not one.attribute or one.kind != fact.kind]
        facts += [replace(so, entity=key) for key in keys]
        yield Change(f"the {fact.entity} is {fact.attribute}", SceneGraph(facts, caption=graph.caption))
    others = [key for key in graph.get_entities() if name_of(key) == fact.target]
    if fact.relation and keys and others:
        pairs = {(one, other) for one in keys for other in others}
        facts = [*_apart(pairs, graph), *(replace(so, entity=one, target=other) for one, other in pairs)]
        yield Change(f"the {so.text}", SceneGraph(facts, caption=graph.caption))


def _unrelated(pairs: set[tuple[str, str]], graph: SceneGraph, *, said: str) -> Change:
    return Change(f"nothing says {said!r}", SceneGraph(_apart(pairs, graph), caption=graph.caption))


def _apart(pairs: set[tuple[str, str]], graph: SceneGraph) -> list[Fact]:
    """Return the facts without what relates two things, either way round: one says what the other does."""
    both = pairs | {(other, one) for one, other in pairs}
    return [fact for fact in graph.facts if not fact.relation or (fact.entity, fact.target) not in both]


def _revalued(fact: Fact, keys: set[str], graph: SceneGraph, output: str) -> Change:
    known = next(one for one in graph.facts if one.entity in keys and one.attribute and _alike(one, fact))
    value = _another(known, graph, output)
    facts = [
        replace(one, attribute=value) if one.entity in keys and one.attribute and _alike(one, fact) else one
        for one in graph.facts
    ]
    said = value if _says(output, fact.attribute) else ""
    return Change(f"the {fact.entity} is {value}", SceneGraph(facts, caption=graph.caption), said=said)


def _doubled(fact: Fact, graph: SceneGraph, output: str) -> Iterator[Change]:
    """Double the things of a name, or, of a thing that stands for several, the number."""
    keys = [key for key in graph.get_entities() if name_of(key) == fact.entity]
    if not keys:
        return
    number = len(keys)
    copies = {key: numbered(fact.entity, _highest(keys) + place) for place, key in enumerate(keys, 1)}
    told = {one.attribute for one in graph.facts if one.entity in keys and one.kind == "count"}
    if told == {fact.attribute} and fact.attribute.isdecimal() and int(fact.attribute) != number:
        number, copies = int(fact.attribute), {}
    facts = [replace(one, attribute=str(2 * number)) if _counts(one, keys) else one for one in graph.facts]
    facts += [_copied(one, copies) for one in facts if one.entity in copies or one.target in copies]
    about = f"there are {2 * number} of {fact.entity!r} instead of {number}"
    said = str(2 * number) if str(number) in _NUMBER.findall(output) else ""
    yield Change(about, SceneGraph(facts, caption=graph.caption), said=said)


def _counts(fact: Fact, keys: Sequence[str]) -> bool:
    return fact.entity in keys and fact.kind == "count"


def _highest(keys: Sequence[str]) -> int:
    numbers = [int(key.rpartition("(")[2].rstrip(")")) for key in keys if name_of(key) != key]
    return max([1, *numbers])


def _copied(fact: Fact, copies: dict[str, str]) -> Fact:
    return replace(fact, entity=copies.get(fact.entity, fact.entity), target=copies.get(fact.target, fact.target))


def _without_thing(name: str, graph: SceneGraph) -> Change:
    facts = [fact for fact in graph.facts if name not in {name_of(fact.entity), name_of(fact.target)}]
    return Change(f"there is no {name}", SceneGraph(facts, caption=graph.caption))


def _renamed(name: str, graph: SceneGraph, output: str) -> Change:
    """Let a thing be another one of which all else is true."""
    names = set(graph.names.values())
    new = next(each for each in (*_THINGS, f"other {name}"[:MAX_NAME]) if each not in names)

    def called(key: str) -> str:
        return f"{new}{key[len(name) :]}" if key and name_of(key) == name else key

    facts = [replace(fact, entity=called(fact.entity), target=called(fact.target)) for fact in graph.facts]
    said = _says(output, name)
    return Change(f"the {name} is a {new}", SceneGraph(facts, caption=graph.caption), said=new * said, gone=name * said)


def _mentioned_changes(draft: Draft, graph: SceneGraph) -> list[Change]:
    """Change the things that question and answer name one by one; of all where they name none."""
    said = f"{draft.question} {draft.answer}"
    names = list(dict.fromkeys(name_of(key) for key in graph.get_entities()))
    named = [name for name in names if _says(said, name) or _says(said, f"{name}s")] or names
    changes = [_without_thing(name, graph) for name in named]
    changes += [
        _revalued(replace(fact, entity=name_of(fact.entity)), {fact.entity}, graph, "")
        for fact in graph.facts
        if fact.attribute and name_of(fact.entity) in named
    ]
    return changes[:_MOST]


def _alike(one: Fact, fact: Fact) -> bool:
    """Tell whether a fact of the graph says what a fact of a text says, in which entities have no numbers."""
    if name_of(one.entity) != name_of(fact.entity) or name_of(one.target) != name_of(fact.target):
        return False
    return one.relation == fact.relation and (one.attribute == fact.attribute or fact.attribute in one.values)


def _another(fact: Fact, graph: SceneGraph, said: str) -> str:
    """Return another value of a fact's kind that neither the graph has for it nor a text says."""
    here = [one.attribute for one in graph.facts if one.attribute and one.kind == fact.kind]
    own = {one.attribute for one in graph.facts if name_of(one.entity) == name_of(fact.entity)}
    wanted: Callable[[str], bool] = lambda value: value not in own and not _says(said, value)  # noqa: E731
    if fact.attribute.isdecimal():
        return str(int(fact.attribute[:9]) + 3)
    options = [*_VALUES.get(fact.kind, ()), *_PLAIN, *here]
    return next((value for value in options if wanted(value) and value not in here), "") or next(
        filter(wanted, options), f"un{fact.attribute}"[:MAX_NAME]
    )


def _says(text: str, words: str) -> bool:
    """Tell whether a text has some words, as words."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text.casefold()) is not None
