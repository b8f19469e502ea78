"""The state each graph carries from step to step, and therefore into its checkpoints.

Everything here is small and plain: pictures are artifact ids, values and step records are their JSON forms. A class
that has once been written to a checkpoint must keep its module and name, or old threads can no longer be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import AfterValidator

from snellen.graphs.messages import bounded
from snellen.learning.records import checked_need
from snellen.values import checked_reference

Json = dict[str, Any]
"""A JSON object, as ``snellen.values.to_json`` and ``StepRecord.to_json`` write them."""

PictureJson = Annotated[Json, AfterValidator(checked_reference)]
"""A ``Picture`` in JSON form; looked at where a person sets it, not at every step."""

NeedJson = Annotated[Json, AfterValidator(checked_need)]
"""A ``snellen.learning.records.Need`` in JSON form."""

Ruling = Literal["right", "wrong", "unjudged"]


@dataclass(frozen=True, kw_only=True)
class AskState:
    """The state of one visual task."""

    instruction: str = ""
    """What the user asked for, in their words."""

    pictures: list[PictureJson] = field(default_factory=list)
    """The input pictures as artifact references (``Picture`` in JSON form), in the user's order."""

    family: str | None = None
    """The kind of task if the caller knows it (``vqa``, ``statement``, ``edit``, ``tag``)."""

    expected: str | None = None
    """The right answer if the user gave one (``--answer``); the judge compares with it."""

    profile: str = "embedded"
    """The profile the thread was begun with; a resumed thread uses the same one."""

    reading: Json = field(default_factory=dict)
    """How the instruction is understood (``ReadingRecord`` in JSON form); empty in threads of before it was read."""

    demonstrations: list[str] = field(default_factory=list)
    """Ids of the recalled demonstrations, nearest first."""

    plan: list[str] = field(default_factory=list)
    """The plan's steps in words."""

    program: str = ""
    """The program's text, parsed and checked."""

    made: dict[str, str] = field(default_factory=dict)
    """Sums of the ``plan`` and the ``program`` as they were made, and of the plan that the program ``follows``: where
    one differs from what the state holds, a person has edited that."""

    steps: list[Json] = field(default_factory=list)
    """The executed steps (``StepRecord`` in JSON form), shortened where they would not fit a checkpoint."""

    answer: Any = None
    """The program's result (``Value`` in JSON form); None when the run failed."""

    caveat: str | None = None
    """Names on which the answer depends and that no tool was taught, in a sentence; None where all were."""

    confidence: float | None = None
    """The probability that the answer is right, in [0, 1]; None where no calibration holds for the run."""

    rival: str | None = None
    """The next likeliest answer where the confidence is below what the profile calls sure, empty where no other is
    known; None where the answer is sure enough, or no confidence is known."""

    error: str | None = None
    """Why there is no answer, in one sentence; None when the run succeeded."""

    trouble: Json = field(default_factory=dict)
    """Trouble of the run for which the program is about to be revised (``Trouble`` in JSON form); empty where it is
    not."""

    revisions: list[Json] = field(default_factory=list)
    """Revisions of this attempt's program (``Revision`` in JSON form), in order."""

    best_run: Json = field(default_factory=dict)
    """The run that a revision is to better, until that was run: its program, steps and answer, and its trouble."""

    verdict: Ruling = "unjudged"
    """Whether the answer equals the expected one; ``unjudged`` where none was given."""

    notes: list[str] = field(default_factory=list)
    """Trouble the judge noticed: a failed step, a search that found nothing."""

    warnings: list[str] = field(default_factory=list)
    """What the user should know before trusting the answer."""

    usage: dict[str, float] = field(default_factory=dict)
    """What the Reasoner has used so far: calls, input and output tokens, cost."""

    correction: str = ""
    """What is wrong with the answer in the user's words ("that is not a flamingo"); empty if they said nothing."""

    region: Json | None = None
    """Where in the first picture the thing is that the answer missed (``Region`` in JSON form), if it was shown."""

    setting: str = ""
    """What the whole pictures show, in words; set when a wrong answer is described for reflection."""

    described: list[Json] = field(default_factory=list)
    """For each step that reflection reads: its address, a caption of its picture, and the evidence about its result."""

    critiques: list[Json] = field(default_factory=list)
    """What reflection found so far (``Critique`` in JSON form), in order; the last one is the one to act on."""

    learn: bool = True
    """Whether a wrong answer is reflected upon and learned from; else it is only judged."""

    attempts: list[Json] = field(default_factory=list)
    """The wrong answers so far, each with its error and the steps that were found at fault (``faulty``) as they were;
    the first one with the steps that made its picture."""

    lessons: list[Json] = field(default_factory=list)
    """Plans and programs that reflection found wrong (``Demonstration`` in JSON form), the latest first. They are shown
    to the Reasoner in this run, and remembered once the answer is right."""

    needs: list[NeedJson] = field(default_factory=list)
    """What the tools at fault should learn (``snellen.learning.records.Need`` in JSON form), for the learn graph."""

    seed: int = 0
    """Chooses among the pictures that a source has."""

    learned: list[Json] = field(default_factory=list)
    """What came of all needs so far (``Learned`` in JSON form)."""

    approve: bool = False
    """Whether a person is asked before anything is learned."""

    insist: bool = False
    """Whether what is said of the right answer is learned from without a question, however doubtful it looks."""


