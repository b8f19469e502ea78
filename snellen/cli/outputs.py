"""Files that a command writes: checked before minutes are spent on their contents, and named when they are written."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from snellen.cli.display import console
from snellen.errors import BadInput


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse places that cannot take the results.

    Raises:
        BadInput: A folder is a file or a file a folder, or nothing can be written there.
    """
    for name in ("out", "html", "markdown", "trials"):
        if value := getattr(options, name, None):
            path = Path(value)
            if name == "out" and path.is_file():
                msg = f"--out {path} is a file: name a folder for the results."
                raise BadInput(msg)
            if name != "out" and path.is_dir():
                msg = f"--{name} {path} is a folder: name a file."
                raise BadInput(msg)
            _refuse_unwritable(name, path)


def write_results(write: Callable[[Path], Sequence[Path]], options: argparse.Namespace) -> list[Path | str]:
    """Write all results into the folder of ``--out``, and their page alone to the file of ``--html``.

    Args:
        write: Writes all results into a folder, a page among them, and returns their paths.
        options: Those of the command.

    Returns:
        The written files.

    Raises:
        SnellenError: They cannot be written there.
    """
    written: list[Path | str] = [*write(Path(options.out))] if options.out else []
    if options.html:
        from snellen.reports.runs import write_text

        with tempfile.TemporaryDirectory() as draft:
            page = next(path for path in write(Path(draft)) if path.suffix == ".html")
            write_text(Path(options.html), page.read_text("utf-8"))
        written.append(options.html)
    return written


def print_written(paths: Iterable[Path | str]) -> None:
    """Print the path of each file that was written."""
    for path in paths:
        console().print(f"wrote   {path}", style="dim", soft_wrap=True)


def _refuse_unwritable(name: str, path: Path) -> None:
    """Refuse a path that nothing can be written to: it, or the nearest folder above it that exists."""
    there = next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
    if there.is_file() and there == path.absolute():
        writable = os.access(there, os.W_OK)
    else:
        writable = there.is_dir() and _takes_files(there)
    if not writable:
        msg = f"--{name} {path} cannot be written ({there} is not a folder that you may write to): name another place."
        raise BadInput(msg)


def _takes_files(folder: Path) -> bool:
    """Permission bits lie (root, read-only mounts): only a written file proves a writable folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
