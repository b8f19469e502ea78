"""The pool of demonstrations: plans and programs that were right, and ones that were wrong (CLOVA, section 3.2).

Rows are never changed; their ids come from their content, so adding one twice adds it once. The
search index is a cache beside them: it is checked before each search and extended when other processes added rows.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from snellen.errors import BadInput, SnellenError
from snellen.memory.demonstration_choice import Candidate, relevances, varied
from snellen.memory.demonstration_faiss import EARLIER_INDEX
from snellen.memory.demonstration_index import DemonstrationIndex
from snellen.memory.demonstration_tables import DATABASE as DATABASE
from snellen.memory.demonstration_tables import STEPS, migrations
from snellen.memory.folder_lock import FolderLock
from snellen.memory.store_tables import StoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence, Sized
    from pathlib import Path

    from snellen.memory.demonstration_index import Embedding
    from snellen.memory.statements import Statements

Kind = Literal["plan", "program"]
Failure = Literal["", "refused", "error", "empty", "contradiction", "wrong"]
"""A way of going wrong: the check refuses the program, a step fails, a step on which others rest finds nothing, results
contradict each other, or the answer is another one. Empty for what is right, and where nobody noted it.
"""

INDEX: Final = "demonstrations.vectors"
LOCK: Final = f"{EARLIER_INDEX}.lock"
SEED: Final = "seed"
"""The source of the demonstrations that Snellen comes with; all others were learned."""

_OF_ENTRIES: Final = frozenset({"instructions", "scene", "answer", "failure"})
"""Fields of a seed's entry that a demonstration has not, or that are set later."""
_CANDIDATES: Final = 64  # the nearest of a part, among which a varied choice is made
_KEPT: Final = 8_192  # demonstrations that an open pool remembers


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
    failure: Failure = ""
    """How it went wrong, where that was noted."""


_COLUMNS: Final = tuple(field.name for field in fields(Demonstration))


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


