"""The trials of every investigation: what a model found of each choice, measured once and for all.

A trial is named by what decides it: the model's fingerprint, the pictures, the question and the choices. Whoever asks
the same again, after a crash, in another investigation or another process, finds it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from snellen.memory.database_library import Database, Migrations
from snellen.memory.store_tables import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from snellen.memory.statements import Statements

DATABASE: Final = "trials.sqlite"
_AT_ONCE: Final = 500
"""Ids of one query: SQLite takes at most 999 values in old builds."""
_TIMES_KEPT: Final = 20
"""Times of a model that are kept, the latest: machines change, and so does what else they do."""

migrations = Migrations("trials")


@migrations(name="1_trials")
def _trials(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE trials (
            id TEXT PRIMARY KEY,
            model TEXT NOT NULL,
            pictures TEXT NOT NULL,
            question TEXT NOT NULL,
            choices TEXT NOT NULL,
            scores TEXT NOT NULL,
            basis TEXT NOT NULL,
            said TEXT NOT NULL,
            created TEXT NOT NULL
        ) WITHOUT ROWID
        """
    )


@migrations(name="2_digests")
def _digests(db: Database) -> None:
    # Empty for trials of earlier versions: nothing tells whether those are as they were measured.
    db.execute("ALTER TABLE trials ADD COLUMN digest TEXT NOT NULL DEFAULT ''")


