"""The tools of other agents, over MCP and LangChain: their arguments, and the records that they return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError

from snellen.errors import BadInput
from snellen.experiments.report import Answer as AnswerToQuery
from snellen.experiments.verdicts import VERDICTS
from snellen.reasoning.language.inflection import counted, singular
from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.runtime.resources import resources
from snellen.summaries.investigations import figures
from snellen.summaries.runs import drawn, notices_of, outcome, revision_in_words, steps_of, understood_in_words
from snellen.summaries.values import in_words
from snellen.threads import learn
from snellen.threads.thread import FAILED
from snellen.user_paths import user_path
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState
    from snellen.memory.artifacts import ArtifactStore
    from snellen.threads.investigate import InvestigationResult

_MOST_FOUND: Final = 20
_LONGEST_PATH: Final = 4_096

Instruction = Annotated[str, Field(description="A question about the pictures, or how to edit them.")]
Expected = Annotated[str, Field(description="The right answer, if known: Snellen learns from a wrong one.")]
ModelQuery = Annotated[str, Field(description="A question about models, e.g. Are the models robust to rotation?")]
ModelNames = Annotated[list[str], Field(description="Names of the models to examine. Empty: those that fit the query.")]
PictureBudget = Annotated[int, Field(ge=0, description="The most pictures to use. 0: the default.")]
Concept = Annotated[str, Field(description="The concept to learn, in a word or two.")]
ToolNames = Annotated[list[str], Field(description="LOC, SEG, CLASSIFY, SELECT, … Empty: the default ones.")]
MemoryQuery = Annotated[str, Field(description="A concept, or an instruction.", min_length=1, max_length=2_000)]


class TaskAnswer(BaseModel):
    """The answer to a visual task."""

    thread: str
    status: str
    """``finished``, or ``failed``: then the answer says why there is none."""
    understood: str
    """How the instruction was understood, in a sentence."""
    caveat: str | None
    """What no tool was taught and the answer depends on; read it first."""
    answer: str
    confidence: float | None
    """The probability that the answer is right; None where it is not known."""
    rival: str | None
    """The next likeliest answer where this one is unsure; None where it is sure."""
    steps: list[str]
    revisions: list[str]
    """Revisions of the program after a run in trouble, and whether each helped."""
    notices: list[str]
    pictures: list[str]


class Investigation(BaseModel):
    """The status of an investigation, and its results so far."""

    thread: str
    status: str
    query: str
    understood: str = ""
    """The query in words made from its meaning alone; empty where only a chat model reads it."""
    answers: list[AnswerToQuery]
    """To the query as it was asked, and whether the property that was examined holds, for each model."""
    models: dict[str, str]
    """A description of each model that was examined."""
    conclusion: str
    findings: list[str]
    pictures: int
    trials: int
    report: str


class LearningResult(BaseModel):
    """The result of learning."""

    thread: str
    learned: list[str]
    kept: int


class LearnedConcept(BaseModel):
    """The prompts of a concept."""

    concept: str
    pool: str
    prompts: int


class RememberedExample(BaseModel):
    """A plan or program that is remembered."""

    instruction: str
    kind: str
    correct: bool
    plan: list[str]
    program: str


class Remembered(BaseModel):
    """The part of the memory that a search found."""

    concepts: list[LearnedConcept]
    examples: list[RememberedExample]

    def in_words(self) -> str:
        """Say it, a line for each concept and example."""
        lines = [f"{one.pool} has {counted(one.prompts, 'prompt')} of {one.concept!r}." for one in self.concepts]
        lines += [f"{one.instruction} → {' '.join(one.plan)}" for one in self.examples]
        return "\n".join(lines) or "The memory has nothing about that."


def answer_of(thread: str, state: AskState, store: ArtifactStore) -> TaskAnswer:
    """Return the answer to a visual task; regions are drawn into their picture, which is stored."""
    answer = from_json(state.answer)
    return TaskAnswer(
        thread=thread,
        status=FAILED if state.error else "finished",
        understood=understood_in_words(ReadingRecord.from_json(state.reading)),
        caveat=state.caveat,
        answer=state.error or in_words(answer),
        confidence=state.confidence,
        rival=state.rival,
        steps=[f"{one.tool}: {outcome(one)}" for one in steps_of(state)],
        revisions=[revision_in_words(one) for one in state.revisions],
        notices=notices_of(state),
        pictures=_drawn(answer, store),
    )


def learning_result(thread: str, state: Any) -> LearningResult:  # noqa: ANN401 - the state of learn
    """Return the result of a thread that learned."""
    learned = learn.learned_of(state)
    return LearningResult(thread=thread, learned=[str(one) for one in learned], kept=sum(one.kept for one in learned))


def request_of(query: str, models: Sequence[str], images: int, profile: str) -> InvestigationRequest:
    """Return the request for an investigation; no pictures at most stands for the default."""
    return InvestigationRequest(
        query=query, models=list(models), budget={"images": float(images)} if images else {}, profile=profile
    )


def argument_error(error: ValidationError, tool: str = "") -> str:
    """Say in a sentence what is wrong with the arguments of a tool."""
    first = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(map(str, first["loc"]))
    return f"The argument {name!r}{f' of {tool}' if tool else ''} cannot be used: {first['msg'].lower()}."


def investigation_of(thread: str, status: str, result: InvestigationResult) -> Investigation:
    """Return the results of an investigation so far."""
    report = result.report
    findings = [
        f"{one.claim.stated(design)}? {one.trouble or f'{VERDICTS[one.verdict]}: {figures(one, design)}'}"
        for experiment in report.experiments
        for design in (experiment.design,)
        for one in experiment.findings
    ]
    return Investigation(
        thread=thread, status=status, query=report.query, understood=report.understood, answers=list(report.answers),
        models=dict(result.models),
        conclusion=report.conclusion or "There is no conclusion yet.", findings=findings,
        pictures=report.images, trials=report.trials, report=f"snellen://reports/{thread}",
    )  # fmt: skip


def _without_article(name: str) -> str:
    first, _, rest = name.strip().casefold().partition(" ")
    return rest.strip() if first in {"a", "an", "the"} and rest else name.strip().casefold()


def searched(query: str, profile: str, folder: Path) -> Remembered:
    """Search the memory for a concept, and for the examples nearest to an instruction."""
    context = resources(profile, folder)
    concept = singular(_without_article(query))
    rows = context.learner().prompts.rows()
    counts = Counter((row.concept, row.pool) for row in rows if row.concept and row.concept in {concept, query})
    nearest = [
        one
        for kind in ("plan", "program")
        for correct in (True, False)
        for one in context.pool.nearest(query, kind, correct=correct, k=_MOST_FOUND // 4)
    ]
    return Remembered(
        concepts=[LearnedConcept(concept=name, pool=pool, prompts=count) for (name, pool), count in counts.items()],
        examples=[
            RememberedExample(
                instruction=one.instruction, kind=one.kind, correct=one.correct, plan=one.plan, program=one.program
            )
            for one in nearest
        ],
    )


def inside(text: str, roots: Sequence[Path]) -> Path | None:
    """Return the file that a path names, if it lies in one of the folders; None for what is no path.

    Raises:
        BadInput: It is a path elsewhere, or one that no file can have.
    """
    place = user_path(text.removeprefix("file://"), "picture") if len(text) < _LONGEST_PATH else None
    if place is None or not place.is_absolute():
        return None
    real = place.resolve()
    if any(real.is_relative_to(root.resolve()) for root in roots):
        return real
    msg = "That picture is in a folder that may not be read; allow the folder with --root, or send the picture itself."
    raise BadInput(msg)


def _drawn(answer: Any, store: ArtifactStore) -> list[str]:  # noqa: ANN401 - any value of a program
    if isinstance(answer, Picture):
        return [answer.id]
    outlined = drawn(answer, store)
    return [] if outlined is None else [store.put(outlined).id]
