"""What a run says in words and leaves in files."""

from __future__ import annotations

import json
from pathlib import Path

import PIL.Image
import pytest

from snellen.errors import SnellenError
from snellen.graphs.states import AskState
from snellen.memory.artifacts import ArtifactStore
from snellen.reports.runs import AskRun, write_run, write_text
from snellen.summaries.runs import drawn, notices_of, regions_of
from snellen.summaries.values import in_words
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, to_json


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def picture(store: ArtifactStore) -> Picture:
    return store.put(PIL.Image.new("RGB", (40, 30), "white"))


def _region(label: str = "cat", picture: str = "") -> Region:
    return Region(box=(10, 10, 20, 20), score=0.875, label=label, picture=picture)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "yes"),
        (3.0, "3"),
        ("red", "red"),
        ([], "nothing found"),
        (None, ""),
        (["cat", "dog"], "cat, dog"),
        (_region(), "cat 0.88"),
        ([_region("")], "1 region: region 0.88"),
        ([_region()] * 6, "6 regions: cat 0.88, cat 0.88, cat 0.88, cat 0.88, …"),
        (Picture("0" * 64, 40, 30), "a picture of 40x30"),
    ],
)
def test_values_are_said_in_a_line(value: object, words: str) -> None:
    assert in_words(value) == words


def test_results_are_written_as_files(tmp_path: Path, store: ArtifactStore, picture: Picture) -> None:
    step = StepRecord("2[1].1", 2, "X=CROP(image=IMAGE,box=BOX0)", "CROP", output=to_json(picture))
    state = AskState(pictures=[to_json(picture)], steps=[step.to_json()], answer=to_json(picture))

    written = write_run(AskRun("t", state), tmp_path / "new" / "out", store)

    assert [path.name for path in written] == ["answer.png", "step-2[1].1.png", "run.json"]
    with PIL.Image.open(written[0]) as answer:
        assert answer.size == (40, 30)
    saved = json.loads(written[-1].read_text("utf-8"))
    assert saved["thread"] == "t"
    assert saved["answer_text"] == "a picture of 40x30"
    assert saved["steps"][0]["address"] == "2[1].1"


def test_regions_as_the_answer_are_outlined(store: ArtifactStore, picture: Picture) -> None:
    shown = drawn([_region(picture=picture.id)], store)

    assert shown is not None
    assert shown.getpixel((10, 15)) != (255, 255, 255)
    assert shown.getpixel((15, 15)) == (255, 255, 255)


def test_regions_of_unknown_pictures_are_not_drawn(store: ArtifactStore) -> None:
    assert drawn([_region()], store) is None
    assert drawn("cat", store) is None


def test_only_regions_of_one_picture_are_shown_together() -> None:
    assert len(regions_of([_region(picture="a"), _region(picture="b"), _region(picture="a")])) == 2


def test_an_unwritable_place_is_one_sentence(tmp_path: Path, store: ArtifactStore) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(SnellenError, match=r"cannot be written to .*file.*name another place"):
        write_run(AskRun("t", AskState()), tmp_path / "file" / "out", store)
    with pytest.raises(SnellenError, match="cannot be written to"):
        write_text(tmp_path, "page")


def test_notices_leave_out_the_error_itself_and_repetitions() -> None:
    state = AskState(
        error="It broke.", notes=["It broke.", "Step 2 found nothing."], warnings=["Step 2 found nothing."]
    )

    assert notices_of(state) == ["Step 2 found nothing."]
