"""Where memory lives, and what is said when it cannot."""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import tempfile
from pathlib import Path

import pytest

from snellen.memory.home import (
    MemoryTrouble,
    connect,
    home,
    home_folder,
    storing,
    using_home,
    write_all_atomically,
    write_atomically,
)


def test_the_variable_chooses_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "deep" / "down"))

    assert home() == tmp_path / "deep" / "down"
    assert home().is_dir()
    assert home().stat().st_mode & 0o077 == 0, "what is remembered is nobody else's to read"


@pytest.mark.parametrize("chosen", [None, "", "  "])
def test_without_it_the_platform_chooses(monkeypatch: pytest.MonkeyPatch, chosen: str | None) -> None:
    monkeypatch.delenv("SNELLEN_HOME", raising=False)
    if chosen is not None:
        monkeypatch.setenv("SNELLEN_HOME", chosen)

    assert home_folder().name == "snellen"
    assert home_folder().is_absolute()


async def test_a_server_works_in_the_homes_of_several_users_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "process"))

    async def work(name: str) -> Path:
        with using_home(tmp_path / name):
            await asyncio.sleep(0)
            return await asyncio.to_thread(home)

    assert list(await asyncio.gather(work("ann"), work("bob"))) == [tmp_path / "ann", tmp_path / "bob"]
    assert home() == tmp_path / "process"


def test_a_file_in_the_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("SNELLEN_HOME", str(place))
        with pytest.raises(MemoryTrouble, match="a file stands where a folder is needed"):
            home()


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_a_read_only_home_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(**_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)

    with pytest.raises(MemoryTrouble, match=r"is read-only for you; make it writable or set SNELLEN_HOME") as caught:
        home()
    assert caught.value.exit_status == 1
    assert str(tmp_path) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_without_write_permission_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))

    with pytest.raises(MemoryTrouble, match="read-only"):
        home()


def test_the_kernels_own_folder_cannot_be_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", "/proc/snellen")

    with pytest.raises(MemoryTrouble, match="The memory at /proc/snellen cannot be used"):
        home()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("database or disk is full", "the disk is full"),
        ("attempt to write a readonly database", "it is read-only"),
        ("database is locked", "another process kept it locked"),
        ("file is not a database", "it is damaged"),
        ("database disk image is malformed", "it is damaged"),
        ("something new", "the database said 'something new'"),
    ],
)
def test_database_trouble_is_told_in_one_sentence(said: str, told: str) -> None:
    with pytest.raises(MemoryTrouble, match=told), storing(Path("pool.sqlite")):
        raise sqlite3.OperationalError(said)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemoryTrouble, match="disk is full"), storing(path):
        write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "pool.sqlite"
    path.write_bytes(b"not a database at all" * 100)

    with pytest.raises(MemoryTrouble, match="damaged; run `snellen memory verify`"), storing(path):
        connect(path)
    assert path.read_bytes() == b"not a database at all" * 100


def test_files_that_are_written_together_are_all_as_they_were_where_one_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "folder" / "new"
    write_all_atomically({old: b"old"})
    forced, fsync = 0, os.fsync

    def full(handle: int) -> None:
        nonlocal forced
        forced += 1
        if forced == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemoryTrouble, match="disk is full"), storing(tmp_path):
        write_all_atomically({old: b"changed", new: b"new"})
    assert old.read_bytes() == b"old"
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == [old]
    write_all_atomically({old: b"changed", new: b"new"})
    assert (old.read_bytes(), new.read_bytes()) == (b"changed", b"new")
