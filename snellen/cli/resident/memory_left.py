"""The share of memory that is left to programs, of the machine or of the container that this process is in."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MACHINE: Final = Path("/proc/meminfo")
_CONTAINER: Final = Path("/sys/fs/cgroup")


def memory_left(machine: Path = _MACHINE, container: Path = _CONTAINER) -> float:
    """Return the share in [0, 1]; 1 where the system does not say.

    Args:
        machine: The file in which Linux tells it of the machine.
        container: The folder in which it tells it of a control group (version 2); cached files count as left.
    """
    return min(_of_machine(machine), _of_container(container))


def _of_machine(file: Path) -> float:
    try:
        lines = dict(line.split(":", 1) for line in file.read_text(encoding="ascii").splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) / int(lines["MemTotal"].split()[0])
    except (OSError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return 1.0


def _of_container(folder: Path) -> float:
    try:
        most = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
        again = sum(int(line.split()[1]) for line in lines if line.split()[0] in {"inactive_file", "active_file"})
        return 1.0 if most == "max" else max(0.0, 1 - (used - again) / int(most))
    except (OSError, ValueError, IndexError, ZeroDivisionError):
        return 1.0
