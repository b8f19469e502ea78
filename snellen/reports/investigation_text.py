"""The report of an investigation as Markdown, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from snellen.experiments.findings import hundredths, sample_size, scored
from snellen.experiments.verdicts import VERDICTS
from snellen.reasoning.queries.echo import SPLIT_WORDS
from snellen.summaries.investigations import figures, guarantee, intervals, pattern_in_words

if TYPE_CHECKING:
    from snellen.experiments.design import Arm
    from snellen.experiments.report import Experiment
    from snellen.threads.investigate import InvestigationResult


def markdown(result: InvestigationResult) -> str:
    """Write the report for people: the answer, the claims, the experiments, what was not tested, what was corrected."""
    report = result.report
    lines = [f"# {report.query}", ""]
    lines += [f"Understood: {report.understood}", ""] if report.understood else []
    lines += [result.conclusion, ""]
    if report.findings:
        lines += [guarantee(report), ""]
    lines += [line for one in result.corrections for line in (str(one), "")]
    lines += ["## Models", "", *(f"- {name}{f': {about}' if about else ''}" for name, about in result.models), ""]
    if report.patterns:
        lines += ["## Patterns of failure", "", *(f"- {pattern_in_words(one)}" for one in report.patterns), ""]
    for number, experiment in enumerate(report.experiments, 1):
        lines += list(_experiment(number, experiment, result))
    if result.after is not None:
        lines += ["## Measured again: corrected against original models", "", guarantee(result.after), ""]
        for number, experiment in enumerate(result.after.experiments, 1 + len(report.experiments)):
            lines += list(_experiment(number, experiment, result))
    open_ends = report.open_ends
    if open_ends:
        lines += ["## Before you rely on this", "", *(f"- {one}" for one in open_ends), ""]
    lines += ["## Reproduce", "", f"    {again(result)}", ""]
    return "\n".join(lines)


def again(result: InvestigationResult) -> str:
    """Return the command that repeats an investigation: it draws the same pictures."""
    report = result.report
    words = ["snellen", "investigate", report.query]
    words += [word for name in report.models for word in ("--models", name)]
    design = report.experiments[0].design if report.experiments else None
    if design is not None and design.protocol != "choice":
        words += ["--protocol", design.protocol]
    words += ["--alpha", f"{report.alpha:g}", "--seed", str(report.seed)]
    usual = type(report.budget)().model_dump()
    changed = [f"{name}={value}" for name, value in report.budget.model_dump().items() if value != usual[name]]
    words += ["--budget", ",".join(changed)] if changed else []
    words += ["--pictures", result.pictures] if result.pictures else []
    words += ["--profile", result.profile] if result.profile != "embedded" else []
    return shlex.join(words)


def _experiment(number: int, experiment: Experiment, result: InvestigationResult) -> Iterator[str]:
    design = experiment.design
    yield from (f"## Experiment {number}: {design.task}", "", design.purpose, "")
    yield from (f"“{design.question}” {design.choices_in_words}", "")
    yield from ("| answer | pictures | transform |", "|---|---|---|")
    for arm in design.arms:
        yield f"| {arm.answer} | {pictures_in_words(arm, result.source_of(arm.select.name))} | {_call(arm.transform)} |"
    yield from ("", f"| claim | holds | mean ({intervals(experiment.findings)}), n |", "|---|---|---|")
    for finding in experiment.findings:
        text = finding.trouble or figures(finding, design)
        yield f"| {finding.claim.stated(design)} | {'–' if finding.trouble else VERDICTS[finding.verdict]} | {text} |"
    name = scored(experiment.results[0], design).name if experiment.results else design.scored
    yield from (
        "",
        f"| model | n | {name} ({intervals(experiment.results)}) | informedness | abstained |",
        "|---|---|---|---|---|",
    )
    for row in experiment.results:
        shown = scored(row, design)
        low, high = shown.interval
        informed = "" if row.informedness is None else f"{row.informedness:.2f}"
        abstained = "" if row.abstention is None else f"{row.abstention:.0%}"
        kind = design.against or "unchanged" if row.plain else "as asked"
        accuracy = f"{hundredths(shown.mean)} ({hundredths(low)} – {hundredths(high)})"
        counted = sample_size(row, design).removeprefix("n = ")
        model = f"{row.model}, {row.task}" if row.task else row.model
        yield f"| {model} | {counted}, {kind} | {accuracy} | {informed} | {abstained} |"
    yield ""
    for row in experiment.results:
        missing = "Not every word was read" if design.protocol == "freeform" else "No score could be read"
        yield from not_understood_lines(row.model, row.not_understood, missing)
    ended = experiment.stopped or "under way"
    yield from (f"{experiment.images} pictures, {experiment.rejected} rejected; {ended}.", "")


def not_understood_lines(model: str, quoted: Sequence[str], missing: str = "No score could be read") -> list[str]:
    """Return Markdown that shows what a model answered where something is missing; nothing where nothing is."""
    if not quoted:
        return []
    # Code without backticks of its own: what a model wrote forms no Markdown here.
    examples = ", ".join("`` " + (one.replace("`", "'") or "(nothing)") + " ``" for one in quoted)
    return [f"{missing} in answers of {model} such as {examples}.", ""]


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
        return "a drawn scene with a known scene graph"
    shown = "anything" if what == "random" else what
    if source == "world":
        return f"drawn: {shown}" + (f", in the style {kind!r}" if kind != "photo" else "")
    made = {"painter": "painted", "folder": "from the folder"}.get(source, "made")
    return f"{made}: {kind} of {shown}" if source == "painter" else f"{made}: {shown}"


def _call(call: Any) -> str:  # noqa: ANN401 - a Call; naming it would import the tools for the help
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items() if value is not None)
    return f"`{call.name}({arguments})`"
