"""The page of ``benchmarks.programs``: tables by kind, and every failure with its tool and cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results import table

Report = Mapping[str, Any]

_HEAD = """# Programs by hand, with perfect and embedded sight

```
python -m benchmarks.programs --json --out docs/results/programs
```

For each of {instructions} instructions over six scenes of known things a program was written by hand that means what
it says (`tests/tools/reference_programs`); for {refused} of them no program is right, and they are to be refused. With
perfect sight a wrong answer is the program's fault, with the embedded models it is sight's. Answers are scored as the
corpus of the instructions scores them. Steps at fault are found by giving one step after the other what perfect sight
sees. Rules and thresholds of tools were chosen on other scenes, of seeds of their own.
"""


def write_page(report: Report, path: Path) -> None:
    """Write a report as a page of Markdown."""
    path.write_text("\n".join(_page(report)), encoding="utf-8")


def _page(report: Report) -> Iterator[str]:
    yield _HEAD.format(instructions=report["instructions"], refused=len(report["refused"]))
    if "weights" in report:
        marks = ", ".join(f"{key} `{digest}`" for key, digest in report["weights"].items())
        yield f"Measured on {report['measured']} with the weights {marks}.\nAfter a training the command renews them.\n"
    sights = [name for name in ("perfect", "embedded") if name in report]
    yield "## By kind of instruction\n"
    yield table([("kind", _kind), *((f"{name} sight", _share(name)) for name in sights)], _kinds(report, sights))
    for name in sights:
        if report[name]["failures"]:
            yield f"## Wrong with {name} sight\n"
            yield table(_FAILURES, list(map(_failure, report[name]["failures"])))
    if "composed" in report:
        yield from _composed(report["composed"])
    yield "## To be refused\n"
    yield "\n".join(f"- {name}: {reason}" for name, reason in report["refused"].items()) + "\n"


def _composed(part: Report) -> Iterator[str]:
    yield "## Composed scenes of known things\n"
    yield (
        f"{part['scenes']} scenes (seed {part['seed']}), flat and clear, of one to six things, asked through\n"
        "LOC, THINGS and the relations by boxes. The right answers are those of the drawn scenes. Intervals are 95 %\n"
        "(Wilson).\n"
    )
    names = [*part["kinds"], "relations", "existence"]
    rows = [{"kind": name, **part["kinds"].get(name, {}), **part.get(name, {})} for name in dict.fromkeys(names)]
    yield table([("question", _kind), ("right", _right), ("share", _interval)], rows)
    if part["failures"]:
        yield "The wrong ones:\n"
        columns = [("question", _kind), ("right answer", lambda one: one["right"]), *_FAILURES[2:]]
        yield table(columns, list(map(_failure, part["failures"])))


def _kinds(report: Report, sights: Sequence[str]) -> list[dict[str, Any]]:
    kinds = report[sights[0]]["kinds"]
    rows = [{"kind": kind} | {name: report[name]["kinds"][kind] for name in sights} for kind in kinds]
    return [*rows, {"kind": "**all**"} | {name: report[name] for name in sights}]


def _share(sight: str) -> Any:  # noqa: ANN401 - a column's function
    return lambda one: f"{one[sight]['right']} of {one[sight]['n']}"


def _kind(one: Report) -> str:
    return str(one["kind"])


def _right(one: Report) -> str:
    return f"{one['right']} of {one['n']}"


def _interval(one: Report) -> str:
    low, high = one.get("interval", ("", ""))
    share = f"{one['right'] / one['n']:.3f}" if one["n"] else ""
    return f"**{share}** ({low:.2f} – {high:.2f})" if "interval" in one else share


def _failure(one: Mapping[str, Any]) -> dict[str, Any]:
    faults = [f"{fault['tool']} {fault['cause']} (`{fault['source']}`)" for fault in one["faults"]]
    return {**one, "causes": "; ".join(faults) or "the program, or the rule of a tool that sees nothing"}


_FAILURES = [
    ("id", lambda one: one["id"]),
    ("instruction", lambda one: one["says"]),
    ("answer", lambda one: one["answer"] or "nothing"),
    ("at fault", lambda one: one["causes"].replace("|", "/")),
]
