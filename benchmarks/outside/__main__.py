"""Examination of the examiner: queries about planted weaknesses, with a truth that no examiner has a part in.

    python -m benchmarks.outside --folder out/outside --truth-only     # what the archive has not, up to hours
    python -m benchmarks.outside --folder out/outside --json           # so does this one
    python -m benchmarks.outside --folder out/outside --part 1 2       # one half of it, beside the other
    python -m benchmarks.outside --folder out/outside --ways ours      # Snellen alone
    python -m benchmarks.outside --file benchmarks/outside/blind_queries.jsonl    # worded by who knew no reader

What is true is measured first, with `--truth` pictures for each condition that a query is about: classes, wordings,
pictures and changes are the benchmark's own (`conditions`). A query counts if its truth is settled: 2.6 standard errors
from its bar, in every way of asking, and as the plan of the plantings says, where it says anything. Of the answer, yes
or no, that is more frequent, evenly fewer are asked. Then, with pictures of their own,

    ours    Snellen: looks after every few pictures, and stops when the evidence suffices
    fixed   the experiments and claims that Snellen plans, with as many pictures as a power analysis wants beforehand
            for a margin of --margin, at the same error rate shared over the claims (Bonferroni); looked at once
    apex    five experiments with 20 pictures a class that a language model designed (`recorded_designs.jsonl`),
            judged by point estimates (APEX, section 4); it is told how the query is meant

A query that is refused is not answered rightly: it counts as undecided, and as `refused`.

Keys of the JSON: `queries`, `right`, `wrong`, `undecided`, `refused`, `images`, `seconds` of ours, the same under
`fixed` and `apex`; `true`, how many of the queries are to be answered with yes, `named` how many with a model's name;
`untrained` (about adapters that are not there), `unsettled`, `against_plan` and `surplus`, how many were left out for
each reason; `kinds`, right, wrong and undecided by kind of query; `mcnemar`, the p-values of ours against the others;
`share`, ours' pictures of fixed's; `each`. Of ways that are not asked (`--ways`) there is nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.outside.figures import by_kind, compared, counts
from benchmarks.outside.kept_answers import KeptAnswers
from benchmarks.outside.queries import KINDS, NEITHER, QUERIES, OutsideQuery, read_queries
from benchmarks.outside.truth import TruthTable
from benchmarks.outside.ways import REFUSED, OutsideBench
from snellen.models.under_test import model_under_test
from snellen.profiles import Profile, load_profile
from snellen.runtime.resources import examining

PROFILE: Final = Path(__file__).with_name("models.toml")
OURS: Final = "ours"
WAYS: Final = (OURS, "fixed", "apex")
SETTINGS: Final = ("alpha", "images", "margin", "power", "seed")
"""Those options that an answer depends on."""
Row = dict[str, Any]


def main() -> None:
    """Measure and print."""
    options = _options()
    profile = load_profile(PROFILE)
    asked = [one for one in read_queries(options.file) if not options.kinds or one.kind in options.kinds]
    here = [one for one in asked if not set(one.models) & untrained(profile)]
    queries = evenly(here, options.queries or len(here))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        table = truth_table(profile, folder / "truth", options.truth)
        table.measure((wanted for one in queries for wanted in one.statement.wanted(one.models)), told=_tell)
        truths = [(one, one.statement.truth(table, one.models)) for one in queries]
        if options.truth_only:
            report: dict[str, Any] = {"each": [_row(query, holds=holds) for query, holds in truths]}
        else:
            bench = OutsideBench(profile, examining(str(PROFILE), folder), options)
            settings = {name: getattr(options, name) for name in SETTINGS}
            kept = KeptAnswers(folder / "answers.jsonl" if options.folder else None, settings)
            report = asyncio.run(measured(bench, truths, kept, part=options.part, ways=options.ways))
            report["untrained"] = len(asked) - len(here)
    print(json.dumps(report, indent=2) if options.json or options.truth_only else _table(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=QUERIES, help="the queries (default: queries.jsonl beside it)")
    parser.add_argument("--queries", type=int, help="so many of them, evenly over the file (default: all)")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, metavar="KIND", help="only these kinds of queries")
    parser.add_argument("--truth", type=int, default=5_000, help="pictures a condition for the truth (%(default)s)")
    parser.add_argument("--truth-only", action="store_true", help="measure the truth, print it, and stop")
    parser.add_argument("--images", type=int, default=1_000, help="the most that ours may use on a query (%(default)s)")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.1, help="what the fixed design can tell (%(default)s)")
    parser.add_argument("--power", type=float, default=0.9, help="how surely it does (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the pictures; every way has its own (%(default)s)")
    parser.add_argument(
        "--part", nargs=2, type=int, default=(1, 1), metavar=("K", "N"), help="only the K-th of N parts of the queries"
    )
    parser.add_argument(
        "--ways", nargs="+", choices=WAYS, default=WAYS, metavar="WAY", help="only these ways of answering"
    )
    parser.add_argument(
        "--folder", help="where measurements and answers are kept, those of one state of the code (default: nowhere)"
    )
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def truth_table(profile: Profile, folder: Path, pictures: int) -> TruthTable:
    """Return the table of what is measured of a profile's models."""
    models: dict[str, Any] = {}

    def read(name: str) -> Any:  # noqa: ANN401 - a model under test
        if name not in models:
            models[name] = model_under_test(profile, name)
        return models[name]

    return TruthTable(folder, read, lambda name: _named(read(name).card.fingerprint), pictures)


