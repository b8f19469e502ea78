"""An investigation as data: designs of experiments, what their trials say, the report (APEX, sections 3.1 to 3.3).

All of it is plain, bounded JSON: it travels in checkpoints, and parts of it are written by language models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from snellen.errors import BadInput
from snellen.experiments.queries.polarity import Measured, Polarity
from snellen.tools.calls import ToolCall
from snellen.tools.samples import SELECTS
from snellen.tools.transforms import TRANSFORMS

MAX_EXPERIMENTS: Final = 5
"""Experiments that are designed at most, unless the user says otherwise (APEX, section 3.4)."""
MAX_CHOICES: Final = 20
UNKNOWN: Final = "unknown"
"""The choice by which a model abstains (APEX, section 3.2)."""
MARGIN: Final = 0.1
"""A model is robust that loses at most so much of its accuracy."""

Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Protocol = Literal["choice", "freeform", "pairs"]
"""How models are asked: to choose an answer, to answer freely, to score pairs."""


@dataclass(frozen=True)
class Unit:
    """What is drawn independently in a protocol, and gives one observation of a claim.

    Attributes:
        name: For people, in the singular.
        whole_round: Whether a round is one of them, because all of its arms are made of one draw. Otherwise each arm
            draws for itself.
    """

    name: str
    whole_round: bool

    def counted(self, n: int) -> str:
        """Write a number of them: ``41 originals``."""
        return f"{n:,} {self.name}{'s' * (n != 1)}"


UNITS: Final[Mapping[Protocol, Unit]] = {
    "choice": Unit("picture", whole_round=False),
    "freeform": Unit("picture", whole_round=False),
    "pairs": Unit("original", whole_round=True),
}
"""The unit of each protocol.

Splits of an original, a picture before it was transformed and what another model says of it are parts of a unit, not
units of their own: a unit's value is the mean over its parts, and models and conditions are compared within it. The
pictures of a folder are drawn with replacement: two draws are two units, even of the same picture.
"""
IntervalKind = Literal["confidence sequence", "bootstrap"]
"""Which interval is shown: a term of a confidence sequence holds whenever one stops; a bootstrap ignores stopping."""
_MEASURES: Final = {
    "truth": "{0} tells more than {bar} % truth in {task}",
    "help": "{0} says more than {bar} % of what is asked for in {task}",
    "order": "{0} scores pairs in the right order in {task}",
    "symmetry": "{0} gives alike scores both ways round to more than {bar} % of pairs in {task}",
    "heed": "{0} heeds whether a change counts in more than {bar} % of changed pairs in {task}",
}
_COMPARED: Final = {
    "truth": "{0} tells more truth than {other} in {task}",
    "help": "{0} says more of what is asked for than {other} in {task}",
    "order": "{0} scores pairs in the right order more often than {other} in {task}",
    "symmetry": "{0} gives alike scores both ways round more often than {other} in {task}",
    "heed": "{0} heeds what counts more often than {other} in {task}",
}
Verdict = Literal["yes", "no", "open"]
"""Whether a claim holds; "open" while the evidence does not say."""
VERDICTS: Final[dict[Verdict, str]] = {"yes": "yes", "no": "no", "open": "not decided"}
"""What each verdict is called for people."""

IDENTITY: Final = ToolCall(name="Identity")


class _Record(BaseModel):
    """Frozen; what a language model adds of its own is an error that it is told of."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Arm(_Record):
    """An answer, and the tools that make pictures of which it is the right one."""

    answer: Short
    select: ToolCall
    transform: ToolCall = IDENTITY
    question: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = ""
    """What is asked about these pictures, where it is not the question of the whole experiment."""


