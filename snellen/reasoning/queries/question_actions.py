"""Actions of rules about comparisons, bounds and whole questions."""

from __future__ import annotations

from typing import Any, Final, TypeGuard, cast

from snellen.reasoning.queries.abilities import (
    CountThings,
    JudgePairs,
    Kind,
    Layout,
    NameColours,
    NoticeSeveral,
    Recognise,
    TellPlaces,
)
from snellen.reasoning.queries.ability_actions import (
    Aims,
    Circumstances,
    opened,
    recognise,
    recognise_anything,
    recognise_sized,
    replaced,
    robust,
    still,
    turned,
    under,
    under_some,
)
from snellen.reasoning.queries.conditions import EVERY, Condition
from snellen.reasoning.queries.model_query import Comparison, Contrast, ModelQuery, ModelQuestion, Threshold
from snellen.reasoning.queries.nominal_actions import ALL_BUT, PRONOUNS, ModelSubject, all_models, changed, excepting
from snellen.reasoning.queries.number_actions import LOST, bound
from snellen.reasoning.queries.quantifiers import Quantifier

MUCH: Final = 0.1
"""The difference of those that are much better: as much as a model may lose that is robust."""
_TWO: Final = 2
_UNSPECIFIED: Final = (Recognise(), TellPlaces(), CountThings(), NameColours(), NoticeSeveral(), JudgePairs())
"""Abilities that say nothing of what they are about."""


def _compared(of: Aims | None, how: str, margin: float | None, rivals: ModelSubject | None = None) -> Aims | None:
    if of is None or any(each.threshold or each.comparison or each.than for each in of):
        return None
    comparison = Comparison(how=cast("Any", how), margin=margin or 0)
    names = ("?", *rivals.names) if rivals else ()
    return replaced(of, lambda _: {"comparison": comparison, "models": names})


def better(how: str, rivals: ModelSubject, of: Aims | None = None, margin: float | None = None) -> Aims | None:
    """Ask whether a model is better, or worse, than others, by so much."""
    compared = _compared(of or recognise_anything(), "better", margin, rivals)
    return compared if how == "better" else turned(compared)


def much_better(how: str, rivals: ModelSubject, of: Aims | None = None) -> Aims | None:
    """Ask whether a model is much better, or much worse: by more than what counts as a loss."""
    return better(how, rivals, of, MUCH)


def as_good(rivals: ModelSubject, of: Aims | None = None, margin: float | None = None) -> Aims | None:
    """Ask whether a model is as good as others, or worse by so much at most."""
    return _compared(of or recognise_anything(), "as good", margin, rivals)


def alike(of: Aims | None = None, margin: float | None = None) -> Aims | None:
    """Ask whether models differ by so much at most."""
    return _compared(of or recognise_anything(), "alike", margin)


def best(how: str, of: Aims | None = None) -> Aims | None:
    """Ask which model is the best or the worst."""
    if of is None:
        return None
    is_worse = (how == "worse") != any(each.sense == "fails" for each in of)
    plain = replaced(of, lambda _: {"sense": "holds"})
    compared = _compared(plain, "best", None)
    return turned(compared) if is_worse else compared


def best_among(names: tuple[str, ...], how: str, group: ModelSubject, of: Aims | None = None) -> Aims | None:
    """Ask whether a model is the best, or the worst, of some: better, or worse, than the others."""
    if len(names) != 1 or not set(names) < set(group.names) or ALL_BUT in group.names:
        return None
    rivals = tuple(name for name in group.names if name not in names)
    return ask(ModelSubject(names), better(how, ModelSubject(rivals), of))


def best_hurt(how: str, of: Aims | None) -> Aims | None:
    """Ask which model is hurt most ("better" and "more" name the adverbs) or least."""
    return best("worse" if how == "better" else "better", of)


def by_margin(of: Aims | None, margin: float | None = None) -> Aims | None:
    """Say by how much."""
    if of is None or margin is None:
        return of
    return replaced(
        of, lambda each: {"comparison": each.comparison and each.comparison.model_copy(update={"margin": margin})}
    )