def _named(fingerprint: str) -> str:
    """Return a fingerprint as a part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in fingerprint)[:80]


def untrained(profile: Profile) -> set[str]:
    """Return the models of a profile whose adapters were not trained here yet."""
    adapters = {name: getattr(one, "adapter", None) for name, one in profile.tested.items()}
    weights = {
        name: profile.resolve(folder) / "adapter_model.safetensors" for name, folder in adapters.items() if folder
    }
    return {name for name, file in weights.items() if not file.is_file()}


def evenly(queries: Sequence[OutsideQuery], count: int) -> list[OutsideQuery]:
    """Return so many of the queries, evenly over their order, which is that of their kinds."""
    few = min(count, len(queries))
    return [queries[place * len(queries) // few] for place in range(few)]


def balanced(settled: Sequence[tuple[OutsideQuery, str]]) -> list[tuple[OutsideQuery, str]]:
    """Return as many queries of either answer, evenly fewer of the more frequent one, and all that ask for a name."""
    sides = [[place for place, (_, true) in enumerate(settled) if true == says] for says in ("yes", "no")]
    few = min(map(len, sides))
    if few == 0:
        return list(settled)
    kept = {side[place * len(side) // few] for side in sides for place in range(few)}
    return [pair for place, pair in enumerate(settled) if place in kept or pair[1] not in {"yes", "no"}]


async def measured(
    bench: OutsideBench,
    truths: Sequence[tuple[OutsideQuery, bool | None]],
    kept: KeptAnswers,
    *,
    part: Sequence[int] = (1, 1),
    ways: Sequence[str] = WAYS,
) -> dict[str, Any]:
    """Ask the queries whose truth is known.

    Args:
        bench: What they are asked with.
        truths: Queries, and whether their statements are true.
        kept: Answers that were given before.
        part: Which part of the queries is asked, from 1, and of how many.
        ways: The ways in which they are asked.
    """
    known = [(query, holds) for query, holds in truths if query.answer(holds=holds) != NEITHER]
    planned = [(query, query.answer(holds=holds)) for query, holds in known if query.plan in {None, holds}]
    chosen = balanced(planned)
    seconds, each = dict.fromkeys(ways, 0.0), []
    for place, (query, true) in list(enumerate(chosen, 1))[part[0] - 1 :: part[1]]:
        row: Row = {"kind": query.kind, "query": query.text, "true": true}
        for way in ways:
            found, took = await kept.outcome(way, query, getattr(bench, way))
            seconds[way] += took
            note = {"note": found.note[:200]} if found.note else {}
            row[way] = {"says": found.says, "images": found.images, **note}
        each.append(row)
        told = ", ".join(f"{way} {row[way]['says']} ({row[way]['images']})" for way in ways)
        _tell(f"{place} of {len(chosen)}: {query.text} true: {true}; {told}")
    totals = {way: _totals(each, way, seconds[way]) for way in ways}
    others = [way for way in ways if way != OURS] if OURS in ways else []
    return {
        "queries": len(each),
        "true": sum(row["true"] == "yes" for row in each),
        "named": sum(row["true"] not in {"yes", "no"} for row in each),
        "unsettled": len(truths) - len(known),
        "against_plan": len(known) - len(planned),
        "surplus": len(planned) - len(chosen),
        **totals.pop(OURS, {}),
        **totals,
        **({"share": round(_images(each, OURS) / max(_images(each, "fixed"), 1), 3)} if "fixed" in others else {}),
        "kinds": by_kind(each, ways),
        "mcnemar": {way: compared(each, OURS, way) for way in others},
        "seed": bench.options.seed,
        "truth": bench.options.truth,
        "each": each,
    }


def _totals(each: Sequence[Row], way: str, seconds: float) -> dict[str, Any]:
    found = counts((row[way]["says"], row["true"]) for row in each)
    refused = sum(row[way]["says"] == REFUSED for row in each)
    return {**found, "refused": refused, "images": _images(each, way), "seconds": round(seconds, 1)}


def _images(each: Sequence[Row], way: str) -> int:
    return sum(row[way]["images"] for row in each)


def _row(query: OutsideQuery, *, holds: bool | None) -> Row:
    return {
        "kind": query.kind,
        "query": query.text,
        "holds": holds,
        "plan": query.plan,
        "true": query.answer(holds=holds),
    }


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _table(report: dict[str, Any]) -> str:
    keys = ("right", "wrong", "undecided", "refused", "images", "seconds")
    lines = ["      " + "".join(f"{key:>10}" for key in keys)]
    rows = {OURS: report} if "right" in report else {}
    for name, row in (rows | {way: report[way] for way in WAYS if way in report}).items():
        lines.append(f"{name:6}" + "".join(f"{row[key]:>10g}" for key in keys))
    return "\n".join([*lines, f"{report['queries']} queries, {report['true']} to be answered with yes"])


if __name__ == "__main__":
    main()