@dataclass(frozen=True, kw_only=True)
class LearnState:
    """The state of one learning run; ask carries the fields of the same names into it and out again."""

    profile: str = "embedded"
    """The profile the thread was begun with."""

    needs: list[NeedJson] = field(default_factory=list)
    """What should be learned (``snellen.learning.records.Need`` in JSON form)."""

    seed: int = 0
    """Chooses among the pictures that a source has: another one learns from others."""

    folder: str = ""
    """A folder of the user's own pictures to learn from; empty takes those that the profile names."""

    approve: bool = False
    """Whether a person is asked before anything is learned."""

    collected: list[Json] = field(default_factory=list)
    """For each need, what it can be learned from (``Collected`` in JSON form); pictures as artifact ids."""

    seconds: dict[str, float] = field(default_factory=dict)
    """How long each need was tuned, by its place in the list."""

    judged: list[Json] = field(default_factory=list)
    """For each need, which instances' prompts stay, and why the others do not."""

    learned: list[Json] = field(default_factory=list)
    """What came of the needs of this run and of earlier ones of the same thread (``Learned`` in JSON form)."""


@dataclass(frozen=True, kw_only=True)
class InvestigateState:
    """The state of one investigation."""

    investigation: str = ""
    """Its id, under which its pictures are kept: the thread's."""

    query: str = ""
    """What the user wants to know about models, in their words."""

    models: list[str] = field(default_factory=list)
    """The models that may be examined, by their names in the profile."""

    profile: str = "embedded"
    """The profile the thread was begun with."""

    alpha: float | None = None
    """The share of verdicts that may be wrong; None takes what the run's settings say."""

    budget: Json = field(default_factory=dict)
    """What it may use (``snellen.experiments.report.Budget`` in JSON form)."""

    seed: int | None = None
    """Chooses the pictures. None takes those that the ledger allots: no other question of this home looked at them."""

    folder: str = ""
    """A folder of the user's own pictures, with a folder for each class; empty takes what the profile draws."""

    protocol: str | None = None
    """How models are asked: ``choice``, ``freeform`` or ``pairs``; None takes what the run's settings say."""

    approve: bool | None = None
    """Whether a person is asked before an experiment is run; None takes what the run's settings say."""

    opening: Json = field(default_factory=dict)
    """How the report begins: what was ``asked``, and what the Reasoner ``said`` (``snellen.experiments.report.Opening``
    in JSON form); empty until it was asked."""

    report: Json = field(default_factory=dict)
    """What is known (``snellen.experiments.report.Report`` in JSON form)."""

    correct: bool | None = None
    """Whether models are taught what was found that they cannot do; None takes what the run's settings say."""

    corrections: list[Json] = field(default_factory=list)
    """What came of that (``snellen.experiments.follow_up.Correction`` in JSON form)."""

    plan: list[Json] = field(default_factory=list)
    """The experiments that measure corrections (``Design`` in JSON form)."""

    after: Json = field(default_factory=dict)
    """What these found (``Report`` in JSON form); empty until there is something to measure."""

    design: Json | None = None
    """The experiment that was designed and not yet checked (``Design`` in JSON form)."""

    refusals: list[str] = field(default_factory=list)
    """What was wrong with the designs of the next experiment so far."""

    designs: int = 0
    """Times that the next experiment was begun from scratch."""

    usage: dict[str, float] = field(default_factory=dict)
    """What the Reasoner has used so far: calls, input and output tokens, cost."""