def contrasted(how: str, of: Aims, than: Aims) -> Aims | None:
    """Ask whether a model is better at one thing than at another, both under the condition that either is said with."""
    conditions = {each.condition for each in (*of, *than)} - {None}
    if len(of) != 1 or len(than) != 1 or len(conditions) > 1:
        return None
    condition = next(iter(conditions), None)
    asked = replaced(of, lambda _: {"than": Contrast(ability=than[0].ability), "condition": condition})
    return asked if how == "better" else turned(asked)


def contrasted_under(how: str, of: Aims, conditions: Circumstances) -> Aims | None:
    """Ask whether a model is better under one condition than under another, or at one place than at another."""
    if len(of) != 1 or len(conditions) != 1:
        return None
    ability, other, condition = of[0].ability, conditions[0], of[0].condition
    is_laid_out = isinstance(ability, Recognise) and ability.layout != Layout()
    if (condition is not None) if isinstance(other, Layout) else (condition is None and is_laid_out):
        return None  # a change of pictures is not compared with how they show things
    if isinstance(other, Layout):
        anywhere = Recognise(things=ability.things) if isinstance(ability, Recognise) else ability
        than = under(replaced(of, lambda _: {"ability": anywhere}), conditions)
        return None if than is None else contrasted(how, of, than)
    asked = replaced(of, lambda _: {"than": Contrast(condition=conditions[0])})
    return asked if how == "better" else turned(asked)


def contrasted_to(how: str, conditions: Circumstances, than: Circumstances, of: Aims | None = None) -> Aims | None:
    """Ask whether a model is more robust to one condition than to another."""
    asked = robust(conditions, of)
    return None if asked is None or len(than) != 1 else contrasted_under(how, asked, than)


def contrasted_sizes(how: str, size: str, kinds: tuple[Kind, ...], than: str) -> Aims | None:
    """Ask whether a model is better at things of one size than at those of another."""
    return contrasted(how, recognise_sized(size, kinds), recognise_sized(than, kinds)) if size != than else None


def worse_than_plain(conditions: Circumstances, of: Aims | None = None) -> Aims | None:
    """Ask whether a model is worse under conditions than in pictures as they are, which show one thing anywhere."""
    asked = robust(conditions, of)
    if asked is None or all(each.condition is not None for each in asked):
        return turned(asked)
    return contrasted("worse", asked, of or recognise_anything())


def hurt_more(one: Circumstances, other: Circumstances, of: Aims | None = None) -> Aims | None:
    """Ask whether one change hurts more than another: whether a model is less robust to it."""
    return contrasted_to("worse", one, other, of)


def which_of(how: str, conditions: tuple[Condition, ...], of: Aims | None = None) -> Aims | None:
    """Ask which of two changes hurts more."""
    if len(conditions) == 1:
        return which_changes(how, conditions, of)
    if len(conditions) != _TWO:
        return None
    return opened(contrasted_to("worse", conditions[:1], conditions[1:], of))


def which_changes(how: str, conditions: tuple[Condition, ...], of: Aims | None = None) -> Aims | None:
    """Ask which changes of a family hurt most or least."""
    if len(conditions) == _TWO:
        return which_of(how, conditions, of)
    asked = robust(conditions, of)
    if asked is None or len(asked) != 1:
        return None
    asked = replaced(asked, lambda _: {"asks": "which changes"})
    return turned(asked) if how == "most" else asked


def which_changes_by(how: str, conditions: tuple[Condition, ...]) -> Aims | None:
    """Ask which changes a model is most or least robust to."""
    return which_changes("least" if how == "better" else "most", conditions)


def which_changes_least(how: str, conditions: tuple[Condition, ...]) -> Aims | None:
    """Ask which changes a model copes with best or worst."""
    return which_changes("least" if how == "most" else "most", conditions)


def which_classes(how: str, kind: Kind, conditions: tuple[Condition, ...] | None = None) -> Aims | None:
    """Ask which classes of a kind a model recognizes worst, or best."""
    asked, sense = under_some(recognise((kind,)), conditions), "fails" if how == "worst" else "holds"
    return None if asked is None else replaced(asked, lambda _: {"asks": "which classes", "sense": sense})


