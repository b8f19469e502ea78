"""Models under test: the protocol, the questions they are asked and the rankings they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from snellen.errors import BadInput

if TYPE_CHECKING:
    import PIL.Image

Basis = Literal["tokens", "similarity", "letters", "answer"]
"""What a ranking rests on: log-probabilities of the choices' tokens, the similarity of picture and text, the
log-probabilities of the letters of listed choices, or an answer that was parsed."""


@dataclass(frozen=True)
class Question:
    """A question about one or more pictures.

    Attributes:
        pictures: RGB, in the order in which the text speaks of them.
        text: The question, as a person would ask it.
        choices: The answers to rank, if it is to be ranked.
    """

    pictures: tuple[PIL.Image.Image, ...]
    text: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ranking:
    """Probability that a model gives to each of the choices.

    Attributes:
        scores: For each choice the log-probability of each of its tokens; of one number where the basis is not tokens.
        basis: What they are.
        text: The answer that was parsed, where the basis is one.
    """

    scores: tuple[tuple[float, ...], ...]
    basis: Basis = "tokens"
    text: str = ""

    @property
    def means(self) -> tuple[float, ...]:
        """The mean log-probability of each choice's tokens, by which APEX ranks: a long answer is no worse for that."""
        return tuple(sum(row) / len(row) for row in self.scores)

    @property
    def sums(self) -> tuple[float, ...]:
        """The log-probability of each choice as a whole."""
        return tuple(map(sum, self.scores))

    @property
    def choice(self) -> int | None:
        """The place of the choice that is decided on: the first of the highest mean.

        None where a mean is no number, or none of the choices is possible: that is no answer.
        """
        means = self.means
        best = max(means, default=-math.inf)
        if any(math.isnan(mean) for mean in means) or best == -math.inf:
            return None
        return means.index(best)


@dataclass(frozen=True)
class Card:
    """Description of a model: what it is, and what it cannot do.

    Attributes:
        name: As profiles and reports call it.
        fingerprint: Names its weights, or the endpoint and the model's name there, and how it is asked.
        architecture: The class, or the kind of endpoint.
        parameters: How many weights it has; None where that is not known.
        basis: What its rankings rest on.
        pictures: How many pictures a question may have.
        answers: Whether it answers freely.
        notes: What else a reader of a report should know, in sentences.
        servers: What each of its servers did so far, in a sentence, where there are several.
    """

    name: str
    fingerprint: str
    architecture: str
    parameters: int | None
    basis: Basis
    pictures: int
    answers: bool
    notes: tuple[str, ...] = ()
    servers: str = ""


class ModelUnderTest(Protocol):
    """A model that is examined."""

    @property
    def card(self) -> Card:
        """The model's card."""
        ...

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank each question's choices.

        Raises:
            SnellenError: It cannot: a question without choices, more pictures than it reads, an endpoint that is gone.
        """
        ...

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        """Answer freely, in at most so many tokens, always the same.

        Raises:
            SnellenError: It cannot.
        """
        ...


@runtime_checkable
class EncoderUnderTest(Protocol):
    """A model that makes vectors, and so can say how alike things are without being asked in words."""

    def alike(self, questions: Sequence[Question]) -> list[float]:
        """Return the cosine of each question's two pictures, or of its picture and its text.

        Raises:
            BadInput: It cannot compare these.
        """
        ...


def check_question(name: str, question: Question, *, ranked: bool, most: int = 1) -> None:
    """Refuse a question that a model cannot take.

    Raises:
        BadInput: It has no picture or more than the model reads; or it is to be ranked and lacks a choice.
    """
    if not 1 <= len(question.pictures) <= most:
        many = f"1 to {most} pictures" if most > 1 else "one picture"
        msg = f"{name} reads {many} at once, not {len(question.pictures)}."
        raise BadInput(msg)
    if ranked and not (question.choices and all(choice.strip() for choice in question.choices)):
        msg = f"There is nothing to rank: {question.text[:80]!r} has no choices, or an empty one."
        raise BadInput(msg)


RATINGS = tuple(str(rating) for rating in range(1, 11))
"""PairBench's scale (section 2): 1 for pictures that have nothing to do with each other, 10 for the same."""


def rate(model: ModelUnderTest, questions: Sequence[Question]) -> list[float | None]:
    """Let a model score pairs on PairBench's scale: the mean of the ratings, weighted by how probable each is.

    Args:
        model: It must read two pictures at once.
        questions: Each has the two pictures and says what to compare.

    Returns:
        1 to 10; None where the model gave no number.

    Raises:
        SnellenError: It cannot.
    """
    ranked = model.rank([Question(each.pictures, each.text, RATINGS) for each in questions])
    return [_expected(each) for each in ranked]


def _expected(ranking: Ranking) -> float | None:
    if ranking.choice is None:
        return None
    best = max(ranking.sums)
    weights = [math.exp(each - best) for each in ranking.sums]
    return sum(rating * weight for rating, weight in enumerate(weights, 1)) / sum(weights)
