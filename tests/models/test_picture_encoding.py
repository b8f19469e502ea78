"""Pictures are sent in bounds, without loss where that fits, and encoded once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from snellen.models.picture_encoding import EncodedPictures, PictureForm, encoded


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8))


def opened(content: bytes) -> Image.Image:
    return Image.open(BytesIO(content))


def test_a_noisy_photograph_of_12_megapixels_is_bounded() -> None:
    made = encoded(noise(4_000, 3_000), PictureForm())
    assert len(made.content) <= 1_000_000
    assert made.kind == "image/jpeg"
    assert made.url.startswith("data:image/jpeg;base64,")
    width, height = opened(made.content).size
    assert 500 < width <= 2_048
    assert width / height == pytest.approx(4 / 3, rel=0.01)


def test_a_drawing_is_sent_without_loss() -> None:
    drawing = Image.new("RGB", (1_200, 900), "white")
    drawing.paste((200, 30, 30), (100, 100, 500, 500))
    plain = BytesIO()
    drawing.save(plain, "PNG")
    made = encoded(drawing, PictureForm())
    assert (made.content, made.kind) == (plain.getvalue(), "image/png"), "the bytes that were always sent"


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(st.integers(1, 900), st.integers(1, 900)),
    st.builds(PictureForm, st.integers(32, 800), st.integers(10_000, 90_000), st.integers(1, 95)),
    st.sampled_from(["RGB", "L", "RGBA", "P"]),
)
def test_every_picture_fits_its_form(size: tuple[int, int], form: PictureForm, mode: str) -> None:
    made = encoded(noise(*size).convert(mode), form)
    shown = opened(made.content)
    assert len(made.content) <= form.most
    assert max(shown.size) <= max(form.side, 1)
    assert shown.size == size or min(shown.size) >= 1
    assert shown.mode == "RGB"


class Counted:
    """Pictures of noise, and which of them were read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def noise(self, number: int) -> Image.Image:
        self.read.append(number)
        return noise(100, 100, number)


def test_threads_that_want_one_picture_encode_it_once() -> None:
    counted, start, pictures = Counted(), threading.Barrier(6), EncodedPictures()

    def asked(_: int) -> bytes:
        start.wait()
        return pictures.get("one", PictureForm(), lambda: counted.noise(1)).content

    with ThreadPoolExecutor(6) as workers:
        assert len(set(workers.map(asked, range(6)))) == 1
    assert counted.read == [1]


def test_what_is_kept_is_bounded_and_failures_are_not_kept() -> None:
    counted, pictures, form = Counted(), EncodedPictures(most=100_000), PictureForm(most=45_000)
    for number in (1, 2, 3, 4, 4, 3):
        pictures.get(str(number), form, partial(counted.noise, number))
    assert counted.read == [1, 2, 3, 4]
    pictures.get("1", form, partial(counted.noise, 1))
    assert counted.read == [1, 2, 3, 4, 1], "the oldest was dropped"

    def fails() -> Image.Image:
        msg = "gone"
        raise OSError(msg)

    with pytest.raises(OSError, match="gone"):
        pictures.get("bad", form, fails)
    assert pictures.get("bad", form, lambda: noise(9, 9)).kind == "image/png"
