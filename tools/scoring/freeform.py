"""How helpful and how truthful a free answer is, by the tuples of its scene graph (PROVE, section 3.2).

Where the paper is silent:

- Tuples with the same words are one: who repeats himself gains nothing and loses nothing.
- An answer without tuples (none, a refusal, only small talk) recalls nothing: hscore 0. It says nothing that could be
  true or false: its tscore is undefined, not 0.
- A right answer of which nothing is left without the premises of its question makes hscore undefined: there was
  nothing to be found out.
- Similarities below 0 count as 0, so that both scores lie between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from tools.scoring.measure import Measure
from tools.scoring.scene_graph import Fact

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float64]"]
"""Returns a vector of length 1 for each text, shape (texts, dimensions)."""
Entails = Callable[[Sequence[tuple[Hashable, str]]], Sequence[float]]
"""Returns the probability, for each picture and text, that the picture shows what the text says."""

_T = TypeVar("_T", bound=Hashable)
_EQUAL: Final = 1 - 1e-6
"""A similarity from which on nothing could be truer."""


@dataclass(frozen=True)
class Answered:
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
class Scored:
    """What an answer is worth.

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


def score_answers(rows: Sequence[Answered], embed: Embed, entails: Entails | None = None) -> list[Scored]:
    """Score answers; every text is embedded once, and a picture is asked about a text at most once.

    Args:
        rows: The answers.
        embed: Of texts.
        entails: Judges whether a picture shows what a tuple says, where no tuple of its scene says the same; None
            leaves that side of equation 2 out.

    Returns:
        The scores, in the order of the answers.
    """
    texts = _distinct(fact.text for row in rows for fact in (*row.said, *row.reference, *row.scene))
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    known = [_best(_texts(row.said), _texts(row.scene), vectors) for row in rows]
    wanted = _distinct(
        (row.picture, text)
        for row, best in zip(rows, known, strict=True)
        for text, similar in zip(_texts(row.said), best, strict=True)
        if similar < _EQUAL
    )
    shown = dict(zip(wanted, entails(wanted), strict=True)) if entails and wanted else {}
    return [
        Scored(_helpfulness(row, vectors), _truthfulness(row, best, shown))
        for row, best in zip(rows, known, strict=True)
    ]


def _helpfulness(row: Answered, vectors: Mapping[str, NDArray[np.float64]]) -> Measure:
    known = {fact.text for fact in row.premise}
    wanted = [text for text in _texts(row.reference) if text not in known]
    if not wanted:
        return Measure(None, 0, "nothing is left of the right answer without what the question says")
    return Measure(float(np.mean(_best(wanted, _texts(row.said), vectors))), len(wanted))


def _truthfulness(row: Answered, best: Sequence[float], shown: Mapping[tuple[Hashable, str], float]) -> Measure:
    said = _texts(row.said)
    if not said:
        return Measure(None, 0, "the answer says nothing")
    truths = [
        max(similar, min(max(shown.get((row.picture, text), 0.0), 0.0), 1.0))
        for text, similar in zip(said, best, strict=True)
    ]
    return Measure(sum(truths) / len(truths), len(truths))


def _best(texts: Sequence[str], others: Sequence[str], vectors: Mapping[str, NDArray[np.float64]]) -> list[float]:
    """Return how similar each text is to the most similar of the others, 0 where there are none."""
    if not texts or not others:
        return [0.0] * len(texts)
    similar = np.stack([vectors[text] for text in texts]) @ np.stack([vectors[other] for other in others]).T
    return [float(one) for one in np.clip(similar.max(axis=1), 0, 1)]


def _texts(facts: Iterable[Fact]) -> list[str]:
    return _distinct(fact.text for fact in facts)


def _distinct(values: Iterable[_T]) -> list[_T]:
    return list(dict.fromkeys(values))
