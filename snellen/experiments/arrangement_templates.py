"""Templates of experiments about things, their places, numbers and colors, from easy to hard.

Which things a picture shows, and which colors where it is two of them, is drawn for each picture (`drawn_answers`), so
that a verdict is about all of their kind. Whoever fails is asked in other words (`further_wordings`): without the names
of things, with captions for answers, or by another question, in pictures whose things it recognizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Arm, Design, OtherWords
from snellen.experiments.further_wordings import OPEN
from snellen.experiments.template_parts import select, unclaimed
from snellen.reasoning.language.inflection import listing, plural
from snellen.reasoning.queries.abilities import Kind, Recognise

_COLORS: Final = ("red", "blue", "green", "yellow", "purple")
_THING: Final = "thing"
_OTHER: Final = "other thing"
_NEIGHBOR: Final = "neighbor"
_COLOR: Final = "color"
_COUNTED: Final = (f"one [{_THING}]", f"two [{_THING}s]", f"three [{_THING}s]", f"four [{_THING}s]")
_MOST_COUNTED: Final = len(_COUNTED)
"""Equal things that are counted: more have hardly room beside one another."""


@dataclass(frozen=True)
class DrawnThings:
    """Things that are drawn for each picture.

    Attributes:
        names: Those of which one is drawn.
        words: All of them in words: "things of 204 kinds".
        beside: Those that another one is drawn from, where the first ones are of one kind only.
    """

    names: tuple[str, ...]
    words: str
    beside: tuple[str, ...] = ()

    @property
    def alone(self) -> dict[str, list[str]]:
        """The pool of one thing."""
        return {_THING: list(self.names)}

    @property
    def pairs(self) -> dict[str, list[str]]:
        """The pools of two different things."""
        return {**self.alone, **({_OTHER: list(self.beside)} if self.beside else {})}


def countable_things(kind: Kind, subjects: Subjects) -> DrawnThings:
    """Return the things of a kind that one can count, place and paint.

    Raises:
        BadInput: There are none.
    """
    every = tuple(filter(_countable, subjects.all_classes))
    group = subjects.kind(kind)
    if group is None:
        return DrawnThings(every, f"things of {len(every)} kinds")
    names = tuple(filter(_countable, group.members))
    if not names:
        msg = f"How many there are, or which color they have, cannot be asked about {group.name}."
        raise BadInput(msg)
    if len(names) > 1:
        return DrawnThings(names, f"{group.name} of {len(names)} kinds")
    return DrawnThings(names, plural(names[0]), tuple(name for name in every if name not in names))


def _countable(name: str) -> bool:
    """Whether there can be several of a thing and it may have any color: its name says none, and has a plural."""
    return plural(name) != name and not {"red", "green", "blue", "orange", *_COLORS} & set(name.split())


@dataclass(frozen=True)
class Axis:
    """Two opposite places.

    Attributes:
        difficulty: Of telling them apart.
        words: Both, in words.
        relations: Each as a relation between two things.
        answers: Each as an answer to the question for either.
    """

    difficulty: int
    words: str
    relations: tuple[str, str]
    answers: tuple[str, str]

    @property
    def either(self) -> str:
        """The question for one of the two."""
        one, other = self.answers
        return f"Is the [{_THING}] {one} or {other}{' of' * other.startswith('to ')} the [{_OTHER}]?"


_SIDES: Final = Axis(2, "left and right", ("to the left of", "to the right of"), ("to the left", "to the right"))
_HEIGHTS: Final = Axis(3, "above and below", ("above", "below"), ("above", "below"))
_AXES: Final = {"sides": (_SIDES,), "heights": (_HEIGHTS,), "both": (_SIDES, _HEIGHTS)}


def placed(axis: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about the places of two things: sides, heights or both."""
    things = countable_things(kind, subjects)
    for each in _AXES[axis]:
        arms = [
            Arm(
                answer="yes" if shown == asked else "no",
                select=select(f"[a {_THING}] {each.relations[shown]} [an{_OTHER}]"),
                question=f"Is the [{_THING}] {each.relations[asked]} the [{_OTHER}]?",
                otherwise=[
                    OtherWords(answer=each.answers[shown], question=each.either),
                    OtherWords(answer=f"[a {_THING}] {each.relations[shown]} [an{_OTHER}]", question=OPEN),
                ],
            )
            for asked in (0, 1)
            for shown in ((0, 1) if asked == 0 else (1, 0))
        ]
        purpose = f"Two things, drawn for each picture, of which only the places differ: {each.words}."
        skill = f"telling {each.words} apart among {things.words}"
        yield _drawn(each.difficulty, purpose, skill, arms, things.pairs)