@migrations(name="3_times")
def _times(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE times (
            number INTEGER PRIMARY KEY,
            model TEXT NOT NULL,
            pictures INTEGER NOT NULL,
            ranked INTEGER NOT NULL,
            seconds REAL NOT NULL
        )
        """
    )


STEPS: Final = (
    """
    CREATE TABLE trials (
        id TEXT PRIMARY KEY,
        model TEXT NOT NULL,
        pictures TEXT NOT NULL,
        question TEXT NOT NULL,
        choices TEXT NOT NULL,
        scores TEXT NOT NULL,
        basis TEXT NOT NULL,
        said TEXT NOT NULL,
        created TEXT NOT NULL,
        digest TEXT NOT NULL
    );
    CREATE TABLE times (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        model TEXT NOT NULL,
        pictures BIGINT NOT NULL,
        ranked BIGINT NOT NULL,
        seconds DOUBLE PRECISION NOT NULL
    )
    """,
)
"""The same tables in Postgres."""


@dataclass(frozen=True)
class TrialKey:
    """A question put to a model about pictures.

    Attributes:
        model: Fingerprint of the model, and of how it is asked.
        pictures: Ids of the pictures, in their order.
        question: The question's text.
        choices: The choices, in their order; none where the answer is free.
    """

    model: str
    pictures: tuple[str, ...]
    question: str
    choices: tuple[str, ...]

    @cached_property
    def id(self) -> str:
        """The hash by which the trial is found."""
        content = json.dumps([self.model, self.pictures, self.question, self.choices])
        return hashlib.sha256(content.encode()).hexdigest()[:40]


@dataclass(frozen=True)
class Trial:
    """The answer of a model to such a question, as it was measured.

    Attributes:
        key: What was asked.
        scores: For each choice the log-probability of each of its tokens.
        basis: What the scores are.
        said: The answer as written, where there is one.
        created: When, ISO 8601 in UTC.
    """

    key: TrialKey
    scores: tuple[tuple[float, ...], ...]
    basis: str = "tokens"
    said: str = ""
    created: str = ""


@dataclass(frozen=True)
class TrialTime:
    """Time that a model took for a trial, kept so that somebody can be told how long others will take.

    Attributes:
        model: Its name in the profile: its fingerprint is not known before it was read.
        key: A trial of a shard.
        seconds: Of each trial of the shard, on average.
    """

    model: str
    key: TrialKey
    seconds: float


class TrialTable(StoreTable):
    """The trials of one home or store; safe for threads and for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Open the table and bring it up to date.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations, STEPS)

    def add(self, trials: Iterable[Trial], times: Iterable[TrialTime] = ()) -> int:
        """Store trials, all or none; of those that are there already the first measurement stays.

        Args:
            trials: What was measured.
            times: How long it took; of each model the latest are kept.

        Returns:
            How many were new.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        # In one order: two machines that store the same would otherwise wait for each other.
        values = sorted((_values(trial, now) for trial in trials), key=itemgetter(0))
        query = f"INSERT INTO trials VALUES ({', '.join('?' * 10)}) ON CONFLICT DO NOTHING"  # noqa: S608 - marks
        with self._transaction() as rows:
            added = rows.executemany(query, values).rowcount if values else 0
            for one in sorted(times, key=lambda time: time.model):
                _note_time(rows, one)
            return added

    def get(self, keys: Sequence[TrialKey]) -> dict[TrialKey, Trial]:
        """Return those of these trials that were measured."""
        by_id = {key.id: key for key in keys}
        trials: dict[TrialKey, Trial] = {}
        ids = list(by_id)
        with self._reading() as rows:
            for begun in range(0, len(ids), _AT_ONCE):
                part = ids[begun : begun + _AT_ONCE]
                query = f"SELECT * FROM trials WHERE id IN ({', '.join('?' * len(part))})"  # noqa: S608 - as above
                for row in rows.execute(query, part):
                    key = by_id[row[0]]
                    trials[key] = Trial(key, _scores(row[5]), basis=row[6], said=row[7], created=row[8])
        return trials

    def times(self, model: str, *, pictures: int, ranked: bool) -> list[float]:
        """Return the seconds that a model lately took for a trial, an average for each shard.

        Args:
            model: Its name in the profile.
            pictures: How many pictures each trial is about.
            ranked: Whether choices are ranked.
        """
        query = "SELECT seconds FROM times WHERE model = ? AND pictures = ? AND ranked = ? ORDER BY number"
        with self._reading() as rows:
            return [float(one) for (one,) in rows.execute(query, (model, pictures, int(ranked)))]

    def damaged_ids(self) -> list[str]:
        """Return the ids of trials that are not what was measured, as their ids and digests tell.

        Of trials of earlier versions, which have no digest, what was answered is only read.
        """
        with self._reading() as rows:
            return [str(row[0]) for row in rows.execute("SELECT * FROM trials") if not _is_whole(row)]

    def forget(self, ids: Sequence[str]) -> int:
        """Delete trials, so that they are asked again where they are needed; return how many there were.

        Raises:
            MemoryTrouble: the database cannot be written; nothing was deleted.
        """
        with self._transaction() as rows:
            return _delete(rows, ids)

    def forget_about(self, pictures: Iterable[str]) -> int:
        """Delete the trials about any of some pictures; return how many there were.

        Raises:
            MemoryTrouble: the database cannot be written; nothing was deleted.
        """
        gone = set(pictures)
        with self._transaction() as rows:
            all_of_them = rows.execute("SELECT id, pictures FROM trials")
            return _delete(rows, [one for one, about in all_of_them if not gone.isdisjoint(_pictures(about))])

    def pictures(self) -> set[str]:
        """Return the pictures that trials are about."""
        with self._reading() as rows:
            found = rows.execute("SELECT DISTINCT pictures FROM trials").fetchall()
        return {one for (about,) in found for one in _pictures(about)}

    def count(self, model: str = "") -> int:
        """Return how many trials there are, of one model or of all."""
        where, values = ("WHERE model = ?", [model]) if model else ("", [])
        with self._reading() as rows:
            query = f"SELECT COUNT(*) FROM trials {where}"  # noqa: S608 - our own condition
            return int(rows.execute(query, values).fetchone()[0])


def _delete(rows: Statements, ids: Sequence[str]) -> int:
    if not ids:
        return 0
    return rows.executemany("DELETE FROM trials WHERE id = ?", [(one,) for one in sorted(ids)]).rowcount


def _note_time(rows: Statements, time: TrialTime) -> None:
    kind = (time.model, len(time.key.pictures), int(bool(time.key.choices)))
    same = "model = ? AND pictures = ? AND ranked = ?"
    latest = f"SELECT number FROM times WHERE {same} ORDER BY number DESC LIMIT {_TIMES_KEPT}"  # noqa: S608 - our own
    rows.execute("INSERT INTO times (model, pictures, ranked, seconds) VALUES (?, ?, ?, ?)", (*kind, time.seconds))
    rows.execute(f"DELETE FROM times WHERE {same} AND number NOT IN ({latest})", kind * 2)  # noqa: S608 - our own


def _values(trial: Trial, now: str) -> tuple[Any, ...]:
    key = trial.key
    values = (
        key.id,
        key.model,
        json.dumps(key.pictures),
        key.question,
        json.dumps(key.choices),
        json.dumps(trial.scores),
        trial.basis,
        trial.said,
        trial.created or now,
    )
    return (*values, _digest(values))


def _digest(values: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(list(values)).encode()).hexdigest()[:16]


def _is_whole(row: Sequence[Any]) -> bool:
    *values, digest = row
    identity, model, pictures, question, choices, scores = values[:6]
    try:
        key = TrialKey(model, tuple(json.loads(pictures)), question, tuple(json.loads(choices)))
        _scores(scores)
        return key.id == identity and digest in {"", _digest(values)}
    except (ValueError, TypeError):
        return False


def _pictures(written: str) -> list[str]:
    """Read which pictures a trial is about; a damaged one is about none, and named by who checks it."""
    try:
        return [str(one) for one in json.loads(written)]
    except (ValueError, TypeError):
        return []


def _scores(written: str) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, row)) for row in json.loads(written))
