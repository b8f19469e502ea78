"""Actions of rules about models, changes of pictures and what pictures show: the nouns of a question.

A rule whose parts do not go together gives None, or raises a ``ValueError``, and derives nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from snellen.reasoning.queries.abilities import Kind
from snellen.reasoning.queries.conditions import TYPES, Change, Condition, Side, exceptions
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.reasoning.reading.lexical_entries import LexicalNoun

OTHERS: Final = "*"
"""Stands for every model that is not named, until the reader knows which there are."""
ALL_BUT: Final = "!"
"""Before names: every model but these."""
PRONOUNS: Final = {"it": "@", "they": "@@"}
"""Stand for the models of the question before; "they" for all models where there is none."""
_QUARTER, _HALF, _FULL = 90, 180, 360
AnyItem = TypeVar("AnyItem")


@dataclass(frozen=True)
class ModelSubject:
    """The models that a question is about.

    Attributes:
        names: Their names, none for all; see `OTHERS` and `ALL_BUT`.
        quantifier: For how many of them something has to hold.
    """

    names: tuple[str, ...] = ()
    quantifier: Quantifier | None = None


def named(names: tuple[str, ...]) -> ModelSubject:
    """Take models by their names."""
    return ModelSubject(names)


def named_several(names: tuple[str, ...]) -> ModelSubject | None:
    """Take several models by their names."""
    return ModelSubject(names) if len(names) > 1 else None


def named_both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Join names of models."""
    return tuple(dict.fromkeys((*one, *other)))


def named_two(one: tuple[str, ...], other: tuple[str, ...]) -> ModelSubject | None:
    """Take models that are compared."""
    return named_several(named_both(one, other))


def all_models() -> ModelSubject:
    """Take all models."""
    return ModelSubject()


def all_but(names: tuple[str, ...]) -> ModelSubject:
    """Take all models except some."""
    return ModelSubject((ALL_BUT, *names))


def mentioned(pronoun: str) -> ModelSubject:
    """Take the models of the question before."""
    return ModelSubject((PRONOUNS[pronoun],))


def others() -> ModelSubject:
    """Take all models that are not named."""
    return ModelSubject((OTHERS,))


def of_models(how: str, subject: ModelSubject) -> ModelSubject | None:
    """Take all, any, none, most … of some models."""
    return counted(*{"any": ("at least", 1.0), "none": ("at most", 0.0)}.get(how, (how, 0.0)), subject)


def counted(how: str, number: float, subject: ModelSubject) -> ModelSubject | None:
    """Take a number of some models, or at least, or at most so many."""
    if subject.quantifier is not None or len(subject.names) == 1 or number != int(number):
        return None
    more, fewer = ("at least", number + 1), ("at most", number - 1)
    bound, count = {"more than": more, "less than": fewer}.get(how, (how, number))
    quantifier = Quantifier(how=cast("Any", bound), count=int(count))
    return ModelSubject(subject.names, quantifier)


def which_of_models(subject: ModelSubject) -> ModelSubject | None:
    """Take models among which one is asked for: "which of all the models"."""
    quantifier = subject.quantifier
    return ModelSubject(subject.names) if quantifier is None or quantifier.how == "all" else None


def denied_of(subject: ModelSubject) -> ModelSubject | None:
    """Take models of which something is denied: "for none" is "not for any", and so for all."""
    if subject.quantifier is None:
        return subject
    is_any = subject.quantifier == Quantifier(how="at least", count=1)
    return ModelSubject(subject.names, Quantifier(how="all")) if is_any else None


def unquantified(subject: ModelSubject) -> ModelSubject | None:
    """Take models each of which is asked about."""
    return subject if subject.quantifier is None else None


def changed(name: str) -> Condition:
    """Take a type of change or a family by its name."""
    return Condition(change=Change(type=name)) if name in TYPES else Condition(family=name)


_SLIGHTLY_TURNED: Final[dict[str, Side]] = {"rotation": "", "left rotation": "left", "right rotation": "right"}


def slightly(name: str) -> Condition:
    """Take a type, or the types of a family, that is barely visible; a slight rotation is a slight tilt."""
    if name in _SLIGHTLY_TURNED:
        return tilted(_SLIGHTLY_TURNED[name], "slight")
    return Condition(change=Change(type=name, slight=True)) if name in TYPES else Condition(family=name, slight=True)


def heavily(name: str) -> Condition:
    """Take a type, or the types of a family, at its heaviest."""
    return Condition(change=Change(type=name, heavy=True)) if name in TYPES else Condition(family=name, heavy=True)


