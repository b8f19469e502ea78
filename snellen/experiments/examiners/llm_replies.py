"""Replies of the chat model that examines: what it may write, before it is read as designs and answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from snellen.tools.calls import ToolCall

Wanted = Literal["ability", "plain", "drop", "better", "steadier", "alike", "mistake"]
"""What an experiment may decide: `alike` stands for claims both ways, that neither of two is better by the margin."""


class ArgumentReply(BaseModel):
    """An argument of a tool."""

    name: str
    value: str | int | float | bool | list[int] | None


class CallReply(BaseModel):
    """A tool with its arguments."""

    name: str
    arguments: list[ArgumentReply] = Field(default_factory=list)

    def call(self) -> ToolCall:
        """Return it as a call."""
        return ToolCall(name=self.name, arguments={one.name: one.value for one in self.arguments})


class ArmReply(BaseModel):
    """An answer with its tools."""

    answer: str
    select: CallReply
    transform: CallReply = CallReply(name="Identity")
    against: CallReply = CallReply(name="Identity")
    question: str = ""


class PoolReply(BaseModel):
    """Classes that are drawn for each picture."""

    name: str
    classes: list[str]


class ExperimentReply(BaseModel):
    """A design."""

    difficulty: int
    purpose: str
    skill: str
    condition: str = ""
    question: str
    arms: list[ArmReply]
    unknown: bool = False
    paired: bool = False
    against: str = ""
    pools: list[PoolReply] = Field(default_factory=list, max_length=3)
    taken_for: str = ""
    threshold: float | None = Field(None, gt=0, lt=1)
    claims: list[Wanted]


class DesignReply(BaseModel):
    """A design, or none."""

    experiment: ExperimentReply | None


class OpeningReply(BaseModel):
    """The subject of the question."""

    examinable: bool
    reason: str = ""
    models: list[str]
    notes: list[str] = Field(default_factory=list)


class DiscussionReply(BaseModel):
    """The reading of an experiment."""

    recap: str
    interpretation: str


class SufficiencyReply(BaseModel):
    """A judgement on whether the report suffices."""

    sufficient: bool
    questions: list[str] = Field(default_factory=list)


class ModelAnswerReply(BaseModel):
    """The answer for one model."""

    about: str
    experiments: list[int] = Field(default_factory=list, max_length=20)
    property: str
    holds: bool | None
    answer: Literal["yes", "no", "undecided"] | None
    sentence: str


class ConclusionReply(BaseModel):
    """The answers."""

    answers: list[ModelAnswerReply]
    conclusion: str
