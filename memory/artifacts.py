"""Pictures, each stored once under the SHA-256 of its PNG; the rest of Snellen passes their ids around.

A picture entering from outside is hostile until proven a picture: formats that run code or carry vectors are not
opened, sizes are limited before anything is decoded, and what is stored is drawn anew, without metadata.
"""

from __future__ import annotations

import hashlib
import logging
import re
import struct
import warnings
import zlib
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import PIL.Image
import PIL.ImageOps

from snellen.errors import BadInput, SnellenError
from snellen.memory.picture_modes import Notice, bits_of, eight_bit
from snellen.memory.stored_files import FOLDER as FOLDER
from snellen.memory.stored_files import FolderFiles, StoredFiles, files_of
from snellen.user_paths import user_path

# The one thing memory shares with tools: the record that refers to a picture.
from snellen.values import Picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_PIXELS: Final = 50_000_000
"""Width times height above which a picture is refused before it is decoded."""

MAX_BYTES: Final = 100_000_000
"""Size of a file above which it is refused before it is read."""

_FORMATS: Final = ("PNG", "JPEG", "MPO", "GIF", "BMP", "WEBP", "TIFF", "PPM", "AVIF")
_ANIMATED_FORMATS: Final = ("GIF", "PNG", "WEBP", "TIFF", "AVIF")  # an MPO's frames are views of one photograph
_UNREADABLE: Final = (OSError, SyntaxError, ValueError, TypeError, IndexError, EOFError, struct.error, zlib.error)
_LOG: Final = logging.getLogger("snellen.pictures")
_LOGGED: Final[set[str]] = set()
_MOST_LOGGED: Final = 50
_ID = re.compile(r"[0-9a-f]{64}")
_ENDING: Final = ".png"
_DAMAGED: Final = ".damaged"


def is_picture_id(text: str) -> bool:
    """Tell whether a text has the form of a stored picture's id."""
    return _ID.fullmatch(text) is not None


def _silent(_: str) -> None:
    """Drop a notice."""


