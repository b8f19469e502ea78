"""The tables of ``docs/results/README.md``, and a plot of what learning is worth, out of the reports of the runs.

    python -m benchmarks.results docs/results

Reads ``FOLDER/*/report.json`` (families, offline and online) and ``FOLDER/ablations/*/report.json`` (table 4 of the
CLOVA paper: the same run with one part left out), and writes the tables into ``FOLDER/README.md`` between its marks
``<!-- families -->``, ``<!-- online -->``, ``<!-- ablations -->`` and the next ``<!-- end -->``; the plot becomes
``FOLDER/ablations.png``. ``FOLDER/serve/report.json`` (``benchmarks.serve``) and ``FOLDER/threats/report.json``
(``benchmarks.threats``) are told at ``<!-- load -->`` and ``<!-- threats -->``, ``FOLDER/programs/report.json``
(``benchmarks.programs``) at ``<!-- programs -->``, ``FOLDER/confidence/report.json`` (``benchmarks.confidence``) at
``<!-- confidence -->``.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Report = dict[str, Any]
Column = tuple[str, Callable[[Report], str]]

FAMILIES = ("vqa", "statement", "tag", "edit")
PLOT = "\n![The gain of each ablation with its interval](ablations.png)\n"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    runs, ablations = reports(folder), reports(folder / "ablations")
    page = folder / "README.md"
    text = page.read_text(encoding="utf-8")
    for mark, columns, rows in (
        ("families", LEARNING, [one for one in runs if one["setting"] == "offline"]),
        ("online", STREAM, [one for one in runs if one["setting"] == "online"]),
        ("ablations", ABLATION, ablations),
        ("load", LOAD, load(read(folder / "serve" / "report.json"))),
        ("threats", THREATS, read(folder / "threats" / "report.json").get("threats", [])),
        ("programs", PROGRAMS, programs(read(folder / "programs" / "report.json"))),
        ("confidence", CONFIDENCE, confidences(read(folder / "confidence" / "report.json"))),
    ):
        text = put(text, mark, table(columns, rows) + (PLOT if mark == "ablations" and rows else ""))
    page.write_text(text, encoding="utf-8")
    if ablations:
        plot(ablations, folder / "ablations.png")


def reports(folder: Path) -> list[Report]:
    """Read the reports of learning below a folder: families in their order, the whole run before its ablations."""
    found = [one for path in sorted(folder.glob("*/report.json")) if "family" in (one := read(path))]
    return sorted(found, key=lambda one: (FAMILIES.index(one["family"]), one["without"]))


def read(path: Path) -> Report:
    """Read a report; an empty one where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def load(report: Report) -> list[Report]:
    """Return a row for each kind of request that a server was loaded with, and one for the probes beside them."""
    if not report:
        return []
    kinds = report["latency_seconds"] | {"health": report["health_seconds"]}
    return [
        {"kind": LOADED[kind], "failed": sum(report["errors"].get(kind, {}).values())} | kinds[kind] for kind in LOADED
    ]


def programs(report: Report) -> list[Report]:
    """Return a row for the programs with each sight, and for each part of the composed scenes."""
    composed = report.get("composed", {})
    named = {
        "programs by hand, perfect sight": report.get("perfect"),
        "programs by hand, embedded sight": report.get("embedded"),
        "relations and what is beside, composed scenes": composed.get("relations"),
        "existence, composed scenes": composed.get("existence"),
    }
    return [{"asked": name} | part for name, part in named.items() if part]


def confidences(report: Report) -> list[Report]:
    """Return a row for each set of answers of which the confidence was measured."""
    named = {"drawn tasks, test split": report.get("test"), "instructions written blind": report.get("corpus")}
    return [{"asked": name} | part for name, part in named.items() if part]


def figure(report: Report, key: str) -> str:
    """An accuracy with its interval."""
    low, high = report[key]["interval"]
    return f"{report[key]['accuracy']:.3f} ({low:.2f} – {high:.2f})"


def gained(report: Report, key: str) -> str:
    """A paired gain in points with its interval."""
    low, high = report["gains"][key]["interval"]
    return f"{100 * report['gains'][key]['gain']:+.1f} ({100 * low:+.1f} – {100 * high:+.1f})"


def left_out(report: Report) -> str:
    """What the run did without."""
    return ", ".join(report["without"]) or "nothing: the whole loop"


