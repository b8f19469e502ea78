"""Runs as logs of Inspect (``inspect_ai``): one for each model and experiment, for ``inspect view`` and its readers."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput, SnellenError
from snellen.exports.schema import AskedQuestion, ExportSource, ModelRun

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalScore, EvalSpec
    from inspect_ai.scorer import Score

    from snellen.exports.parquet import Progress

_MAKER: Final = "snellen"
_UNKNOWN: Final = "1970-01-01T00:00:00+00:00"
"""When something was measured of which that is not known."""


def write_logs(source: ExportSource, folder: Path, *, pictures: bool, progress: Progress) -> list[str]:
    """Write a log for each run; one run is held in memory at a time.

    Returns:
        The written files.

    Raises:
        BadInput: Nobody was asked anything yet.
        SnellenError: A package is missing, a picture is missing, or the folder cannot be written to.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError as error:
        msg = "Inspect's logs need the package inspect_ai: `pip install 'snellen[exports]'`."
        raise SnellenError(msg) from error
    if not source.runs:
        raise BadInput(source.no_runs)
    written = []
    for number, run in enumerate(source.runs, 1):
        progress(f"log {number} of {len(source.runs)}: {run.model}, {run.task}")
        questions = list(run.asked())
        if not questions:
            continue
        log = _log(source, run, questions, source.picture if pictures else None)
        # Names of models may differ in what file names leave out.
        name = f"{run.name}.eval" if f"{run.name}.eval" not in written else f"{run.name}-{number}.eval"
        written.append(name)
        write_eval_log(log, str(folder / name))
    return written


def _log(
    source: ExportSource, run: ModelRun, questions: list[AskedQuestion], picture: Callable[[str], bytes] | None
) -> EvalLog:
    from inspect_ai.log import EvalLog, EvalPlan, EvalPlanStep, EvalStats

    times = sorted(one.measured for one in questions if one.measured) or [run.created or _UNKNOWN]
    return EvalLog(
        status="success" if run.whole else "cancelled",
        eval=_spec(source, run, questions, times[0]),
        plan=EvalPlan(steps=[EvalPlanStep(solver="rank" if questions[0].choices else "answer")]),
        results=_results(run, questions),
        stats=EvalStats(started_at=times[0], completed_at=times[-1]),
        samples=[_sample(run, one, picture) for one in questions],
    )


def _spec(source: ExportSource, run: ModelRun, questions: list[AskedQuestion], created: str) -> EvalSpec:
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec

    return EvalSpec(
        created=created,
        task=run.task,
        task_description=run.about,
        # Logs of one task's id are taken for tries of the same thing: the viewer shows the last one only.
        task_id=_id(source.name, run.name, run.model, "task"),
        run_id=_id(source.name),
        eval_id=_id(source.name, run.name, run.model),
        task_args=dict(run.settings),
        dataset=EvalDataset(
            name=run.data, samples=len(questions), sample_ids=[one.id for one in questions], shuffled=False
        ),
        model=f"{_MAKER}/{run.model}",
        config=EvalConfig(epochs=1, log_images=True),
        tags=[] if run.whole else ["unfinished"],
        metadata={**run.facts, "notes": list(source.notes)},
    )


def _id(*parts: str) -> str:
    """Name something by its content: exporting it again gives the same names."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:22]


def _sample(run: ModelRun, one: AskedQuestion, picture: Callable[[str], bytes] | None) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, ModelOutput

    shown = [] if picture is None else [ContentImage(image=_data(picture(name))) for name in one.pictures]
    question = ChatMessageUser(id=_id(one.id, "asked"), content=[*shown, ContentText(text=one.question)])
    output = ModelOutput.from_content(f"{_MAKER}/{run.model}", one.said)
    reply = output.choices[0].message
    reply.id = _id(one.id, "said")
    facts = {**one.about, "pictures": list(one.pictures), **({"trial": one.trial} if one.trial else {})}
    return EvalSample(
        id=one.id, epoch=1, uuid=_id(run.name, run.model, run.data, one.id), input=[question],
        choices=list(one.choices) or None, target=one.target, messages=[question, reply], output=output, metadata=facts,
        scores={name: _score(value, one.said) for name, value in one.scores.items()},
        started_at=one.measured or None, completed_at=one.measured or None,
    )  # fmt: skip


def _data(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _score(value: bool | float, answer: str) -> Score:  # noqa: FBT001 - it is the value
    from inspect_ai.scorer import CORRECT, INCORRECT, Score

    grade = (CORRECT if value else INCORRECT) if isinstance(value, bool) else value
    return Score(value=grade, answer=answer)


def _results(run: ModelRun, questions: list[AskedQuestion]) -> EvalResults:
    from inspect_ai.log import EvalResults

    names = dict.fromkeys([*run.figures, *(name for one in questions for name in one.scores)])
    scores = [_scorer(name, run.figures.get(name, {}), questions) for name in names]
    return EvalResults(total_samples=len(questions), completed_samples=len(questions), scores=[*scores, *_claims(run)])


def _scorer(name: str, figures: Mapping[str, float], questions: list[AskedQuestion]) -> EvalScore:
    from inspect_ai.log import EvalScore

    scored = [one.scores[name] for one in questions if name in one.scores]
    # What Snellen has no figure of its own for is the plain mean: the share that is right, where it is right or wrong.
    own = figures or ({"mean": sum(scored) / len(scored)} if scored else {})
    return EvalScore(
        name=name, scorer=name, metrics=_metrics(own), scored_samples=len(scored),
        unscored_samples=len(questions) - len(scored),
    )  # fmt: skip


def _metrics(figures: Mapping[str, float]) -> dict[str, Any]:
    from inspect_ai.log import EvalMetric

    return {name: EvalMetric(name=name, value=value) for name, value in figures.items() if math.isfinite(value)}


def _claims(run: ModelRun) -> list[EvalScore]:
    """Return what the evidence says of claims: their means with their intervals."""
    from inspect_ai.log import EvalScore

    return [
        EvalScore(
            name=f"claim {number}", scorer="claim", metrics=_metrics(one.figures),
            metadata={
                "claim": one.claim, "verdict": one.verdict, "n": one.n, "unit": one.unit, "interval": one.interval,
            },
        )
        for number, one in enumerate(run.claims, 1)
    ]  # fmt: skip