def limit(condition: Condition, of: Aims | None = None) -> Aims | None:
    """Ask up to which severity of a change something holds; "fails" and "holds" ask for the same limit."""
    if condition.family == "rotation":
        condition = changed("tilt")
    asked = of or recognise_anything()
    if any(each.condition is not None or each.comparison or each.than for each in asked):
        return None
    return replaced(
        asked,
        lambda each: {
            "condition": condition, "asks": "limit", "sense": "holds",
            "threshold": each.threshold and Threshold(how="at least", share=each.threshold.share),
        },
    )  # fmt: skip


def every() -> tuple[Condition, ...]:
    """Take every transformation."""
    return (changed(EVERY),)


def at_share(threshold: Threshold, of: Aims | None = None) -> Aims | None:
    """Ask whether models are right in at least so many cases."""
    asked = of or recognise_anything()
    if any(each.comparison or each.threshold or each.robust for each in asked):
        return None
    return replaced(asked, lambda _: {"threshold": threshold})


def at_error(threshold: Threshold, of: Aims | None = None) -> Aims | None:
    """Ask whether models are wrong in so many cases: right in the rest."""
    return at_share(bound(LOST[threshold.how], round(1 - threshold.share, 10)), of)


def lost(threshold: Threshold, conditions: Circumstances, of: Aims | None = None) -> Aims | None:
    """Ask whether models lose so much under conditions."""
    asked = robust(conditions, of)
    if asked is None or not all(each.robust for each in asked):
        return None
    return replaced(asked, lambda _: {"threshold": threshold})


def ask(subject: ModelSubject, of: Aims | None) -> Aims | None:
    """Ask something of models."""
    if of is None:
        return None
    quantifier = subject.quantifier
    if quantifier is not None and quantifier.how != "all" and len(of) > 1:
        msg = "one thing and another hold for any model where both hold for the same one"
        raise ValueError(msg)
    return replaced(of, lambda each: {"models": _models(subject, each), "quantifier": _quantifier(quantifier, each)})


def _quantifier(quantifier: Quantifier | None, question: ModelQuestion) -> Quantifier | None:
    """Return for how many models a question asks; for a degree or an order, each of all of them counts."""
    of_each = question.asks in {"how much", "which changes"} or (
        question.comparison is not None and question.comparison.how in {"best", "alike"}
    )
    return None if quantifier is not None and quantifier.how == "all" and of_each else quantifier


def _models(subject: ModelSubject, question: ModelQuestion) -> tuple[str, ...]:
    if not question.models:
        return subject.names
    if len(subject.names) != 1 or subject.names[0] in question.models:
        msg = "one model is compared with others"
        raise ValueError(msg)
    return (*subject.names, *question.models[1:])


def ask_or_all(subject: ModelSubject | None, of: Aims | None) -> Aims | None:
    """Ask something of models, or of all where none are named."""
    return ask(subject or all_models(), of)


def asked_of(subject: ModelSubject, of: Aims | None) -> Aims | None:
    """Ask of models that were named first and stand as a pronoun in the question."""
    pronouns = set(PRONOUNS.values())
    if of is None or not all(set(each.models) & pronouns for each in of):
        return None
    return replaced(
        of, lambda each: {"models": _in_place(each.models, subject.names), "quantifier": subject.quantifier}
    )


def _in_place(names: tuple[str, ...], antecedents: tuple[str, ...]) -> tuple[str, ...]:
    pronouns = set(PRONOUNS.values())
    if len(names) == 1:
        return antecedents
    if len(antecedents) != 1 or antecedents[0] in names:
        msg = "one model is compared with others"
        raise ValueError(msg)
    return tuple(antecedents[0] if name in pronouns else name for name in names)


def asked_for(topic: Aims | None, of: Aims | None) -> Aims | None:
    """Ask for an ability that was named first, and more exactly than in the question."""
    if topic is None or of is None or len(topic) != 1 or len(of) != 1 or topic[0].condition is not None:
        return None
    exact, loose = topic[0].ability, of[0].ability
    if exact != loose and (exact.kind != loose.kind or loose not in _UNSPECIFIED):
        return None
    return replaced(of, lambda _: {"ability": exact})