class ArtifactStore:
    """Pictures, in files ``<two digits>/<id>.png``; safe for threads and processes.

    Args:
        files: Where their files lie; a folder's path stands for the files in it.
    """

    def __init__(self, files: StoredFiles | Path) -> None:
        self.files: StoredFiles = FolderFiles(files) if isinstance(files, Path) else files

    def put(self, picture: PIL.Image.Image) -> Picture:
        """Store a picture without its metadata; storing the same one again changes nothing, or mends its file.

        Args:
            picture: Any mode; all but L (masks) become RGB, transparent parts white.

        Returns:
            The reference; its id is the SHA-256 of the stored PNG.

        Raises:
            MemoryTrouble: the disk is full or not writable, or a server refuses.
        """
        stored, content = encoded(picture)
        self.put_all({stored.id: content})
        return stored

    def put_all(self, contents: Mapping[str, bytes]) -> None:
        """Store pictures together, as ``put`` stores each.

        Args:
            contents: The PNG file of each by its id, as ``encoded`` returns them.

        Raises:
            MemoryTrouble: the disk is full or not writable, or a server refuses; some may be stored.
        """
        self.files.write_all({_name(identity): content for identity, content in contents.items()})

    def get(self, picture_id: str) -> PIL.Image.Image:
        """Return a stored picture, RGB or L, decoded.

        Raises:
            SnellenError: it is not in this store, or the file has been damaged.
        """
        return _decoded(self.read(picture_id))

    def get_all(self, picture_ids: Iterable[str]) -> dict[str, PIL.Image.Image]:
        """Return stored pictures by their ids, each as ``get`` does; a server is asked for all of them at once.

        Raises:
            SnellenError: one is not in this store, or its file has been damaged.
        """
        names = {_name(one): one for one in picture_ids}
        found = self.files.read_all(names)
        return {one: _decoded(self._whole(one, found.get(name))) for name, one in names.items()}

    def read(self, picture_id: str) -> bytes:
        """Return the stored PNG file of a picture, as it is.

        Raises:
            SnellenError: it is not in this store, or the file has been damaged.
        """
        return self._whole(picture_id, self.files.read(_name(picture_id)))

    def is_whole(self, picture_id: str) -> bool:
        """Tell whether a picture is stored as it was given."""
        try:
            self.read(picture_id)
        except SnellenError:
            return False
        return True

    def ids(self) -> set[str]:
        """Return the ids of the pictures that there are files of, damaged ones too.

        Raises:
            MemoryTrouble: a server cannot be reached, or refuses.
        """
        stems = (name.rpartition("/")[2].removesuffix(_ENDING) for name in self.files.names() if name.endswith(_ENDING))
        return set(filter(is_picture_id, stems))

    def take(self, picture_id: str, other: ArtifactStore) -> None:
        """Store a picture as another store has it.

        Raises:
            MemoryTrouble: the disk is full or not writable, or a server refuses.
            SnellenError: the other store does not have it, or only damaged.
        """
        self.put_all({picture_id: other.read(picture_id)})

    def set_aside(self, picture_id: str) -> None:
        """Take a picture away, so that whoever is given it stores it anew, until ``settle`` decides about it.

        Raises:
            MemoryTrouble: its file cannot be moved.
        """
        self.files.move(_name(picture_id), _aside(picture_id))

    def settle(self, picture_id: str, *, keep: bool) -> None:
        """Put a picture back that was set aside, or delete it.

        Raises:
            MemoryTrouble: its file cannot be moved or deleted.
        """
        if keep:
            self.files.move(_aside(picture_id), _name(picture_id))
        else:
            self.files.delete(_aside(picture_id))

    def put_damaged_away(self, picture_id: str) -> None:
        """Keep a damaged file under the name that ``damaged_name`` tells.

        Raises:
            MemoryTrouble: it cannot be moved.
        """
        name = _name(picture_id)
        self.files.move(name, f"{name}{_DAMAGED}")

    def place(self, picture_id: str) -> str:
        """Return where a picture is, or would be, stored: a path, or an address.

        Raises:
            BadInput: ``picture_id`` is not a SHA-256 in hexadecimal.
        """
        return self.files.place(_name(picture_id))

    def _whole(self, picture_id: str, content: bytes | None) -> bytes:
        if content is None:
            msg = f"The picture {picture_id[:12]} is not in {self.files.place('')}; give its file again."
            raise SnellenError(msg)
        if hashlib.sha256(content).hexdigest() != picture_id:
            msg = (
                f"The stored picture {self.place(picture_id)} is damaged; give the picture again, which mends it, or "
                "run `snellen memory verify`, which draws it again where that is possible."
            )
            raise SnellenError(msg)
        return content

    def ingest(self, path: Path | str, *, notice: Notice | None = None) -> Picture:
        """Read a user's picture file and store what it shows, upright and in 8-bit colour.

        Args:
            path: A PNG, JPEG, GIF, BMP, WebP, TIFF, PPM or AVIF file of at most ``MAX_BYTES`` and ``MAX_PIXELS``.
            notice: Called with a sentence when the user should know about a change, e.g. only the first frame kept;
                None logs it.

        Returns:
            The reference to the stored picture.

        Raises:
            BadInput: the file is missing, empty, cut short, too large or not a picture.
            MemoryTrouble: the disk is full or not writable.
        """
        return self.put(_read(_read_file(path), path, notice or _logged(str(path))))


def home_pictures(folder: Path) -> ArtifactStore:
    """Return the pictures of a home, wherever they lie.

    Args:
        folder: The memory's home.

    Raises:
        BadInput: ``SNELLEN_STORE`` names no store that can be used.
    """
    return ArtifactStore(files_of(folder))


def damaged_name(picture_id: str) -> str:
    """Return the name by which the damaged file of a picture is kept, beside where the picture is stored."""
    return f"{picture_id}{_ENDING}{_DAMAGED}"


def _name(picture_id: str) -> str:
    if not is_picture_id(picture_id):
        msg = f"{picture_id[:80]!r} is not the id of a picture; ids are 64 hexadecimal digits."
        raise BadInput(msg)
    return f"{picture_id[:2]}/{picture_id}{_ENDING}"


def _aside(picture_id: str) -> str:
    # Hidden: what a process was killed in the midst of is deleted like a file that was never written to its end.
    folder, name = _name(picture_id).split("/")
    return f"{folder}/.{name}.aside"


def _decoded(content: bytes) -> PIL.Image.Image:
    picture = PIL.Image.open(BytesIO(content), formats=("PNG",))
    picture.load()
    return picture


def encoded(picture: PIL.Image.Image) -> tuple[Picture, bytes]:
    """Return the reference to a picture as it would be stored, and the PNG file that would be.

    Args:
        picture: As ``ArtifactStore.put``.
    """
    clean = eight_bit(picture, name="A picture", notice=_silent)
    content = _png(clean)
    return Picture(id=hashlib.sha256(content).hexdigest(), width=clean.width, height=clean.height), content


