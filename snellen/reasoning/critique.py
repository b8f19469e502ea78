"""Reflection as data: a failed case in words, and critiques that name the part at fault (CLOVA, section 3.3).

Everything here is a plain record with a JSON form, so that a state can carry it from node to node.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from snellen.reasoning.task import Examples, Task
from snellen.values import Region, Value, from_json

if TYPE_CHECKING:
    from snellen.tools.program import StepRecord

Json = dict[str, Any]

Place = Literal["plan", "program", "tool"]
"""Where an error is: in the plan, in a program that does not do what its plan says, or in what a tool saw."""
Method = Literal["global", "local"]

SURE: Final = 0.5
"""From this certainty on, a critique teaches for good what nothing else can disprove: a changed program as an example
for other tasks (of two possible answers the right one comes of wrong programs too), VQA an answer that nobody gave."""
DOUBTFUL: Final = 0.5
"""Below this certainty a person is asked before a tool learns that it was wrong about what it was taught: what was
said of the right answer may be false. How it was measured: docs/reflection.md."""
MAX_FAULTS: Final = 4
"""Calls that one critique names at most."""
MAX_REASON: Final = 400
"""Characters of the reason of a fault."""


@dataclass(frozen=True)
class Feedback:
    """Knowledge of the right answer.

    Attributes:
        expected: The right answer.
        correction: What is wrong, in words: "that is not a flamingo".
        region: Where in the first picture the thing is that the answer missed or should be about.
    """

    expected: str | None = None
    correction: str | None = None
    region: Region | None = None

    def __bool__(self) -> bool:
        """Whether anything is known at all."""
        return bool(self.expected or self.correction or self.region)


@dataclass(frozen=True)
class StepEvidence:
    """Evidence that something other than the tool itself gives about a step's result.

    Attributes:
        about: Address of the step.
        says: Who says it, and to which question.
        value: What was said, in words.
        support: From -1 (the result is surely wrong) over 0 (says nothing) to 1 (surely right).
        suggests: The output that the step would have had if this is right, as JSON; for a step that finds regions also
            their number alone, or whether there are any. None where that is the step's own.
        scope: What of the output it is about: a box (its coordinates as JSON), ``rest`` for all that is not in the
            output, empty for the output as a whole.
    """

    about: str
    says: str
    value: str
    support: float
    suggests: Any = None
    scope: str = ""


@dataclass(frozen=True)
class DescribedStep:
    """One executed step in words.

    Attributes:
        address: Where it stands: ``"2"``, ``"3.then.1"``, ``"4[2].1"``.
        source: The text of the statement.
        tool: The tool it called, or ``SET``, ``IF``, ``FOR``.
        arguments: The arguments' values in words.
        output: The result in words: coordinates, counts, labels, scores.
        caption: What the resulting picture shows; empty where it is none.
        evidence: What others say about the result.
    """

    address: str
    source: str
    tool: str
    arguments: dict[str, str]
    output: str
    caption: str = ""
    evidence: tuple[StepEvidence, ...] = ()


@dataclass(frozen=True)
class Fault:
    """One thing that went wrong.

    Attributes:
        place: Plan, program or tool.
        address: The step's; for a plan or program the first step that follows it.
        tool: The tool that the step calls.
        concept: What the tool should learn to see; empty where that is not known, and for VQA, which has none.
        reason: Why, in a sentence.
        right_output: What the step should have given, in words; empty where that is not known.
    """

    place: Place
    address: str
    tool: str
    concept: str
    reason: str
    right_output: str = ""


@dataclass(frozen=True)
class Critique:
    """Result of reflection.

    Attributes:
        faults: What went wrong, the most certain first; empty where nothing was found.
        certainty: In [0, 1]: how often such a critique is right.
        method: Found at one go, or step by step.
        program: The corrected program, where plan or program are at fault.
    """

    faults: tuple[Fault, ...]
    certainty: float
    method: Method
    program: str = ""

    def to_json(self) -> Json:
        """Return the critique as plain JSON."""
        return asdict(self) | {"faults": [asdict(fault) for fault in self.faults]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Critique:
        """Read a critique that :meth:`to_json` wrote."""
        faults = tuple(Fault(**fault) for fault in data["faults"])
        return cls(faults, data["certainty"], data["method"], data.get("program", ""))


@dataclass(frozen=True)
class StepCheck:
    """Judgement of one step.

    Attributes:
        address: The step's.
        right: Whether it is.
        fault: What is wrong with it; None where it is right.
        certainty: In [0, 1]: of the judgement, whichever it is.
    """

    address: str
    right: bool
    fault: Fault | None = None
    certainty: float = 0.5


@dataclass(frozen=True)
class FailedCase:
    """A failed task with all that is known about it, in words (CLOVA, figure 14).

    Attributes:
        task: The instruction and its inputs.
        feedback: What is known of the right answer.
        answer: The wrong answer.
        plan: Its steps.
        program: Its text.
        steps: What was executed.
        setting: What the whole pictures show.
        earlier: Critiques that were acted on, and after which the answer was still wrong.
        examples: The demonstrations that were recalled for it.
    """

    task: Task
    feedback: Feedback
    answer: str
    plan: Sequence[str]
    program: str
    steps: tuple[DescribedStep, ...]
    setting: str = ""
    earlier: tuple[Critique, ...] = ()
    examples: Examples = field(default_factory=Examples)

    def step(self, address: str) -> DescribedStep | None:
        """Return the step at an address."""
        return next((step for step in self.steps if step.address == address), None)

    def with_evidence(self, evidence: Mapping[str, Sequence[StepEvidence]]) -> FailedCase:
        """Return the case with these steps' evidence in place of what they had."""
        steps = (
            replace(step, evidence=tuple(evidence[step.address])) if step.address in evidence else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps))


@dataclass(frozen=True)
class ReplayOutcome:
    """Outcome of running a program again.

    Attributes:
        answer: Its result; None where it failed.
        agrees: Whether that is what the feedback asks for.
        steps: Its steps.
        closeness: Where the feedback is a list of names: how much of it the result says, in [0, 1].
    """

    answer: Any
    agrees: bool
    steps: tuple[StepRecord, ...] = field(default=(), repr=False)
    closeness: float = 0.0


class Replay(Protocol):
    """Runs the case's program again with some outputs given by address, or another program instead."""

    def __call__(self, overrides: Mapping[str, Value], program: str | None = None) -> Awaitable[ReplayOutcome]:
        """Return what comes of it; what a tool cannot do is an outcome without an answer, never an error."""
        ...


def region_from_json(data: Any) -> Region | None:  # noqa: ANN401 - JSON
    """Read a region that may be missing."""
    region = from_json(data) if data is not None else None
    return region if isinstance(region, Region) else None