def counted(kind: Kind, subjects: Subjects, up_to: int = 0) -> Iterator[Design]:
    """Yield experiments about numbers of equal things: up to one that is stated, or to four.

    Raises:
        BadInput: Pictures do not show so many.
    """
    if up_to > _MOST_COUNTED:
        msg = f"Pictures show at most {_MOST_COUNTED} of a thing: ask about counting up to {_MOST_COUNTED}."
        raise BadInput(msg)
    things = countable_things(kind, subjects)
    question = f"How many [{_THING}s] are in the image?"
    all_of_them = tuple(range(1, (up_to or _MOST_COUNTED) + 1))
    easy = (1, (1, 3), f"telling one from three {things.words}")
    whole = (3, all_of_them, f"counting up to {('two', 'three', 'four')[len(all_of_them) - 2]} {things.words}")
    for difficulty, numbers, skill in (whole,) if up_to else (easy, whole):
        arms = [
            Arm(
                answer=str(number),
                select=select(f"[a {_THING}]" if number == 1 else f"{number} [{_THING}s]"),
                question=question,
                otherwise=[
                    OtherWords(answer=str(number), question="How many objects are in the image?"),
                    OtherWords(answer=_COUNTED[number - 1], question=OPEN),
                ],
            )
            for number in numbers
        ]
        said = listing([str(number) for number in numbers], "or")
        purpose = f"Nothing but equal things, drawn for each picture: {said} of them."
        yield _drawn(difficulty, purpose, skill, arms, things.alone)


def colored(named: Sequence[str], kind: Kind, subjects: Subjects, *, apart: bool = False) -> Iterator[Design]:
    """Yield experiments about the colors of a thing: those that are named first; alone, to be told apart.

    One that is named is told from others, and nothing else is asked: who is better at naming all colors may never name
    this one.
    """
    things = countable_things(kind, subjects)
    if apart:
        yield _colored(2, named, things)
        return
    yield _two_colored(named, things) if len(named) < 2 else _colored(1, named, things)  # noqa: PLR2004 - a pair
    if len(named) not in {1, len(_COLORS)}:
        yield _colored(2, [*named, *(color for color in _COLORS if color not in named)], things)


def _two_colored(named: Sequence[str], things: DrawnThings) -> Design:
    """Two colors, drawn for each picture: both, or the one beside that which is named."""
    others = [color for color in _COLORS if color not in named]
    answers = [*named, f"[{_COLOR}]"] if named else [f"[{_COLOR}]", f"[other {_COLOR}]"]
    arms = [_color_arm(answer, f"Is the [{_THING}] {listing(answers, 'or')}?") for answer in answers]
    purpose = f"One thing in one of two colors, drawn for each picture: {listing([*named, *others], 'or')}."
    skill = f"telling {named[0]} from other colors" if named else f"telling {len(others)} colors from one another"
    return _drawn(1, purpose, f"{skill} on {things.words}", arms, {**things.alone, _COLOR: others})


def _colored(difficulty: int, colors: Sequence[str], things: DrawnThings) -> Design:
    arms = [_color_arm(color, f"What color is the [{_THING}]?") for color in colors]
    purpose = f"One thing, drawn for each picture, of which the color is asked: {listing(colors, 'or')}."
    skill = f"naming the colors {listing(colors)} of {things.words}"
    return _drawn(difficulty, purpose, skill, arms, things.alone)


def _color_arm(color: str, question: str) -> Arm:
    return Arm(
        answer=color,
        select=select(f"a {color} [{_THING}]"),
        question=question,
        otherwise=[
            OtherWords(answer=f"a {color} [{_THING}]", question=OPEN),
            OtherWords(answer=color, question="What color is the object in the image?"),
        ],
    )


