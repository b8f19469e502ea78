"""``snellen demonstrations``."""

from __future__ import annotations

import argparse
import dataclasses

from snellen.cli.display import one_line, print_json, print_table
from snellen.cli.options import JSON, PROFILE, command, option
from snellen.memory.home import home


@command(
    "demonstrations",
    option("--kind", choices=("plan", "program"), help="only plans, or only programs"),
    PROFILE,
    JSON,
    examples="snellen demonstrations --kind program",
)
def demonstrations(options: argparse.Namespace) -> int:
    """List the examples that plans and programs are modelled on."""
    from snellen.threads.ask import make_context

    records = [one for one in make_context(options.profile, home()).pool.all() if options.kind in {None, one.kind}]
    if options.json:
        print_json([dataclasses.asdict(one) for one in records])
        return 0
    rows = [
        (one.id, one.kind, "correct" if one.correct else "incorrect", one.family, one.source, one_line(one.instruction))
        for one in records
    ]
    print_table(("id", "kind", "part", "family", "source", "instruction"), rows)
    return 0
