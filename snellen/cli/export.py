"""``snellen export``."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json, print_notes
from snellen.cli.options import BENCH, JSON, OUT, command, option
from snellen.cli.outputs import print_written
from snellen.errors import BadInput
from snellen.exports.inspect_logs import write_logs
from snellen.exports.parquet import write_datasets, write_parquet
from snellen.exports.schema import ExportSource, slug
from snellen.memory.home import home
from snellen.runtime import running
from snellen.threads import thread
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from snellen.exports.parquet import Progress


@command(
    "export",
    option("id", metavar="ID", help="an investigation, or the folder of a benchmark or of its results"),
    option(
        "--to",
        required=True,
        choices=("inspect", "parquet", "datasets"),
        help="logs for `inspect view`, tables beside a folder of pictures, or a folder for `load_dataset`",
    ),
    OUT.but(help="write the export into this new folder (default: ID-FORM in the current one, such as ID-inspect)"),
    BENCH.but(help="for results of a benchmark: the folder that the benchmark was built in"),
    option("--no-pictures", action="store_true", help="leave pictures out, for a much smaller export"),
    option("--force", action="store_true", help="replace an existing export"),
    JSON,
    examples="""
        snellen export ID --to inspect --out logs    # then: inspect view --log-dir logs
        snellen export ID --to parquet               # tables for pandas, DuckDB and others
        snellen export bench --to datasets           # a benchmark of `snellen prove` or `snellen pairs`
        snellen export results --to inspect --bench bench
    """,
)
def export(options: argparse.Namespace) -> int:
    """Write what was measured for other tools: Inspect, parquet, Hugging Face datasets."""
    from snellen.exports.folders import checked, whole

    place = Path(options.out) if options.out else Path(f"{slug(user_path(options.id).resolve().name)}-{options.to}")
    target = checked(place, force=options.force)
    writers = {"inspect": write_logs, "parquet": write_parquet, "datasets": write_datasets}
    with running.SignOfLife(running.BEGINNING).watching() as sign:
        source = _source(options)
        with whole(target, {"export": options.to, "of": source.name, "title": source.title}) as draft:
            files = writers[options.to](source, draft, pictures=not options.no_pictures, progress=_paced(sign))
    if options.json:
        print_json({"place": str(place), "to": options.to, "files": files, "notes": list(source.notes)})
        return 0
    print_written(place / name for name in files)
    print_notes(source.notes, most=len(source.notes))
    console().print(f"\nNext: {_next(options.to, place, source)}", soft_wrap=True)
    return 0


def _source(options: argparse.Namespace) -> ExportSource:
    """Return the investigation, benchmark or results that are named.

    Raises:
        BadInput: There is no such thing.
    """
    from snellen.exports import benchmarks

    folder = user_path(options.id)
    if benchmarks.known(folder):
        return benchmarks.source_of(folder, user_path(options.bench) if options.bench else None)
    if options.bench:
        msg = (
            f"--bench goes with results of a benchmark, and {options.id[:80]!r} is no folder of results: leave it out."
        )
        raise BadInput(msg)
    if folder.is_dir():
        msg = f"{folder} is neither a benchmark of `snellen prove` or `snellen pairs`, nor the results of one."
        raise BadInput(msg)
    return asyncio.run(_investigation(options.id))


async def _investigation(name: str) -> ExportSource:
    from snellen.exports.investigations import investigation
    from snellen.threads.investigate import INVESTIGATE, found_in

    if await thread.graph_of(name) != "investigate":
        msg = f"The thread {name!r} is no investigation: `snellen reports` lists those."
        raise BadInput(msg)
    folder = home()
    async with thread.reading("investigate", folder) as graph:
        result = found_in(await INVESTIGATE.state_of(graph, name))
        ended = thread.has_ended(await graph.aget_state(INVESTIGATE.address(name)))
    if result is None:
        msg = f"The investigation {name!r} has measured nothing yet: `snellen resume {name}` continues it."
        raise BadInput(msg)
    return await asyncio.to_thread(partial(investigation, result, folder, ended=ended))


def _paced(sign: running.SignOfLife) -> Progress:
    """Return a function that tells how far an export is, as often as signs of life are given."""
    last = time.monotonic()

    def progress(doing: str) -> None:
        nonlocal last
        if time.monotonic() - last >= running.QUIET_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"snellen: {doing} …\n")
            sign.tell(doing)

    return progress


def _next(to: str, place: Path, source: ExportSource) -> str:
    """Return the command that opens an export."""
    main = source.tables[0].name
    return {
        "inspect": f"inspect view --log-dir {place}",
        "parquet": f'pandas.read_parquet("{place / main}.parquet")',
        "datasets": f'datasets.load_dataset("{place}", "{main}", split="test")',
    }[to]
