"""Threads of the investigate graph: investigations are begun and corrected, and their results read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput, SnellenError
from snellen.profiles import load_profile
from snellen.runtime.investigation_requests import InvestigationRequest as InvestigationRequest
from snellen.runtime.investigation_requests import initial_fields
from snellen.runtime.resources import examining as examining
from snellen.threads.events import Decide, Event, Finished, Started
from snellen.threads.saved_threads import Headline
from snellen.threads.thread_type import ThreadType

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from snellen.experiments.follow_up import ModelCorrection
    from snellen.experiments.report import Report
    from snellen.graphs.states import InvestigateState, Json
    from snellen.runtime.context import Context

INVESTIGATE: Final = ThreadType["InvestigateState"](
    "investigate",
    lambda state, profile, folder: examining(profile, folder, state.folder),
    lambda state: Headline(state.query, outcome=str(state.report.get("conclusion", ""))),
)
"""Threads that find out about models."""

InvestigationEvent = Started["InvestigateState"] | Event | Finished["InvestigateState"]


@dataclass(frozen=True)
class InvestigationResult:
    """The findings of an investigation.

    Attributes:
        investigation: Its thread.
        report: What it found.
        corrections: What was done about weaknesses, where that was wanted.
        after: What was measured of corrected models.
        profile: Name or path of the profile.
        pictures: The folder of the user's own that samples were drawn from; empty where they were not.
        correct: Whether corrections were wanted, and the report is done.
    """

    investigation: str
    report: Report
    corrections: Sequence[ModelCorrection] = ()
    after: Report | None = None
    profile: str = "embedded"
    pictures: str = ""
    correct: bool = False

    @property
    def conclusion(self) -> str:
        """The conclusion, or how the investigation goes on to one."""
        return self.report.conclusion or f"Not answered yet: `snellen resume {self.investigation}` goes on."

    @property
    def models(self) -> list[tuple[str, str]]:
        """The models that were examined, each with what it is, as far as the profile says."""
        try:
            tested = load_profile(self.profile).tested
        except SnellenError:  # a profile of one's own may be gone; the report is not
            tested = {}
        names = dict.fromkeys(name for _, report in self.parts for name in report.models)
        return [(name, _about(name, tested)) for name in names]

    def source_of(self, tool: str) -> str:
        """Say where the pictures of a select tool came from.

        Args:
            tool: Its name.

        Returns:
            "world", "painter" or "folder"; nothing where the profile does not say any more.
        """
        if self.pictures:
            return "folder"
        try:
            samples = load_profile(self.profile).samples
        except SnellenError:
            return ""
        retrieved = {"": "", "world": "world"}.get(samples.retrieval, "folder")
        both = (samples.generation, retrieved)
        return next((one for one in (both[::-1] if tool == "TextToImageRetrieval" else both) if one), "")

    @property
    def parts(self) -> list[tuple[str, Report]]:
        """The reports, each with the name under which its pictures are kept."""
        from snellen.experiments.follow_up import corrected_sample_set

        later = [] if self.after is None else [(corrected_sample_set(self.investigation), self.after)]
        return [(self.investigation, self.report), *later]


def _about(name: str, tested: Mapping[str, Any]) -> str:
    """Return what a model is; one that was corrected is another with an adapter."""
    if name in tested:
        return str(tested[name].about)
    base = name.partition("+")[0]
    return f"{base}, corrected by an adapter" if base in tested else ""


def stream_investigate(
    request: InvestigationRequest, *, thread: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Begin an investigation, and follow it to its end.

    Args:
        request: What is to be investigated.
        thread: The new thread's id; made up when None.
        decide: Decides about a design; without it, or when it leaves one open, the thread stops there.

    Yields:
        ``Started``, nodes and progress in the order of events, ``Waits`` where a decision is asked for,
        and ``Finished``, unless the thread is left waiting.

    Raises:
        BadInput: something of the request or the thread cannot be used; nothing was begun.
        SnellenError: the run failed; ``INVESTIGATE.resume`` takes it up.
    """

    async def prepare(name: str, folder: Path) -> tuple[InvestigateState, Context]:
        from snellen.graphs.states import InvestigateState
        from snellen.runtime.investigation_state import investigator_of, opened

        if request.correct:
            await asyncio.to_thread(_check_library)
        state = InvestigateState(**await asyncio.to_thread(initial_fields, name, request))
        context = await asyncio.to_thread(examining, request.profile, folder, state.folder)
        # What cannot be examined is said before there is a thread that nobody can bring to an end.
        return await opened(state, investigator_of(state, context)), context

    return INVESTIGATE.begin(prepare, thread=thread, decide=decide)


def correct_investigation(
    thread: str, *, approve: bool = False, profile: str | None = None, decide: Decide | None = None
) -> AsyncGenerator[InvestigationEvent]:
    """Teach models what a finished investigation found that they cannot do, and measure them again.

    Args:
        thread: The id of an existing thread.
        approve: Whether a person is asked which models are taught.
        profile: A profile to go on with; None takes the one the thread was begun with.
        decide: Decides about that.

    Yields:
        ``Started`` with ``resumed``, then what happens.

    Raises:
        BadInput: no such thread, it has not ended, it found no weakness, or its models were corrected.
        SnellenError: the run failed; ``INVESTIGATE.resume`` takes it up.
    """

    def changes(state: InvestigateState, _: Context) -> Json:
        _check_correctable(state)
        _check_library()
        return {"correct": True, "approve": approve, "corrections": []}

    return INVESTIGATE.correct(
        thread, changes, after="conclude", called="investigation", profile=profile, decide=decide
    )


def _check_correctable(state: InvestigateState) -> None:
    from snellen.experiments.follow_up import weaknesses

    result = found_in(state)
    if state.after:
        msg = f"The models of {state.investigation!r} were corrected: `snellen report {state.investigation}` shows it."
        raise BadInput(msg)
    if result is None or not weaknesses(result.report):
        msg = (
            f"The investigation {state.investigation!r} found nothing that a model cannot do, so there is nothing to "
            "correct: `snellen report` shows what it found."
        )
        raise BadInput(msg)


def found_in(state: InvestigateState) -> InvestigationResult | None:
    """Return what an investigation has found so far; None before its report is opened."""
    from snellen.experiments.follow_up import ModelCorrection
    from snellen.experiments.report import Report

    if not state.report:
        return None
    corrections = [ModelCorrection.model_validate(one) for one in state.corrections]
    after = Report.model_validate(state.after) if state.after else None
    report = Report.model_validate(state.report)
    return InvestigationResult(
        state.investigation,
        report,
        corrections,
        after,
        state.profile,
        state.folder,
        bool(state.correct and report.answers),
    )


def _check_library() -> None:
    from snellen.models.under_test import check_library

    check_library()
