"""Questions about one picture, composed of several steps as in GQA."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import TINTS, Dice, Relation, Scene, relation_holds
from snellen.microworld.tasks.sampling import (
    COUNTABLE_GROUPS,
    Maker,
    Site,
    TaskDraft,
    beside,
    countable,
    drafted,
    member,
    singular,
    the,
    tintable,
    tinted,
)
from snellen.microworld.tasks.task import TextAnswer
from snellen.microworld.tasks.vqa_wordings import (
    AND,
    BUT_NOT,
    CHOICE,
    COLOUR,
    COLOUR_CHOICE,
    COLOUR_TRUTH,
    COUNTING,
    EQUAL,
    EXISTENCE,
    FEWER,
    HEIGHT_CHOICE,
    HOP_COLOUR,
    HOP_COLOUR_TRUTH,
    HOP_COUNT,
    HOP_NAME,
    LARGER,
    MORE,
    OR,
    RELATION_QUERY,
    RELATION_TRUTH,
    RELATIONS,
    SAME_COLOUR,
    SIDE_CHOICE,
    SIZE,
    SMALLER,
)
from snellen.microworld.tasks.wording import be, say, some

OPPOSITE: dict[Relation, Relation] = {"left": "right", "right": "left", "above": "below", "below": "above"}
MORE_COUNTS = ((1, 0), (2, 1), (3, 1), (3, 2), (2, 0))
EQUAL_COUNTS = ((1, 1), (2, 2), (3, 3))
OPPOSITES: dict[Relation, tuple[Relation, Relation]] = {
    "left": ("left", "right"), "right": ("left", "right"), "above": ("above", "below"), "below": ("above", "below"),
}  # fmt: skip
THINGS = ("thing", "object")


def truth(yes: bool) -> TextAnswer:  # noqa: FBT001 - the truth value is all there is to say
    """Return the answer to a yes/no question."""
    return TextAnswer("yes" if yes else "no")


def _relation_word(site: Site, relation: Relation) -> str:
    return say(RELATIONS[relation], site.fate, site.split).text.lower()


def _existence(site: Site) -> TaskDraft | None:
    yes = site.yes()
    x = site.key()
    wording = say(EXISTENCE, site.fate, site.split, be=be(x), a_x=some(x), xs=plural(x))
    scene = site.scene([x] * site.dice.integer(1, 2) if yes else [], avoid=[x])
    return drafted(wording, scene, truth(yes), (x,))


def _counting(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_count_objects, _count_group, *(_count_concept,) * 4))
    return kind(site)


def _count_concept(site: Site) -> TaskDraft | None:
    number = site.fate.integer(0, 4)
    x = site.key(countable)
    wording = say(COUNTING, site.fate, site.split, xs=plural(x))
    scene = site.scene([x] * number, avoid=[x])
    return drafted(wording, scene, TextAnswer(str(number)), (x,))


def _count_objects(site: Site) -> TaskDraft | None:
    number = site.fate.integer(2, 6)
    wording = say(COUNTING, site.fate, site.split, xs="objects")
    names = [site.key() for _ in range(number)]
    scene = site.scene(names, counts=(number, number))
    return drafted(wording, scene, TextAnswer(str(number)), tuple(sorted(set(names))))


def _count_group(site: Site) -> TaskDraft | None:
    number = site.fate.integer(1, 4)
    group = site.fate.choice(COUNTABLE_GROUPS)
    names = [site.key(member(group)) for _ in range(number)]
    wording = say(COUNTING, site.fate, site.split, xs=group)
    scene = site.scene(names, groups=[group])
    return drafted(wording, scene, TextAnswer(str(number)), tuple(sorted(set(names))))


def _attribute(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_colour, _colour, _colour_truth, _colour_choice, _size, _size))
    return kind(site)


def _other_tint(tint: str, dice: Dice) -> str:
    return dice.choice([t for t in TINTS if t != tint])


def _shuffled(first: str, second: str, dice: Dice) -> tuple[str, str]:
    return (first, second) if dice.chance(0.5) else (second, first)


def _colour(site: Site) -> TaskDraft | None:
    tint = site.fate.choice(tuple(TINTS))
    x = site.key(tintable)
    wording = say(COLOUR, site.fate, site.split, be=be(x), x=x)
    scene = site.scene([x], colour=True)
    return drafted(wording, scene and tinted(scene, x, tint), TextAnswer(tint), (x,))


def _colour_truth(site: Site) -> TaskDraft | None:
    yes = site.yes()
    tint = site.fate.choice(tuple(TINTS))
    x = site.key(tintable)
    wording = say(COLOUR_TRUTH, site.fate, site.split, be=be(x), x=x, tint=tint)
    scene = site.scene([x], colour=True)
    shown = tint if yes else _other_tint(tint, site.fate)
    return drafted(wording, scene and tinted(scene, x, shown), truth(yes), (x,))


def _colour_choice(site: Site) -> TaskDraft | None:
    tint = site.fate.choice(tuple(TINTS))
    first, second = _shuffled(tint, _other_tint(tint, site.fate), site.fate)
    x = site.key(tintable)
    wording = say(COLOUR_CHOICE, site.fate, site.split, be=be(x), x=x, first=first, second=second)
    scene = site.scene([x], colour=True)
    return drafted(wording, scene and tinted(scene, x, tint), TextAnswer(tint), (x,), (first, second))


def _size(site: Site) -> TaskDraft | None:
    size = site.fate.choice(("small", "large"))
    first, second = _shuffled("small", "large", site.fate)
    x = site.key()
    wording = say(SIZE, site.fate, site.split, be=be(x), x=x, first=first, second=second)
    scene = site.scene([x], counts=(2, 3))
    if scene is None or the(scene, x).size != size:
        return None
    return TaskDraft(wording, (scene,), TextAnswer(size), (x,), (first, second))


def _relation(site: Site) -> TaskDraft | None:
    return _relation_truth(site) if site.even() else _relation_query(site)


def _relation_truth(site: Site) -> TaskDraft | None:
    yes = site.yes()
    relation = site.fate.choice(tuple(RELATIONS))
    word = _relation_word(site, relation)
    x = site.key()
    y = site.key(apart=[x])
    wording = say(RELATION_TRUTH, site.fate, site.split, be=be(x), x=x, a_x=some(x), y=y, relation=word)
    scene = site.scene([x, y], counts=(2, 5))
    sides = scene and beside(scene, the(scene, y), relation if yes else OPPOSITE[relation])
    if not scene or not sides or the(scene, x) not in sides:
        return None
    return TaskDraft(wording, (scene,), truth(yes), (x, y))


def _relation_query(site: Site) -> TaskDraft | None:
    relation = site.fate.choice(tuple(RELATIONS))
    word = _relation_word(site, relation)
    x = site.key()
    y = site.key(apart=[x])
    wording = say(RELATION_QUERY, site.fate, site.split, y=y, relation=word)
    scene = site.scene([x, y], counts=(2, 5))
    if scene is None or beside(scene, the(scene, y), relation) != (the(scene, x),):
        return None
    return TaskDraft(wording, (scene,), TextAnswer(x), (x, y))


def _comparison(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_compare_counts, _compare_counts, _compare_colours, _compare_sizes))
    return kind(site)


def _compare_counts(site: Site) -> TaskDraft | None:
    yes = site.yes()
    wordings = site.fate.choice((MORE, FEWER, EQUAL))
    more, equal = site.fate.choice(MORE_COUNTS), site.fate.choice(EQUAL_COUNTS)
    if wordings is EQUAL:
        counts = equal if yes else _flipped(more, flip=site.even())
    else:
        # What is not more is mostly fewer, now and then as many.
        no = equal if site.fate.chance(0.3) else _flipped(more, flip=True)
        counts = _flipped(more if yes else no, flip=wordings is FEWER)
    x = site.key(countable)
    y = site.key(countable, apart=[x])
    wording = say(wordings, site.fate, site.split, xs=plural(x), ys=plural(y))
    scene = site.scene([x] * counts[0] + [y] * counts[1], avoid=[x, y])
    return drafted(wording, scene, truth(yes), (x, y))


def _flipped(counts: tuple[int, int], *, flip: bool) -> tuple[int, int]:
    return (counts[1], counts[0]) if flip else counts


def _compare_colours(site: Site) -> TaskDraft | None:
    yes = site.yes()
    tint = site.fate.choice(tuple(TINTS))
    x = site.key(tintable)
    y = site.key(tintable, apart=[x])
    wording = say(SAME_COLOUR, site.fate, site.split, x=x, y=y)
    scene = site.scene([x, y], counts=(2, 5), colour=True)
    other = tint if yes else _other_tint(tint, site.dice)
    return drafted(wording, scene and tinted(tinted(scene, x, tint), y, other), truth(yes), (x, y))


def _compare_sizes(site: Site) -> TaskDraft | None:
    yes = site.yes()
    wordings = site.fate.choice((LARGER, SMALLER))
    x = site.key()
    y = site.key(apart=[x])
    wording = say(wordings, site.fate, site.split, be=be(x), x=x, y=y)
    scene = site.scene([x, y], counts=(2, 3))
    sizes = ("large", "small") if (wordings is LARGER) == yes else ("small", "large")
    if scene is None or (the(scene, x).size, the(scene, y).size) != sizes:
        return None
    return TaskDraft(wording, (scene,), truth(yes), (x, y))


def _choice(site: Site) -> TaskDraft | None:
    return _choice_of_names(site) if site.even() else _choice_of_sides(site)


def _choice_of_names(site: Site) -> TaskDraft | None:
    order = site.even()
    x = site.key()
    y = site.key(apart=[x])
    first, second = (x, y) if order else (y, x)
    wording = say(CHOICE, site.fate, site.split, a_x=some(first), a_y=some(second))
    scene = site.scene([x], avoid=[x, y])
    return drafted(wording, scene, TextAnswer(x), (x, y), (first, second))


def _choice_of_sides(site: Site) -> TaskDraft | None:
    relation = site.fate.choice(tuple(RELATIONS))
    first, second = _shuffled(*OPPOSITES[relation], site.fate)
    wordings = SIDE_CHOICE if relation in {"left", "right"} else HEIGHT_CHOICE
    x = site.key()
    y = site.key(apart=[x])
    wording = say(wordings, site.fate, site.split, be=be(x), x=x, y=y, first=first, second=second)
    scene = site.scene([x, y], counts=(2, 5))
    if scene is None or not relation_holds(the(scene, x), relation, the(scene, y)):
        return None
    sides = beside(scene, the(scene, y), relation)
    if not sides or the(scene, x) not in sides:
        return None
    return TaskDraft(wording, (scene,), TextAnswer(relation), (x, y), (first, second))


def _logical(site: Site) -> TaskDraft | None:
    yes = site.yes()
    wordings = site.fate.choice((AND, OR, BUT_NOT))
    x = site.key()
    y = site.key(apart=[x])
    present = site.fate.choice(_present(x, y)[wordings is AND, wordings is OR, yes])
    wording = say(wordings, site.fate, site.split, a_x=some(x), a_y=some(y), y=y)
    scene = site.scene(present, avoid=[x, y])
    return drafted(wording, scene, truth(yes), (x, y))


def _present(x: str, y: str) -> dict[tuple[bool, bool, bool], tuple[list[str], ...]]:
    """Return what to show for (and, or, yes); with neither `and` nor `or` it is `x but not y`."""
    return {
        (True, False, True): ([x, y],),
        (True, False, False): ([x], [x], [y], [y], []),
        (False, True, True): ([x], [y], [x, y]),
        (False, True, False): ([],),
        (False, False, True): ([x],),
        (False, False, False): ([x, y], [x, y], [y], []),
    }


def _two_hops(site: Site) -> TaskDraft | None:
    kind = site.fate.choice((_hop_colour, _hop_colour_truth, _hop_count, _hop_name))
    return kind(site)


def _hop_noun(site: Site) -> str:
    """Choose what the thing behind the relation is called: a hypernym, or "" for just a thing."""
    return site.fate.choice(COUNTABLE_GROUPS) if site.fate.chance(0.6) else ""


@dataclass(frozen=True)
class _Hop:
    """A scene in which exactly one thing of its kind is on that side of another."""

    scene: Scene
    relation: str
    thing: str
    noun: str
    other: str


def _hop(site: Site, *, colour: bool) -> _Hop | None:
    relation = site.fate.choice(tuple(RELATIONS))
    word = _relation_word(site, relation)
    group = _hop_noun(site)
    noun = singular(group) if group else site.fate.choice(THINGS)
    x = site.key(tintable, *([member(group)] if group else []))
    y = site.key(*([lambda name: not member(group)(name)] if group else []), apart=[x])
    scene = site.scene([x, y], counts=(3, 5), colour=colour)
    sides = scene and beside(scene, the(scene, y), relation)
    if not scene or not sides:
        return None
    candidates = [o for o in sides if not group or member(group)(o.concept)]
    return _Hop(scene, word, x, noun, y) if candidates == [the(scene, x)] else None


def _hop_colour(site: Site) -> TaskDraft | None:
    tint = site.fate.choice(tuple(TINTS))
    hop = _hop(site, colour=True)
    if hop is None:
        return None
    wording = say(HOP_COLOUR, site.fate, site.split, z=hop.noun, relation=hop.relation, y=hop.other)
    return TaskDraft(wording, (tinted(hop.scene, hop.thing, tint),), TextAnswer(tint), (hop.thing, hop.other))


def _hop_colour_truth(site: Site) -> TaskDraft | None:
    yes = site.yes()
    tint = site.fate.choice(tuple(TINTS))
    hop = _hop(site, colour=True)
    if hop is None:
        return None
    wording = say(HOP_COLOUR_TRUTH, site.fate, site.split, z=hop.noun, relation=hop.relation, y=hop.other, tint=tint)
    shown = tint if yes else _other_tint(tint, site.dice)
    return TaskDraft(wording, (tinted(hop.scene, hop.thing, shown),), truth(yes), (hop.thing, hop.other))


def _hop_name(site: Site) -> TaskDraft | None:
    hop = _hop(site, colour=False)
    if hop is None:
        return None
    wording = say(HOP_NAME, site.fate, site.split, z=hop.noun, relation=hop.relation, y=hop.other)
    return TaskDraft(wording, (hop.scene,), TextAnswer(hop.thing), (hop.thing, hop.other))


def _hop_count(site: Site) -> TaskDraft | None:
    number = site.fate.integer(0, 3)
    relation = site.fate.choice(tuple(RELATIONS))
    word = _relation_word(site, relation)
    group = site.fate.choice(COUNTABLE_GROUPS) if site.even() else ""
    x = site.key(countable, *([member(group)] if group else []))
    y = site.key(*([lambda name: not member(group)(name)] if group else []), apart=[x])
    total = max(number + site.dice.integer(0, 1), 1)
    wording = say(HOP_COUNT, site.fate, site.split, zs=group or plural(x), relation=word, y=y)
    scene = site.scene([y] + [x] * total, groups=[group] if group else [], counts=(2, 5))
    sides = scene and beside(scene, the(scene, y), relation)
    if not scene or sides is None or sum(o.concept == x for o in sides or ()) != number:
        return None
    return TaskDraft(wording, (scene,), TextAnswer(str(number)), (x, y))


TYPES: dict[str, Maker] = {
    "existence": _existence,
    "counting": _counting,
    "attribute": _attribute,
    "relation": _relation,
    "comparison": _comparison,
    "choice": _choice,
    "logical": _logical,
    "two hops": _two_hops,
}
