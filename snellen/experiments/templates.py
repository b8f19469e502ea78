"""Templates of experiments, from easy to hard, for the questions that the case-based examiner understands.

Which classes stand for a group is decided by the group alone, so that the same query always asks the same; which
pictures are drawn of them is the seed's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import ClassGroup, Subjects
from snellen.experiments.design import Arm, Claim, Design
from snellen.reasoning.language.inflection import listing, plural, with_article
from snellen.reasoning.queries.conditions import TYPES, Change, Condition
from snellen.reasoning.queries.echo import condition_in_words
from snellen.reasoning.queries.model_query import (
    Ability,
    CountThings,
    IdentifyType,
    Kind,
    NameColours,
    NoticeSeveral,
    Recognise,
    TellApart,
    TellPlaces,
)
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import DATA_TYPES, TYPE_GROUPS, DataType, grouped

FINE: Final = 4
"""Classes of a group that are told apart."""
MOST_TYPES: Final = 5
"""Data types of a group that are examined one by one."""
_PAIRS: Final = 3
"""Pairs of things whose places are asked for."""
_MOST_ARMS: Final = 40
_COLORS: Final = ("red", "blue", "green", "yellow", "purple")


def experiments_about(ability: Ability, subjects: Subjects) -> list[Design]:
    """Return the experiments about an ability, the easiest first; they claim nothing yet.

    Args:
        ability: The ability.
        subjects: What pictures can be of.

    Raises:
        BadInput: There is nothing to draw such pictures from.
    """
    if subjects.classes and not isinstance(ability, Recognise | TellApart | IdentifyType):
        msg = "A folder of pictures says what they show, and not where, how many or of which color: ask about that."
        raise BadInput(msg)
    designs = list(_templates(ability, subjects))
    return [_retrieved(design) for design in designs] if subjects.classes else designs


def battery(subjects: Subjects) -> list[Design]:
    """Return an experiment about each ability, a hard one where there are several, to see what else a model can do.

    Args:
        subjects: What pictures can be of; the largest groups are asked about one by one.
    """
    largest = [group for group in _largest(subjects.groups.values())[:FINE] if subjects.apart(group)]
    designs = [list(_templates(ability, subjects))[-1] for ability in (Recognise(), CountThings())]
    designs += [next(_templates(each, subjects)) for each in (TellPlaces(), NameColours(), NoticeSeveral())]
    designs += [next(_recognise(Kind(names=(group.singular,)), subjects)) for group in largest]
    noticed = [Condition(change=Change(type=grouped(group)[0].name)) for group in TYPE_GROUPS]
    return designs + [next(_identify(IdentifyType(condition=each), subjects)) for each in noticed]


def changed(design: Design, condition: Condition, *, robust: bool) -> Design:
    """Return the same experiment with pictures under a condition: every answer with each of its changes.

    Args:
        design: With pictures as they are.
        condition: The changes, plainly visible where no severity is stated.
        robust: Whether the same is asked about the pictures before they were changed.
    """
    calls = [call for change in condition.changes for call in change.calls]
    most = max(_MOST_ARMS // (len(calls) * len(design.classes)), 1)
    by_answer = [[arm for arm in design.arms if arm.answer == answer][:most] for answer in design.classes]
    few = [arm for arms in by_answer for arm in arms]
    calls = calls[: max(_MOST_ARMS // len(few), 1)]
    words = condition_in_words(condition)
    how = f"The same pictures with and without {words}." if robust else f"All with {words}."
    return design.model_copy(
        update={
            "arms": [arm.model_copy(update={"transform": call}) for call in calls for arm in few],
            "paired": robust,
            "condition": f"under {words}"[:200],
            "purpose": f"{design.purpose} {how}"[:300],
        }
    )


def _templates(ability: Ability, subjects: Subjects) -> Iterator[Design]:
    match ability:
        case Recognise(things=things):
            return _recognise(things, subjects)
        case TellApart(kinds=kinds):
            return _told_apart(kinds, subjects)
        case IdentifyType():
            return _identify(ability, subjects)
        case TellPlaces(axis=axis, things=things):
            return _position(axis, things, subjects)
        case CountThings(things=things):
            return _count(things, subjects)
        case NameColours(colours=colours, things=things):
            return _color(colours, things, subjects)
        case NoticeSeveral(likeness=likeness, things=things):
            return _several(likeness, things, subjects)
        case _:
            msg = "This is not examined by choosing answers."
            raise BadInput(msg)


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


def _recognise(things: Kind, subjects: Subjects) -> Iterator[Design]:
    group = subjects.kind(things)
    if group is None:
        largest = _largest(subjects.groups.values())
        yield from _among_all(subjects.classes) if subjects.classes else _anything(largest)
        return
    others = _largest(subjects.apart(group))
    if len(group.members) == 1:
        yield from _one_class(group.members[0], others, subjects)
        return
    if others:
        yield _coarse(group, others[0])
    yield _among(group, _spread(group.members, FINE))


def _one_class(name: str, others: Sequence[ClassGroup], subjects: Subjects) -> Iterator[Design]:
    """A class against one of another kind, then among its own kind."""
    if others:
        yield _mixed(1, [name, _spread(others[0].members, 1)[0]])
    siblings = subjects.siblings(name)
    if siblings:
        yield _mixed(3, [name, *_spread(siblings, FINE - 1)])
    elif not others:
        yield from _among_all(subjects.classes)


def _told_apart(kinds: Sequence[Kind], subjects: Subjects) -> Iterator[Design]:
    """Kinds of things against one another, and nothing else."""
    groups = [group for kind in kinds if (group := subjects.kind(kind)) is not None]
    for one, other in combinations(groups, 2):
        if shared := set(one.members) & set(other.members):
            msg = f"A {min(shared)} belongs to {one.name} and to {other.name}: these cannot be told apart."
            raise BadInput(msg)
    names = [_called(group) for group in groups]
    yield _design(
        2,
        f"Things of {len(groups)} kinds are told from one another.",
        f"telling {groups[0].name} from {groups[1].name}" if len(groups) == 2  # noqa: PLR2004 - a pair
        else f"telling {listing([group.name for group in groups])} apart",
        f"Is the object in the image {listing(names, 'or')}?",
        _arms_of(groups, names),
    )  # fmt: skip


def _called(group: ClassGroup) -> str:
    """A member of a group in words, where questions name it."""
    if len(group.members) == 1:
        return with_article(group.members[0])
    return group.called if group.drawn else f"one of the {group.name}"


def _arms_of(groups: Sequence[ClassGroup], names: Sequence[str]) -> list[Arm]:
    """Return as many arms of each group; a group that is not drawn by its name is by some of its classes."""
    drawn = [
        [group.name] if group.drawn and len(group.members) > 1 else _spread(group.members, FINE) for group in groups
    ]
    most = max(map(len, drawn))
    return [
        Arm(answer=name[:80], select=_select(each[number % len(each)]))
        for name, each in zip(names, drawn, strict=True)
        for number in range(most)
    ]


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
    names = [_called(one) for one in pair]
    return _design(
        1,
        f"Coarse: {group.name} against {other.name}, which have little in common."[:300],
        f"telling {group.name} from {other.name}"[:300],
        f"Is the object in the image {listing(names, 'or')}?"[:300],
        _arms_of(pair, names),
    )


def _among(group: ClassGroup, members: Sequence[str]) -> Design:
    names = [with_article(name) for name in members]
    return _design(
        3,
        f"Fine: {group.name} against one another, so that the group itself says nothing."[:300],
        f"telling {group.name} apart"[:300],
        f"Is the {group.singular if group.drawn else 'object'} in the image {listing(names, 'or')}?",
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


def _identify(ability: IdentifyType, subjects: Subjects) -> Iterator[Design]:
    group, condition = subjects.kind(ability.things), ability.condition
    what = "random" if group is None else group.name if group.drawn else group.members[0]
    changes = condition.changes[:MOST_TYPES]
    if len(changes) > 1:
        yield from (_present(1, TYPES[one.type], one.calls, what) for one in changes)
        return
    change = changes[0]
    kind, stated = TYPES[change.type], change.amount is not None or change.slight or bool(change.side)
    yield _present(1, kind, change.calls, what)
    if stated:
        return
    if kind.calls[0] != kind.calls[-1] and kind.name != "tilt":
        yield _present(3, kind, kind.calls[:1], what)
    yield _rather(kind, _kin(kind), what)


def _present(difficulty: int, kind: DataType, calls: Sequence[ToolCall], what: str) -> Design:
    strength = "plain" if difficulty == 1 else "slight"
    return _design(
        difficulty,
        f"Whether a picture is {kind.said[0]}: {strength} to see, against pictures as they are.",
        f"identifying {kind.name}" + (" that is slight" if difficulty > 1 else ""),
        f"Is the image {kind.said[0]}?",
        [
            arm
            for call in calls
            for arm in (Arm(answer="yes", select=_select(what), transform=call), Arm(answer="no", select=_select(what)))
        ],
    )


def _kin(kind: DataType) -> DataType:
    """The type that is most easily taken for another: the next one of its group."""
    group = [one for one in DATA_TYPES.values() if one.group == kind.group]
    return group[(group.index(kind) + 1) % len(group)] if kind in group else group[0]


def _rather(kind: DataType, other: DataType, what: str) -> Design:
    return _design(
        4,
        f"Both pictures are changed: {kind.name} is told from {other.name}.",
        f"telling {kind.name} from {other.name}",
        f"Is the image {kind.said[0]} or {other.said[0]}?",
        [Arm(answer=one.said[0], select=_select(what), transform=one.calls[-1]) for one in (kind, other)],
    )


def _things(kind: Kind, subjects: Subjects, count: int) -> list[str]:
    """Return things that one can count, place and paint: of the kind, or one each of the largest groups.

    Raises:
        BadInput: There are none of the kind.
    """
    group = subjects.kind(kind)
    if group is not None:
        countable = [name for name in group.members if _countable(name)]
        if not countable:
            msg = f"Of {group.name} one cannot say how many there are, or of which color they are."
            raise BadInput(msg)
        return _spread(countable, count)
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


def _position(axis: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    things = _things(kind, subjects, 2 * _PAIRS)
    if len(things) == 1:
        things += [name for name in _things(Kind(), subjects, 2) if name not in things][:1]
    pairs = list(zip(things[::2], things[1::2], strict=False))
    both = ((2, _SIDES, "left and right"), (3, _HEIGHTS, "above and below"))
    for difficulty, words, sides in {"sides": both[:1], "heights": both[1:], "both": both}[axis]:
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


def _count(kind: Kind, subjects: Subjects) -> Iterator[Design]:
    things = _things(kind, subjects, _PAIRS)
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


def _color(named: Sequence[str], kind: Kind, subjects: Subjects) -> Iterator[Design]:
    things = _things(kind, subjects, _PAIRS)
    ranked = [*named, *(color for color in _COLORS if color not in named)]
    for difficulty, colors in ((1, ranked[: max(len(named), 2)]), (2, ranked)):
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


def _several(likeness: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    group = subjects.kind(kind)
    what = "random" if group is None else group.name if group.drawn else group.members[0]
    one = "random" if group is None else with_article(group.singular if group.drawn else what)
    if likeness != "different":
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
            Arm(answer="yes", select=_select(f"{one} and random")),
            Arm(answer="no", select=_select(f"two identical {what}")),
        ],
    )
