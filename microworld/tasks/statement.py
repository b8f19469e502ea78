"""Statements about two pictures, true or false, as in NLVR2."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import NUMBERS, TINTS, Scene, article
from snellen.microworld.tasks.sampling import Maker, TaskDraft, TaskSampler, countable, tintable, tinted
from snellen.microworld.tasks.task import TextAnswer
from snellen.microworld.tasks.wording import Wordings, be, say, some

BOTH = Wordings(
    (
        "both pictures contain {a_x}.",
        "both images show {a_x}.",
        "there {be} {a_x} in both pictures.",
        "each of the two images contains {a_x}.",
    ),
    ("{a_x} can be seen in both photos.", "each picture has at least one {x}."),
)
EITHER = Wordings(
    (
        "at least one of the images shows {a_x}.",
        "at least one of the pictures contains {a_x}.",
        "there {be} {a_x} in at least one of the two pictures.",
    ),
    ("one or both of the photos show {a_x}.",),
)
NEITHER = Wordings(
    ("neither picture contains {a_x}.", "neither of the images shows {a_x}.", "there are no {xs} in either picture."),
    ("no picture shows {a_x}.",),
)
ONE_ONLY = Wordings(
    (
        "exactly one of the two pictures contains {a_x}.",
        "only one of the images shows {a_x}.",
        "there {be} {a_x} in exactly one of the pictures.",
    ),
    ("one of the photos shows {a_x} and the other does not.",),
)
LEFT_ONLY = Wordings(
    (
        "the {side} picture contains {a_x}, but the {other} one does not.",
        "the {side} image shows {a_x} and the {other} one does not.",
    ),
    ("{a_x} can be seen in the {side} picture only.",),
)
TOTAL = Wordings(
    (
        "there are {number} {xs} in total.",
        "the two pictures contain {number} {xs} in total.",
        "together the images show exactly {number} {xs}.",
        "there are exactly {number} {xs} in the two pictures.",
    ),
    ("in all, {number} {xs} can be seen in the two photos.",),
)
AT_LEAST = Wordings(
    ("there are at least {number} {xs} in the two pictures.", "together the images show at least {number} {xs}."),
    ("no fewer than {number} {xs} can be seen in the two photos.",),
)
SIDE_COUNT = Wordings(
    (
        "the {side} picture contains exactly {number} {xs}.",
        "there are exactly {number} {xs} in the {side} image.",
        "the {side} image shows {number} {xs}.",
    ),
    ("exactly {number} {xs} can be seen in the {side} photo.",),
)
ONE_COUNT = Wordings(
    (
        "one image shows exactly {number} {xs} and the other none.",
        "one of the pictures contains exactly {number} {xs} and the other one contains none.",
    ),
    ("there are {number} {xs} in one photo and none in the other.",),
)
MORE = Wordings(
    (
        "the {side} picture has more {xs} than the {other} one.",
        "there are more {xs} in the {side} image than in the {other} image.",
        "the {side} image contains more {xs} than the {other} one.",
    ),
    ("the {other} picture has fewer {xs} than the {side} one.",),
)
SAME = Wordings(
    (
        "both pictures contain the same number of {xs}.",
        "there are as many {xs} in the left image as in the right image.",
    ),
    ("the number of {xs} is the same in both photos.",),
)
COLOUR_EITHER = Wordings(
    (
        "at least one of the images shows {a_tinted}.",
        "there {be} {a_tinted} in at least one of the two pictures.",
    ),
    ("one or both of the photos show {a_tinted}.",),
)
COLOUR_SIDE = Wordings(
    ("the {x} in the {side} picture {be} {tint}.", "the {side} image shows {a_tinted}."),
    ("in the {side} photo the {x} {be} {tint}.",),
)
COLOUR_SAME = Wordings(
    (
        "the {xs} in the two pictures have the same color.",
        "the {x} in the left image has the same color as the {x} in the right image.",
    ),
)
TWO = Wordings(
    (
        "one picture contains {a_x} and the other one contains {a_y}.",
        "the {side} picture contains {a_x} and the {other} one contains {a_y}.",
        "there {be} {a_x} in the {side} image and {a_y} in the {other} image.",
    ),
    ("{a_x} can be seen in the {side} photo and {a_y} in the {other} one.",),
)

SIDES = ("left", "right")
# How many of a thing the left and the right picture show, where a statement about their sum is true of it.
SUMS = {2: ((1, 1), (2, 0), (0, 2)), 3: ((1, 2), (2, 1), (3, 0)), 4: ((1, 3), (2, 2), (3, 1)), 5: ((2, 3), (3, 2))}
MORE_COUNTS = ((1, 0), (2, 1), (3, 1), (3, 2), (2, 0))
EQUAL_COUNTS = ((1, 1), (2, 2), (3, 3))


def _number(count: int, sampler: TaskSampler) -> str:
    return str(count) if sampler.fixed.chance(0.3) else NUMBERS[count]


def _slots(x: str) -> dict[str, str]:
    return {"x": x, "a_x": some(x), "xs": plural(x), "be": be(x)}


def _pair(
    sampler: TaskSampler, left: Sequence[str], right: Sequence[str], avoid: Sequence[str]
) -> tuple[Scene, Scene] | None:
    """Draw both pictures; what is avoided appears only as often as it is required."""
    first = sampler.scene(left, avoid=avoid, counts=(2, 5), part="left")
    second = sampler.scene(right, avoid=avoid, counts=(2, 5), part="right")
    return (first, second) if first and second else None


def _draft(
    sampler: TaskSampler, wordings: Wordings, shown: tuple[int, int], *, x: str, yes: bool, **slots: str
) -> TaskDraft | None:
    """State something about one concept, shown so often in the left and so often in the right picture."""
    wording = say(wordings, sampler.fixed, sampler.split, **_slots(x), **slots)
    scenes = _pair(sampler, [x] * shown[0], [x] * shown[1], [x])
    return scenes and TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x,))


def _presence(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    wordings = sampler.fixed.choice((BOTH, EITHER, NEITHER))
    one, two = (1, 0), (0, 1)
    holds = {id(BOTH): ((1, 1),), id(EITHER): (one, two, (1, 1)), id(NEITHER): ((0, 0),)}
    fails = {id(BOTH): (one, two, (0, 0)), id(EITHER): ((0, 0),), id(NEITHER): (one, two, (1, 1))}
    shown = sampler.fixed.choice((holds if yes else fails)[id(wordings)])
    return _draft(sampler, wordings, shown, x=sampler.key(), yes=yes)


def _exclusive(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    if sampler.even():
        shown = sampler.fixed.choice(((1, 0), (0, 1)) if yes else ((1, 1), (1, 1), (0, 0)))
        return _draft(sampler, ONE_ONLY, shown, x=sampler.key(), yes=yes)
    side = sampler.fixed.choice(SIDES)
    shown = (1, 0) if yes else sampler.fixed.choice(((0, 1), (1, 1), (0, 0)))
    return _draft(sampler, LEFT_ONLY, _turned(shown, side), x=sampler.key(), yes=yes, side=side, other=_other(side))


def _turned(shown: tuple[int, int], side: str) -> tuple[int, int]:
    return shown if side == "left" else (shown[1], shown[0])


def _other(side: str) -> str:
    return "right" if side == "left" else "left"


def _counting(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_total, _total, _at_least, _side_count, _one_count))
    return kind(sampler)


def _total(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    stated = sampler.fixed.choice((2, 3, 4, 5))
    real = stated if yes else sampler.fixed.choice([n for n in SUMS if abs(n - stated) in {1, 2}])
    shown = sampler.fixed.choice(SUMS[real])
    return _draft(sampler, TOTAL, shown, x=sampler.key(countable), yes=yes, number=_number(stated, sampler))


def _at_least(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    stated = sampler.fixed.choice((3, 4))
    real = sampler.fixed.choice((stated, stated + 1) if yes else (stated - 1, stated - 1))
    shown = sampler.fixed.choice(SUMS[real])
    return _draft(sampler, AT_LEAST, shown, x=sampler.key(countable), yes=yes, number=_number(stated, sampler))


def _side_count(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    side = sampler.fixed.choice(SIDES)
    stated = sampler.fixed.choice((2, 3, 4))
    real = stated if yes else sampler.fixed.choice([n for n in (1, 2, 3, 4) if n != stated])
    # A picture on the other side that fits the number must not decide it.
    shown = (real, sampler.fixed.choice((0, 1, stated)))
    slots = {"side": side, "number": _number(stated, sampler)}
    return _draft(sampler, SIDE_COUNT, _turned(shown, side), x=sampler.key(countable), yes=yes, **slots)


def _one_count(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    stated = sampler.fixed.choice((2, 3))
    shown = (
        (stated, 0) if yes else sampler.fixed.choice(((stated, 1), (stated - 1, 0), (stated + 1, 0), (stated, stated)))
    )
    turned = _turned(shown, sampler.fixed.choice(SIDES))
    return _draft(sampler, ONE_COUNT, turned, x=sampler.key(countable), yes=yes, number=_number(stated, sampler))


def _comparison(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    more, equal = sampler.fixed.choice(MORE_COUNTS), sampler.fixed.choice(EQUAL_COUNTS)
    side = sampler.fixed.choice(SIDES)
    x = sampler.key(countable)
    if sampler.fixed.chance(0.35):
        return _draft(sampler, SAME, equal if yes else _turned(more, side), x=x, yes=yes)
    shown = more if yes else sampler.fixed.choice(((more[1], more[0]), (more[1], more[0]), equal))
    return _draft(sampler, MORE, _turned(shown, side), x=x, yes=yes, side=side, other=_other(side))


def _attribute(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_colour_either, _colour_side, _colour_same))
    return kind(sampler)


def _tints(sampler: TaskSampler, *, same: bool) -> tuple[str, str]:
    first = sampler.fixed.choice(tuple(TINTS))
    return first, first if same else sampler.fixed.choice([tint for tint in TINTS if tint != first])


def _coloured(
    sampler: TaskSampler, wordings: Wordings, left: str, right: str, *, yes: bool, **slots: str
) -> TaskDraft | None:
    """State something about a thing that is in both pictures, in these colours; "" leaves it out of one."""
    x = sampler.key(tintable)
    tint = slots.get("tint", "")
    wording = say(wordings, sampler.fixed, sampler.split, **_slots(x), a_tinted=article(f"{tint} {x}"), **slots)
    first = sampler.scene([x] if left else [], avoid=[x], counts=(2, 5), colour=True, part="left")
    second = sampler.scene([x] if right else [], avoid=[x], counts=(2, 5), colour=True, part="right")
    if not first or not second:
        return None
    scenes = (tinted(first, x, left), tinted(second, x, right))
    return TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x,))


def _colour_either(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    tint, other = _tints(sampler, same=False)
    left, right = sampler.fixed.choice(
        ((tint, other), (other, tint), (tint, "")) if yes else ((other, other), ("", other), (other, ""))
    )
    return _coloured(sampler, COLOUR_EITHER, left, right, yes=yes, tint=tint)


def _colour_side(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    tint, other = _tints(sampler, same=False)
    side = sampler.fixed.choice(SIDES)
    here, there = (tint, sampler.fixed.choice((tint, other))) if yes else (other, sampler.fixed.choice((tint, other)))
    left, right = (here, there) if side == "left" else (there, here)
    return _coloured(sampler, COLOUR_SIDE, left, right, yes=yes, tint=tint, side=side)


def _colour_same(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    left, right = _tints(sampler, same=yes)
    return _coloured(sampler, COLOUR_SAME, left, right, yes=yes)


def _two_concepts(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    side = sampler.fixed.choice(SIDES)
    x = sampler.key()
    y = sampler.key(apart=[x])
    here, there = ([x], [y]) if yes else sampler.fixed.choice((([x], []), ([], [y]), ([x], [x]), ([y], [y])))
    wording = say(TWO, sampler.fixed, sampler.split, **_slots(x), a_y=some(y), side=side, other=_other(side))
    left, right = (here, there) if side == "left" else (there, here)
    scenes = _pair(sampler, left, right, [x, y])
    return scenes and TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x, y))


TYPES: dict[str, Maker] = {
    "presence": _presence,
    "exclusive": _exclusive,
    "counting": _counting,
    "comparison": _comparison,
    "attribute": _attribute,
    "two concepts": _two_concepts,
}
