"""Checkpoints in Postgres: the same threads from several machines, each home by itself, and trouble told in words."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, TypedDict

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.postgres.base import MIGRATIONS
from langgraph.graph import END, START, StateGraph

from snellen.errors import BadInput
from snellen.memory.checkpoints import DATABASE, checkpoints, thread_graphs, thread_ids
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble, using_home
from snellen.memory.postgres import server as pg
from snellen.memory.postgres.saver import FencedSaver, _dumps
from snellen.memory.thread_copying import copy_threads
from snellen.memory.thread_locks import holder_of, introduce, is_running, running
from snellen.memory.verification import VerificationFinding, verify_memory
from tests.servers.postgres_server import PASSWORD, PostgresServer, required_programs

ROOT = Path(__file__).parents[2]


def last(before: str, after: str) -> str:
    return after


class State(TypedDict):
    said: list[str]
    word: Annotated[str, last]


def one(state: State) -> dict[str, Any]:
    return {"said": [*state["said"], "one"]}


def two(state: State) -> dict[str, Any]:
    return {"said": [*state["said"], "two"]}


builder = StateGraph(State)
builder.add_node("one", one)
builder.add_node("two", two)
builder.add_edge(START, "one")
builder.add_edge("one", "two")
builder.add_edge("two", END)


async def ask(thread: str, folder: Path | None = None, *, begin: Any = None, stop: Any = None) -> Any:  # noqa: ANN401
    async with checkpoints(folder) as saver:
        graph = builder.compile(checkpointer=saver, interrupt_before=stop)
        config: Any = {"configurable": {"thread_id": thread}, "metadata": {"graph": "learn"}}
        return await graph.ainvoke(begin, config, durability="sync")


BEGIN: Any = {"said": [], "word": "a"}


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_postgres_a_run_that_must_prove_something_fails(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr("tests.servers.postgres_server.programs", lambda: None)
    monkeypatch.setenv("CI", ci)

    with pytest.raises(outcome, match="install the package postgresql"):
        required_programs()


async def test_a_thread_is_listed_and_resumed_from_postgres(in_postgres: str, home: Path) -> None:
    await ask("first", begin=BEGIN)
    await ask("second", begin=BEGIN, stop=["two"])

    assert thread_graphs() == {"second": "learn", "first": "learn"}
    assert thread_ids() == ["second", "first"]
    assert (await ask("second"))["said"] == ["one", "two"]
    assert not (home / DATABASE).exists()


async def test_each_home_has_threads_of_its_own(in_postgres: str, home: Path, tmp_path: Path) -> None:
    homes = [home, home / "users" / "ann", home / "users" / "Ann", home / "users" / "an-n", tmp_path / "elsewhere"]
    for number, folder in enumerate(homes):
        folder.mkdir(parents=True, exist_ok=True)
        with using_home(folder):
            assert thread_ids() == []
            await ask("same", begin={"said": [str(number)], "word": ""})
    for number, folder in enumerate(homes):
        with using_home(folder):
            assert (await ask("same"))["said"] == [str(number), "one", "two"]
            async with running("same"):
                assert [is_running("same", other) for other in homes] == [other == folder for other in homes]


async def test_the_owner_has_the_schema_that_the_address_leads_to(in_postgres: str, home: Path) -> None:
    with psycopg.connect(in_postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA mine")
        os.environ["SNELLEN_CHECKPOINTS"] = f"{in_postgres}?options=-csearch_path%3Dmine"
        await ask("here", begin=BEGIN)

        assert connection.execute("SELECT DISTINCT thread_id FROM mine.checkpoints").fetchall() == [("here",)]
        assert connection.execute("SELECT to_regclass('public.checkpoints')").fetchone() == (None,)


def test_a_user_has_one_schema_wherever_the_home_is(in_postgres: str, tmp_path: Path) -> None:
    server = pg.chosen_server()
    assert server is not None
    schemas = {pg.prepared(server, tmp_path / place / "users" / "ann") for place in ("a", "b")}

    assert len(schemas) == 1
    assert schemas != {pg.prepared(server, tmp_path / "a" / "users" / "bob")}


def test_eight_processes_set_up_at_once(in_postgres: str, home: Path) -> None:
    code = "from snellen.memory.checkpoints import thread_ids; print(thread_ids())"
    command = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(lambda _: subprocess.run(command, env=environment, capture_output=True, check=False), range(8))
        )

    assert [one.stderr.decode() for one in done] == [""] * 8
    with psycopg.connect(in_postgres) as connection:
        assert connection.execute("SELECT count(*) FROM checkpoint_migrations").fetchone() == (len(MIGRATIONS),)
        assert connection.execute("SELECT count(*) FROM pg_index WHERE NOT indisvalid").fetchone() == (0,)


async def test_only_known_classes_come_back(in_postgres: str) -> None:
    for known in ([], [VerificationFinding]):
        async with checkpoints(state_types=known) as saver:
            back = saver.serde.loads_typed(saver.serde.dumps_typed(VerificationFinding("lost", "here", "gone")))
        assert isinstance(back, VerificationFinding) == bool(known)


@pytest.mark.parametrize(
    "given", ["mysql://a:hunter2@b/c", "hunter2", "postgresql:hunter2", "sqlite:///hunter2", "host=a password=hunter2"]
)
def test_another_database_is_refused_in_words(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", given)

    with pytest.raises(BadInput, match=r"postgresql://USER:PASSWORD@HOST:PORT/DATABASE") as caught:
        thread_ids()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        "u:hun/ter@host/db",
        "u:hun@ter@host/db",
        "u:hun?ter@host/db",
        "u:hun#ter@host/db",
        "u:hun%ter@host/db",
        "[hun:ter",
    ],
)
def test_a_password_that_is_not_spelt_rightly_is_not_told(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", f"postgresql://{given}")

    with pytest.raises((BadInput, MemoryTrouble)) as caught:
        thread_ids()
    assert "hun" not in str(caught.value)
    assert "ter" not in str(caught.value).replace("letter", "")


def test_sqlite_may_be_said(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", "sqlite")

    assert thread_ids() == []


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", "postgresql://localhost/x")
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)

    with pytest.raises(BadInput, match=r"pip install 'snellen\[postgres\]'"):
        thread_ids()


async def test_trouble_is_told_without_the_password(
    postgres: PostgresServer, in_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(postgres.port)
    wrong = {
        in_postgres.replace("p%40ss%2Fword", "gue%40ss"): "refuses the user or the password",
        postgres.address("nowhere"): "there is no such database",
        in_postgres.replace(port, "1"): "cannot be reached",
        f"{in_postgres}?options=-csearch_path%3Dnone": "leads to no schema",
        f"{in_postgres}?options=-cdefault_transaction_read_only%3Don": "is read-only",
    }
    for address, reason in wrong.items():
        monkeypatch.setenv("SNELLEN_CHECKPOINTS", address)
        for attempt in (thread_ids, lambda: asyncio.run(ask("t", begin=BEGIN))):
            with pytest.raises(MemoryTrouble, match=f"Postgres at 127.0.0.1.*{reason}") as caught:
                await asyncio.to_thread(attempt)
            told = "".join(str(error) for error in (caught.value, caught.value.__cause__))
            assert PASSWORD not in told
            assert "p%40ss" not in told
            assert "gue" not in told


def test_a_server_is_shown_without_its_password(in_postgres: str) -> None:
    server = pg.chosen_server()

    assert server is not None
    assert PASSWORD in server.address
    assert PASSWORD not in repr(server)


async def test_a_user_without_rights_is_told_so(in_postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with psycopg.connect(in_postgres, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS poor")
        connection.execute("CREATE ROLE poor LOGIN PASSWORD 'poor'")
        monkeypatch.setenv("SNELLEN_CHECKPOINTS", in_postgres.replace("snellen:p%40ss%2Fword", "poor:poor"))
        with pytest.raises(MemoryTrouble, match="grant it CREATE"):
            thread_ids()
        connection.execute("GRANT CREATE ON SCHEMA public TO poor")
    assert thread_ids() == []


async def test_after_a_restart_a_thread_is_read_and_goes_on(postgres: PostgresServer, in_postgres: str) -> None:
    async with checkpoints() as saver:
        graph = builder.compile(checkpointer=saver, interrupt_before=["two"])
        config: Any = {"configurable": {"thread_id": "t"}}
        await graph.ainvoke(BEGIN, config, durability="sync")
        await asyncio.to_thread(postgres.restart)
        assert (await graph.aget_state(config)).next == ("two",)
        found = await graph.ainvoke(None, config, durability="sync")
    assert found["said"] == ["one", "two"]


async def test_a_run_whose_server_was_restarted_ends_in_words_and_is_resumed(
    postgres: PostgresServer, in_postgres: str
) -> None:
    async def broken() -> None:
        async with running("t"), checkpoints() as saver:
            graph = builder.compile(checkpointer=saver)
            async for chunk in graph.astream(BEGIN, config, durability="sync", stream_mode="updates"):
                if "one" in chunk:
                    await asyncio.to_thread(postgres.restart)

    config: Any = {"configurable": {"thread_id": "t"}, "metadata": {"graph": "learn"}}
    with pytest.raises(MemoryTrouble, match="held the thread 't' was lost"):
        await broken()

    assert not is_running("t")
    async with running("t"):
        assert (await ask("t"))["said"] == ["one", "two"]


async def test_nothing_is_saved_of_a_thread_that_another_may_have_taken(in_postgres: str) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    async with running("t"), checkpoints() as saver:
        graph = builder.compile(checkpointer=saver, interrupt_before=["two"])
        await graph.ainvoke(BEGIN, config, durability="sync")
        with psycopg.connect(in_postgres, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(backend) FROM snellen_holders WHERE thread = 't'")
        with pytest.raises(MemoryTrouble, match="was lost"):
            await graph.ainvoke(None, config, durability="sync")
    async with checkpoints() as saver:
        assert (await builder.compile(checkpointer=saver).aget_state(config)).next == ("two",)


async def test_a_server_that_is_away_is_told_within_its_patience(
    postgres: PostgresServer, in_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read() -> None:
        async with checkpoints() as saver:
            await asyncio.to_thread(postgres.stop)
            await saver.aget_tuple({"configurable": {"thread_id": "t"}})

    monkeypatch.setattr("snellen.memory.postgres.saver.PATIENCE_SECONDS", 0.3)
    try:
        with pytest.raises(MemoryTrouble, match="it does not answer"):
            await read()
        with pytest.raises(MemoryTrouble, match="it cannot be reached"):
            await asyncio.to_thread(thread_ids)
    finally:
        await asyncio.to_thread(postgres.start)


async def test_the_second_is_told_who_runs_a_thread(in_postgres: str) -> None:
    introduce("snellen chat")
    async with running("t"):
        with pytest.raises(BadInput, match=rf"`snellen chat` \(process {os.getpid()} on .* UTC \(\d+ s ago\); wait"):
            async with running("t"):
                pass
        async with running("other"):
            pass
        held = holder_of("t")
    assert held is not None
    assert (held.interface, held.process) == ("snellen chat", os.getpid())
    assert holder_of("t") is None


async def test_states_that_cannot_be_read_are_told_and_left(in_postgres: str, home: Path) -> None:
    def verified() -> list[tuple[str, str]]:
        found = verify_memory(home, lambda: DemonstrationPool(home))
        assert found.threads == 2
        return [(one.kind, one.said) for one in found.findings]

    for thread in ("whole", "spoiled"):
        await ask(thread, begin=BEGIN)
    assert await asyncio.to_thread(verified) == []
    with psycopg.connect(in_postgres) as connection:
        where = "WHERE thread_id = 'spoiled' AND channel = 'said'"
        where += f" AND version = (SELECT max(version) FROM checkpoint_blobs {where})"
        assert connection.execute(f"UPDATE checkpoint_blobs SET blob = '\\xc1' {where}").rowcount == 1
    for _ in range(2):
        told = [("lost", "1 of its 4 saved states cannot be read: restore them from the server's backup")]
        assert await asyncio.to_thread(verified) == told


async def test_threads_are_copied_once_and_not_over_what_went_on(home: Path, in_postgres: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SNELLEN_CHECKPOINTS")
        for thread in ("a", "b"):
            await ask(thread, begin=BEGIN, stop=["two"])
        with pytest.raises(BadInput, match="There is no Postgres to copy to"):
            await copy_threads(home)
        async with running("b"):
            patch.setenv("SNELLEN_CHECKPOINTS", in_postgres)
            assert await copy_threads(home) == {"a": "copied", "b": "is being run"}
            async with running("a"):
                assert (await copy_threads(home))["a"] == "is being run"
    assert thread_graphs() == {"a": "learn"}
    assert await copy_threads(home) == {"a": "copied", "b": "copied"}
    assert (await ask("b"))["said"] == ["one", "two"]

    assert await copy_threads(home) == {"a": "copied", "b": "went on in Postgres"}
    assert (await ask("b"))["said"] == ["one", "two"]
    assert thread_graphs() == {"b": "learn", "a": "learn"}


async def test_a_copy_that_was_cut_off_is_finished(
    home: Path, in_postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.delenv("SNELLEN_CHECKPOINTS")
        await ask("a", begin=BEGIN)
    put, puts = FencedSaver.aput, 0

    async def cut_off(*arguments: Any) -> Any:  # noqa: ANN401
        nonlocal puts
        puts += 1
        if puts == 3:
            raise KeyError
        return await put(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(FencedSaver, "aput", cut_off)
        with pytest.raises(KeyError):
            await copy_threads(home)
    assert await copy_threads(home) == {"a": "copied"}
    async with checkpoints() as saver:
        config: Any = {"configurable": {"thread_id": "a"}}
        assert len([state async for state in saver.alist(config)]) == 4


async def test_text_that_postgres_does_not_take_is_kept_without_it(in_postgres: str) -> None:
    word = "a\0b\ud800c \\u0000 \\\0 😀"
    await ask("t", begin={"said": [], "word": word})

    assert (await ask("t"))["word"] == "a�b�c \\u0000 \\� 😀"


@given(st.text())
def test_whole_text_stays_as_it_is(text: str) -> None:
    assert json.loads(_dumps(text)) == text.replace("\0", "�")


PIECES = st.lists(st.sampled_from(["\\", "u0000", "\0", "\ud83d", "\ude00", "a", "ud800", '"'])).map("".join)


@given(PIECES)
def test_what_cannot_be_text_is_replaced_and_nothing_else(text: str) -> None:
    pairs_joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    kept = json.loads(_dumps(text))

    assert kept.replace("�", "") == pairs_joined.replace("�", "").replace("\0", "")
