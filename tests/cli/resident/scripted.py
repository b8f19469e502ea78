"""A small command line with a resident process: ``python scripted.py HOME COMMAND …``, as `snellen` does it.

Commands are a few lines each, so that tests of how they are served load nothing.
"""

# ruff: noqa: T201 - what it prints is what tests read

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from snellen.cli.resident.circumstances import Circumstances
from snellen.cli.resident.client import run_resident
from snellen.cli.resident.folder import opened
from snellen.cli.resident.process import Resident, Work
from snellen.errors import SnellenError

SERVE = "serve"


def run(words: list[str]) -> int:
    """Run a command."""
    match words:
        case ["tell", *rest]:
            told = f"{rest} {Path.cwd()} {os.environ.get('TOLD')!a} {os.umask(0o022):o} {sys.stdin.read()!r}"
            print(told, os.isatty(1), sys.stdout.line_buffering)
            print("aside", file=sys.stderr)
            return 3
        case ["note", file, *_]:
            with Path(file).open("a") as notes:
                notes.write(f"{os.getpid()}\n")
            if words[2:] == ["die"]:
                os.kill(os.getpid(), 9)
        case ["ask"]:
            sys.stderr.write("Do you mean it? [y/N] ")
            sys.stderr.flush()
            print("said", sys.stdin.readline().strip(), flush=True)
        case ["wait"]:
            try:
                print("waiting", os.getpid(), flush=True)
                time.sleep(60)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
                return 130
        case ["leave"]:
            sys.exit(5)
        case ["where"]:
            print(os.getpid(), os.environ.get("SCRIPTED_RESIDENT", "none"))
    return 0


def serve(home: Path, minutes: float, digests: list[str]) -> None:
    """Be the resident process."""
    with opened(home, make=True) as place:
        if not place.take_lock():
            return
        place.note(ready=False)
        resident = Resident(place, place.listen(), Circumstances(*digests), minutes)
        pid = str(os.getpid())

        def import_libraries() -> None:
            time.sleep(float(os.environ.get("SLOW_IMPORT", "0")))
            os.environ["SCRIPTED_RESIDENT"] = pid

        resident.serve(Work(run, [import_libraries]))


def main() -> int:
    """Run a command in the resident process, or here."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background inherit none
    home, words = Path(sys.argv[1]), sys.argv[2:]
    if words[0] == SERVE:
        serve(home, float(words[1]), words[2:])
        return 0
    minutes = os.environ.get("MINUTES", "1")
    start = [sys.executable, __file__, str(home), SERVE, minutes]
    if os.environ.get("CANNOT_START"):
        start = ["/bin/false"]
    try:
        status = run_resident(words, home=home, profile=None, start=start, waiting=nullcontext)
    except SnellenError as error:
        print(error, file=sys.stderr)
        return 1
    return run(words) if status is None else status


if __name__ == "__main__":
    sys.exit(main())
