"""Rounds are stored together: pictures before the samples that name them, and all before one that cannot be made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from snellen.errors import SnellenError
from snellen.experiments.report import Experiment, Finding, Report
from snellen.experiments.rounds import drawn_round, made_round, make_rounds
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import MemoryTrouble
from snellen.memory.samples import Sample, SampleTable
from tests.experiments.investigating import Watched
from tests.experiments.test_preview import designed, examination


@pytest.fixture
async def report() -> Report:
    design, begun = await designed("Are clip and blip robust to rotation?")
    findings = list(map(Finding.unobserved, design.claims))
    return begun.model_copy(update={"experiments": [Experiment(design=design, findings=findings)]})


def test_rounds_that_are_made_together_are_those_that_are_made_one_by_one(tmp_path: Path, report: Report) -> None:
    (tmp_path / "together").mkdir()
    (tmp_path / "single").mkdir()
    together, single = examination(tmp_path / "together"), examination(tmp_path / "single")
    made = make_rounds("t", report, 0, range(2, 5), together)
    assert (made.count, made.trouble) == (3, None)
    for number in range(2, 5):
        single.samples.add(made_round("t", report, 0, number, single))
    assert together.samples.of("t", 0) == single.samples.of("t", 0) != []
    assert together.pictures.ids() == single.pictures.ids()
    assert made.rejected == sum(one.rejected for one in single.samples.of("t", 0))


def test_they_are_stored_in_one_transaction_after_their_pictures(
    tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, happened = examination(tmp_path), list[str]()
    put_all, add = ArtifactStore.put_all, SampleTable.add

    def putting(store: ArtifactStore, contents: Mapping[str, bytes]) -> None:
        happened.append("pictures")
        put_all(store, contents)

    def adding(table: SampleTable, samples: Iterable[Sample]) -> None:
        kept = list(samples)
        assert all(given.pictures.is_whole(each) for one in kept for each in (one.picture, one.plain))
        happened.append("samples")
        add(table, kept)

    monkeypatch.setattr(ArtifactStore, "put_all", putting)
    monkeypatch.setattr(SampleTable, "add", adding)
    monkeypatch.setattr("snellen.experiments.rounds._TOGETHER_SECONDS", 1e9)
    assert make_rounds("t", report, 0, range(4), given).count == 4
    assert happened == ["pictures", "samples"]


def test_what_takes_long_is_stored_round_by_round(
    tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snellen.experiments.rounds._TOGETHER_SECONDS", -1.0)
    given = examination(tmp_path)
    assert make_rounds("t", report, 0, range(4), given).count == 1
    assert {one.round for one in given.samples.of("t", 0)} == {0}


def test_rounds_before_one_that_cannot_be_made_are_stored(
    tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, draw = examination(tmp_path), Watched.draw

    def refusing(examination: Watched, arm: object, seed: str, **more: bool) -> object:
        if seed.endswith("/2"):
            msg = "Nothing here generates pictures."
            raise SnellenError(msg)
        return draw(examination, arm, seed, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Watched, "draw", refusing)
    monkeypatch.setattr("snellen.experiments.rounds._TOGETHER_SECONDS", 1e9)
    made = make_rounds("t", report, 0, range(5), given)
    assert (made.count, str(made.trouble)) == (2, "Nothing here generates pictures.")
    assert {one.round for one in given.samples.of("t", 0)} == {0, 1}


def test_no_sample_is_stored_whose_picture_is_not(
    tmp_path: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = examination(tmp_path)

    def full(*_: object) -> None:
        msg = "The disk is full."
        raise MemoryTrouble(msg)

    monkeypatch.setattr(ArtifactStore, "put_all", full)
    with pytest.raises(MemoryTrouble):
        make_rounds("t", report, 0, range(2), given)
    assert given.samples.count() == 0


def test_a_round_that_waits_is_taken_once_and_for_its_own_place_alone(tmp_path: Path, report: Report) -> None:
    given = examination(tmp_path)
    drawn = drawn_round("t", report, 0, 3, given)
    assert not given.pictures.ids()
    given.ahead.replace([drawn])
    assert drawn_round("other", report, 0, 3, given) is not drawn, "samples are kept by the name of an investigation"
    assert drawn_round("t", report, 0, 4, given) is not drawn
    assert drawn_round("t", report, 0, 3, given) is drawn
    again = drawn_round("t", report, 0, 3, given)
    assert again is not drawn
    assert again == drawn
