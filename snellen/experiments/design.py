"""Designs of experiments: their arms, and what they claim (APEX, section 3.2).

All of it is plain, bounded JSON: it travels in checkpoints, and parts of it are written by language models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from snellen.experiments.drawn_names import Slot, slots_in
from snellen.experiments.measure_claims import COMPARED, MEASURED
from snellen.experiments.units import OF_TASKS, UNITS, Unit
from snellen.tools.calls import ToolCall

MAX_CHOICES: Final = 20
MOST_CLAIMS: Final = 24
"""Claims of an experiment."""
UNKNOWN: Final = "unknown"
"""The choice by which a model abstains (APEX, section 3.2)."""
PLACES: Final = ("the first", "the second", "the third", "the fourth", "the fifth", "the sixth")
"""The answers of an experiment with pools: where the right name stands."""
BLANK: Final = "…"
"""Stands for the names in the question of an experiment with pools."""
MARGIN: Final = 0.1
"""A model is robust that loses at most so much of its accuracy."""

Short = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
ClaimKind = Literal[
    "ability", "plain", "drop", "better", "steadier", "mistake", "contrast", "worst", "best", "classes", "favor"
]
"""The mean of what a claim is about: see `Claim`."""
EXTREMES: Final[frozenset[ClaimKind]] = frozenset({"worst", "best"})
"""Kinds of claims that one of several classes is recognized worst, or best, whichever it is."""
BY_CLASS: Final[frozenset[ClaimKind]] = EXTREMES | {"classes"}
"""Kinds of claims about each of several classes (`Design.compared`)."""
COMPARING: Final = frozenset({"better", "steadier"})
"""Kinds of claims about two models."""
Measured = Literal["", "truth", "help", "order", "symmetry", "heed"]
"""The measure of free answers or of judges that a claim is about; empty for accuracy."""
Protocol = Literal["choice", "freeform", "pairs"]
"""How models are asked: to choose an answer, to answer freely, to score pairs."""
IDENTITY: Final = ToolCall(name="Identity")


class ExperimentRecord(BaseModel):
    """Frozen; what a language model adds of its own is an error that it is told of."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class OtherWords(ExperimentRecord):
    """The same asked of an arm's pictures in other words, with the answer that is right then."""

    answer: Short
    question: Sentence


