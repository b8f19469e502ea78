"""Files of stored pictures and of prompts: in a folder, or at any address that fsspec knows: ``s3://bucket/folder``.

Nobody writes to a file of its own name half: on a disk a file is written beside and moved into its place, an object
store takes a whole object or none. Elsewhere a write that is cut off leaves what is not what its name says.
"""

from __future__ import annotations

import errno
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, Protocol
from urllib.parse import urlsplit

from snellen.errors import BadInput
from snellen.memory.home import MemoryTrouble, home_name, storing, write_all_atomically
from snellen.memory.store import STORE_VARIABLE, store_addresses

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FOLDER: Final = "artifacts"
"""Where in a home, and in a store's folder, the pictures are."""
PROMPTS: Final = "prompts"
"""Where in a store's folder the tensors of prompts are."""

_LOCAL: Final = "file://"
_FULL: Final = (errno.ENOSPC, errno.EDQUOT)
_SAID: Final = 200
"""Characters of what a server said that are told."""


class StoredFiles(Protocol):
    """Files by name: ``ab/<id>.png``."""

    def place(self, name: str) -> str:
        """Return where a file is, or would be, for people; that of no name is the folder of all."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is no such file."""

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each file that there is."""

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """Write files; all are there for good once it returns."""

    def names(self) -> Iterator[str]:
        """Yield the names of all files."""

    def move(self, name: str, other: str) -> None:
        """Give a file another name; one that has it is replaced."""

    def delete(self, name: str) -> None:
        """Delete a file."""


class FolderFiles:
    """Files in a folder of a disk, which is made when the first is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, name: str) -> str:
        """Return the path of a file."""
        return str(self._folder / name)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is no such file.

        Raises:
            MemoryTrouble: it cannot be read.
        """
        path = self._folder / name
        if not path.is_file():
            return None
        with storing(path):
            return path.read_bytes()

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each file that there is.

        Raises:
            MemoryTrouble: one cannot be read.
        """
        found = {name: self.read(name) for name in names}
        return {name: content for name, content in found.items() if content is not None}

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """Write those files that are not there as they are to be.

        Raises:
            MemoryTrouble: the disk is full or not writable; some may be written, each whole.
        """
        files = {self._folder / name: content for name, content in contents.items()}
        with storing(self._folder):
            write_all_atomically({path: content for path, content in files.items() if not _holds(path, content)})

    def names(self) -> Iterator[str]:
        """Yield the names of all files that are not hidden."""
        for path in self._folder.glob("*/[!.]*"):
            yield f"{path.parent.name}/{path.name}"

    def move(self, name: str, other: str) -> None:
        """Give a file another name.

        Raises:
            MemoryTrouble: it cannot be moved.
        """
        with storing(self._folder / name):
            (self._folder / name).replace(self._folder / other)

    def delete(self, name: str) -> None:
        """Delete a file.

        Raises:
            MemoryTrouble: it cannot be deleted.
        """
        with storing(self._folder / name):
            (self._folder / name).unlink()


class AddressFiles:
    """Files at an address of fsspec.

    Args:
        address: Of the folder: ``s3://bucket/folder``. Keys and endpoints are the variables and files that its own
            library reads, such as ``AWS_ACCESS_KEY_ID`` and ``AWS_ENDPOINT_URL``.
        what: What people call these files.

    Raises:
        BadInput: fsspec does not know the address, or lacks the library for it.
    """

    def __init__(self, address: str, what: str = "pictures") -> None:
        from fsspec.core import url_to_fs

        self._shown, self._what = _without_password(address), what
        try:
            # Others write to it as well: what was listed once is not what is there.
            self._system, self._root = url_to_fs(address, use_listings_cache=False)
        except ImportError as error:
            msg = f"Files at {self._shown} ({STORE_VARIABLE}) need a library that is not installed: {error}."
            raise BadInput(msg) from error
        except ValueError as error:
            msg = f"{STORE_VARIABLE} names a place for files that fsspec does not know: {self._shown}."
            raise BadInput(msg) from error

    def place(self, name: str) -> str:
        """Return the address of a file."""
        return f"{self._shown.rstrip('/')}/{name}"

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None where there is no such file.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        return self.read_all([name]).get(name)

    def read_all(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the content of each file that there is; they are asked for together.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        paths = {self._path(name): name for name in names}
        if not paths:
            return {}
        with self._reaching():
            found: dict[str, Any] = self._system.cat(list(paths), on_error="return")
            for content in found.values():
                if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
        return {paths[path]: content for path, content in found.items() if isinstance(content, bytes)}

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        """Write files, together; those that are there already once more, which asks the server no more often.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses, or has no room; some may be written.
        """
        if contents:
            with self._reaching():
                self._system.pipe({self._path(name): content for name, content in contents.items()})

    def names(self) -> Iterator[str]:
        """Yield the names of all files that are not hidden.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        with self._reaching():
            found = self._system.find(self._root)
        for path in found:
            folder, name = PurePosixPath(path).parts[-2:]
            if not name.startswith("."):
                yield f"{folder}/{name}"

    def move(self, name: str, other: str) -> None:
        """Give a file another name.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        with self._reaching():
            self._system.mv(self._path(name), self._path(other))

    def delete(self, name: str) -> None:
        """Delete a file.

        Raises:
            MemoryTrouble: the server cannot be reached, or refuses.
        """
        with self._reaching():
            self._system.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # Each file system has errors of its own, which no common class has.
            msg = f"The {self._what} at {self._shown} cannot be used: {_remedy(error)}."
            raise MemoryTrouble(msg) from error


def files_of(folder: Path) -> StoredFiles:
    """Return where the pictures of a home lie: in its own folder, or where ``SNELLEN_STORE`` says.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
    """
    return shared_files(folder, FOLDER, "pictures") or FolderFiles(folder / FOLDER)


def shared_files(folder: Path, kind: str, what: str) -> StoredFiles | None:
    """Return where files of a kind lie that a home shares; None where ``SNELLEN_STORE`` names no place for files.

    Args:
        folder: The home.
        kind: The name of their folder.
        what: What people call them.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
    """
    address = store_addresses().files
    if not address:
        return None
    name, distinct = home_name(folder)
    # Like the schemas of a database: the owner's files lie at the address itself, each other home's beside them.
    within = "/".join(part for part in (name, distinct, kind) if part)
    if address.startswith(("/", _LOCAL)):
        return FolderFiles(Path(address.removeprefix(_LOCAL)) / within)
    return AddressFiles(f"{address.rstrip('/')}/{within}", what)


def _holds(path: Path, content: bytes) -> bool:
    """Tell whether a file is what would be written to it: read at once, as that takes less than making a PNG."""
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


def _remedy(error: Exception) -> str:
    said = " ".join(str(error).split())[:_SAID].rstrip(".") or type(error).__name__
    if isinstance(error, PermissionError):
        return f"it refuses what was asked ({said}); mend its keys or their rights"
    if isinstance(error, FileNotFoundError):
        return f"there is no such bucket or folder ({said}); create it, or mend {STORE_VARIABLE}"
    if isinstance(error, OSError) and error.errno in _FULL:
        return "it is full; free some space and try again"
    return f"it said {said!r}; what was stored before is still there, try again when that is mended"
