"""Files of an investigation: its page, Markdown, JSON and table of trials."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import BadInput, SnellenError
from snellen.reports.investigation_page import render
from snellen.reports.investigation_text import markdown
from snellen.reports.runs import write_text, writing
from snellen.reports.trial_rows import trial_rows

if TYPE_CHECKING:
    from snellen.threads.investigate import InvestigationResult


def write_trials(result: InvestigationResult, folder: Path, place: Path) -> Path:
    """Write the trials: as parquet, or as JSON lines, as the name ends.

    Raises:
        BadInput: It ends otherwise.
        SnellenError: The place cannot be written to.
    """
    if place.suffix not in {".parquet", ".jsonl", ".json"}:
        msg = f"--trials {place.name} is neither .parquet nor .jsonl: give the table one of these endings."
        raise BadInput(msg)
    rows = list(trial_rows(result, folder))
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


def write_all(result: InvestigationResult, folder: Path, place: Path) -> list[Path]:
    """Write everything about an investigation into a folder: page, Markdown, JSON, trials.

    Raises:
        SnellenError: The folder cannot be written to.
    """
    write_text(place / "report.html", render(result, folder))
    write_text(place / "report.md", markdown(result) + "\n")
    write_text(place / "report.json", result.report.model_dump_json(indent=2) + "\n")
    tables = importlib.util.find_spec("pyarrow") is not None
    name = "trials.parquet" if tables else "trials.jsonl"
    written = [place / "report.html", place / "report.md", place / "report.json"]
    if result.corrections:
        corrections = [one.model_dump(mode="json") for one in result.corrections]
        after = None if result.after is None else result.after.model_dump(mode="json")
        written.append(place / "corrections.json")
        write_text(written[-1], json.dumps({"corrections": corrections, "after": after}, indent=2) + "\n")
    return [*written, write_trials(result, folder, place / name)]
