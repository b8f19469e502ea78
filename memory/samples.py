"""The pictures of every investigation: which ones each of its experiments is made of, and how they came about."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

from snellen.memory.database_library import Database, Migrations
from snellen.memory.store_tables import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DATABASE: Final = "samples.sqlite"

_ID: Final = re.compile(r"[0-9a-f]{64}")

migrations = Migrations("samples")


@migrations(name="1_samples")
def _samples(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE samples (
            investigation TEXT NOT NULL,
            experiment INTEGER NOT NULL,
            round INTEGER NOT NULL,
            arm INTEGER NOT NULL,
            picture TEXT NOT NULL,
            plain TEXT NOT NULL,
            label TEXT NOT NULL,
            origin TEXT NOT NULL,
            rejected INTEGER NOT NULL,
            PRIMARY KEY (investigation, experiment, round, arm)
        ) WITHOUT ROWID
        """
    )


@migrations(name="2_details")
def _details(db: Database) -> None:
    db.execute("ALTER TABLE samples ADD COLUMN details TEXT NOT NULL DEFAULT ''")


STEPS: Final = (
    """
    CREATE TABLE samples (
        investigation TEXT NOT NULL,
        experiment BIGINT NOT NULL,
        round BIGINT NOT NULL,
        arm BIGINT NOT NULL,
        picture TEXT NOT NULL,
        plain TEXT NOT NULL,
        label TEXT NOT NULL,
        origin TEXT NOT NULL,
        rejected BIGINT NOT NULL,
        details TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (investigation, experiment, round, arm)
    )
    """,
)
"""The same table in Postgres."""


@dataclass(frozen=True)
class Sample:
    """One picture of an experiment.

    Attributes:
        investigation: The thread that it belongs to.
        experiment: The number of the experiment, from 0.
        round: The number of the round, from 0; a round has one picture of each arm.
        arm: The number of the arm in its design, from 0.
        picture: The artifact's id.
        plain: That of the picture before it was transformed.
        label: What it is said to show.
        origin: Where it is from, for people.
        rejected: Pictures before it that did not show what they should, or could not be changed as they should be.
        details: What else its protocol has to know about it, as JSON; empty where it is nothing.
    """

    investigation: str
    experiment: int
    round: int
    arm: int
    picture: str
    plain: str
    label: str
    origin: str
    rejected: int = 0
    details: str = ""


class SampleTable(StoreTable):
    """The samples of one home or store; safe for threads and for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Open the table and bring it up to date.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations, STEPS)

    def add(self, samples: Iterable[Sample]) -> None:
        """Store samples, all or none; those that are there already stay as they are.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        with self._transaction() as rows:
            marks = ", ".join("?" * len(Sample.__dataclass_fields__))
            query = f"INSERT INTO samples VALUES ({marks}) ON CONFLICT DO NOTHING"  # noqa: S608 - a number of marks
            rows.executemany(query, [astuple(sample) for sample in samples])

    def copy(self, investigation: str, name: str, *, before: int = sys.maxsize) -> None:
        """Give another investigation the samples of this one; those that it has already stay as they are.

        Args:
            investigation: Whose samples are copied.
            name: Who gets them.
            before: The number of the first experiment whose samples are not copied.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        columns = ", ".join(list(Sample.__dataclass_fields__)[1:])
        chosen = f"SELECT ?, {columns} FROM samples WHERE investigation = ? AND experiment < ?"  # noqa: S608
        with self._transaction() as rows:
            rows.execute(f"INSERT INTO samples {chosen} ON CONFLICT DO NOTHING", (name, investigation, before))

    def damaged(self) -> list[tuple[str, int, int, int]]:
        """Return the keys of samples that cannot be what was stored: investigation, experiment, round and arm."""
        with self._reading() as rows:
            return [tuple(row[:4]) for row in rows.execute("SELECT * FROM samples") if not _is_whole(Sample(*row))]

    def forget(self, keys: Iterable[tuple[str, int, int, int]]) -> None:
        """Delete single samples.

        Raises:
            MemoryTrouble: the database cannot be written; nothing was deleted.
        """
        query = "DELETE FROM samples WHERE investigation = ? AND experiment = ? AND round = ? AND arm = ?"
        with self._transaction() as rows:
            rows.executemany(query, list(keys))

    def pictures(self) -> dict[str, str]:
        """Return for each picture of a sample an investigation that has it."""
        query = "SELECT picture, investigation FROM samples UNION ALL SELECT plain, investigation FROM samples"
        with self._reading() as rows:
            return {str(picture): str(name) for picture, name in rows.execute(query) if picture}

    def albums(self) -> set[str]:
        """Return the names that samples are kept by."""
        with self._reading() as rows:
            return {str(name) for (name,) in rows.execute("SELECT DISTINCT investigation FROM samples")}

    def forget_albums(self, names: Iterable[str]) -> int:
        """Delete all samples that are kept by some names; return how many there were.

        Raises:
            MemoryTrouble: the database cannot be written; nothing was deleted.
        """
        with self._transaction() as rows:
            query = "DELETE FROM samples WHERE investigation = ?"
            return sum(rows.execute(query, (name,)).rowcount for name in sorted(set(names)))

    def count(self) -> int:
        """Return how many samples there are."""
        with self._reading() as rows:
            return int(rows.execute("SELECT COUNT(*) FROM samples").fetchone()[0])

    def of(self, investigation: str, experiment: int) -> list[Sample]:
        """Return the samples of an experiment, round by round, in the order of the arms."""
        query = "SELECT * FROM samples WHERE investigation = ? AND experiment = ? ORDER BY round, arm"
        with self._reading() as rows:
            return [Sample(*row) for row in rows.execute(query, (investigation, experiment))]


def _is_whole(sample: Sample) -> bool:
    try:
        numbers = min(sample.experiment, sample.round, sample.arm, sample.rejected) >= 0
        json.loads(sample.details or "{}")
        return numbers and all(map(_ID.fullmatch, (sample.picture, sample.plain)))
    except (ValueError, TypeError):
        return False
