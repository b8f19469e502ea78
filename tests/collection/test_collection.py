"""Collecting pictures: training and validation never overlap, and nothing foreign is trusted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen import microworld
from snellen.collection import (
    ClassFolders,
    CocoFolder,
    PictureSearch,
    SearchedPicture,
    SearchSettings,
    WorldLibrary,
    split,
)
from snellen.collection.search import is_public
from snellen.collection.sources import digest
from snellen.memory.artifacts import read_picture
from snellen.profiles import BadInput, SnellenError


def plain(shade: int, size: tuple[int, int] = (8, 6)) -> PIL.Image.Image:
    return PIL.Image.new("RGB", size, (shade, shade, shade))


def png(picture: PIL.Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()


@given(st.lists(st.integers(0, 12), max_size=30), st.integers(0, 10))
def test_training_and_validation_never_share_a_picture(shades: list[int], held_out: int) -> None:
    items = [SearchedPicture(plain(shade), "dog", str(index)) for index, shade in enumerate(shades)]

    parts = split(items, held_out=held_out)

    training, validation = ({digest(item.picture) for item in part} for part in (parts.training, parts.validation))
    assert not training & validation
    assert training | validation == {digest(item.picture) for item in items}
    assert len(validation) == min(held_out, max(len(set(shades)) - 1, 0))


class TestWorld:
    library = WorldLibrary(lambda: microworld, title="microworld")

    def test_scenes_show_the_concept_in_every_box_and_mask(self) -> None:
        for each in self.library.annotated("dog", 5, seed=3):
            assert each.boxes
            assert len(each.masks) == len(each.boxes)
            assert [mask.getbbox() for mask in each.masks] == list(each.boxes)
            assert "dog" not in each.others

    def test_the_same_seed_collects_the_same_pictures_and_another_seed_others(self) -> None:
        first, again, other = (self.library.found("dog", 4, seed=seed) for seed in (1, 1, 2))
        assert [digest(one.picture) for one in first] == [digest(one.picture) for one in again]
        assert {digest(one.picture) for one in first}.isdisjoint({digest(one.picture) for one in other})

    def test_what_the_world_does_not_know_has_no_pictures(self) -> None:
        assert self.library.annotated("gizmo", 3) == []
        assert self.library.found("gizmo", 3) == []


class TestClassFolders:
    def test_a_folder_is_its_concept_and_files_that_are_no_pictures_are_passed_over(self, tmp_path: Path) -> None:
        for name in ("polar_bear", "Dog"):
            (tmp_path / name).mkdir()
        for shade in range(3):
            plain(shade).save(tmp_path / "polar_bear" / f"{shade}.png")
        (tmp_path / "polar_bear" / "broken.jpg").write_bytes(b"no picture")
        (tmp_path / "polar_bear" / "notes.txt").write_text("no picture")
        folders = ClassFolders(tmp_path, open_picture=read_picture)

        assert folders.concepts() == ["dog", "polar bear"]
        assert len(folders.found("polar bear", 10)) == 3
        assert len(folders.found("Polar Bear", 2)) == 2
        assert folders.found("cat", 5) == []

    def test_a_copy_of_a_folder_gives_the_same_pictures(self, tmp_path: Path) -> None:
        for place in ("here", "elsewhere"):
            (tmp_path / place / "dog").mkdir(parents=True)
            for shade in range(20):
                plain(shade).save(tmp_path / place / "dog" / f"{shade}.png")

        drawn = {
            place: [
                Path(one.origin).name
                for one in ClassFolders(tmp_path / place, open_picture=read_picture).found("dog", 9)
            ]
            for place in ("here", "elsewhere")
        }

        assert drawn["here"] == drawn["elsewhere"]

    def test_a_folder_without_folders_is_of_the_concept_asked_for(self, tmp_path: Path) -> None:
        plain(7).save(tmp_path / "one.png")

        (found,) = ClassFolders(tmp_path, open_picture=read_picture).found("flamingo", 5)

        assert (found.concept, found.origin) == ("flamingo", str(tmp_path / "one.png"))

    def test_a_missing_folder_is_bad_input(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="There is no folder"):
            ClassFolders(tmp_path / "none", open_picture=read_picture)


class TestCoco:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "images").mkdir()
        (tmp_path / "annotations").mkdir()
        plain(10).save(tmp_path / "images" / "a.png")
        plain(20).save(tmp_path / "images" / "b.png")
        return tmp_path

    def write(self, folder: Path, **changes: object) -> Path:
        table = {
            "images": [{"id": 1, "file_name": "a.png"}, {"id": 2, "file_name": "b.png"}],
            "categories": [{"id": 5, "name": "street_sign_(traffic)", "synonyms": ["sign"]}, {"id": 6, "name": "dog"}],
            "annotations": [
                {"image_id": 1, "category_id": 5, "bbox": [1, 1, 3, 2], "segmentation": [[1, 1, 3, 1, 3, 2, 1, 2]]},
                {"image_id": 1, "category_id": 6, "bbox": [0, 0, 2, 2]},
                {"image_id": 2, "category_id": 6, "bbox": [-4, 2.4, 100, 2]},
                {
                    "image_id": 2,
                    "category_id": 5,
                    "bbox": [0, 0, 1, 2],
                    "segmentation": {"counts": [0, 2, 46], "size": [6, 8]},
                },
            ],
        } | changes
        (folder / "annotations" / "instances.json").write_text(json.dumps(table))
        return folder

    def test_boxes_masks_synonyms_and_other_things_are_read(self, folder: Path) -> None:
        found = CocoFolder(self.write(folder), open_picture=read_picture).annotated("sign", 5)

        by_file = {Path(each.origin).name: each for each in found}
        assert by_file["a.png"].boxes == ((1, 1, 4, 3),)
        assert by_file["a.png"].others == ("dog",)
        assert by_file["a.png"].masks[0].getbbox() == (1, 1, 4, 3)
        runs = np.asarray(by_file["b.png"].masks[0])
        assert runs[:2, 0].all()
        assert runs.sum() == 2 * 255, "run lengths go down the columns"

    def test_boxes_are_cut_at_the_picture_and_need_no_mask(self, folder: Path) -> None:
        found = CocoFolder(self.write(folder), open_picture=read_picture).annotated("dog", 5)

        assert {Path(each.origin).name: (each.boxes, each.masks) for each in found} == {
            "a.png": (((0, 0, 2, 2),), ()),
            "b.png": (((0, 2, 8, 4),), ()),
        }

    def test_a_file_name_does_not_lead_out_of_the_folder(
        self, folder: Path, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        outside = tmp_path_factory.mktemp("outside") / "secret.png"
        plain(1).save(outside)
        (folder / "images" / "link.png").symlink_to(outside)
        images = [{"id": 1, "file_name": f"../../{outside.parent.name}/secret.png"}, {"id": 2, "file_name": "link.png"}]

        assert CocoFolder(self.write(folder, images=images), open_picture=read_picture).annotated("dog", 5) == []

    @pytest.mark.parametrize("changes", [{"images": [{"name": 1}]}, {"categories": None}, {"annotations": [3]}])
    def test_what_is_not_in_the_form_is_bad_input(self, folder: Path, changes: dict[str, Any]) -> None:
        with pytest.raises(BadInput, match="not in COCO's form"):
            CocoFolder(self.write(folder, **changes), open_picture=read_picture).annotated("dog", 5)

    def test_single_entries_that_cannot_be_read_are_passed_over(self, folder: Path) -> None:
        annotations = [None, "text", {"id": 3}, {"image_id": 1, "category_id": 6, "bbox": [1, 1, 4, 4]}]
        images = [{"id": 1, "file_name": "a.png"}, {"file_name": "b.png"}, 7]
        written = self.write(folder, annotations=annotations, images=images)

        assert len(CocoFolder(written, open_picture=read_picture).annotated("dog", 5)) == 1

    @pytest.mark.parametrize("box", [None, "large", [1, 2], [0, 0, 0, 5], [float("inf"), 0, 1, 1], [50, 50, 5, 5]])
    def test_boxes_that_show_nothing_are_passed_over(self, folder: Path, box: object) -> None:
        annotations = [{"image_id": 1, "category_id": 6, "bbox": box}]

        assert (
            CocoFolder(self.write(folder, annotations=annotations), open_picture=read_picture).annotated("dog", 5) == []
        )

    @pytest.mark.parametrize(
        "annotation",
        [
            {"image_id": 1, "bbox": [1, 2]},
            {"image_id": 1, "bbox": [0, 0, -3, 5]},
            {"image_id": 9, "bbox": [0, 0, 1, 1]},
        ],
    )
    def test_where_no_annotation_can_be_used_that_is_said(self, folder: Path, annotation: dict[str, Any]) -> None:
        self.write(folder).joinpath("images", "b.png").unlink()
        usable = {"image_id": 1, "category_id": 6, "bbox": [0, 0, 2, 2]}
        lost = {"image_id": 2, "category_id": 6, "bbox": [0, 0, 2, 2]}
        annotations = [annotation | {"category_id": 6}, lost]

        CocoFolder(self.write(folder, annotations=[*annotations, usable]), open_picture=read_picture).check("dog")
        with pytest.raises(BadInput, match=r"instances\.json has 2 annotations, and none can be used"):
            CocoFolder(self.write(folder, annotations=annotations), open_picture=read_picture).check("dog")
        with pytest.raises(BadInput, match="has no annotation of 'sign': add some"):
            CocoFolder(folder, open_picture=read_picture).check("sign")

    def test_the_annotation_file_must_be_clear(self, folder: Path) -> None:
        with pytest.raises(BadInput, match="no JSON file"):
            CocoFolder(folder, open_picture=read_picture)
        self.write(folder)
        (folder / "other.json").write_text("{}")
        with pytest.raises(BadInput, match="2 JSON files"):
            CocoFolder(folder, open_picture=read_picture)


Answer = Callable[[httpx.Request], httpx.Response]


class TestSearch:
    settings = SearchSettings("https://search.example/find?q={query}&n={count}", results="data.items")

    def search(self, pages: dict[str, httpx.Response], largest: int = 10_000_000) -> PictureSearch:
        def answer(request: httpx.Request) -> httpx.Response:
            return pages.get(str(request.url), httpx.Response(404))

        client = httpx.Client(transport=httpx.MockTransport(answer))
        settings = replace(self.settings, largest=largest)
        return PictureSearch(
            settings, open_picture=read_picture, client=client, public=lambda host: not host.startswith("10.")
        )

    def listing(self, *addresses: str) -> httpx.Response:
        return httpx.Response(200, json={"data": {"items": [{"url": address} for address in addresses]}})

    def test_only_pictures_from_public_places_within_the_limits_are_taken(self) -> None:
        picture = httpx.Response(200, content=png(plain(9)), headers={"content-type": "image/png"})
        pages = {
            "https://search.example/find?q=polar+bear&n=20": self.listing(
                "https://a.example/good.png",
                "http://10.0.0.1/private.png",
                "file:///etc/passwd",
                "https://a.example/page.html",
                "https://a.example/endless.png",
                "https://a.example/moved.png",
                "https://a.example/inward.png",
                "https://a.example/missing.png",
            ),
            "https://a.example/good.png": picture,
            "http://10.0.0.1/private.png": picture,
            "https://a.example/page.html": httpx.Response(200, text="<html>", headers={"content-type": "text/html"}),
            "https://a.example/endless.png": httpx.Response(
                200, content=b"x" * 5000, headers={"content-type": "image/png"}
            ),
            "https://a.example/moved.png": httpx.Response(302, headers={"location": "https://a.example/good.png"}),
            "https://a.example/inward.png": httpx.Response(302, headers={"location": "http://10.0.0.1/private.png"}),
        }

        found = self.search(pages, largest=4000).found("polar bear", 5)

        assert [one.origin for one in found] == ["https://a.example/good.png", "https://a.example/moved.png"]

    def test_no_more_is_fetched_than_is_wanted(self) -> None:
        picture = httpx.Response(200, content=png(plain(9)), headers={"content-type": "image/png"})
        pages = {"https://search.example/find?q=dog&n=4": self.listing("https://a.example/1", "https://a.example/2")}
        pages |= {f"https://a.example/{index}": picture for index in (1, 2)}

        assert len(self.search(pages).found("dog", 1)) == 1

    @pytest.mark.parametrize(
        "answer",
        [
            httpx.Response(200, json=[1, 2]),
            httpx.Response(200, json={"data": {"items": [{"src": "x"}]}}),
            httpx.Response(200, content=b"{", headers={"content-type": "application/json"}),
        ],
    )
    def test_another_form_of_answer_is_a_clear_error(self, answer: httpx.Response) -> None:
        with pytest.raises(SnellenError, match="did not answer with a list"):
            self.search({"https://search.example/find?q=dog&n=4": answer}).found("dog", 1)

    def test_an_endpoint_that_fails_is_a_clear_error(self) -> None:
        with pytest.raises(SnellenError, match=r"search\.example did not answer"):
            self.search({}).found("dog", 1)

    @pytest.mark.parametrize("url", ["https://search.example/", "file:///{query}"])
    def test_an_address_that_cannot_be_asked_is_bad_input(self, url: str) -> None:
        with pytest.raises(BadInput, match="must begin with http"):
            PictureSearch(SearchSettings(url), open_picture=read_picture)

    @pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "no host"])
    def test_private_places_are_not_public(self, host: str) -> None:
        assert not is_public(host)
