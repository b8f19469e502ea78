"""Archives that carry what was learned from one home to another: one file, trusted in nothing.

A zip file without compression: ``manifest.json`` says what there is, ``demonstrations.json`` holds the learned
demonstrations (not the seeds, which every home has), and ``prompts/`` the prompts in blocks, safetensors and never
pickle. An import checks every name, size, count, type, shape and digest, and every prompt against its own id, before
anything is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from snellen.errors import BadInput
from snellen.memory.demonstrations import SEED, Demonstration, DemonstrationPool, Failure, Kind, again
from snellen.memory.home import MemoryTrouble, storing
from snellen.memory.prompts import rows as table
from snellen.memory.prompts.blocks import MAX_BLOCK_BYTES, BlockDamaged, batches, decode, encode, name_of
from snellen.memory.prompts.rows import PromptSelection
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from snellen.memory.prompts import LearnedPrompt, PromptPool

FORMAT: Final = "snellen-memory-1"
MAX_ARCHIVE_BYTES: Final = 16 * 2**30
MAX_PROMPTS: Final = 2_000_000
MAX_DEMONSTRATIONS: Final = 100_000
_MAX_JSON_BYTES: Final = 64 * 2**20
_MAX_DIRECTORY_BYTES: Final = 32 * 2**20
_MAX_TEXT: Final = 65_536
_MANIFEST: Final = "manifest.json"
_DEMONSTRATIONS: Final = "demonstrations.json"
_BLOCK: Final = re.compile(r"prompts/([0-9a-f]{64})\.safetensors")
_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same memory gives the same archive
_UNREADABLE: Final = (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, struct.error, RuntimeError, ValueError)


@dataclass(frozen=True)
class Exchanged:
    """The size of what an export wrote, or an import added."""

    path: str
    prompts: int
    demonstrations: int
    already_there: int = 0
    """Prompts and demonstrations of an import that the home had before."""
    bytes: int = 0
    """Size of the archive."""


@dataclass(frozen=True)
class _Described:
    """A manifest whose parts fit the archive."""

    blocks: dict[str, int]
    """Names of blocks, and how many prompts each holds."""
    sha256: str
    """Of the demonstrations' file."""
    demonstrations: int


def export_memory(pool: PromptPool, path: Path) -> Exchanged:
    """Write all learned prompts and demonstrations of a home into one archive.

    Args:
        pool: The prompts of the home; its demonstrations lie beside them.
        path: The archive to make; the same memory gives the same bytes.

    Raises:
        BadInput: there is already something at ``path``, or its folder is missing.
        PromptDamaged: a stored prompt is not what it was.
        MemoryTrouble: the disk is full or not writable; nothing is left at ``path``.
    """
    target = user_path(path, "archive")
    if target.exists() or not target.parent.is_dir():
        reason = "there is already something" if target.exists() else "there is no such folder"
        msg = f"The memory cannot be exported to {target}: {reason}; name a new file in an existing folder."
        raise BadInput(msg)
    learned = DemonstrationPool(pool.folder).learned()
    with storing(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=".export.") as folder:
        draft = Path(folder) / "archive"
        with draft.open("wb") as file:
            prompts = _write_archive(pool, learned, file)
            file.flush()
            os.fsync(file.fileno())
        size = draft.stat().st_size
        draft.rename(target)
    return Exchanged(str(target), prompts, len(learned), bytes=size)


def import_memory(pool: PromptPool, path: Path) -> Exchanged:
    """Add the prompts and demonstrations of an archive to a home, all or none.

    Fingerprints are kept: a prompt is used where the checkpoint is that it was tuned on, and nowhere else.

    Args:
        pool: The prompts of the home; its demonstrations lie beside them.
        path: An archive that ``export_memory`` made, here or elsewhere.

    Returns:
        How many of each were new.

    Raises:
        BadInput: it is no such archive, not whole, too large, or its prompts do not fit those of the home.
        MemoryTrouble: the disk is full or not writable; nothing was added.
    """
    source = user_path(path, "archive")
    try:
        _refuse_file(source)
        with zipfile.ZipFile(source) as archive:
            described = _checked_manifest(archive, source)
            demonstrations = _checked_demonstrations(archive, described)
            count = sum(len(prompts) for prompts in _checked_blocks(archive, described))
            before = {one.id for one in DemonstrationPool(pool.folder).all()}
            # Read and checked a second time, block by block, now to be stored: the archive need not fit in memory.
            added = pool.add_batches(_checked_blocks(archive, described), demonstrations)
    except (BadInput, MemoryTrouble):
        raise
    except (BlockDamaged, *_UNREADABLE) as error:
        msg = f"{source} cannot be imported: {str(error).rstrip('.')}; nothing was changed, export it again."
        raise BadInput(msg) from error
    new = sum(one.id not in before for one in demonstrations)
    known = count - added + len(demonstrations) - new
    return Exchanged(str(source), added, new, already_there=known, bytes=source.stat().st_size)