def excepting(condition: Condition, excepted: tuple[Condition, ...]) -> Condition | None:
    """Leave types out of a family."""
    types = tuple(dict.fromkeys(name for each in excepted for name in each.types))
    if not condition.family or not set(types) <= exceptions(condition.family):
        return None
    return Condition(family=condition.family, without=tuple(dict.fromkeys((*condition.without, *types))))


def such_as(condition: Condition, examples: tuple[Condition, ...]) -> Condition | None:
    """Take a family of which examples are named that belong to it."""
    types = {name for each in examples for name in each.types}
    return condition if condition.family and types <= set(condition.types) else None


def namely(condition: Condition, members: tuple[Condition, ...]) -> Condition | None:
    """Narrow a family to those of its types that are listed after it."""
    named = {name for each in members for name in each.types}
    if not condition.family or len(named) < len(members) or not named <= set(condition.types):
        return None
    return condition.model_copy(update={"without": tuple(name for name in condition.types if name not in named)})


def both_ways(name: str) -> Condition | None:
    """Take a change that goes to either side, both of which are named."""
    family = {"rotation": "quarter turns"}.get(name, name)
    return changed(family) if family in {"quarter turns", "flips", "tilt"} else None


def rotated(degrees: float, side: str | None = None) -> Condition | None:
    """Turn by so many degrees, to a side or to both."""
    angle = degrees % _FULL
    if angle == _HALF:
        return changed("half turn")
    if angle in {_QUARTER, _FULL - _QUARTER}:
        if side is None:
            return changed("quarter turns")
        is_left = (side == "left") == (angle == _QUARTER)
        return changed("left rotation" if is_left else "right rotation")
    if not 0 < angle < _HALF:
        return None
    return Condition(change=Change(type="tilt", amount=float(angle), side=cast("Side", side or "")))


def tilted(side: str, slight: str | None = None) -> Condition:
    """Tilt to a side."""
    return Condition(change=Change(type="tilt", side=cast("Side", side), slight=bool(slight)))


def directed(name: str, side: str) -> Condition | None:
    """Turn to a side."""
    return changed(f"{side} rotation") if name in {"rotation", "quarter turns"} else None


def amounting(name: str, amount: float) -> Condition | None:
    """Take a type with its severity."""
    if name in {"changes of brightness", "changes of contrast"}:
        name = f"{'low' if amount < 1 else 'high'} {name.rpartition(' ')[2]}"
    return Condition(change=Change(type=name, amount=float(amount))) if name in TYPES else None


def amounting_percent(name: str, percent: float) -> Condition | None:
    """Take a type with its severity in percent: darkened by 30 %."""
    up, down = 1 + percent / 100, 1 - percent / 100
    return (
        amounting(name, round(up if name.startswith("high") else down, 4)) if name.startswith(("high", "low")) else None
    )


def one(item: AnyItem) -> tuple[AnyItem, ...]:
    """Make a list of one."""
    return (item,)


def joined(item: AnyItem, rest: tuple[AnyItem, ...]) -> tuple[AnyItem, ...]:
    """Put an item before a list."""
    return tuple(dict.fromkeys((item, *rest)))


def both_lists(some: tuple[AnyItem, ...], more: tuple[AnyItem, ...]) -> tuple[AnyItem, ...]:
    """Join two lists."""
    return tuple(dict.fromkeys((*some, *more)))


def kind(noun: LexicalNoun) -> Kind:
    """Take a kind of things by its noun."""
    return Kind(names=noun.names, fact=noun.fact)


def named_kind(name: str) -> Kind:
    """Take a kind by its name."""
    return Kind(names=(name,))


def thing() -> Kind:
    """Take things of any kind."""
    return Kind()


def with_fact(of: Kind, fact: str) -> Kind | None:
    """Narrow a kind to those of which a fact holds."""
    return None if of.fact else of.model_copy(update={"fact": fact})


def kind_without(of: Kind, excepted: tuple[Kind, ...]) -> Kind | None:
    """Leave kinds out of a kind."""
    names = tuple(name for each in excepted for name in each.names)
    if of.without or any(each.fact or not each.names for each in excepted):
        return None
    return of.model_copy(update={"without": names})


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        named, named_several, named_both, named_two, all_models, of_models, counted, which_of_models, denied_of,
        unquantified,
        mentioned, all_but, others, changed, slightly, heavily, excepting,
        such_as, namely, both_ways, rotated, tilted, directed, amounting, amounting_percent, one, joined, both_lists,
        kind, named_kind, thing, with_fact, kind_without,
    )
}  # fmt: skip
