"""Notes of examinations: what of a query is not examined, or otherwise than one may think."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import MARGIN
from snellen.experiments.report import MAX_EXPERIMENTS
from snellen.experiments.templates import MOST_TYPES
from snellen.reasoning.language.inflection import listing, plural
from snellen.reasoning.queries.abilities import IdentifyType, kinds_of
from snellen.reasoning.queries.conditions import SCALES, Condition
from snellen.reasoning.queries.echo import condition_in_words, percent, question_in_words
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion
from snellen.sentences import capitalized

if TYPE_CHECKING:
    from snellen.experiments.class_groups import Subjects

_FEW: Final = 8
"""Classes of a group that are all named."""


def remarks(query: ModelQuery, numbered: Sequence[tuple[ModelQuestion, int]], subjects: Subjects) -> Iterable[str]:
    """Yield what one should know of how questions are examined.

    Args:
        query: The query.
        numbered: Its questions with the models that are examined, and how many each was asked about.
        subjects: What pictures can be of.
    """
    asked = [question for question, _ in numbered]
    if len(asked) > MAX_EXPERIMENTS:
        last = listing([_in_short(each) for each in asked[MAX_EXPERIMENTS:]])
        yield (
            f"This asks {len(asked)} questions, and there are {MAX_EXPERIMENTS} experiments by default: "
            f"only a budget of {len(asked)} experiments or more covers {last}."
        )
    for question, of in numbered:
        ability = question.ability
        if len(question.models) < of:
            examined = "compared" if question.comparison else "examined"
            yield f"Only the first {len(question.models)} of {of} models are {examined}: name the ones that matter."
        if question.comparison and not question.comparison.margin and question.comparison.of_equals:
            yield f"“As good” means worse by less than {100 * MARGIN:.0f} points, unless the question states a margin."
        if question.asks == "limit" and question.condition is not None and question.condition.change is not None:
            change = question.condition.change.type
            levels = listing([f"{amount:g}" for amount in SCALES[change]])
            yield f"Severities of {change} are chosen by bisection from {levels}; none in between are tried."
        if isinstance(ability, IdentifyType) and len(ability.condition.changes) > MOST_TYPES:
            left = listing(ability.condition.types[MOST_TYPES:])
            yield f"Of {condition_in_words(ability.condition)} the first {MOST_TYPES} are examined, not {left}."
        yield from _members(question, subjects)
        yield from _untaught(question, subjects)
        yield from _of_bounds(question)
    yield from _apart(asked)
    if subjects.classes:
        yield "Pictures are drawn from the folder with replacement: the verdicts are about the pictures in it."
    if query.confidence is not None:
        confidence = percent(query.confidence)
        yield f"Verdicts have {confidence} confidence, as the question says (alpha {1 - query.confidence:.3g})."


def _members(question: ModelQuestion, subjects: Subjects) -> Iterable[str]:
    """Yield which classes small groups have that a question is about: people may think of others."""
    for kind in kinds_of(question.ability):
        group = subjects.kind(kind)
        if group is not None and len(group.members) <= _FEW and set(group.members) - set(kind.names):
            yield f"In the pictures {group.name} are {listing([plural(each) for each in group.members])}."


def _untaught(question: ModelQuestion, subjects: Subjects) -> Iterable[str]:
    """Yield what no model was taught of what a question asks."""
    untaught = sorted(subjects.novel & set(_named(question)))
    if untaught:
        yield f"No model of this profile was taught {listing(untaught)}."
    strange = [] if subjects.changes is None else [one for one in _types(question) if one not in subjects.changes]
    if strange:
        yield f"No model of this profile was taught pictures with {listing(strange)}, nor the words for it."


def _of_bounds(question: ModelQuestion) -> Iterable[str]:
    """Yield what words mean that bound a question."""
    yield from _without_severity(question)
    if question.threshold is not None and question.threshold.guessing and not question.threshold.above:
        yield f"“No better than guessing” means by less than {100 * MARGIN:.0f} points."
    share = question.threshold if question.asks == "whether" and not question.robust else None
    if share is not None and not share.guessing:
        yield "A share is that of pictures for which each answer is the right one as often as any other."
    if question.threshold is not None and question.threshold.relative:
        yield "A share of the accuracy means a share of the part beyond guessing: what guessing gives cannot be lost."
    if question.quantifier is not None and len(question.models) > 1:
        number = len(question.models)
        yield f"A verdict on any one of {number} models may answer this: each has the error rate divided by {number}."


def _without_severity(question: ModelQuestion) -> Iterable[str]:
    """Yield which changes have not the severity that a question asks for."""
    noticed = question.ability.condition if isinstance(question.ability, IdentifyType) else None
    than = question.than.condition if question.than is not None else None
    changes = [change for each in (noticed, question.condition, than) if each is not None for change in each.changes]
    for lacking in ("slight", "heavy"):
        names = [change.type for change in changes if change.lacks == lacking]
        if names:
            yield f"There is no {lacking} form of {listing(names)} here: the usual one is examined."


def _apart(asked: Sequence[ModelQuestion]) -> Iterable[str]:
    """Yield which changes are not made at once."""
    conditions: dict[ModelQuestion, list[Condition]] = {}
    for question in asked:
        if question.condition is not None and question.condition.change is not None:
            same = question.model_copy(update={"condition": None, "robust": False})
            conditions.setdefault(same, []).append(question.condition)
    for each in conditions.values():
        if len(each) > 1:
            words = listing([condition_in_words(condition) for condition in each])
            yield f"{capitalized(words)} are examined separately, not together."


def _in_short(question: ModelQuestion) -> str:
    return f"“{question_in_words(question).rstrip('.?')}”"


def _types(question: ModelQuestion) -> tuple[str, ...]:
    """Return the types of pictures that a question is about."""
    ability = question.ability
    noticed = ability.condition.types[:MOST_TYPES] if isinstance(ability, IdentifyType) else ()
    return (*noticed, *(question.condition.types if question.condition is not None else ()))


def _named(question: ModelQuestion) -> tuple[str, ...]:
    """Return the names of what pictures of a question show."""
    than = question.than.ability if question.than is not None else None
    kinds = (*kinds_of(question.ability), *(() if than is None else kinds_of(than)))
    return tuple(name for kind in kinds for name in kind.names)
