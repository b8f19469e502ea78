"""An investigation as something to export: its samples, trials, findings and results, and a run for each model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput, SnellenError
from snellen.experiments.drawn_answers import asked
from snellen.experiments.findings import interval_name
from snellen.exports.schema import LICENCE, AskedQuestion, ExportSource, ExportTable, Kind, ModelRun, Stated, slug, span
from snellen.reports.trial_rows import rows_of_experiment, trial_rows

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Experiment, Pattern, Report, Result
    from snellen.memory.samples import Sample
    from snellen.threads.investigate import InvestigationResult

_TRIALS: Final[Mapping[str, Kind]] = {
    "sample": "text", "experiment": "whole", "round": "whole", "arm": "whole", "model": "text", "question": "text",
    "choices": "texts", "condition": "text", "backward": "flag", "plain": "flag", "truth": "text", "target": "text",
    "said": "text", "right": "flag", "text": "text", "mean": "numbers", "sum": "numbers", "tokens": "number lists",
    "basis": "text", "pictures": "texts", "label": "text", "origin": "text", "rejected_before": "whole",
    "trial": "text", "measured": "text",
}  # fmt: skip
_SAMPLES: Final[Mapping[str, Kind]] = {
    "sample": "text", "experiment": "whole", "round": "whole", "arm": "whole", "protocol": "text", "task": "text",
    "question": "text", "choices": "texts", "answer": "text", "label": "text", "origin": "text", "picture": "picture",
    "original": "picture", "details": "text",
}  # fmt: skip
_FINDINGS: Final[Mapping[str, Kind]] = {
    "experiment": "whole", "claim": "text", "kind": "text", "measure": "text", "model": "text", "other": "text",
    "threshold": "number", "verdict": "text", "leaning": "text", "mean": "number", "low": "number", "high": "number",
    "interval": "text", "n": "whole", "unit": "text", "trouble": "text",
}  # fmt: skip
_ANSWERS: Final[Mapping[str, Kind]] = {
    "query": "text", "about": "text", "answer": "text", "property": "text", "holds": "flag", "sentence": "text",
}  # fmt: skip
_PATTERNS: Final[Mapping[str, Kind]] = {
    "experiment": "whole", "kind": "text", "model": "text", "plain": "flag", "said": "text", "right": "text",
    "change": "text", "sentence": "text", "times": "whole", "n": "whole", "unit": "text", "mean": "number",
    "bar": "number", "low": "number", "high": "number", "interval": "text", "pictures": "texts",
}  # fmt: skip
_RESULTS: Final[Mapping[str, Kind]] = {
    "experiment": "whole", "model": "text", "plain": "flag", "n": "whole", "unit": "text", "scored": "text",
    "average": "number", "low": "number", "high": "number", "interval": "text", "informedness": "number",
    "abstention": "number", "invalid": "number",
}  # fmt: skip
_FACTS: Final = ("sample", "round", "arm", "truth", "label", "origin", "rejected_before", "condition", "basis")
"""Columns of a trial that go with its sample."""
_TASK: Final = 40
"""Characters of a skill in the name of a task."""


def investigation(found: InvestigationResult, folder: Path, *, ended: bool) -> ExportSource:
    """Return an investigation as something to export.

    Args:
        found: What it found so far.
        folder: The memory's home.
        ended: Whether it has come to its end.

    Raises:
        BadInput: Nothing was measured yet.
    """
    from snellen.memory.artifacts import home_pictures

    name, report = found.investigation, found.report
    if not any(one.rounds for _, each in found.parts for one in each.experiments):
        msg = f"The investigation {name!r} has measured nothing yet: `snellen resume {name}` takes it up."
        raise BadInput(msg)
    unfinished = f"The investigation is not finished: this is what was measured so far (`snellen resume {name}`)."
    return ExportSource(
        name=name,
        title=report.query,
        about=f"An investigation by Snellen of {', '.join(report.models)}.{'' if found.pictures else f' {LICENCE}'}",
        tables=_tables(found, folder),
        picture=partial(_picture, home_pictures(folder)),
        runs=list(_runs(found, folder)),
        notes=[*([] if ended else [unfinished]), *report.notes],
    )


def _picture(store: Any, name: str) -> bytes:  # noqa: ANN401 - an ArtifactStore; naming it would import the memory
    try:
        content: bytes = store.read(name)
    except SnellenError as error:
        msg = f"{str(error).partition(';')[0].rstrip('.')}; export with --no-pictures, or repeat the investigation."
        raise SnellenError(msg) from error
    return content


def _tables(result: InvestigationResult, folder: Path) -> list[ExportTable]:
    return [
        ExportTable(
            "samples", _SAMPLES, lambda: _sample_rows(result, folder),
            "the pictures of each experiment with what is asked about them; `original` is the picture before it was "
            "changed, of a pair the first",
        ),
        ExportTable(
            "trials", _TRIALS, lambda: trial_rows(result, folder),
            "what each model said of each sample, with the log-probabilities of the choices' tokens",
        ),
        ExportTable(
            "findings", _FINDINGS, lambda: _finding_rows(result, folder),
            "each claim with its verdict and an interval (`interval`); `n` counts independent units (`unit`)",
        ),
        ExportTable(
            "results", _RESULTS, lambda: _result_rows(result, folder),
            "how each model did in each experiment, an interval (`interval`); `n` counts independent units (`unit`)",
        ),
        ExportTable(
            "answers", _ANSWERS, lambda: _answer_rows(result),
            "for each model the `answer` to the query as it was asked (yes, no, undecided; none where its wording does "
            "not tell), and whether the `property` that was examined `holds`",
        ),
        ExportTable(
            "patterns", _PATTERNS, lambda: _pattern_rows(result),
            "each pattern of failure in a `sentence`: the `mean` is proved to be above the `bar`; `pictures` show it",
        ),
    ]  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """An experiment of an investigation, and where its measurements are.

    Attributes:
        found: What the investigation found.
        folder: The memory's home.
        number: Of the experiment, from 1; those with corrected models are counted on from the others.
        sample_set: The name under which its pictures are kept.
        report: That it is in.
        place: Its place there, from 0.
    """

    found: InvestigationResult
    folder: Path
    number: int
    sample_set: str
    report: Report
    place: int

    @property
    def experiment(self) -> Experiment:
        """It."""
        return self.report.experiments[self.place]

    @property
    def design(self) -> Design:
        """The design of the experiment."""
        return self.experiment.design

    @cached_property
    def samples(self) -> list[Sample]:
        """Its pictures."""
        from snellen.memory.samples import SampleTable

        return SampleTable(self.folder).of(self.sample_set, self.place)

    @cached_property
    def free_scores(self) -> dict[str, dict[str, dict[str, bool | float]]]:
        """Truthfulness and helpfulness of each free answer of each model, by its sample."""
        from snellen.experiments.protocols.free_answers import FreeAnswers
        from snellen.runtime.resources import examining

        examination = examining(self.found.profile, self.folder, self.found.pictures).examiner()
        evaluated = FreeAnswers().evaluated(examination, self.design, self.samples, self.report.fingerprints)
        # Who says nothing tells no truth and is of no help, as in the figures.
        return {
            model: {
                f"{sample.round}/{sample.arm}": {"truth": one.tscore.value or 0.0, "help": one.hscore.value or 0.0}
                for sample, one in scores.items()
            }
            for model, scores in evaluated.scores.items()
        }


def _parts(result: InvestigationResult, folder: Path) -> Iterator[_Part]:
    begun = 1
    for sample_set, report in result.parts:
        for place in range(len(report.experiments)):
            yield _Part(result, folder, begun + place, sample_set, report, place)
        begun += len(report.experiments)


def _sample_rows(result: InvestigationResult, folder: Path) -> Iterator[dict[str, Any]]:
    for part in _parts(result, folder):
        design = part.design
        for sample in part.samples:
            changed = design.protocol == "pairs" or sample.plain != sample.picture
            yield {
                "sample": f"{part.number}/{sample.round}/{sample.arm}", "experiment": part.number,
                "round": sample.round, "arm": sample.arm, "protocol": design.protocol, "task": design.task,
                **_question(design, sample),
                "choices": list(asked(design, sample).choices) if design.protocol == "choice" else [],
                "label": sample.label, "origin": sample.origin, "picture": sample.picture,
                "original": sample.plain if changed else None, "details": sample.details,
            }  # fmt: skip


def _question(design: Design, sample: Sample) -> dict[str, str]:
    """Return what is asked about a sample, and the right answer; of a pair its kind, which says all right scores."""
    if design.protocol == "freeform":
        details = json.loads(sample.details)
        return {"question": str(details["question"]), "answer": str(details["answer"])}
    put = asked(design, sample)
    return {"question": put.question, "answer": put.answer}


def _finding_rows(result: InvestigationResult, folder: Path) -> Iterator[dict[str, Any]]:
    for part in _parts(result, folder):
        for one in part.experiment.findings:
            claim = one.claim
            yield {
                "experiment": part.number, "claim": claim.stated(part.design), "kind": claim.kind,
                "measure": claim.measure, "model": claim.model, "other": claim.other, "threshold": claim.threshold,
                "share": claim.share, "verdict": one.verdict, "leaning": one.leaning,
                "mean": one.mean if one.n else None,
                "low": one.interval[0], "high": one.interval[1], "interval": interval_name(one), "n": one.n,
                "unit": one.unit, "trouble": one.trouble,
            }  # fmt: skip


def _answer_rows(result: InvestigationResult) -> Iterator[dict[str, Any]]:
    for _, report in result.parts:
        for one in report.answers:
            yield {"query": report.query, **one.model_dump()}


def _pattern_rows(result: InvestigationResult) -> Iterator[dict[str, Any]]:
    for one in result.report.patterns:
        low, high = one.interval
        shown = {"low": low, "high": high, "interval": interval_name(one)}
        yield one.model_dump() | shown | {"pictures": [each.picture for each in one.examples]}


def _result_rows(result: InvestigationResult, folder: Path) -> Iterator[dict[str, Any]]:
    for part in _parts(result, folder):
        for one in part.experiment.results:
            yield {
                "experiment": part.number, "model": one.model, "plain": one.plain, "task": one.task, "n": one.n,
                "unit": one.unit, "scored": part.design.scored, "average": one.average, "low": one.interval[0],
                "high": one.interval[1], "interval": interval_name(one), "informedness": one.informedness,
                "abstention": one.abstention, "invalid": one.invalid,
            }  # fmt: skip


def _runs(result: InvestigationResult, folder: Path) -> Iterator[ModelRun]:
    for part in _parts(result, folder):
        for model, plain in product(part.report.fingerprints, part.design.conditions):
            yield _run(part, model, plain=plain)


def _run(part: _Part, model: str, *, plain: bool) -> ModelRun:
    """Return what a model did in an experiment: with its pictures, or with those before they were changed."""
    design, experiment, report = part.design, part.experiment, part.report
    task = f"{design.skill}, {design.plain_condition}" if plain else design.task
    name = f"{part.number}-before" if plain else str(part.number)
    settings = {
        "investigation": part.found.investigation, "experiment": part.number, "protocol": design.protocol,
        "alpha": report.alpha, "seed": report.seed_of(part.place), "difficulty": design.difficulty,
    }  # fmt: skip
    facts = {
        "query": report.query, "conclusion": report.conclusion,
        "answers": [one.model_dump() for one in report.answers if model in one.about.split(" and ")],
        "patterns": [one.sentence for one in _patterns(part, model, plain=plain)],
        "interpretation": experiment.interpretation,
        "fingerprint": report.fingerprints[model], "profile": part.found.profile, "stopped": experiment.stopped,
        "rejected": experiment.rejected,
    }  # fmt: skip
    result = _result(experiment, model, plain=plain)
    if result is not None:
        facts |= {"interval": interval_name(result), "n": result.n, "unit": result.unit}
    return ModelRun(
        name=f"{part.number:02}-{slug(model)}{'-before' if plain else ''}",
        task=f"{name}-{slug(design.skill, _TASK)}",
        about=f"Experiment {part.number}: {task}. {design.purpose} {report.query}",
        model=model,
        data=f"{part.found.investigation}, experiment {part.number}",
        asked=partial(_asked, part, model, plain=plain),
        figures={} if result is None else _measured(design.protocol, result),
        claims=_claims(experiment, model, plain=plain),
        whole=bool(experiment.stopped),
        settings=settings,
        facts=facts,
    )


def _patterns(part: _Part, model: str, *, plain: bool) -> list[Pattern]:
    """Return how a model fails in an experiment under one condition."""
    about = (part.number, model, plain)
    return [one for one in part.report.patterns if (one.experiment, one.model, one.plain) == about]


def _claims(experiment: Experiment, model: str, *, plain: bool) -> list[Stated]:
    """Return what is known of the claims about a model under one condition."""
    return [
        Stated(
            one.claim.stated(experiment.design),
            one.verdict,
            span("mean", one.mean, one.interval),
            interval_name(one),
            one.n,
            one.unit,
        )
        for one in experiment.findings
        if model in {one.claim.model, one.claim.other} and one.n and not one.trouble
        if (one.claim.kind == "plain") == plain
    ]


def _result(experiment: Experiment, model: str, *, plain: bool) -> Result | None:
    """Return what a model did under one condition, where that was measured, and in one task."""
    measured = (one for one in experiment.results if (one.model, one.plain) == (model, plain) and not one.task)
    return next(measured, None)


def _measured(protocol: str, one: Result) -> dict[str, dict[str, float]]:
    if protocol == "choice":
        extra = {"informedness": one.informedness, "abstention": one.abstention, "invalid": one.invalid}
        known = {name: value for name, value in extra.items() if value is not None}
        by_class = {f"accuracy of {name}": value for name, value in one.by_class.items()}
        return {"choice": span("accuracy", one.average, one.interval) | known | by_class}
    if protocol == "freeform":
        silent = {} if one.abstention is None else {"nothing_read": one.abstention}
        kinds = {f"mean of {name}": value for name, value in one.by_class.items() if name != "help"}
        helped = span("mean", one.by_class.get("help"))
        return {"truth": span("mean", one.average, one.interval) | silent | kinds, "help": helped}
    others = {name: value for name, value in one.by_class.items() if name != "order"}
    return {"score": span("right_order", one.average, one.interval) | others | {"invalid": one.invalid}}


def _asked(part: _Part, model: str, *, plain: bool) -> Iterator[AskedQuestion]:
    """Yield the trials of one model in an experiment under one condition."""
    alone = part.report.model_copy(update={"fingerprints": {model: part.report.fingerprints[model]}})
    protocol = part.design.protocol
    for row in rows_of_experiment(part.sample_set, alone, part.place, part.folder, part.found.profile):
        if row["plain"] != plain:
            continue
        ways = [row["condition"], "backward" if row["backward"] else "forward"] if protocol == "pairs" else []
        likelihoods = {"log-probabilities": _likelihoods(row)} if row["choices"] else {}
        yield AskedQuestion(
            id="-".join([row["sample"].replace("/", "-"), *ways]),
            pictures=row["pictures"],
            question=row["question"],
            choices=row["choices"],
            target=row["target"],
            said=(row["said"] or "") if protocol == "choice" else row["text"],
            scores=part.free_scores[model].get(row["sample"], {}) if protocol == "freeform" else _scores(protocol, row),
            about={name: row[name] for name in _FACTS if row[name] != ""}
            | {"sample": f"{part.number}/{row['sample']}"}
            | likelihoods,
            measured=row["measured"],
            trial=row["trial"],
        )


def _likelihoods(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the log-probabilities of each choice: the mean of its tokens, their sum, and each."""
    numbers = zip(row["choices"], row["mean"], row["sum"], row["tokens"], strict=True)
    return {choice: {"mean": mean, "sum": total, "tokens": tokens} for choice, mean, total, tokens in numbers}


def _scores(protocol: str, row: Mapping[str, Any]) -> dict[str, bool | float]:
    if protocol == "choice":
        return {"choice": row["right"]}
    from snellen.scoring.judge_replies import parsed_score

    score = parsed_score(row["text"])
    return {"right": row["right"], **({} if score is None else {"score": score})}
