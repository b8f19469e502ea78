"""The command line of simulations in which there is nothing to find: their options, and their rows as lines or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Row = Mapping[str, Any]


def null_parser(description: str | None, *, runs: int) -> argparse.ArgumentParser:
    """Return a parser of the options that all simulations have.

    Args:
        description: Of the simulation.
        runs: How many of each scenario there are, unless the user says otherwise.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=runs, help="of each scenario (%(default)s)")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1, help="of the draws (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def print_rows(rows: Iterable[Row], options: argparse.Namespace, line: Callable[[Row], str], **given: int) -> None:
    """Print rows as they come, or all of them as JSON.

    Args:
        rows: The rows, one a scenario.
        options: As `null_parser` reads them.
        line: Writes a row for people.
        given: What the simulation supposes beside its options.
    """
    scenarios = []
    for row in rows:
        scenarios.append(row)
        if not options.json:
            print(line(row), flush=True)
    if options.json:
        said = {"alpha": options.alpha, "runs": options.runs, "seed": options.seed, **given}
        print(json.dumps({**said, "scenarios": scenarios}, indent=1))
