"""The pool of demonstrations: plans and programs that were right, and ones that were wrong (CLOVA, section 3.2).

Rows live in SQLite and are never changed; their ids come from their content, so adding one twice adds it once. The
search index is a cache beside them: it is checked before each search, extended when other processes added rows, and
built afresh when it is missing, damaged or made by another embedding.
"""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from sqlite_utils import Database, Migrations

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import write_atomically
from snellen.memory.tables import DatabaseTable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence, Sized
    from pathlib import Path

    import faiss
    from numpy.typing import NDArray

    Embedding = Callable[[list[str]], NDArray[np.float32]]
    """Texts to vectors: n texts give float32 (n, d); lengths need not be 1."""

Kind = Literal["plan", "program"]

DATABASE: Final = "demonstrations.sqlite"
INDEX: Final = "demonstrations.faiss"
SEED: Final = "seed"
"""The source of the demonstrations that Snellen comes with; all others were learned."""

_MAGIC: Final = b"snellen-index-1\n"
_DIGEST_BYTES: Final = 32
_LOGGER = logging.getLogger(__name__)

migrations = Migrations("demonstrations")


@migrations(name="1_demonstrations")
def _demonstrations(db: Database) -> None:
    # AUTOINCREMENT: a number is never given out twice, so that in the index it means one row for ever.
    db.execute(
        """
        CREATE TABLE demonstrations (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            correct INTEGER NOT NULL,
            instruction TEXT NOT NULL,
            plan TEXT NOT NULL,
            program TEXT NOT NULL,
            critique TEXT NOT NULL,
            family TEXT NOT NULL,
            created TEXT NOT NULL,
            source TEXT NOT NULL
        )
        """
    )


@migrations(name="2_loaded_seeds")
def _loaded_seeds(db: Database) -> None:
    db.table("loaded_seeds").create({"sha256": str, "loaded": str}, pk="sha256")


@dataclass(frozen=True)
class Demonstration:
    """One example for the Reasoner, right or wrong."""

    id: str
    """Sixteen hexadecimal digits of the SHA-256 of the content."""
    kind: Kind
    correct: bool
    instruction: str
    plan: list[str]
    """The steps in words; those of the plan that the program came from, for a program."""
    program: str
    """The program's text; empty for a plan."""
    critique: str
    """What was wrong with it and why; empty for a correct one, and until reflection has found out."""
    family: str
    created: str
    """ISO 8601, UTC."""
    source: str
    """``seed``, ``run``, or whoever else added it."""


def demonstration(
    kind: Kind,
    instruction: str,
    *,
    plan: Sequence[str],
    program: str = "",
    correct: bool = True,
    critique: str = "",
    family: str = "",
    source: str = "run",
) -> Demonstration:
    """Make a demonstration whose id follows from its content: equal content, equal id, whenever it is made."""
    said = " ".join(instruction.split())
    content = json.dumps([kind, correct, said, list(plan), program, critique], ensure_ascii=False)
    return Demonstration(
        id=hashlib.sha256(content.encode()).hexdigest()[:16],
        kind=kind,
        correct=correct,
        instruction=said,
        plan=list(plan),
        program=program,
        critique=critique,
        family=family,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        source=source,
    )


def again(one: Demonstration) -> Demonstration:
    """Make a demonstration anew from its content, so that its id can be compared."""
    return demonstration(
        one.kind,
        one.instruction,
        plan=one.plan,
        program=one.program,
        correct=one.correct,
        critique=one.critique,
        family=one.family,
        source=one.source,
    )


