"""Statements about two pictures, true or false, as in NLVR2."""

from __future__ import annotations

from collections.abc import Sequence

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import NUMBERS, TINTS, Scene, article
from snellen.microworld.tasks.sampling import Maker, Site, TaskDraft, countable, tintable, tinted
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


def _number(count: int, site: Site) -> str:
    return str(count) if site.fate.chance(0.3) else NUMBERS[count]


def _slots(x: str) -> dict[str, str]:
    return {"x": x, "a_x": some(x), "xs": plural(x), "be": be(x)}


def _pair(site: Site, left: Sequence[str], right: Sequence[str], avoid: Sequence[str]) -> tuple[Scene, Scene] | None:
    """Draw both pictures; what is avoided appears only as often as it is required."""
    first = site.scene(left, avoid=avoid, counts=(2, 5), part="left")
    second = site.scene(right, avoid=avoid, counts=(2, 5), part="right")
    return (first, second) if first and second else None


def _draft(
    site: Site, wordings: Wordings, shown: tuple[int, int], *, x: str, yes: bool, **slots: str
) -> TaskDraft | None:
    """State something about one concept, shown so often in the left and so often in the right picture."""
    wording = say(wordings, site.fate, site.split, **_slots(x), **slots)
    scenes = _pair(site, [x] * shown[0], [x] * shown[1], [x])
    return scenes and TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x,))


def _presence(site: Site) -> TaskDraft | None:
    yes = site.yes()
    wordings = site.fate.choice((BOTH, EITHER, NEITHER))
    one, two = (1, 0), (0, 1)
    holds = {id(BOTH): ((1, 1),), id(EITHER): (one, two, (1, 1)), id(NEITHER): ((0, 0),)}
    fails = {id(BOTH): (one, two, (0, 0)), id(EITHER): ((0, 0),), id(NEITHER): (one, two, (1, 1))}
    shown = site.fate.choice((holds if yes else fails)[id(wordings)])
    return _draft(site, wordings, shown, x=site.key(), yes=yes)


def _exclusive(site: Site) -> TaskDraft | None:
    yes = site.yes()
    if site.even():
        shown = site.fate.choice(((1, 0), (0, 1)) if yes else ((1, 1), (1, 1), (0, 0)))
        return _draft(site, ONE_ONLY, shown, x=site.key(), yes=yes)
    side = site.fate.choice(SIDES)
    shown = (1, 0) if yes else site.fate.choice(((0, 1), (1, 1), (0, 0)))
    return _draft(site, LEFT_ONLY, _turned(shown, side), x=site.key(), yes=yes, side=side, other=_other(side))


def _turned(shown: tuple[int, int], side: str) -> tuple[int, int]:
    return shown if side == "left" else (shown[1], shown[0])


def _other(side: str) -> str:
    return "right" if side == "left" else "left"


def _counting(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_total, _total, _at_least, _side_count, _one_count))
    return kind(site)


def _total(site: Site) -> TaskDraft | None:
    yes = site.yes()
    stated = site.fate.choice((2, 3, 4, 5))
    real = stated if yes else site.fate.choice([n for n in SUMS if abs(n - stated) in {1, 2}])
    shown = site.fate.choice(SUMS[real])
    return _draft(site, TOTAL, shown, x=site.key(countable), yes=yes, number=_number(stated, site))


def _at_least(site: Site) -> TaskDraft | None:
    yes = site.yes()
    stated = site.fate.choice((3, 4))
    real = site.fate.choice((stated, stated + 1) if yes else (stated - 1, stated - 1))
    shown = site.fate.choice(SUMS[real])
    return _draft(site, AT_LEAST, shown, x=site.key(countable), yes=yes, number=_number(stated, site))


def _side_count(site: Site) -> TaskDraft | None:
    yes = site.yes()
    side = site.fate.choice(SIDES)
    stated = site.fate.choice((2, 3, 4))
    real = stated if yes else site.fate.choice([n for n in (1, 2, 3, 4) if n != stated])
    # A picture on the other side that fits the number must not decide it.
    shown = (real, site.fate.choice((0, 1, stated)))
    slots = {"side": side, "number": _number(stated, site)}
    return _draft(site, SIDE_COUNT, _turned(shown, side), x=site.key(countable), yes=yes, **slots)


