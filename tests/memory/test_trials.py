from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.trials import DATABASE, Trial, TrialKey, TrialTable, TrialTime
from snellen.memory.verification import verify_memory
from tests.graphs.scripted import embed

KEY = TrialKey("m1", ("p1",), "is there a dog?", ("yes", "no"))
SCORES = ((-0.5,), (-1.25, -2.0))


def keys(count: int, model: str = "m1") -> list[TrialKey]:
    return [TrialKey(model, (f"p{place}",), "is there a dog?", ("yes", "no")) for place in range(count)]


@pytest.mark.usefixtures("memory_place")
def test_what_was_measured_is_found_again(tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    assert table.get([KEY]) == {}
    assert table.add([Trial(KEY, SCORES, basis="letters", said="no")]) == 1
    found = TrialTable(tmp_path).get([KEY])[KEY]
    assert (found.scores, found.basis, found.said) == (SCORES, "letters", "no")
    assert found.created.endswith("+00:00")


@pytest.mark.usefixtures("memory_place")
def test_the_latest_times_of_a_model_are_kept_by_what_it_was_asked(tmp_path: Path) -> None:
    table, free = TrialTable(tmp_path), TrialKey("m1", ("p1",), "what is it?", ())
    for place in range(30):
        table.add([], [TrialTime("one", KEY, float(place))])
    table.add([], [TrialTime("one", free, 0.5)])
    table.add([], [TrialTime("other", KEY, 0.25)])

    again = TrialTable(tmp_path)
    assert again.times("one", pictures=1, ranked=True) == [float(place) for place in range(10, 30)]
    assert again.times("one", pictures=1, ranked=False) == [0.5]
    assert again.times("other", pictures=1, ranked=True) == [0.25]
    assert again.times("one", pictures=2, ranked=True) == again.times("nobody", pictures=1, ranked=True) == []


@pytest.mark.usefixtures("memory_place")
def test_a_trial_is_measured_once(tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    assert table.add([Trial(KEY, SCORES), Trial(KEY, ((0.0,), (0.0,)))]) == 1
    assert table.add([Trial(KEY, ((0.0,), (0.0,)))]) == 0
    assert table.get([KEY])[KEY].scores == SCORES
    assert table.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        TrialKey("m2", ("p1",), "is there a dog?", ("yes", "no")),
        TrialKey("m1", ("p2",), "is there a dog?", ("yes", "no")),
        TrialKey("m1", ("p1", "p1"), "is there a dog?", ("yes", "no")),
        TrialKey("m1", ("p1",), "is there a cat?", ("yes", "no")),
        TrialKey("m1", ("p1",), "is there a dog?", ("no", "yes")),
        TrialKey("m1", ("p1",), "is there a dog?", ()),
    ],
)
def test_whatever_decides_a_trial_is_in_its_name(other: TrialKey) -> None:
    assert other.id != KEY.id


@pytest.mark.usefixtures("memory_place")
def test_many_are_found_at_once(tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    table.add(Trial(key, ((-float(place),), (-1.0,))) for place, key in enumerate(keys(1_300)))
    found = table.get([*keys(1_300), KEY])
    assert len(found) == 1_301 - 1  # KEY is one of them
    assert found[keys(1_300)[1_299]].scores[0] == (-1299.0,)
    assert (table.count("m1"), table.count("m2")) == (1_300, 0)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(st.floats(), min_size=1, max_size=4), min_size=1, max_size=4))
def test_every_number_survives(tmp_path_factory: pytest.TempPathFactory, scores: list[list[float]]) -> None:
    table = TrialTable(tmp_path_factory.mktemp("trials"))
    table.add([Trial(KEY, tuple(map(tuple, scores)))])
    (found,) = table.get([KEY]).values()
    for one, other in zip(found.scores, scores, strict=True):
        assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(one, other, strict=True))


def _measure(folder: Path, worker: int) -> None:
    table = TrialTable(folder)
    for key in keys(40):
        table.add([Trial(key, ((-float(worker),), (-1.0,)))])


@pytest.mark.usefixtures("memory_place")
def test_processes_share_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_measure, args=(tmp_path, worker)) for worker in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert TrialTable(tmp_path).count() == 40


def test_a_damaged_table_is_said_and_nothing_is_half_stored(tmp_path: Path) -> None:
    table = TrialTable(tmp_path)
    with pytest.raises(TypeError):
        table.add([Trial(KEY, SCORES), Trial(TrialKey("m", ("p",), "q", ("a",)), ((object(),),))])  # type: ignore[arg-type]
    assert table.count() == 0
    for each in tmp_path.glob(f"{DATABASE}*"):
        each.write_bytes(b"not a database" * 100)
    with pytest.raises(MemoryTrouble, match="cannot be used"):
        TrialTable(tmp_path)


@pytest.mark.parametrize("database", ["trials.sqlite", "samples.sqlite"])
def test_a_damaged_table_is_moved_away_and_begun_again(database: str, tmp_path: Path) -> None:
    picture = ArtifactStore(tmp_path / FOLDER).put(PIL.Image.new("RGB", (8, 8))).id
    sample = Sample("t", 0, 0, 0, picture, picture, "dog", "microworld")
    TrialTable(tmp_path).add([Trial(KEY, SCORES)])
    SampleTable(tmp_path).add([sample])
    file = tmp_path / database
    file.write_bytes(b"no database" * 100)
    noted = verify_memory(tmp_path, _demonstrations(tmp_path), repair=False)
    assert [finding.place for finding in noted.findings] == [str(file)]
    assert file.read_bytes().startswith(b"no database")
    verify_memory(tmp_path, _demonstrations(tmp_path))
    assert (tmp_path / f"{database}.damaged-1").exists()
    assert verify_memory(tmp_path, _demonstrations(tmp_path)).clean
    TrialTable(tmp_path).add([Trial(KEY, SCORES)])
    SampleTable(tmp_path).add([sample])


def _demonstrations(folder: Path) -> Callable[[], DemonstrationPool]:
    return lambda: DemonstrationPool(folder, embed=embed)


def test_a_table_that_is_kept_open_leaves_its_log_where_it_is(tmp_path: Path) -> None:
    table, log = TrialTable(tmp_path), tmp_path / f"{DATABASE}-wal"
    with table.kept_open():
        table.add([Trial(KEY, ((0.0,), (-1.0,)))])
        assert log.stat().st_size, "moving it into the database after each change forces both to the disk"
        assert TrialTable(tmp_path).get([KEY])
    assert not log.exists()
    assert table.get([KEY])
