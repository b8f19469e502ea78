"""Actions of rules about abilities and what is asked of them: questions that still lack their models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, cast

from snellen.reasoning.queries.abilities import (
    Ability,
    AnswerFreely,
    Colour,
    CountThings,
    Favour,
    IdentifyType,
    JudgePairs,
    Kind,
    Layout,
    Mistake,
    NameColours,
    NoticeSeveral,
    Recognise,
    Split,
    TellApart,
    TellMembers,
    TellPlaces,
    TellSizes,
)
from snellen.reasoning.queries.conditions import EVERY, Condition
from snellen.reasoning.queries.model_query import ModelQuestion
from snellen.reasoning.queries.nominal_actions import changed
from snellen.reasoning.queries.quantifiers import Quantifier

_SPLITS: Final[dict[str, Split]] = {
    "defocus blur": "GB", "left rotation": "R", "right rotation": "R", "half turn": "R", "tilt": "R",
    "color jitter": "CJ", "low brightness": "CJ", "high brightness": "CJ", "low contrast": "CJ", "high contrast": "CJ",
    "perspective shift": "PS", "elastic warping": "ET",
}  # fmt: skip
_OPPOSITE_BOUND: Final = {
    "at least": "less than", "more than": "at most", "at most": "more than", "less than": "at least",
}  # fmt: skip
Aims = tuple[ModelQuestion, ...]
Circumstances = tuple[Condition | Layout, ...]
"""Under what things are recognized: changes of pictures, or how these show things."""


def aims(*abilities: Ability) -> Aims:
    """Ask for abilities, each for itself."""
    return tuple(ModelQuestion(ability=each) for each in dict.fromkeys(abilities))


def recognise(kinds: tuple[Kind, ...]) -> Aims:
    """Ask whether things are recognized."""
    return aims(*(Recognise(things=each) for each in kinds))


def recognise_so_many(classes: Quantifier, things: Kind) -> Aims:
    """Ask whether so many of the classes of a kind are recognized."""
    return replaced(aims(Recognise(things=things)), lambda _: {"classes": classes})


def recognise_sized(size: str, kinds: tuple[Kind, ...]) -> Aims:
    """Ask whether things that are shown small, or large, are recognized."""
    return aims(*(Recognise(size=cast("Any", size), things=each) for each in kinds))


def at_place(place: str) -> Circumstances:
    """Take pictures that show things at a place."""
    return (Layout(place=cast("Any", place)),)


def cluttered() -> Circumstances:
    """Take pictures that show things among others."""
    return (Layout(among=True),)


def alone() -> Circumstances:
    """Take pictures that show one thing, which is what they show anyway."""
    return (Layout(),)


def recognise_shown(kinds: tuple[Kind, ...], layouts: Circumstances) -> Aims | None:
    """Ask whether things are recognized at a place, or among others."""
    return under(recognise(kinds), layouts)


def tell_sizes(kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether small things are told from large ones."""
    return aims(*(TellSizes(things=each) for each in kinds or (Kind(),)))


def different_sizes(one: str, other: str, kinds: tuple[Kind, ...]) -> Aims | None:
    """Ask whether things of two sizes are told from one another."""
    return tell_sizes(kinds) if one != other else None


def all_told(how: str) -> Quantifier | None:
    """Take all, most, none … of the classes of a kind."""
    return classes_told(*{"any": ("at least", 1), "none": ("at most", 0)}.get(how, (how, 0)))


def classes_told(how: str, number: float) -> Quantifier | None:
    """Take a number of classes, or at least, or at most so many."""
    more, fewer = ("at least", number + 1), ("at most", number - 1)
    bound, count = {"more than": more, "less than": fewer}.get(how, (how, number))
    return Quantifier(how=cast("Any", bound), count=int(count)) if number == int(number) else None


def recognise_anything() -> Aims:
    """Ask whether things of any kind are recognized."""
    return aims(Recognise())


def tell_apart(first: Kind, rest: tuple[Kind, ...]) -> Aims:
    """Ask whether kinds are told from one another."""
    return aims(TellApart(kinds=(first, *rest)))


def tell_members(kinds: tuple[Kind, ...]) -> Aims:
    """Ask whether things of one kind are told from one another, for each of several kinds; any things are by name."""
    return aims(*(Recognise() if each == Kind() else TellMembers(things=each) for each in kinds))


def told_apart(kinds: tuple[Kind, ...]) -> Aims:
    """Ask whether things of one kind are told from one another, or several kinds are."""
    return tell_members(kinds) if len(kinds) == 1 else aims(TellApart(kinds=kinds))


def mistake(things: Kind, other: Kind) -> Aims:
    """Ask whether things are taken for others."""
    return aims(Mistake(things=things, other=other))


def either(one: str, other: str) -> tuple[str, ...] | None:
    """Take two answers, each of which is asked about."""
    return (one, other) if one != other else None


def favour(answers: str | tuple[str, ...], how: str = "") -> Aims:
    """Ask whether one answer is given more often than it is right, or always; of several, each for itself."""
    named = (answers,) if isinstance(answers, str) else answers
    return aims(*(Favour(answer=cast("Any", each), always=how == "always") for each in named))


