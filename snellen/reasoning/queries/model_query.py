"""Meanings of questions about models: who is examined, in what, under which condition, and what a yes means.

A `ModelQuery` is one question or several, each of which is answered for itself. Nothing in it is free but the names of
models and of what pictures show. Names of things are in the singular; an empty `Kind` is a thing of any kind.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, model_validator

from snellen.reasoning.meanings.things import Part
from snellen.reasoning.queries.abilities import (
    Ability,
    AnswerFreely,
    IdentifyType,
    JudgePairs,
    Kind,
    Recognise,
    kinds_of,
)
from snellen.reasoning.queries.conditions import EVERY, SCALES, Change, Condition
from snellen.reasoning.queries.quantifiers import Quantifier

MAX_QUESTIONS: Final = 12
HALF: Final = 0.5
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
_NO_VIRTUES: Final = frozenset({"mistake", "favour"})
"""Kinds of abilities of which less is better."""
_OF_PLAIN_PICTURES: Final = frozenset({"identify type", "answer freely", "judge pairs"})
_WITH_LIMITS: Final = frozenset({"recognise", "tell apart", "tell members"})
Sense: TypeAlias = Literal["holds", "fails", "open"]
"""A yes means that what is examined holds, that it fails, or one cannot tell from the wording."""


class Comparison(Part):
    """A comparison of models.

    Attributes:
        how: The first is better than each of the others, or as good; or each is compared with each: which is the best,
            or whether they are alike.
        margin: The share by which; for `alike`, the most that they differ by.
    """

    how: Literal["better", "as good", "best", "alike"]
    margin: float = Field(0, ge=0, lt=1)

    @property
    def of_equals(self) -> bool:
        """True where it asks whether models are alike, or one no worse."""
        return self.how in {"as good", "alike"}


class Threshold(Part):
    """A bound that a question states: for the share of right answers, or for what is lost of it.

    Attributes:
        how: Which bound.
        share: The share; of a loss, in points, or of what there was.
        relative: Whether a loss is a share of the accuracy that there was: "half of its accuracy".
        guessing: Whether the share is that of guessing, whatever it is: "no better than chance".
    """

    how: Literal["at least", "more than", "at most", "less than"]
    share: float = Field(gt=0, lt=1)
    relative: bool = False
    guessing: bool = False

    @model_validator(mode="after")
    def _beyond_guessing(self) -> Threshold:
        if self.guessing and (self.relative or self.share != HALF or self.how not in {"more than", "at most"}):
            msg = "one is better than guessing, or is not"
            raise ValueError(msg)
        return self

    @property
    def above(self) -> bool:
        """True where what is asked for is above it."""
        return self.how in {"at least", "more than"}


class Contrast(Part):
    """The other side of a comparison of a model with itself: another ability, or another condition."""

    ability: Ability | None = None
    condition: Condition | None = None


class ModelQuestion(Part):
    """One question about models.

    Attributes:
        models: Those that it is about; none for all.
        ability: What they shall be able to do.
        condition: Under which they shall; None for pictures as they are.
        robust: Whether it asks what they lose under the condition, rather than how good they are under it.
        comparison: Of models with one another.
        threshold: What is stated; None leaves it to the experiments.
        than: What the same model does is compared with.
        sense: What a yes means.
        quantifier: For how many of the models it has to hold; None where each is answered for itself.
        classes: For how many of the classes of things it has to hold; None for all their pictures alike.
        asks: Whether something is so, to what degree, for which changes of the condition it is most so, up to which
            severity of the condition, of which classes it is most so, or of which answer it is.
    """

    models: tuple[ModelName, ...] = Field((), max_length=12)
    ability: Ability = Recognise()
    condition: Condition | None = None
    robust: bool = False
    comparison: Comparison | None = None
    threshold: Threshold | None = None
    than: Contrast | None = None
    sense: Sense = "holds"
    quantifier: Quantifier | None = None
    classes: Quantifier | None = None
    asks: Literal["whether", "how much", "which changes", "limit", "which classes", "which answer"] = "whether"

    @model_validator(mode="after")
    def _possible(self) -> ModelQuestion:
        problem = _problem(self)
        if problem:
            raise ValueError(problem)
        return self

    @property
    def deficit(self) -> float:
        """The margin by which the first model is to be worse; 0 where none is stated.

        To be worse by a margin is a claim of its own: who is not better by it may be as good.
        """
        of_first = self.sense == "fails" and self.comparison is not None and self.comparison.how == "better"
        return self.comparison.margin if of_first and self.comparison is not None else 0.0

    @property
    def pairs(self) -> bool:
        """True where it is about judges of pairs."""
        return isinstance(self.ability, JudgePairs)


def _problem(question: ModelQuestion) -> str:
    """Say why a question is none; empty where it is one."""
    problems = (
        _problem_of_condition,
        _problem_of_comparison,
        _problem_of_limit,
        _problem_of_classes,
        _problem_of_quantifier,
    )
    return next(filter(None, (each(question) for each in problems)), "")


def _problem_of_condition(question: ModelQuestion) -> str:
    ability, condition = question.ability, question.condition
    if condition is None and (question.robust or question.asks == "which changes"):
        return "what is lost is lost under a condition"
    if ability.kind in _OF_PLAIN_PICTURES and condition is not None:
        return "this is not examined under a further condition"
    family = condition is not None and bool(condition.family) and question.robust
    if question.asks == "which changes" and (not family or question.sense == "open"):
        return "which changes do most is asked of a family of changes"
    return ""


def _problem_of_comparison(question: ModelQuestion) -> str:
    stated = question.threshold is not None and question.asks != "limit"
    if question.asks != "whether" and (question.comparison or stated or question.than):
        return "a question for a degree compares nothing"
    alone = question.comparison or question.threshold or question.robust
    if question.ability.kind in _NO_VIRTUES and alone:
        return "what is mistaken for what, or said too often, is asked of each model"
    if question.asks == "which answer" and not _is_open_favour(question):
        return "which of all answers is favored is asked"
    if question.ability.kind == "favour" and (question.than or (question.ability.always and question.sense == "fails")):
        return "who does not always say something may say it often"
    positive = question.threshold or (question.comparison and question.comparison.of_equals)
    if question.sense == "fails" and positive:
        return "the opposite of a bound is another bound, of being as good to be worse"
    if sum(each is not None for each in (question.comparison, question.threshold, question.than)) > 1:
        return "a question has a comparison, a threshold or a contrast"
    comparison = question.comparison
    fewest = {"better": 2, "as good": 2}.get(comparison.how, 0) if comparison is not None else 0
    if comparison is not None and (len(question.models) < fewest or len(question.models) == 1):
        return "one model is compared with another"
    return _problem_of_contrast(question, question.than) if question.than is not None else ""


def _is_open_favour(question: ModelQuestion) -> bool:
    ability = question.ability
    return ability.kind == "favour" and not ability.answer and not ability.always and question.sense == "holds"


def _problem_of_contrast(question: ModelQuestion, than: Contrast) -> str:
    if (than.ability is None) == (than.condition is None):
        return "a contrast is with an ability or with a condition"
    same = than.ability == question.ability if than.ability is not None else than.condition == question.condition
    return "nothing is contrasted with itself" if same else ""


def _problem_of_limit(question: ModelQuestion) -> str:
    if question.asks != "limit":
        return ""
    change, bound = question.condition.change if question.condition is not None else None, question.threshold
    if change is None or change != Change(type=change.type) or change.type not in SCALES:
        return "a limit is that of a change with a severity"
    if question.robust or question.sense != "holds" or (bound is not None and bound.how != "at least"):
        return "up to a limit something holds"
    return "" if question.ability.kind in _WITH_LIMITS else "this has no limit"


def _problem_of_classes(question: ModelQuestion) -> str:
    by_class = question.classes is not None or question.asks == "which classes"
    if by_class and question.ability.kind == "recognise" and question.ability.arranged:
        return "classes are compared where each is alone, of any size and anywhere"
    if question.classes is not None:
        alone = question.comparison is None and question.than is None and not question.robust
        plain = question.asks == "whether" and question.sense != "fails" and question.ability.kind == "recognise"
        bounded = question.classes.how not in {"exactly", "how many"}
        if question.threshold is not None and not question.threshold.above:
            return "of so many classes it is asked whether a model is right in more than a share of the pictures"
        return "" if alone and plain and bounded else "for how many classes it holds is asked of recognizing them"
    if question.asks != "which classes":
        return ""
    if question.robust or question.sense == "open" or question.ability.kind != "recognise":
        return "which classes are recognized best or worst is asked"
    return ""


def _problem_of_quantifier(question: ModelQuestion) -> str:
    guessed = question.threshold is not None and question.threshold.guessing
    if guessed and (question.robust or question.asks == "limit" or question.classes is not None):
        return "what is guessed is compared with what is recognized"
    if question.threshold is not None and question.threshold.relative and not question.robust:
        return "what is lost is lost under a condition"
    if question.quantifier is None:
        return ""
    if question.asks != "whether" or question.comparison is not None or question.sense == "open":
        return "for how many models something holds is asked where it is clear whether it does for each"
    named = len(question.models)
    return "one model is not several" if named == 1 or 0 < named < question.quantifier.count else ""


class ModelQuery(Part):
    """A question about models, or several.

    Attributes:
        questions: Each is examined and answered for itself.
        confidence: Of the verdicts, where the query states it: 0.99 for "with 99 % confidence".
    """

    questions: tuple[ModelQuestion, ...] = Field(min_length=1, max_length=MAX_QUESTIONS)
    confidence: float | None = Field(None, ge=0.5, lt=1)

    @property
    def protocol(self) -> Literal["choice", "freeform", "pairs"]:
        """The way in which models are asked, by the first question."""
        kinds = {AnswerFreely: "freeform", JudgePairs: "pairs"}
        return kinds.get(type(self.questions[0].ability), "choice")  # type: ignore[return-value]  # of the three

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions that it is about, those among them that are to be noticed."""
        noticed = [each.ability.condition for each in self.questions if isinstance(each.ability, IdentifyType)]
        under = [each.condition for each in self.questions if each.condition is not None]
        than = [each.than.condition for each in self.questions if each.than is not None and each.than.condition]
        return (*noticed, *under, *than)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of things that it is about."""
        abilities = [each.ability for each in self.questions]
        abilities += [each.than.ability for each in self.questions if each.than is not None and each.than.ability]
        return tuple(kind for each in abilities for kind in kinds_of(each))

    @property
    def mixed(self) -> bool:
        """True where its questions need different protocols, so that one investigation cannot answer them."""
        return len({ModelQuery(questions=(each,)).protocol for each in self.questions}) > 1

    @property
    def of_everything(self) -> bool:
        """True where it is asked whether something holds under every transformation there is."""
        asked = (each.condition for each in self.questions if each.asks == "whether")
        return any(condition is not None and condition.family == EVERY for condition in asked)
