"""The home of the memory: where it lies, and one sentence for each trouble with its disk.

The home is the folder named by ``SNELLEN_HOME``, or else the platform's data directory for this user. Everything in
it is written by this package alone; deleting the folder forgets everything and breaks nothing.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import SnellenError
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HOME_VARIABLE = "SNELLEN_HOME"

USERS = "users"
"""The folder of an owner's home that has the homes of other users."""

_CHOSEN: ContextVar[Path | None] = ContextVar("home", default=None)
"""The home of the work at hand, where it is not the process's: a server works for several users."""

_BUSY_SECONDS = 30.0
"""How long a process waits for another one to finish writing to a database of this home."""

_BETWEEN_TRIES = 0.01
"""Seconds between tries where SQLite does not wait by itself."""

_SMALLEST_FREE = 2**16
"""Bytes without which no database can be opened."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
_DAMAGED = (
    "it is damaged; run `snellen memory verify`, which keeps the file and saves what is whole (nothing was changed)"
)
_NO_MEMORY = "this machine has too little memory; end other programs and try again"
_SQLITE_TROUBLE = {
    "out of memory": _NO_MEMORY,
    "full": "the disk is full; free some space and try again",
    "readonly": f"it is read-only; make it writable or set {HOME_VARIABLE} to a folder of yours",
    "unable to open": f"it cannot be opened; make it readable and writable or set {HOME_VARIABLE} to a folder of yours",
    "locked": "another process kept it locked for 30 seconds; try again when that has finished",
    "not a database": _DAMAGED,
    "malformed": _DAMAGED,
    "disk i/o": "the disk reported an error; check it and try again",
}


class MemoryTrouble(SnellenError):  # noqa: N818 - "trouble" says it: the user's disk, not a bug
    """The memory's home could not be read or written; what was stored before is still there."""


def home() -> Path:
    """Return the memory's home, made if it was missing.

    Returns:
        An existing folder that this process may write to.

    Raises:
        MemoryTrouble: the folder cannot be made or written to.
    """
    folder = home_folder()
    with storing(folder):
        # Pictures and conversations are nobody else's.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Permission bits lie (root, network and read-only mounts): only a written file proves a writable folder.
        with tempfile.TemporaryFile(dir=folder):
            pass
    return folder


def home_to_read() -> Path:
    """Return the memory's home for whoever only looks at it, also where nothing can be written to it.

    Returns:
        The folder; made if it was missing.

    Raises:
        MemoryTrouble: there is none and it cannot be made, or it cannot be read.
    """
    try:
        return home()
    except MemoryTrouble:
        folder = home_folder()
        if not os.access(folder, os.R_OK | os.X_OK):
            raise
        return folder


def is_read_only(folder: Path) -> bool:
    """Tell whether nothing can be written to a folder of the memory that exists."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return False
    except OSError as error:
        return error.errno in _NOT_WRITABLE


def home_folder() -> Path:
    """Return the path of the memory's home without touching the disk."""
    mine = _CHOSEN.get()
    return owners_home() if mine is None else mine


def owners_home() -> Path:
    """Return the path of the home of whoever runs this process, whomever it works for at the moment."""
    chosen = os.environ.get(HOME_VARIABLE, "").strip()
    if chosen:
        return user_path(chosen, "home").absolute()

    import platformdirs

    return Path(platformdirs.user_data_dir("snellen", appauthor=False))


def home_name(folder: Path) -> tuple[str, str]:
    """Return what a home is called where several homes lie beside each other, and what tells it from others so called.

    Args:
        folder: The home.

    Returns:
        Two empty texts for the owner's own home. The home of another user of a server is named by the user alone, so
        that it is the same on every machine.
    """
    place = folder.absolute()
    if place.parent.name == USERS:
        return f"user_{place.name}", ""
    if place.resolve() == owners_home().resolve():
        return "", ""
    return f"home_{place.name}", hashlib.sha256(str(place).encode()).hexdigest()[:16]


@contextmanager
def using_home(folder: Path) -> Iterator[None]:
    """Make a folder the home of what is called inside the block, and of the tasks and worker threads begun in it."""
    token = _CHOSEN.set(folder)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def choose_home(folder: Path) -> None:
    """Make a folder the home of the task at hand to its end, and of the tasks and worker threads begun in it."""
    _CHOSEN.set(folder)


@contextmanager
def storing(place: Path) -> Iterator[None]:
    """Turn disk and database trouble inside the block into one sentence about ``place``.

    Args:
        place: The file or folder that the block reads or writes, as the sentence shall name it.

    Raises:
        MemoryTrouble: the disk is full, the place is read-only, locked, damaged or otherwise out of reach.
    """
    try:
        with storing_rows(place):
            yield
    except OSError as error:
        msg = f"The memory at {place} cannot be used: {_disk_remedy(error)}."
        raise MemoryTrouble(msg) from error


