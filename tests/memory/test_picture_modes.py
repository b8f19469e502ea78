"""One scene, stored in every form that picture files have, is one scene to whoever looks at it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from io import BytesIO

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from snellen.memory.artifacts import ArtifactStore, read_picture
from snellen.memory.picture_modes import is_grey

Scene = NDArray[np.uint8]
# Smooth enough for a JPEG: what is compared is the reading, not the compression.
SCENES = arrays(np.uint8, (2, 3, 3)).map(lambda blocks: np.kron(blocks, np.ones((16, 16, 1), np.uint8)))
GREY = arrays(np.uint8, (2, 3)).map(lambda blocks: np.kron(blocks, np.ones((16, 16), np.uint8)))


def png(channels: NDArray[np.uint16], kind: int) -> bytes:
    """Return a PNG of 16 bits a channel, which Pillow does not write: ``(h, w, c)`` of a color type."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    height, width = channels.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in channels)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def file_of(picture: PIL.Image.Image, form: str = "PNG", **options: object) -> bytes:
    held = BytesIO()
    picture.save(held, form, **options)
    return held.getvalue()


def deep(values: Scene, alpha: int | None = None) -> NDArray[np.uint16]:
    layers = values.reshape(*values.shape[:2], -1).astype(np.uint16) * 257
    return layers if alpha is None else np.dstack([layers, np.full(layers.shape[:2], alpha, np.uint16)])


def turned(scene: Scene) -> bytes:
    exif = PIL.Image.Exif()
    exif[0x0112] = 6
    return file_of(PIL.Image.fromarray(np.rot90(scene).copy()), exif=exif)


COLORED: dict[str, tuple[Callable[[Scene], bytes], int]] = {
    "RGB": (lambda scene: file_of(PIL.Image.fromarray(scene)), 0),
    "RGBA": (lambda scene: file_of(PIL.Image.fromarray(scene).convert("RGBA")), 0),
    "P": (lambda scene: file_of(PIL.Image.fromarray(scene).quantize(256)), 2),
    "RGB of 16 bits": (lambda scene: png(deep(scene), 2), 0),
    "RGBA of 16 bits": (lambda scene: png(deep(scene, 65_535), 6), 0),
    "CMYK": (lambda scene: file_of(PIL.Image.fromarray(scene).convert("CMYK"), "JPEG", quality=100), 8),
    "YCbCr": (lambda scene: file_of(PIL.Image.fromarray(scene), "JPEG", quality=100, subsampling=0), 6),
    "turned by its EXIF": (turned, 0),
    "wholly transparent": (
        lambda scene: file_of(PIL.Image.fromarray(np.dstack([scene, np.zeros(scene.shape[:2], np.uint8)]))),
        0,
    ),
}
WITHOUT_COLORS: dict[str, Callable[[Scene], bytes]] = {
    "L": lambda grey: file_of(PIL.Image.fromarray(grey)),
    "LA": lambda grey: file_of(PIL.Image.fromarray(grey).convert("LA")),
    "I;16": lambda grey: file_of(PIL.Image.fromarray(grey.astype(np.uint16) * 257)),
    "I;16 as TIFF": lambda grey: file_of(PIL.Image.fromarray(grey.astype(np.uint16) * 257), "TIFF"),
    "LA of 16 bits": lambda grey: png(deep(grey, 65_535), 4),
    "F": lambda grey: file_of(PIL.Image.fromarray((grey / 255).astype(np.float32)), "TIFF"),
}


@pytest.mark.parametrize("form", COLORED)
@given(scene=SCENES.filter(lambda scene: int(scene.max()) > 127))
def test_colors_are_read_from_every_form(form: str, scene: Scene) -> None:
    make, off = COLORED[form]
    notices: list[str] = []
    found = np.asarray(read_picture(make(scene), "it", notice=notices.append).convert("RGB"), dtype=int)
    varied = len({tuple(pixel) for pixel in scene.reshape(-1, 3)}) > 1
    if form == "wholly transparent" and not varied:
        return  # of one colour, nothing lies under the transparency
    assert np.abs(found - scene).max() <= off
    assert bool(notices) == (form == "wholly transparent")


