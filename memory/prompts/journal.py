"""The journal of what machines that share a store have learned and forgotten, in the order in which they did.

Each home searches prompts in a database of its own and reads on here from where it was (`PromptPool.catch_up`). Of a
prompt there is one entry: that it was learned, or that it was forgotten. Tensors lie where the store's files do, or
else beside their entry.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.memory.postgres.server import store_server
from snellen.memory.prompts.records import LearnedPrompt, row_from_json
from snellen.memory.prompts.rows import DATABASE, StoredPrompt, tensor_bytes
from snellen.memory.stored_files import PROMPTS, StoredFiles, shared_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from snellen.memory.statements import Statements, TableDatabase

STEPS: Final = (
    """
    CREATE TABLE prompt_journal (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        learned TEXT,
        dimension BIGINT NOT NULL,
        tensors BYTEA
    );
    CREATE TABLE prompt_journal_state (identity TEXT NOT NULL);
    INSERT INTO prompt_journal_state VALUES (md5(random()::text))
    """,
)
"""``learned`` is NULL where the prompt was forgotten, ``tensors`` where they are in a file."""
_AT_ONCE: Final = 64
"""Entries whose tensors are read together."""


@dataclass(frozen=True)
class JournalEntry:
    """One entry.

    Attributes:
        number: Its place; whoever has read it has read all before it.
        id: Of the prompt.
        learned: The prompt as it is kept; None where it was forgotten.
    """

    number: int
    id: str
    learned: StoredPrompt | None


class PromptJournal:
    """The journal of one home of a store; safe for threads and for several machines at once.

    Args:
        database: The tables of the store.
        files: Where tensors lie; None where they lie in the tables.
    """

    def __init__(self, database: TableDatabase, files: StoredFiles | None) -> None:
        self._database, self._files = database, files

    def end(self) -> tuple[str, int]:
        """Return what tells this journal from that of another store, and the number of its last entry, 0 if none.

        Raises:
            MemoryTrouble: the store cannot be reached, or refuses; so do all methods.
        """
        query = "SELECT identity, (SELECT MAX(number) FROM prompt_journal) FROM prompt_journal_state"
        with self._database.reading() as rows:
            identity, last = rows.execute(query).fetchone()
        return str(identity), int(last or 0)

    def after(self, number: int) -> list[JournalEntry]:
        """Return some entries beyond a number, the oldest first; none once all were read."""
        query = "SELECT * FROM prompt_journal WHERE number > ? ORDER BY number LIMIT ?"
        with self._database.reading() as rows:
            found = rows.execute(query, [number, _AT_ONCE]).fetchall()
        names = [_file_of(each[1]) for each in found if each[2] is not None and each[4] is None]
        files = {} if self._files is None else self._files.read_all(names)
        return [_entry(each, files) for each in found]

    def learn(self, batches: Iterable[Sequence[LearnedPrompt]]) -> int:
        """Add what was learned, all or none; what is known stays, and what was forgotten is learned again.

        Returns:
            How many were new.
        """
        with self._database.transaction(exclusive=True) as rows:
            return sum(self._learn(rows, batch) for batch in batches)

    def _learn(self, rows: Statements, prompts: Sequence[LearnedPrompt]) -> int:
        known = _known(rows, [one.row.id for one in prompts])
        new = [one for one in prompts if one.row.id not in known]
        if self._files is not None:  # before the entries that name them
            self._files.write_all({_file_of(one.row.id): tensor_bytes(one) for one in new})
        _drop(rows, [one.row.id for one in new])
        insert = "INSERT INTO prompt_journal (id, learned, dimension, tensors) VALUES (?, ?, ?, ?)"
        rows.executemany(insert, [self._values(one) for one in new])
        return len(new)

    def forget(self, ids: Sequence[str]) -> None:
        """Have all machines forget prompts."""
        with self._database.transaction(exclusive=True) as rows:
            _drop(rows, ids)
            rows.executemany("INSERT INTO prompt_journal (id, dimension) VALUES (?, 0)", [(one,) for one in ids])
            if self._files is not None:  # while nobody else can learn them again
                for name in self._files.read_all(map(_file_of, ids)):
                    self._files.delete(name)

    def _values(self, one: LearnedPrompt) -> tuple[Any, ...]:
        told = json.dumps(asdict(one.row), ensure_ascii=False)
        return one.row.id, told, len(one.feature), tensor_bytes(one) if self._files is None else None


def journal_of(folder: Path) -> PromptJournal | None:
    """Return the journal that a home shares; None where it shares no store.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
        MemoryTrouble: the store cannot be reached, or refuses.
    """
    server = store_server()
    if server is None:
        return None
    from snellen.memory.postgres.tables import PostgresDatabase

    return PromptJournal(PostgresDatabase(server, folder, DATABASE, STEPS), shared_files(folder, PROMPTS, "prompts"))


def _known(rows: Statements, ids: Sequence[str]) -> set[str]:
    marks = ", ".join("?" * len(ids))
    query = f"SELECT id FROM prompt_journal WHERE learned IS NOT NULL AND id IN ({marks})"  # noqa: S608 - marks
    return {row[0] for row in rows.execute(query, list(ids))} if ids else set()


def _drop(rows: Statements, ids: Sequence[str]) -> None:
    rows.executemany("DELETE FROM prompt_journal WHERE id = ?", [(one,) for one in ids])


def _file_of(prompt_id: str) -> str:
    return f"{prompt_id[:2]}/{prompt_id}.f32"


def _entry(columns: Sequence[Any], files: Mapping[str, bytes]) -> JournalEntry:
    number, name, learned, dimension, tensors = columns
    if learned is None:
        return JournalEntry(number, name, None)
    content = files.get(_file_of(name)) if tensors is None else bytes(tensors)
    feature, prompt = (None, None) if content is None else (content[: 4 * dimension], content[4 * dimension :])
    return JournalEntry(number, name, StoredPrompt(number, row_from_json(json.loads(learned)), feature, prompt))
