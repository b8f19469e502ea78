"""What other agents get back from tools, over MCP and LangChain: records, and how they are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from snellen.errors import BadInput
from snellen.experiments.schema import VERDICTS
from snellen.experiments.schema import Answer as AnswerToQuery
from snellen.profiles.user_paths import user_path
from snellen.reasoning.language.inflection import counted
from snellen.runtime.resources import resources
from snellen.summaries.investigations import figures
from snellen.summaries.runs import drawn, in_words, notices_of, outcome, steps_of
from snellen.threads.thread import FAILED
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.graphs.states import AskState
    from snellen.memory.artifacts import ArtifactStore
    from snellen.threads.investigate import InvestigationResult

_MOST_FOUND: Final = 20
_LONGEST_PATH: Final = 4_096


class TaskAnswer(BaseModel):
    """What came of a visual task."""

    thread: str
    status: str
    """``finished``, or ``failed``: then the answer says why there is none."""
    answer: str
    steps: list[str]
    notices: list[str]
    pictures: list[str]


class Investigation(BaseModel):
    """How far an investigation is, and what it has found."""

    thread: str
    status: str
    query: str
    answers: list[AnswerToQuery]
    """To the query as it was asked, and whether the property that was examined holds, for each model."""
    models: dict[str, str]
    """What each model that was examined is."""
    conclusion: str
    findings: list[str]
    pictures: int
    trials: int
    report: str


class LearningResult(BaseModel):
    """What was learned."""

    thread: str
    learned: list[str]
    kept: int


class LearnedConcept(BaseModel):
    """What tools have learned of a concept."""

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
    """What is known about something."""

    concepts: list[LearnedConcept]
    examples: list[RememberedExample]

    def in_words(self) -> str:
        """Say it in a line for each concept and example."""
        lines = [f"{one.pool} has {counted(one.prompts, 'prompt')} of {one.concept!r}." for one in self.concepts]
        lines += [f"{one.instruction} → {' '.join(one.plan)}" for one in self.examples]
        return "\n".join(lines) or "Nothing is known about that."


def answer_of(thread: str, state: AskState, store: ArtifactStore) -> TaskAnswer:
    """Tell what came of a visual task; what it outlined in a picture is drawn into it and stored."""
    answer = from_json(state.answer)
    return TaskAnswer(
        thread=thread,
        status=FAILED if state.error else "finished",
        answer=state.error or in_words(answer),
        steps=[f"{one.tool}: {outcome(one)}" for one in steps_of(state)],
        notices=notices_of(state),
        pictures=_drawn(answer, store),
    )


def investigation_of(thread: str, status: str, found: InvestigationResult) -> Investigation:
    """Tell what an investigation has found."""
    report = found.report
    findings = [
        f"{one.claim.stated(design)}? {one.trouble or f'{VERDICTS[one.verdict]}: {figures(one, design)}'}"
        for experiment in report.experiments
        for design in (experiment.design,)
        for one in experiment.findings
    ]
    return Investigation(
        thread=thread, status=status, query=report.query, answers=list(report.answers), models=dict(found.models),
        conclusion=report.conclusion or "Nothing was concluded yet.", findings=findings,
        pictures=report.images, trials=report.trials, report=f"snellen://reports/{thread}",
    )  # fmt: skip


def searched(query: str, profile: str, folder: Path) -> Remembered:
    """Look up what was learned of a concept, and the examples nearest to an instruction."""
    from snellen.reasoning.language.inflection import singular
    from snellen.summaries.chat_replies import bare_name

    context = resources(profile, folder)
    concept = singular(bare_name(query))
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
    msg = "That picture lies in no folder that may be read; name its folder with --root, or send the picture itself."
    raise BadInput(msg)


def _drawn(answer: Any, store: ArtifactStore) -> list[str]:  # noqa: ANN401 - any value of a program
    if isinstance(answer, Picture):
        return [answer.id]
    outlined = drawn(answer, store)
    return [] if outlined is None else [store.put(outlined).id]
