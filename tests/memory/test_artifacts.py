"""Pictures are stored once, by content; what is no picture is refused in one sentence."""

from __future__ import annotations

import errno
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import snellen.memory.artifacts
from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.home import MemoryTrouble


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def gradient(width: int = 24, height: int = 16) -> PIL.Image.Image:
    row = np.linspace(0, 255, width, dtype=np.uint8)
    return PIL.Image.fromarray(np.stack([np.tile(row, (height, 1))] * 3, axis=-1))


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_picture_comes_back_as_it_was(store: ArtifactStore) -> None:
    reference = store.put(gradient())

    assert (reference.width, reference.height) == (24, 16)
    assert store.get(reference.id).tobytes() == gradient().tobytes()
    assert store.get(reference.id).mode == "RGB"


def test_equal_pictures_are_stored_once_whatever_their_metadata(store: ArtifactStore, tmp_path: Path) -> None:
    tagged = gradient()
    tagged.info["icc_profile"] = b"nonsense"
    tagged.info["comment"] = "made elsewhere"

    assert store.put(tagged) == store.put(gradient())
    assert len(files(tmp_path / "artifacts")) == 1


def test_masks_stay_grey(store: ArtifactStore) -> None:
    mask = PIL.Image.new("L", (5, 4), 255)

    assert store.get(store.put(mask).id).mode == "L"


def test_a_missing_or_misnamed_picture_is_said_to_be_missing(store: ArtifactStore) -> None:
    with pytest.raises(SnellenError, match="give its file again"):
        store.get("0" * 64)
    with pytest.raises(BadInput, match="64 hexadecimal digits"):
        store.get("../../etc/passwd")


def test_a_damaged_picture_is_not_shown(store: ArtifactStore) -> None:
    reference = store.put(gradient())
    path = Path(store.place(reference.id))
    path.write_bytes(path.read_bytes()[:-7])

    with pytest.raises(SnellenError, match="is damaged"):
        store.get(reference.id)


def test_a_full_disk_leaves_what_was_stored(
    store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = store.put(gradient())

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemoryTrouble, match="disk is full; free some space"):
        store.put(gradient(9, 9))

    assert store.get(kept.id).size == (24, 16)
    assert [path.stem for path in files(tmp_path / "artifacts")] == [kept.id]


def saved(picture: PIL.Image.Image, path: Path, **options: object) -> Path:
    picture.save(path, **options)  # type: ignore[arg-type]
    return path


def test_an_upright_copy_of_a_rotated_photograph_is_kept(store: ArtifactStore, tmp_path: Path) -> None:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6  # taken with the camera on its side
    path = saved(gradient(), tmp_path / "rotated.jpg", exif=exif)

    reference = store.ingest(path)

    assert (reference.width, reference.height) == (16, 24)


