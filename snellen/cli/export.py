"""What ``snellen export`` does: write what was measured in the forms of other tools."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import console, print_json
from snellen.errors import BadInput
from snellen.exports.schema import ExportSource, slug
from snellen.profiles.user_paths import user_path
from snellen.runtime import running
from snellen.threads import investigate, thread
from snellen.threads.investigate import INVESTIGATE

if TYPE_CHECKING:
    from snellen.exports.parquet import Progress

    Write = Callable[..., list[str]]


def export(options: argparse.Namespace) -> int:
    """Export an investigation, a benchmark, or the results of one."""
    from snellen.exports.folders import checked, whole

    place = Path(options.out) if options.out else Path(f"{slug(user_path(options.id).resolve().name)}-{options.to}")
    target = checked(place, force=options.force)
    with running.SignOfLife(running.BEGINNING).watching() as sign:
        progress = _paced(sign)
        source = _source(options)
        write = _writer(options.to)
        with whole(target, {"export": options.to, "of": source.name, "title": source.title}) as draft:
            files = write(source, draft, pictures=not options.no_pictures, progress=progress)
    if options.json:
        print_json({"place": str(place), "to": options.to, "files": files, "notes": list(source.notes)})
        return 0
    for name in files:
        console().print(f"wrote   {place / name}", style="dim", soft_wrap=True)
    for note in source.notes:
        console().print(note, style="yellow", soft_wrap=True)
    console().print(f"\nNow: {_next(options.to, place, source)}", soft_wrap=True)
    return 0


def _source(options: argparse.Namespace) -> ExportSource:
    """Return what is to be exported.

    Raises:
        BadInput: There is no such thing.
    """
    from snellen.exports import benchmarks

    folder = user_path(options.id)
    if benchmarks.known(folder):
        return benchmarks.source_of(folder, user_path(options.bench) if options.bench else None)
    if options.bench:
        msg = (
            f"--bench goes with the results of a benchmark, and {options.id[:80]!r} is no folder of such: leave it out."
        )
        raise BadInput(msg)
    if folder.is_dir():
        msg = f"{folder} is neither a benchmark of `snellen prove` or `snellen pairs`, nor the results of one."
        raise BadInput(msg)
    return asyncio.run(_investigation(options.id))


async def _investigation(name: str) -> ExportSource:
    from snellen.exports.investigations import investigation
    from snellen.memory.home import home

    if await thread.graph_of(name) != "investigate":
        msg = f"The thread {name!r} is no investigation: `snellen reports` lists those."
        raise BadInput(msg)
    folder = home()
    async with thread.reading("investigate", folder) as graph:
        found = investigate.found_in(await INVESTIGATE.state_of(graph, name))
        ended = thread.has_ended(await graph.aget_state(INVESTIGATE.address(name)))
    if found is None:
        msg = f"The investigation {name!r} has measured nothing yet: `snellen resume {name}` takes it up."
        raise BadInput(msg)
    return await asyncio.to_thread(partial(investigation, found, folder, ended=ended))


def _writer(to: str) -> Write:
    from snellen.exports.inspect_logs import write_logs
    from snellen.exports.parquet import write_datasets, write_parquet

    writers: dict[str, Write] = {"inspect": write_logs, "parquet": write_parquet, "datasets": write_datasets}
    return writers[to]


def _paced(sign: running.SignOfLife) -> Progress:
    """Return what tells how far an export is, as often as signs of life are given."""
    last = time.monotonic()

    def progress(doing: str) -> None:
        nonlocal last
        if time.monotonic() - last >= running.QUIET_SECONDS:
            last = time.monotonic()
            sys.stderr.write(f"snellen: {doing} …\n")
            sign.tell(doing)

    return progress


def _next(to: str, place: Path, source: ExportSource) -> str:
    """Say how what was written is opened."""
    main = source.tables[0].name
    return {
        "inspect": f"inspect view --log-dir {place}",
        "parquet": f'pandas.read_parquet("{place / main}.parquet")',
        "datasets": f'datasets.load_dataset("{place}", "{main}", split="test")',
    }[to]
