"""A report in words, and its trials as a table."""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.investigation_display import VERDICTS, figures, guarantee
from interfaces.runs import write_text, writing
from nodes.reasoning.protocol_queries import protocol_of
from profiles.errors import BadInput, SnellenError

if TYPE_CHECKING:
    from interfaces.investigations import Found
    from memory.samples import Sample
    from memory.trials import Trial, TrialTable
    from nodes.reasoning.inquiry import Design, Experiment, Report


def markdown(found: Found) -> str:
    """Write the report for people: the answer, the claims, the experiments, what was not tested, what was corrected."""
    report = found.report
    lines = [f"# {report.query}", "", report.conclusion or "Not answered yet.", ""]
    if report.findings:
        lines += [guarantee(report), ""]
    lines += [line for one in found.corrections for line in (str(one), "")]
    for number, experiment in enumerate(report.experiments, 1):
        lines += list(_experiment(number, experiment))
    if found.after is not None:
        lines += ["## Measured again, the corrected beside the uncorrected", "", guarantee(found.after), ""]
        for number, experiment in enumerate(found.after.experiments, 1 + len(report.experiments)):
            lines += list(_experiment(number, experiment))
    open_ends = [*report.notes, *report.questions]
    if open_ends:
        lines += ["## What was not tested", "", *(f"- {one}" for one in open_ends), ""]
    lines += ["## Again", "", f"    {again(found)}", ""]
    return "\n".join(lines)


def again(found: Found) -> str:
    """Return the command that repeats an investigation: it draws the same pictures."""
    report = found.report
    words = ["snellen", "investigate", report.query]
    words += [word for name in report.models for word in ("--models", name)]
    design = report.experiments[0].design if report.experiments else None
    if design is not None and design.protocol != protocol_of(report.query, report.models):
        words += ["--protocol", design.protocol]
    words += ["--alpha", f"{report.alpha:g}", "--seed", str(report.seed)]
    usual = type(report.budget)().model_dump()
    changed = [f"{name}={value}" for name, value in report.budget.model_dump().items() if value != usual[name]]
    words += ["--budget", ",".join(changed)] if changed else []
    words += ["--pictures", found.pictures] if found.pictures else []
    words += ["--profile", found.profile] if found.profile != "embedded" else []
    return shlex.join(words)


def _experiment(number: int, experiment: Experiment) -> Iterator[str]:
    design = experiment.design
    yield from (f"## Experiment {number}: {design.task}", "", design.purpose, "")
    yield from (f"“{design.question}” {' / '.join(design.choices)}", "")
    yield from ("| answer | pictures | transform |", "|---|---|---|")
    for arm in design.arms:
        yield f"| {arm.answer} | {_call(arm.select)} | {_call(arm.transform)} |"
    yield from ("", "| claim | holds | mean (interval), n |", "|---|---|---|")
    for finding in experiment.findings:
        told = finding.trouble or figures(finding)
        yield f"| {finding.claim.stated(design)} | {'–' if finding.trouble else VERDICTS[finding.verdict]} | {told} |"
    yield from (
        "",
        f"| model | pictures | {design.scored} (95 %) | informedness | abstained |",
        "|---|---|---|---|---|",
    )
    for result in experiment.results:
        low, high = result.interval
        informed = "" if result.informedness is None else f"{result.informedness:.2f}"
        abstained = "" if result.abstention is None else f"{result.abstention:.0%}"
        kind = "as they were" if result.plain else "as asked"
        accuracy = f"{result.average:.2f} ({low:.2f} – {high:.2f})"
        yield f"| {result.model} | {result.n}, {kind} | {accuracy} | {informed} | {abstained} |"
    yield from ("", f"{experiment.images} pictures, {experiment.rejected} rejected; {experiment.stopped}.", "")


def _call(call: Any) -> str:  # noqa: ANN401 - a Call; naming it would import the tools for the help
    said = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items() if value is not None)
    return f"`{call.name}({said})`"


