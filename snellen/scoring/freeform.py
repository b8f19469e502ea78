"""Helpfulness and truthfulness of free answers, by the tuples of its scene graph (PROVE, section 3.2).

Where the paper is silent:

- Tuples with the same words are one: who repeats himself gains nothing and loses nothing.
- An answer without tuples (none, a refusal, only small talk) recalls nothing: hscore 0. It says nothing that could be
  true or false: its tscore is undefined, not 0.
- A right answer of which nothing is left without the premises of its question makes hscore undefined: there was
  nothing to be found out.
- Similarities below 0 count as 0, so that both scores lie between 0 and 1.

Two measures of likeness (``metric``). ``paper`` is the cosine of the tuples' embeddings, as it stands. It takes "red
dog" and "blue dog", or "dog" and "no dog", for nearly the same. ``calibrated`` lets no tuples of other polarity count,
none that give one thing another value of one kind, nor those that put two things the other way round; "cat above dog"
is "dog below cat"; and what is left of the cosine counts from `FLOOR` on, which nine in ten pairs of tuples that say
different things do not reach.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeVar, get_args

import numpy as np

from snellen.scoring.measure import Measure
from snellen.scoring.scene_graph import Fact, name_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float64]"]
"""Returns a vector of length 1 for each text, shape (texts, dimensions)."""
Entails = Callable[[Sequence[tuple[Hashable, Fact]]], Sequence[float]]
"""Returns the probability, for each picture and tuple, that the picture shows what the tuple says."""

_T = TypeVar("_T", bound=Hashable)
Metric = Literal["paper", "calibrated"]
METRICS: Final[tuple[Metric, ...]] = get_args(Metric)
FLOOR: Final = 0.68
"""The cosine that tuples of different meaning mostly stay below (`benchmarks.freeform`)."""
_INVERSES: Final = {
    "to the left of": "to the right of", "above": "below", "in front of": "behind", "inside": "around",
    "over": "under",
}  # fmt: skip
_INVERSE: Final = {**_INVERSES, **{other: one for one, other in _INVERSES.items()}}
_EQUAL: Final = 1 - 1e-6
"""A similarity from which on nothing could be truer."""


@dataclass(frozen=True)
class AnswerTuples:
    """A free answer with what it is measured by, all of it as tuples.

    Attributes:
        said: Of the answer.
        reference: Of the right answer.
        premise: Of the question: what whoever asks knows already.
        scene: Of all that is known of the picture.
        picture: Its name, for whoever judges entailment.
    """

    said: Sequence[Fact]
    reference: Sequence[Fact]
    premise: Sequence[Fact]
    scene: Sequence[Fact]
    picture: Hashable = None


@dataclass(frozen=True)
class AnswerScores:
    """The scores of an answer.

    Attributes:
        hscore: Helpfulness: how much of the right answer it recalls (equation 1).
        tscore: Truthfulness: how much of it is so (equation 2).
    """

    hscore: Measure
    tscore: Measure

    @property
    def average(self) -> Measure:
        """The mean of both (table 1); undefined where one of them is."""
        for name, one in (("hscore", self.hscore), ("tscore", self.tscore)):
            if one.value is None:
                return Measure(None, one.n, f"{name} is undefined: {one.undefined}")
        return Measure(((self.hscore.value or 0) + (self.tscore.value or 0)) / 2, self.hscore.n + self.tscore.n)


def score_answers(
    rows: Sequence[AnswerTuples], embed: Embed, entails: Entails | None = None, *, metric: Metric = "paper"
) -> list[AnswerScores]:
    """Score answers; every text is embedded once, and a picture is asked about a tuple at most once.

    Args:
        rows: The answers.
        embed: Of texts.
        entails: Judges whether a picture shows what a tuple says, where no tuple of its scene says the same; None
            leaves that side of equation 2 out.
        metric: How alike tuples are.

    Returns:
        The scores, in the order of the answers.
    """
    facts = (fact for row in rows for fact in (*row.said, *map(_affirmed, row.said), *row.reference, *row.scene))
    texts = _distinct(fact.text for fact in facts)
    likeness = _Likeness(dict(zip(texts, embed(texts), strict=True)) if texts else {}, metric)
    known = [likeness.truths(_once(row.said), _once(row.scene)) for row in rows]
    new_facts: dict[tuple[Hashable, str], Fact] = {}
    for row, best in zip(rows, known, strict=True):
        for fact, similar in zip(_once(row.said), best, strict=True):
            if similar < _EQUAL:
                new_facts.setdefault((row.picture, fact.text), fact)
    pairs = [(picture, fact) for (picture, _), fact in new_facts.items()]
    shown = dict(zip(new_facts, entails(pairs), strict=True)) if entails and pairs else {}
    return [
        AnswerScores(_helpfulness(row, likeness), _truthfulness(row, best, shown))
        for row, best in zip(rows, known, strict=True)
    ]


@dataclass(frozen=True)
class _Likeness:
    """How alike tuples are, by the embeddings of their texts."""

    vectors: Mapping[str, NDArray[np.float64]]
    metric: Metric

    def best(self, facts: Sequence[Fact], others: Sequence[Fact]) -> list[float]:
        """Return how similar each fact is to the most similar of the others, 0 where there are none."""
        if not facts or not others:
            return [0.0] * len(facts)
        one, other = (np.stack([self.vectors[fact.text] for fact in side]) for side in (facts, others))
        similar = np.clip(one @ other.T, 0, 1)
        if self.metric == "calibrated":
            similar = np.clip((similar - FLOOR) / (1 - FLOOR), 0, 1)
            for row, fact in enumerate(facts):
                for column, compared in enumerate(others):
                    known = _compared(fact, compared)
                    similar[row, column] = similar[row, column] if known is None else known
        return [float(value) for value in similar.max(axis=1)]

    def truths(self, facts: Sequence[Fact], scene: Sequence[Fact]) -> list[float]:
        """Return how true each fact is of a scene.

        A denial is in no scene graph. The paper's metric finds what reads most like it; the other takes it for as true
        as what it denies is not to be found.
        """
        if self.metric == "paper":
            return self.best(facts, scene)
        best = self.best([_affirmed(fact) for fact in facts], scene)
        return [1 - similar if fact.negated else similar for fact, similar in zip(facts, best, strict=True)]


def _affirmed(fact: Fact) -> Fact:
    return replace(fact, negated=False) if fact.negated else fact


def _compared(one: Fact, other: Fact) -> float | None:
    """Return how alike two tuples are where logic tells: 1, 0, or None where their words must be compared."""
    if one.negated != other.negated:
        return 0.0
    if one.text == other.text:
        return 1.0
    ends = (name_of(one.entity), name_of(one.target)), (name_of(other.entity), name_of(other.target))
    if one.attribute and other.attribute and ends[0] == ends[1] and one.kind and one.kind == other.kind:
        return 0.0
    if one.relation and other.relation and ends[0] == ends[1] and _INVERSE.get(one.relation) == other.relation:
        return 0.0
    if one.relation and other.relation and ends[0] == ends[1][::-1] and ends[0][0] != ends[0][1]:
        if _INVERSE.get(one.relation) == other.relation:
            return 1.0
        return 0.0 if one.relation == other.relation and one.relation in _INVERSE else None
    return None


def _helpfulness(row: AnswerTuples, likeness: _Likeness) -> Measure:
    known = {fact.text for fact in row.premise}
    expected = [fact for fact in _once(row.reference) if fact.text not in known]
    if not expected:
        return Measure(None, 0, "nothing is left of the right answer without what the question says")
    return Measure(float(np.mean(likeness.best(expected, _once(row.said)))), len(expected))


def _truthfulness(row: AnswerTuples, best: Sequence[float], shown: Mapping[tuple[Hashable, str], float]) -> Measure:
    stated = _once(row.said)
    if not stated:
        return Measure(None, 0, "the answer says nothing")
    truths = [
        max(similar, min(max(shown.get((row.picture, fact.text), 0.0), 0.0), 1.0))
        for fact, similar in zip(stated, best, strict=True)
    ]
    return Measure(sum(truths) / len(truths), len(truths))


def _once(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts without those that say the same as one before."""
    return list({fact.text: fact for fact in reversed(list(facts))}.values())[::-1]


def _distinct(values: Iterable[_T]) -> list[_T]:
    return list(dict.fromkeys(values))