def read_picture(content: bytes, name: str, *, notice: Notice | None = None) -> PIL.Image.Image:
    """Read what a foreign picture file holds, as safely as ``ArtifactStore.ingest`` does, without storing it.

    Every picture of a user's enters here or there, so a file means the same wherever it is given.

    Args:
        content: The file's bytes.
        name: What to call it in errors and notices.
        notice: Called with a sentence when the user should know about a change; None logs it.

    Returns:
        The picture (of an animation the first frame), upright, in 8-bit colour or grey.

    Raises:
        BadInput: it is empty, cut short, too large or not a picture.
    """
    if not content:
        msg = f"{name} is empty; give a file that holds a picture."
        raise BadInput(msg)
    if len(content) > MAX_BYTES:
        msg = f"{name} has {len(content):,} bytes; at most {MAX_BYTES:,} are read."
        raise BadInput(msg)
    return _read(content, name, notice or _logged(name))


def _logged(name: str) -> Notice:
    """Return what logs notices about a picture, each kind once: a folder may have a thousand of a kind."""

    def log(text: str) -> None:
        kind = text.removeprefix(name)
        if kind not in _LOGGED and len(_LOGGED) < _MOST_LOGGED:
            _LOGGED.add(kind)
            _LOG.warning("%s (said once for all such pictures)", text)

    return log


def _read(content: bytes, name: Path | str, notice: Notice) -> PIL.Image.Image:
    picture, bits = _decode(content, name)
    if picture.format in _ANIMATED_FORMATS and getattr(picture, "n_frames", 1) > 1:
        notice(f"{name} is animated; only its first frame is looked at.")
    return eight_bit(_upright(picture), name=str(name), notice=notice, bits=bits)


def _read_file(path: Path | str) -> bytes:
    if re.match(r"https?:/", str(path), re.IGNORECASE):
        # Said of what was given: as a path it would lose a slash.
        msg = f"{str(path)[:200]} is an address, and nothing is fetched: save the picture, and give its file."
        raise BadInput(msg)
    file = user_path(path, "picture")
    try:
        _refuse_unreadable(file)
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        msg = f"The picture {str(path)[:200]!r} cannot be read ({reason}); check the path."
        raise BadInput(msg) from error
    if not content:
        msg = f"The picture {path} is empty; give a file that holds a picture."
        raise BadInput(msg)
    return content


def _refuse_unreadable(file: Path) -> None:
    if not file.exists():
        msg = f"There is no picture at {file}; check the path."
        raise BadInput(msg)
    if not file.is_file():
        msg = f"{file} is not a file; give a picture file."
        raise BadInput(msg)
    size = file.stat().st_size
    if size > MAX_BYTES:
        msg = f"The picture {file} has {size:,} bytes, more than the limit of {MAX_BYTES:,}; give a smaller one."
        raise BadInput(msg)


def _decode(content: bytes, path: Path | str) -> tuple[PIL.Image.Image, int]:
    """Return the decoded picture, and how many bits a channel has in the file."""
    picture = _open(content, path)
    bits = bits_of(picture)
    width, height = picture.size
    if width * height > MAX_PIXELS:
        msg = f"The picture {path} has {width}x{height} pixels, more than the limit of {MAX_PIXELS:,}; scale it down."
        raise BadInput(msg)
    try:
        picture.load()
    except _UNREADABLE as error:
        msg = f"The picture {path} is cut short or damaged ({error}); save or download it again."
        raise BadInput(msg) from error
    return picture, bits


def _open(content: bytes, path: Path | str) -> PIL.Image.Image:
    PIL.Image.init()
    known: list[str] = [name for name in _FORMATS if name in PIL.Image.OPEN]
    try:
        with warnings.catch_warnings():
            # Pillow warns about the same danger that MAX_PIXELS refuses, at a higher limit.
            warnings.simplefilter("ignore")
            return PIL.Image.open(BytesIO(content), formats=known)
    except PIL.Image.DecompressionBombError as error:
        msg = f"The picture {path} has more than the limit of {MAX_PIXELS:,} pixels; scale it down."
        raise BadInput(msg) from error
    except _UNREADABLE as error:
        msg = f"{path} is not a picture that can be read; give a PNG, JPEG, GIF, BMP, WebP, TIFF, PPM or AVIF file."
        raise BadInput(msg) from error


def _upright(picture: PIL.Image.Image) -> PIL.Image.Image:
    try:
        return PIL.ImageOps.exif_transpose(picture)
    except _UNREADABLE:
        # Broken EXIF data says nothing about orientation; the pixels have been decoded and are good.
        return picture


def _png(picture: PIL.Image.Image) -> bytes:
    bare = picture.copy()
    bare.info = {}
    buffer = BytesIO()
    bare.save(buffer, format="PNG")
    return buffer.getvalue()
