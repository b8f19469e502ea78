"""Outcomes of experiments for one model: what came of each wording, and whether that says something of what it sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from snellen.experiments.constant_answers import (
    LEAST_SHARE,
    ConstantAnswer,
    constant_answer,
    failed_form,
    preference_told,
)
from snellen.experiments.design import Design
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.report import Experiment, Finding
from snellen.experiments.verdicts import Verdict
from snellen.reasoning.language.inflection import listing

_ABLE: Final = frozenset({"ability", "plain", "classes"})
"""Kinds of claims that say how often a model is right, or about how many classes."""
_TWICE: Final = 2
"""The number of wordings in which a model has to fail for what it sees before it is said to."""
_LEANING: Final = 0.8
"""The share of one answer from which on a model that is compared is asked in other words, too."""


@dataclass(frozen=True)
class AskedWording:
    """A wording in which a model was asked.

    Attributes:
        design: The experiment that asked so.
        told: What came of it, in a sentence without its subject.
        is_of_form: Whether the model, or one of two, said one thing, or nearly always one, whatever it was shown, or
            preferred one, and that may be why it failed.
        remark: What else is to be known of it.
        is_told: Whether it is told beside others, too.
    """

    design: Design
    told: str
    is_of_form: bool = False
    remark: str = ""
    is_told: bool = False


@dataclass(frozen=True)
class ModelOutcome:
    """The outcome of one experiment for one model, or for two that are compared.

    Attributes:
        design: The experiment, in the words that count.
        findings: About the model.
        wordings: Those in which it was asked, in their order, each once; where two are compared, those that decided
            between them although one said nearly always one thing.
        counts: Whether the findings say something about what it sees.
        leans: Whether it was decided between two of which one said nearly always one thing, or would be right clearly
            more often without what it prefers.
        asked: The experiments in which it was asked, one for each wording; the first is the one that was planned.
        failures: In how many of them it failed, and not by one answer to all pictures.
        is_seeing: Whether it answered differently to different pictures in one of them.
        depends: Whether a share or a margin is reached in one of them and not in another.
        short: The classes, each of which is claimed about, that it was not right about often enough in any wording.
    """

    design: Design
    findings: Sequence[Finding]
    wordings: tuple[AskedWording, ...] = ()
    counts: bool = True
    leans: bool = False
    asked: tuple[Design, ...] = ()
    failures: int = 0
    is_seeing: bool = True
    depends: bool = False
    short: frozenset[str] = frozenset()

    @classmethod
    def of(cls, experiment: Experiment, findings: Sequence[Finding], *, exact: bool = False) -> ModelOutcome:
        """Return the outcome of an experiment with the findings about a model.

        Args:
            experiment: The experiment.
            findings: About the model, or about two that are compared.
            exact: Whether a share or a margin is claimed: then it counts how often the model is right, not why.
        """
        design = experiment.design
        outcome = cls(design, findings)
        if outcome.is_of_parts:
            said = _constant_in_tasks(experiment, findings)
            wordings = tuple(AskedWording(design, one, is_of_form=True, is_told=True) for one in said)
            return replace(outcome, wordings=wordings, counts=not wordings)
        able = outcome.able
        if able is None:
            leaning = _leaning_of_two(experiment, findings)
            told = " and ".join(f"{name} {one}" for name, one in leaning.items())
            asked = AskedWording(design, f"asked “{design.question}” {told}", is_of_form=True, is_told=True)
            repeated = [one for one in leaning.values() if isinstance(one, ConstantAnswer)]
            counts = all(one.times < LEAST_SHARE * one.n for one in repeated)
            return replace(outcome, wordings=(asked,) if told else (), counts=counts, leans=bool(told))
        remark = ""
        if design.known:
            counted = f"{able.n} of {experiment.units} pictures count"
            remark = f"{counted}, as many for each answer, whose things it recognizes"
        form = failed_form(able, experiment, exact=exact) if outcome.failed else None
        constant = form.constant if form is not None else None
        by_form = form is not None and (form.would_pass or (constant is not None and not form.would_fail))
        came = f"{_came_of(able) if constant is None else f'it {constant}'}{form or ''}"
        is_told = constant is not None or by_form
        asked = AskedWording(design, f"asked “{design.question}” {came}", by_form, remark, is_told)
        counts = not by_form and (able.verdict == "yes" or not design.of_names)
        short = frozenset(name for name, share in able.by_class.items() if share <= able.claim.threshold)
        failures, is_seeing = int(outcome.failed and not by_form), constant is None
        return replace(outcome, wordings=(asked,), counts=counts, failures=failures, is_seeing=is_seeing, short=short)

    @property
    def able(self) -> Finding | None:
        """The finding on how often the model is right, and not on what it loses; None in comparisons."""
        if any(one.claim.other for one in self.findings):
            return None
        return next((one for one in self.findings if one.claim.kind in _ABLE), None)

    @property
    def failed(self) -> bool:
        """True where the model was not right often enough."""
        return self.able is not None and self.able.verdict == "no"

    @property
    def is_blind(self) -> bool:
        """True where what it sees of the pictures as they were is too little to lose anything, of either of two."""
        return "no" in self.verdicts("plain")

    @property
    def is_repeated(self) -> bool:
        """True where it was asked in other words, too."""
        return len(self.asked) > 1

    @property
    def next_wording(self) -> int | None:
        """The place of the first of its further wordings in which it was not asked; None where it was in all."""
        first, *_ = self.asked or (self.design,)
        known = [_words(one) for one in (first, *self.asked)]
        wordings = map(_words, further_wordings(first))
        return next((place for place, words in enumerate(wordings) if words not in known), None)

    @property
    def is_doubtful(self) -> bool:
        """True where the words may be why a model failed, or one of two did, and others are left that may tell.

        Of a group's name they surely may. Who gave one answer to all pictures in one wording, and failed in another, is
        asked in a third one.
        """
        if self.design.of_names or self.depends:
            return False
        if self.is_repeated:
            is_asked_again = self.failed and len(self.asked) == _TWICE and self.may_fail_by_words
        else:
            is_asked_again = self.failed or self.leans
        return is_asked_again and self.next_wording is not None

    @property
    def may_fail_by_words(self) -> bool:
        """True where it failed in one wording alone, and said one thing in others."""
        return self.failures == 1 and any(one.is_of_form for one in self.wordings)

    @property
    def is_of_parts(self) -> bool:
        """True where it is about tasks beside one another, each with an answer of its own."""
        return bool(self.design.tasks)

    def together(self, again: ModelOutcome, *, exact: bool = False) -> ModelOutcome:
        """Return the outcome with a further wording: that one's, unless only those before say what a model sees.

        Whoever failed in one wording alone, and said one thing in others, may have failed by its words.

        Args:
            again: The outcome of the further wording.
            exact: Whether a share or a margin is claimed, which must then be reached in all wordings or in none.
        """
        one = again if again.counts or not self.counts else self
        if self.is_seeing and again.is_seeing:
            short = self.short & again.short
        else:
            short = again.short if again.is_seeing else self.short
        both = replace(
            one,
            wordings=(*self.wordings, *again.wordings),
            asked=(*(self.asked or (self.design,)), again.design),
            failures=self.failures + again.failures,
            is_seeing=self.is_seeing or again.is_seeing,
            depends=self.depends or (exact and self._is_contrary(again)),
            short=short,
        )
        by_words = both.depends or (one.failed and both.may_fail_by_words)
        return replace(both, counts=one.counts and not by_words)

    def _is_contrary(self, again: ModelOutcome) -> bool:
        """Tell whether what is claimed holds in one wording and not in the other."""
        before = {(one.claim.kind, one.claim.models): one.verdict for one in self.findings}
        both = [{before.get((one.claim.kind, one.claim.models)), one.verdict} for one in again.findings]
        return {"yes", "no"} in both

    def verdicts(self, *kinds: str) -> list[Verdict]:
        """Return the verdicts of claims of some kinds; of all where none is named."""
        return [one.verdict for one in self.findings if not kinds or one.claim.kind in kinds]


def _words(design: Design) -> tuple[object, ...]:
    """Return what models read in an experiment: its questions, and the answers that they choose from."""
    return design.choices, [design.asked(arm) for arm in design.arms]


def _came_of(able: Finding) -> str:
    """Say what came of a wording to which a model did not say one thing."""
    if able.claim.kind == "classes":
        number = len(able.by_class)
        return f"it is right often enough about {able.mean * number:.0f} of {number} kinds"
    return f"it is right in {100 * able.mean:.0f} % of {able.n} pictures"


def blind_told(outcomes: Sequence[ModelOutcome]) -> str:
    """Say which of two models see too little of the pictures as they were."""
    plain = [one for each in outcomes for one in each.findings if one.claim.kind == "plain" and one.verdict == "no"]
    names = list(dict.fromkeys(one.claim.model for one in plain))
    do = "does" if len(names) == 1 else "do"
    return f"{listing(names)} {do} not recognize enough in the pictures as they were to lose anything"


def wordings_told(outcomes: Sequence[ModelOutcome], shown: Sequence[ModelOutcome] = ()) -> str:
    """Tell what came of the wordings in which a model was asked, each once.

    Those of an experiment that was asked in several are told, and any in which the model said one thing whatever it was
    shown. An experiment by the name of a group is another wording of those about its members.

    Args:
        outcomes: Of the experiments about one model.
        shown: Outcomes whose figures are told beside: of other experiments wordings are of no interest then.
    """
    by_name = any(one.design.of_names for one in outcomes)
    told: list[AskedWording] = []
    remarks: list[str] = []
    for outcome in outcomes:
        is_of_interest = by_name or (outcome.is_repeated and (not shown or outcome in shown))
        for one in outcome.wordings:
            is_shown = any(one.design is each.design for each in shown)
            told += [one] if one.is_told or (is_of_interest and not is_shown) else []
            remarks += [one.remark] if one.remark and (one in told or is_shown) else []
    questions = [one.design.question for one in told]
    clauses = [
        f"{one.told} in {one.design.skill}" if questions.count(one.design.question) > 1 else one.told for one in told
    ]
    return "; ".join([*clauses, *remarks])


def _leaning_of_two(experiment: Experiment, findings: Sequence[Finding]) -> dict[str, ConstantAnswer | str]:
    """Return what models nearly always say, or prefer, that are compared: who is worse for that may see as much."""
    compared = (one.claim for one in findings if one.claim.kind == "better" and one.verdict != "open")
    names = {name for claim in compared for name in claim.models}
    results = [one for one in experiment.results if one.model in names and not one.plain]
    said = {one.model: constant_answer(one, _LEANING) or preference_told(one) for one in results}
    return {name: leaning for name, leaning in said.items() if leaning}


def _constant_in_tasks(experiment: Experiment, findings: Sequence[Finding]) -> Iterator[str]:
    """Yield in which tasks a model says one thing whatever it is shown: nothing follows of what it sees."""
    names = {one.claim.model for one in findings}
    questions = {part.skill: part.question for part in experiment.design.parts}
    for result in experiment.results:
        constant = constant_answer(result) if result.model in names else None
        if constant is not None:
            yield f"asked “{questions.get(result.task, experiment.design.question)}” it {constant}"
