"""``snellen tools``."""

from __future__ import annotations

import argparse

from snellen.cli.display import print_json, print_table
from snellen.cli.options import JSON, command
from snellen.tools.registry import catalogue


@command("tools", JSON, examples="snellen tools")
def tools(options: argparse.Namespace) -> int:
    """List what programs may call."""
    entries = list(catalogue())
    if options.json:
        print_json(
            [
                {
                    "name": one.name,
                    "signature": one.signature(),
                    "synonyms": list(one.synonyms),
                    "description": one.description,
                }
                for one in entries
            ]
        )
        return 0
    rows = [(one.signature(), one.description.partition("\n\n")[0].replace("\n", " ")) for one in entries]
    print_table(("tool", "what it does"), rows)
    return 0