@dataclass(frozen=True, kw_only=True)
class ChatState:
    """The state of one conversation."""

    messages: Annotated[list[AnyMessage], bounded] = field(default_factory=list)
    """What was said, the oldest first; pictures are blocks that name a stored one."""

    profile: str = ""
    """The profile the thread was begun with; empty takes what the run is given."""

    approve: bool | None = None
    """Whether a person is asked before anything is learned or an experiment is run; None asks before an experiment
    where the run's settings say so."""

    turn: int = 0
    """Messages of the person so far."""

    began: str = ""
    """When the last one came (ISO 8601, UTC)."""

    pictures: list[PictureJson] = field(default_factory=list)
    """The pictures that are spoken of (``Picture`` in JSON form): of the last message that had any."""

    fresh: bool = False
    """Whether they came with the last message."""

    notices: list[str] = field(default_factory=list)
    """What to know about them: where they look otherwise than their files."""

    route: str = ""
    """Which part of Snellen the last message was for."""

    part: str = ""
    """The part of the last message that is being answered: a message may say several things."""

    queue: list[str] = field(default_factory=list)
    """The parts that come after it."""

    answers: list[str] = field(default_factory=list)
    """The replies to the parts before it."""

    asides: list[str] = field(default_factory=list)
    """What was left aside of the last message."""

    missed: list[str] = field(default_factory=list)
    """Questions of the last message that were not read, beside parts that were."""

    instruction: str = ""
    """The part as a whole instruction: what it refers to is said in it."""

    understood: str = ""
    """How it was understood, where that is not plain from its words."""

    meaning: str = ""
    """The meaning of the part as an instruction about pictures (JSON); empty where it is none, or was not read."""

    talk: Json = field(default_factory=dict)
    """What the part says beside instructions (``snellen.reasoning.meanings.talk.Talk`` in JSON form)."""

    remark: Json = field(default_factory=dict)
    """What it says about the last answer (``snellen.reasoning.reading.remarks.Remark`` in JSON form)."""

    last: Json = field(default_factory=dict)
    """What was done last: the name of its ``graph``, what is kept of its ``state``, and the ``meaning`` of a task."""

    taught: Json = field(default_factory=dict)
    """What was learned last: ``since`` when, the ``needs``, and the ``instruction`` of the task."""

    pending: Json = field(default_factory=dict)
    """What the last reply asked about, until it is answered: ``forget`` with what would go
    (``snellen.nodes.chat.forgetting.Proposal.to_json``), ``remark`` with what was perhaps meant (``Remark`` in JSON
    form), or ``choice`` with the instructions that were perhaps meant."""

    said: str = ""
    """The reply that is being made (Markdown)."""

    shown: list[PictureJson] = field(default_factory=list)
    """The pictures of the reply (``Picture`` in JSON form)."""


STATE_TYPES: tuple[type, ...] = (AskState, LearnState, InvestigateState, ChatState)
"""The classes that a checkpoint may bring back to life; every other one is refused."""