class Claim(_Record):
    """A statement about models that trials can prove or refute: that a mean is above a threshold.

    The mean of what, over pictures of all arms alike, says the kind:

    ability  whether the model is right
    plain    whether it is right about the pictures before they were transformed
    drop     whether it is right about a picture before it was transformed, less whether it is afterwards
    better   whether it is right, less whether the other model is
    """

    kind: Literal["ability", "plain", "drop", "better"]
    measure: Measured = ""
    """What of, where answers are not chosen: truth or help of free answers; order, symmetry or heed of scored pairs."""
    model: Name
    other: Annotated[str, StringConstraints(max_length=64)] = ""
    """The model that it is compared with."""
    threshold: float = Field(ge=-1, le=1)

    @model_validator(mode="after")
    def _compared(self) -> Self:
        if (self.kind == "better") != bool(self.other) or self.other == self.model:
            msg = "a claim that a model is better names another one, and no other claim does"
            raise ValueError(msg)
        return self

    @property
    def of_gain(self) -> bool:
        """Whether it is that a model is better at all; others say by how much."""
        return self.kind == "better" and self.threshold == 0

    @property
    def low(self) -> float:
        """The least that an observation can be; the most is 1."""
        return 0.0 if self.kind in {"ability", "plain"} and self.measure != "order" else -1.0

    @property
    def about(self) -> str:
        """The model, or the two that are compared."""
        return f"{self.model} and {self.other}" if self.other else self.model

    def stated(self, design: Design) -> str:
        """Say what is claimed, of the skill and condition of its experiment."""
        if self.measure:
            said = _COMPARED[self.measure] if self.kind == "better" else _MEASURES[self.measure]
            return said.format(self.model, other=self.other, bar=f"{100 * self.threshold:.0f}", task=design.task)
        if self.kind == "drop":
            return f"{self.model} loses more than {100 * self.threshold:.0f} points in {design.task}"
        if self.kind == "better":
            margin = f" by more than {100 * self.threshold:.0f} points" if self.threshold else ""
            return f"{self.model} is better than {self.other} at {design.task}{margin}"
        task = f"{design.skill} in the pictures as they were" if self.kind == "plain" else design.task
        return f"{self.model} is right in more than {100 * self.threshold:.0f} % in {task}"


class Design(_Record):
    """An experiment before it is run (APEX, section 3.2)."""

    protocol: Protocol = "choice"
    """How it asks: `snellen.experiments.protocols.protocol`."""
    difficulty: int = Field(ge=1, le=5)
    """From 1, which any model should manage, to 5."""
    purpose: Sentence
    """What it isolates: what differs between its pictures, and what does not."""
    skill: Sentence
    """What is asked for, as in "good at …": "telling birds from vehicles"."""
    condition: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    """Under which it is asked for: "in pictures that are rotated to the left"."""
    question: Sentence
    arms: list[Arm] = Field(min_length=2, max_length=40)
    unknown: bool = False
    """Whether a model may abstain."""
    paired: bool = False
    """Whether the same is asked about the pictures before they were transformed."""
    least: int = Field(default=0, ge=0, le=10_000)
    """Pictures, not units, that are made before anybody looks, where how much is as interesting as whether."""
    claims: list[Claim] = Field(min_length=1, max_length=24)

    @property
    def classes(self) -> list[str]:
        """The right answers, each once, in the order of the arms."""
        return list(dict.fromkeys(arm.answer for arm in self.arms))

    @property
    def choices(self) -> list[str]:
        """What models choose from."""
        return [*self.classes, *([UNKNOWN] if self.unknown else [])]

    @property
    def task(self) -> str:
        """The skill, and the condition if there is one."""
        return f"{self.skill} {self.condition}".rstrip()

    @property
    def scored(self) -> str:
        """What the average of a result is called."""
        return {"choice": "accuracy", "freeform": "truth", "pairs": "right order"}[self.protocol]

    @property
    def unit(self) -> Unit:
        """What gives one observation."""
        return UNITS[self.protocol]

    @property
    def units(self) -> int:
        """How many units a round has."""
        return 1 if self.unit.whole_round else len(self.arms)

    @property
    def about_things(self) -> bool:
        """Whether the right answer depends on what a picture shows, and not only on how it was changed."""
        return any(arm.select != self.arms[0].select for arm in self.arms)

    @property
    def conditions(self) -> tuple[bool, ...]:
        """Under which models are asked: about pictures as they are shown, and in a paired one as they were before."""
        return (False, True) if self.paired else (False,)

    def asked(self, arm: Arm) -> str:
        """Return what is asked about the pictures of an arm."""
        return arm.question or self.question