def _write_archive(pool: PromptPool, learned: Sequence[Demonstration], file: Any) -> int:  # noqa: ANN401 - a file
    blocks: dict[str, int] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for batch in batches(_all_prompts(pool)):
            content = encode(batch)
            name = name_of(content)
            blocks[name] = len(batch)
            _put(archive, f"prompts/{name}.safetensors", content)
        demonstrations = json.dumps([asdict(one) for one in learned], ensure_ascii=False).encode()
        _put(archive, _DEMONSTRATIONS, demonstrations)
        manifest = {
            "format": FORMAT,
            "blocks": blocks,
            "demonstrations": {"sha256": hashlib.sha256(demonstrations).hexdigest(), "count": len(learned)},
        }
        _put(archive, _MANIFEST, json.dumps(manifest, indent=1).encode())
    return sum(blocks.values())


def _all_prompts(pool: PromptPool) -> Iterator[LearnedPrompt]:
    """Yield the prompts pool by pool, the one that learned first comes first."""
    with pool.database() as rows, rows.atomic():
        query = "SELECT pool, fingerprint FROM prompts GROUP BY pool, fingerprint ORDER BY MIN(number)"
        for name, fingerprint in rows.execute(query).fetchall():
            for one in table.stored(rows, PromptSelection(pool=name, fingerprint=fingerprint)):
                yield one.learned()


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_STORED)


def _refuse_file(path: Path) -> None:
    if not path.is_file():
        msg = f"There is no archive at {path}; name a file that `snellen memory export` made."
        raise BadInput(msg)
    size = path.stat().st_size
    if size > MAX_ARCHIVE_BYTES:
        msg = f"The archive {path} has {size:,} bytes, more than the limit of {MAX_ARCHIVE_BYTES:,}."
        raise BadInput(msg)
    if _directory_bytes(path, size) > _MAX_DIRECTORY_BYTES:
        msg = "its table of contents is longer than ours are"
        raise ValueError(msg)


def _directory_bytes(path: Path, size: int) -> int:
    """Return how large a zip file says its table of contents is, which ``zipfile`` would read whole."""
    with path.open("rb") as file:
        file.seek(max(0, size - 65_536 - 22))
        end = file.read()
        at = end.rfind(b"PK\5\6")
        if at < 0 or len(end) < at + 22:
            msg = "it is not an archive of ours, or was cut short"
            raise ValueError(msg)
        (length,) = struct.unpack_from("<L", end, at + 12)
        locator = end[max(0, at - 20) : at]
        if locator[:4] == b"PK\6\7":
            file.seek(struct.unpack_from("<Q", locator, 8)[0] % (size + 1))
            record = file.read(56).ljust(56, b"\0")
            length = max(length, struct.unpack_from("<Q", record, 40)[0])
    return int(length)


def _checked_manifest(archive: zipfile.ZipFile, path: Path) -> _Described:
    """Return what the archive holds, once names and sizes are known to be harmless and to fit the manifest."""
    entries = archive.infolist()
    for one in entries:
        limit = MAX_BLOCK_BYTES if _BLOCK.fullmatch(one.filename) else _MAX_JSON_BYTES
        known = one.filename in (_MANIFEST, _DEMONSTRATIONS) or _BLOCK.fullmatch(one.filename)
        plain = one.compress_type == zipfile.ZIP_STORED and not one.flag_bits & 1
        if not known or not plain or one.file_size != one.compress_size or one.file_size > limit:
            msg = f"its part {one.filename[:80]!r} is none of ours, compressed, or larger than {limit:,} bytes"
            raise ValueError(msg)
    names = [one.filename for one in entries]
    if len(set(names)) != len(names) or sum(one.file_size for one in entries) > path.stat().st_size:
        msg = "its parts overlap"
        raise ValueError(msg)
    if not {_MANIFEST, _DEMONSTRATIONS} <= set(names):
        msg = f"it lacks {_MANIFEST} or {_DEMONSTRATIONS}"
        raise ValueError(msg)
    described = _read_manifest(_json(archive.read(_MANIFEST), _MANIFEST))
    if {f"prompts/{name}.safetensors" for name in described.blocks} != set(names) - {_MANIFEST, _DEMONSTRATIONS}:
        msg = "its parts are not those that its manifest names"
        raise ValueError(msg)
    return described


