"""The ledger of pictures: which of them informed which question, so that no question is tested on what suggested it.

A seed and a source decide which pictures an investigation draws. Whoever has seen an answer may ask the next question
because of it; on the same pictures, that question would be tested on the evidence that suggested it. So each question
gets a seed of its own, which follows from what is asked: in every home the same, and in no home that of another
question. The very same question gets the same pictures again, as asking until the answer pleases would be no better.

Entries outlive the threads that made them: deleting a thread does not make anybody forget its answer. They hold hashes,
numbers and names of threads, never the question's text.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.memory.database_library import Database, Migrations
from snellen.memory.home import connect
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.store_tables import StoreTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from snellen.memory.statements import Statements

DATABASE: Final = "ledger.sqlite"

migrations = Migrations("ledger")


@migrations(name="1_ledger")
def _ledger(db: Database) -> None:
    db.execute(
        """
        CREATE TABLE entries (
            number INTEGER PRIMARY KEY,
            question TEXT NOT NULL,
            source TEXT NOT NULL,
            seed INTEGER NOT NULL,
            investigation TEXT NOT NULL,
            created TEXT NOT NULL,
            UNIQUE (question, seed, investigation)
        )
        """
    )
    db.execute("CREATE INDEX entries_seed ON entries (source, seed)")
    db.execute(
        """
        CREATE TABLE designs (
            question TEXT NOT NULL,
            seed INTEGER NOT NULL,
            experiment INTEGER NOT NULL,
            design TEXT NOT NULL,
            PRIMARY KEY (question, seed, experiment)
        ) WITHOUT ROWID
        """
    )


@migrations(name="2_older")
def _older(db: Database) -> None:
    """Note the investigations that have pictures already: nobody knows which seeds they had."""
    db.execute("CREATE TABLE IF NOT EXISTS older (investigation TEXT PRIMARY KEY) WITHOUT ROWID")
    samples = Path(db.execute("PRAGMA database_list").fetchone()[2]).parent / SAMPLES
    if not samples.exists():
        return
    with closing(connect(samples)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'samples'").fetchone():
            found = connection.execute("SELECT DISTINCT investigation FROM samples").fetchall()
            db.conn.executemany("INSERT OR IGNORE INTO older VALUES (?)", found)


@migrations(name="3_answers")
def _answers(db: Database) -> None:
    """Keep what was answered, so that an answer that contradicts an earlier one is known to."""
    db.execute(
        """
        CREATE TABLE answers (
            property TEXT NOT NULL,
            investigation TEXT NOT NULL,
            holds INTEGER NOT NULL,
            PRIMARY KEY (property, investigation)
        ) WITHOUT ROWID
        """
    )


STEPS: Final = (
    """
    CREATE TABLE entries (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        question TEXT NOT NULL,
        source TEXT NOT NULL,
        seed BIGINT NOT NULL,
        investigation TEXT NOT NULL,
        created TEXT NOT NULL,
        UNIQUE (question, seed, investigation)
    );
    CREATE INDEX entries_seed ON entries (source, seed);
    CREATE TABLE designs (
        question TEXT NOT NULL,
        seed BIGINT NOT NULL,
        experiment BIGINT NOT NULL,
        design TEXT NOT NULL,
        PRIMARY KEY (question, seed, experiment)
    );
    CREATE TABLE older (investigation TEXT PRIMARY KEY);
    CREATE TABLE answers (
        property TEXT NOT NULL,
        investigation TEXT NOT NULL,
        holds BIGINT NOT NULL,
        PRIMARY KEY (property, investigation)
    )
    """,
)
"""The same tables in Postgres. No investigation there is older than its ledger."""


@dataclass(frozen=True)
class AnsweredProperty:
    """A property of models that an investigation decided.

    Attributes:
        checkpoints: The models' fingerprints.
        name: The property in words: "robust to rotation".
        holds: Whether it holds.
    """

    checkpoints: tuple[str, ...]
    name: str
    holds: bool

    @property
    def id(self) -> str:
        """The hash by which the ledger knows it."""
        return _hash(sorted(self.checkpoints), self.name)


@dataclass(frozen=True)
class LedgerQuestion:
    """A question about models, as far as it decides whether the same is asked again.

    The error rate and the budget do not: evidence holds at any rate and goes on with more pictures.

    Attributes:
        query: In the user's words; case, spaces, punctuation and articles make no difference (``_plain``).
        models: The models that are examined, each by name with what says which checkpoint it is.
        protocol: How they are asked.
        source: What pictures are drawn from: the same text, the same pictures for a seed.
        stage: Empty, or what of an investigation it is, if it is not the report itself.
    """

    query: str
    models: Mapping[str, str]
    protocol: str
    source: str
    stage: str = ""

    @cached_property
    def id(self) -> str:
        """The hash by which the ledger knows it."""
        return self._known_as(_plain(self.query))

    @cached_property
    def former_id(self) -> str:
        """The hash by which ledgers knew it when punctuation and articles made a difference."""
        return self._known_as(" ".join(self.query.casefold().split()).rstrip(" .?!"))

    def _known_as(self, said: str) -> str:
        return _hash(said, sorted(self.models.items()), self.protocol, self.source, self.stage)


@dataclass(frozen=True)
class Allotment:
    """The pictures of a question, and what they are known from. Investigations are named in the order they came in.

    Attributes:
        seed: Chooses the pictures.
        again: Earlier investigations of the same question on these pictures.
        otherwise: Earlier investigations of the same question on others.
        informed: Earlier investigations of other questions on these pictures.
        older: The number of investigations from before there was a ledger, of any of which these may be the pictures.
        drawn: Whether earlier questions drew from the same source at all.
    """

    seed: int
    again: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()
    informed: tuple[str, ...] = ()
    older: int = 0
    drawn: bool = False


class Ledger(StoreTable):
    """The ledger of one home or store; safe for threads and for several processes at once."""

    def __init__(self, folder: Path) -> None:
        """Open the ledger and bring it up to date; a new one notes the investigations that there are as older.

        Raises:
            MemoryTrouble: The database is damaged, locked or read-only, or the disk is full.
        """
        super().__init__(folder, DATABASE, migrations, STEPS)

    def open(self, question: LedgerQuestion, investigation: str, seed: int | None = None) -> Allotment:
        """Enter that a question is asked, and return its pictures. Entered twice, it is the same.

        Args:
            question: What is asked.
            investigation: By which investigation.
            seed: Of the pictures that somebody chose; None for those of the question.

        Raises:
            MemoryTrouble: The disk is full or the ledger cannot be written; nothing was entered.
        """
        with self._transaction(exclusive=True) as rows:
            self._rename(rows, question)
            chosen = self._own_seed(rows, question) if seed is None else seed
            entry = (question.id, _hash(question.source), chosen, investigation)
            self._enter(rows, entry)
            found = rows.execute(
                "SELECT number FROM entries WHERE question = ? AND seed = ? AND investigation = ?",
                (question.id, chosen, investigation),
            ).fetchone()
            before, place = "FROM entries WHERE source = ? AND number < ?", (entry[1], found[0])
            earlier = rows.execute(
                f"SELECT question, seed, investigation {before} AND (question = ? OR seed = ?) ORDER BY number",
                (*place, question.id, chosen),
            ).fetchall()
            again = _once(who for asked, of, who in earlier if asked == question.id and of == chosen)
            return Allotment(
                seed=chosen,
                again=again,
                otherwise=_once(who for asked, of, who in earlier if asked == question.id and who not in again),
                informed=_once(who for asked, of, who in earlier if asked != question.id),
                older=0 if seed is None or again else rows.execute("SELECT COUNT(*) FROM older").fetchone()[0],
                drawn=bool(
                    rows.execute(f"SELECT 1 {before} AND question <> ? LIMIT 1", (*place, question.id)).fetchone()
                ),
            )

    def begin(self, question: LedgerQuestion, investigation: str, *, seed: int, experiment: int, design: str) -> int:
        """Enter how an experiment of a question is designed, and return the seed of its pictures.

        The first design that a question's experiment has gets the question's pictures. Another one, of who went back or
        whose Reasoner thought otherwise, may have been suggested by what these showed, so it gets others.

        Args:
            question: What is asked.
            investigation: By which investigation.
            seed: Of the question's pictures.
            experiment: The number of the experiment, from 0.
            design: Names the design.

        Raises:
            MemoryTrouble: The disk is full or the ledger cannot be written; nothing was entered.
        """
        with self._transaction(exclusive=True) as rows:
            self._rename(rows, question)
            chosen, turn = seed, 0
            while not self._is_first(rows, (question.id, chosen, experiment), design):
                chosen = _seed(question.id, seed, experiment, design, turn)
                turn += 1
            self._enter(rows, (question.id, _hash(question.source), chosen, investigation))
            return chosen

    def conclude(self, investigation: str, answers: Sequence[AnsweredProperty]) -> list[tuple[str, ...]]:
        """Enter what an investigation decided; return for each answer the other investigations that decided otherwise.

        Raises:
            MemoryTrouble: The disk is full or the ledger cannot be written; nothing was entered.
        """
        with self._transaction(exclusive=True) as rows:
            rows.executemany(
                "INSERT INTO answers VALUES (?, ?, ?) "
                "ON CONFLICT (property, investigation) DO UPDATE SET holds = excluded.holds",
                [(one.id, investigation, int(one.holds)) for one in answers],
            )
            contrary = "SELECT investigation FROM answers WHERE property = ? AND holds <> ? AND investigation <> ?"
            return [
                tuple(name for (name,) in rows.execute(contrary, (one.id, int(one.holds), investigation)))
                for one in answers
            ]

    @staticmethod
    def _rename(rows: Statements, question: LedgerQuestion) -> None:
        """Know by its id what was entered by its former one: an older ledger is that of the same questions."""
        if question.former_id == question.id:
            return
        for table, place in (("entries", "investigation"), ("designs", "experiment")):
            known = f"SELECT 1 FROM {table} AS known WHERE known.question = ? AND known.seed = {table}.seed"  # noqa: S608
            rows.execute(
                f"UPDATE {table} SET question = ? WHERE question = ? "  # noqa: S608 - our own names
                f"AND NOT EXISTS ({known} AND known.{place} = {table}.{place})",
                (question.id, question.former_id, question.id),
            )

    @staticmethod
    def _is_first(rows: Statements, place: tuple[str, int, int], design: str) -> bool:
        """Enter a design at a place that has none; tell whether it is the one that is there now."""
        rows.execute("INSERT INTO designs VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", (*place, design))
        found = rows.execute(
            "SELECT design FROM designs WHERE question = ? AND seed = ? AND experiment = ?", place
        ).fetchone()
        return bool(found[0] == design)

    @staticmethod
    def _own_seed(rows: Statements, question: LedgerQuestion) -> int:
        """Return the seed that a question was first asked with and no other question before it; else one of its own."""
        source = _hash(question.source)
        known = rows.execute(
            "SELECT seed FROM entries AS mine WHERE question = ? AND source = ? AND NOT EXISTS ("
            "SELECT 1 FROM entries AS other WHERE other.source = mine.source AND other.seed = mine.seed "
            "AND other.question <> mine.question AND other.number < mine.number) ORDER BY number LIMIT 1",
            (question.id, source),
        ).fetchone()
        if known is not None:
            return int(known[0])
        turn = 0
        while rows.execute(
            "SELECT 1 FROM entries WHERE source = ? AND seed = ?", (source, _seed(question.id, turn))
        ).fetchone():
            turn += 1
        return _seed(question.id, turn)

    @staticmethod
    def _enter(rows: Statements, entry: tuple[str, str, int, str]) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        rows.execute(
            "INSERT INTO entries (question, source, seed, investigation, created) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (*entry, now),
        )


_NOT_MEANT: Final = re.compile(r"(?<!\w)-(?!\d)|-(?!\w)|\.(?!\d)|(?<=[^\W\d])\.")
"""Hyphens that join no words and begin no number, and points that are in no number."""
_ARTICLE: Final = re.compile(r"(?<!\S)(?:the|an?) (?=\S)")


def _plain(query: str) -> str:
    """Return a query as its letters, numbers, signs such as %, < and +, and single spaces; without articles."""
    kept = "".join(
        map(_plain_character, unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", query).casefold()))
    )
    return _ARTICLE.sub("", " ".join(_NOT_MEANT.sub(" ", kept).split()))


def _plain_character(character: str) -> str:
    kind = unicodedata.category(character)
    # Nobody sees these: formats such as the zero-width space, the joiner of graphemes, and variation selectors.
    if kind == "Cf" or character in "'\u2018\u2019\u02bc\u034f" or "\ufe00" <= character <= "\ufe0f":
        return ""
    if kind == "Pd" or character == "\u2212":
        return "-"
    return character if kind[0] in "LMN" or kind in {"Sm", "Sc", "So"} or character in "%." else " "


def _once(names: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _hash(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]


def _seed(*parts: object) -> int:
    """Return a number of 32 bits that follows from what it is for."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:4], "big")
