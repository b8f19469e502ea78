"""``snellen reports`` and ``snellen report``."""

from __future__ import annotations

import argparse
import asyncio

from snellen.cli.display import console, minute, one_line, print_json, print_left, print_table
from snellen.cli.options import HTML, JSON, OUT, PAGES, command, lines_of, option
from snellen.cli.outputs import print_written
from snellen.errors import BadInput
from snellen.threads.thread import state_from


@command("reports", *PAGES, JSON, examples="snellen reports --lines 20")
def reports(options: argparse.Namespace) -> int:
    """List the investigations so far."""
    from snellen.threads.listing import thread_page

    listed = asyncio.run(thread_page(limit=lines_of(options), page=options.page, graph="investigate"))
    investigations = listed.threads
    if options.json:
        keys = ("id", "query", "status", "updated", "conclusion")
        rows = [(one.thread, one.instruction, one.status, one.updated, one.outcome) for one in investigations]
        print_json([dict(zip(keys, row, strict=True)) for row in rows])
        return 0
    print_table(
        ("id", "updated (UTC)", "status", "query", "conclusion"),
        [
            (one.thread, minute(one.updated), one.status, one_line(one.instruction), one_line(one.outcome))
            for one in investigations
        ],
    )
    print_left(len(investigations), options, listed.of)
    return 0


@command(
    "report",
    option("id", metavar="ID", help="an investigation of `snellen reports`"),
    OUT.but(help="write report.html, report.md, report.json and all trials into this folder"),
    HTML,
    option("--markdown", metavar="FILE", help="write it as Markdown"),
    option("--trials", metavar="FILE", help="write every trial: .parquet, or .jsonl"),
    JSON,
    examples="""
        snellen reports
        snellen report ID --html report.html
        snellen report ID --trials trials.parquet
    """,
)
def report(options: argparse.Namespace) -> int:
    """Show an investigation again, as text, page, Markdown, JSON or a table of its trials."""
    from snellen.cli.investigation_display import state_json, write_report
    from snellen.graphs.states import InvestigateState
    from snellen.reports.investigation_text import markdown
    from snellen.threads.directory import read_thread
    from snellen.threads.investigate import found_in

    graph, state = asyncio.run(read_thread(options.id))
    if graph == "chat":
        if state.last.get("graph") != "investigate":
            msg = f"The conversation {options.id!r} did not end with an investigation: `snellen reports` lists those."
            raise BadInput(msg)
        state = state_from(state.last["state"], InvestigateState)
    elif graph != "investigate":
        msg = f"The thread {options.id!r} is no investigation: `snellen reports` lists those."
        raise BadInput(msg)
    if options.json:
        print_json(state_json(options.id, state))
    written = write_report(state, options)
    if options.json:
        return 0
    print_written(written)
    if not written:
        result = found_in(state)
        console().print(markdown(result) if result else "The report has not been opened yet.", soft_wrap=True)
    return 0