def trial_rows(found: Found, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every trial of an investigation: who was asked what about which picture, and what came of it.

    Experiments with corrected models are counted on from the others.

    Args:
        found: What it found.
        folder: The memory's home.
    """
    begun = 0
    for album, report in found.parts:
        for row in _trial_rows(album, report, folder, found.profile):
            yield row | {"experiment": row["experiment"] + begun}
        begun += len(report.experiments)


def _answer_rows(
    design: Design, samples: Sequence[Sample], report: Report, trials: TrialTable, profile: str
) -> Iterator[dict[str, Any]]:
    """Yield the trials of an experiment in which nothing was chosen from."""
    from nodes.examination import protocols

    protocol = protocols()[design.protocol]
    judge = _right(design.protocol, profile)
    for name, fingerprint in report.fingerprints.items():
        keys = [(sample, key) for sample in samples for key in protocol.keys(design, sample, fingerprint)]
        found = trials.get([key for _, key in keys])
        for sample, key in keys:
            if key not in found:
                continue
            trial, arm = found[key], design.arms[sample.arm]
            counts = {True: ", where it does not count", False: ", where it counts"}
            label = sample.label + (counts["does not count" in key.question] if design.protocol == "pairs" else "")
            yield {
                "round": sample.round, "arm": sample.arm, "model": name, "plain": False, "question": key.question,
                "choices": [], "truth": arm.answer, "said": trial.said[:200], "right": judge(sample, arm.answer, trial),
                "mean": [], "sum": [], "tokens": [], "basis": trial.basis, "text": trial.said,
                "picture": sample.picture, "label": label, "origin": sample.origin,
                "rejected_before": sample.rejected, "trial": key.id, "measured": trial.created,
            }  # fmt: skip


def _right(protocol: str, profile: str) -> Callable[[Sample, str, Trial], bool]:
    """Return what tells whether an answer is right, as far as one can be."""
    if protocol == "freeform":
        from nodes.free_answers import right
        from nodes.reasoning.lexicon import lexicon_of
        from nodes.reasoning.statements import Statements
        from profiles import load_profile

        reader = Statements(lexicon_of(load_profile(profile)))
        return lambda sample, _, trial: right(sample, trial.said, reader)
    from nodes.scoring_pairs import right as scored_rightly

    return lambda _, kind, trial: scored_rightly(kind, trial)


def _trial_rows(album: str, report: Report, folder: Path, profile: str) -> Iterator[dict[str, Any]]:
    from memory.samples import SampleTable
    from memory.trials import TrialTable
    from nodes.trials import chosen, key_of
    from tools.models import Ranking

    samples, trials = SampleTable(folder), TrialTable(folder)
    for number, experiment in enumerate(report.experiments):
        design, of = experiment.design, samples.of(album, number)
        if design.protocol != "choice":
            for row in _answer_rows(design, of, report, trials, profile):
                yield {"experiment": number + 1, **row}
            continue
        for name, fingerprint in report.fingerprints.items():
            for plain in design.conditions:
                keys = {sample: key_of(design, sample, fingerprint, plain=plain) for sample in of}
                found = trials.get(list(keys.values()))
                for sample, key in keys.items():
                    if key not in found:
                        continue
                    trial, arm = found[key], design.arms[sample.arm]
                    ranking, said = Ranking(trial.scores), chosen(trial, design.choices)
                    yield {
                        "experiment": number + 1, "round": sample.round, "arm": sample.arm, "model": name,
                        "plain": plain, "question": key.question, "choices": list(key.choices), "truth": arm.answer,
                        "said": said, "right": said == arm.answer, "mean": list(ranking.means),
                        "sum": list(ranking.sums), "tokens": [list(row) for row in trial.scores],
                        "basis": trial.basis, "text": trial.said, "picture": key.pictures[0], "label": sample.label,
                        "origin": sample.origin, "rejected_before": sample.rejected, "trial": key.id,
                        "measured": trial.created,
                    }  # fmt: skip


def write_trials(found: Found, folder: Path, place: Path) -> Path:
    """Write the trials: as parquet, or as JSON lines, as the name ends.

    Raises:
        BadInput: It ends otherwise.
        SnellenError: The place cannot be written to.
    """
    if place.suffix not in {".parquet", ".jsonl", ".json"}:
        msg = f"--trials {place.name} is neither .parquet nor .jsonl: give the table one of these endings."
        raise BadInput(msg)
    rows = list(trial_rows(found, folder))
    if place.suffix in {".jsonl", ".json"}:
        write_text(place, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
        return place
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        msg = f"Parquet needs the package pyarrow: `pip install 'snellen[tables]'`, or write {place.stem}.jsonl."
        raise SnellenError(msg) from error
    with writing(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.Table.from_pylist(rows), place)
    return place


def write_all(found: Found, folder: Path, place: Path) -> list[Path]:
    """Write everything about an investigation into a folder: page, Markdown, JSON, trials.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    from interfaces import report_page

    write_text(place / "report.html", report_page.render(found, folder))
    write_text(place / "report.md", markdown(found) + "\n")
    write_text(place / "report.json", found.report.model_dump_json(indent=2) + "\n")
    tables = importlib.util.find_spec("pyarrow") is not None
    name = "trials.parquet" if tables else "trials.jsonl"
    written = [place / "report.html", place / "report.md", place / "report.json"]
    if found.corrections:
        told = [one.model_dump(mode="json") for one in found.corrections]
        after = None if found.after is None else found.after.model_dump(mode="json")
        written.append(place / "corrections.json")
        write_text(written[-1], json.dumps({"corrections": told, "after": after}, indent=2) + "\n")
    return [*written, write_trials(found, folder, place / name)]
