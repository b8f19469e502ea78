"""A home is copied into a store and back: all of it is there then, once, and copying again changes nothing."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, TypedDict

import PIL.Image
import pytest
from langgraph.graph import END, START, StateGraph

from snellen.errors import BadInput
from snellen.memory import home_copying
from snellen.memory.artifacts import home_pictures
from snellen.memory.checkpoints import checkpoints, thread_heads
from snellen.memory.demonstrations import DemonstrationPool, demonstration
from snellen.memory.home_copying import CopiedHome, copy_home
from snellen.memory.picture_ledger import AnsweredProperty, Ledger, LedgerQuestion
from snellen.memory.prompts import PromptPool
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.trials import Trial, TrialKey, TrialTable
from tests.memory.learned import made

QUESTIONS = [
    LedgerQuestion(f"Can models see {thing}?", {"alpha": ""}, "choice", "world") for thing in ("birds", "cats")
]
KEYS = [TrialKey("m1", (f"p{number}",), "is there a dog?", ("yes", "no")) for number in range(25)]
LEARNED = [demonstration("plan", f"How many {thing}?", plan=["Count."]) for thing in "abcdefghi"]
TABLES = ("entries", "designs", "older", "answers", "samples", "trials", "loaded_seeds", "demonstrations", "prompts")
NOTHING = CopiedHome(dict.fromkeys(TABLES, 0), 0)


class State(TypedDict):
    said: list[str]


def say(word: str) -> Any:  # noqa: ANN401 - a node
    return lambda state: {"said": [*state["said"], word]}


builder = StateGraph(State)
builder.add_node("one", say("one"))
builder.add_node("two", say("two"))
builder.add_edge(START, "one")
builder.add_edge("one", "two")
builder.add_edge("two", END)


async def run(thread: str, folder: Path, *, begin: Any = None, stop: Any = None) -> Any:  # noqa: ANN401
    async with checkpoints(folder) as saver:
        graph = builder.compile(checkpointer=saver, interrupt_before=stop)
        config: Any = {"configurable": {"thread_id": thread}}
        return await graph.ainvoke(begin, config, durability="sync")


def fill(home: Path) -> str:
    """Fill a home, and return the id of its picture."""
    home.mkdir()
    picture = home_pictures(home).put(PIL.Image.new("RGB", (8, 6), "red")).id
    ledger = Ledger(home)
    for number, question in enumerate(QUESTIONS):
        seed = ledger.open(question, f"t{number}").seed
        ledger.begin(question, f"t{number}", seed=seed, experiment=0, design="one")
    ledger.conclude("t0", [AnsweredProperty(("a",), "robust", holds=True)])
    SampleTable(home).add([Sample("t0", 0, place, 0, picture, picture, "dog", "microworld") for place in range(25)])
    DemonstrationPool(home).add(*LEARNED)
    TrialTable(home).add(Trial(key, ((-1.0,), (-2.0,)), said="no\0", created="2026") for key in KEYS)
    PromptPool(home).add(made(1), made(2))
    return picture


def contents(home: Path) -> list[Any]:
    ledger = Ledger(home)
    with ledger._reading() as rows:
        entries = rows.execute("SELECT question, source, seed, investigation, created FROM entries ORDER BY number")
        listed = [tuple(row) for row in entries.fetchall()]
        other = [sorted(map(tuple, rows.execute(f"SELECT * FROM {one}").fetchall())) for one in ("designs", "answers")]
    table = TrialTable(home)
    samples, learned = SampleTable(home).of("t0", 0), DemonstrationPool(home).all()
    prompts = [row.id for row in PromptPool(home).rows()]
    return [listed, other, samples, learned, prompts, table.get(KEYS), table.damaged_ids(), home_pictures(home).ids()]


@pytest.fixture
def store(in_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.delenv("SNELLEN_STORE")
    # Several parts of each table, so that none is left out between them.
    monkeypatch.setattr(home_copying, "_ROWS", 7)
    return f"{in_store} {tmp_path / 'shared'}"


async def test_a_home_goes_into_a_store_and_comes_back(
    store: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    await run("done", home, begin={"said": []})
    await run("half", home, begin={"said": []}, stop=["two"])
    before = contents(home)

    monkeypatch.setenv("SNELLEN_STORE", store)
    told: list[tuple[str, int, int]] = []
    copied = await copy_home(home, "store", progress=lambda *now: told.append(now))
    assert copied.rows == dict(zip(TABLES, (2, 2, 0, 1, 25, 25, 0, 9, 2), strict=True))
    assert (copied.pictures, copied.threads) == (1, {"done": "copied", "half": "copied"})
    assert [now for now in told if now[0] == "trials"] == [("trials", done, 25) for done in (7, 14, 21, 25)]
    assert contents(home) == before
    again = await copy_home(home, "store")
    assert dataclasses.replace(again, threads={}) == NOTHING

    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "other"))
    assert contents(tmp_path / "other") == before
    assert Ledger(tmp_path / "other").open(QUESTIONS[0], "t9").again == ("t0",)
    assert (await copy_home(tmp_path / "other", "home")).threads == {"done": "copied", "half": "copied"}

    monkeypatch.delenv("SNELLEN_STORE")
    back = contents(tmp_path / "other")
    assert back[1:] == before[1:]
    assert back[0][:2] == before[0]
    assert list(thread_heads(tmp_path / "other")) == ["half", "done"]
    assert (await run("half", tmp_path / "other"))["said"] == ["one", "two"]


async def test_what_the_store_has_already_stays(store: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home)
    await run("half", home, begin={"said": []}, stop=["two"])
    monkeypatch.setenv("SNELLEN_STORE", store)
    TrialTable(home).add([Trial(KEYS[3], ((-9.0,), (-9.0,)))])
    await copy_home(home, "store")
    await run("half", home)

    copied = await copy_home(home, "store")
    assert copied.threads == {"half": "went on in Postgres"}
    assert TrialTable(home).get([KEYS[3]])[KEYS[3]].scores == ((-9.0,), (-9.0,))
    assert TrialTable(home).count() == len(KEYS)


async def test_a_damaged_picture_is_named_and_not_copied(
    store: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = fill(home)
    pictures = home_pictures(home)
    (name,) = pictures.files.names()
    pictures.files.write_all({name: b"spoilt"})
    monkeypatch.setenv("SNELLEN_STORE", store)
    assert (await copy_home(home, "store")).damaged == (picture,)
    assert home_pictures(home).ids() == set()


async def test_without_a_store_there_is_nothing_to_copy_to(home: Path) -> None:
    with pytest.raises(BadInput, match="There is no store to copy to or from: set SNELLEN_STORE"):
        await copy_home(home, "store")
