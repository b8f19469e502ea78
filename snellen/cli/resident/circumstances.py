"""Circumstances in which a process begins, as a digest: two processes of one digest would run a command alike.

On the standard library alone, and in some 20 ms: a client computes it before each command.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from snellen.errors import BadInput
from snellen.profile_files import DEFAULT_PROFILE, RESIDENT_MINUTES, located, read_profile_file

try:
    import resource
except ImportError:
    resource = None  # type: ignore[assignment]

VARIABLE: Final = "SNELLEN_RESIDENT"
"""The environment variable that says how many minutes a resident process stays; ``off`` or 0 has none."""

_PACKAGE: Final = Path(__file__).resolve().parents[2]
_INSTALLED: Final = ("site-packages", "dist-packages")
_SESSION: Final = re.compile(
    r"(SNELLEN|OPENAI|SSH|TMUX|WT|VSCODE|ITERM|KITTY|KONSOLE|GNOME_TERMINAL|XDG_SESSION|XDG_VTNR|XDG_SEAT)_?\w*|"
    r"(ALACRITTY|WEZTERM|GHOSTTY|VTE|ZELLIJ|STARSHIP|DIRENV|FZF|GPG|GIT|PROMPT|VIRTUAL_ENV)(_\w*)?|COLORFGBG|PS[0-4]|"
    r"\w*_API_KEY|TERM|TERM_\w+|COLORTERM|COLUMNS|LINES|PWD|OLDPWD|SHLVL|_|STY|WINDOW|WINDOWID|DISPLAY|"
    r"WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS|EDITOR|VISUAL|PAGER|LESS\w*|HISTFILE|NO_COLOR|FORCE_COLOR|"
    r"SESSION_MANAGER|INVOCATION_ID|JOURNAL_STREAM|MAKEFLAGS|MAKELEVEL|MFLAGS"
)
"""Variables that are read while a command runs, or that only say which terminal it runs in: a child has the client's.

Libraries read hundreds of others while they are imported, so all the others are compared.
"""

_MOST_NAMED: Final = 4
"""Variables that are named where they differ."""


@dataclass(frozen=True)
class Circumstances:
    """The circumstances in which a process begins.

    Attributes:
        process: Digest of the code, of Python, of the environment and of the limits.
        profile: Digest of a profile and the files that it names; empty where a command goes on with the profile of its
            thread, and any will do.
    """

    process: str
    profile: str

    def met_by(self, there: Circumstances) -> bool:
        """Tell whether a command may run in a process that began with others."""
        return self.process == there.process and self.profile in {"", there.profile}


def circumstances(profile: str) -> Circumstances:
    """Return the circumstances of this process, for a command with a profile.

    Raises:
        BadInput: The profile cannot be read.
    """
    began = {
        "python": [sys.version, sys.executable, list(sys.flags), sys.path, str(_PACKAGE)],
        "installed": [
            (folder, os.stat(folder).st_mtime_ns)  # noqa: PTH116 - a string, many times
            for folder in sys.path
            if folder.endswith(_INSTALLED) and os.path.isdir(folder)  # noqa: PTH112
        ],
        "code": list(_code(str(_PACKAGE))),
        "user": [os.getuid(), os.geteuid(), os.getgid(), sorted(os.getgroups())],
        "machine": [sorted(os.sched_getaffinity(0)), os.getpriority(os.PRIO_PROCESS, 0), _limits()],
        "environment": sorted(compared(os.environ).items()),
    }
    return Circumstances(_digest(began), _digest(_of_profile(profile)))


def compared(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that decide what the libraries are once they are imported."""
    return {name: value for name, value in environment.items() if not _SESSION.fullmatch(name)}


def what_differs(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Say, in a clause, why a process does not run a command that begins elsewhere.

    Args:
        there: The variables of the process.
        here: Those of the command.
    """
    one, other = compared(there), compared(here)
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    if not names:
        return "the code, the profile, the user or a limit is another"
    listed = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if names[_MOST_NAMED:] else "")
    return f"{listed} {'is' if len(names) == 1 else 'are'} set otherwise"


def minutes_of(profile: str | None, environment: Mapping[str, str]) -> float:
    """Return for how many minutes a resident process stays without a command; 0 where there is to be none.

    The environment variable says so, or else the profile. In continuous integration (``CI``) nothing stays behind.

    Raises:
        BadInput: The variable says neither minutes nor ``off``, or the profile cannot be read.
    """
    said = environment.get(VARIABLE, "").strip().lower()
    if said in {"off", "no", "false"}:
        return 0.0
    if said:
        if re.fullmatch(r"\d{1,5}(\.\d{1,3})?", said):
            return float(said)
        msg = f"{VARIABLE}={said[:40]} is neither `off` nor a number of minutes, such as 30."
        raise BadInput(msg)
    if environment.get("CI", "").strip().lower() in {"1", "true", "yes"}:
        return 0.0
    table = read_profile_file(located(profile or DEFAULT_PROFILE)).get("resident", {})
    minutes = table.get("minutes", RESIDENT_MINUTES) if isinstance(table, dict) else RESIDENT_MINUTES
    # What is no number is told by who reads the profile whole.
    return float(minutes) if isinstance(minutes, int | float) else 0.0


def _of_profile(profile: str) -> dict[str, Any]:
    path = located(profile)
    data = read_profile_file(path)
    return {"path": str(path), "data": data, "files": list(_named_files(data, path.parent))}


def _named_files(data: object, folder: Path) -> Iterator[tuple[str, int, int]]:
    """Find the files that values name, such as facts; those of a checkpoint are told apart where it is read."""
    if isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _named_files(value, folder)
    elif isinstance(data, str) and "/" in data:
        for path in (folder / data, _PACKAGE / data):
            if path.is_file():
                stat = path.stat()
                yield str(path), stat.st_size, stat.st_mtime_ns
                return


def _code(folder: str) -> Iterator[tuple[str, int, int]]:
    """Walk the files of the package: their paths, sizes and times."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _code(entry.path)
            else:
                stat = entry.stat()
                yield entry.path, stat.st_size, stat.st_mtime_ns


def _limits() -> list[tuple[int, int]]:
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return [resource.getrlimit(getattr(resource, name)) for name in sorted(names)]


def _digest(said: dict[str, Any]) -> str:
    text = json.dumps(said, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]
