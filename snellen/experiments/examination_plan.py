"""Plans of examinations: the experiments that answer each question of a query, and what of it cannot be examined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from snellen.errors import BadInput
from snellen.experiments.changed_answers import without_changed_answers
from snellen.experiments.class_groups import Subjects
from snellen.experiments.contrast_templates import experiments_contrasting
from snellen.experiments.design import MARGIN, MOST_CLAIMS, Claim, Design
from snellen.experiments.examination_notes import remarks
from snellen.experiments.extreme_templates import experiment_comparing
from snellen.experiments.report import MAX_EXPERIMENTS, MAX_MODELS, Experiment
from snellen.experiments.templates import changed, compared, experiments_about
from snellen.experiments.verdicts import halfway
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.queries.abilities import AnswerFreely, Favour, JudgePairs, Mistake, kinds_of
from snellen.reasoning.queries.conditions import EVERY, FAMILIES, Change, Condition, conditions_of
from snellen.reasoning.queries.echo import condition_in_words, kind_in_words, question_in_words
from snellen.reasoning.queries.model_query import Comparison, Contrast, ModelQuery, ModelQuestion, Threshold
from snellen.sentences import capitalized

_ALWAYS: Final = 0.9
"""The share of a model's answers from which on it always gives one."""


@dataclass(frozen=True)
class ExaminedQuestion:
    """A question with the experiments that answer it.

    Attributes:
        question: The question, of one condition; its models are those that are examined.
        designs: Its experiments, in the order in which they are run.
        asked: The question of the query that this is a part of, or all of; None where no query asks it.
        names_models: Whether the query names its models, and does not ask about all there are.
        of: How many models it was asked about; more than it has where only the first of them are examined.
    """

    question: ModelQuestion
    designs: tuple[Design, ...]
    asked: ModelQuestion | None = None
    names_models: bool = False
    of: int = 0

    def as_begun(self, experiments: Sequence[Experiment]) -> ExaminedQuestion:
        """Return the question with its experiments in the order in which they were begun.

        Reports of earlier versions asked for a group by its name before they asked for its members.
        """
        purposes = {design.purpose for design in self.designs}
        first = next((one.design for one in experiments if one.design.purpose in purposes), None)
        if first is None or not first.of_names:
            return self
        return replace(self, designs=tuple(sorted(self.designs, key=lambda design: not design.of_names)))

    @property
    def about(self) -> list[str]:
        """The models, or the pairs of models, that are claimed about."""
        return list(dict.fromkeys(claim.about for claim in self.designs[0].claims))


@dataclass(frozen=True)
class ExaminationPlan:
    """The questions of a query with their experiments.

    Attributes:
        parts: One for each question and condition.
        notes: What is not examined, or otherwise than one may think, in sentences.
    """

    parts: tuple[ExaminedQuestion, ...]
    notes: tuple[str, ...]


def planned(query: ModelQuery, subjects: Subjects, models: Sequence[str], *, of: int = 0) -> ExaminationPlan:
    """Return the experiments for a query.

    Args:
        query: Its meaning.
        subjects: What pictures can be of.
        models: Those that are examined where a question names none.
        of: How many there were, where some of them were left out before.

    Raises:
        BadInput: No question of it can be examined; the message says why.
    """
    parts: list[ExaminedQuestion] = []
    notes: list[str] = []
    problems: list[str] = []
    for question in query.questions:
        for each, note in _narrowed(question):
            notes += [note] if note else []
            try:
                part = None if each is None else _examined(each, subjects, models, asked=question)
                parts += [] if part is None else [replace(part, of=len(question.models) or max(of, len(models)))]
            except BadInput as error:
                problems.append(str(error))
    if not parts:
        raise BadInput(" ".join(dict.fromkeys([*problems, *notes])) or "None of this can be examined.")
    notes += [f"Not examined: {problem}" for problem in problems]
    steps = sum(len(part.designs) for part in parts)
    if query.of_everything and len(parts) <= MAX_EXPERIMENTS < steps:
        most = f"there are {MAX_EXPERIMENTS} unless the budget allows more"
        notes.append(f"A yes may take {steps} experiments, and {most}.")
    notes += remarks(query, [(part.question, part.of) for part in parts], subjects)
    return ExaminationPlan(tuple(parts), tuple(dict.fromkeys(note[:300] for note in notes))[:10])


