"""The tables of learned prompts in SQLite: their records, and beside each its tensor and its feature.

Numbers are given out once and rise with time, so that a search index that knows the highest number and how often rows
were forgotten knows whether it is still right.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.errors import SnellenError
from snellen.memory.database_library import Database, Migrations
from snellen.memory.demonstrations import Demonstration
from snellen.memory.prompts.records import LearnedPrompt, PromptRow, identity, same_concept

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Vector = NDArray[np.float32]

DATABASE: Final = "prompts.sqlite"
TENSORS: Final = "3_tensors"
"""The migration that brings tensors into the database from the files of earlier versions."""

FROM_BLOCKS: Final = (
    "SELECT number, block_feature(block, place) AS feature, block_prompt(block, prompt_place) AS prompt FROM prompts"
)
"""The table ``prompt_tensors`` as the files hold it; NULL where a file is damaged or gone. The functions are those of
``OldBlocks``."""

migrations = Migrations("prompts")
_ROW_FIELDS: Final = tuple(field.name for field in fields(PromptRow))
_SHAPE: Final = _ROW_FIELDS.index("shape")
_NUMBERED: Final = "number IN (SELECT value FROM json_each(?))"


@migrations(name="1_prompts")
def _prompts(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE prompts (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            pool TEXT NOT NULL,
            concept TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            shape TEXT NOT NULL,
            created TEXT NOT NULL,
            source TEXT NOT NULL,
            question TEXT NOT NULL,
            answer TEXT NOT NULL,
            picture TEXT NOT NULL,
            steps INTEGER NOT NULL,
            loss REAL NOT NULL,
            dimension INTEGER NOT NULL,
            block TEXT NOT NULL,
            place INTEGER NOT NULL,
            prompt_place INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX prompts_by_owner ON prompts (pool, fingerprint, number)")
    db.execute("CREATE INDEX prompts_by_concept ON prompts (pool, fingerprint, concept, number)")
    db.execute("CREATE INDEX prompts_by_block ON prompts (block)")
    # The identity tells a search index that it was made from another database.
    db.execute("CREATE TABLE prompt_state (identity TEXT NOT NULL, forgettings INTEGER NOT NULL)")
    db.execute("INSERT INTO prompt_state VALUES (lower(hex(randomblob(8))), 0)")


@migrations(name="2_arrived_demonstrations")
def _arrived_demonstrations(db: Database) -> None:
    # Demonstrations have a database of their own. Those of an import wait here, in the transaction that also brings
    # its prompts, and are carried over afterwards: a crash between the two loses nothing.
    db.execute("CREATE TABLE arrived_demonstrations (id TEXT PRIMARY KEY, content TEXT NOT NULL)")


@migrations(name=TENSORS)
def _tensors(db: Database) -> None:
    # Little-endian float32, a prompt of zeros as no bytes; NULL where the file of an earlier version could not be read.
    db.execute("CREATE TABLE prompt_tensors (number INTEGER PRIMARY KEY, feature BLOB, prompt BLOB)")
    db.execute(f"INSERT INTO prompt_tensors {FROM_BLOCKS} ORDER BY block, place")
    # These files are deleted afterwards: a crash between the two leaves files that are named here.
    db.execute("CREATE TABLE moved_blocks (block TEXT PRIMARY KEY)")
    db.execute(
        "INSERT INTO moved_blocks SELECT block FROM prompts JOIN prompt_tensors USING (number) GROUP BY block "
        "HAVING COUNT(feature) = COUNT(*) AND COUNT(prompt) = COUNT(*)"
    )
    db.execute("DROP INDEX prompts_by_block")
    for column in ("block", "place", "prompt_place"):
        db.execute(f"ALTER TABLE prompts DROP COLUMN {column}")


@migrations(name="4_journals")
def _journals(db: Database) -> None:
    # How far the journals of stores were read, by their identity.
    db.execute("CREATE TABLE journals (identity TEXT PRIMARY KEY, seen INTEGER NOT NULL)")


class PromptDamaged(SnellenError):  # noqa: N818 - reads as what happened
    """The tensors of a prompt are missing, or are not what was stored."""


@dataclass(frozen=True)
class PromptSelection:
    """The prompts that are meant; what is not given restricts nothing."""

    ids: tuple[str, ...] = ()
    pool: str = ""
    concept: str = ""
    fingerprint: str = ""

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition and its values."""
        columns = {"pool": self.pool, "concept": same_concept(self.concept), "fingerprint": self.fingerprint}
        chosen = {name: value for name, value in columns.items() if value}
        conditions = [f"{name} = ?" for name in chosen]
        values: list[Any] = list(chosen.values())
        if self.ids:
            conditions.append("id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.ids))
        return " AND ".join(conditions) or "1", values


@dataclass(frozen=True)
class StoredPrompt:
    """A row of the database; its tensors are checked when they are read."""

    number: int
    row: PromptRow
    feature: bytes | None
    prompt: bytes | None

    def learned(self) -> LearnedPrompt:
        """Return the prompt, checked against its id.

        Raises:
            PromptDamaged: the tensors are not what was stored.
        """
        if self.feature is None or self.prompt is None:
            raise self._damaged()
        if len(self.feature) % 4 or len(self.prompt) not in {0, 4 * prod(self.row.shape)}:
            raise self._damaged()
        feature = np.frombuffer(self.feature, dtype="<f4")
        if self.prompt:
            prompt: Vector = np.frombuffer(self.prompt, dtype="<f4").reshape(self.row.shape)
        else:
            prompt = np.zeros(self.row.shape, dtype=np.float32)
        if identity(self.row, prompt, feature) != self.row.id:
            raise self._damaged()
        return LearnedPrompt(self.row, prompt, feature)

    def is_whole(self) -> bool:
        """Tell whether the prompt is what was stored."""
        try:
            self.learned()
        except PromptDamaged:
            return False
        return True

    def _damaged(self) -> PromptDamaged:
        how = "missing" if self.feature is None or self.prompt is None else "damaged"
        msg = (
            f"The prompt {self.row.id} for {self.row.concept!r} in the pool {self.row.pool} is {how}; "
            "`snellen memory verify` names what is lost and forgets it."
        )
        return PromptDamaged(msg)


@dataclass(frozen=True)
class State:
    """The state of a pool's rows that a search index must have seen to be right."""

    identity: str
    forgettings: int
    last: int
    """The highest number of its pool and fingerprint; 0 where there is none."""
    dimension: int


def state_of(db: Database, pool: str, fingerprint: str) -> State:
    """Return the state of a pool's rows of one fingerprint."""
    name, forgettings = db.execute("SELECT identity, forgettings FROM prompt_state").fetchone()
    last = db.execute(
        "SELECT number, dimension FROM prompts WHERE pool = ? AND fingerprint = ? ORDER BY number DESC LIMIT 1",
        [pool, fingerprint],
    ).fetchone()
    number, dimension = last or (0, 0)
    return State(name, forgettings, number, dimension)


@dataclass(frozen=True)
class OwnedRows:
    """The rows of one pool and fingerprint, as its search index reads them."""

    db: Database
    pool: str
    fingerprint: str

    def state(self) -> State:
        """Return what changes whenever rows are added or forgotten."""
        return state_of(self.db, self.pool, self.fingerprint)

    def numbers_after(self, number: int) -> Numbers:
        """Return the rows beyond a number, the oldest first."""
        query = "SELECT number FROM prompts WHERE pool = ? AND fingerprint = ? AND number > ? ORDER BY number"
        return _numbers(self.db, query, [self.pool, self.fingerprint, number])

    def features(self, numbers: Numbers) -> Vector:
        """Return the features of rows, float32 (n, d); the numbers rise.

        Raises:
            PromptDamaged: a feature cannot be read.
        """
        return features(self.db, numbers)[1]

    def sample(self, last: int, share: float) -> Numbers:
        """Return about a share of the rows up to a number: those whose ids, which are hashes, come first."""
        # The signs keep SQLite from reading all rows of the pool: the index of ids has the share in one place.
        query = (
            "SELECT number FROM prompts WHERE id < ? AND +pool = ? AND +fingerprint = ? AND +number <= ? ORDER BY id"
        )
        before = f"{min(int(share * 2**64), 2**64 - 1):016x}"
        return _numbers(self.db, query, [before, self.pool, self.fingerprint, last])


def insert(db: Database, prompts: Sequence[LearnedPrompt]) -> None:
    """Add prompts; none of them may be there yet."""
    names = (*_ROW_FIELDS, "dimension")
    db.conn.executemany(
        f"INSERT INTO prompts ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",  # noqa: S608 - our own names
        [_values(one) for one in prompts],
    )
    put_tensors(db, prompts)


def put_tensors(db: Database, prompts: Sequence[LearnedPrompt]) -> None:
    """Write the tensors of prompts whose records are there."""
    db.conn.executemany(
        "INSERT OR REPLACE INTO prompt_tensors VALUES ((SELECT number FROM prompts WHERE id = ?), ?, ?)",
        [(one.row.id, _bytes(one.feature), _bytes(one.prompt) if one.prompt.any() else b"") for one in prompts],
    )


def delete(db: Database, numbers: Sequence[int]) -> None:
    """Delete rows, and tell the search indexes of all processes that some are gone."""
    for table in ("prompt_tensors", "prompts"):
        db.execute(f"DELETE FROM {table} WHERE {_NUMBERED}", [json.dumps(list(numbers))])  # noqa: S608 - our own names
    db.execute("UPDATE prompt_state SET forgettings = forgettings + 1")


def seen_of(db: Database, journal: str) -> int:
    """Return the number of the last entry of a journal that was read."""
    found = db.execute("SELECT seen FROM journals WHERE identity = ?", [journal]).fetchone()
    return 0 if found is None else int(found[0])


def see(db: Database, journal: str, number: int) -> None:
    """Note how far a journal was read."""
    db.execute("INSERT OR REPLACE INTO journals VALUES (?, ?)", [journal, number])


def see_nothing(db: Database) -> None:
    """Forget how far journals were read."""
    db.execute("DELETE FROM journals")


def known(db: Database, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that are stored."""
    query = "SELECT id FROM prompts WHERE id IN (SELECT value FROM json_each(?))"
    return {row[0] for row in db.execute(query, [json.dumps(list(ids))])}


def kind_of(db: Database, pool: str, fingerprint: str) -> tuple[tuple[int, ...], int] | None:
    """Return the shape of prompts and the width of features of a pool and fingerprint; None while it is empty."""
    query = "SELECT shape, dimension FROM prompts WHERE pool = ? AND fingerprint = ? LIMIT 1"
    kind = db.execute(query, [pool, fingerprint]).fetchone()
    return None if kind is None else (shape_of(kind[0]), int(kind[1]))


def rows(db: Database, selection: PromptSelection) -> dict[int, PromptRow]:
    """Return the selected records by their number, the oldest first."""
    condition, values = selection.condition()
    query = f"SELECT number, {', '.join(_ROW_FIELDS)} FROM prompts WHERE {condition} ORDER BY number"  # noqa: S608
    return {number: _row(columns) for number, *columns in db.execute(query, values)}


def stored(db: Database, selection: PromptSelection) -> Iterator[StoredPrompt]:
    """Yield the selected prompts with their tensors, the oldest first."""
    condition, values = selection.condition()
    return _stored(db, f"{condition} ORDER BY number", values)


def stored_by_number(db: Database, numbers: Sequence[int]) -> list[StoredPrompt]:
    """Return the prompts with these numbers, in this order; those that are gone are left out."""
    there = {one.number: one for one in _stored(db, _NUMBERED, [json.dumps(list(numbers))])}
    return [there[number] for number in numbers if number in there]


def numbers_of(db: Database, selection: PromptSelection, limit: int | None = None) -> Numbers:
    """Return the numbers of the selected rows, the oldest first."""
    condition, values = selection.condition()
    query = f"SELECT number FROM prompts WHERE {condition} ORDER BY number LIMIT ?"  # noqa: S608 - our own names
    return _numbers(db, query, [*values, -1 if limit is None else limit])


def features(db: Database, numbers: Numbers) -> tuple[list[str], Vector]:
    """Return the ids and the features of rows, float32 (n, d).

    Args:
        db: The database.
        numbers: Rising.

    Raises:
        PromptDamaged: a feature is missing or has another width than the others.
    """
    query = (
        "SELECT id, feature, dimension, number FROM prompts LEFT JOIN prompt_tensors USING (number) "  # noqa: S608
        f"WHERE {_NUMBERED} ORDER BY number"  # our own condition
    )
    ids, content, width = [], [], 0
    for name, feature, dimension, number in db.execute(query, [json.dumps(numbers.tolist())]):
        width = dimension
        if feature is None or len(feature) != 4 * dimension:
            stored_by_number(db, [number])[0].learned()
        ids.append(name)
        content.append(feature)
    return ids, np.frombuffer(b"".join(content), dtype="<f4").reshape(len(ids), width)


def shape_of(text: str) -> tuple[int, ...]:
    """Return a shape as the column ``shape`` holds it."""
    return tuple(json.loads(text))


def arrive(db: Database, demonstrations: Sequence[Demonstration]) -> None:
    """Let demonstrations wait until they are carried over to their own database."""
    db.conn.executemany(
        "INSERT OR IGNORE INTO arrived_demonstrations (id, content) VALUES (?, ?)",
        [(one.id, json.dumps(asdict(one), ensure_ascii=False)) for one in demonstrations],
    )


def arrived(db: Database) -> list[Demonstration]:
    """Return the demonstrations that wait."""
    waiting = db.execute("SELECT content FROM arrived_demonstrations ORDER BY rowid").fetchall()
    return [Demonstration(**json.loads(row[0])) for row in waiting]


def delivered(db: Database, ids: Sequence[str]) -> None:
    """Let demonstrations that were carried over wait no more."""
    query = "DELETE FROM arrived_demonstrations WHERE id IN (SELECT value FROM json_each(?))"
    with db.atomic():
        db.execute(query, [json.dumps(list(ids))])


def _stored(db: Database, condition: str, values: Sequence[Any]) -> Iterator[StoredPrompt]:
    query = (
        f"SELECT number, feature, prompt, {', '.join(_ROW_FIELDS)} FROM prompts "  # noqa: S608 - our own names
        f"LEFT JOIN prompt_tensors USING (number) WHERE {condition}"
    )
    for number, feature, prompt, *columns in db.execute(query, list(values)):
        yield StoredPrompt(number, _row(columns), feature, prompt)


def _row(columns: list[Any]) -> PromptRow:
    columns[_SHAPE] = shape_of(columns[_SHAPE])
    return PromptRow(*columns)


def _values(one: LearnedPrompt) -> list[Any]:
    values = [getattr(one.row, name) for name in _ROW_FIELDS]
    values[_SHAPE] = json.dumps(one.row.shape)
    return [*values, len(one.feature)]


def tensor_bytes(one: LearnedPrompt) -> bytes:
    """Return the feature of a prompt and, after it, its tensor, which takes no bytes if it is zero."""
    return _bytes(one.feature) + (_bytes(one.prompt) if one.prompt.any() else b"")


def _bytes(tensor: Vector) -> bytes:
    return np.ascontiguousarray(tensor, dtype="<f4").tobytes()


def _numbers(db: Database, query: str, values: list[Any]) -> Numbers:
    return np.fromiter((row[0] for row in db.execute(query, values)), dtype=np.int64)
