"""The report of an investigation: experiments with their results, what trials say about claims, and the answers.

All of it is plain, bounded JSON: it travels in checkpoints (APEX, sections 3.1 to 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from snellen.experiments.design import Claim, Design, ExperimentRecord, Name, Sentence
from snellen.experiments.verdicts import Polarity, Verdict

_LONGEST_CONCLUSION: Final = 4_000
"""Characters: it travels in checkpoints."""
MAX_MODELS: Final = 20
"""Models that are examined at most."""
MAX_EXPERIMENTS: Final = 5
"""Experiments that are designed at most, unless the user says otherwise (APEX, section 3.4)."""
IntervalKind = Literal["confidence sequence", "bootstrap"]
"""Which interval is shown: a term of a confidence sequence holds whenever one stops; a bootstrap ignores stopping."""


class _Figure(ExperimentRecord):
    """A mean over units with its interval; what older versions stored says less about itself."""

    n: int = 0
    """Units."""
    unit: Annotated[str, StringConstraints(max_length=40)] = ""
    """What they are (`Unit.name`); empty in reports of older versions, which counted pictures and splits of pairs."""
    interval: tuple[float, float] = (-1.0, 1.0)
    """Means that are not ruled out."""
    error_rate: float | None = None
    """Of the interval: the probability that the mean is outside."""
    interval_kind: IntervalKind = "confidence sequence"


class Result(_Figure):
    """The result of one model with the pictures of an experiment; see `snellen.scoring.ChoiceMetrics`."""

    model: Name
    plain: bool
    """Whether with those before they were transformed."""
    task: str = ""
    """The task that it is of, where two are compared."""
    average: float
    error_rate: float | None = 0.05
    interval_kind: IntervalKind = "bootstrap"
    """Of older versions; what is measured now says that it is a confidence sequence."""
    by_class: dict[str, float]
    by_arm: list[float] = Field(default_factory=list, max_length=40)
    """The accuracy about the pictures of each arm of an experiment with choices; older reports have none."""
    abstention: float | None
    invalid: float
    informedness: float | None
    not_understood: list[str] = Field(default_factory=list)
    """A few answers of which no score could be read, quoted."""
    confusion: dict[str, dict[str, int]] = Field(default_factory=dict)
    """How often each right choice (first) was answered with each choice (second; "" where there was none)."""
    calibrated: tuple[float, float, float, float] | None = None
    """The accuracy without what it prefers (`calibrated_accuracy`), its interval, and the most that it could be."""


class Finding(_Figure):
    """The evidence of the trials about a claim so far."""

    claim: Claim
    mean: float = 0.0
    spread: float = 0.0
    """The standard deviation of its units' values, as if either end of what is possible had been observed once more."""
    logarithm: float = 0.0
    """Of the evidence for the likelier verdict, `snellen.scoring.Evidence.strength`, or `of_difference`."""
    leaning: Verdict = "open"
    """The likelier verdict."""
    verdict: Verdict = "open"
    """The verdict, where the evidence suffices at the error rate that all claims share."""
    shares: tuple[float, float] | None = None
    """Of a claim about mistakes: the shares of units with that one and with another, whose difference is the mean."""
    trouble: str = ""
    """Why it cannot be examined, if so."""
    against: dict[str, float] = Field(default_factory=dict, max_length=400)
    """Of a claim that one class is the worst or best, the logarithm of the evidence that it is not this one."""
    among: list[str] = Field(default_factory=list, max_length=400)
    """Of such a claim the classes that are not ruled out; of one about how many classes those that failed."""
    gap: float = 0.0
    """Of a claim that one class is the worst or best, how much more often the next class is right, or less often."""
    by_class: dict[str, float] = Field(default_factory=dict, max_length=400)
    """Of a claim about how many classes, how often the model was right about each."""
    moot: bool = False
    """Whether it is of no use any more: what is asked about its models was answered otherwise."""

    @property
    def likeliest(self) -> str:
        """The class that is most likely the worst, or best; empty where nothing was observed."""
        return min(self.against, key=lambda name: self.against[name], default="")

    @classmethod
    def unobserved(cls, claim: Claim) -> Self:
        """Return the finding about a claim before anything was measured: no mean is ruled out."""
        return cls(claim=claim, interval=(claim.low, claim.high))


PatternKind = Literal["preference", "confusion", "lost class", "flip"]
"""How a model fails again and again (`snellen.experiments.failure_patterns`)."""


class PatternExample(ExperimentRecord):
    """A picture that shows a pattern of failure."""

    picture: str
    """Its id, as the model was asked about it."""
    before: str = ""
    """The id of the picture before it was transformed; empty where it was not."""
    label: str
    """What it shows."""
    right: str
    """The right answer, in words."""
    said: str
    """The model's answer, in words; empty where it had none."""


