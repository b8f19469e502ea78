"""The findings of a verification, and the databases that it may use or must move aside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.memory.home import connect, storing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Kind = Literal["lost", "saved", "rebuilt", "orphan"]

_DATABASE_FILES: Final = ("", "-wal", "-shm")


@dataclass(frozen=True)
class VerificationFinding:
    """Something that was not as it should be."""

    kind: Kind
    """``lost`` for good, ``saved`` from a damaged file, ``rebuilt`` from what is whole, or an ``orphan`` that a
    crash left and nobody misses."""
    place: str
    said: str


@dataclass
class Verification:
    """The counts of what was checked, and the findings."""

    repaired: bool
    """Whether findings were mended, or only noted."""
    prompts: int = 0
    blocks: int = 0
    """Files of prompts that an earlier version left."""
    indexes: int = 0
    demonstrations: int = 0
    threads: int = 0
    pictures: int = 0
    trials: int = 0
    samples: int = 0
    adapters: int = 0
    findings: list[VerificationFinding] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    """For each picture that something cannot do without, what; prompts can, and archives do not carry pictures."""

    @property
    def clean(self) -> bool:
        """True if there was nothing to mend."""
        return not self.findings

    @property
    def lost(self) -> int:
        """The number of losses among the findings."""
        return sum(one.kind == "lost" for one in self.findings)

    def use(self, user: str, pictures: Iterable[str]) -> None:
        """Note which pictures something refers to; it is told of the first that does."""
        for one in pictures:
            self.users.setdefault(one, user)

    def to_json(self) -> dict[str, Any]:
        """Return the counts and the findings as plain JSON."""
        counts = {name: value for name, value in asdict(self).items() if name != "users"}
        return counts | {"clean": self.clean, "lost": self.lost}

    def note(self, kind: Kind, place: object, said: str) -> None:
        """Add a finding."""
        self.findings.append(VerificationFinding(kind, str(place), said))

    def can_use(self, database: Path, loss: str) -> bool:
        """Return whether a database can be used now; a damaged one is noted, and moved aside where that is allowed.

        Raises:
            MemoryTrouble: the database is locked or read-only, or the disk is full.
        """
        if is_whole(database):
            return True
        if not self.repaired:
            self.note("lost", database, f"the database is damaged; {loss}")
            return False
        aside = move_aside(database)
        self.note("lost", database, f"the database is damaged; {loss}; the file is kept as {aside.name}")
        return True


def is_whole(database: Path) -> bool:
    """Return whether a database can be read, or is missing.

    Raises:
        MemoryTrouble: it is locked or read-only, or the disk is full.
    """
    if not database.exists():
        return True
    try:
        with closing(connect(database)) as connection:
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.OperationalError as error:
        if "malformed" in str(error).lower():
            return False
        with storing(database):  # trouble, but no damage
            raise
    except sqlite3.DatabaseError:
        return False


def move_aside(database: Path) -> Path:
    """Give a damaged database another name, and return it.

    Raises:
        MemoryTrouble: the folder is not writable.
    """
    aside = unused_name(database)
    with storing(database):
        for suffix in _DATABASE_FILES:
            file = database.with_name(database.name + suffix)
            if file.exists():
                file.rename(aside.with_name(aside.name + suffix))
    return aside


def delete_database(database: Path) -> None:
    """Delete a database that is made again by whoever needs it.

    Raises:
        MemoryTrouble: the folder is not writable.
    """
    with storing(database):
        for suffix in _DATABASE_FILES:
            database.with_name(database.name + suffix).unlink(missing_ok=True)


def unused_name(database: Path) -> Path:
    """Return a name for what is damaged of a database."""
    names = (database.with_name(f"{database.name}.damaged-{number}") for number in range(1, 10_000))
    return next(path for path in names if not path.exists())
