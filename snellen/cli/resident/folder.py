"""The private folder in a home where its resident process is reached: a socket, a lock, a log."""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

FOLDER: Final = "resident"
_SOCKET, _LOCK, _LOG = "socket", "lock", "log"
_PRIVATE: Final = 0o700
_LOCK_SECONDS: Final = 3.0
"""How long a resident process that begins waits for the one before it to let go of the lock."""


class NotOurs(OSError):  # noqa: N818 - reads as what is wrong
    """The folder, or whoever listens there, is another user's, or the folder is open to others."""


@dataclass(frozen=True)
class Note:
    """A note that a resident process leaves beside its lock.

    Attributes:
        process: Its number.
        ready: False while it reads something, and answers nobody.
    """

    process: int
    ready: bool


class ResidentFolder:
    """The folder of a home's resident process, held open, so that nobody can put another in its place."""

    def __init__(self, home: Path, *, make: bool = False) -> None:
        """Open the folder.

        Args:
            home: The memory's home.
            make: Make the folder where it is missing.

        Raises:
            NotOurs: It belongs to somebody else, or others may enter it.
            OSError: There is none, or it cannot be made.
        """
        self.path = home / FOLDER
        if make:
            self.path.mkdir(mode=_PRIVATE, exist_ok=True)
        self.descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        self._lock: int | None = None
        found = os.fstat(self.descriptor)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & ~_PRIVATE:
            self.close()
            msg = f"{self.path} is not a private folder of this user"
            raise NotOurs(msg)

    def close(self) -> None:
        """Let go of the folder, and of the lock, if this process holds it."""
        os.close(self.descriptor)
        if self._lock is not None:
            os.close(self._lock)

    # --- the socket ------------------------------------------------------------------------------------------

    @property
    def _address(self) -> str:
        """A path short enough for a socket, however long the home's is."""
        return f"/proc/self/fd/{self.descriptor}/{_SOCKET}"

    def listen(self) -> socket.socket:
        """Listen for clients; what a process that was killed has left there is removed.

        Raises:
            OSError: There can be no socket in this folder.
        """
        self.stop_listening()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(self._address)
        finally:
            os.umask(before)
        listener.listen(64)
        return listener

    def stop_listening(self) -> None:
        """Remove the socket, so that clients who come now start another process."""
        try:
            os.unlink(_SOCKET, dir_fd=self.descriptor)
        except FileNotFoundError:
            return

    def connect(self) -> socket.socket | None:
        """Connect to the resident process; None where there is none.

        Raises:
            NotOurs: Another user's process listens there.
            OSError: It cannot be reached.
        """
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(self._address)
            check_user(connection)
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        except BaseException:
            connection.close()
            raise
        return connection

    def is_reached(self) -> bool:
        """Tell whether clients find the socket: not once the home was deleted or moved."""
        try:
            there = self.path.lstat()
            os.stat(_SOCKET, dir_fd=self.descriptor)
        except OSError:
            return False
        here = os.fstat(self.descriptor)
        return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

    # --- the lock --------------------------------------------------------------------------------------------

    def take_lock(self, seconds: float = _LOCK_SECONDS) -> bool:
        """Become the one resident process of this home; False where another is."""
        self._lock = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)
        until = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= until:
                    return False
                time.sleep(0.05)

    def note(self, *, ready: bool) -> None:
        """Note beside the lock, which this process holds, whether it answers at once."""
        assert self._lock is not None  # noqa: S101 - whoever notes holds it
        os.pwrite(self._lock, json.dumps(asdict(Note(os.getpid(), ready))).ljust(80).encode(), 0)

    def noted(self) -> Note | None:
        """Read what the holder of the lock has noted; None where nobody holds it."""
        try:
            lock = os.open(_LOCK, os.O_RDONLY, dir_fd=self.descriptor)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            try:
                said = json.loads(os.pread(lock, 200, 0))
                return Note(int(said["process"]), bool(said["ready"]))
            except (ValueError, KeyError, TypeError):
                return Note(0, ready=False)
        finally:
            os.close(lock)
        return None

    def open_log(self) -> int:
        """Open a new log for what the process and its libraries say."""
        return os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600, dir_fd=self.descriptor)


@contextmanager
def opened(home: Path, *, make: bool = False) -> Iterator[ResidentFolder]:
    """Open the folder of a home's resident process inside the block."""
    place = ResidentFolder(home, make=make)
    try:
        yield place
    finally:
        place.close()


def check_user(connection: socket.socket) -> None:
    """Refuse whoever is at the other end and is not this user.

    Raises:
        NotOurs: It is somebody else.
    """
    if _credentials(connection)[1] != os.geteuid():
        msg = "another user is at the other end of the socket"
        raise NotOurs(msg)


def listener_of(connection: socket.socket) -> int:
    """Return the number of the process that began to listen where this client has connected."""
    return _credentials(connection)[0]


def _credentials(connection: socket.socket) -> tuple[int, int, int]:
    """Return the process, user and group at the other end."""
    process, user, group = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return process, user, group