class Pattern(_Figure):
    """A pattern of failure: what a model does wrong so regularly that chance is ruled out.

    Its interval holds together with those of all other patterns of the report.
    """

    kind: PatternKind
    model: Name
    experiment: int
    """The number of its experiment, from 1."""
    plain: bool = False
    """Whether with pictures before they were transformed."""
    said: str = ""
    """The answer that is preferred, or given in place of another one."""
    right: str = ""
    """The right answer; or the class or pool of classes that is lost."""
    change: str = ""
    """The change of the pictures that flips the answer."""
    times: int = 0
    """Units in which it showed."""
    mean: float = 0.0
    """The share of units in which it showed; of a flip, less the share in which the opposite did."""
    bar: float = 0.0
    """What this mean is proved to be above."""
    kept: float = 0.0
    """Of a preferred answer: how often it is given where it is right."""
    sentence: Annotated[str, StringConstraints(max_length=600)]
    examples: list[PatternExample] = Field(default_factory=list, max_length=8)

    @property
    def is_constant(self) -> bool:
        """True for an answer that is preferred where it is right, too, and so whatever is shown."""
        return self.kind == "preference" and self.kept >= 1 / 2


class Experiment(ExperimentRecord):
    """An experiment that was begun."""

    design: Design
    seed: int | None = None
    """Chooses its pictures; None takes the report's."""
    rounds: int = 0
    """Pictures of each arm."""
    rejected: int = 0
    """Pictures that did not show what they should, or could not be changed as they should be, and were replaced."""
    results: list[Result] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    stopped: str = ""
    """Why no more pictures were made."""
    recap: str = ""
    interpretation: str = ""

    @property
    def images(self) -> int:
        """Pictures that were selected."""
        return self.rounds * len(self.design.arms)

    @property
    def units(self) -> int:
        """Units that were drawn."""
        return self.rounds * self.design.units

    @property
    def pending(self) -> list[Finding]:
        """The findings that more pictures could decide, and whose verdict still matters.

        Who does not recognize things as they were has nothing to lose; who loses much did recognize them.
        """
        blind = {one.claim.model for one in self.findings if one.claim.kind == "plain" and one.verdict == "no"}
        losing = {one.claim.model for one in self.findings if one.claim.kind == "drop" and one.verdict == "yes"}
        moot = {(kind, model) for model in blind for kind in ("drop", "steadier")} | {("plain", one) for one in losing}
        return [
            one
            for one in self.findings
            if one.verdict == "open"
            and not one.trouble
            and not one.moot
            and moot.isdisjoint((one.claim.kind, name) for name in one.claim.models)
        ]


class Budget(ExperimentRecord):
    """The budget of an investigation."""

    experiments: int = Field(default=MAX_EXPERIMENTS, ge=1, le=20)
    images: int = Field(default=2_000, ge=2, le=1_000_000)
    """Pictures that are selected, of all experiments together."""
    each: int = Field(default=0, ge=0)
    """Those of one experiment; 0 for half of what the experiments before it left."""
    decision: int = Field(default=2_000, ge=1)
    """How many pictures a decided claim is worth: none are made where one more decision is expected to cost more."""
    trials: int = Field(default=40_000, ge=1)
    """Questions put to models."""
    seconds: float = Field(default=3_600, gt=0)
    """Spent on measuring."""
    tokens: int = Field(default=200_000, ge=0)
    """Of the chat model that designs and discusses, if there is one."""


class Opening(ExperimentRecord):
    """The opening of a report: the models that are examined, and what cannot be."""

    models: list[Name] = Field(min_length=1, max_length=MAX_MODELS)
    notes: list[Sentence] = Field(default_factory=list, max_length=10)
    understood: Annotated[str, StringConstraints(max_length=4_000)] = ""
    """The query in words made from its meaning alone; empty where only a chat model reads it."""


class Discussion(ExperimentRecord):
    """The reading of an experiment (APEX, section 3.3)."""

    recap: Annotated[str, StringConstraints(max_length=600)]
    interpretation: Annotated[str, StringConstraints(max_length=1_200)]


class Sufficiency(ExperimentRecord):
    """A judgement on whether the report answers the query."""

    sufficient: bool
    questions: list[Sentence] = Field(default_factory=list, max_length=10)
    """What remains open."""
    unsettled: list[str] = Field(default_factory=list)
    """Whom claims are about that would still make a difference: `Claim.about`."""


Said = Literal["yes", "no", "undecided"]
"""An answer to a question as it was asked."""


class Answer(ExperimentRecord):
    """The answer to the query for one model, or for a comparison of two."""

    about: Annotated[str, StringConstraints(max_length=160)]
    answer: Said | None = None
    """The answer to the question as it was asked; None where its wording does not tell what a yes would mean."""
    property: Annotated[str, StringConstraints(max_length=300)] = ""
    """What was examined: "robust to rotation". Reports of earlier versions do not name it."""
    holds: bool | None = None
    """Whether the property holds; None while the evidence does not say."""
    sentence: Annotated[str, StringConstraints(max_length=700)]

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, stored: object) -> object:
        """Read an answer of an earlier version: its ``says`` was about the property, whatever had been asked."""
        if not isinstance(stored, dict) or "says" not in stored:
            return stored
        rest = {name: value for name, value in stored.items() if name != "says"}
        return {"holds": {"yes": True, "no": False}.get(stored["says"]), **rest}


