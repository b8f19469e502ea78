"""The trace of a thread as the page shows it: built from its events, or from its saved state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.reading.reading_record import ReadingRecord
from snellen.summaries.investigations import doing as examining_in_words
from snellen.summaries.learning import phase_in_words
from snellen.summaries.runs import answer_with_confidence, attempt_in_words, caveat_in_words, understood_in_words
from snellen.summaries.values import in_words
from snellen.threads.events import (
    InvestigationProgress,
    LearningProgress,
    ModelsLoading,
    NodeFinished,
    Started,
    StepFinished,
    Waits,
)
from snellen.threads.progress import LOADING, doing_after
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState, Json

MAX_STEPS: Final = 60
"""The most steps that are shown, the latest ones: a loop may have hundreds."""

_NEXT: Final = {
    "receive": "reading the message",
    "open_report": "designing an experiment",
    "design": "checking the design",
    "check_design": "making pictures",
    "build_benchmark": "asking the models",
    "measure": "reading the results",
    "discuss": "judging whether that suffices",
    "judge_sufficiency": "going on",
    "conclude": "writing the answer",
    "collect": "learning",
    "tune_prompts": "proving what was learned",
    "validate_prompts": "storing what proved itself",
}
"""The activity after a node, where ``doing_after`` knows none."""
_ROUTES: Final = {
    "ask": "recalling similar tasks",
    "learn": "collecting pictures to learn from",
    "investigate": "reading the question",
    "explain": "looking it up",
    "forget": "forgetting",
}


@dataclass(frozen=True)
class ThreadTrace:
    """The trace of a thread.

    Attributes:
        activity: The present activity in words; empty when there is none.
        share: The share of it that is done, from 0 to 1; None where it is not known.
        pictures: Its pictures (``Picture`` in JSON form).
        understood: How the instruction was understood.
        plan: The plan's steps in words.
        program: The program's text.
        steps: The executed steps (``StepRecord`` in JSON form).
        caveat: What no tool was taught and the answer depends on, as a sentence; empty where all was.
        answer: The answer in words with its confidence; empty where there is none.
        revisions: Revisions of the program (``Revision`` in JSON form).
        answers: Wrong answers so far, in words.
        critiques: Faults that were found (``Critique`` in JSON form).
        learned: Outcomes of learning (``LearningOutcome`` in JSON form).
        report: The report about models (``Report`` in JSON form); empty where there is none.
        corrections: Corrections of models (``ModelCorrection`` in JSON form).
        after: The report about corrected models (``Report`` in JSON form).
        investigation: The name under which the pictures of the report are kept; empty where it is not known.
        profile: The profile of the models that the report is about; empty where it is not known.
    """

    activity: str = ""
    share: float | None = None
    pictures: tuple[Json, ...] = ()
    understood: str = ""
    plan: tuple[str, ...] = ()
    program: str = ""
    steps: tuple[Json, ...] = ()
    caveat: str = ""
    answer: str = ""
    revisions: tuple[Json, ...] = ()
    answers: tuple[str, ...] = ()
    critiques: tuple[Json, ...] = ()
    learned: tuple[Json, ...] = ()
    report: Json = field(default_factory=dict)
    corrections: tuple[Json, ...] = ()
    after: Json = field(default_factory=dict)
    investigation: str = ""
    profile: str = ""

    @property
    def is_empty(self) -> bool:
        """True where there is nothing to show."""
        return not (self.plan or self.program or self.steps or self.learned or self.critiques or self.report)

    def with_event(self, event: Any) -> ThreadTrace:  # noqa: ANN401 - the events of any kind of thread
        """Return the trace with one more event."""
        match event:
            case Started(state=state):
                return replace(trace_of(state), activity="beginning")
            case StepFinished(record=record):
                return replace(
                    self, steps=(*self.steps, record)[-MAX_STEPS:], activity="running the program", share=None
                )
            case NodeFinished(node=node, update=update):
                return self._after_node(node, update)
            case LearningProgress(told=progress):
                return replace(self, activity=phase_in_words(progress), share=_share(progress))
            case InvestigationProgress(told=progress):
                return replace(self, activity=examining_in_words(progress), share=_share(progress))
            case ModelsLoading():
                return replace(self, activity=LOADING, share=None)
            case Waits():
                return replace(self, activity="", share=None)
            case _:
                return self

    def _after_node(self, node: str, update: Json) -> ThreadTrace:
        changed: dict[str, Any] = {"activity": _activity_after(node, update), "share": None}
        if node == "run":
            changed |= _answer(update)
            changed["revisions"] = tuple(update.get("revisions", ()))
            if any(one["helped"] is False for one in changed["revisions"][-1:]):
                # The run before is brought back.
                changed["steps"] = tuple(update["steps"])[-MAX_STEPS:]
        if node == "read":
            changed["understood"] = _understood(update)
        for name in _FIELDS_OF_NODES.get(node, ()):
            if value := update.get(name):
                changed[name] = tuple(value) if isinstance(value, list | tuple) else value
        if node == "judge" and update.get("attempts"):
            changed["answers"] = tuple(attempt_in_words(one) for one in update["attempts"])
        if node in {"write", "revise", "correct", "reflect_globally"} and "steps" not in changed:
            # What runs next begins anew.
            changed["steps"] = () if node == "write" or changed.get("program") else self.steps
        return replace(self, **changed)


_FIELDS_OF_NODES: Final[dict[str, tuple[str, ...]]] = {
    "receive": ("pictures",),
    "plan": ("plan",),
    "write": ("program",),
    "run": ("plan", "program"),
    "revise": ("plan", "program", "revisions"),
    "correct": ("program",),
    "reflect_globally": ("critiques",),
    "reflect_locally": ("critiques",),
    "store": ("learned",),
    **dict.fromkeys(
        ("open_report", "design", "check_design", "build_benchmark", "measure", "discuss", "judge_sufficiency",
         "conclude", "teach", "compare"),
        ("report", "after", "corrections", "investigation"),
    ),
}  # fmt: skip
"""The fields of each node's update that are shown: graphs inside graphs pass on fields of the same names."""


