"""Pictures of a labelled data set or a folder: found by name or by similarity, things cut out by their outlines."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import PIL.Image
import PIL.ImageDraw
import pytest

from snellen.collection import concepts_in, labelled_pictures
from snellen.errors import BadInput
from snellen.models.vision.segmentation import Segment
from snellen.profiles import Profile, load_profile
from snellen.tools.calls import ToolCall
from snellen.tools.samples import FolderSource, SampleSelection, Selected, SimilarPictures, select, sources_of
from snellen.tools.transforms import apply
from snellen.tools.vision import Models

SHADES = {"dog": (200, 30, 30), "car": (30, 30, 200), "boat": (30, 180, 30)}


def opened(data: bytes, name: str) -> PIL.Image.Image:
    try:
        return PIL.Image.open(io.BytesIO(data)).convert("RGB")
    except OSError as error:
        raise BadInput(name) from error


def scene(shade: tuple[int, int, int]) -> PIL.Image.Image:
    """A disc of a colour on white."""
    picture = PIL.Image.new("RGB", (60, 40), "white")
    PIL.ImageDraw.Draw(picture).ellipse((10, 5, 40, 35), fill=shade)
    return picture


@pytest.fixture
def data_set(tmp_path: Path) -> Path:
    """Three pictures in COCO's format, with masks, and a category without any."""
    (tmp_path / "images").mkdir()
    names = [*SHADES, "zebra"]
    for number, shade in enumerate(SHADES.values()):
        scene(shade).save(tmp_path / "images" / f"{number}.png")
    outline = [[25 + 15 * np.cos(a), 20 + 15 * np.sin(a)] for a in np.linspace(0, 6.2, 40)]
    table: dict[str, Any] = {
        "images": [{"id": n, "file_name": f"{n}.png", "width": 60, "height": 40} for n in range(3)],
        "categories": [{"id": n, "name": name} for n, name in enumerate(names)],
        "annotations": [
            {"id": n, "image_id": n, "category_id": n, "bbox": [10, 5, 31, 31],
             "segmentation": [[float(v) for point in outline for v in point]]}
            for n in range(3)
        ],
    }  # fmt: skip
    (tmp_path / "instances.json").write_text(json.dumps(table))
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, shade in SHADES.items():
        (tmp_path / "classes" / name).mkdir(parents=True)
        for number in range(3):
            scene((shade[0], shade[1], shade[2] + number)).save(tmp_path / "classes" / name / f"{number}.png")
    return tmp_path / "classes"


@dataclass
class Seeing:
    """The models of a profile, of which the test knows what they see: by redness, and discs by their colour."""

    profile: Profile = field(default_factory=lambda: load_profile("embedded"))
    compared: int = 0

    def similarity(self, pictures: Sequence[PIL.Image.Image], texts: Sequence[str]) -> np.ndarray:
        assert texts == ["a photo of something red"]
        self.compared += len(pictures)
        return np.array([[np.asarray(one.resize((8, 8))).mean(axis=(0, 1)) @ [1, -0.5, -0.5]] for one in pictures])

    def segment(self, pictures: Sequence[PIL.Image.Image]) -> list[list[Segment]]:
        found = []
        for picture in pictures:
            mask = PIL.Image.fromarray(((np.asarray(picture).min(axis=2) < 200) * 255).astype(np.uint8))
            box = mask.getbbox()
            everywhere = Segment(PIL.Image.new("L", picture.size, 255), (0, 0, *picture.size), 0.9, "grass")
            found.append([everywhere, *([Segment(mask, box, 0.8, "disc")] if box else [])])
        return found


def source(place: Path, models: Seeing | None, *, similar: bool = False) -> FolderSource:
    pictures, known = labelled_pictures(place, open_picture=opened), cast("Models", models)
    return FolderSource(
        pictures,
        groups=lambda name: ["car", "boat"] if name == "vehicle" else [],
        models=known,
        similar=SimilarPictures(pictures, known) if similar else None,
    )


def drawn(from_: FolderSource, class_name: str, seed: str = "s") -> Selected:
    call = ToolCall(name="TextToImageRetrieval", arguments={"class_name": class_name})
    return select(call, SampleSelection(seed, from_, None))


