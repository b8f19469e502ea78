"""Inputs and outputs of the graphs, described for forms and for tools: parts of their states.

LangGraph's Studio shows these fields, MCP offers them as arguments, and a graph around one of ours gets back what it
ends with. A thread's whole state is in its checkpoints (``get_state``), and a program may give any field of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from pydantic import Field, with_config
from typing_extensions import TypedDict

from snellen.graphs.messages import bounded

Json = dict[str, Any]

Seed = Annotated[int, Field(description="Chooses the pictures: another number asks the same of others.")]
Approve = Annotated[bool, Field(description="Stop and ask a person before anything is learned or examined.")]
Asking = Annotated[
    bool | None,
    Field(description="Stop and ask a person before anything is examined. None: as the run's settings say."),
]
Usage = Annotated[dict[str, float], Field(description="What language models used: calls, tokens, cost.")]


GivenPicture = Annotated[
    Any,
    Field(
        description="A picture as a data: address in base64, a path to a file (not over a network), the id of a stored "
        "one or the reference to it.",
        json_schema_extra={"anyOf": [{"type": "string"}, {"type": "object", "title": "The reference to a stored one"}]},
    ),
]
"""What ``snellen.runtime.input_pictures`` reads."""


class ToolNeed(TypedDict):
    """A concept, or a question with its answer, that one tool should learn."""

    tool: Annotated[
        Literal["LOC", "SEG", "SELECT", "CLASSIFY", "REPLACE", "VQA"],
        Field(description="The tool: LOC finds, SEG outlines, CLASSIFY names, SELECT chooses, REPLACE paints things."),
    ]
    concept: NotRequired[Annotated[str, Field(description="What it should learn, in a word or two: penguin.")]]
    question: NotRequired[Annotated[str, Field(description="For VQA: a question about pictures of the concept.")]]
    answer: NotRequired[Annotated[str, Field(description="For VQA: the right answer to it.")]]
    reason: NotRequired[Annotated[str, Field(description="Why, in a sentence.")]]


@with_config(extra="forbid")
class InvestigationLimits(TypedDict):
    """Limits of an investigation; those that are left out are as usual."""

    experiments: NotRequired[Annotated[int, Field(ge=1, le=20, description="Experiments.")]]
    images: NotRequired[Annotated[int, Field(ge=2, description="Pictures of all experiments together.")]]
    each: NotRequired[Annotated[int, Field(ge=0, description="Pictures of one experiment.")]]
    decision: NotRequired[Annotated[int, Field(ge=1, description="Pictures that a decided claim is worth.")]]
    trials: NotRequired[Annotated[int, Field(ge=1, description="Questions put to models.")]]
    seconds: NotRequired[Annotated[float, Field(gt=0, description="Seconds of measuring.")]]
    tokens: NotRequired[Annotated[int, Field(ge=0, description="Tokens of the chat model that designs.")]]


@dataclass(frozen=True, kw_only=True)
class AskInput:
    """A visual task."""

    instruction: Annotated[str, Field(description="What to do: How many dogs are there?")]
    pictures: Annotated[list[GivenPicture], Field(description="One to eight pictures, in the order that is spoken of.")]
    expected: Annotated[
        str | None, Field(description="The right answer, if known: a wrong one is looked into and learned from.")
    ] = None
    family: Annotated[
        Literal["vqa", "statement", "edit", "tag"] | None, Field(description="The kind of task, if known.")
    ] = None
    learn: Annotated[bool, Field(description="Learn from a wrong answer.")] = True
    approve: Approve = False


@dataclass(frozen=True, kw_only=True)
class AskOutput:
    """The result of a visual task."""

    answer: Annotated[Any, Field(description="The answer: a text, a number, or a picture's reference.")] = None
    caveat: Annotated[
        str | None, Field(description="What no tool was taught, and the answer depends on; read it before the answer.")
    ] = None
    confidence: Annotated[
        float | None, Field(description="The probability that the answer is right; None where it is not known.")
    ] = None
    rival: Annotated[
        str | None, Field(description="The next likeliest answer where the answer is unsure; None where it is sure.")
    ] = None
    error: Annotated[str | None, Field(description="Why there is no answer.")] = None
    verdict: Annotated[
        Literal["right", "wrong", "unjudged"], Field(description="Whether it is the expected answer.")
    ] = "unjudged"
    notes: Annotated[list[str], Field(description="Trouble on the way.")] = field(default_factory=list)
    warnings: Annotated[list[str], Field(description="What to know before trusting the answer.")] = field(
        default_factory=list
    )
    revisions: Annotated[
        list[Json], Field(description="How the program was revised after a run in trouble, and whether that helped.")
    ] = field(default_factory=list)
    reading: Annotated[
        Json, Field(description="How the instruction was understood: a sentence, its meaning, what was left aside.")
    ] = field(default_factory=dict)
    plan: Annotated[list[str], Field(description="The plan, step by step, in words.")] = field(default_factory=list)
    program: Annotated[str, Field(description="The program that was run.")] = ""
    steps: Annotated[list[Json], Field(description="The executed steps: tool, arguments, output.")] = field(
        default_factory=list
    )
    learned: Annotated[list[Json], Field(description="What was learned from a wrong answer.")] = field(
        default_factory=list
    )
    usage: Usage = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class LearnInput:
    """Needs of tools."""

    needs: Annotated[list[ToolNeed], Field(description="What should be learned, and by which tools.")]
    seed: Seed = 0
    approve: Approve = False


@dataclass(frozen=True, kw_only=True)
class LearnOutput:
    """The result of learning."""

    learned: Annotated[list[Json], Field(description="For each need: whether what was learned is kept, and why.")] = (
        field(default_factory=list)
    )


@dataclass(frozen=True, kw_only=True)
class InvestigateInput:
    """A question about models."""

    query: Annotated[str, Field(description="What to find out: Are the models robust to rotation?")]
    models: Annotated[list[str], Field(description="Models to examine, by name. None: those that fit.")] = field(
        default_factory=list
    )
    budget: Annotated[InvestigationLimits, Field(description="What it may use.")] = field(
        default_factory=InvestigationLimits
    )
    seed: Annotated[
        int | None,
        Field(description="Chooses the pictures. None: those of the question, that no other had."),
    ] = None
    approve: Asking = None
    correct: Annotated[
        bool | None,
        Field(description="Teach models what they cannot do, and measure them again. None: as the run's settings say."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class InvestigateOutput:
    """The result of an investigation."""

    investigation: Annotated[str, Field(description="Its id.")] = ""
    query: Annotated[str, Field(description="What was asked.")] = ""
    models: Annotated[list[str], Field(description="The models that were examined.")] = field(default_factory=list)
    report: Annotated[Json, Field(description="Conclusion, experiments, findings and answers.")] = field(
        default_factory=dict
    )
    corrections: Annotated[list[Json], Field(description="What models were taught.")] = field(default_factory=list)
    after: Annotated[Json, Field(description="What was found after that.")] = field(default_factory=dict)
    usage: Usage = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChatInput:
    """A message."""

    messages: Annotated[list[AnyMessage], Field(description="What the person says; pictures as parts of a message.")]
    approve: Annotated[
        bool | None,
        Field(description="Stop and ask a person before anything is learned or examined. None: as the settings say."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ChatOutput:
    """The conversation, with the reply."""

    messages: Annotated[list[AnyMessage], bounded] = field(default_factory=list)
