"""The pictures of every investigation: which ones each of its experiments is made of, and how they came about."""

from __future__ import annotations

import sys
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Final

from sqlite_utils import Database, Migrations

from memory.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DATABASE: Final = "samples.sqlite"

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


class SampleTable(Table):
    """The samples of one home; safe for threads and for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Open the table and bring it up to date.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations)

    def add(self, samples: Iterable[Sample]) -> None:
        """Store samples, all or none; those that are there already stay as they are.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        with self._rows() as rows, rows.atomic():
            marks = ", ".join("?" * len(Sample.__dataclass_fields__))
            query = f"INSERT OR IGNORE INTO samples VALUES ({marks})"  # noqa: S608 - a number of marks
            rows.conn.executemany(query, [astuple(sample) for sample in samples])

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
        with self._rows() as rows, rows.atomic():
            rows.conn.execute(f"INSERT OR IGNORE INTO samples {chosen}", (name, investigation, before))

    def of(self, investigation: str, experiment: int) -> list[Sample]:
        """Return the samples of an experiment, round by round, in the order of the arms."""
        query = "SELECT * FROM samples WHERE investigation = ? AND experiment = ? ORDER BY round, arm"
        with self._rows() as rows:
            return [Sample(*row) for row in rows.conn.execute(query, (investigation, experiment))]