class DemonstrationPool(DatabaseTable):
    """The demonstrations of one home; safe for threads and for several processes at once."""

    def __init__(
        self, folder: Path, *, embed: Embedding | None = None, seeds: Path | None = None, embedding: str = ""
    ) -> None:
        """Open the pool, bring its database up to date and load the seeds if they are new.

        Args:
            folder: The memory's home.
            embed: Texts to vectors, float32 (n, d); called on the calling thread. Without it, everything can be done
                but searching.
            seeds: A JSON list of demonstrations, each with ``kind``, ``instruction``, ``plan`` and, as needed,
                ``program``, ``correct``, ``critique``, ``family``. Loaded once for each content of the file.
            embedding: The embedding's name; an index made under another name is built afresh.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
            SnellenError: the seeds are not a list of demonstrations.
        """
        super().__init__(folder, DATABASE, migrations, lock=f"{INDEX}.lock")
        self._embed = embed
        self._embedding = embedding
        self._index: faiss.IndexIDMap2 | None = None
        if seeds is not None and not self.is_read_only:
            self._load_seeds(seeds)

    def add(self, *demonstrations: Demonstration) -> int:
        """Store demonstrations, all or none; those already there stay as they are.

        Returns:
            How many were new.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        with self._rows() as rows, rows.atomic():
            return _insert(rows, demonstrations)

    def nearest(
        self, instruction: str, kind: Kind, *, correct: bool, k: int = 4, sources: Collection[str] | None = None
    ) -> list[Demonstration]:
        """Return the demonstrations whose instructions mean most nearly the same, nearest first.

        Args:
            instruction: What the user wants.
            kind: ``plan`` or ``program``.
            correct: Which part of the pool: the right ones or the wrong ones.
            k: At most this many (the paper shows four of each part).
            sources: Only those that came from here, e.g. ``{"seed"}`` for a Reasoner that has learned nothing; None
                takes all.

        Returns:
            Zero to ``k`` demonstrations by falling cosine similarity.

        Raises:
            SnellenError: the pool was opened without an embedding.
        """
        import faiss

        with self._thread_lock:
            asked = self._vectors([instruction])
            index = self._fresh_index(asked.shape[1])
            numbers = self._numbers(kind, correct=correct, sources=sources)
            if not len(numbers) or k < 1:
                return []
            choice = faiss.SearchParameters(sel=faiss.IDSelectorBatch(numbers))
            _, found = index.search(asked, min(k, len(numbers)), params=choice)
        return self._by_number([int(number) for number in found[0] if number >= 0])

    def get(self, ids: Sequence[str]) -> list[Demonstration]:
        """Return the demonstrations with these ids, in this order; unknown ids are left out."""
        found = {row.id: row for row in self._where(f"id IN ({_marks(ids)})", list(ids))}
        return [found[one] for one in ids if one in found]

    def made_from(self, plan: Demonstration) -> list[Demonstration]:
        """Return the programs that were written after a plan for the same instruction."""
        found = self._where("kind = 'program' AND instruction = ?", [plan.instruction])
        return [one for one in found if one.plan == plan.plan]

    def all(self, *, source: str | None = None) -> list[Demonstration]:
        """Return every demonstration, or those of one source, the oldest first."""
        return self._where("1", []) if source is None else self._where("source = ?", [source])

    def learned(self) -> list[Demonstration]:
        """Return the demonstrations that did not come with Snellen, the oldest first."""
        return self._where("source != ?", [SEED])

    def forget(self, ids: Sequence[str] = (), *, source: str = "", learned: bool = False) -> int:
        """Forget demonstrations: from then on everything is found as if they had never been added.

        Args:
            ids: These; unknown ones change nothing. A seed that is forgotten by its id stays forgotten.
            source: All of this source.
            learned: All but the seeds.

        Returns:
            How many were forgotten.

        Raises:
            BadInput: nothing says what to forget.
            MemoryTrouble: the database cannot be written; nothing was forgotten.
        """
        conditions = {
            "id IN (SELECT value FROM json_each(?))": json.dumps(list(ids)) if ids else "",
            "source = ?": source,
            "source != ?": SEED if learned else "",
        }
        chosen = {condition: value for condition, value in conditions.items() if value}
        if not chosen:
            msg = "Nothing was named to forget: give ids or a source, or say that all that was learned is meant."
            raise BadInput(msg)
        with self._rows() as rows, rows.atomic():
            query = f"DELETE FROM demonstrations WHERE {' AND '.join(chosen)}"  # noqa: S608 - our own conditions
            return int(rows.conn.execute(query, list(chosen.values())).rowcount)

    def damaged_ids(self) -> list[str]:
        """Return the ids of demonstrations that are not what was stored: an id follows from the content."""
        return [one.id for one in self.all() if again(one).id != one.id]

    def index_is_damaged(self) -> bool:
        """Tell whether there is an index file that cannot be used: damaged, or of another embedding."""
        return (self.folder / INDEX).exists() and self._read_index() is None

    def refresh_index(self) -> None:
        """Bring the index file up to date, building it where it is missing or cannot be used.

        Raises:
            SnellenError: the pool was opened without an embedding.
        """
        with self._thread_lock:
            self._index = None
            first = self.all()[:1]
            if first:
                self._fresh_index(self._vectors([first[0].instruction]).shape[1])

    def count(self) -> int:
        """Return how many demonstrations there are."""
        with self._rows() as rows:
            return int(rows.table("demonstrations").count)

    def _where(self, condition: str, values: list[Any]) -> list[Demonstration]:
        with self._rows() as rows:
            found = list(rows.table("demonstrations").rows_where(condition, values, order_by="number"))
        return [_from_row(row) for row in found]

    def _by_number(self, numbers: list[int]) -> list[Demonstration]:
        with self._rows() as rows:
            condition = f"number IN ({_marks(numbers)})"
            found = {row["number"]: row for row in rows.table("demonstrations").rows_where(condition, numbers)}
        return [_from_row(found[number]) for number in numbers if number in found]

    def _numbers(
        self, kind: Kind | None = None, *, correct: bool = True, sources: Collection[str] | None = None
    ) -> NDArray[np.int64]:
        condition, values = "1", list[Any]()
        if kind is not None:
            condition, values = "kind = ? AND correct = ?", [kind, int(correct)]
        if sources is not None:
            condition, values = f"{condition} AND source IN ({_marks(sources)})", [*values, *sources]
        with self._rows() as rows:
            found = rows.table("demonstrations").rows_where(condition, values, select="number", order_by="number")
            return np.array([row["number"] for row in found], dtype=np.int64)

    def _load_seeds(self, path: Path) -> None:
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        with self._rows() as rows:
            if rows.table("loaded_seeds").count_where("sha256 = ?", [sha256]):
                return
        seeds = _parse_seeds(content, path)
        with self._rows() as rows, rows.atomic():
            _insert(rows, seeds)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            rows.conn.execute("INSERT OR IGNORE INTO loaded_seeds (sha256, loaded) VALUES (?, ?)", [sha256, now])

    def _fresh_index(self, dimension: int) -> faiss.IndexIDMap2:
        """Return an index that holds exactly the rows of the database."""
        import faiss

        index = self._index or self._read_index()
        wanted = self._numbers()
        held = np.array([], dtype=np.int64) if index is None else faiss.vector_to_array(index.id_map)
        if index is None or index.d != dimension:
            index, held = faiss.IndexIDMap2(faiss.IndexFlatIP(dimension)), held[:0]
        gone, missing = np.setdiff1d(held, wanted), np.setdiff1d(wanted, held)
        if len(gone):
            index.remove_ids(gone)
        if len(missing):
            index.add_with_ids(self._vectors([row.instruction for row in self._by_number(missing.tolist())]), missing)
        if len(gone) or len(missing):
            self._write_index(index)
        self._index = index
        return index

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed texts as unit vectors, so that the inner product is the cosine; float32 (n, d)."""
        if self._embed is None:
            msg = "These demonstrations were opened without an embedding; open them through a profile to search them."
            raise SnellenError(msg)
        vectors = np.ascontiguousarray(self._embed(texts), dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit

    def _read_index(self) -> faiss.IndexIDMap2 | None:
        """Read the index file; None when it is missing, damaged or of another embedding: it is only a cache."""
        import faiss

        try:
            content = (self.folder / INDEX).read_bytes()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST_BYTES
        # The digest is compared first: faiss trusts the sizes it reads, and a damaged file could crash the process.
        if content[:start] != self._header(content[start:]):
            return None
        return faiss.deserialize_index(np.frombuffer(content[start:], dtype=np.uint8))

    def _write_index(self, index: faiss.IndexIDMap2) -> None:
        import faiss

        body = faiss.serialize_index(index).tobytes()
        try:
            write_atomically(self.folder / INDEX, self._header(body) + body)
        except OSError as error:
            _LOGGER.warning("The search index was not saved and will be built again next time: %s", error)

    def _header(self, body: bytes) -> bytes:
        return _MAGIC + hashlib.sha256(self._embedding.encode() + b"\n" + body).digest()


def _insert(rows: Database, demonstrations: Sequence[Demonstration]) -> int:
    before = rows.conn.total_changes
    for one in demonstrations:
        fields = asdict(one) | {"correct": int(one.correct), "plan": json.dumps(one.plan, ensure_ascii=False)}
        names = ", ".join(fields)
        rows.conn.execute(
            f"INSERT OR IGNORE INTO demonstrations ({names}) VALUES ({_marks(fields)})",  # noqa: S608 - our own names
            list(fields.values()),
        )
    return rows.conn.total_changes - before


def _from_row(row: dict[str, Any]) -> Demonstration:
    fields = {name: value for name, value in row.items() if name != "number"}
    return Demonstration(**fields | {"correct": bool(row["correct"]), "plan": json.loads(row["plan"])})


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))


def _parse_seeds(content: bytes, path: Path) -> list[Demonstration]:
    try:
        seeds = [demonstration(**{"source": SEED} | seed) for seed in json.loads(content)]
    except (ValueError, TypeError) as error:
        msg = f"The seed demonstrations in {path} cannot be read ({error}); restore the file from the package."
        raise SnellenError(msg) from error
    return seeds