def about(conditions: Circumstances, of: Aims | None) -> Aims | None:
    """Ask what is lost under conditions that were named first."""
    return None if of is None else still(under(of, conditions))


def excepted_first(excepted: tuple[Condition, ...], of: Aims | None) -> Aims | None:
    """Ask a question about families of changes, but for those that stand before it."""
    if of is None:
        return None
    families = [each.condition and excepting(each.condition, excepted) for each in of]
    if None in families:
        return None
    return tuple(
        asked
        for each, family in zip(of, families, strict=True)
        for asked in replaced((each,), lambda _, on=family: {"condition": on})  # type: ignore[misc]
    )


def under_too(of: Aims, conditions: tuple[Condition, ...]) -> Aims | None:
    """Ask the last question under other conditions as well."""
    last = of[-1]
    if last.condition is None:
        return None
    return (*of, *(each for it in conditions for each in replaced((last,), lambda _, it=it: {"condition": it})))  # type: ignore[misc]


def under_further(of: Aims, conditions: tuple[Condition, ...]) -> Aims | None:
    """Ask the last question, of pictures as they are, under conditions as well."""
    further = under(of[-1:], conditions)
    return None if further is None else (*of, *further)


def kinds_too(of: Aims, kinds: tuple[Kind, ...]) -> Aims | None:
    """Ask the last question about other things as well."""
    last = of[-1]
    if not isinstance(last.ability, Recognise | CountThings | NameColours | TellPlaces | NoticeSeveral):
        return None
    abilities = [last.ability.model_copy(update={"things": each}) for each in kinds]
    return (*of, *(each for it in abilities for each in replaced((last,), lambda _, it=it: {"ability": it})))  # type: ignore[misc]


def several_questions(some: Aims, more: Aims) -> Aims:
    """Ask one question after another; a pronoun stands for the models of the one before."""
    names, quantifier = some[-1].models, some[-1].quantifier
    pronouns = set(PRONOUNS.values())
    if quantifier is not None and quantifier.how != "all" and any(set(each.models) & pronouns for each in more):
        msg = "which of several models a pronoun stands for is not known"
        raise ValueError(msg)
    return tuple(
        dict.fromkeys((*some, *replaced(more, lambda each: {"models": names} if set(each.models) & pronouns else {})))
    )


def whole(of: Aims, confidence: float | None = None) -> ModelQuery:
    """Make a query of questions."""
    return ModelQuery(questions=of, confidence=confidence)


ACTIONS: Final[dict[str, Any]] = {
    each.__name__: each
    for each in (
        better, as_good, alike, best, best_among, best_hurt, by_margin, contrasted, contrasted_under, contrasted_to,
        worse_than_plain,
        contrasted_sizes, hurt_more, which_of, which_changes, which_changes_by, which_changes_least, which_classes,
        limit, every,
        at_share, at_error, lost, much_better, ask, ask_or_all, several_questions,
        asked_of, asked_for, about, excepted_first, under_too, under_further, kinds_too, whole,
    )
}  # fmt: skip


def leaves_open(query: object) -> TypeGuard[ModelQuery]:
    """Tell whether a query has a pronoun for models, and none before it that it stands for."""
    return isinstance(query, ModelQuery) and any(PRONOUNS["it"] in each.models for each in query.questions)


def asked_of_all(query: ModelQuery) -> ModelQuery | None:
    """Ask of all models what is asked of one that was not named; None where it is compared with others."""
    try:
        questions = (replaced((each,), lambda _: {"models": ()})[0] for each in query.questions)
        return query.model_copy(update={"questions": tuple(questions)}) if _is_of_it(query) else None
    except ValueError:
        return None


def _is_of_it(query: ModelQuery) -> bool:
    return all(each.models in {(), (PRONOUNS["it"],)} for each in query.questions)


def unsaid(query: ModelQuery) -> ModelQuery:
    """Leave open what a yes means: readings that differ in nothing else lead to the same experiments."""
    try:
        questions = [ModelQuestion.model_validate({**dict(each), "sense": "open"}) for each in query.questions]
        return query.model_copy(update={"questions": tuple(questions)})
    except ValueError:  # where each reading has its own
        return query