@contextmanager
def storing_rows(place: Path) -> Iterator[None]:
    """Turn database trouble alone into one sentence about ``place``, as ``storing`` does.

    Raises:
        MemoryTrouble: the database is full, read-only, locked or damaged.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise trouble_with(error, place) from error


def trouble_with(error: sqlite3.DatabaseError, place: Path) -> MemoryTrouble:
    """Return an error of a database as one sentence about ``place``."""
    return MemoryTrouble(f"The memory at {place} cannot be used: {_database_remedy(error, place)}.")


def connect(database: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open a SQLite database that several processes share: write-ahead log, 30 seconds of patience.

    Where nothing can be written, it is opened for reading alone, and writing to it fails.

    Args:
        database: The database file, made if missing; its folder must exist.
        any_thread: Let other threads use the connection too, one at a time.

    Returns:
        A connection in explicit-transaction mode, for use by the calling thread.

    Raises:
        sqlite3.DatabaseError: the file is damaged or out of reach (call inside ``storing``).
    """
    connection = sqlite3.connect(database, timeout=_BUSY_SECONDS, check_same_thread=not any_thread)
    try:
        write_ahead(connection)
        # Only reading shows whether the files beside it can be made.
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if not (database.is_file() and is_read_only(database.parent)):
            raise
        return _connect_to_read(database, any_thread=any_thread)
    return connection


def write_ahead(connection: sqlite3.Connection) -> None:
    """Have a database write ahead to a log, with 30 seconds of patience.

    Where several connections turn to the log of a new database at once, SQLite refuses all but one of them without
    waiting, however patient they are, since each holds what another waits for.

    Raises:
        sqlite3.OperationalError: others kept the database locked for 30 seconds, or nothing can be written to it.
    """
    end = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
            time.sleep(_BETWEEN_TRIES)
        else:
            return


def _connect_to_read(database: Path, *, any_thread: bool) -> sqlite3.Connection:
    """Open a database in a folder where nothing can be written.

    SQLite cannot use a write-ahead log there without the file that its readers share. Where that is there, somebody
    else writes, or did; where only a log is left of a crash, database and log are read from a copy.
    """
    log, shared = (database.with_name(database.name + suffix) for suffix in ("-wal", "-shm"))
    if not (log.exists() and log.stat().st_size):
        return _opened(f"{database.as_uri()}?immutable=1", any_thread=any_thread)
    if shared.exists():
        return _opened(f"{database.as_uri()}?mode=ro", any_thread=any_thread)
    with tempfile.TemporaryDirectory() as place:
        for file in (database, log):
            shutil.copyfile(file, Path(place) / file.name)
        kept = sqlite3.connect(":memory:", check_same_thread=not any_thread)
        with closing(sqlite3.connect(Path(place) / database.name)) as copied:
            copied.backup(kept)
    return kept


def _opened(address: str, *, any_thread: bool) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, check_same_thread=not any_thread)


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write ``content`` to ``path`` so that a reader or a crash sees the old file or the new one, never a part.

    Args:
        path: The file; its folder is made if missing.
        content: Its bytes, or pieces of them that follow each other.

    Raises:
        OSError: the disk is full or not writable; ``path`` is then as it was (call inside ``storing``).
    """
    write_all_atomically({path: content})


def write_all_atomically(files: Mapping[Path, bytes | Iterable[bytes]]) -> None:
    """Write several files, each as ``write_atomically`` does; all are on the disk once it returns.

    All are written before the first is forced to the disk: a file system with a journal then writes most of them at
    once, and the others have nothing left to wait for.

    Args:
        files: The content of each file by its path: its bytes, or pieces of them that follow each other.

    Raises:
        OSError: the disk is full or not writable; each file is then as it was, or new (call inside ``storing``).
    """
    drafts: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            drafts[path] = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.writelines((content,) if isinstance(content, bytes) else content)
        for draft in drafts.values():
            with draft.open("r+b") as file:
                os.fsync(file.fileno())
        for path, draft in drafts.items():
            draft.replace(path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _disk_remedy(error: OSError) -> str:
    if error.errno in _NO_SPACE:
        return "the disk is full; free some space and try again"
    if error.errno == errno.ENOMEM:
        return _NO_MEMORY
    if error.errno in _NOT_WRITABLE:
        return f"it is read-only for you; make it writable or set {HOME_VARIABLE} to a folder of yours"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"a file stands where a folder is needed; set {HOME_VARIABLE} to a folder of yours"
    reason = error.strerror or str(error)
    return f"{reason}; check the disk or set {HOME_VARIABLE} to another folder"


def _database_remedy(error: sqlite3.DatabaseError, place: Path) -> str:
    message = str(error).lower()
    if "disk i/o" in message and _is_full(place):
        # Where not even the file fits that its readers share, SQLite does not say that the disk is full.
        return _SQLITE_TROUBLE["full"]
    for sign, remedy in _SQLITE_TROUBLE.items():
        if sign in message:
            return remedy
    return f"the database said {str(error)!r}; move the file away and try again"


def _is_full(place: Path) -> bool:
    folder = next((one for one in (place, *place.parents) if one.is_dir()), None)
    return folder is not None and shutil.disk_usage(folder).free < _SMALLEST_FREE
