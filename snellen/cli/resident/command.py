"""``snellen resident status`` and ``stop``; other commands are handed to the resident process here."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, Final

from snellen.cli.display import print_json
from snellen.cli.options import JSON, Group, command
from snellen.cli.resident.circumstances import minutes_of
from snellen.cli.resident.client import asked, end, is_possible, run_resident
from snellen.errors import SnellenError
from snellen.memory.home import MemoryTrouble, home, home_folder
from snellen.profile_files import DEFAULT_PROFILE, lasting
from snellen.runtime.running import BEGINNING, SignOfLife, resumable

_SERVE: Final = """\
import ast, sys
sys.path[:] = ast.literal_eval(sys.argv.pop(1))
from snellen.cli.resident.program import main
sys.exit(main(sys.argv[1:]))
"""
"""Finds the same packages as the client, whichever way that was begun."""
_NONE: Final = "No resident process: the next `snellen ask` starts one (unless SNELLEN_RESIDENT=off)."


@command(
    "resident status",
    JSON,
    examples="""
        snellen resident            # its memory, and when it ends
        snellen resident status --json
    """,
)
def status(options: argparse.Namespace) -> int:
    """Show the process that stays after the first command, and answers the next ones sooner."""
    said = _asked("status")
    if options.json:
        print_json(said)
    elif said is None:
        sys.stdout.write(f"{_NONE}\n")
    else:
        sys.stdout.write(_sentences(said))
    return 0


@command("resident stop", examples="snellen resident stop")
def stop(_options: argparse.Namespace) -> int:
    """End that process now, and free its memory; commands that run go on."""
    _refuse_elsewhere()
    try:
        ended = end(home_folder())
    except OSError as error:
        msg = f"The resident process cannot be reached ({error})."
        raise SnellenError(msg) from error
    sys.stdout.write("The resident process has ended.\n" if ended else f"{_NONE}\n")
    return 0


RESIDENT: Final = Group(
    "resident", "Show or end the process that stays and answers sooner", (status, stop), default="status"
)


def run_in_resident(words: list[str], profile: str | None) -> int | None:
    """Have the resident process of the home run a command, and start it where there is none.

    Args:
        words: What follows ``snellen`` on the command line.
        profile: The command's profile; None where it goes on with that of its thread.

    Returns:
        The exit status; None where there is to be no such process, or none could be had.

    Raises:
        BadInput: The profile cannot be read, or ``SNELLEN_RESIDENT`` is neither minutes nor ``off``.
        CommandLost: The command's process was killed.
        Interrupted: The user pressed Ctrl-C before the command began.
    """
    minutes = minutes_of(profile, os.environ)
    if not minutes or not is_possible():
        return None
    try:
        folder = home()
        serving = (str(folder), str(minutes), lasting(profile or DEFAULT_PROFILE))
        start = (sys.executable, "-c", _SERVE, repr(sys.path), *serving)
        return run_resident(words, home=folder, profile=profile, start=start, waiting=_shown)
    except MemoryTrouble:
        return None
    except KeyboardInterrupt:
        with resumable(str):
            raise


def _shown() -> AbstractContextManager[object]:
    """Show that the libraries are being imported, as a command does that imports them itself."""
    return SignOfLife(BEGINNING).watching()


def _asked(kind: str) -> dict[str, Any] | None:
    _refuse_elsewhere()
    try:
        return asked(home_folder(), kind)
    except OSError as error:
        msg = f"The resident process cannot be reached ({error})."
        raise SnellenError(msg) from error


def _refuse_elsewhere() -> None:
    if sys.platform != "linux":
        msg = "There are resident processes on Linux only: elsewhere every command runs in a process of its own."
        raise SnellenError(msg)


def _sentences(said: dict[str, Any]) -> str:
    if "answered" not in said:
        return f"Process {said['process']} is getting ready.\n"
    since = datetime.fromtimestamp(said["since"], UTC)
    left = max(0.0, said["minutes"] - said["idle"])
    return (
        f"process   {said['process']}, since {since:%Y-%m-%d %H:%M:%S} UTC\n"
        f"profile   {said['profile']}\n"
        f"memory    {said['bytes'] / 2**20:,.0f} MiB\n"
        f"commands  {said['answered']} answered, {said['running']} of them still running\n"
        f"ends      in {left:.0f} minutes without a command, or by `snellen resident stop`\n"
    )
