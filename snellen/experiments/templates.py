"""Templates of experiments, from easy to hard, for the queries that the case-based examiner understands.

Which classes stand for a group is decided by the group alone, so that the same query always asks the same; which
pictures are drawn of them is the seed's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.design import MARGIN, Arm, Claim, Design, halfway
from snellen.experiments.queries.class_groups import ClassGroup, Subjects
from snellen.experiments.queries.model_queries import Ability, ReadModelQuery
from snellen.reasoning.language.inflection import listing, plural, with_article
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import DATA_TYPES, TYPE_GROUPS, DataType, grouped

FINE: Final = 4
"""Classes of a group that are told apart."""
MOST_TYPES: Final = 5
"""Data types of a group that are examined one by one."""
_PAIRS: Final = 3
"""Pairs of things whose places are asked for."""
_COLORS: Final = ("red", "blue", "green", "yellow", "purple")


def experiments_for(asked: ReadModelQuery, subjects: Subjects, models: Sequence[str]) -> list[Design]:
    """Return the experiments for a query, the easiest first.

    Args:
        asked: What it asks.
        subjects: What pictures can be of.
        models: Those that are examined.

    Raises:
        BadInput: There is nothing to draw such pictures from.
    """
    if subjects.classes and asked.ability not in {"recognise", "identify"}:
        msg = "A folder of pictures says what they show, and not where, how many or of which color: ask about that."
        raise BadInput(msg)
    designs = list(_TEMPLATES[asked.ability](asked, subjects))
    if subjects.classes:
        designs = [_retrieved(design) for design in designs]
    if asked.types and asked.ability != "identify":
        designs = [_changed(design, asked) for design in designs]
    return [design.model_copy(update={"claims": _claims(design, asked, models)}) for design in designs]


def battery(subjects: Subjects) -> list[Design]:
    """Return an experiment about each ability, a hard one where there are several, to see what else a model can do.

    Args:
        subjects: What pictures can be of; the largest groups are asked about one by one.
    """
    abilities: tuple[Ability, ...] = ("recognise", "position", "count", "color", "several")
    largest = _largest(subjects.groups.values())
    queries = [ReadModelQuery(ability) for ability in abilities]
    queries += [ReadModelQuery("recognise", group=group.name) for group in largest[:FINE] if subjects.apart(group.name)]
    queries += [ReadModelQuery("identify", types=(grouped(group)[0].name,)) for group in TYPE_GROUPS]
    hardest = {"recognise", "count"}
    return [list(_TEMPLATES[one.ability](one, subjects))[-1 if one.ability in hardest else 0] for one in queries]


def _claims(design: Design, query: ReadModelQuery, models: Sequence[str]) -> list[Claim]:
    half = halfway(len(design.classes))
    if query.compared:
        return [Claim(kind="better", model=one, other=other, threshold=0) for one, other in combinations(models, 2)][
            :24
        ]
    if query.robust:
        kinds: tuple[tuple[str, float], ...] = (("plain", half), ("drop", MARGIN))
        return [
            Claim.model_validate({"kind": kind, "model": name, "threshold": bar})
            for name in models
            for kind, bar in kinds
        ]
    return [Claim(kind="ability", model=name, threshold=half) for name in models]


def _largest(groups: Iterable[ClassGroup]) -> list[ClassGroup]:
    return sorted(groups, key=lambda group: (-len(group.members), group.name))


def _select(name: str) -> ToolCall:
    return ToolCall(name="TextToImageGeneration", arguments={"class_name": name})


def _spread(names: Sequence[str], count: int) -> list[str]:
    """Return so many names, evenly from all of them."""
    ranked = sorted(names)
    few = min(count, len(ranked))
    return [ranked[place * len(ranked) // few] for place in range(few)]


def _design(difficulty: int, purpose: str, skill: str, question: str, arms: Sequence[Arm]) -> Design:
    """An experiment whose claims are added later; until then it claims nothing worth a name."""
    nothing = Claim(kind="ability", model="-", threshold=0)
    return Design(
        difficulty=difficulty, purpose=purpose, skill=skill, question=question, arms=list(arms), claims=[nothing]
    )


def _recognise(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    largest = _largest(subjects.groups.values())
    if not query.group:
        yield from _among_all(subjects.classes) if subjects.classes else _anything(largest)
        return
    group = subjects.groups[query.group]
    others = _largest(subjects.apart(group.name))
    if others:
        yield _coarse(group, others[0])
    yield _among(group, _spread(group.members, FINE))


def _anything(groups: Sequence[ClassGroup]) -> Iterator[Design]:
    """Things of different kinds, two and then more; no group that contains another."""
    chosen: list[str] = []
    for group in groups:
        if len(chosen) < FINE and not set(chosen) & set(group.members):
            chosen.append(_spread(group.members, FINE + 1)[len(chosen)])
    yield _mixed(1, chosen[:2])
    yield _mixed(3, chosen)


def _among_all(classes: Sequence[str]) -> Iterator[Design]:
    """The classes of a folder: two of them, and then more."""
    if len(classes) < 2:  # noqa: PLR2004 - with one there is nothing to tell apart
        msg = f"There are only pictures of {classes[0]!r}: a second class is needed, to tell them apart."
        raise BadInput(msg)
    yield _mixed(1, _spread(classes, 2))
    if len(classes) > 2:  # noqa: PLR2004
        yield _mixed(3, _spread(classes, FINE))


def _retrieved(design: Design) -> Design:
    """Return the same experiment with pictures that are looked up."""
    arms = [
        arm.model_copy(update={"select": ToolCall(name="TextToImageRetrieval", arguments=arm.select.arguments)})
        for arm in design.arms
    ]
    return design.model_copy(update={"arms": arms})


def _coarse(group: ClassGroup, other: ClassGroup) -> Design:
    pair = (group, other)
    names = [one.called for one in pair]
    return _design(
        1,
        f"Coarse: {group.name} against {other.name}, which have little in common.",
        f"telling {group.name} from {other.name}",
        f"Is the object in the image {listing(names, 'or')}?",
        [Arm(answer=name, select=_select(one.name)) for name, one in zip(names, pair, strict=True)],
    )


def _among(group: ClassGroup, members: Sequence[str]) -> Design:
    names = [with_article(name) for name in members]
    return _design(
        3,
        f"Fine: {group.name} against one another, so that the group itself says nothing.",
        f"telling {group.name} apart",
        f"Is the {group.singular} in the image {listing(names, 'or')}?",
        [Arm(answer=name, select=_select(one)) for name, one in zip(names, members, strict=True)],
    )


def _mixed(difficulty: int, members: Sequence[str]) -> Design:
    names = [with_article(name) for name in members]
    return _design(
        difficulty,
        f"Single things of {len(members)} different kinds are told from one another.",
        f"telling {listing(members)} apart",
        f"Is the object in the image {listing(names, 'or')}?",
        [Arm(answer=name, select=_select(one)) for name, one in zip(names, members, strict=True)],
    )


def _changed(design: Design, query: ReadModelQuery) -> Design:
    """Return the same experiment with pictures of the asked types: every answer with each of them, plainly visible."""
    types = [DATA_TYPES[name] for name in query.types]
    arms = [arm.model_copy(update={"transform": one.calls[-1]}) for one in types for arm in design.arms]
    changes = f"{query.type_group} changes" if query.type_group else listing([one.name for one in types])
    return design.model_copy(
        update={
            "arms": arms,
            "paired": query.robust,
            "condition": f"under {changes}",
            "purpose": f"{design.purpose} "
            + (f"The same pictures with and without {changes}." if query.robust else f"All with {changes}."),
        }
    )


def _identify(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    types = [DATA_TYPES[name] for name in query.types][:MOST_TYPES]
    what = query.group or "random"
    if query.group and query.group not in subjects.groups:
        what = "random"
    if len(types) > 1:
        yield from (_present(1, one, one.calls[-1], what) for one in types)
        return
    kind = types[0]
    yield _present(1, kind, kind.calls[-1], what)
    if kind.calls[0] != kind.calls[-1] and kind.name != "tilt":
        yield _present(3, kind, kind.calls[0], what)
    yield _rather(kind, _kin(kind), what)


def _present(difficulty: int, kind: DataType, call: ToolCall, what: str) -> Design:
    strength = "plain" if difficulty == 1 else "slight"
    return _design(
        difficulty,
        f"Whether a picture is {kind.said[0]}: {strength} to see, against pictures as they are.",
        f"identifying {kind.name}" + (" that is slight" if difficulty > 1 else ""),
        f"Is the image {kind.said[0]}?",
        [Arm(answer="yes", select=_select(what), transform=call), Arm(answer="no", select=_select(what))],
    )


def _kin(kind: DataType) -> DataType:
    """The type that is most easily taken for another: the next one of its group."""
    group = [one for one in DATA_TYPES.values() if one.group == kind.group]
    return group[(group.index(kind) + 1) % len(group)]


def _rather(kind: DataType, other: DataType, what: str) -> Design:
    return _design(
        4,
        f"Both pictures are changed: {kind.name} is told from {other.name}.",
        f"telling {kind.name} from {other.name}",
        f"Is the image {kind.said[0]} or {other.said[0]}?",
        [Arm(answer=one.said[0], select=_select(what), transform=one.calls[-1]) for one in (kind, other)],
    )


def _things(query: ReadModelQuery, subjects: Subjects, count: int) -> list[str]:
    """Return things that one can count, place and paint: of the group, or one each of the largest groups."""
    if query.group:
        return _spread([name for name in subjects.groups[query.group].members if _countable(name)], count)
    largest = _largest(subjects.groups.values())
    chosen: list[str] = []
    for group in largest:
        if all(one not in group.members for one in chosen):
            chosen += [name for name in _spread(group.members, FINE) if _countable(name)][:1]
    return chosen[:count]


def _countable(name: str) -> bool:
    """Whether there can be several of a thing and it may have any color: its name says none, and has a plural."""
    return plural(name) != name and not {"red", "green", "blue", "orange", *_COLORS} & set(name.split())


_SIDES: Final = (("left", "to the left of", "to the right of"), ("right", "to the right of", "to the left of"))
_HEIGHTS: Final = (("above", "above", "below"), ("below", "below", "above"))


def _position(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    things = _things(query, subjects, 2 * _PAIRS)
    pairs = list(zip(things[::2], things[1::2], strict=False))
    for difficulty, words, sides in ((2, _SIDES, "left and right"), (3, _HEIGHTS, "above and below")):
        arms = []
        for place, (one, other) in enumerate(pairs):
            _, right, wrong = words[place % 2]
            question = f"Is the {one} {right} the {other}?"
            for answer, relation in (("yes", right), ("no", wrong)):
                shown = f"{with_article(one)} {relation} {with_article(other)}"
                arms.append(Arm(answer=answer, select=_select(shown), question=question))
        yield _design(
            difficulty,
            f"Two things, of which only the places differ: {sides}.",
            f"telling {sides} apart",
            arms[0].question,
            arms,
        )


def _count(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    things = _things(query, subjects, _PAIRS)
    for difficulty, numbers in ((1, (1, 3)), (3, (1, 2, 3, 4))):
        arms = [
            Arm(
                answer=str(number),
                select=_select(f"{number} {plural(thing) if number > 1 else thing}"),
                question=f"How many {plural(thing)} are in the image?",
            )
            for thing in things
            for number in numbers
        ]
        yield _design(
            difficulty,
            f"Nothing but equal things: {listing([str(number) for number in numbers], 'or')} of them.",
            f"counting to {max(numbers)}" if len(numbers) > 2 else "telling one from three",  # noqa: PLR2004
            arms[0].question,
            arms,
        )


def _color(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    things = _things(query, subjects, _PAIRS)
    for difficulty, colors in ((1, _COLORS[:2]), (2, _COLORS)):
        arms = [
            Arm(answer=color, select=_select(f"a {color} {thing}"), question=f"What color is the {thing}?")
            for thing in things
            for color in colors
        ]
        yield _design(
            difficulty,
            f"One thing, of which only the color differs: {listing(colors, 'or')}.",
            f"naming the colors {listing(colors)}",
            arms[0].question,
            arms,
        )


def _several(query: ReadModelQuery, subjects: Subjects) -> Iterator[Design]:
    what = query.group if query.group in subjects.groups else "random"
    one = subjects.groups[what].singular if what in subjects.groups else what
    yield _design(
        1,
        "One thing, or two of one kind.",
        "noticing several things",
        "Are there several objects in the image?",
        [
            Arm(answer="yes", select=_select(f"two identical {what}")),
            Arm(answer="no", select=_select(what)),
        ],
    )
    yield _design(
        2,
        "Two things: of one kind, or of different kinds.",
        "telling equal from different things",
        "Are there several different objects in the image?",
        [
            Arm(answer="yes", select=_select(f"{one if one == what else with_article(one)} and random")),
            Arm(answer="no", select=_select(f"two identical {what}")),
        ],
    )


_TEMPLATES: Final[dict[Ability, Callable[[ReadModelQuery, Subjects], Iterator[Design]]]] = {
    "recognise": _recognise,
    "identify": _identify,
    "position": _position,
    "count": _count,
    "color": _color,
    "several": _several,
}
