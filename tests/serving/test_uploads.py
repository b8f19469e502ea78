"""Pictures that requests bring: only pictures come in, bounded, and each once."""

from __future__ import annotations

import asyncio
import base64
import time
from io import BytesIO
from pathlib import Path

import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.memory.artifacts import ArtifactStore
from snellen.serving import ServerSettings, Uploads
from snellen.serving.remote_pictures import Address


def _file(kind: str = "PNG", size: tuple[int, int] = (8, 6)) -> bytes:
    content = BytesIO()
    PIL.Image.new("RGB", size, "teal").save(content, kind)
    return content.getvalue()


def _bomb() -> bytes:
    content = BytesIO()
    PIL.Image.new("1", (7200, 7200)).save(content, "PNG", compress_level=1)
    return content.getvalue()


def _uploads(tmp_path: Path, **limits: object) -> Uploads:
    return Uploads(ArtifactStore(tmp_path / "artifacts"), ServerSettings(**limits))  # type: ignore[arg-type]


async def test_one_picture_has_one_id_however_it_comes(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path)
    said = base64.b64encode(_file()).decode()

    async def fetch(address: Address) -> bytes:
        assert (address.host, address.target) == ("pictures.example", "/a.png")
        return _file()

    uploads = Uploads(store, ServerSettings(picture_hosts=("pictures.example",)), fetch=fetch)
    found = [
        await uploads.add_file(_file()),
        await uploads.add_reference(said),
        await uploads.add_reference(f"data:image/png;base64,{said}"),
        await uploads.add_reference(f"DATA:;base64,{said}"),
        await uploads.add_reference("https://pictures.example/a.png"),
    ]

    assert len({one.id for one in found}) == 1
    assert (found[0].width, found[0].height) == (8, 6)
    assert store.get(found[0].id).size == (8, 6)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "picture 1 is empty"),
        ("not base64!", "not valid base64"),
        ("aGVsbG8=", "not a picture"),
        ("aGVs\nbG8=", "not valid base64"),
        ("data:image/png;base64,aGVs bG8=", "not valid base64"),
        ("data:image/png;base64,é", "not valid base64"),
        ("data:image/png,hello", "not a picture in base64"),
        ("data:text/html;base64,aGVsbG8=", "not a picture in base64"),
        ("data:" + "x" * 10_000, "not a picture in base64"),
        ("http://pictures.example/a.png", "only from hosts that the server's owner allows"),
        ("https://user:pass@pictures.example/a.png", "without a password"),
        ("file:///etc/passwd", "file: address"),
        ("FILE:/etc/passwd", "FILE: address"),
        ("ftp://pictures.example/a", "ftp: address"),
        ("C:\\pictures\\a.png", "C: address"),
        ("/etc/passwd", "not a picture"),  # eleven letters that are base64, and no path
        ("../../secret.png", "not valid base64"),
    ],
)
async def test_what_is_no_picture_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        await _uploads(tmp_path).add_reference(text)
    assert said in str(error.value) or (text == "/etc/passwd" and "base64" in str(error.value))
    assert "passwd" not in str(error.value)
    assert not (tmp_path / "artifacts").exists()


async def test_a_large_file_is_refused_before_it_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.serving.uploads._from_base64", lambda *_: pytest.fail("decoded"))
    monkeypatch.setattr("snellen.serving.uploads.read_picture", lambda *_: pytest.fail("opened"))
    uploads = _uploads(tmp_path, picture_bytes=100)

    for text in ("A" * 200, "data:image/png;base64," + "A" * 200):
        with pytest.raises(BadInput, match="larger than 100 bytes"):
            await uploads.add_reference(text)
    with pytest.raises(BadInput, match="larger than 100 bytes"):
        await uploads.add_file(b"x" * 101)


@given(st.binary(min_size=1, max_size=60))
def test_the_bound_before_decoding_refuses_nothing_that_fits(content: bytes) -> None:
    payload = base64.b64encode(content).decode()
    assert len(payload) // 4 * 3 - 2 <= len(content)


async def test_a_bomb_of_pixels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pixels"):
        await _uploads(tmp_path).add_file(_bomb())


async def test_a_request_brings_only_so_many(tmp_path: Path) -> None:
    uploads = _uploads(tmp_path, pictures=2)
    await uploads.add_file(_file())
    with pytest.raises(BadInput):
        await uploads.add_file(b"broken counts too")
    with pytest.raises(BadInput, match="at most 2 pictures"):
        await uploads.add_file(_file())


@given(st.text(max_size=200))
def test_any_text_ends_in_a_sentence(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    uploads = _uploads(tmp_path_factory.getbasetemp() / "never")
    with pytest.raises(BadInput):
        asyncio.run(uploads.add_reference(text))
    assert not (tmp_path_factory.getbasetemp() / "never").exists()


async def test_decoding_leaves_the_event_loop_and_its_workers_alone(tmp_path: Path) -> None:
    uploads = _uploads(tmp_path)
    work = asyncio.gather(*(uploads.add_file(_file("JPEG", (4000, 4000))) for _ in range(4)))
    waits = []
    while not work.done():
        began = time.monotonic()
        await asyncio.to_thread(time.sleep, 0)
        waits.append(time.monotonic() - began)
    await work
    # The machine may be busy with other things now and then.
    assert sorted(waits)[len(waits) * 9 // 10] < 0.2
