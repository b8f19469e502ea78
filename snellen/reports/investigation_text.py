"""A report in words, and its trials as a table."""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.errors import BadInput, SnellenError
from snellen.experiments.findings import sample_size, scored
from snellen.experiments.queries.protocol_queries import SPLIT_WORDS, protocol_of
from snellen.experiments.schema import VERDICTS
from snellen.reports.runs import write_text, writing
from snellen.reports.trial_rows import trial_rows
from snellen.summaries.investigations import figures, guarantee, intervals

if TYPE_CHECKING:
    from snellen.experiments.schema import Arm, Experiment
    from snellen.threads.investigate import InvestigationResult


def markdown(found: InvestigationResult) -> str:
    """Write the report for people: the answer, the claims, the experiments, what was not tested, what was corrected."""
    report = found.report
    lines = [f"# {report.query}", "", found.conclusion, ""]
    if report.findings:
        lines += [guarantee(report), ""]
    lines += [line for one in found.corrections for line in (str(one), "")]
    lines += ["## Models", "", *(f"- {name}{f': {about}' if about else ''}" for name, about in found.models), ""]
    for number, experiment in enumerate(report.experiments, 1):
        lines += list(_experiment(number, experiment, found))
    if found.after is not None:
        lines += ["## Measured again, the corrected beside the uncorrected", "", guarantee(found.after), ""]
        for number, experiment in enumerate(found.after.experiments, 1 + len(report.experiments)):
            lines += list(_experiment(number, experiment, found))
    open_ends = [*report.notes, *report.questions]
    if open_ends:
        lines += ["## What to know before relying on it", "", *(f"- {one}" for one in open_ends), ""]
    lines += ["## Again", "", f"    {again(found)}", ""]
    return "\n".join(lines)


def again(found: InvestigationResult) -> str:
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


def _experiment(number: int, experiment: Experiment, found: InvestigationResult) -> Iterator[str]:
    design = experiment.design
    yield from (f"## Experiment {number}: {design.task}", "", design.purpose, "")
    yield from (f"“{design.question}” {' / '.join(design.choices)}", "")
    yield from ("| answer | pictures | transform |", "|---|---|---|")
    for arm in design.arms:
        yield f"| {arm.answer} | {pictures_in_words(arm, found.source_of(arm.select.name))} | {_call(arm.transform)} |"
    yield from ("", f"| claim | holds | mean ({intervals(experiment.findings)}), n |", "|---|---|---|")
    for finding in experiment.findings:
        told = finding.trouble or figures(finding, design)
        yield f"| {finding.claim.stated(design)} | {'–' if finding.trouble else VERDICTS[finding.verdict]} | {told} |"
    name = scored(experiment.results[0], design).name if experiment.results else design.scored
    yield from (
        "",
        f"| model | n | {name} ({intervals(experiment.results)}) | informedness | abstained |",
        "|---|---|---|---|---|",
    )
    for result in experiment.results:
        shown = scored(result, design)
        low, high = shown.interval
        informed = "" if result.informedness is None else f"{result.informedness:.2f}"
        abstained = "" if result.abstention is None else f"{result.abstention:.0%}"
        kind = "as they were" if result.plain else "as asked"
        accuracy = f"{shown.mean:.2f} ({low:.2f} – {high:.2f})"
        counted = sample_size(result, design).removeprefix("n = ")
        yield f"| {result.model} | {counted}, {kind} | {accuracy} | {informed} | {abstained} |"
    yield ""
    for result in experiment.results:
        yield from not_understood_lines(result.model, result.not_understood)
    ended = experiment.stopped or "under way"
    yield from (f"{experiment.images} pictures, {experiment.rejected} rejected; {ended}.", "")


def not_understood_lines(model: str, quoted: Sequence[str]) -> list[str]:
    """Return Markdown that shows what a model answered where no score could be read; nothing where nothing was."""
    if not quoted:
        return []
    # Code without backticks of its own: what a model wrote forms no Markdown here.
    examples = ", ".join("`` " + (one.replace("`", "'") or "(nothing)") + " ``" for one in quoted)
    return [f"No score could be read in answers of {model} such as {examples}.", ""]


def pictures_in_words(arm: Arm, source: str) -> str:
    """Say which pictures an arm has, and how they came about: those of a world are drawings and no photos.

    Args:
        arm: Of an experiment.
        source: Where the profile's pictures come from: "world", "painter", "folder"; empty where that is not known.
    """
    call, picture = arm.select, "drawing" if source == "world" else "picture"
    what, kind = call.arguments.get("class_name", ""), call.arguments.get("image_type", "photo")
    if call.name == "Pair":
        change = SPLIT_WORDS.get(call.arguments.get("split", ""), "a change")
        kinds = {"identical": f"a {picture} twice", "irrelevant": f"two different {picture}s"}
        return kinds.get(arm.answer, f"a {picture}, and the same under {change}")
    if call.name == "Scene":
        return "a drawn scene of which everything is known"
    shown = "anything" if what == "random" else what
    if source == "world":
        return f"drawn: {shown}" + (f", in the style {kind!r}" if kind != "photo" else "")
    made = {"painter": "painted", "folder": "from the folder"}.get(source, "made")
    return f"{made}: {kind} of {shown}" if source == "painter" else f"{made}: {shown}"


def _call(call: Any) -> str:  # noqa: ANN401 - a Call; naming it would import the tools for the help
    said = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items() if value is not None)
    return f"`{call.name}({said})`"


def write_trials(found: InvestigationResult, folder: Path, place: Path) -> Path:
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


def write_all(found: InvestigationResult, folder: Path, place: Path) -> list[Path]:
    """Write everything about an investigation into a folder: page, Markdown, JSON, trials.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    from snellen.reports import investigation_page

    write_text(place / "report.html", investigation_page.render(found, folder))
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
