"""What ``snellen threads delete`` does."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import sys
from typing import Final

from snellen.cli.display import console, print_json
from snellen.errors import BadInput
from snellen.reasoning.language.inflection import counted
from snellen.threads import deletion

_YES: Final = frozenset({"y", "yes"})


def delete(options: argparse.Namespace) -> int:
    """Delete threads by name or by age, after asking."""
    if bool(options.ids) == bool(options.older_than):
        msg = "Say which threads: ids as `snellen threads` lists them, or --older-than 30d, but not both."
        raise BadInput(msg)
    names = list(dict.fromkeys(options.ids)) or _old(options.older_than)
    if names and not (options.yes or _agrees(names)):
        return 0
    deleted = asyncio.run(deletion.delete(names))
    if options.json:
        print_json(dataclasses.asdict(deleted))
    else:
        console().print(f"deleted: {deletion.in_words(deleted)}")
    return 0


def _old(age: str) -> list[str]:
    return asyncio.run(deletion.older_than(deletion.read_age(age)))


def _agrees(names: list[str]) -> bool:
    """Ask on the terminal; anything but a yes is a no.

    Raises:
        BadInput: Nobody is there to be asked.
    """
    what = names[0] if len(names) == 1 else counted(len(names), "thread")
    if not sys.stdin.isatty():
        msg = f"Deleting {what} is for good, and nobody is there to be asked: say --yes."
        raise BadInput(msg)
    sys.stderr.write(f"Delete {what} for good, with what nothing else needs? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().casefold() in _YES