def tagged(of: Aims) -> Aims | None:
    """Take a "no" after a question for a mere tag, unless it may be an answer that is asked about."""
    return None if any(isinstance(each.ability, Favour) and each.ability.answer in {"yes", "no"} for each in of) else of


def which_answer() -> Aims:
    """Ask which answer is given more often than it is right."""
    return replaced(favour(""), lambda _: {"asks": "which answer"})


def identify(conditions: tuple[Condition, ...], kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether changes are noticed."""
    return aims(*(IdentifyType(condition=each, things=of) for each in conditions for of in kinds or (Kind(),)))


def identify_every() -> Aims:
    """Ask whether it is noticed how a picture was changed."""
    return identify((changed(EVERY),))


def tell_places(axis: str, kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether places are told."""
    sides = cast("Literal['sides', 'heights', 'both']", axis)
    return aims(*(TellPlaces(axis=sides, things=each) for each in kinds or (Kind(),)))


def count_things(kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether things are counted."""
    return aims(*(CountThings(things=each) for each in kinds or (Kind(),)))


def count_up_to(number: float, kinds: tuple[Kind, ...] | None = None) -> Aims | None:
    """Ask whether up to so many things are counted."""
    if number != int(number) or number < 2:  # noqa: PLR2004 - one alone is not counted
        return None
    return aims(*(CountThings(up_to=int(number), things=each) for each in kinds or (Kind(),)))


def count_beyond(number: float, kinds: tuple[Kind, ...] | None = None) -> Aims | None:
    """Ask whether more than so many things are counted: one more, at least."""
    return count_up_to(number + 1, kinds)


def name_colours(kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether colors are named."""
    return aims(*(NameColours(things=each) for each in kinds or (Kind(),)))


def colour(name: str) -> tuple[Colour, ...]:
    """Take a color."""
    return (cast("Colour", name),)


def more_colours(name: str, rest: tuple[Colour, ...]) -> tuple[Colour, ...]:
    """Take several colors."""
    return tuple(dict.fromkeys((cast("Colour", name), *rest)))


def colours_of(colours: tuple[Colour, ...], kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether colors are told from others."""
    return aims(*(NameColours(colours=colours, things=each) for each in kinds or (Kind(),)))


def colours_apart(colours: tuple[Colour, ...], kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether some colors are told from one another, and nothing else."""
    return aims(*(NameColours(colours=colours, apart=True, things=each) for each in kinds or (Kind(),)))


def colours_between(first: str, other: str, kinds: tuple[Kind, ...] | None = None) -> Aims:
    """Ask whether two colors are told from one another."""
    return colours_apart(more_colours(first, colour(other)), kinds)


def same_things(first: str, other: str, one: Kind, another: Kind) -> Aims | None:
    """Ask whether things of one kind are told apart by their color: "tell red birds from blue birds"."""
    return colours_between(first, other, (one,)) if one == another else None


def several(likeness: str = "", of: Kind | None = None) -> Aims:
    """Ask whether it is noticed that there are several things."""
    return aims(NoticeSeveral(likeness=cast("Any", likeness), things=of or Kind()))


def truthfully() -> Aims:
    """Ask whether free answers are true."""
    return aims(AnswerFreely())


def helpfully() -> Aims:
    """Ask whether free answers are helpful."""
    return aims(AnswerFreely(measure="help"))


def judge_pairs(measure: str = "") -> Aims:
    """Ask for a judge of pairs."""
    return aims(JudgePairs(measure=cast("Any", measure)))


def replaced(of: Aims, change: Callable[[ModelQuestion], dict[str, Any]]) -> Aims:
    """Return questions with other fields, checked anew."""
    return tuple(ModelQuestion.model_validate({**dict(each), **change(each)}) for each in of)


def under(of: Aims, conditions: Circumstances) -> Aims | None:
    """Ask for abilities under conditions, each for itself; for judges, the changes between pictures of a pair."""
    changes = tuple(each for each in conditions if not isinstance(each, Layout))
    if any(isinstance(each.ability, JudgePairs) for each in of):
        return _judged_under(of, changes) if len(changes) == len(conditions) else None
    if any(each.comparison or each.threshold for each in of) or (changes and any(each.condition for each in of)):
        return None
    return tuple(each for one in conditions for each in replaced(of, lambda asked, on=one: under_one(asked, on)))  # type: ignore[misc]


def under_one(question: ModelQuestion, circumstance: Condition | Layout) -> dict[str, Any]:
    """Return the fields of a question under a circumstance.

    Raises:
        ValueError: Something else than recognizing things is asked for at a place, or among others.
    """
    if not isinstance(circumstance, Layout):
        return {"condition": circumstance}
    ability = question.ability
    if not isinstance(ability, Recognise) or ability.arranged:
        msg = "things are recognized at a place, or among others"
        raise ValueError(msg)
    layout = {"place": circumstance.place, "among": circumstance.among}
    return {"ability": ability.model_copy(update=layout)}


def under_some(of: Aims, conditions: Circumstances | None) -> Aims | None:
    """Ask for abilities under conditions, where some are named."""
    return of if conditions is None else under(of, conditions)


def _judged_under(of: Aims, conditions: tuple[Condition, ...]) -> Aims | None:
    splits = tuple(dict.fromkeys(_SPLITS.get(name, "") for each in conditions for name in each.types))
    if "" in splits or not all(isinstance(each.ability, JudgePairs) and not each.ability.splits for each in of):
        return None
    return replaced(of, lambda each: {"ability": each.ability.model_copy(update={"splits": splits})})


def judged(of: Aims) -> Aims | None:
    """Ask as of judges of pairs; None where a condition cannot be varied between the pictures of a pair."""
    plain = replaced(of, lambda _: {"ability": JudgePairs(), "condition": None, "robust": False})
    conditions = tuple(each.condition for each in of if each.condition is not None)
    return _judged_under(plain, conditions) if conditions else plain


def robust(conditions: Circumstances, of: Aims | None = None) -> Aims | None:
    """Ask what is lost under conditions, in abilities where some are named.

    Whoever is robust to clutter recognizes things among others: no picture is shown with the others and without them.
    """
    asked = under(of or recognise_anything(), conditions)
    return None if asked is None else still(asked)


def still(of: Aims | None) -> Aims | None:
    """Ask whether something is lost, where it is asked what can be done under a condition."""
    if of is None or any(each.comparison or each.threshold for each in of) or not all(map(_is_under, of)):
        return None if of is None or not all(isinstance(each.ability, JudgePairs) for each in of) else of
    return replaced(of, lambda each: {"robust": each.condition is not None})


def _is_under(question: ModelQuestion) -> bool:
    ability = question.ability
    return question.condition is not None or (isinstance(ability, Recognise) and ability.layout != Layout())


def fronted(conditions: Circumstances, of: Aims | None) -> Aims | None:
    """Ask a question under conditions that stand before it: what is lost, or who is best under them."""
    if of is None or any(each.condition is not None or each.than is not None for each in of):
        return None
    if any(isinstance(each.ability, JudgePairs) for each in of):
        return under(of, conditions)
    return tuple(
        asked
        for each in of
        for condition in conditions
        for asked in replaced(
            (each,),
            lambda it, on=condition: {
                **under_one(it, on), "robust": isinstance(on, Condition) and not (it.comparison or it.threshold),
            },  # type: ignore[misc]
        )
    )  # fmt: skip


def turned(of: Aims | None) -> Aims | None:
    """Ask for the opposite: of a bound another bound, of being as good to be worse."""
    return None if of is None else replaced(of, _opposite)


def _opposite(question: ModelQuestion) -> dict[str, Any]:
    comparison, threshold = question.comparison, question.threshold
    if question.quantifier is not None:
        return {"quantifier": _opposite_quantifier(question.quantifier)}
    if threshold is not None:
        return {"threshold": threshold.model_copy(update={"how": _OPPOSITE_BOUND[threshold.how]})}
    if comparison is not None and comparison.how == "as good":
        return {"comparison": comparison.model_copy(update={"how": "better"}), "sense": "fails"}
    return {"sense": {"holds": "fails", "fails": "holds", "open": "open"}[question.sense]}


def _opposite_quantifier(quantifier: Quantifier) -> Quantifier:
    match quantifier.how:
        case "all" | "not all":
            return Quantifier(how="not all" if quantifier.how == "all" else "all")
        case "at least":
            return Quantifier(how="at most", count=quantifier.count - 1)
        case "at most":
            return Quantifier(how="at least", count=quantifier.count + 1)
        case _:
            msg = f"the opposite of {quantifier.how} so many models is no number of them"
            raise ValueError(msg)


def opened(of: Aims | None) -> Aims | None:
    """Ask so that it is not clear what a yes means; for how many models something holds is clear in itself."""
    return None if of is None else replaced(of, lambda each: {} if each.quantifier else {"sense": "open"})


def how_much(of: Aims | None) -> Aims | None:
    """Ask to what degree."""
    if of is None or any(each.comparison or each.threshold or each.than for each in of):
        return of if of and all(each.comparison for each in of) else None
    return replaced(of, lambda _: {"asks": "how much"})


def both(some: Aims | None, more: Aims | None) -> Aims | None:
    """Ask for one and the other."""
    return None if some is None or more is None or set(some) & set(more) else (*some, *more)


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        recognise, recognise_so_many, recognise_sized, at_place, cluttered, alone, recognise_shown, tell_sizes,
        different_sizes, all_told, classes_told, recognise_anything, tell_apart, tell_members, told_apart,
        mistake, either, favour, tagged, which_answer, identify, identify_every,
        tell_places, count_things, count_up_to, count_beyond, name_colours, colour, more_colours, colours_of,
        colours_apart, colours_between, same_things, several,
        truthfully, helpfully, judge_pairs, under, under_some, robust, still, fronted, turned, opened, how_much, both,
    )
}  # fmt: skip