LEARNING: Sequence[Column] = (
    ("family", lambda one: f"`{one['family']}`"),
    ("before", lambda one: figure(one, "before")),
    ("after, programs alone", lambda one: figure(one, "after_programs")),
    ("after, programs and tools", lambda one: figure(one, "after_tools")),
    ("gain, points", lambda one: f"**{gained(one, 'all')}**"),
    ("known concepts, before", lambda one: figure(one, "known_before")),
    ("change, points", lambda one: gained(one, "known")),
    ("lessons", lambda one: str(one["train"])),
    ("of them wrong / mended", lambda one: f"{one['lessons']['wrong']} / {one['lessons']['mended']}"),
    ("prompts kept / discarded", lambda one: f"{one['prompts_kept']} / {one['prompts_discarded']}"),
    ("minutes", lambda one: f"{one['seconds'] / 60:.0f}"),
)
STREAM: Sequence[Column] = (
    ("family", lambda one: f"`{one['family']}`"),
    ("tasks", lambda one: str(one["n"])),
    ("without learning", lambda one: figure(one, "before")),
    ("learning programs", lambda one: figure(one, "after_programs")),
    ("learning programs and tools", lambda one: figure(one, "after_tools")),
    ("gain, points", lambda one: f"**{gained(one, 'all')}**"),
    ("known concepts, change", lambda one: gained(one, "known")),
)
ABLATION: Sequence[Column] = (
    ("left out", left_out),
    ("before", lambda one: figure(one, "before")),
    ("after", lambda one: figure(one, "after_tools")),
    ("gain, points", lambda one: gained(one, "all")),
    ("known, points", lambda one: gained(one, "known")),
    ("mended", lambda one: f"{one['lessons']['mended']} of {one['lessons']['wrong']}"),
    ("prompts kept / discarded", lambda one: f"{one['prompts_kept']} / {one['prompts_discarded']}"),
)
LOADED = {
    "ask": "a question about a picture",
    "why": "“why?”",
    "page": "the page",
    "threads": "the list of threads",
    "picture": "a picture",
    "upload": "a picture sent",
    "health": "`/health`",
}
LOAD: Sequence[Column] = (
    ("", lambda one: one["kind"]),
    ("requests", lambda one: f"{one['count']:,}"),
    ("failed", lambda one: str(one["failed"])),
    ("p50, s", lambda one: f"{one['p50']:.3f}"),
    ("p95, s", lambda one: f"{one['p95']:.3f}"),
    ("most, s", lambda one: f"{one['most']:.3f}"),
)
PROGRAMS: Sequence[Column] = (
    ("", lambda one: one["asked"]),
    ("right", lambda one: f"{one['right']} of {one['n']}"),
    ("share", lambda one: f"{one['right'] / one['n']:.3f}"),
)
CONFIDENCE: Sequence[Column] = (
    ("", lambda one: one["asked"]),
    ("answers", lambda one: f"{one['answered']} of {one['n']}"),
    ("right", lambda one: f"{one['right']:.3f}"),
    ("mean confidence", lambda one: f"{one['confidence']:.3f}"),
    ("calibration error", lambda one: f"**{one['ece']:.3f}**"),
    ("if calibrated", lambda one: f"{one['interval'][0]:.3f} – {one['interval'][1]:.3f}"),
    ("unsure, of them right", lambda one: f"{one['unsure']['n']}, {one['unsure']['right']}"),
)
THREATS: Sequence[Column] = (
    ("threat", lambda one: one["threat"]),
    ("tests", lambda one: str(len(one["tests"]))),
    ("cases", lambda one: str(one["cases"])),
    ("held", lambda one: str(one["held"])),
)


def table(columns: Sequence[Column], rows: Iterable[Report]) -> str:
    """A Markdown table; a sentence where there is nothing to show."""
    lines = [f"| {' | '.join(cell(one) for _, cell in columns)} |" for one in rows]
    if not lines:
        return "(not run yet)\n"
    heads = f"| {' | '.join(name for name, _ in columns)} |"
    return "\n".join([heads, "|---" * len(columns) + "|", *lines]) + "\n"


def put(text: str, mark: str, content: str) -> str:
    """Replace what stands between a mark and the next end."""
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        msg = f"The page has no place for {mark!r}: <!-- {mark} --> … <!-- end -->."
        raise SystemExit(msg)
    return pattern.sub(lambda found: found[1] + content + found[2], text)


def plot(ablations: Sequence[Report], path: Path) -> None:
    """Draw the gain of each ablation with its interval."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = drawing.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    gains = [one["gains"]["all"] for one in ablations]
    points = [100 * one["gain"] for one in gains]
    errors = [
        [100 * (one["gain"] - one["interval"][0]) for one in gains],
        [100 * (one["interval"][1] - one["gain"]) for one in gains],
    ]
    colours = ["#9aa5b1" if one["without"] else "#2f6db5" for one in ablations]
    axes.barh([left_out(one) for one in ablations], points, xerr=errors, color=colours, capsize=3, ecolor="#444")
    axes.invert_yaxis()
    axes.axvline(0, color="#444", linewidth=0.8)
    axes.set_xlabel("gain by learning, points (95 % interval, paired)")
    first = ablations[0]
    axes.set_title(f"left out, {first['family']}, {first['share']} concepts (seed {first['seed']})", fontsize=10)
    drawing.savefig(path, dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    main()