def _read_manifest(manifest: Any) -> _Described:  # noqa: ANN401 - JSON of unknown origin
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if version != FORMAT:
        msg = f"its format is {str(version)[:40]!r}, and this version of Snellen reads {FORMAT!r}"
        raise ValueError(msg)
    blocks, learned = manifest.get("blocks"), manifest.get("demonstrations")
    if not (isinstance(blocks, dict) and isinstance(learned, dict) and isinstance(learned.get("sha256"), str)):
        msg = "its manifest does not say what there is"
        raise ValueError(msg)  # noqa: TRY004 - a value from outside, learned to the user
    counts = [*blocks.values(), learned.get("count")]
    if any(type(count) is not int or count < 0 for count in counts):
        msg = "its manifest counts in something else than numbers"
        raise ValueError(msg)
    if sum(blocks.values()) > MAX_PROMPTS or learned["count"] > MAX_DEMONSTRATIONS:
        msg = f"it holds more than {MAX_PROMPTS:,} prompts or {MAX_DEMONSTRATIONS:,} demonstrations"
        raise ValueError(msg)
    return _Described(blocks, learned["sha256"], learned["count"])


def _checked_blocks(archive: zipfile.ZipFile, described: _Described) -> Iterator[list[LearnedPrompt]]:
    for name, count in described.blocks.items():
        part = f"prompts/{name}.safetensors"
        content = archive.read(part)
        if name_of(content) != name:
            msg = f"its part {part} is damaged"
            raise ValueError(msg)
        prompts = decode(content, f"its part {part}")
        if len(prompts) != count:
            msg = f"its part {part} holds {len(prompts)} prompts and not {count}"
            raise ValueError(msg)
        yield prompts


def _checked_demonstrations(archive: zipfile.ZipFile, described: _Described) -> list[Demonstration]:
    file = archive.read(_DEMONSTRATIONS)
    if hashlib.sha256(file).hexdigest() != described.sha256:
        msg = "its demonstrations are damaged"
        raise ValueError(msg)
    content = _json(file, _DEMONSTRATIONS)
    if not isinstance(content, list) or len(content) != described.demonstrations:
        msg = f"its demonstrations are not the {described.demonstrations} that its manifest names"
        raise ValueError(msg)
    return [_checked_demonstration(one) for one in content]


def _checked_demonstration(content: Any) -> Demonstration:  # noqa: ANN401 - JSON of unknown origin
    kinds = dict.fromkeys(Demonstration.__dataclass_fields__, str) | {"correct": bool, "plan": list}
    # Archives of earlier versions say nothing of how demonstrations failed.
    content = {"failure": ""} | content if isinstance(content, dict) else content
    if not isinstance(content, dict) or set(content) != set(kinds):
        msg = "a demonstration has other fields than ours have"
        raise ValueError(msg)
    steps = content["plan"] if isinstance(content["plan"], list) else [None]
    texts = [*(value for name, value in content.items() if kinds[name] is str), *steps]
    right = all(type(content[name]) is kind for name, kind in kinds.items()) and all(
        type(text) is str for text in texts
    )
    known = content["kind"] in get_args(Kind) and content["failure"] in get_args(Failure)
    if not right or any(len(text) > _MAX_TEXT for text in texts) or not known:
        msg = "a demonstration has fields of another type, or longer than ours"
        raise ValueError(msg)
    one = Demonstration(**content)
    if one.source == SEED or again(one).id != one.id or again(one).instruction != one.instruction:
        msg = f"the demonstration {one.id[:16]!r} is not what its id says"
        raise ValueError(msg)
    return one


def _json(content: bytes, name: str) -> Any:  # noqa: ANN401 - JSON of unknown origin
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        msg = f"its part {name} is no JSON"
        raise ValueError(msg) from error
