"""Perturbation: facts are changed in turn, and the output of a program that looks at what it verifies must follow.

A program that says "red" is right about a red dog without having looked. So each fact that the answer needs is changed
in a copy of the graph: a value for another one, a relation or an entity is taken away, things are doubled. The output
must differ there, and say the new value where it said the old one. Where only what nobody asked about was changed
(`graph_changes.harmless_changes`), it must be the same: a program cannot pass by telling changed graphs from the one
that it was written for, nor by looking at facts that happen to go with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.datasets.prove.filters import DraftReading, Objection
from snellen.datasets.prove.graph_changes import Draw, GraphChange, harmless_changes, says
from snellen.scoring.scene_graph import Fact, SceneGraph, name_of, numbered

if TYPE_CHECKING:
    from snellen.datasets.prove.benchmark import QuestionDraft
    from snellen.scoring.verification import Verified, Verifier

_MOST: Final = 24
"""Changed graphs that one program is run on."""
_NUMBER: Final = re.compile(r"\d+")


def blindness(
    drafts: Sequence[QuestionDraft],
    verified: Sequence[Verified],
    readings: Sequence[DraftReading],
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
    objections: list[Objection | None] = []
    for draft, verdict, reading in zip(drafts, verified, readings, strict=True):
        output, draw = verdict.answer or "", Draw(draft.program, graph)
        harmless = harmless_changes(draft, reading, graph, output, draw)
        # Also where unrelated things are as the answer says of others: a program may look at any that are.
        graphs = [graph, *(change.graph for change in harmless if change.decoys)]
        needed = [change for one in graphs for change in needed_changes(reading, one, output, draw)]
        loose = [] if needed else _mentioned_changes(draft, graph, draw)
        changes = [*needed, *loose, *harmless]
        after = list(verifier.run_all([(draft.program, change.graph) for change in changes]))
        notes = [change.objection(output, each) for change, each in zip(changes, after, strict=True)]
        if loose and not all(notes[: len(loose)]):
            # Nothing says which facts the answer needs: it must need some of those about the things it names.
            notes = notes[len(loose) :]
        note = next(filter(None, notes), "")
        objections.append(Objection("program ignores the scene", note) if note else None)
    return objections


def needed_changes(reading: DraftReading, graph: SceneGraph, output: str, draw: Draw) -> list[GraphChange]:
    """Change each fact that the answer needs, and each that the question needs to tell one thing from others."""
    changes = [change for fact in reading.new for change in _against(fact, graph, output, draw)]
    if not all(fact.negated for fact in reading.new):
        changes += _of_premise(reading.premise, graph, draw)
    return changes[:_MOST]


def _against(fact: Fact, graph: SceneGraph, output: str, draw: Draw) -> Iterator[GraphChange]:
    """Change what an answer says, so that it is no longer so; what it denies, so that it is."""
    if fact.negated:
        yield from _made_so(fact, graph)
    elif fact.relation:
        pairs = {(one.entity, one.target) for one in graph.facts if one.relation and _alike(one, fact)}
        if pairs:
            yield _unrelated(pairs, graph, statement=fact.text)
            yield _otherwise_related(fact, pairs, graph, output, draw)
    elif fact.kind == "count":
        yield from _more(fact, graph, output, draw)
    elif fact.attribute:
        keys = {one.entity for one in graph.facts if one.attribute and _alike(one, fact)}
        if keys:
            yield from _revalued(fact, keys, graph, output, draw)
    elif any(name_of(key) == fact.entity for key in graph.get_entities()):
        yield _renamed(fact.entity, graph, output, draw)


def _of_premise(premise: Sequence[Fact], graph: SceneGraph, draw: Draw) -> Iterator[GraphChange]:
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
                yield from _revalued(fact, keys, graph, "", draw)
        elif several and fact.relation:
            pairs = {(one.entity, one.target) for one in graph.facts if one.relation and _alike(one, fact)}
            if pairs:
                yield _unrelated(pairs, graph, statement=fact.text)


def _made_so(fact: Fact, graph: SceneGraph) -> Iterator[GraphChange]:
    """Make true what an answer denies."""
    so = replace(fact, negated=False)
    if not fact.relation and not fact.attribute:
        yield GraphChange(f"there is a {fact.entity}", SceneGraph([*graph.facts, so], caption=graph.caption))
        return
    keys = [key for key in graph.get_entities() if name_of(key) == fact.entity]
    if fact.attribute and fact.kind != "count" and keys:
        facts = [one for one in graph.facts if one.entity not in keys or not one.attribute or one.kind != fact.kind]
        facts += [replace(so, entity=key) for key in keys]
        yield GraphChange(f"the {fact.entity} is {fact.attribute}", SceneGraph(facts, caption=graph.caption))
    others = [key for key in graph.get_entities() if name_of(key) == fact.target]
    if fact.relation and keys and others:
        pairs = {(one, other) for one in keys for other in others}
        facts = [*_apart(pairs, graph), *(replace(so, entity=one, target=other) for one, other in pairs)]
        yield GraphChange(f"the {so.text}", SceneGraph(facts, caption=graph.caption))


def _unrelated(pairs: set[tuple[str, str]], graph: SceneGraph, *, statement: str) -> GraphChange:
    return GraphChange(f"nothing says {statement!r}", SceneGraph(_apart(pairs, graph), caption=graph.caption))


def _apart(pairs: set[tuple[str, str]], graph: SceneGraph) -> list[Fact]:
    """Return the facts without what relates two things, either way round: one says what the other does."""
    both = pairs | {(other, one) for one, other in pairs}
    return [fact for fact in graph.facts if not fact.relation or (fact.entity, fact.target) not in both]


def _otherwise_related(
    fact: Fact, pairs: set[tuple[str, str]], graph: SceneGraph, output: str, draw: Draw
) -> GraphChange:
    """Relate two things in another way."""
    new = draw.word()
    facts = _apart(pairs, graph)
    facts += [replace(fact, entity=one, target=other, relation=new) for one, other in sorted(pairs)]
    gone = fact.relation if says(output, fact.relation) else ""
    about = f"the {fact.entity} is {new} the {fact.target}"
    return GraphChange(about, SceneGraph(facts, caption=graph.caption), gone=gone)


def _revalued(fact: Fact, keys: set[str], graph: SceneGraph, output: str, draw: Draw) -> Iterator[GraphChange]:
    """Give things another value: a word that nobody knows, and a real one."""
    known = next(one for one in graph.facts if one.entity in keys and one.attribute and _alike(one, fact))
    for value in draw.values(known, output):
        facts = [
            replace(one, attribute=value) if one.entity in keys and one.attribute and _alike(one, fact) else one
            for one in graph.facts
        ]
        expected = value if says(output, fact.attribute) else ""
        yield GraphChange(f"the {fact.entity} is {value}", SceneGraph(facts, caption=graph.caption), said=expected)


def _more(fact: Fact, graph: SceneGraph, output: str, draw: Draw) -> Iterator[GraphChange]:
    """Add things of a name, or, to a thing that stands for several, to the number."""
    keys = [key for key in graph.get_entities() if name_of(key) == fact.entity]
    if not keys:
        return
    number = len(keys)
    counts = {one.attribute for one in graph.facts if one.entity in keys and one.kind == "count"}
    by_number = counts == {fact.attribute} and fact.attribute.isdecimal() and int(fact.attribute[:9]) != number
    if by_number:
        number = int(fact.attribute[:9])
    new = draw.number(number)
    facts = [replace(one, attribute=str(new)) if _counts(one, keys) else one for one in graph.facts]
    for place in range(0 if by_number else new - number):
        copies = {keys[place % len(keys)]: numbered(fact.entity, _highest(keys) + place + 1)}
        facts += [_copied(one, copies) for one in graph.facts if one.entity in copies or one.target in copies]
    about = f"there are {new} of {fact.entity!r} instead of {number}"
    expected = str(new) if str(number) in _NUMBER.findall(output) else ""
    yield GraphChange(about, SceneGraph(facts, caption=graph.caption), said=expected)


def _counts(fact: Fact, keys: Sequence[str]) -> bool:
    return fact.entity in keys and fact.kind == "count"


def _highest(keys: Sequence[str]) -> int:
    numbers = [int(key.rpartition("(")[2].rstrip(")")) for key in keys if name_of(key) != key]
    return max([1, *numbers])


def _copied(fact: Fact, copies: dict[str, str]) -> Fact:
    return replace(fact, entity=copies.get(fact.entity, fact.entity), target=copies.get(fact.target, fact.target))


def _without_thing(name: str, graph: SceneGraph) -> GraphChange:
    facts = [fact for fact in graph.facts if name not in {name_of(fact.entity), name_of(fact.target)}]
    return GraphChange(f"there is no {name}", SceneGraph(facts, caption=graph.caption))


def _renamed(name: str, graph: SceneGraph, output: str, draw: Draw) -> GraphChange:
    """Let a thing be another one of which all else is true."""
    new = draw.word()

    def called(key: str) -> str:
        return f"{new}{key[len(name) :]}" if key and name_of(key) == name else key

    facts = [replace(fact, entity=called(fact.entity), target=called(fact.target)) for fact in graph.facts]
    expected = says(output, name)
    return GraphChange(
        f"the {name} is a {new}", SceneGraph(facts, caption=graph.caption), said=new * expected, gone=name * expected
    )


def _mentioned_changes(draft: QuestionDraft, graph: SceneGraph, draw: Draw) -> list[GraphChange]:
    """Change the things that question and answer name one by one; of all where they name none."""
    text = f"{draft.question} {draft.answer}"
    names = list(dict.fromkeys(name_of(key) for key in graph.get_entities()))
    named = [name for name in names if says(text, name) or says(text, f"{name}s")] or names
    changes = [_without_thing(name, graph) for name in named]
    changes += [
        change
        for fact in graph.facts
        if fact.attribute and name_of(fact.entity) in named
        for change in _revalued(replace(fact, entity=name_of(fact.entity)), {fact.entity}, graph, "", draw)
    ]
    return changes[:_MOST]


def _alike(one: Fact, fact: Fact) -> bool:
    """Tell whether a fact of the graph says what a fact of a text says, in which entities have no numbers."""
    if name_of(one.entity) != name_of(fact.entity) or name_of(one.target) != name_of(fact.target):
        return False
    return one.relation == fact.relation and (one.attribute == fact.attribute or fact.attribute in one.values)