def halfway(choices: int) -> float:
    """Return the accuracy halfway between guessing among so many choices and always being right."""
    return (1 + 1 / choices) / 2


def checked(design: Design, models: list[str]) -> Design:
    """Return a design with the arguments of all its tools, defaults filled in.

    Args:
        design: As it was written.
        models: The models that are examined.

    Raises:
        BadInput: It names a tool, an argument or a model that there is not, its classes are not balanced, or it cannot
            prove what it claims. The message is for whoever wrote it.
    """
    if design.protocol != "choice":
        return _named(design, models)
    classes = design.classes
    if not 2 <= len(classes) <= MAX_CHOICES - design.unknown:  # noqa: PLR2004 - with one answer nothing is asked
        msg = f"an experiment needs 2 to {MAX_CHOICES} different answers, not {len(classes)}"
        raise BadInput(msg)
    if any(name.casefold() == UNKNOWN for name in classes) or len({name.casefold() for name in classes}) < len(classes):
        msg = f"the answers must differ, and none may be {UNKNOWN!r}: that choice is added by itself"
        raise BadInput(msg)
    numbers = {name: sum(arm.answer == name for arm in design.arms) for name in classes}
    if len(set(numbers.values())) > 1:
        said = ", ".join(f"{number} of {name!r}" for name, number in numbers.items())
        msg = f"every answer needs the same number of arms, so that classes are balanced; there are {said}"
        raise BadInput(msg)
    if not design.paired and any(claim.kind in {"plain", "drop"} for claim in design.claims):
        msg = "claims about pictures before they were transformed need `paired`"
        raise BadInput(msg)
    if design.paired and all(arm.transform.name == "Identity" for arm in design.arms):
        msg = "a paired experiment transforms its pictures"
        raise BadInput(msg)
    _named(design, models)
    arms = [
        arm.model_copy(update={"select": SELECTS.read(arm.select), "transform": TRANSFORMS.read(arm.transform)})
        for arm in design.arms
    ]
    return design.model_copy(update={"arms": arms})


def _named(design: Design, models: list[str]) -> Design:
    """Return a design whose models are all examined.

    Raises:
        BadInput: One of them is not.
    """
    strangers = {name for claim in design.claims for name in (claim.model, claim.other) if name} - set(models)
    if strangers:
        msg = f"no model {min(strangers)!r} is examined; there are {', '.join(models)}"
        raise BadInput(msg)
    return design


class _Figure(_Record):
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
    """What one model did with the pictures of an experiment; see `snellen.scoring.ChoiceMetrics`."""

    model: Name
    plain: bool
    """Whether with those before they were transformed."""
    average: float
    error_rate: float | None = 0.05
    interval_kind: IntervalKind = "bootstrap"
    """Of older versions; what is measured now says that it is a confidence sequence."""
    by_class: dict[str, float]
    abstention: float | None
    invalid: float
    informedness: float | None
    not_understood: list[str] = []
    """A few answers of which no score could be read, quoted."""


class Finding(_Figure):
    """What the trials say about a claim so far."""

    claim: Claim
    mean: float = 0.0
    spread: float = 0.0
    """The standard deviation of its units' values, as if either end of what is possible had been observed once more."""
    logarithm: float = -math.log(2)
    """Of the evidence for the likelier verdict, `snellen.scoring.Evidence.strength`."""
    leaning: Verdict = "open"
    """The likelier verdict."""
    verdict: Verdict = "open"
    """The verdict, where the evidence suffices at the error rate that all claims share."""
    trouble: str = ""
    """Why it cannot be examined, if so."""
    moot: bool = False
    """Whether it is of no use any more: what is asked about its models was answered otherwise."""


class Experiment(_Record):
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
        moot = {("drop", model) for model in blind} | {("plain", model) for model in losing}
        return [
            one
            for one in self.findings
            if one.verdict == "open"
            and not one.trouble
            and not one.moot
            and (one.claim.kind, one.claim.model) not in moot
        ]