class DemonstrationPool(StoreTable):
    """The demonstrations of one home or store; safe for threads and for several processes at once."""

    def __init__(
        self,
        folder: Path,
        *,
        embed: Embedding | None = None,
        seeds: Path | None = None,
        embedding: str = "",
        constructs: Callable[[Demonstration], frozenset[str]] | None = None,
    ) -> None:
        """Open the pool, bring its database up to date and load the seeds if they are new.

        Args:
            folder: The memory's home.
            embed: Texts to vectors, float32 (n, d); called on the calling thread. Without it, everything can be done
                but searching.
            seeds: A file as `read_seeds` reads it. Loaded once for each content of the file.
            embedding: The embedding's name; an index made under another name is built afresh.
            constructs: Tells the constructs that a demonstration is about; without it, wording alone decides.

        Raises:
            MemoryTrouble: the database is damaged, locked or read-only, or the disk is full.
            SnellenError: the seeds are not a list of demonstrations.
        """
        super().__init__(folder, DATABASE, migrations, STEPS, lock=LOCK)
        # The vectors are those of this home, wherever the rows are.
        self._index = DemonstrationIndex(folder / INDEX, embed, embedding, FolderLock(folder, LOCK).held)
        self._searching = threading.RLock()
        self._constructs = constructs
        self._kept: dict[str, Demonstration] = {}
        if seeds is not None and not self.is_read_only:
            self._load_seeds(seeds)

    def add(self, *demonstrations: Demonstration) -> int:
        """Store demonstrations, all or none; those already there stay as they are.

        Returns:
            How many were new.

        Raises:
            MemoryTrouble: the disk is full or the database cannot be written; nothing was stored.
        """
        # One writer at a time: an index that has seen a number has seen all before it.
        with self._transaction(exclusive=True) as rows:
            return _insert(rows, demonstrations)

    def nearest(
        self,
        instruction: str,
        kind: Kind,
        *,
        correct: bool,
        k: int = 4,
        sources: Collection[str] | None = None,
        beside: Sequence[Demonstration] = (),
        failure: Failure = "",
    ) -> list[Demonstration]:
        """Return demonstrations whose instructions mean nearly the same, and which show different constructs.

        The nearest is always among them; `demonstration_choice` tells the rest.

        Args:
            instruction: What the user wants.
            kind: ``plan`` or ``program``.
            correct: Which part of the pool: the right ones or the wrong ones.
            k: At most this many (the paper shows four of each part).
            sources: Only those from here, e.g. ``{"seed"}`` for a Reasoner that has learned nothing; None takes all.
            beside: The right ones that wrong ones are shown beside.
            failure: How the program in question failed, where one is being revised.

        Returns:
            Zero to ``k`` demonstrations by falling relevance: of right ones the cosine.

        Raises:
            SnellenError: the pool was opened without an embedding.
        """
        with self._searching, self._reading() as rows:
            matches = self._index.search(
                rows, instruction, kind, correct=correct, sources=sources, most=max(_CANDIDATES, 4 * k)
            )
            there = self._remembered(rows, _among("number", matches), [number for number, _ in matches])
            near = [(there[number], cosine) for number, cosine in matches if number in there]
            shown = self._subjects(rows, [one for one, _ in near])
            others = self._subjects(rows, beside)
        candidates = [
            Candidate(cosine, subjects, not one.correct, one.failure)
            for (one, cosine), subjects in zip(near, shown, strict=True)
        ]
        relevance = relevances(candidates, others, failure)
        return [near[place][0] for place in varied(candidates, relevance, k)]

    def get(self, ids: Sequence[str]) -> list[Demonstration]:
        """Return the demonstrations with these ids, in this order; unknown ids are left out."""
        found = {row.id: row for row in self._where(_among("id", ids), list(ids))}
        return [found[one] for one in ids if one in found]

    def made_from(self, plan: Demonstration) -> list[Demonstration]:
        """Return the programs that were written after a plan for the same instruction."""
        found = self._where("kind = 'program' AND instruction = ?", [plan.instruction])
        return [one for one in found if one.plan == plan.plan]

    def all(self, *, source: str | None = None) -> list[Demonstration]:
        """Return every demonstration, or those of one source, the oldest first."""
        return self._where("1 = 1", []) if source is None else self._where("source = ?", [source])

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
        if not (ids or source or learned):
            msg = "Nothing was named to forget: give ids or a source, or say that all that was learned is meant."
            raise BadInput(msg)
        conditions = {"source = ?": source, "source != ?": SEED if learned else ""}
        chosen = {condition: value for condition, value in conditions.items() if value}
        query = f"DELETE FROM demonstrations WHERE {' AND '.join(['1 = 1', *chosen])}"  # noqa: S608 - our own conditions
        with self._transaction(exclusive=True) as rows:
            if ids:
                each = [(*chosen.values(), one) for one in sorted(set(ids))]
                count = rows.executemany(f"{query} AND id = ?", each).rowcount
            else:
                count = rows.execute(query, list(chosen.values())).rowcount
        if count:
            with self._reading() as rows:
                self._index.forget([row[0] for row in rows.execute("SELECT DISTINCT instruction FROM demonstrations")])
        return count

    def damaged_ids(self) -> list[str]:
        """Return the ids of demonstrations that are not what was stored: an id follows from the content."""
        return [one.id for one in self.all() if again(one).id != one.id]

    def index_is_damaged(self) -> bool:
        """Tell whether there is an index file that cannot be used: damaged, or of another embedding."""
        return self._index.is_damaged()

    def refresh_index(self) -> None:
        """Bring the index file up to date, building it where it is missing or cannot be used.

        Raises:
            SnellenError: the pool was opened without an embedding.
        """
        with self._searching, self._reading() as rows:
            self._index.refresh(rows)

    def count(self) -> int:
        """Return how many demonstrations there are."""
        with self._reading() as rows:
            return int(rows.execute("SELECT COUNT(*) FROM demonstrations").fetchone()[0])

    def _where(self, condition: str, values: list[Any]) -> list[Demonstration]:
        with self._reading() as rows:
            return list(_numbered(rows, condition, values).values())

    def _remembered(self, rows: Statements, condition: str, values: Sequence[Any]) -> dict[int, Demonstration]:
        """Return demonstrations by their numbers, the oldest first; ones that were read before are not read again."""
        query = f"SELECT number, id FROM demonstrations WHERE {condition} ORDER BY number"  # noqa: S608 - our own
        there = dict(rows.execute(query, list(values)))
        unread = [one for one in there.values() if one not in self._kept]
        read = _numbered(rows, _among("id", unread), unread).values() if unread else ()
        self._kept |= {one.id: one for one in read}
        found = {number: self._kept[one] for number, one in there.items() if one in self._kept}
        if len(self._kept) > _KEPT:
            self._kept = {one.id: one for one in found.values()}
        return found

    def _subjects(self, rows: Statements, shown: Sequence[Demonstration]) -> list[frozenset[str]]:
        """Return the constructs that demonstrations are about; those of a plan are those of its program."""
        if self._constructs is None or not shown:
            return [frozenset()] * len(shown)
        plans = list({one.instruction for one in shown if one.kind == "plan"})
        of_plans = f"kind = 'program' AND {_among('instruction', plans)}"
        written = self._remembered(rows, of_plans, plans).values() if plans else ()
        programs = {(one.instruction, one.correct, *one.plan): one.program for one in written}
        completed = [
            one if one.program else replace(one, program=programs.get((one.instruction, one.correct, *one.plan), ""))
            for one in shown
        ]
        return [self._constructs(one) for one in completed]

    def _load_seeds(self, path: Path) -> None:
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        with self._reading() as rows:
            if rows.execute("SELECT 1 FROM loaded_seeds WHERE sha256 = ?", [sha256]).fetchone():
                return
        seeds = _rows_of_seeds(path, sha256)
        with self._transaction(exclusive=True) as rows:
            _insert_rows(rows, seeds)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            rows.execute(
                "INSERT INTO loaded_seeds (sha256, loaded) VALUES (?, ?) ON CONFLICT DO NOTHING", [sha256, now]
            )


