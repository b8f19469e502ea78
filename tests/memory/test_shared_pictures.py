"""Pictures that machines share: in a shared folder, at an address in memory, and in an object store that speaks S3."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import PIL.Image
import pytest

from snellen.errors import BadInput, SnellenError
from snellen.memory.artifacts import ArtifactStore, encoded, home_pictures
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import MemoryTrouble
from snellen.memory.samples import Sample, SampleTable
from snellen.memory.staged_pictures import StagedPictures
from snellen.memory.stored_files import AddressFiles
from snellen.memory.thread_deletion import delete_threads
from snellen.memory.verification import verify_memory
from tests.graphs.scripted import embed
from tests.servers.object_store import object_store, refusing_store

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with object_store(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


def use_endpoint(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": endpoint}.items():
        monkeypatch.setenv(name, value)
    s3fs = pytest.importorskip("s3fs", reason="Pictures in S3 need s3fs: pip install 'snellen[s3]'.")
    # A file system keeps its connection to the endpoint that it was first opened for.
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(params=["folder", "memory", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of a place for pictures of each kind, empty."""
    name = f"b{uuid4().hex}"
    if request.param == "folder":
        return str(tmp_path / name)
    if request.param == "memory":
        return f"memory://{name}/pictures"
    use_endpoint(monkeypatch, request.getfixturevalue("s3"))
    import s3fs

    s3fs.S3FileSystem().mkdir(name)
    return f"s3://{name}/pictures"


@pytest.fixture
def shared(address: str, in_store: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Share the pictures of a test's home, and its tables."""
    monkeypatch.setenv("SNELLEN_STORE", f"{in_store} {address}")
    home.mkdir()
    return address


def picture(number: int) -> PIL.Image.Image:
    return PIL.Image.new("RGB", (8, 6), (number, 3, 250))


@pytest.mark.usefixtures("shared")
def test_what_one_machine_stores_another_finds(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = home_pictures(home)
    stored = [one.put(picture(number)).id for number in range(3)]
    assert one.put(picture(0)).id == stored[0]

    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "other"))
    other = home_pictures(tmp_path / "other")
    assert other.ids() == set(stored)
    found = other.get_all([*stored, stored[0]])
    assert {name: one.tobytes() for name, one in found.items()} == {
        name: picture(number).tobytes() for number, name in enumerate(stored)
    }
    assert other.get(stored[1]).tobytes() == picture(1).tobytes()
    assert not list(home.rglob("*.png"))


@pytest.mark.usefixtures("shared")
def test_each_user_has_pictures_of_their_own(home: Path) -> None:
    homes = [home, home / "users" / "ann", home / "users" / "bob", home / "elsewhere"]
    for number, folder in enumerate(homes):
        home_pictures(folder).put(picture(number))
    for number, folder in enumerate(homes):
        assert home_pictures(folder).ids() == {encoded(picture(number))[0].id}


@pytest.mark.usefixtures("shared")
def test_missing_and_damaged_pictures_are_told_where_they_were_looked_for(home: Path, address: str) -> None:
    store = home_pictures(home)
    store.put(picture(1))
    with pytest.raises(SnellenError, match=r"0000000 is not in .*artifacts/?; give its file again"):
        store.get_all([encoded(picture(1))[0].id, "0" * 64])
    store.files.write_all({f"00/{'0' * 64}.png": b"half a pic"})
    with pytest.raises(SnellenError, match="is damaged; give the picture again") as caught:
        store.get("0" * 64)
    assert address in str(caught.value)


@pytest.mark.usefixtures("shared")
async def test_pictures_go_with_their_thread_and_damaged_ones_are_kept_aside(home: Path) -> None:
    store = home_pictures(home)
    kept, gone, spoilt = (store.put(picture(number)).id for number in range(3))
    samples = SampleTable(home)
    samples.add([Sample("t1", 0, 0, arm, name, name, "dog", "microworld") for arm, name in enumerate([kept, gone])])
    samples.add([Sample("t2", 0, 0, 0, kept, kept, "dog", "microworld")])

    assert (await delete_threads(["t1"], home)).pictures == 1
    assert store.ids() == {kept, spoilt}

    (name,) = (name for name in store.files.names() if spoilt in name)
    store.files.write_all({name: b"spoilt"})
    found = verify_memory(home, lambda: DemonstrationPool(home, embed=embed))
    assert [(one.kind, one.place) for one in found.findings] == [("orphan", store.place(spoilt))]
    assert store.ids() == {kept}
    assert f"{name}.damaged" in set(store.files.names())


@pytest.mark.usefixtures("shared")
def test_what_is_staged_is_not_stored(home: Path) -> None:
    store = home_pictures(home)
    stored = store.put(picture(1)).id
    staged = StagedPictures(store)
    drawn = staged.put(picture(2)).id
    assert set(staged.get_all([stored, drawn])) == {stored, drawn}
    assert store.ids() == {stored}
    store.put_all(staged.staged)
    assert store.ids() == {stored, drawn}


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (507, "XMinioStorageFull", "it said .*takes no more.*what was stored before is still there"),
        (403, "QuotaExceeded", "it said .*takes no more.*what was stored before is still there"),
        (403, "AccessDenied", "it refuses what was asked .*mend its keys or their rights"),
        (404, "NoSuchBucket", "there is no such bucket or folder .*create it, or mend SNELLEN_STORE"),
    ],
)
def test_a_full_bucket_and_a_refusal_are_told(
    monkeypatch: pytest.MonkeyPatch, status: int, code: str, said: str
) -> None:
    with refusing_store(status, code) as endpoint:
        use_endpoint(monkeypatch, endpoint)
        store = ArtifactStore(AddressFiles("s3://bucket/folder"))
        with pytest.raises(MemoryTrouble, match=f"The pictures at s3://bucket/folder cannot be used: {said}") as caught:
            store.put(picture(1))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nowhere://u:hunter2@host/x", "names a place for files that fsspec does not know: nowhere://host/x"),
        ("gs://u:hunter2@bucket/x", "need a library that is not installed"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch, address: str, said: str) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(BadInput, match=said) as caught:
        AddressFiles(address)
    assert "hunter2" not in str(caught.value)