class Budget(_Record):
    """What an investigation may use."""

    experiments: int = Field(default=MAX_EXPERIMENTS, ge=1, le=20)
    images: int = Field(default=2_000, ge=2, le=1_000_000)
    """Pictures that are selected, of all experiments together."""
    each: int = Field(default=0, ge=0)
    """Those of one experiment; 0 for half of what the experiments before it left."""
    trials: int = Field(default=40_000, ge=1)
    """Questions put to models."""
    seconds: float = Field(default=3_600, gt=0)
    """Spent on measuring."""
    tokens: int = Field(default=200_000, ge=0)
    """Of the chat model that designs and discusses, if there is one."""


class Opening(_Record):
    """How a report begins: which models are examined, and what cannot be."""

    models: list[Name] = Field(min_length=1, max_length=20)
    notes: list[Sentence] = Field(default_factory=list, max_length=10)


class Discussion(_Record):
    """What an experiment is said to show (APEX, section 3.3)."""

    recap: Annotated[str, StringConstraints(max_length=600)]
    interpretation: Annotated[str, StringConstraints(max_length=1_200)]


class Sufficiency(_Record):
    """Whether the report answers the query."""

    sufficient: bool
    questions: list[Sentence] = Field(default_factory=list, max_length=10)
    """What remains open."""
    unsettled: list[str] = Field(default_factory=list)
    """Whom claims are about that would still make a difference: `Claim.about`."""


Said = Literal["yes", "no", "undecided"]
"""An answer to a question as it was asked."""


class Answer(_Record):
    """The answer to the query for one model, or for a comparison of two."""

    about: Annotated[str, StringConstraints(max_length=160)]
    answer: Said | None = None
    """The answer to the question as it was asked; None where its wording does not tell what a yes would mean."""
    property: Annotated[str, StringConstraints(max_length=300)] = ""
    """What was examined: "robust to rotation". Reports of earlier versions do not name it."""
    holds: bool | None = None
    """Whether the property holds; None while the evidence does not say."""
    sentence: Annotated[str, StringConstraints(max_length=400)]

    @model_validator(mode="before")
    @classmethod
    def _upgraded(cls, given: object) -> object:
        """Read an answer of an earlier version: its ``says`` was about the property, whatever had been asked."""
        if not isinstance(given, dict) or "says" not in given:
            return given
        rest = {name: value for name, value in given.items() if name != "says"}
        return {"holds": {"yes": True, "no": False}.get(given["says"]), **rest}


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
    return Answer(about=about[:160], answer=answer, property=property[:300], holds=holds, sentence=sentence[:400])


def verdict_of(answer: Answer) -> Verdict:
    """Return whether the property that an answer is about holds, as a verdict."""
    return "open" if answer.holds is None else "yes" if answer.holds else "no"


class Conclusion(_Record):
    """The answer to the query."""

    answers: list[Answer] = Field(max_length=40)
    conclusion: Annotated[str, StringConstraints(max_length=2_000)]


class Report(_Record):
    """What an investigation knows: the read-write buffer of APEX (section 3.1)."""

    version: Literal[1] = 1
    query: str
    models: list[Name]
    alpha: float = Field(gt=0, lt=1)
    seed: int
    budget: Budget = Budget()
    fingerprints: dict[Name, str] = Field(default_factory=dict)
    """Of the models that could be read: what their trials are found by."""
    experiments: list[Experiment] = Field(default_factory=list)
    again: int | None = None
    """The experiment that gets what is left of the budget, once no further one would help."""
    questions: list[str] = Field(default_factory=list)
    """What remains open."""
    notes: list[str] = Field(default_factory=list)
    """What cannot be examined, and other things to know before believing it."""
    answers: list[Answer] = Field(default_factory=list)
    conclusion: str = ""
    trials: int = 0
    """Questions that were put to models."""
    seconds: float = 0.0
    """Spent on measuring."""
    tokens: int = 0

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
        """Whether an experiment was just taken up again."""
        return self.again is not None and not self.under_way.stopped

    @property
    def images(self) -> int:
        """Pictures that were selected."""
        return sum(experiment.images for experiment in self.experiments)

    @property
    def findings(self) -> list[Finding]:
        """The findings of all experiments."""
        return [finding for experiment in self.experiments for finding in experiment.findings]