def _narrowed(question: ModelQuestion) -> Iterable[tuple[ModelQuestion | None, str]]:
    """Yield a question with each condition that counts for itself, and with what is not examined of it."""
    condition, than = question.condition, question.than.condition if question.than is not None else None
    if condition is not None and than is not None and EVERY not in {condition.family, than.family}:
        yield from _possible_contrast(question, condition, than)
        return
    if question.than is not None and not _is_one_experiment(question):
        yield from _sides(question)
        return
    if condition is None or not condition.family:
        yield without_changed_answers(question)
        return
    conditions = [condition]
    if condition.family == EVERY:
        groups = [family for family in FAMILIES if family.endswith("transformations")]
        conditions = [
            Condition(family=family, without=tuple(name for name in condition.without if name in FAMILIES[family]))
            for family in groups
            if not set(FAMILIES[family]) <= set(condition.without)
        ]
    elif question.asks == "which changes":
        conditions = [Condition(change=Change(type=name)) for name in condition.types]
    if question.asks == "which changes":
        words = listing([condition_in_words(each) for each in conditions])
        yield None, f"{capitalized(words)} are examined separately: which of them matters most is not tested."
        question = question.model_copy(update={"asks": "whether", "sense": "open"})
    for each in conditions:
        yield without_changed_answers(question.model_copy(update={"condition": each}))
    exception = condition.exception if question.robust and question.comparison is None else None
    if exception is not None:  # "robust to everything except blur" leads to expect that it is not robust to blur
        other = {"condition": exception, "sense": "open", "quantifier": None}
        yield without_changed_answers(question.model_copy(update=other))


def _is_one_experiment(question: ModelQuestion) -> bool:
    """Tell whether both sides of a contrast are asked in one experiment: two abilities, by choices, and not a loss."""
    than = question.than.ability if question.than is not None else None
    apart = (Mistake, Favour, AnswerFreely, JudgePairs)
    return (
        than is not None
        and not question.robust
        and not isinstance(than, apart)
        and not isinstance(question.ability, apart)
    )


def _sides(question: ModelQuestion) -> Iterable[tuple[ModelQuestion | None, str]]:
    """Yield both sides of a contrast, each for itself, where one experiment cannot have both."""
    one = question.model_copy(update={"than": None, "sense": "open", "quantifier": None})
    than = question.than
    if than is not None:
        other = {"ability": than.ability} if than.ability is not None else {"condition": than.condition}
        both = (one, one.model_copy(update=other))
        words = " and ".join(f"“{question_in_words(each).rstrip('.?')}”" for each in both)
        yield None, f"Each side is examined separately, {words}; the difference between them is not tested."
        for each in both:
            yield from _narrowed(each)


def _possible_contrast(
    question: ModelQuestion, condition: Condition, than: Condition
) -> Iterable[tuple[ModelQuestion | None, str]]:
    """Yield a contrast of two conditions without those changes after which its right answer would be another."""
    alone = question.model_copy(update={"than": None})
    (one, note), (other, further) = (
        without_changed_answers(alone.model_copy(update={"condition": each})) for each in (condition, than)
    )
    if one is None or other is None:
        yield None, f"{note} {further}".strip()
        return
    contrast = Contrast(condition=other.condition)
    yield question.model_copy(update={"condition": one.condition, "than": contrast}), f"{note} {further}".strip()


