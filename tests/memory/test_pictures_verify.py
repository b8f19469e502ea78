"""Pictures, trials and samples that changed or went away are found, and what can be mended is."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Set as AbstractSet
from contextlib import closing
from pathlib import Path
from typing import Any, TypedDict

import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph

from snellen.errors import SnellenError
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.checkpoints import checkpoints
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.trials import DATABASE as TRIALS
from snellen.memory.trials import Trial, TrialKey, TrialTable
from snellen.memory.verification import Verification, verify_memory
from snellen.memory.verification.pictures import Draw, pictures_in
from snellen.values import Picture, Region, to_json


class State(TypedDict):
    pictures: list[Any]


def picture(number: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (9, 7), (number, 3, 250))


async def mention(home: Path, *pictures: Picture) -> None:
    """Have a thread refer to pictures."""
    builder = StateGraph(State)
    builder.add_node("one", lambda _: {})
    builder.add_edge(START, "one")
    builder.add_edge("one", END)
    async with checkpoints(home) as saver:
        graph = builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "mine"}}
        await graph.ainvoke({"pictures": [to_json(one) for one in pictures]}, config, durability="sync")


def file_of(store: ArtifactStore, picture_id: str) -> Path:
    return Path(store.place(picture_id))


def verified(home: Path, *, repair: bool = True, draw: Draw | None = None) -> Verification:
    return verify_memory(home, lambda: DemonstrationPool(home), repair=repair, draw=draw)


@pytest.fixture
def store(home: Path) -> ArtifactStore:
    home.mkdir()
    return ArtifactStore(home / FOLDER)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def found_in(told: Verification) -> list[tuple[str, str]]:
    return [(one.kind, Path(one.place).stem) for one in told.findings]


async def test_pictures_that_changed_or_went_away_are_lost_where_something_needs_them(
    home: Path, store: ArtifactStore
) -> None:
    kept, gone, spoilt, unused = (store.put(picture(number)) for number in range(4))
    await mention(home, kept, gone, spoilt)
    assert verified(home).clean
    file_of(store, gone.id).unlink()
    flip(file_of(store, spoilt.id))
    flip(file_of(store, unused.id))
    expected = sorted([("lost", gone.id), ("lost", spoilt.id), ("orphan", unused.id)])

    assert sorted(found_in(verified(home, repair=False))) == expected
    told = verified(home)
    assert (sorted(found_in(told)), told.lost, told.pictures) == (expected, 2, 3)
    assert "the thread mine refers to it" in told.findings[0].said + told.findings[1].said
    assert not file_of(store, spoilt.id).exists()
    assert file_of(store, spoilt.id).with_name(f"{spoilt.id}.png.damaged").exists()
    for number in (1, 2):
        store.put(picture(number))
    assert verified(home).clean


def test_giving_a_damaged_picture_again_mends_it(store: ArtifactStore) -> None:
    stored = store.put(picture(1))
    flip(file_of(store, stored.id))
    with pytest.raises(SnellenError, match="give the picture again, which mends it"):
        store.get(stored.id)

    assert store.put(picture(1)) == stored
    assert store.get(stored.id).getpixel((0, 0)) == (1, 3, 250)


def test_a_damaged_picture_is_never_served(store: ArtifactStore) -> None:
    stored = store.put(picture(1))
    file_of(store, stored.id).write_bytes(store.read(store.put(picture(2)).id))

    with pytest.raises(SnellenError, match="is damaged"):
        store.read(stored.id)


async def test_what_follows_from_a_seed_is_drawn_again(home: Path, store: ArtifactStore) -> None:
    drawn, other = store.put(picture(5)), store.put(picture(6))
    await mention(home, drawn, other)
    flip(file_of(store, drawn.id))
    file_of(store, other.id).unlink()
    asked: list[AbstractSet[str]] = []

    def draw(again: ArtifactStore, wanted: AbstractSet[str]) -> None:
        asked.append(set(wanted))
        again.put(picture(5))
        again.put(picture(7))

    seen = verified(home, repair=False, draw=draw)
    assert not store.is_whole(drawn.id)
    told = verified(home, draw=draw)
    assert sorted(found_in(seen)) == sorted(found_in(told)) == sorted([("rebuilt", drawn.id), ("lost", other.id)])
    assert asked == [{drawn.id, other.id}] * 2
    assert store.is_whole(drawn.id)
    assert store.ids() == {drawn.id}


@given(st.sampled_from(["question", "scores", "said", "created", "digest", "pictures"]))
def test_a_trial_that_changed_is_asked_again(tmp_path_factory: pytest.TempPathFactory, column: str) -> None:
    home = tmp_path_factory.mktemp("home")
    keys = [TrialKey("m", ("a" * 64,), f"What is {number}?", ("yes", "no")) for number in range(3)]
    table = TrialTable(home)
    table.add(Trial(key, ((-0.25, -1.5), (-2.0,)), said="yes") for key in keys)
    assert verified(home).clean
    with closing(sqlite3.connect(home / TRIALS)) as rows, rows:
        other = f"CASE substr({column}, 2, 1) WHEN '7' THEN '8' ELSE '7' END"
        change = f"UPDATE trials SET {column} = replace({column}, substr({column}, 2, 1), {other}) WHERE id = ?"
        rows.execute(change, [keys[1].id])

    assert [one.kind for one in verified(home, repair=False).findings] == ["lost"]
    told = verified(home)
    assert (told.trials, [one.place for one in told.findings]) == (3, [f"trial {keys[1].id}"])
    assert list(table.get(keys)) == [keys[0], keys[2]]
    assert verified(home).clean


def test_trials_of_earlier_versions_are_believed_as_far_as_they_can_be_read(home: Path) -> None:
    key = TrialKey("m", ("a" * 64,), "What?", ())
    home.mkdir()
    TrialTable(home).add([Trial(key, (), said="yes")])
    with closing(sqlite3.connect(home / TRIALS)) as rows, rows:
        rows.execute("UPDATE trials SET digest = ''")

    assert verified(home).clean
    assert TrialTable(home).get([key])[key].said == "yes"


def test_samples_that_name_no_picture_and_pictures_that_samples_miss_are_found(
    home: Path, store: ArtifactStore
) -> None:
    ids = [store.put(picture(number)).id for number in range(2)]
    table = SampleTable(home)
    table.add(Sample("mine", 0, number, 0, one, one, "dog", "microworld") for number, one in enumerate(ids))
    told = verified(home)
    assert (told.clean, told.samples, told.pictures) == (True, 2, 2)
    file_of(store, ids[0]).unlink()
    with closing(sqlite3.connect(home / SAMPLES)) as rows, rows:
        rows.execute("UPDATE samples SET picture = 'no' WHERE round = 1")

    told = verified(home)
    assert [one.kind for one in told.findings] == ["lost", "lost"]
    assert "the investigation mine refers to it" in told.findings[1].said
    assert [one.picture for one in table.of("mine", 0)] == [ids[0]]


def test_references_are_found_wherever_a_state_has_them() -> None:
    one, two, three, four = (f"{number}" * 64 for number in range(4))
    region = Region((0, 0, 1, 1), 0.5, label="dog", mask=two, picture=three)
    state = {
        "answer": [to_json(Picture(one, 3, 4)), to_json(region)],
        "messages": [{"content": [{"type": "image", "file_id": four}]}],
        "fingerprint": "f" * 64,
        "program": json.dumps({"picture": "e" * 64}),
    }

    assert sorted(pictures_in(state)) == [one, two, three, four]