def sizes_told(kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield the experiment about how large a thing is shown."""
    things = countable_things(kind, subjects)
    question = f"Is the [{_THING}] small or large?"
    arms = [
        Arm(
            answer=size,
            select=select(f"a {size} [{_THING}]"),
            question=question,
            otherwise=[
                OtherWords(answer=f"a {size} [{_THING}]", question=OPEN),
                OtherWords(answer=size, question="Is the object in the image small or large?"),
            ],
        )
        for size in ("small", "large")
    ]
    purpose = "One thing, drawn for each picture, which is shown small or large."
    yield _drawn(2, purpose, f"telling small from large {things.words}", arms, things.alone)


def recognized(ability: Recognise, subjects: Subjects) -> Iterator[Design]:
    """Yield the experiment about recognizing things of a size, at a place, or among others, by their own names.

    Two things are named of which one is in the picture, so that who names another thing of the picture is not right.

    Raises:
        BadInput: Pictures do not show things where they are asked for.
    """
    size, place = ability.size, ability.place
    if (place or ability.among) and not subjects.arranged:
        msg = "Painted pictures need not show a thing at the place, or beside the others, that they are asked for."
        raise BadInput(msg)
    things = countable_things(ability.things, subjects)
    names = (f"[a {_THING}]", f"[an{_OTHER}]")
    pools, question = things.pairs, f"Is the object in the image {listing(names, 'or')}?"
    shows, beside, skill = f"a thing that is {size} in it", "another one", f"{size} {things.words}"
    shown = [f"a {size} [{slot}]" for slot in (_THING, _OTHER)]
    if place:
        shows, skill = f"a thing in its {place}", f"{things.words} in the {place}"
        shown = [f"{name} in the {place}" for name in names]
    elif ability.among:
        pools = {**pools, _NEIGHBOR: [name for name in subjects.all_classes if _countable(name)]}
        question = f"Is there {listing(names, 'or')} in the image?"
        shows, beside, skill = "a thing and three others", "one that is not there", f"{things.words} among three others"
        shown = [f"{name} and [a {_NEIGHBOR}] and [another {_NEIGHBOR}] and [a third {_NEIGHBOR}]" for name in names]
    arms = [
        Arm(
            answer=name,
            select=select(description),
            question=question,
            otherwise=[
                OtherWords(answer=name, question=OPEN),
                OtherWords(answer=name, question=f"Which of these is in the image: {listing(names, 'or')}?"),
            ],
        )
        for name, description in zip(names, shown, strict=True)
    ]
    purpose = f"Each picture shows {shows}, drawn at random, beside the name of {beside}."
    yield _drawn(2, purpose, f"recognizing {skill}", arms, pools)


def several_or_one(likeness: str, kind: Kind, subjects: Subjects) -> Iterator[Design]:
    """Yield experiments about one thing, two identical ones and two different ones."""
    things = countable_things(kind, subjects)
    alike = select(f"two identical [{_THING}s]")
    if likeness != "different":
        yield _drawn(
            1,
            "One thing, or two of one kind, drawn for each picture.",
            f"noticing several {things.words}",
            [Arm(answer="yes", select=alike), Arm(answer="no", select=select(f"[{_THING}]"))],
            things.alone,
            question="Are there several objects in the image?",
        )
    yield _drawn(
        2,
        "Two things, drawn for each picture: of one kind, or of different kinds.",
        f"telling equal from different {things.words}",
        [Arm(answer="yes", select=select(f"[a {_THING}] and [an{_OTHER}]")), Arm(answer="no", select=alike)],
        things.pairs,
        question="Are there several different objects in the image?",
    )


def _drawn(
    difficulty: int,
    purpose: str,
    skill: str,
    arms: Sequence[Arm],
    pools: Mapping[str, list[str]],
    *,
    question: str = "",
) -> Design:
    design = unclaimed(difficulty, purpose[:300], skill[:300], question or arms[0].question, arms)
    return design.model_copy(update={"pools": dict(pools)})