def _examined(
    question: ModelQuestion, subjects: Subjects, models: Sequence[str], *, asked: ModelQuestion
) -> ExaminedQuestion:
    condition, than = question.condition, question.than.ability if question.than is not None else None
    if than is not None:
        designs = experiments_contrasting(question.ability, than, subjects, condition)
        return _claimed(question, designs, models, asked)
    if question.asks == "which classes" or question.classes is not None:
        design = experiment_comparing(kinds_of(question.ability)[0], subjects)
        if question.classes is not None and not subjects.kind(kinds_of(question.ability)[0]):
            msg = "There are too many kinds of things: ask about all, most or half of those of a group, such as birds."
            raise BadInput(msg)
        designs = [design if condition is None else changed(design, condition, robust=False)]
        return _claimed(question, designs, models, asked)
    designs = experiments_about(question.ability, subjects)
    if question.asks == "limit" and condition is not None and condition.change is not None:
        plain = next(design for design in designs if not design.of_names)
        levels = conditions_of(condition.change.type)
        if question.threshold is None:
            halfway_up = Threshold(how="more than", share=halfway(len(plain.told_apart)))
            question = question.model_copy(update={"threshold": halfway_up})
        designs = [plain, *(changed(plain, level, robust=False) for level in levels)]
    elif condition is not None and question.than is not None and question.than.condition is not None:
        designs = [compared(design, condition, question.than.condition) for design in designs]
    elif condition is not None:
        designs = [changed(design, condition, robust=question.robust) for design in designs]
    return _claimed(question, designs, models, asked)


def _claimed(
    question: ModelQuestion, designs: Sequence[Design], models: Sequence[str], asked: ModelQuestion
) -> ExaminedQuestion:
    """Return a question with its experiments, which claim something of its models."""
    chosen = tuple(_compared(question, models))
    about = question.model_copy(update={"models": chosen})
    made = [design.model_copy(update={"claims": _of_any(_claims(design, about), question)}) for design in designs]
    asked = asked.model_copy(update={"models": chosen})
    return ExaminedQuestion(about, tuple(_in_order(made, question)), asked, names_models=bool(question.models))


def _in_order(designs: Sequence[Design], question: ModelQuestion) -> list[Design]:
    """Return experiments in the order in which they are run, without those that decide nothing."""
    by_name = [design for design in designs if design.of_names]
    others = [design for design in designs if not design.of_names]
    # Two models, or conditions, of which both leave the easy experiment easy differ, if at all, on the hard one.
    if question.comparison or question.than:
        # A difference in what they make of the group's name says nothing of what they see.
        return (others or list(designs))[::-1]
    # Who manages the members recognizes the group, by whatever name; of who does not, its name may say otherwise.
    # What a model loses of the things that it recognizes does not depend on what their group is called.
    return others + (by_name if not others or not question.robust else [])


def _compared(question: ModelQuestion, models: Sequence[str]) -> list[str]:
    """Return as many of the models as claims have room for.

    Raises:
        BadInput: One model alone is compared.
    """
    chosen = list(question.models or models)[:MAX_MODELS]
    if question.comparison is not None and len(chosen) <= 1:
        msg = f"Only {listing(chosen)} is examined: a comparison needs another model."
        raise BadInput(msg)
    while len(chosen) > 1 and _count(question.model_copy(update={"models": tuple(chosen)})) > MOST_CLAIMS:
        chosen.pop()
    return chosen


def _count(question: ModelQuestion) -> int:
    """Return the number of claims of an experiment."""
    of_any = isinstance(question.ability, Favour) and not question.ability.answer  # a claim about each of two answers
    seen_before = question.robust and question.than is None  # and one about what it loses
    each = (question.comparison is None) + (of_any or seen_before)
    return len(_pairs(question)) + len(question.models) * each


