"""Questions about one picture, composed of several steps as in GQA."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.microworld.concepts import plural
from snellen.microworld.scenes import TINTS, Dice, Relation, Scene, relation_holds
from snellen.microworld.tasks.sampling import (
    COUNTABLE_GROUPS,
    Maker,
    TaskDraft,
    TaskSampler,
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


def _relation_word(sampler: TaskSampler, relation: Relation) -> str:
    return say(RELATIONS[relation], sampler.fixed, sampler.split).text.lower()


def _existence(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    x = sampler.key()
    wording = say(EXISTENCE, sampler.fixed, sampler.split, be=be(x), a_x=some(x), xs=plural(x))
    scene = sampler.scene([x] * sampler.dice.integer(1, 2) if yes else [], avoid=[x])
    return drafted(wording, scene, truth(yes), (x,))


def _counting(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_count_objects, _count_group, *(_count_concept,) * 4))
    return kind(sampler)


def _count_concept(sampler: TaskSampler) -> TaskDraft | None:
    number = sampler.fixed.integer(0, 4)
    x = sampler.key(countable)
    wording = say(COUNTING, sampler.fixed, sampler.split, xs=plural(x))
    scene = sampler.scene([x] * number, avoid=[x])
    return drafted(wording, scene, TextAnswer(str(number)), (x,))


def _count_objects(sampler: TaskSampler) -> TaskDraft | None:
    number = sampler.fixed.integer(2, 6)
    wording = say(COUNTING, sampler.fixed, sampler.split, xs="objects")
    names = [sampler.key() for _ in range(number)]
    scene = sampler.scene(names, counts=(number, number))
    return drafted(wording, scene, TextAnswer(str(number)), tuple(sorted(set(names))))


def _count_group(sampler: TaskSampler) -> TaskDraft | None:
    number = sampler.fixed.integer(1, 4)
    group = sampler.fixed.choice(COUNTABLE_GROUPS)
    names = [sampler.key(member(group)) for _ in range(number)]
    wording = say(COUNTING, sampler.fixed, sampler.split, xs=group)
    scene = sampler.scene(names, groups=[group])
    return drafted(wording, scene, TextAnswer(str(number)), tuple(sorted(set(names))))


def _attribute(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_colour, _colour, _colour_truth, _colour_choice, _size, _size))
    return kind(sampler)


def _other_tint(tint: str, dice: Dice) -> str:
    return dice.choice([t for t in TINTS if t != tint])


def _shuffled(first: str, second: str, dice: Dice) -> tuple[str, str]:
    return (first, second) if dice.chance(0.5) else (second, first)


def _colour(sampler: TaskSampler) -> TaskDraft | None:
    tint = sampler.fixed.choice(tuple(TINTS))
    x = sampler.key(tintable)
    wording = say(COLOUR, sampler.fixed, sampler.split, be=be(x), x=x)
    scene = sampler.scene([x], colour=True)
    return drafted(wording, scene and tinted(scene, x, tint), TextAnswer(tint), (x,))


def _colour_truth(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    tint = sampler.fixed.choice(tuple(TINTS))
    x = sampler.key(tintable)
    wording = say(COLOUR_TRUTH, sampler.fixed, sampler.split, be=be(x), x=x, tint=tint)
    scene = sampler.scene([x], colour=True)
    shown = tint if yes else _other_tint(tint, sampler.fixed)
    return drafted(wording, scene and tinted(scene, x, shown), truth(yes), (x,))


def _colour_choice(sampler: TaskSampler) -> TaskDraft | None:
    tint = sampler.fixed.choice(tuple(TINTS))
    first, second = _shuffled(tint, _other_tint(tint, sampler.fixed), sampler.fixed)
    x = sampler.key(tintable)
    wording = say(COLOUR_CHOICE, sampler.fixed, sampler.split, be=be(x), x=x, first=first, second=second)
    scene = sampler.scene([x], colour=True)
    return drafted(wording, scene and tinted(scene, x, tint), TextAnswer(tint), (x,), (first, second))


def _size(sampler: TaskSampler) -> TaskDraft | None:
    size = sampler.fixed.choice(("small", "large"))
    first, second = _shuffled("small", "large", sampler.fixed)
    x = sampler.key()
    wording = say(SIZE, sampler.fixed, sampler.split, be=be(x), x=x, first=first, second=second)
    scene = sampler.scene([x], counts=(2, 3))
    if scene is None or the(scene, x).size != size:
        return None
    return TaskDraft(wording, (scene,), TextAnswer(size), (x,), (first, second))


def _relation(sampler: TaskSampler) -> TaskDraft | None:
    return _relation_truth(sampler) if sampler.even() else _relation_query(sampler)


def _relation_truth(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    relation = sampler.fixed.choice(tuple(RELATIONS))
    word = _relation_word(sampler, relation)
    x = sampler.key()
    y = sampler.key(apart=[x])
    wording = say(RELATION_TRUTH, sampler.fixed, sampler.split, be=be(x), x=x, a_x=some(x), y=y, relation=word)
    scene = sampler.scene([x, y], counts=(2, 5))
    sides = scene and beside(scene, the(scene, y), relation if yes else OPPOSITE[relation])
    if not scene or not sides or the(scene, x) not in sides:
        return None
    return TaskDraft(wording, (scene,), truth(yes), (x, y))


def _relation_query(sampler: TaskSampler) -> TaskDraft | None:
    relation = sampler.fixed.choice(tuple(RELATIONS))
    word = _relation_word(sampler, relation)
    x = sampler.key()
    y = sampler.key(apart=[x])
    wording = say(RELATION_QUERY, sampler.fixed, sampler.split, y=y, relation=word)
    scene = sampler.scene([x, y], counts=(2, 5))
    if scene is None or beside(scene, the(scene, y), relation) != (the(scene, x),):
        return None
    return TaskDraft(wording, (scene,), TextAnswer(x), (x, y))


def _comparison(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_compare_counts, _compare_counts, _compare_colours, _compare_sizes))
    return kind(sampler)


def _compare_counts(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    wordings = sampler.fixed.choice((MORE, FEWER, EQUAL))
    more, equal = sampler.fixed.choice(MORE_COUNTS), sampler.fixed.choice(EQUAL_COUNTS)
    if wordings is EQUAL:
        counts = equal if yes else _flipped(more, flip=sampler.even())
    else:
        # What is not more is mostly fewer, now and then as many.
        no = equal if sampler.fixed.chance(0.3) else _flipped(more, flip=True)
        counts = _flipped(more if yes else no, flip=wordings is FEWER)
    x = sampler.key(countable)
    y = sampler.key(countable, apart=[x])
    wording = say(wordings, sampler.fixed, sampler.split, xs=plural(x), ys=plural(y))
    scene = sampler.scene([x] * counts[0] + [y] * counts[1], avoid=[x, y])
    return drafted(wording, scene, truth(yes), (x, y))


def _flipped(counts: tuple[int, int], *, flip: bool) -> tuple[int, int]:
    return (counts[1], counts[0]) if flip else counts


def _compare_colours(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    tint = sampler.fixed.choice(tuple(TINTS))
    x = sampler.key(tintable)
    y = sampler.key(tintable, apart=[x])
    wording = say(SAME_COLOUR, sampler.fixed, sampler.split, x=x, y=y)
    scene = sampler.scene([x, y], counts=(2, 5), colour=True)
    other = tint if yes else _other_tint(tint, sampler.dice)
    return drafted(wording, scene and tinted(tinted(scene, x, tint), y, other), truth(yes), (x, y))


def _compare_sizes(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    wordings = sampler.fixed.choice((LARGER, SMALLER))
    x = sampler.key()
    y = sampler.key(apart=[x])
    wording = say(wordings, sampler.fixed, sampler.split, be=be(x), x=x, y=y)
    scene = sampler.scene([x, y], counts=(2, 3))
    sizes = ("large", "small") if (wordings is LARGER) == yes else ("small", "large")
    if scene is None or (the(scene, x).size, the(scene, y).size) != sizes:
        return None
    return TaskDraft(wording, (scene,), truth(yes), (x, y))


def _choice(sampler: TaskSampler) -> TaskDraft | None:
    return _choice_of_names(sampler) if sampler.even() else _choice_of_sides(sampler)


def _choice_of_names(sampler: TaskSampler) -> TaskDraft | None:
    order = sampler.even()
    x = sampler.key()
    y = sampler.key(apart=[x])
    first, second = (x, y) if order else (y, x)
    wording = say(CHOICE, sampler.fixed, sampler.split, a_x=some(first), a_y=some(second))
    scene = sampler.scene([x], avoid=[x, y])
    return drafted(wording, scene, TextAnswer(x), (x, y), (first, second))


def _choice_of_sides(sampler: TaskSampler) -> TaskDraft | None:
    relation = sampler.fixed.choice(tuple(RELATIONS))
    first, second = _shuffled(*OPPOSITES[relation], sampler.fixed)
    wordings = SIDE_CHOICE if relation in {"left", "right"} else HEIGHT_CHOICE
    x = sampler.key()
    y = sampler.key(apart=[x])
    wording = say(wordings, sampler.fixed, sampler.split, be=be(x), x=x, y=y, first=first, second=second)
    scene = sampler.scene([x, y], counts=(2, 5))
    if scene is None or not relation_holds(the(scene, x), relation, the(scene, y)):
        return None
    sides = beside(scene, the(scene, y), relation)
    if not sides or the(scene, x) not in sides:
        return None
    return TaskDraft(wording, (scene,), TextAnswer(relation), (x, y), (first, second))


def _logical(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    wordings = sampler.fixed.choice((AND, OR, BUT_NOT))
    x = sampler.key()
    y = sampler.key(apart=[x])
    present = sampler.fixed.choice(_present(x, y)[wordings is AND, wordings is OR, yes])
    wording = say(wordings, sampler.fixed, sampler.split, a_x=some(x), a_y=some(y), y=y)
    scene = sampler.scene(present, avoid=[x, y])
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


def _two_hops(sampler: TaskSampler) -> TaskDraft | None:
    kind = sampler.fixed.choice((_hop_colour, _hop_colour_truth, _hop_count, _hop_name))
    return kind(sampler)


def _hop_noun(sampler: TaskSampler) -> str:
    """Choose what the thing behind the relation is called: a hypernym, or "" for just a thing."""
    return sampler.fixed.choice(COUNTABLE_GROUPS) if sampler.fixed.chance(0.6) else ""


@dataclass(frozen=True)
class _Hop:
    """A scene in which exactly one thing of its kind is on that side of another."""

    scene: Scene
    relation: str
    thing: str
    noun: str
    other: str


def _hop(sampler: TaskSampler, *, colour: bool) -> _Hop | None:
    relation = sampler.fixed.choice(tuple(RELATIONS))
    word = _relation_word(sampler, relation)
    group = _hop_noun(sampler)
    noun = singular(group) if group else sampler.fixed.choice(THINGS)
    x = sampler.key(tintable, *([member(group)] if group else []))
    y = sampler.key(*([lambda name: not member(group)(name)] if group else []), apart=[x])
    scene = sampler.scene([x, y], counts=(3, 5), colour=colour)
    sides = scene and beside(scene, the(scene, y), relation)
    if not scene or not sides:
        return None
    candidates = [o for o in sides if not group or member(group)(o.concept)]
    return _Hop(scene, word, x, noun, y) if candidates == [the(scene, x)] else None


def _hop_colour(sampler: TaskSampler) -> TaskDraft | None:
    tint = sampler.fixed.choice(tuple(TINTS))
    hop = _hop(sampler, colour=True)
    if hop is None:
        return None
    wording = say(HOP_COLOUR, sampler.fixed, sampler.split, z=hop.noun, relation=hop.relation, y=hop.other)
    return TaskDraft(wording, (tinted(hop.scene, hop.thing, tint),), TextAnswer(tint), (hop.thing, hop.other))


def _hop_colour_truth(sampler: TaskSampler) -> TaskDraft | None:
    yes = sampler.yes()
    tint = sampler.fixed.choice(tuple(TINTS))
    hop = _hop(sampler, colour=True)
    if hop is None:
        return None
    wording = say(
        HOP_COLOUR_TRUTH, sampler.fixed, sampler.split, z=hop.noun, relation=hop.relation, y=hop.other, tint=tint
    )
    shown = tint if yes else _other_tint(tint, sampler.dice)
    return TaskDraft(wording, (tinted(hop.scene, hop.thing, shown),), truth(yes), (hop.thing, hop.other))


def _hop_name(sampler: TaskSampler) -> TaskDraft | None:
    hop = _hop(sampler, colour=False)
    if hop is None:
        return None
    wording = say(HOP_NAME, sampler.fixed, sampler.split, z=hop.noun, relation=hop.relation, y=hop.other)
    return TaskDraft(wording, (hop.scene,), TextAnswer(hop.thing), (hop.thing, hop.other))


def _hop_count(sampler: TaskSampler) -> TaskDraft | None:
    number = sampler.fixed.integer(0, 3)
    relation = sampler.fixed.choice(tuple(RELATIONS))
    word = _relation_word(sampler, relation)
    group = sampler.fixed.choice(COUNTABLE_GROUPS) if sampler.even() else ""
    x = sampler.key(countable, *([member(group)] if group else []))
    y = sampler.key(*([lambda name: not member(group)(name)] if group else []), apart=[x])
    total = max(number + sampler.dice.integer(0, 1), 1)
    wording = say(HOP_COUNT, sampler.fixed, sampler.split, zs=group or plural(x), relation=word, y=y)
    scene = sampler.scene([y] + [x] * total, groups=[group] if group else [], counts=(2, 5))
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
