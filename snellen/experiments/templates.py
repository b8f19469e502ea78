"""Templates of experiments, from easy to hard, for the questions that the case-based examiner understands.

What is claimed of things, or of a group of them, is asked about classes that are drawn at random for each picture. The
same query always asks the same; which classes and pictures are drawn is the seed's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import lcm
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.arrangement_templates import colored, counted, placed, recognized, several_or_one, sizes_told
from snellen.experiments.class_groups import ClassGroup, Subjects, members_of
from snellen.experiments.design import BLANK, PLACES, Arm, Design
from snellen.experiments.template_parts import FINE, largest_first, retrieved, select, spread, unclaimed
from snellen.reasoning.language.inflection import listing, plural, with_article
from snellen.reasoning.queries.abilities import (
    Ability,
    CountThings,
    Favour,
    IdentifyType,
    Kind,
    Mistake,
    NameColours,
    NoticeSeveral,
    Recognise,
    TellApart,
    TellMembers,
    TellPlaces,
    TellSizes,
)
from snellen.reasoning.queries.conditions import TYPES, Change, Condition
from snellen.reasoning.queries.echo import ability_in_words, condition_in_words
from snellen.tools.calls import ToolCall
from snellen.tools.transforms import TYPE_GROUPS, DataType, grouped

MOST_TYPES: Final = 5
"""Data types of a group that are examined one by one."""
OTHERS: Final = "other things"
"""The pool of what is of another kind."""
_MOST_ARMS: Final = 40


def experiments_about(ability: Ability, subjects: Subjects) -> list[Design]:
    """Return the experiments about an ability, the easiest first; they claim nothing yet.

    Args:
        ability: The ability.
        subjects: What pictures can be of.

    Raises:
        BadInput: There is nothing to draw such pictures from.
    """
    if subjects.classes and not _is_of_classes(ability):
        msg = "A folder of pictures says what they show, and not where, how many, how large or of which color."
        raise BadInput(msg)
    designs = list(_templates(ability, subjects))
    return [retrieved(design) for design in designs] if subjects.classes else designs


def _is_of_classes(ability: Ability) -> bool:
    """Tell whether an ability is only about what pictures show."""
    of_classes = Recognise | TellApart | TellMembers | Mistake | Favour | IdentifyType
    return isinstance(ability, of_classes) and not (isinstance(ability, Recognise) and ability.arranged)


def battery(subjects: Subjects) -> list[Design]:
    """Return an experiment about each ability, a hard one where there are several, to see what else a model can do.

    Args:
        subjects: What pictures can be of; the largest groups are asked about one by one.
    """
    largest = [group for group in largest_first(subjects.groups.values())[:FINE] if subjects.apart(group)]
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
    calls = calls_of(condition)
    few = _few_arms(design, len(calls))
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


def compared(design: Design, condition: Condition, than: Condition) -> Design:
    """Return the same experiment with each picture under one condition and under another.

    What is lost more under the first is a drop from the second to it. Of two families every change is paired as often
    with one of the other; of a large one the first few count.

    Args:
        design: With pictures as they are.
        condition: The first condition.
        than: The other.
    """
    one, other, most = calls_of(condition), calls_of(than), max(_MOST_ARMS // len(design.classes), 1)
    while lcm(len(one), len(other)) > most:
        max(one, other, key=len).pop()
    turns = range(lcm(len(one), len(other)))
    few = _few_arms(design, len(turns))
    words, others = condition_in_words(condition), condition_in_words(than)
    return design.model_copy(
        update={
            "arms": [
                arm.model_copy(update={"transform": one[turn % len(one)], "against": other[turn % len(other)]})
                for turn in turns
                for arm in few
            ],
            "paired": True,
            "condition": f"under {words}"[:200],
            "against": f"under {others}"[:200],
            "purpose": f"{design.purpose} The same pictures with {words} and with {others}."[:300],
        }
    )


def calls_of(condition: Condition) -> list[ToolCall]:
    """Return the transforms of a condition."""
    return [call for change in condition.changes for call in change.calls]


def _few_arms(design: Design, times: int) -> list[Arm]:
    """Return as many arms of each answer as there is room for so many times."""
    most = max(_MOST_ARMS // (times * len(design.classes)), 1)
    return [arm for answer in design.classes for arm in [each for each in design.arms if each.answer == answer][:most]]


def _templates(ability: Ability, subjects: Subjects) -> Iterator[Design]:  # noqa: C901, PLR0911 - one line each
    match ability:
        case Recognise(things=things):
            return recognized(ability, subjects) if ability.arranged else _recognise(things, subjects)
        case TellSizes(things=things):
            return sizes_told(things, subjects)
        case TellApart(kinds=kinds):
            return _told_apart(kinds, subjects)
        case TellMembers(things=things):
            return _members(things, subjects)
        case Mistake():
            return iter([_mistaken(ability, subjects)])
        case Favour(answer=answer):
            return _chosen(answer, subjects)
        case IdentifyType():
            return _identify(ability, subjects)
        case TellPlaces(axis=axis, things=things):
            return placed(axis, things, subjects)
        case CountThings(up_to=up_to, things=things):
            return counted(things, subjects, up_to)
        case NameColours(colours=colours, apart=apart, things=things):
            return colored(colours, things, subjects, apart=apart)
        case NoticeSeveral(likeness=likeness, things=things):
            return several_or_one(likeness, things, subjects)
        case _:
            msg = f"Multiple choice cannot examine {ability_in_words(ability, gerund=True)}."
            raise BadInput(msg)


def _recognise(things: Kind, subjects: Subjects) -> Iterator[Design]:
    group = subjects.kind(things)
    if group is None:
        yield from _among_all(subjects.classes or subjects.all_classes)
        return
    others = largest_first(subjects.apart(group))
    if len(group.members) == 1:
        yield from _one_class(group.members[0], others, subjects)
        return
    if others:
        yield _coarse(group, others[0])
        yield _by_members(group, others)
        return
    yield _among(group, FINE)


def _one_class(name: str, others: Sequence[ClassGroup], subjects: Subjects) -> Iterator[Design]:
    """A class against things of other kinds, then against its own kind."""
    if others:
        yield drawn_classes(
            1, f"telling {plural(name)} from other things", {name: [name], OTHERS: members_of(others)}, 2
        )
    siblings = subjects.siblings(name)
    if siblings:
        yield drawn_classes(3, f"telling {plural(name)} from their like", {name: [name], "of their like": siblings}, 2)
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
    yield unclaimed(
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
        [group.name] if group.drawn and len(group.members) > 1 else spread(group.members, FINE) for group in groups
    ]
    most = max(map(len, drawn))
    return [
        Arm(answer=name[:80], select=select(each[number % len(each)]))
        for name, each in zip(names, drawn, strict=True)
        for number in range(most)
    ]


def _chosen(answer: str, subjects: Subjects) -> Iterator[Design]:
    """Questions with an answer that may be given too often: names at places, or yes and no, each right as often."""
    if answer not in {"yes", "no"}:
        yield from list(_among_all(subjects.classes or subjects.all_classes))[: None if answer else 1]
    if answer not in {"first", "last"} and not subjects.classes:
        yield next(several_or_one("", Kind(), subjects))
        yield next(placed("sides", Kind(), subjects))


def _among_all(classes: Sequence[str]) -> Iterator[Design]:
    """Classes told from one another: each from another one, and then from more."""
    if len(classes) < 2:  # noqa: PLR2004 - with one there is nothing to tell apart
        msg = f"There are only pictures of {classes[0]!r}: a second class is needed, to tell them apart."
        raise BadInput(msg)
    skill = f"recognizing things of {len(classes)} kinds"
    yield drawn_classes(1, skill, {"things": classes}, 2)
    if len(classes) > 2:  # noqa: PLR2004
        yield drawn_classes(3, skill, {"things": classes}, min(FINE, len(classes)))


def drawn_classes(difficulty: int, skill: str, pools: Mapping[str, Sequence[str]], places: int) -> Design:
    """Classes that are drawn for each picture, so that verdicts are about all of them (`drawn_answers`)."""
    named = {name[:64]: list(members) for name, members in pools.items()}
    from_what = listing([name if members == [name] else f"{len(members)} {name}" for name, members in named.items()])
    beside = "another name" if places == 2 else f"{places - 1} other names"  # noqa: PLR2004 - one beside it
    arms = [Arm(answer=place, select=select(pool)) for place in PLACES[:places] for pool in named]
    purpose = f"Each picture shows one of {from_what}, drawn at random, and asks for it beside {beside} drawn likewise."
    design = unclaimed(difficulty, purpose[:300], skill[:300], f"Is the object in the image {BLANK}?", arms)
    return design.model_copy(update={"pools": named})


def _mistaken(ability: Mistake, subjects: Subjects) -> Design:
    """Things of one kind, which are asked for beside one of the other kind and one of neither.

    Who sees nothing goes for either alike; who takes one kind for the other does not.

    Raises:
        BadInput: The kinds overlap, or there is nothing else.
    """
    kinds = [group for kind in (ability.things, ability.other) if (group := subjects.kind(kind)) is not None]
    members = [member for group in kinds for member in group.members]
    others = [one for one in subjects.apart(kinds[0]) if one in subjects.apart(kinds[1])]
    things, other = (plural(group.name) if len(group.members) == 1 else group.name for group in kinds)
    if len(set(members)) < len(members):
        msg = f"Some things belong to {things} and to {other}: these cannot be mistaken for one another."
        raise BadInput(msg)
    if not others:
        msg = f"Whether {things} are taken for {other} is only seen beside a third kind of things, and there is none."
        raise BadInput(msg)
    pools = {things[:64]: list(kinds[0].members), other[:64]: list(kinds[1].members), OTHERS: members_of(others)}
    shown, taken = (
        with_article(group.name) if len(group.members) == 1 else f"one of {len(group.members)} {group.name}"
        for group in kinds
    )
    purpose = f"Each picture shows {shown}, and asks for it beside {taken} and another thing, all drawn at random."
    arms = [Arm(answer=place, select=select(things[:64])) for place in PLACES[: len(pools)]]
    skill = f"telling {things} from {other} and other things"
    design = unclaimed(2, purpose[:300], skill[:300], f"Is the object in the image {BLANK}?", arms)
    return design.model_copy(update={"pools": pools})


def _coarse(group: ClassGroup, other: ClassGroup) -> Design:
    pair = (group, other)
    names = [_called(one) for one in pair]
    return unclaimed(
        1,
        f"Coarse: {group.name} against {other.name}, which have little in common."[:300],
        f"telling {group.name} from {other.name}"[:300],
        f"Is the object in the image {listing(names, 'or')}?"[:300],
        _arms_of(pair, names),
    ).model_copy(update={"of_names": True})


def _by_members(group: ClassGroup, others: Sequence[ClassGroup]) -> Design:
    """One of a group against a thing of another kind, each by its own name."""
    return drawn_classes(
        2, f"telling {group.name} from other things", {group.name: group.members, OTHERS: members_of(others)}, 2
    )


def _members(things: Kind, subjects: Subjects) -> Iterator[Design]:
    """Things of one kind from one another: each from another one, and then from more.

    Raises:
        BadInput: There is one class of them.
    """
    group = subjects.kind(things)
    if group is None:
        yield from _among_all(subjects.classes or subjects.all_classes)
        return
    if len(group.members) < 2:  # noqa: PLR2004 - with one there is nothing to tell apart
        many = plural(group.members[0])
        msg = f"Pictures show only one kind of {many}: ask whether {many} are recognized, or told from other things."
        raise BadInput(msg)
    yield _among(group, 2)
    if len(group.members) > 2:  # noqa: PLR2004
        yield _among(group, FINE)


def _among(group: ClassGroup, places: int) -> Design:
    """A group against one another, so that the group itself says nothing."""
    places = min(places, len(group.members))
    level = 1 if places == 2 else 3  # noqa: PLR2004 - one name beside it
    return drawn_classes(level, f"telling {group.name} apart", {group.name: group.members}, places)


def _identify(ability: IdentifyType, subjects: Subjects) -> Iterator[Design]:
    group, condition = subjects.kind(ability.things), ability.condition
    what = "random" if group is None else group.name if group.drawn else group.members[0]
    changes = condition.changes[:MOST_TYPES]
    for change in changes:
        is_stated = len(changes) == 1 and change != Change(type=change.type)
        yield _present(TYPES[change.type], change.calls, what, condition_in_words(condition) if is_stated else "")


def _present(kind: DataType, calls: Sequence[ToolCall], what: str, stated: str = "") -> Design:
    """Half of the pictures are changed, the others as they are: to notice a turn is not to tell left from right."""
    return unclaimed(
        1,
        f"Whether a picture is {kind.said[0]}: {stated or 'plain to see'}, against pictures as they are.",
        f"identifying {stated or kind.name}",
        f"Is the image {kind.said[0]}?",
        [
            arm
            for call in calls
            for arm in (Arm(answer="yes", select=select(what), transform=call), Arm(answer="no", select=select(what)))
        ],
    )