def answered(about: str, said: str, *, property: str, verdict: Verdict, polarity: Polarity) -> Answer:  # noqa: A002
    """Return the answer to a query from what holds.

    Args:
        about: The model, or the two that are compared.
        said: A sentence that tells what holds.
        property: What was examined.
        verdict: Whether it holds.
        polarity: What a "yes" to the query would mean.
    """
    answer: Said | None = None
    if polarity != "unknown":
        answer = "undecided" if verdict == "open" else "yes" if (verdict == "yes") == (polarity == "same") else "no"
    lead = {"yes": "Yes, ", "no": "No, "}.get(answer or "", "")
    sentence = lead + (said[:1].lower() + said[1:] if lead and said.startswith("It ") else said)
    holds = None if verdict == "open" else verdict == "yes"
    return Answer(about=about[:160], answer=answer, property=property[:300], holds=holds, sentence=sentence[:700])


def concluded(sentences: Iterable[str]) -> str:
    """Return a conclusion of sentences, without the last ones where there are too many."""
    said = list(filter(None, sentences))
    lengths = accumulate(len(one) + 1 for one in said)
    return " ".join(one for one, end in zip(said, lengths, strict=True) if end <= _LONGEST_CONCLUSION)


def verdict_of(answer: Answer) -> Verdict:
    """Return whether the property that an answer is about holds, as a verdict."""
    return "open" if answer.holds is None else "yes" if answer.holds else "no"


class Conclusion(ExperimentRecord):
    """The answer to the query."""

    answers: list[Answer] = Field(max_length=40)
    headline: Annotated[str, StringConstraints(max_length=1_000)] = ""
    """The answer to the query over all models; empty where one of the answers is it."""
    conclusion: Annotated[str, StringConstraints(max_length=_LONGEST_CONCLUSION)]
    discussions: list[Discussion] = Field(default_factory=list, max_length=20)
    """The experiments read anew with the final figures, in their order; none where what was said of them stays."""
    further: dict[str, int] = Field(default_factory=dict, max_length=10)
    """The fields of a `Budget` with which the same query would probably be answered; none where that is not known."""


class Report(ExperimentRecord):
    """The report of an investigation: the read-write buffer of APEX (section 3.1)."""

    version: Literal[1] = 1
    query: str
    understood: str = ""
    """The query as it was understood, in words made from its meaning alone, which read as the same meaning; empty in
    reports of older versions, and where only a chat model read it."""
    models: list[Name]
    candidates: int = 0
    """How many models there were, of which these are examined: a query that names none is about all of them. 0 in
    reports of older versions."""
    alpha: float = Field(gt=0, lt=1)
    patterns_alpha: float = Field(default=0.0, ge=0, lt=1)
    """The part of `alpha` that is for patterns of failure; 0 in reports of older versions, which look for none."""
    seed: int
    budget: Budget = Budget()
    fingerprints: dict[Name, str] = Field(default_factory=dict)
    """Of the models that could be read: what their trials are found by."""
    experiments: list[Experiment] = Field(default_factory=list)
    again: int | None = None
    """The experiment that gets what is left of the budget, once no further one would help."""
    questions: list[str] = Field(default_factory=list)
    """What remains open."""
    ended: str = ""
    """Why it ended though something was open, in a clause: "all 200 pictures are used up"; older reports do not say."""
    notes: list[str] = Field(default_factory=list)
    """What cannot be examined, and other things to know before believing it."""
    answers: list[Answer] = Field(default_factory=list)
    headline: str = ""
    """The answer over all models; empty where one of the answers is it, and in reports of older versions."""
    patterns: list[Pattern] = Field(default_factory=list)
    """How models fail, found when the report was concluded."""
    conclusion: str = ""
    trials: int = 0
    """Questions that were put to models."""
    seconds: float = 0.0
    """Spent on measuring."""
    tokens: int = 0

    @property
    def verdicts_alpha(self) -> float:
        """The part of `alpha` that is for verdicts."""
        return self.alpha - self.patterns_alpha

    @property
    def open_ends(self) -> list[str]:
        """The notes, and what remains open and no answer says."""
        said = [one.sentence for one in self.answers]
        left = [one for one in self.questions if not any(each.startswith(one.removesuffix(".")) for each in said)]
        return [*self.notes, *left]

    @property
    def number(self) -> int:
        """The place of the experiment that is under way, which is the latest one unless one is taken up again."""
        return len(self.experiments) - 1 if self.again is None else self.again

    @property
    def under_way(self) -> Experiment:
        """The experiment at that place."""
        return self.experiments[self.number]

    def seed_of(self, number: int) -> int:
        """Return the seed that chooses the pictures of an experiment."""
        own = self.experiments[number].seed
        return self.seed if own is None else own

    @property
    def taken_up(self) -> bool:
        """True where an experiment was just taken up again."""
        return self.again is not None and not self.under_way.stopped

    @property
    def images(self) -> int:
        """Pictures that were selected."""
        return sum(experiment.images for experiment in self.experiments)

    @property
    def findings(self) -> list[Finding]:
        """The findings of all experiments."""
        return [finding for experiment in self.experiments for finding in experiment.findings]
