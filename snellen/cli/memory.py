"""``snellen memory``: list, check, forget, export and import what was learned."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.display import console, minute, one_line, print_hint, print_json, print_left, print_table, stages
from snellen.cli.options import JSON, PAGES, PROFILE, Group, command, local_path, option, page_of
from snellen.errors import BadInput, SnellenError
from snellen.memory.adapters import AdapterStore
from snellen.memory.home import home, home_to_read
from snellen.reasoning.language.inflection import counted

if TYPE_CHECKING:
    from snellen.memory.verification import Verification

_PART: Final = {True: "correct", False: "incorrect"}
_LINE: Final = 60
_LISTED: Final = 1000

_IDS: Final = option("ids", nargs="*", metavar="ID", help="an id of `snellen memory list`")
_POOL: Final = option(
    "--pool",
    default="",
    metavar="POOL",
    help="one pool: VQA, LOC, SEG, CLIP (of SELECT and CLASSIFY), REPLACE, or demonstrations",
)
_CONCEPT: Final = option("--concept", default="", metavar="C", help="the prompts of one concept")
_ARCHIVE: Final = option("archive", type=local_path, metavar="FILE", help="an archive, such as learned.zip")


@command("memory stats", JSON, examples="snellen memory stats")
def stats(options: argparse.Namespace) -> int:
    """Count what was learned."""
    from snellen.cli.memory_contents import counted_demonstrations
    from snellen.memory.prompts import PromptPool

    folder = home_to_read()
    prompts, examples, adapters = PromptPool(folder).stats(), counted_demonstrations(), list(AdapterStore(folder))
    if options.json:
        print_json(
            {
                "home": str(folder),
                "prompts": [dataclasses.asdict(one) for one in prompts],
                "demonstrations": examples,
                "adapters": len(adapters),
            }
        )
        return 0
    rows = [
        (one.pool, one.fingerprint, one.concepts, one.prompts, one.zeros, _by(one.shape), f"{one.bytes:,}")
        for one in prompts
    ]
    print_table(("pool", "checkpoint", "concepts", "prompts", "of zeros", "shape", "bytes"), rows, title="prompts")
    parts = [(one["kind"], _PART[one["correct"]], one["seeds"], one["learned"]) for one in examples]
    print_table(("demonstrations", "part", "seeds", "learned"), parts, title="demonstrations")
    if adapters:
        corrected = Counter(one.model for one in adapters)
        print_table(("model", "adapters"), list(corrected.items()), title="corrected models")
    return 0


@command("memory list", _POOL, _CONCEPT, *PAGES, JSON, examples="snellen memory list --pool LOC --concept flamingo")
def list_(options: argparse.Namespace) -> int:
    """List what was learned."""
    from snellen.cli.memory_contents import adapter_json, selected

    everything = selected(options.pool, options.concept)
    selection = everything.part(page_of(options))
    if options.json:
        print_json(
            {
                "prompts": [dataclasses.asdict(one) for one in selection.prompts],
                "demonstrations": [dataclasses.asdict(one) for one in selection.demonstrations],
                "adapters": [adapter_json(one) for one in selection.adapters],
            }
        )
        return 0
    rows = [
        *(
            (one.id, one.pool, one.concept, one.source, one.created, one.question)
            for one in selection.prompts[:_LISTED]
        ),
        *(
            (one.id, f"{_PART[one.correct]} {one.kind}", "", one.source, one.created, one.instruction)
            for one in selection.demonstrations[:_LISTED]
        ),
        *((one.name, "adapter", "", one.origin, one.created, one.about) for one in selection.adapters[:_LISTED]),
    ]
    print_table(
        ("id", "pool", "concept", "source", "learned (UTC)", "question or instruction"),
        [(*row, minute(created), one_line(text, _LINE)) for *row, created, text in rows],
    )
    print_left(len(rows), options, len(everything))
    if not len(everything):
        print_hint("Nothing of that kind has been learned yet. Teach tools a concept: snellen learn CONCEPT")
    left = len(selection) - len(rows)
    if left:
        console().print(f"… and {left} more: narrow them down with --pool or --concept, or use --json.", style="dim")
    return 0


@command("memory show", _IDS, JSON, examples="snellen memory show ID")
def show(options: argparse.Namespace) -> int:
    """Show everything about what was learned under an id."""
    if not options.ids:
        msg = "Name what to show: give ids as `snellen memory list` shows them."
        raise BadInput(msg)
    from snellen.cli.memory_contents import record

    shown = [record(one) for one in options.ids]
    if options.json:
        print_json(shown)
        return 0
    for one in shown:
        print_table(("field", "value"), [(name, _in_words(value)) for name, value in one.items()])
    return 0


@command(
    "memory forget",
    _IDS,
    _POOL,
    _CONCEPT,
    option("--all", action="store_true", help="everything that was learned; the shipped examples stay"),
    JSON,
    examples="""
        snellen memory forget --concept flamingo
        snellen memory forget ID ID
    """,
)
def forget(options: argparse.Namespace) -> int:
    """Undo learning: everything works as if it had never happened."""
    if not (options.ids or options.pool or options.concept or options.all):
        msg = "Name what to forget: ids of `snellen memory list`, --concept, --pool, or --all for everything learned."
        raise BadInput(msg)
    if options.ids and (options.pool or options.concept or options.all):
        msg = "Forget either by ids or by --pool, --concept and --all, not by both at once."
        raise BadInput(msg)
    if options.all and (options.pool or options.concept):
        msg = "--all forgets everything that was learned: leave out --pool and --concept, or leave out --all."
        raise BadInput(msg)
    from snellen.cli.memory_contents import forget_all, forget_ids, forget_pool

    if options.ids:
        prompts, examples, adapters = forget_ids(options.ids)
    else:
        prompts, examples, adapters = forget_all() if options.all else forget_pool(options.pool, options.concept)
    if options.json:
        print_json({"prompts": prompts, "demonstrations": examples, "adapters": adapters})
        return 0
    also = f", {counted(adapters, 'adapter')}" if adapters else ""
    console().print(f"forgotten: {_counted(prompts, examples)}{also}")
    return 0


@command("memory export", _ARCHIVE, JSON, examples="snellen memory export learned.zip")
def export(options: argparse.Namespace) -> int:
    """Write what was learned into an archive."""
    from snellen.memory.archives import export_memory
    from snellen.memory.prompts import PromptPool

    archive = export_memory(PromptPool(home()), Path(options.archive))
    if options.json:
        print_json(dataclasses.asdict(archive))
        return 0
    contents = f"{_counted(archive.prompts, archive.demonstrations)}, {archive.bytes:,} bytes"
    console().print(f"wrote   {archive.path}: {contents}", soft_wrap=True)
    console().print(f"Elsewhere: snellen memory import {Path(archive.path).name}", soft_wrap=True)
    return 0


@command("memory import", _ARCHIVE, JSON, examples="snellen memory import learned.zip")
def import_(options: argparse.Namespace) -> int:
    """Add what another machine learned."""
    from snellen.memory.archives import import_memory
    from snellen.memory.prompts import PromptPool

    added = import_memory(PromptPool(home()), Path(options.archive))
    if options.json:
        print_json(dataclasses.asdict(added))
        return 0
    contents = f"{_counted(added.prompts, added.demonstrations)}; {added.already_there} were already there"
    console().print(f"added from {added.path}: {contents}", soft_wrap=True)
    return 0


@command(
    "memory verify",
    option("--dry-run", action="store_true", help="report damage, change nothing"),
    PROFILE.but(help="the profile whose embedding searches the demonstrations (default: embedded)"),
    JSON,
    examples="""
        snellen memory verify --dry-run
        snellen memory verify --json    # exit status 1 if something is lost
    """,
)
def verify(options: argparse.Namespace) -> int:
    """Check everything that is stored, and repair what can be repaired."""
    from snellen.cli.memory_contents import searchable
    from snellen.graphs.states import STATE_TYPES
    from snellen.memory.verification import verify_memory
    from snellen.threads.redrawing import Redrawing

    folder = home_to_read() if options.dry_run else home()
    again = Redrawing(folder)
    result = verify_memory(
        folder,
        lambda: searchable(options.profile),
        repair=not options.dry_run,
        state_types=STATE_TYPES,
        draw=again.draw,
        complete=again.complete,
    )
    if options.json:
        print_json(result.to_json())
    else:
        _show_verification(result)
    if result.lost:
        msg = (
            f"{result.lost} of what was stored is lost, as the table says: give pictures again, learn again, or begin "
            "the run again."
        )
        raise SnellenError(msg)
    return 0


@command("memory copy-threads", JSON, examples="SNELLEN_CHECKPOINTS=postgresql://… snellen memory copy-threads")
def copy_threads(options: argparse.Namespace) -> int:
    """Copy the threads from the home's SQLite into the Postgres of SNELLEN_CHECKPOINTS."""
    from snellen.graphs.states import STATE_TYPES
    from snellen.memory import thread_copying

    copied = asyncio.run(thread_copying.copy_threads(home(), state_types=STATE_TYPES))
    if options.json:
        print_json(copied)
        return 0
    print_table(("thread", "result"), list(copied.items()), title="threads")
    console().print("The SQLite database is unchanged.")
    return 0