def _pairs(question: ModelQuestion) -> list[tuple[str, str]]:
    """Return the pairs that claims say of that the first is better than the second, or steadier."""
    comparison, models = question.comparison, question.models
    if comparison is None:
        return []
    if comparison.how == "better" and not question.deficit:
        return [(models[0], other) for other in models[1:]]
    if comparison.how in {"better", "as good"}:
        return [(other, models[0]) for other in models[1:]]
    pairs = list(combinations(models, 2))
    both = margin_of(comparison) > 0
    return [pair for one, other in pairs for pair in (((one, other), (other, one)) if both else ((one, other),))]


def margin_of(comparison: Comparison) -> float:
    """Return the least difference that counts: of equals it is never none, as nothing shows that two are the same."""
    return comparison.margin or (MARGIN if comparison.of_equals else 0.0)


def _claims(design: Design, question: ModelQuestion) -> list[Claim]:
    half = halfway(len(design.told_apart))
    if question.comparison is not None:
        # What one loses is only worth a comparison where it recognizes enough in the pictures as they were.
        seeing = [Claim(kind="plain", model=name, threshold=half) for name in question.models if question.robust]
        kind, margin = "steadier" if question.robust else "better", margin_of(question.comparison)
        return [
            *seeing,
            *(
                Claim.model_validate({"kind": kind, "model": one, "other": other, "threshold": margin})
                for one, other in _pairs(question)
            ),
        ]
    if question.than is not None:
        kind = "drop" if question.than.ability is None else "contrast"
        return [Claim.model_validate({"kind": kind, "model": name, "threshold": 0}) for name in question.models]
    if question.asks == "which classes":
        extreme = "worst" if question.sense == "fails" else "best"
        return [Claim.model_validate({"kind": extreme, "model": name, "threshold": 0}) for name in question.models]
    if isinstance(question.ability, Favour):
        ends = {"first": design.classes[:1], "last": design.classes[-1:], "": design.classes}
        answers, often = ends.get(question.ability.answer, [question.ability.answer]), 1 / len(design.classes)
        # Always is nearly always: nine times in ten, where it is right as often as any other answer.
        bar = _ALWAYS - often if question.ability.always else MARGIN
        return [
            Claim(kind="favor", model=name, answer=said, threshold=bar) for name in question.models for said in answers
        ]
    if isinstance(question.ability, Mistake):
        taken_for = list(design.pools)[1]
        return [Claim(kind="mistake", model=name, answer=taken_for, threshold=MARGIN) for name in question.models]
    bound = question.threshold
    stated = None if bound is None else bound.share
    if question.classes is not None:
        count = _classes_wanted(question, len(design.compared))
        return [Claim(kind="classes", model=name, threshold=stated or half, count=count) for name in question.models]
    if bound is not None and bound.guessing:  # nothing shows that somebody guesses: being better by little is no better
        stated = 1 / len(design.told_apart) + (0 if bound.above else MARGIN)
    if not question.robust:
        return [Claim(kind="ability", model=name, threshold=stated or half) for name in question.models]
    lost = {"threshold": stated or MARGIN} if bound is None or not bound.relative else {"threshold": 0, "share": stated}
    return [
        claim
        for name in question.models
        for claim in (
            Claim(kind="plain", model=name, threshold=half),
            Claim.model_validate({"kind": "drop", "model": name, **lost}),
        )
    ]


def _classes_wanted(question: ModelQuestion, number: int) -> int:
    """Return how many classes, of so many, are claimed to be recognized.

    Raises:
        BadInput: There are not so many.
    """
    count = 0 if question.classes is None else question.classes.least(number)
    if not 1 <= count <= number:
        things = kind_in_words(kinds_of(question.ability)[0])
        msg = f"Pictures show {number} kinds of {things}: ask about a number of them from 1 to {number}."
        raise BadInput(msg)
    return count


def _of_any(claims: Sequence[Claim], question: ModelQuestion) -> list[Claim]:
    """Let claims bear that of so many models any one may answer the question; what a model sees at all is no answer."""
    if question.quantifier is None:
        return list(claims)
    number = len({claim.model for claim in claims})
    return [one if one.kind == "plain" else one.model_copy(update={"one_of": number}) for one in claims]
