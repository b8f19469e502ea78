"""Queries about free answers and judges of pairs: which models can be examined, and what of them is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from snellen.experiments.design import MOST_CLAIMS, Claim, Measured, Protocol
from snellen.experiments.understanding import UnexaminableError
from snellen.experiments.verdicts import Polarity
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.abilities import AnswerFreely, JudgePairs
from snellen.reasoning.queries.echo import SPLIT_WORDS, percent, question_in_words
from snellen.reasoning.queries.model_query import Comparison, ModelQuery, ModelQuestion

if TYPE_CHECKING:
    from snellen.profiles import Profile

_USUAL: Final = ("CJ", "R", "GB", "PS", "ET")
_EVERY: Final[tuple[Measured, ...]] = ("order", "symmetry", "heed")
_BARS: Final[dict[Measured, float]] = {"truth": 0.8, "help": 0.5, "order": 0.5, "symmetry": 0.8, "heed": 0.8}
"""What a model must be above to be called truthful, helpful or trustworthy; of orders the mean concordance."""


@dataclass(frozen=True)
class ProtocolQuery:
    """A query about free answers or about judges.

    Attributes:
        protocol: How it is examined.
        models: Those that are examined, of those that it is about.
        measures: What of.
        claims: What is claimed of them.
        compared: Whether models are compared.
        splits: What changes between pictures, for judges.
        notes: What cannot be examined, in sentences.
        polarity: Whether "yes" to it means that what is measured holds of models, or that it does not.
        of_shares: Whether it states a share, so that orders are told as one.
    """

    protocol: Protocol
    models: tuple[str, ...]
    measures: tuple[Measured, ...]
    claims: tuple[Claim, ...]
    compared: bool = False
    splits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    polarity: Polarity = "unknown"
    of_shares: bool = False


def examined_so(query: ModelQuery, models: Sequence[str], profile: Profile) -> ProtocolQuery:
    """Return what is measured for a query about free answers or judges.

    Args:
        query: Its meaning; what it asks beside its first question is measured of the same models.
        models: The models that can be examined.
        profile: Says what they can do.

    Raises:
        UnexaminableError: None of its models can do that, a comparison has one model, it is held against guessing, or
            its questions differ in what they claim.
    """
    _check(query)
    first, protocol = query.questions[0], query.protocol
    chosen = list(first.models or models)
    unable: dict[str, list[str]] = {}
    for name in chosen:
        unable.setdefault(_unable(name, profile, protocol), []).append(name)
    able = unable.pop("", [])
    notes = [
        f"{listing(names)} {'is not examined: it' if len(names) == 1 else 'are not examined: each'} {reason}."
        for reason, names in unable.items()
    ]
    if not able or (first.comparison is not None and len(able) <= 1):
        reason = "None of the models can be examined in this way" if not able else f"Only {able[0]} can be compared"
        msg = f"{reason}: {' '.join(notes)}"
        raise UnexaminableError(msg[:900])
    compared = first.comparison is not None
    measures = _measures(query)[:1] if compared else _measures(query)
    while len(able) > 1 and len(_claims(first, able, measures)) > MOST_CLAIMS:
        able.pop()
    shown = len(chosen) - sum(map(len, unable.values()))
    if len(able) < shown:
        notes.append(f"Only the first {len(able)} of {shown} models are compared: name the ones that matter.")
    others = [each for each in query.questions[1:] if _asked_of(each) != _asked_of(first)]
    notes += ["Its questions are answered together, for the models of the first."] if others else []
    bound = first.threshold
    if bound is not None and "order" in measures:
        concordance = f"a concordance of {_threshold('order', bound.share):g}"
        notes.append(f"{percent(bound.share)} of pairs in the right order is {concordance}; ties count half.")
    splits = tuple(split for each in query.questions for split in getattr(each.ability, "splits", ()))
    return ProtocolQuery(
        protocol, tuple(able), measures, tuple(_claims(first, able, measures)), compared,
        (splits or _USUAL) if protocol == "pairs" else (), tuple(notes), _polarity(first) if not others else "unknown",
        of_shares=bound is not None,
    )  # fmt: skip


def _check(query: ModelQuery) -> None:
    """Refuse a query with a bound that is not known here, or with questions that differ in what they claim."""
    for question in query.questions:
        bound = question.threshold
        if bound is not None and bound.guessing:
            stated = question.model_copy(update={"threshold": bound.model_copy(update={"guessing": False})})
            msg = (
                "Free answers and scored pairs have no share that guessing gives. Ask with a share instead, such as "
                f"“{question_in_words(stated)[:300]}”"
            )
            raise UnexaminableError(msg)
    if len(set(map(_sort_of_claims, query.questions))) > 1:
        listed = listing([f"“{question_in_words(each)[:200]}”" for each in query.questions[:4]])
        msg = f"Free answers and scored pairs have one bound, or one comparison, at once. Ask one by one: {listed}"
        raise UnexaminableError(msg)


def _sort_of_claims(question: ModelQuestion) -> tuple[object, ...]:
    """Return what questions have in common that are examined together: a bound; of a comparison all but the splits."""
    if question.comparison is None:
        return (question.threshold,)
    return question.comparison, question.models, question.sense, getattr(question.ability, "measure", "")


def _asked_of(question: ModelQuestion) -> tuple[object, ...]:
    return question.models, question.sense, question.quantifier


def _polarity(question: ModelQuestion) -> Polarity:
    """Return what a yes means of what is claimed: that a mean is above a bound, or the first model better."""
    comparison, bound = question.comparison, question.threshold
    if question.asks == "whether" and comparison is not None and _is_no_worse(comparison):
        return "opposite"
    if question.asks != "whether" or (comparison is not None and comparison.how != "better"):
        return "unknown"
    is_opposite = (bound is not None and not bound.above) or (question.sense == "fails" and not question.deficit)
    return "opposite" if is_opposite else "unknown" if question.sense == "open" else "same"


def _measures(query: ModelQuery) -> tuple[Measured, ...]:
    measures: list[Measured] = []
    for each in query.questions:
        if isinstance(each.ability, AnswerFreely):
            measures.append(each.ability.measure)
        elif isinstance(each.ability, JudgePairs):
            measures += [each.ability.measure] if each.ability.measure else _EVERY
    return tuple(dict.fromkeys(measures))


def _claims(question: ModelQuestion, models: Sequence[str], measures: Sequence[Measured]) -> list[Claim]:
    comparison = question.comparison
    if comparison is None:
        bound = question.threshold
        return [
            Claim(
                kind="ability",
                measure=measure,
                model=name,
                threshold=_BARS[measure] if bound is None else _threshold(measure, bound.share),
                one_of=1 if question.quantifier is None else len(models),
            )
            for name in models
            for measure in measures
        ]
    return [
        Claim(kind="better", measure=measures[0], model=one, other=other, threshold=comparison.margin)
        for one, other in _pairs(question, comparison, models)
    ]


def _pairs(question: ModelQuestion, comparison: Comparison, models: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs that claims say of that the first is better than the second, by the margin if there is one."""
    if comparison.how in {"better", "as good"}:
        pairs = [(models[0], other) for other in models[1:]]
        return [(other, one) for one, other in pairs] if question.deficit or _is_no_worse(comparison) else pairs
    pairs = list(combinations(models, 2))
    return [*pairs, *((other, one) for one, other in pairs)] if comparison.margin else pairs


def _is_no_worse(comparison: Comparison) -> bool:
    """Tell whether a model is to be worse by a margin at most: then the others are not better by it."""
    return comparison.how == "as good" and comparison.margin > 0


def _threshold(measure: Measured, share: float) -> float:
    """Return what a mean is above where something is so in more than a share.

    A concordance is that of the pairs in the right order less that in the wrong one: of ties, half count as right.
    """
    return round(2 * share - 1, 12) if measure == "order" else share


def said_of(splits: Sequence[str]) -> str:
    """Name what changes between the pictures of a pair, for people."""
    return listing([SPLIT_WORDS[name] for name in splits])


def _unable(name: str, profile: Profile, protocol: Protocol) -> str:
    """Say, after its name, why a model cannot be examined so; empty where it can."""
    settings = profile.tested.get(name) or profile.tested.get(name.partition("+")[0])
    class_name = getattr(settings, "class_name", "")
    if class_name.endswith("Model"):
        does = "compares vectors, and answers nothing"
        return does + (" (`snellen pairs run` measures encoders)" if protocol == "pairs" else "")
    if protocol == "pairs" and getattr(settings, "pictures", 1) < 2:  # noqa: PLR2004 - a pair
        return "reads one picture at once, and cannot compare two"
    return ""