@command(
    "memory copy",
    option("--to", choices=("store", "home"), required=True, help="into the store of SNELLEN_STORE, or back"),
    JSON,
    examples="SNELLEN_STORE='postgresql://… s3://…' snellen memory copy --to store",
)
def copy(options: argparse.Namespace) -> int:
    """Copy trials, samples, the ledger, demonstrations, prompts, pictures and threads into the store, or back."""
    from snellen.graphs.states import STATE_TYPES
    from snellen.memory.home_copying import copy_home

    with stages() as show:
        copied = asyncio.run(copy_home(home(), options.to, state_types=STATE_TYPES, progress=show))
    if options.json:
        print_json(dataclasses.asdict(copied))
        return 0
    results = Counter(copied.threads.values())
    rows = [
        *copied.rows.items(),
        ("pictures", copied.pictures),
        *((f"threads: {one}", n) for one, n in results.items()),
    ]
    print_table(("what", "new or copied"), rows, title=f"to the {options.to}")
    for one in copied.damaged:
        print_hint(f"The picture {one} is damaged and was not copied: snellen memory verify")
    console().print(f"The {'home' if options.to == 'store' else 'store'} is unchanged.")
    return 0


MEMORY: Final = Group(
    "memory",
    "List, check, forget, export, import and copy what was learned",
    (stats, list_, show, forget, export, import_, verify, copy, copy_threads),
)


def _show_verification(result: Verification) -> None:
    checked = {
        "prompts": result.prompts,
        "files of prompts": result.blocks,
        "demonstrations": result.demonstrations,
        "search indexes": result.indexes,
        "threads": result.threads,
        "pictures": result.pictures,
        "trials": result.trials,
        "samples": result.samples,
        "adapters": result.adapters,
    }
    print_table(tuple(checked), [tuple(checked.values())], title="checked")
    if result.clean:
        console().print("Everything is as it was stored.")
        return
    print_table(("found", "where", "what"), [(one.kind, one.place, one.said) for one in result.findings])
    if not result.repaired:
        console().print("Nothing was changed. Repair what can be repaired: snellen memory verify")


def _counted(prompts: int, demonstrations: int) -> str:
    return f"{counted(prompts, 'prompt')}, {counted(demonstrations, 'demonstration')}"


def _by(shape: tuple[int, ...]) -> str:
    return " x ".join(str(one) for one in shape)


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return _by(value)
    return "; ".join(value) if isinstance(value, list) else str(value)
