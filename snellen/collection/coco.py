"""Folders in COCO's or LVIS's format: pictures, and one JSON file of boxes and masks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.collection.sources import Annotated, Box, OpenPicture, SearchedPicture, chosen, normalized
from snellen.profiles import BadInput

if TYPE_CHECKING:
    import PIL.Image

MAX_ANNOTATION_BYTES = 2_000_000_000
"""LVIS's own training file has 1.1 GB."""

_FORM = "`images` (id, file_name), `categories` (id, name) and `annotations` (image_id, category_id, bbox)"


_TRIED = 8
"""Pictures of a concept that are looked at for one with masks."""
_ANYWHERE = (2**31, 2**31)
"""The size of a picture into which any box fits."""


class CocoFolder:
    """A data set as COCO and LVIS give it.

    The annotations are the one ``*.json`` file in the folder or in its ``annotations`` folder (or the file that is
    named itself); the pictures lie where ``file_name`` says, in the folder, in ``images``, or, as LVIS names them by
    address, under the last two parts of ``coco_url``.

    Args:
        place: The folder, or its annotation file.
        open_picture: Reads a foreign picture safely.

    Raises:
        BadInput: There is no such folder, or no annotation file, or several.
    """

    def __init__(self, place: Path, *, open_picture: OpenPicture) -> None:
        self._file = _annotation_file(place)
        within = self._file.parent
        self._folder = within.parent if within.name == "annotations" else within
        self._open = open_picture

    def __str__(self) -> str:
        """Name the annotation file."""
        return str(self._file)

    def concepts(self) -> list[str]:
        """The names of its categories."""
        return sorted(self._categories)

    def annotated_concepts(self) -> list[str]:
        """The names of those of its categories that have an annotation."""
        used = {category for _, category, _ in self._table["annotations"]}
        return sorted(name for name, categories in self._categories.items() if categories & used)

    def check(self, concept: str) -> None:
        """Look whether any annotation of a concept can be used.

        Raises:
            BadInput: There is none, or each lacks its picture or a box.
        """
        categories = self._categories.get(normalized(concept), frozenset())
        of_it = [(image, record) for image, category, record in self._table["annotations"] if category in categories]
        if any(self._usable(image, record) for image, record in of_it):
            return
        msg = f"{self._file} has no annotation of {concept!r}: add some."
        if of_it:
            msg = (
                f"Of {concept!r} {self._file} has {len(of_it)} annotations, and none can be used: each needs a picture "
                "that is there and a bbox [x, y, width, height] in it."
            )
        raise BadInput(msg)

    def _usable(self, image: str, record: Mapping[str, Any]) -> bool:
        picture = self._table["images"].get(image)
        return (
            picture is not None and self._path(picture) is not None and _box(record.get("bbox"), _ANYWHERE) is not None
        )

    def annotated(self, concept: str, count: int, *, seed: int = 0) -> list[Annotated]:
        """Return pictures with the boxes of a concept; masks only where each box has one.

        Raises:
            BadInput: The annotation file is not in COCO's form.
        """
        categories = self._categories.get(normalized(concept), frozenset())
        images = [str(image) for image, things in self._things.items() if categories & {each[0] for each in things}]
        scenes: list[Annotated] = []
        for image in chosen(images, len(images), seed=seed):
            if len(scenes) == count:
                break
            made = self._read(concept, categories, image)
            if made is not None:
                scenes.append(made)
        return scenes

    def _read(self, concept: str, categories: frozenset[int], image: str) -> Annotated | None:
        """Read one picture; None where its file is missing or damaged, or where no box lies within it."""
        record = self._table["images"][image]
        path = self._path(record)
        if path is None:
            return None
        try:
            picture = self._open(path.read_bytes(), str(path)).convert("RGB")
        except (BadInput, OSError):
            return None
        things = self._things[image]
        matching = [each[1] for each in things if each[0] in categories]
        boxes = {index: box for index, one in enumerate(matching) if (box := _box(one.get("bbox"), picture.size))}
        if not boxes:
            return None
        masks = [_mask(matching[index].get("segmentation"), picture.size) for index in boxes]
        others = {self._names[each[0]] for each in things if each[0] not in categories and each[0] in self._names}
        return Annotated(
            picture,
            concept,
            tuple(boxes.values()),
            masks=tuple(mask for mask in masks if mask) if all(masks) else (),
            others=tuple(sorted(others)),
            origin=str(path),
        )

    def _path(self, record: Mapping[str, Any]) -> Path | None:
        named = [record.get("file_name"), "/".join(str(record.get("coco_url", "")).split("/")[-2:])]
        for name in (str(each) for each in named if each):
            for folder in (self._folder, self._folder / "images"):
                path = (folder / name).resolve()
                # A file name with ".." or a link must not lead out of the data set.
                if path.is_file() and path.is_relative_to(self._folder.resolve()):
                    return path
        return None

    @cached_property
    def _table(self) -> dict[str, Any]:
        size = self._file.stat().st_size
        if size > MAX_ANNOTATION_BYTES:
            msg = f"{self._file} has {size:,} bytes, more than {MAX_ANNOTATION_BYTES:,}: take a part of the data set."
            raise BadInput(msg)
        try:
            table = json.loads(self._file.read_bytes())
            return {
                "images": {str(one["id"]): one for one in _readable(table["images"], "id")},
                "categories": [(int(one["id"]), _names(one)) for one in table["categories"]],
                "annotations": [
                    (str(one["image_id"]), int(one["category_id"]), one)
                    for one in _readable(table["annotations"], "image_id", "category_id")
                ],
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            msg = f"{self._file} is not in COCO's form ({type(error).__name__}: {error}): it needs {_FORM}."
            raise BadInput(msg) from error

    @cached_property
    def _things(self) -> dict[str, list[tuple[int, Mapping[str, Any]]]]:
        """Category and record of every annotation, by picture."""
        things: dict[str, list[tuple[int, Mapping[str, Any]]]] = defaultdict(list)
        for image, category, record in self._table["annotations"]:
            if image in self._table["images"]:
                things[image].append((category, record))
        return dict(things)

    @cached_property
    def _names(self) -> dict[int, str]:
        return {number: names[0] for number, names in self._table["categories"]}

    @cached_property
    def _categories(self) -> dict[str, frozenset[int]]:
        by_name: dict[str, set[int]] = defaultdict(set)
        for number, names in self._table["categories"]:
            for name in names:
                by_name[name].add(number)
        return {name: frozenset(numbers) for name, numbers in by_name.items()}


class CocoCrops:
    """The things of a data set, each cut out by its box: pictures by concept, as a search would find them."""

    def __init__(self, scenes: CocoFolder) -> None:
        """Cut things out of ``scenes``."""
        self._scenes = scenes

    def concepts(self) -> list[str]:
        """The names of its categories."""
        return self._scenes.concepts()

    def cut_out(self, concept: str, *, seed: int = 0) -> PIL.Image.Image | None:
        """Return the largest thing of a concept in one picture, cut out by its mask; None where none has masks."""
        for scene in self._scenes.annotated(concept, _TRIED, seed=seed):
            if scene.masks:
                box, mask = max(zip(scene.boxes, scene.masks, strict=True), key=lambda pair: _area(pair[0]))
                thing = scene.picture.crop(box).convert("RGB")
                thing.putalpha(mask.crop(box))
                return thing
        return None

    def __str__(self) -> str:
        """Name the annotation file."""
        return str(self._scenes)

    def found(self, concept: str, count: int, *, seed: int = 0) -> list[SearchedPicture]:
        """Return at most ``count`` things of a concept, one of each picture.

        Raises:
            BadInput: The annotation file is not in COCO's form.
        """
        scenes = self._scenes.annotated(concept, count, seed=seed)
        return [SearchedPicture(one.picture.crop(max(one.boxes, key=_area)), concept, one.origin) for one in scenes]


def is_coco(place: Path) -> bool:
    """Tell whether a place looks like a data set in COCO's format: it is a JSON file, or a folder that has one."""
    if place.is_dir():
        return any(place.glob("*.json")) or any((place / "annotations").glob("*.json"))
    return place.suffix.lower() == ".json"


def _area(box: Box) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def _annotation_file(place: Path) -> Path:
    if place.is_file():
        return place
    if not place.is_dir():
        msg = f"There is no folder {place}: name a folder in COCO's or LVIS's format."
        raise BadInput(msg)
    files = sorted([*place.glob("*.json"), *(place / "annotations").glob("*.json")])
    if len(files) == 1:
        return files[0]
    several = f"{len(files)} JSON files ({', '.join(file.name for file in files[:5])}): name the one that is meant"
    trouble = several if files else "no JSON file, and neither has its folder annotations: add COCO's instances file"
    msg = f"{place} has {trouble}."
    raise BadInput(msg)


def _readable(entries: Sequence[Any], *keys: str) -> list[dict[str, Any]]:
    """Pass over entries that cannot be read, as over broken pictures, but not over all of them."""
    readable = [
        one for one in entries if isinstance(one, dict) and all(isinstance(one.get(key), int | str) for key in keys)
    ]
    if entries and not readable:
        msg = f"none of {len(entries)} entries has {' and '.join(keys)}"
        raise ValueError(msg)
    return readable


def _names(category: Mapping[str, Any]) -> list[str]:
    """A category's name and, in LVIS, its synonyms."""
    return [normalized(str(name)) for name in (category["name"], *(category.get("synonyms") or ()))]


def _box(written: object, size: tuple[int, int]) -> Box | None:
    """Turn COCO's (x, y, width, height) into whole pixels within the picture; None where nothing is left of it."""
    try:
        x, y, width, height = (float(each) for each in written)  # type: ignore[attr-defined]
        columns, rows = size
        x0, y0 = max(0, round(x)), max(0, round(y))
        x1, y1 = min(columns, round(x + width)), min(rows, round(y + height))
    except (TypeError, ValueError, OverflowError):
        return None
    return (x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _mask(written: object, size: tuple[int, int]) -> PIL.Image.Image | None:
    """Draw COCO's polygons or uncompressed run lengths; None for what is neither."""
    try:
        if isinstance(written, list) and written:
            return _polygons(written, size)
        if isinstance(written, dict) and isinstance(written.get("counts"), list):
            return _runs(written["counts"], written["size"], size)
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    return None


def _polygons(polygons: Sequence[Sequence[float]], size: tuple[int, int]) -> PIL.Image.Image | None:
    import PIL.Image
    import PIL.ImageDraw

    mask = PIL.Image.new("L", size)
    pen = PIL.ImageDraw.Draw(mask)
    for polygon in polygons:
        points = [float(each) for each in polygon]
        pen.polygon(list(zip(points[::2], points[1::2], strict=True)), fill=255)
    return mask if mask.getbbox() else None


def _runs(counts: Sequence[int], written: Sequence[int], size: tuple[int, int]) -> PIL.Image.Image | None:
    """Run lengths go down the columns and begin outside."""
    import numpy as np
    import PIL.Image

    rows, columns = (int(each) for each in written)
    lengths = np.array(counts, dtype=np.int64)
    if (columns, rows) != size or (lengths < 0).any() or int(lengths.sum()) != rows * columns:
        return None
    inside = np.repeat(np.arange(len(lengths)) % 2, lengths).reshape(columns, rows).T
    mask = PIL.Image.fromarray(inside.astype(np.uint8) * 255)
    return mask if mask.getbbox() else None