def test_broken_exif_data_does_not_matter(store: ArtifactStore, tmp_path: Path) -> None:
    path = saved(gradient(), tmp_path / "odd.jpg", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\x00garbage")

    assert store.ingest(path).width == 24


def test_only_the_first_frame_of_an_animation_is_kept_and_that_is_said(store: ArtifactStore, tmp_path: Path) -> None:
    red, blue = PIL.Image.new("RGB", (8, 8), "red"), PIL.Image.new("RGB", (8, 8), "blue")
    path = saved(red, tmp_path / "moving.gif", save_all=True, append_images=[blue])
    notices: list[str] = []

    reference = store.ingest(path, notice=notices.append)

    assert store.get(reference.id).getpixel((4, 4)) == (255, 0, 0)
    assert notices == [f"{path} is animated; only its first frame is looked at."]


def test_a_still_picture_gives_no_notice(store: ArtifactStore, tmp_path: Path) -> None:
    notices: list[str] = []
    store.ingest(saved(gradient(), tmp_path / "still.webp"), notice=notices.append)

    assert notices == []


@pytest.mark.parametrize("name", ["deep.png", "deep.tiff"])
def test_sixteen_bits_are_scaled_not_clipped(store: ArtifactStore, tmp_path: Path, name: str) -> None:
    values = np.linspace(0, 65535, 64, dtype=np.uint16).reshape(8, 8)
    path = saved(PIL.Image.fromarray(values), tmp_path / name)

    shown = np.asarray(store.get(store.ingest(path).id))[..., 0]

    assert shown.flat[0] == 0
    assert shown.flat[-1] == 255
    assert abs(int(shown.flat[32]) - 130) < 3


@pytest.mark.parametrize("mode", ["CMYK", "1", "P", "LA", "RGBA", "L", "YCbCr", "F", "I"])
def test_every_mode_becomes_eight_bit_colour_or_grey(store: ArtifactStore, tmp_path: Path, mode: str) -> None:
    suffix = "png" if mode in ("1", "P", "LA", "RGBA", "L") else "tiff"
    # Pillow 12.3 cannot read the YCbCr that it writes without compression.
    packed = {"compression": "tiff_lzw"} if mode == "YCbCr" else {}
    path = saved(gradient().convert(mode), tmp_path / f"picture.{suffix}", **packed)

    assert store.get(store.ingest(path).id).mode == ("L" if mode == "L" else "RGB")


def test_transparent_parts_become_white(store: ArtifactStore, tmp_path: Path) -> None:
    path = saved(PIL.Image.new("RGBA", (4, 4), (0, 0, 0, 0)), tmp_path / "clear.png")

    assert store.get(store.ingest(path).id).getpixel((1, 1)) == (255, 255, 255)


def missing(folder: Path) -> Path:
    return folder / "nowhere.png"


def folder_itself(folder: Path) -> Path:
    return folder


def empty(folder: Path) -> Path:
    path = folder / "empty.png"
    path.touch()
    return path


def truncated(folder: Path) -> Path:
    path = folder / "truncated.jpg"
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    PIL.Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[:2000])
    return path


def text(folder: Path) -> Path:
    path = folder / "notes.png"
    path.write_text("this is no picture\n" * 20)
    return path


def program_of_a_printer(folder: Path) -> Path:
    path = folder / "drawing.eps"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\nshowpage\n")
    return path


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def claiming(folder: Path, width: int, height: int) -> Path:
    """Write a PNG of a few bytes that says it has so many pixels."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    path = folder / f"{width}.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 100)))
    return path


def huge(folder: Path) -> Path:
    return claiming(folder, 60_000, 60_000)


def over_the_limit(folder: Path) -> Path:
    return claiming(folder, 10_000, 5_001)


def impossible_name(folder: Path) -> Path:
    return folder / "nul\0byte.png"


def endless_name(folder: Path) -> Path:
    return folder / ("long" * 2000)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (missing, "There is no picture at"),
        (folder_itself, "is not a file"),
        (empty, "is empty"),
        (truncated, "cut short or damaged"),
        (text, "is not a picture that can be read"),
        (program_of_a_printer, "is not a picture that can be read"),
        (huge, "more than the limit of 50,000,000"),
        (over_the_limit, "more than the limit of 50,000,000"),
        (impossible_name, "cannot be the name of a file"),
        (endless_name, "cannot be read|There is no picture"),
    ],
)
def test_what_is_no_usable_picture_is_refused_in_one_sentence(
    store: ArtifactStore, tmp_path: Path, make: Callable[[Path], Path], said: str
) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        store.ingest(make(tmp_path))

    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    assert not (tmp_path / "artifacts").exists()


def test_a_device_is_not_read(store: ArtifactStore) -> None:
    with pytest.raises(BadInput, match="is not a file"):
        store.ingest("/dev/zero")


def test_a_large_file_is_refused_unread(store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(gradient(), tmp_path / "picture.png")
    monkeypatch.setattr(snellen.memory.artifacts, "MAX_BYTES", 50)

    with pytest.raises(BadInput, match="more than the limit of 50; give a smaller one"):
        store.ingest(path)
