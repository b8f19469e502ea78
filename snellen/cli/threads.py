"""``snellen threads list`` and ``snellen threads delete``."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from typing import Final

from snellen.cli.display import agrees, console, minute, one_line, print_hint, print_json, print_left, print_table
from snellen.cli.options import JSON, PAGES, Group, command, lines_of, option
from snellen.errors import BadInput
from snellen.reasoning.language.inflection import counted
from snellen.summaries.values import in_words
from snellen.threads import deletion
from snellen.values import from_json


@command("threads list", *PAGES, JSON, examples="snellen threads --lines 50 --page 2")
def list_(options: argparse.Namespace) -> int:
    """List the runs so far, newest first."""
    from snellen.threads.listing import thread_page

    listed = asyncio.run(thread_page(limit=lines_of(options), page=options.page))
    summaries = listed.threads
    if options.json:
        print_json([dataclasses.asdict(one) for one in summaries])
        return 0
    rows = [
        (
            one.thread,
            minute(one.updated),
            one.status,
            one.verdict,
            one_line(one.instruction),
            one_line(one.reason or one.outcome) or in_words(from_json(one.answer)),
        )
        for one in summaries
    ]
    print_table(("thread", "updated (UTC)", "status", "judged", "instruction", "answer or outcome"), rows)
    print_left(len(rows), options, listed.of)
    if not listed.of:
        print_hint('No runs yet. Begin one: snellen ask PICTURE "INSTRUCTION"')
    return 0


@command(
    "threads delete",
    option("ids", nargs="*", metavar="ID", help="a thread that `snellen threads` lists"),
    option("--older-than", default="", metavar="AGE", help="delete runs unchanged for 12h, 30d or 8w"),
    option("--yes", action="store_true", help="do not ask"),
    JSON,
    examples="""
        snellen threads delete ID ID
        snellen threads delete --older-than 30d --yes
    """,
)
def delete(options: argparse.Namespace) -> int:
    """Delete runs, with the pictures and trials that nothing else needs."""
    if bool(options.ids) == bool(options.older_than):
        msg = "Say which threads: ids as `snellen threads` lists them, or --older-than 30d, but not both."
        raise BadInput(msg)
    names = list(dict.fromkeys(options.ids))
    if not names:
        names = asyncio.run(deletion.older_than(deletion.read_age(options.older_than)))
    if names and not (options.yes or _agrees(names)):
        return 0
    deleted = asyncio.run(deletion.delete(names))
    if options.json:
        print_json(dataclasses.asdict(deleted))
    else:
        console().print(f"deleted: {deletion.in_words(deleted)}")
    return 0


THREADS: Final = Group("threads", "List or delete the runs so far", (list_, delete), default="list")


def _agrees(names: list[str]) -> bool:
    """Ask on the terminal.

    Raises:
        BadInput: Nobody is there to be asked.
    """
    what = names[0] if len(names) == 1 else counted(len(names), "thread")
    if not sys.stdin.isatty():
        msg = f"Deleting {what} cannot be undone, and no terminal is there to ask: add --yes."
        raise BadInput(msg)
    return agrees(f"Delete {what} for good, with everything that nothing else needs?")