def test_a_data_set_is_retrieved_from_by_the_names_of_its_categories(data_set: Path) -> None:
    assert concepts_in(data_set) == ["boat", "car", "dog"]
    found = source(data_set, None)
    for words in ("dog", "a dog", "Dogs"):
        assert drawn(found, words).class_name == "dog"
    assert {drawn(found, "vehicle", str(n)).class_name for n in range(20)} == {"car", "boat"}
    assert drawn(found, "car").picture.size == (31, 31)
    with pytest.raises(BadInput, match="has no pictures of 'violin'"):
        drawn(found, "violin")


def test_notes_beside_class_folders_make_no_data_set_of_them(folder: Path) -> None:
    (folder / "notes.json").write_text('{"made": "by hand"}')
    assert concepts_in(folder) == ["boat", "car", "dog"]
    assert drawn(source(folder, None), "dog").origin.endswith(".png")


@pytest.mark.parametrize("outlined", [True, False])
def test_things_are_pasted_by_their_outline_and_not_as_squares(
    outlined: bool,  # noqa: FBT001 - pytest's way
    data_set: Path,
    folder: Path,
) -> None:
    found = source(data_set, None) if outlined else source(folder, Seeing())
    selected = drawn(found, "car")
    assert selected.studio is not None
    thing = selected.studio.cut_out("dog", 30, np.random.default_rng(1))
    assert thing.mode == "RGBA"
    assert max(thing.size) == 30
    opacity = np.asarray(thing)[..., 3] > 127
    assert opacity.mean() == pytest.approx(np.pi / 4, abs=0.06)
    assert np.abs(np.asarray(thing)[opacity][:, :3].astype(int) - SHADES["dog"]).max(axis=1).mean() < 20
    call = ToolCall(name="PasteGeneratedObjectAtRandomPosition", arguments={"class_name": "dog", "size": 10})
    pasted = apply(call, PIL.Image.new("RGB", (40, 40), "white"), "s", selected.studio)
    assert (np.asarray(pasted) < 250).any(axis=2).sum() == pytest.approx(np.pi * 25, abs=25)


def test_the_same_and_other_things_are_of_the_class_and_of_others(folder: Path) -> None:
    selected = drawn(source(folder, Seeing()), "dog")
    assert selected.studio is not None
    assert list(selected.studio.occupied()) == [(10, 5, 41, 36)]
    for n in range(6):
        same = selected.studio.cut_out("same", 20, np.random.default_rng(n)).convert("RGB").getpixel((10, 10))
        other = selected.studio.cut_out("other", 20, np.random.default_rng(n)).convert("RGB").getpixel((10, 10))
        assert cast("Any", same)[0] > 150 > cast("Any", other)[0]


def test_what_cannot_be_cut_out_is_refused(folder: Path) -> None:
    selected = drawn(source(folder, None), "dog")
    assert selected.studio is not None
    with pytest.raises(BadInput, match="could be cut out"):
        selected.studio.cut_out("car", 20, np.random.default_rng(1))


def test_other_words_find_the_most_similar_pictures_which_are_not_certain(folder: Path) -> None:
    models = Seeing()
    found = source(folder, models, similar=True)
    first = drawn(found, "something red", "0")
    assert (first.class_name, first.certain) == ("something red", False)
    compared = models.compared
    seen = [cast("Any", drawn(found, "something red", str(n)).picture.getpixel((25, 20)))[0] for n in range(20)]
    assert models.compared == compared, "pictures are compared with the same words once"
    assert drawn(found, "dog").certain
    assert min(seen) > 150


def test_similarity_is_for_profiles_that_can_check_it_and_paint_nothing(folder: Path) -> None:
    embedded = load_profile("embedded").drawing_from(folder)
    models = cast("Models", SimpleNamespace(profile=embedded))
    for profile, similar in (
        (embedded, True),
        (embedded.model_copy(update={"models": embedded.models.model_copy(update={"match": None})}), False),
    ):
        _, retrieval = sources_of(profile, models, open_picture=opened)
        assert isinstance(retrieval, FolderSource)
        assert (retrieval._similar is not None) == similar