def _one_count(site: Site) -> TaskDraft | None:
    yes = site.yes()
    stated = site.fate.choice((2, 3))
    shown = (stated, 0) if yes else site.fate.choice(((stated, 1), (stated - 1, 0), (stated + 1, 0), (stated, stated)))
    turned = _turned(shown, site.fate.choice(SIDES))
    return _draft(site, ONE_COUNT, turned, x=site.key(countable), yes=yes, number=_number(stated, site))


def _comparison(site: Site) -> TaskDraft | None:
    yes = site.yes()
    more, equal = site.fate.choice(MORE_COUNTS), site.fate.choice(EQUAL_COUNTS)
    side = site.fate.choice(SIDES)
    x = site.key(countable)
    if site.fate.chance(0.35):
        return _draft(site, SAME, equal if yes else _turned(more, side), x=x, yes=yes)
    shown = more if yes else site.fate.choice(((more[1], more[0]), (more[1], more[0]), equal))
    return _draft(site, MORE, _turned(shown, side), x=x, yes=yes, side=side, other=_other(side))


def _attribute(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_colour_either, _colour_side, _colour_same))
    return kind(site)


def _tints(site: Site, *, same: bool) -> tuple[str, str]:
    first = site.fate.choice(tuple(TINTS))
    return first, first if same else site.fate.choice([tint for tint in TINTS if tint != first])


def _coloured(site: Site, wordings: Wordings, left: str, right: str, *, yes: bool, **slots: str) -> TaskDraft | None:
    """State something about a thing that is in both pictures, in these colours; "" leaves it out of one."""
    x = site.key(tintable)
    tint = slots.get("tint", "")
    wording = say(wordings, site.fate, site.split, **_slots(x), a_tinted=article(f"{tint} {x}"), **slots)
    first = site.scene([x] if left else [], avoid=[x], counts=(2, 5), colour=True, part="left")
    second = site.scene([x] if right else [], avoid=[x], counts=(2, 5), colour=True, part="right")
    if not first or not second:
        return None
    scenes = (tinted(first, x, left), tinted(second, x, right))
    return TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x,))


def _colour_either(site: Site) -> TaskDraft | None:
    yes = site.yes()
    tint, other = _tints(site, same=False)
    left, right = site.fate.choice(
        ((tint, other), (other, tint), (tint, "")) if yes else ((other, other), ("", other), (other, ""))
    )
    return _coloured(site, COLOUR_EITHER, left, right, yes=yes, tint=tint)


def _colour_side(site: Site) -> TaskDraft | None:
    yes = site.yes()
    tint, other = _tints(site, same=False)
    side = site.fate.choice(SIDES)
    here, there = (tint, site.fate.choice((tint, other))) if yes else (other, site.fate.choice((tint, other)))
    left, right = (here, there) if side == "left" else (there, here)
    return _coloured(site, COLOUR_SIDE, left, right, yes=yes, tint=tint, side=side)


def _colour_same(site: Site) -> TaskDraft | None:
    yes = site.yes()
    left, right = _tints(site, same=yes)
    return _coloured(site, COLOUR_SAME, left, right, yes=yes)


def _two_concepts(site: Site) -> TaskDraft | None:
    yes = site.yes()
    side = site.fate.choice(SIDES)
    x = site.key()
    y = site.key(apart=[x])
    here, there = ([x], [y]) if yes else site.fate.choice((([x], []), ([], [y]), ([x], [x]), ([y], [y])))
    wording = say(TWO, site.fate, site.split, **_slots(x), a_y=some(y), side=side, other=_other(side))
    left, right = (here, there) if side == "left" else (there, here)
    scenes = _pair(site, left, right, [x, y])
    return scenes and TaskDraft(wording, scenes, TextAnswer("yes" if yes else "no"), (x, y))


TYPES: dict[str, Maker] = {
    "presence": _presence,
    "exclusive": _exclusive,
    "counting": _counting,
    "comparison": _comparison,
    "attribute": _attribute,
    "two concepts": _two_concepts,
}