@lru_cache(maxsize=4)
def _rows_of_seeds(path: Path, _sha256: str) -> list[tuple[Any, ...]]:
    """Read seeds as rows; homes that are opened one after the other have the same."""
    return [_to_row(one) for one in read_seeds(path)]


def _insert(rows: Statements, demonstrations: Sequence[Demonstration]) -> int:
    return _insert_rows(rows, [_to_row(one) for one in demonstrations])


def _insert_rows(rows: Statements, added: Sequence[tuple[Any, ...]]) -> int:
    if not added:
        return 0
    query = (
        f"INSERT INTO demonstrations ({', '.join(_COLUMNS)}) VALUES ({_marks(_COLUMNS)}) "  # noqa: S608 - our own names
        "ON CONFLICT DO NOTHING"
    )
    return rows.executemany(query, added).rowcount


def _numbered(rows: Statements, condition: str, values: Sequence[Any]) -> dict[int, Demonstration]:
    """Return demonstrations by their numbers, the oldest first."""
    names = ", ".join(_COLUMNS)
    query = f"SELECT number, {names} FROM demonstrations WHERE {condition} ORDER BY number"  # noqa: S608 - our own
    found = rows.execute(query, list(values))
    return {number: _from_row(dict(zip(_COLUMNS, fields, strict=True))) for number, *fields in found}


def _to_row(one: Demonstration) -> tuple[Any, ...]:
    row = asdict(one) | {"correct": int(one.correct), "plan": json.dumps(one.plan, ensure_ascii=False)}
    return tuple(row.values())


def _from_row(row: dict[str, Any]) -> Demonstration:
    return Demonstration(**row | {"correct": bool(row["correct"]), "plan": json.loads(row["plan"])})


def _among(column: str, values: Sized) -> str:
    """Return the condition that a column has one of several values; none of no values."""
    return f"{column} IN ({_marks(values)})" if len(values) else "1 = 0"


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))


def read_seeds(path: Path) -> list[Demonstration]:
    """Read a file of seeds: a JSON list whose entries are demonstrations, or several wordings of one.

    An entry without ``kind`` has ``instructions``, each of which gives a plan and a program. The ``scene`` and the
    ``answer`` of an entry are for tests.

    Raises:
        SnellenError: It is none.
    """
    try:
        return [seed for entry in json.loads(path.read_bytes()) for seed in _seeds_of(entry)]
    except (ValueError, TypeError) as error:
        msg = f"The seed demonstrations in {path} cannot be read ({error}); restore the file from the package."
        raise SnellenError(msg) from error


def _seeds_of(entry: dict[str, Any]) -> list[Demonstration]:
    fields = {"source": SEED} | {name: entry[name] for name in entry if name not in _OF_ENTRIES}
    made = [demonstration(**fields)] if "instructions" not in entry else []
    for wording in entry.get("instructions", ()):
        made.append(demonstration("plan", wording, **fields | {"program": ""}))
        made.append(demonstration("program", wording, **fields))
    return [replace(one, failure=entry.get("failure", "")) for one in made]
