"""Questions about models, answered by experiments: ``snellen.investigate``, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snellen.api.following import (
    Confirm,
    Displayed,
    Followed,
    Status,
    StoredPictures,
    Tell,
    deciding,
    follow,
    on_one_loop,
    synchronous,
)
from snellen.errors import SnellenError
from snellen.experiments.report import Answer, Pattern
from snellen.experiments.verdicts import Verdict
from snellen.graphs.states import InvestigateState, Json
from snellen.memory.home import home
from snellen.reports.investigation_page import render
from snellen.reports.investigation_text import markdown
from snellen.reports.trial_rows import trial_rows
from snellen.runtime.investigation_requests import InvestigationRequest
from snellen.runtime.resources import open_pictures
from snellen.summaries.investigations import figures
from snellen.threads import investigate as threads


@dataclass(frozen=True)
class ClaimEvidence:
    """Measurements about a claim.

    Attributes:
        claim: In words: "clip is right in more than 75 % in telling vehicles from food".
        model: The model that it is about.
        verdict: ``yes``, ``no``, or ``open`` where the evidence does not suffice.
        mean: What was measured.
        interval: Means that are not ruled out.
        n: Units that were observed: pictures, or originals of pairs.
        figures: The figures in words: "0.31 (0.18 to 0.44), n = 58 pictures".
        trouble: Why it could not be examined, if so.
    """

    claim: str
    model: str
    verdict: Verdict
    mean: float
    interval: tuple[float, float]
    n: int
    figures: str
    trouble: str = ""

    def __str__(self) -> str:
        return f"{self.claim}? {self.trouble or f'{self.verdict}: {self.figures}'}"


@dataclass(frozen=True, repr=False)
class InvestigateResult(Displayed):
    """Result of an investigation of models.

    Attributes:
        thread: The id of its thread: ``snellen.resume`` and ``snellen report`` know it.
        state: All that the thread knows, as it is saved.
        request: What it waits with for a decision (``snellen.resume(…, confirm=…)``); None where it does not.
        home: The memory that it is in.
    """

    thread: str
    state: InvestigateState
    request: Json | None
    home: Path

    @property
    def _found(self) -> threads.InvestigationResult:
        result = threads.found_in(self.state)
        if result is None:
            msg = f"The investigation {self.thread!r} has measured nothing yet: resume it."
            raise SnellenError(msg)
        return result

    @property
    def status(self) -> Status:
        """``finished`` or ``waiting``."""
        return "waiting" if self.request else "finished"

    @property
    def answer(self) -> str:
        """The conclusion, in sentences."""
        return self._found.conclusion

    @property
    def understood(self) -> str:
        """The question as it was understood, in words made from its meaning; empty where only a chat model read it."""
        return self._found.report.understood

    @property
    def answers(self) -> list[Answer]:
        """The answer for each model: ``about``, ``answer`` (yes, no, undecided), ``holds``, ``sentence``."""
        return self._found.report.answers

    @property
    def patterns(self) -> list[Pattern]:
        """Proved patterns of failure: ``kind``, ``model``, ``sentence``, ``examples`` with ids of pictures."""
        return self._found.report.patterns

    @property
    def models(self) -> dict[str, str]:
        """The models that were examined, each with what it is."""
        return dict(self._found.models)

    @property
    def evidence(self) -> list[ClaimEvidence]:
        """Measurements about each claim."""
        return [
            ClaimEvidence(
                one.claim.stated(design), one.claim.model, one.verdict, one.mean, one.interval, one.n,
                figures(one, design), one.trouble,
            )
            for experiment in self._found.report.experiments
            for design in (experiment.design,)
            for one in experiment.findings
        ]  # fmt: skip

    @property
    def caveats(self) -> list[str]:
        """Caveats to know before relying on it: what could not be examined, what remains open."""
        return self._found.report.open_ends

    @property
    def trials(self) -> list[dict[str, Any]]:
        """Every trial as a row: experiment, model, picture, truth, what was said, whether that was right."""
        return list(trial_rows(self._found, self.home))

    @property
    def pictures(self) -> StoredPictures:
        """The pictures that models were asked about, each once."""
        ids = dict.fromkeys(id_ for row in self.trials for id_ in row["pictures"])
        return StoredPictures(tuple(ids), open_pictures(self.home))

    async def correct_async(
        self,
        *,
        confirm: Confirm | None = None,
        profile: str | Path | None = None,
        progress: Tell | None = None,
    ) -> InvestigateResult:
        """Teach models what they were found weak in, and measure them again."""
        return await correct_models(self.thread, confirm=confirm, profile=profile, progress=progress)

    correct = synchronous(correct_async)

    def html(self) -> str:
        """Return the page that ``snellen investigate --html`` writes."""
        return render(self._found, self.home)

    def markdown(self) -> str:
        """Return the report in Markdown."""
        return markdown(self._found)

    def __repr__(self) -> str:
        return f"InvestigateResult({self.answer[:200]!r}, status={self.status!r}, thread={self.thread!r})"


@on_one_loop
async def investigate_async(  # noqa: PLR0913 - one for each thing that a caller may say
    query: str,
    *,
    models: str | Sequence[str] = (),
    images: int | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    experiments: int | None = None,
    alpha: float = 0.05,
    protocol: str = "auto",
    pictures: str | Path | None = None,
    correct: bool = False,
    seed: int | None = None,
    profile: str | Path = "embedded",
    confirm: Confirm | None = None,
    thread: str | None = None,
    progress: Tell | None = None,
) -> InvestigateResult:
    """Find out about models by experiments, until the evidence suffices or the budget is spent.

    Args:
        query: The question: "Can the models recognize vehicles?"
        models: Those that may be examined, by their names in the profile; none for all.
        images: Pictures that it may use.
        trials: Questions that models may be asked.
        seconds: Seconds that measuring may take.
        experiments: Experiments that it may run.
        alpha: The share of verdicts that may be wrong.
        protocol: How models are asked: ``choice``, ``freeform`` or ``pairs``; ``auto`` reads it off the query.
        pictures: A folder with a folder of pictures for each class, to draw samples from; None takes the profile's.
        correct: Teach models what they are found weak in, and measure them again.
        seed: Chooses the pictures; None takes those that no earlier investigation of this memory has seen.
        profile: Name or path of a profile.
        confirm: Asked before an experiment is run, with a question; without it nobody is asked.
        thread: The new thread's id; made up when None.
        progress: Called with a ``Progress`` whenever something else is done; ``print`` shows it.

    Raises:
        BadInput: The query, a model, the budget or another argument cannot be used.
        SnellenError: The run failed; a note of the error says how it is resumed.
    """
    budget = {"images": images, "trials": trials, "seconds": seconds, "experiments": experiments}
    request = InvestigationRequest(
        query=query,
        models=[models] if isinstance(models, str) else models,
        profile=str(profile),
        pictures=pictures,
        alpha=alpha,
        budget={name: value for name, value in budget.items() if value is not None},
        seed=seed,
        approve=confirm is not None,
        correct=correct,
        protocol=protocol,
    )
    events = threads.stream_investigate(request, thread=thread, decide=deciding(confirm))
    return investigated(await follow(threads.INVESTIGATE, events, progress))


investigate = synchronous(investigate_async)


@on_one_loop
async def correct_models(
    thread: str,
    *,
    confirm: Confirm | None = None,
    profile: str | Path | None = None,
    progress: Tell | None = None,
) -> InvestigateResult:
    """Teach models what a finished investigation found that they cannot do; see ``snellen.correct``."""
    events = threads.correct_investigation(
        thread, approve=confirm is not None, profile=None if profile is None else str(profile),
        decide=deciding(confirm),
    )  # fmt: skip
    return investigated(await follow(threads.INVESTIGATE, events, progress))


def investigated(found: Followed[InvestigateState]) -> InvestigateResult:
    """Return what came of a thread of investigate."""
    return InvestigateResult(found.thread, found.state, found.request, home())