class Arm(ExperimentRecord):
    """An answer, and the tools that make pictures of which it is the right one."""

    answer: Short
    select: ToolCall
    transform: ToolCall = IDENTITY
    against: ToolCall = IDENTITY
    """How the pictures are changed that these are compared with, in a paired experiment."""
    question: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = ""
    """What is asked about these pictures, where it is not the question of the whole experiment."""
    otherwise: list[OtherWords] = Field(default_factory=list, max_length=2)
    """What whoever fails is asked (`further_wordings`); where there is none, the answers in another order."""

    @field_validator("otherwise", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return value if isinstance(value, list) else [value] if value else []  # earlier versions had one, or none


class ComparedTask(ExperimentRecord):
    """One of two tasks in which an experiment compares a model with itself."""

    skill: Sentence
    pools: dict[Name, list[Name]] = Field(default_factory=dict, max_length=3)
    """As those of an experiment with this task alone."""
    arms: int = Field(ge=1, le=20)
    """How many of the arms are its: the first ones are the first task's, as many others the second one's."""


class Claim(ExperimentRecord):
    """A statement about models that trials can prove or refute: that a mean is above a threshold.

    The mean of what, over pictures of all arms alike, says the kind:

    ability  whether the model is right
    plain    whether it is right about the pictures before they were transformed
    drop     whether it is right about a picture before it was transformed, less whether it is afterwards; see `share`
    better   whether it is right, less whether the other model is
    steadier what the other model loses by the transform (a drop), less what it loses
    mistake  whether it takes what a picture shows for a thing of the pool `answer`, less whether for one of another
    contrast whether it is right about a picture of the first task, less whether about one of the second, drawn for
             itself (`Design.tasks`)

    worst, best  that it is right about one class of `Design.compared` least, or most, often; which one is found
    classes  that it is right about `count` of these classes, or more, in more than the threshold

    favor    whether it gives the answer `answer` to a picture, less whether that is right

    Two conditions are compared by a drop: that from the pictures of one (`Arm.against`) to those of the other is what
    the model loses more by the other, as both losses are from the same picture.
    """

    kind: ClaimKind
    measure: Measured = ""
    """The mean of what, where answers are not chosen: truth or help of free answers; order, symmetry or controllability
    (``heed``) of scored pairs."""
    model: Name
    other: Annotated[str, StringConstraints(max_length=64)] = ""
    """The model that it is compared with."""
    answer: Annotated[str, StringConstraints(max_length=64)] = ""
    """The pool whose names are mistakes; or the favored answer."""
    threshold: float = Field(ge=-1, le=1)
    share: float = Field(default=0, ge=0, lt=1)
    """The share of the accuracy beyond guessing that may be lost before a drop counts. With an accuracy of a before, b
    afterwards and c by guessing, more than s of it is lost where (1 - s)(a - c) - (b - c), a mean, is above 0."""
    one_of: int = Field(default=1, ge=1, le=MOST_CLAIMS)
    """The number of models any one of which may answer the question: evidence counts for so much less."""
    count: int = Field(default=0, ge=0, le=400)
    """How many classes a claim is about at least."""

    @model_validator(mode="after")
    def _compared(self) -> Self:
        if (self.kind in COMPARING) != bool(self.other) or self.other == self.model:
            msg = "a claim that a model is better or steadier names another one, and no other claim does"
            raise ValueError(msg)
        if (self.kind in {"mistake", "favor"}) != bool(self.answer):
            msg = "a claim about mistakes, or about a favored answer, names the answer, and no other claim does"
            raise ValueError(msg)
        if (self.kind == "classes") != bool(self.count):
            msg = "a claim about so many classes says how many, and no other claim does"
            raise ValueError(msg)
        if self.share and self.kind != "drop":
            msg = "only a claim about a drop has a share"
            raise ValueError(msg)
        return self

    @property
    def of_gain(self) -> bool:
        """True for the claim that a model is better or steadier at all; others say by how much."""
        return self.kind in COMPARING and self.threshold == 0

    @property
    def names_either(self) -> bool:
        """True for a claim whose refusal is told as the opposite: the other model, or condition, is the better one.

        Of two that are alike, either verdict would be wrong.
        """
        return self.of_gain or (self.kind in {"drop", "contrast"} and self.threshold == 0 and not self.share)

    @property
    def low(self) -> float:
        """The least that an observation can be."""
        if self.kind == "steadier":
            return -2.0
        return 0.0 if self.kind in {"ability", "plain", "classes"} and self.measure != "order" else -1.0

    @property
    def high(self) -> float:
        """The most that an observation can be."""
        return 2.0 if self.kind == "steadier" else 1.0 - self.share / 2  # guessing is right of one in two at most

    @property
    def models(self) -> tuple[str, ...]:
        """The model, and the one that it is compared with, if any."""
        return (self.model, self.other) if self.other else (self.model,)

    @property
    def about(self) -> str:
        """The model, or the two that are compared."""
        return f"{self.model} and {self.other}" if self.other else self.model

    @property
    def said(self) -> str:
        """The favored answer in words: “yes”, or the first name."""
        return f"{self.answer} name" if self.answer in PLACES else f"“{self.answer}”"

    def stated(self, design: Design) -> str:  # noqa: PLR0911 - one line each
        """Say what is claimed, of the skill and condition of its experiment."""
        bar = f"{100 * self.threshold:.0f}"
        points = f"more than {bar} points"
        margin = f" by {points}" if self.threshold else ""
        if self.measure:
            template = COMPARED[self.measure] if self.kind == "better" else MEASURED[self.measure]
            return template.format(self.model, other=self.other, bar=bar, task=design.task, margin=margin)
        match self.kind:
            case "drop":
                return self._loss_stated(design, points, margin)
            case "better":
                return f"{self.model} is better than {self.other} at {design.task}{margin}"
            case "steadier":
                return f"{self.model} loses less than {self.other} in {design.task}{margin}"
            case "mistake":
                return f"{self.model} picks {self.answer} {points} more often than other wrong things in {design.task}"
            case "contrast":
                one, other = (f"{task.skill} {design.condition}".rstrip() for task in design.tasks)
                return f"{self.model} is better at {one} than at {other}{margin}"
            case "favor":
                return f"{self.model} chooses {self.said} {points} more often than that is right in {design.task}"
            case "classes":
                often = f"right in more than {100 * self.threshold:.3g} %"
                return f"{self.model} is {often} about {self.count} of {len(design.compared)} in {design.task}"
            case "worst" | "best":
                often = "least often" if self.kind == "worst" else "most often"
                return f"{self.model} is right {often} about one of {len(design.compared)} kinds in {design.task}"
        task = f"{design.skill} {design.plain_condition}" if self.kind == "plain" else design.task
        return f"{self.model} is right in more than {100 * self.threshold:.0f} % in {task}"

    def _loss_stated(self, design: Design, points: str, margin: str) -> str:
        if self.share:
            share = f"{100 * self.share:.4g} % of its accuracy beyond guessing"
            return f"{self.model} loses more than {share} in {design.task}{margin}"
        if design.against:
            return f"{self.model} loses more {design.condition} than {design.against} in {design.skill}{margin}"
        return f"{self.model} loses {points} in {design.task}"


class Design(ExperimentRecord):
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
    kinds: dict[Short, list[Short]] = Field(default_factory=dict, max_length=MAX_CHOICES)
    """Kinds of answers by their names, where an answer of the right kind is right: "a robin" of a hen, both birds."""
    pools: dict[Name, list[Name]] = Field(default_factory=dict, max_length=3)
    """Names by that of their pool, from which those of each picture are drawn (`drawn_answers`). Either the pictures of
    an arm are of the pool that its select tool names, and the answers are `PLACES`; or texts have slots for what is
    drawn (`drawn_names`): "Is the [thing] to the left of the [other thing]?"."""
    tasks: list[ComparedTask] = Field(default_factory=list, max_length=2)
    """Two tasks that are compared: arms, answers and pools of each are those of an experiment with it alone."""
    compared: dict[Name, list[Name]] = Field(default_factory=dict, max_length=400)
    """Classes by the names that claims of the kinds `BY_CLASS` have for them: each alone, or groups of them."""
    known: list[Name] = Field(default_factory=list, max_length=2)
    """Slots whose names a model has to recognize in a picture for that picture to count: then who fails does not fail
    for not knowing the things."""
    of_names: bool = False
    """Whether the answers are names of kinds, such as "a bird", which a model may not know of what it recognizes."""
    unknown: bool = False
    """Whether a model may abstain."""
    paired: bool = False
    """Whether the same is asked about the pictures before they were transformed."""
    against: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)] = ""
    """The condition of the pictures that they are compared with, where that is another one: "under blur"."""
    least: int = Field(default=0, ge=0, le=10_000)
    """Pictures, not units, that are made before anybody looks, where how much is as interesting as whether."""
    most: int = Field(default=0, ge=0, le=1_000_000)
    """Pictures that it gets at most; 0 for its share of the budget."""
    claims: list[Claim] = Field(min_length=1, max_length=MOST_CLAIMS)

    @model_validator(mode="after")
    def _halved(self) -> Self:
        if self.tasks and [2 * task.arms for task in self.tasks] != [len(self.arms)] * 2:
            msg = "two tasks have half of the arms each"
            raise ValueError(msg)
        return self

    @property
    def classes(self) -> list[str]:
        """The right answers, each once, in the order of the arms."""
        return list(dict.fromkeys(arm.answer for arm in self.arms))

    @property
    def choices(self) -> list[str]:
        """The choices of the models."""
        return [*self.classes, *([UNKNOWN] if self.unknown else [])]

    @property
    def choices_in_words(self) -> str:
        """The choices as people are told of them."""
        if self.tasks:
            return " and ".join(dict.fromkeys(part.choices_in_words for part in self.parts))
        return "names drawn for each picture" if self.of_places else " / ".join(self.choices)

    @property
    def parts(self) -> list[Design]:
        """The experiments that it consists of, each with one task; itself where no tasks are compared."""
        starts = [sum(task.arms for task in self.tasks[:number]) for number in range(len(self.tasks))]
        return [
            self.model_copy(
                update={
                    "arms": self.arms[start : start + task.arms], "pools": task.pools, "skill": task.skill,
                    "question": self.arms[start].question or self.question, "tasks": [],
                }
            )
            for start, task in zip(starts, self.tasks, strict=True)
        ] or [self]  # fmt: skip

    def lost(self, both: Iterable[tuple[float, float]], *, share: float) -> list[float]:
        """Return what is lost beyond a share of the accuracy (`Claim.share`).

        Args:
            both: Whether a model was right before and afterwards.
            share: The share; of what is right by guessing nothing is lost, so that of it stays.
        """
        guessed = share / len(self.told_apart)
        return [(1 - share) * before - after + guessed for before, after in both]

    def of_arm(self, number: int) -> Design:
        """Return the part that an arm belongs to."""
        return self.parts[number >= self.tasks[0].arms] if self.tasks else self

    @property
    def of_places(self) -> bool:
        """True where the answers are names that are drawn for each picture, known by their places."""
        return bool(self.pools) and self.classes == list(PLACES[: len(self.classes)])

    @property
    def slots(self) -> dict[str, Slot]:
        """The slots of its texts, by what fills them; none where answers are places."""
        return {} if self.of_places else slots_in(self._texts, self.pools)[0]

    @property
    def unfilled(self) -> list[str]:
        """Texts in brackets that are no slots."""
        return slots_in(self._texts, self.pools)[1]

    @property
    def _texts(self) -> Iterator[str]:
        """All texts that may have slots."""
        yield self.question
        for arm in self.arms:
            yield from (arm.question, arm.answer, str(arm.select.arguments.get("class_name", "")))

    def kind_of(self, answer: str) -> str:
        """Return the kind of an answer that is enough to be right; itself where there are none."""
        return next((kind for kind, answers in self.kinds.items() if answer in answers), answer)

    def is_right(self, said: str | None, answer: str) -> bool:
        """Tell whether what was said is right where `answer` is."""
        return said is not None and self.kind_of(said) == self.kind_of(answer)

    @property
    def told_apart(self) -> list[str]:
        """The kinds of the right answers, each once: what a model has to tell apart."""
        return list(dict.fromkeys(map(self.kind_of, self.classes)))

    @property
    def task(self) -> str:
        """The skill, and the condition if there is one."""
        return f"{self.skill} {self.condition}".rstrip()

    @property
    def scored(self) -> str:
        """The name of a result's average."""
        return {"choice": "accuracy", "freeform": "truth", "pairs": "right order"}[self.protocol]

    @property
    def unit(self) -> Unit:
        """The unit of its protocol, which gives one observation."""
        return OF_TASKS if self.tasks else UNITS[self.protocol]

    @property
    def units(self) -> int:
        """The number of units in a round."""
        return 1 if self.unit.whole_round else len(self.arms) // (len(self.tasks) or 1)

    @property
    def about_things(self) -> bool:
        """True where the right answer depends on what a picture shows, and not only on how it was changed."""
        return self.of_places or any(arm.select != self.arms[0].select for arm in self.arms)

    @property
    def conditions(self) -> tuple[bool, ...]:
        """Under which models are asked: about pictures as they are shown, and in a paired one as they were before."""
        return (False, True) if self.paired else (False,)

    @property
    def models(self) -> list[str]:
        """The models that are claimed about, each once."""
        return list(dict.fromkeys(name for claim in self.claims for name in claim.models))

    @property
    def plain_condition(self) -> str:
        """The condition of the pictures that those of a paired experiment are compared with."""
        return self.against or "in the pictures as they were"

    def asked(self, arm: Arm) -> str:
        """Return what is asked about the pictures of an arm."""
        return arm.question or self.question