@pytest.mark.parametrize("form", WITHOUT_COLORS)
@given(grey=GREY.filter(lambda grey: int(grey.max()) > 127))
def test_shades_are_read_from_every_form(form: str, grey: Scene) -> None:
    notices: list[str] = []
    picture = read_picture(WITHOUT_COLORS[form](grey), "it", notice=notices.append)
    assert np.abs(np.asarray(picture.convert("RGB"), dtype=int) - grey[..., None]).max() <= 1
    assert is_grey(picture)
    assert notices == []


@given(
    scene=SCENES,
    alpha=arrays(np.uint8, (2, 3)).map(lambda blocks: np.kron(blocks, np.ones((16, 16), np.uint8))),
)
def test_transparent_parts_are_laid_on_white_and_that_is_said(scene: Scene, alpha: Scene) -> None:
    notices: list[str] = []
    file = file_of(PIL.Image.fromarray(np.dstack([scene, alpha])))
    found = np.asarray(read_picture(file, "it", notice=notices.append), dtype=float)
    share = alpha[..., None] / 255
    if alpha.max() > 0:
        assert np.abs(found - (scene * share + 255 * (1 - share))).max() <= 1
        assert notices == ([] if alpha.min() == 255 else ["it has transparent parts; they are looked at as white."])


@pytest.mark.parametrize("bits", [10, 12])
@given(grey=GREY.filter(lambda grey: int(grey.max()) > 127))
def test_few_bits_of_sixteen_are_not_darkness(bits: int, grey: Scene) -> None:
    notices: list[str] = []
    file = file_of(PIL.Image.fromarray(np.left_shift(grey.astype(np.uint16), bits - 8)))
    found = np.asarray(read_picture(file, "it", notice=notices.append).convert("L"), dtype=int)
    assert np.abs(found - grey).max() <= 2
    assert notices == [
        f"it has 16 bits and no value above {int(grey.max()) << (bits - 8)}; its brightness is stretched."
    ]


def test_few_bits_of_sixteen_are_not_darkness_in_colors_either() -> None:
    scene = np.kron(np.random.default_rng(1).integers(0, 256, (2, 3, 3)), np.ones((16, 16, 1), int)).astype(np.uint16)
    scene[0, 0] = 255
    notices: list[str] = []
    found = np.asarray(read_picture(png(scene * 16, 2), "it", notice=notices.append), dtype=int)
    assert np.abs(found - scene).max() <= 17  # of its twelve bits, Pillow keeps the upper four
    assert notices == ["it has 16 bits a channel and uses few of them; its brightness is stretched."]


def test_a_folder_of_a_thousand_alike_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    clear = file_of(PIL.Image.new("RGBA", (4, 4), (9, 9, 9, 77)))
    for name in ("one.png", "two.png", "three.png"):
        read_picture(clear, name)
    assert len(caplog.records) <= 1


@given(scene=SCENES)
def test_a_colored_picture_is_not_called_grey(scene: Scene) -> None:
    spread = scene.astype(int).max(axis=-1) - scene.astype(int).min(axis=-1)
    assert is_grey(PIL.Image.fromarray(scene)) == (int(spread.max()) <= 6)


def test_what_is_stored_is_what_was_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    store = ArtifactStore(tmp_path_factory.mktemp("store"))
    scene = np.random.default_rng(2).integers(0, 256, (8, 8, 3)).astype(np.uint8)
    file = tmp_path_factory.mktemp("files") / "deep.png"
    file.write_bytes(png(deep(scene), 2))
    assert np.array_equal(np.asarray(store.get(store.ingest(file).id)), scene)
    assert np.array_equal(np.asarray(read_picture(file.read_bytes(), "it")), scene)
