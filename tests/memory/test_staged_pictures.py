"""Pictures that are in memory alone until they are stored together."""

from __future__ import annotations

from pathlib import Path

import PIL.Image
import pytest

from snellen.errors import SnellenError
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.staged_pictures import StagedPictures


def test_they_are_read_like_others_and_not_stored_until_they_are(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    known = store.put(PIL.Image.new("RGB", (8, 8), "red"))
    staged = StagedPictures(store)
    new = staged.put(PIL.Image.new("RGB", (9, 8), "blue"))
    assert (new.width, new.height) == (9, 8)
    assert staged.get(new.id).getpixel((0, 0)) == (0, 0, 255)
    assert staged.get(known.id).getpixel((0, 0)) == (255, 0, 0)
    assert store.ids() == {known.id}
    with pytest.raises(SnellenError, match="is not in"):
        store.get(new.id)

    store.put_all(staged.staged)
    assert store.ids() == {known.id, new.id}
    assert store.get(new.id).getpixel((0, 0)) == (0, 0, 255)
    assert store.put(PIL.Image.new("RGB", (9, 8), "blue")) == new


def test_storing_them_again_mends_a_damaged_file(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    staged = StagedPictures(store)
    picture = staged.put(PIL.Image.new("RGB", (8, 8)))
    store.put_all(staged.staged)
    Path(store.place(picture.id)).write_bytes(b"cut short")
    store.put_all(staged.staged)
    assert store.is_whole(picture.id)
