"""A store that machines share: each has all trials, none twice, and trouble with it is told and leaves nothing half."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.memory.checkpoints import DATABASE, checkpoints, thread_ids
from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import INDEX, DemonstrationPool, demonstration
from snellen.memory.home import MemoryTrouble
from snellen.memory.picture_ledger import DATABASE as LEDGER
from snellen.memory.picture_ledger import Ledger, LedgerQuestion
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.store_tables import StoreTable
from snellen.memory.trials import DATABASE as TRIALS
from snellen.memory.trials import Trial, TrialKey, TrialTable, TrialTime
from snellen.memory.verification import verify_memory
from tests.graphs.scripted import embed
from tests.servers.postgres_server import PASSWORD, PostgresServer

PICTURE = "a" * 64


def key(number: int) -> TrialKey:
    return TrialKey("m1", (f"p{number}",), "is there a dog?", ("yes", "no"))


def trial(number: int, score: float = -1.0) -> Trial:
    return Trial(key(number), ((score,), (-2.0,)))


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    "given",
    [
        "sqlite",
        "s3://hunter2@bucket",
        "/mnt/hunter2",
        "mysql://u:hunter2@host/db",
        "postgresql://u:hunter2@host/db hunter2",
        "postgresql://u:hunter2@host/db s3://one s3://two",
        "s3://bucket postgresql://u:hunter2@host/db",
    ],
)
def test_what_is_no_store_is_refused_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str
) -> None:
    monkeypatch.setenv("SNELLEN_STORE", given)
    for attempt in (lambda: TrialTable(tmp_path), thread_ids):
        with pytest.raises(BadInput, match="SNELLEN_STORE names no store: give postgresql://") as caught:
            attempt()
        assert "hunter2" not in str(caught.value)


def _measure(home: Path, worker: int, found: multiprocessing.Queue[int]) -> None:
    os.environ["SNELLEN_HOME"] = str(home)
    table, numbers, added = TrialTable(home), list(range(300)), 0
    # Machines meet the same trials in other orders.
    numbers = numbers[::-1] if worker % 2 else numbers
    times = [TrialTime(name, key(0), 0.1) for name in ("one", "two")][:: -1 if worker % 2 else 1]
    for begun in range(0, 300, 50):
        added += table.add([trial(number, -float(worker)) for number in numbers[begun : begun + 50]], times)
    found.put(added)


@pytest.mark.usefixtures("in_store")
def test_two_machines_at_once_keep_each_trial_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[int] = context.Queue()
    workers = [context.Process(target=_measure, args=(tmp_path / f"m{one}", one, found)) for one in range(3)]
    for worker in workers:
        worker.start()
    added = [found.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()

    assert sum(added) == 300
    homes = [tmp_path / "m0", tmp_path / "m1"]
    seen = []
    for home in homes:
        monkeypatch.setenv("SNELLEN_HOME", str(home))
        table = TrialTable(home)
        assert table.count() == 300
        assert not table.damaged_ids()
        seen.append(table.get([key(number) for number in range(300)]))
    assert seen[0] == seen[1]


def test_homes_of_one_store_have_the_same_threads_samples_and_ledger(
    in_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = LedgerQuestion("Can models see birds?", {"alpha": ""}, "choice", "world")
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "one"))
    sample = Sample("t1", 0, 0, 0, PICTURE, PICTURE, "dog", "microworld")
    SampleTable(tmp_path / "one").add([sample])
    first = Ledger(tmp_path / "one").open(question, "t1")

    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "other"))
    assert SampleTable(tmp_path / "other").of("t1", 0) == [sample]
    again = Ledger(tmp_path / "other").open(question, "t2")
    assert (again.seed, again.again) == (first.seed, ("t1",))
    assert not list((tmp_path / "other").glob("*.sqlite"))

    with psycopg.connect(in_store) as connection:
        public = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'checkpoint%'"
        assert connection.execute(public).fetchall() == [], "an address may lead to a schema that others use as well"


@pytest.mark.usefixtures("in_store")
def test_other_users_of_a_server_have_a_memory_of_their_own(home: Path) -> None:
    for user in ("ann", "bob"):
        TrialTable(home / "users" / user).add([trial(0)])
        assert TrialTable(home / "users" / user).count() == 1
    assert TrialTable(home).count() == 0


async def test_threads_lie_in_the_store_unless_their_own_variable_says_otherwise(
    in_store: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with checkpoints():
        pass
    assert DATABASE not in files(home)
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", "sqlite")
    async with checkpoints():
        pass
    assert DATABASE in files(home)


@pytest.mark.usefixtures("in_store")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.tuples(*[st.text(st.characters(codec="utf-8") | st.sampled_from("\0\ufffe0%?"))] * 3))
def test_every_text_survives(tmp_path: Path, texts: tuple[str, str, str]) -> None:
    table = TrialTable(tmp_path)
    asked = TrialKey("m1", (texts[0],), texts[1], (texts[2],))
    table.add([Trial(asked, ((0.0,),), said=texts[2])])
    assert table.get([asked])[asked].said == texts[2]
    assert not table.damaged_ids()
    sample = Sample(texts[0], 0, 0, 0, PICTURE, PICTURE, texts[1], texts[2])
    SampleTable(tmp_path).add([sample])
    assert SampleTable(tmp_path).of(texts[0], 0)[0].picture == PICTURE


@pytest.mark.usefixtures("in_store")
def test_a_server_that_was_restarted_is_used_again(postgres: PostgresServer, tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    table.add([trial(0)])
    postgres.restart()
    assert table.add([trial(0), trial(1)]) == 1


def test_a_connection_that_drops_in_the_middle_stores_nothing_and_is_told(in_store: str, tmp_path: Path) -> None:
    class Dropped(TrialTable):
        def drop_in_the_middle(self) -> None:
            with self._transaction() as rows:
                rows.execute("DELETE FROM trials")
                (backend,) = rows.execute("SELECT pg_backend_pid()").fetchone()
                with psycopg.connect(in_store, autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", [backend])
                rows.execute("DELETE FROM times")

    table = Dropped(tmp_path)
    table.add([trial(0)])
    with pytest.raises(MemoryTrouble, match="ended by the server; what was saved before is still there") as caught:
        table.drop_in_the_middle()
    assert PASSWORD not in str(caught.value)
    assert table.count() == 1
    assert table.add([trial(1)]) == 1


@pytest.mark.usefixtures("in_store")
def test_a_server_that_is_gone_is_told(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.memory.postgres.tables.PATIENCE_SECONDS", 0.5)
    table = TrialTable(tmp_path)
    postgres.stop()
    try:
        with pytest.raises(MemoryTrouble, match=r"Postgres at 127\.0\.0\.1.*does not answer; start it"):
            table.add([trial(0)])
        with pytest.raises(MemoryTrouble, match=r"cannot be reached.*mend SNELLEN_STORE"):
            TrialTable(tmp_path / "new")
    finally:
        postgres.start()
    assert table.add([trial(0)]) == 1


def test_tables_of_a_newer_version_are_left_alone(in_store: str, tmp_path: Path) -> None:
    class Newer(StoreTable):
        def __init__(self, folder: Path, steps: tuple[str, ...]) -> None:
            from snellen.memory.trials import migrations

            super().__init__(folder, "things.sqlite", migrations, steps)

        def columns(self) -> int:
            query = "SELECT 1 FROM information_schema.columns WHERE table_name = 'things'"
            with self._reading() as rows:
                return len(rows.execute(query).fetchall())

    one, two = "CREATE TABLE things (a TEXT)", "ALTER TABLE things ADD COLUMN b TEXT"
    assert Newer(tmp_path, (one,)).columns() == 1
    from snellen.memory.postgres import tables

    tables._READY.clear()
    assert Newer(tmp_path, (one, two)).columns() == 2
    tables._READY.clear()
    with pytest.raises(MemoryTrouble, match="newer version of Snellen"):
        Newer(tmp_path, (one,))


@pytest.mark.parametrize(
    ("table", "database"),
    [(TrialTable, TRIALS), (SampleTable, SAMPLES), (Ledger, LEDGER), (DemonstrationPool, DEMONSTRATIONS)],
    ids=["trials", "samples", "ledger", "demonstrations"],
)
def test_a_store_has_the_columns_of_a_home(
    table: Callable[[Path], StoreTable], database: str, in_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with table(tmp_path)._reading() as rows:
        query = (
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name <> 'steps' ORDER BY table_name, ordinal_position"
        )
        shared = rows.execute(query).fetchall()
    monkeypatch.delenv("SNELLEN_STORE")
    table(tmp_path)
    with closing(sqlite3.connect(tmp_path / database)) as rows:
        query = (
            "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type = 'table' "
            "AND m.name NOT LIKE '\\_%' ESCAPE '\\' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name, c.cid"
        )
        assert shared == rows.execute(query).fetchall()


def test_trials_that_changed_in_a_store_are_found_and_asked_again(in_store: str, tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    table.add([trial(0), trial(1)])
    with table._transaction() as rows:
        rows.execute("UPDATE trials SET scores = ? WHERE id = ?", ("[[0.0]]", key(1).id))
    found = verify_memory(tmp_path, lambda: DemonstrationPool(tmp_path, embed=embed))
    assert [(one.kind, one.place) for one in found.findings] == [("lost", f"trial {key(1).id}")]
    assert set(TrialTable(tmp_path).get([key(0), key(1)])) == {key(0)}


def test_what_one_machine_learns_and_forgets_another_knows(
    in_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = []
    for name in ("one", "other"):
        monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / name))
        (tmp_path / name).mkdir()
        pools.append(DemonstrationPool(tmp_path / name, embed=embed))
    texts = ["How many dogs are there?", "Is there a cat?"]
    dogs, cats = (demonstration("plan", text, plan=["Look."]) for text in texts)
    assert (pools[0].add(dogs), pools[1].add(dogs, cats)) == (1, 1)

    for pool in pools:
        assert {one.id for one in pool.nearest(texts[0], "plan", correct=True)} == {dogs.id, cats.id}
    assert pools[1].forget([dogs.id, "unknown"]) == 1
    assert [one.id for one in pools[0].nearest(texts[0], "plan", correct=True)] == [cats.id]
    # The vector of what is forgotten leaves the disk of both.
    assert (tmp_path / "one" / INDEX).stat().st_size == (tmp_path / "other" / INDEX).stat().st_size
    assert pools[0].add(dogs) == 1


def _learn(home: Path, worker: int) -> None:
    os.environ["SNELLEN_HOME"] = str(home)
    pool = DemonstrationPool(home, embed=embed)
    for number in range(20):
        same = demonstration("plan", f"Same {number}?", plan=["Look."])
        assert pool.add(same, demonstration("plan", f"Of {worker}: {number}?", plan=["Look."])) >= 1
        pool.nearest("Same 1?", "plan", correct=True)
    assert len(pool.nearest("Same 1?", "plan", correct=True, k=200)) >= 40


@pytest.mark.usefixtures("in_store")
def test_machines_that_learn_at_once_keep_each_demonstration_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = multiprocessing.get_context("spawn")
    for number in range(3):
        (tmp_path / f"m{number}").mkdir()
    workers = [context.Process(target=_learn, args=(tmp_path / f"m{one}", one)) for one in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "m0"))
    pool = DemonstrationPool(tmp_path / "m0", embed=embed)
    assert pool.count() == 20 + 3 * 20
    assert len(pool.nearest("Same 1?", "plan", correct=True, k=200)) == 80