def _activity_after(node: str, update: Json) -> str:
    if node == "route":
        return _ROUTES.get(str(update.get("route", "")), "answering")
    return _NEXT.get(node) or doing_after(NodeFinished(node, update))


def _share(progress: Json) -> float | None:
    done, of = progress.get("done", progress.get("step")), progress.get("of")
    if not isinstance(done, int | float) or not isinstance(of, int | float) or of <= 0:
        return None
    return min(max(done / of, 0.0), 1.0)


def trace_of(state: Any) -> ThreadTrace:  # noqa: ANN401 - the state of any graph
    """Return the trace of a thread from its saved state."""
    from snellen.graphs.states import AskState, ChatState, InvestigateState, LearnState

    match state:
        case AskState():
            return _of_task(vars(state))
        case LearnState():
            return ThreadTrace(learned=tuple(state.learned))
        case InvestigateState():
            return _of_inquiry(vars(state))
        case ChatState():
            return _of_conversation(state)
        case _:
            return ThreadTrace()


def _understood(state: Json) -> str:
    return understood_in_words(ReadingRecord.from_json(state.get("reading") or {}))


def _of_task(state: Json) -> ThreadTrace:
    return ThreadTrace(
        understood=_understood(state),
        pictures=tuple(state.get("pictures", ())),
        plan=tuple(state.get("plan", ())),
        program=str(state.get("program", "")),
        # The steps of a run that is about to be bettered are not those of the program above.
        steps=() if state.get("best_run") else tuple(state.get("steps", ()))[-MAX_STEPS:],
        **_answer(state),
        revisions=tuple(state.get("revisions", ())),
        answers=tuple(attempt_in_words(one) for one in state.get("attempts", ())),
        critiques=tuple(state.get("critiques", ())),
        learned=tuple(state.get("learned", ())),
    )


def _answer(run: Json) -> Json:
    """Return what a run says, from the fields of its state."""
    from snellen.graphs.states import AskState

    confidence, rival = run.get("confidence"), run.get("rival")
    state = AskState(answer=run.get("answer"), caveat=run.get("caveat"), confidence=confidence, rival=rival)
    answered = state.answer is not None and not run.get("error") and not run.get("best_run")
    answer = answer_with_confidence(in_words(from_json(state.answer)), state) if answered else ""
    return {"caveat": caveat_in_words(state.caveat), "answer": answer}


def _of_inquiry(state: Json) -> ThreadTrace:
    return ThreadTrace(
        report=state.get("report") or {},
        corrections=tuple(state.get("corrections", ())),
        after=state.get("after") or {},
        investigation=str(state.get("investigation", "")),
        profile=str(state.get("profile", "")),
    )


def _of_conversation(state: ChatState) -> ThreadTrace:
    kept: Json = state.last.get("state", {})
    trace = {
        "ask": lambda: _of_task(kept),
        "learn": lambda: ThreadTrace(learned=tuple(kept.get("learned", ()))),
        "investigate": lambda: _of_inquiry(kept),
    }.get(str(state.last.get("graph", "")), ThreadTrace)()
    trace = replace(trace, profile=trace.profile or state.profile)
    return trace if trace.pictures else replace(trace, pictures=tuple(state.pictures))
