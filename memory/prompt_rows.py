"""The rows of learned prompts in SQLite: what there is, and in which block its tensors stand.

Numbers are given out once and rise with time, so that a search index that knows the highest number and how often rows
were forgotten knows whether it is still right.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sqlite_utils import Database, Migrations

from snellen.memory.prompt_records import PromptRow, same_concept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from snellen.memory.demonstrations import Demonstration
    from snellen.memory.prompt_blocks import PlacedPrompt

DATABASE: Final = "prompts.sqlite"

migrations = Migrations("prompts")
_ROW_FIELDS: Final = tuple(field.name for field in fields(PromptRow))
_FIELDS: Final = (*_ROW_FIELDS, "dimension", "block", "place", "prompt_place")
_SHAPE: Final = _ROW_FIELDS.index("shape")
_CHUNK: Final = 10_000
"""Values in one ``IN (…)``; SQLite takes 32,766."""


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


@dataclass(frozen=True)
class PromptSelection:
    """Which prompts are meant; what is not given restricts nothing."""

    ids: tuple[str, ...] = ()
    pool: str = ""
    concept: str = ""
    fingerprint: str = ""

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition and its values."""
        given = {"pool": self.pool, "concept": same_concept(self.concept), "fingerprint": self.fingerprint}
        chosen = {name: value for name, value in given.items() if value}
        conditions = [f"{name} = ?" for name in chosen]
        values: list[Any] = list(chosen.values())
        if self.ids:
            conditions.append("id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.ids))
        return " AND ".join(conditions) or "1", values


@dataclass(frozen=True)
class StoredRow:
    """A row and where its tensors stand."""

    number: int
    row: PromptRow
    block: str
    place: int
    prompt_place: int


@dataclass(frozen=True)
class FeatureRows:
    """Where the features of n prompts stand, in the order they were added."""

    numbers: NDArray[np.int64]
    blocks: tuple[str, ...]
    places: NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """What a search index must have seen to be right."""

    identity: str
    forgettings: int
    last: int
    """The highest number of its pool and fingerprint; 0 where there is none."""
    dimension: int


def state_of(db: Database, pool: str, fingerprint: str) -> State:
    """Return the state of a pool's rows of one fingerprint."""
    identity, forgettings = db.execute("SELECT identity, forgettings FROM prompt_state").fetchone()
    last = db.execute(
        "SELECT number, dimension FROM prompts WHERE pool = ? AND fingerprint = ? ORDER BY number DESC LIMIT 1",
        [pool, fingerprint],
    ).fetchone()
    number, dimension = last or (0, 0)
    return State(identity, forgettings, number, dimension)


def insert(db: Database, prompts: Sequence[PlacedPrompt], block: str) -> None:
    """Add rows; none of them may be there yet."""
    names, marks = ", ".join(_FIELDS), ", ".join("?" * len(_FIELDS))
    db.conn.executemany(
        f"INSERT INTO prompts ({names}) VALUES ({marks})",  # noqa: S608 - our own names
        [_values(one, block) for one in prompts],
    )


def move(db: Database, prompts: Sequence[PlacedPrompt], block: str) -> None:
    """Say that these rows now stand in another block."""
    db.conn.executemany(
        "UPDATE prompts SET block = ?, place = ?, prompt_place = ? WHERE id = ?",
        [(block, one.place, one.prompt_place, one.prompt.row.id) for one in prompts],
    )


def delete(db: Database, ids: Sequence[str]) -> None:
    """Delete rows, and tell the search indexes of all processes that some are gone."""
    db.execute("DELETE FROM prompts WHERE id IN (SELECT value FROM json_each(?))", [json.dumps(list(ids))])
    db.execute("UPDATE prompt_state SET forgettings = forgettings + 1")


def known(db: Database, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that are stored."""
    query = "SELECT id FROM prompts WHERE id IN (SELECT value FROM json_each(?))"
    return {row[0] for row in db.execute(query, [json.dumps(list(ids))])}


def kind_of(db: Database, pool: str, fingerprint: str) -> tuple[tuple[int, ...], int] | None:
    """Return the shape of prompts and the width of features of a pool and fingerprint; None while it is empty."""
    query = "SELECT shape, dimension FROM prompts WHERE pool = ? AND fingerprint = ? LIMIT 1"
    found = db.execute(query, [pool, fingerprint]).fetchone()
    return None if found is None else (shape_of(found[0]), int(found[1]))


def stored_rows(db: Database, selection: PromptSelection) -> Iterator[StoredRow]:
    """Yield the selected rows, the oldest first."""
    condition, values = selection.condition()
    return _stored_where(db, f"{condition} ORDER BY number", values)


def rows_by_number(db: Database, numbers: Sequence[int]) -> list[StoredRow]:
    """Return the rows with these numbers, in this order; those that are gone are left out."""
    found: dict[int, StoredRow] = {}
    for chunk in _chunks(numbers):
        found |= {one.number: one for one in _stored_where(db, f"number IN ({', '.join('?' * len(chunk))})", chunk)}
    return [found[number] for number in numbers if number in found]


def numbers_of(db: Database, selection: PromptSelection, limit: int | None = None) -> NDArray[np.int64]:
    """Return the numbers of the selected rows, the oldest first."""
    condition, values = selection.condition()
    query = f"SELECT number FROM prompts WHERE {condition} ORDER BY number LIMIT ?"  # noqa: S608 - our own names
    found = db.execute(query, [*values, -1 if limit is None else limit])
    return np.fromiter((row[0] for row in found), dtype=np.int64)


def places_by_number(db: Database, numbers: NDArray[np.int64]) -> tuple[FeatureRows, list[str]]:
    """Return where the features of these rows stand, and their ids, the oldest first."""
    found: list[tuple[int, str, int, str]] = []
    for chunk in _chunks(sorted(numbers.tolist())):
        marks = ", ".join("?" * len(chunk))
        query = f"SELECT number, block, place, id FROM prompts WHERE number IN ({marks}) ORDER BY number"  # noqa: S608
        found += db.execute(query, chunk).fetchall()
    return _places([row[:3] for row in found]), [row[3] for row in found]


def places_after(db: Database, pool: str, fingerprint: str, number: int) -> FeatureRows:
    """Return where the features of a pool's rows beyond a number stand, the oldest first."""
    query = "SELECT number, block, place FROM prompts WHERE pool = ? AND fingerprint = ? AND number > ? ORDER BY number"
    return _places(db.execute(query, [pool, fingerprint, number]).fetchall())


def blocks_in_use(db: Database, names: Sequence[str] | None = None) -> set[str]:
    """Return the blocks that rows refer to, all of them or those among ``names``."""
    if names is None:
        return {row[0] for row in db.execute("SELECT DISTINCT block FROM prompts")}
    query = "SELECT DISTINCT block FROM prompts WHERE block IN (SELECT value FROM json_each(?))"
    return {row[0] for row in db.execute(query, [json.dumps(list(names))])}


def rows_of_block(db: Database, block: str) -> list[StoredRow]:
    """Return the rows whose tensors stand in a block, by their place in it."""
    return list(_stored_where(db, "block = ? ORDER BY place", [block]))


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
    from snellen.memory.demonstrations import Demonstration

    found = db.execute("SELECT content FROM arrived_demonstrations ORDER BY rowid").fetchall()
    return [Demonstration(**json.loads(row[0])) for row in found]


def delivered(db: Database, ids: Sequence[str]) -> None:
    """Let demonstrations that were carried over wait no more."""
    query = "DELETE FROM arrived_demonstrations WHERE id IN (SELECT value FROM json_each(?))"
    with db.atomic():
        db.execute(query, [json.dumps(list(ids))])


def _values(one: PlacedPrompt, block: str) -> list[Any]:
    row = one.prompt.row
    values = [getattr(row, name) for name in _ROW_FIELDS]
    values[_SHAPE] = json.dumps(row.shape)
    return [*values, len(one.prompt.feature), block, one.place, one.prompt_place]


def _stored_where(db: Database, condition: str, values: Sequence[Any]) -> Iterator[StoredRow]:
    query = f"SELECT number, block, place, prompt_place, {', '.join(_ROW_FIELDS)} FROM prompts WHERE {condition}"  # noqa: S608
    for number, block, place, prompt_place, *told in db.execute(query, list(values)):
        told[_SHAPE] = shape_of(told[_SHAPE])
        yield StoredRow(number, PromptRow(*told), block, place, prompt_place)


def _places(found: Sequence[tuple[int, str, int]]) -> FeatureRows:
    numbers, blocks, places = zip(*found, strict=True) if found else ((), (), ())
    return FeatureRows(np.array(numbers, dtype=np.int64), tuple(blocks), np.array(places, dtype=np.int64))


def _chunks(values: Sequence[int]) -> Iterable[list[int]]:
    return (list(values[start : start + _CHUNK]) for start in range(0, len(values), _CHUNK))
