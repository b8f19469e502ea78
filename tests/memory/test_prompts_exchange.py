"""What was learned moves to another home unchanged; what a stranger sends is believed in nothing."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import sqlite3
import struct
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from sqlite_utils import Database

import snellen.memory.archives
import snellen.memory.prompts.rows
from snellen.errors import BadInput, SnellenError
from snellen.memory.archives import export_memory, import_memory
from snellen.memory.demonstrations import Demonstration, DemonstrationPool, demonstration
from snellen.memory.home import MemoryTrouble
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.blocks import encode
from snellen.memory.prompts.records import LearnedPrompt
from snellen.memory.verification import verify_prompts
from tests.memory.learned import CHECKPOINT, full, made

WRONG = demonstration("plan", "Count the flamingos.", plan=["Find them."], correct=False, critique="It misses.")
SEED = demonstration("plan", "Count the dogs.", plan=["Find them."], source="seed")


@pytest.fixture
def pool(tmp_path: Path) -> PromptPool:
    pool = PromptPool(tmp_path / "home")
    pool.add(*[made(number, "ab"[number % 2]) for number in range(12)])
    pool.add(made(20, "", pool="VQA", prompt=np.zeros((2, 3))), made(21, fingerprint="another"))
    pool.forget([made(3, "b").row.id])
    DemonstrationPool(pool.folder).add(SEED, WRONG)
    return pool


@pytest.fixture
def archive(pool: PromptPool, tmp_path: Path) -> Path:
    export_memory(pool, tmp_path / "memory.zip")
    return tmp_path / "memory.zip"


@pytest.fixture
def empty(tmp_path: Path) -> PromptPool:
    return PromptPool(tmp_path / "empty")


def test_an_import_into_an_empty_home_gives_the_same_candidates(
    pool: PromptPool, archive: Path, empty: PromptPool
) -> None:
    told = import_memory(empty, archive)

    assert (told.prompts, told.demonstrations, told.already_there) == (13, 1, 0)
    assert empty.rows() == pool.rows()
    for name, concept, fingerprint in (("LOC", "a", CHECKPOINT), ("LOC", "", "another"), ("VQA", "", CHECKPOINT)):
        for feature in (None, made(7).feature):
            one, other = (each.candidates(name, concept, fingerprint, feature, 4) for each in (pool, empty))
            assert one.rows == other.rows
            assert np.array_equal(one.prompts, other.prompts)
            assert np.array_equal(one.features, other.features)
    assert DemonstrationPool(empty.folder).all() == [WRONG]  # each home has its own seeds
    assert verify_prompts(empty.folder).clean


def test_importing_twice_adds_once(archive: Path, empty: PromptPool) -> None:
    empty.add(made(0, "a"), made(40))
    assert import_memory(empty, archive).prompts == 12
    told = import_memory(empty, archive)
    assert (told.prompts, told.demonstrations, told.already_there) == (0, 0, 14)
    assert len(empty.rows()) == 14
    assert verify_prompts(empty.folder).clean


def test_the_same_memory_gives_the_same_archive(pool: PromptPool, archive: Path, tmp_path: Path) -> None:
    export_memory(pool, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_an_export_of_nothing_is_an_import_of_nothing(empty: PromptPool, tmp_path: Path) -> None:
    told = export_memory(empty, tmp_path / "nothing.zip")
    assert (told.prompts, told.demonstrations) == (0, 0)
    assert import_memory(empty, tmp_path / "nothing.zip").prompts == 0


def test_an_export_overwrites_nothing(pool: PromptPool, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "memory.zip"):
        with pytest.raises(BadInput, match="name a new file in an existing folder"):
            export_memory(pool, path)


def test_an_export_onto_a_full_disk_leaves_nothing(
    pool: PromptPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemoryTrouble, match="disk is full"):
        export_memory(pool, tmp_path / "memory.zip")
    assert not list(tmp_path.glob("*.zip"))
    assert not list(tmp_path.glob(".export*"))


def test_an_import_onto_a_full_disk_adds_nothing(
    archive: Path, empty: PromptPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = snellen.memory.prompts.rows.insert

    def filling(rows: Database, prompts: Sequence[LearnedPrompt]) -> None:
        insert(rows, prompts)
        if prompts[0].row.pool == "VQA":
            msg = "database or disk is full"
            raise sqlite3.OperationalError(msg)

    with monkeypatch.context() as patch:
        patch.setattr(snellen.memory.prompts.rows, "insert", filling)
        with pytest.raises(MemoryTrouble, match="disk is full"):
            import_memory(empty, archive)
    assert empty.rows() == []
    assert DemonstrationPool(empty.folder).all() == []
    assert import_memory(empty, archive).prompts == 13


def test_prompts_of_another_shape_are_refused_whole(archive: Path, empty: PromptPool) -> None:
    empty.add(made(1, "", pool="VQA", prompt=np.ones((5, 5))))
    with pytest.raises(BadInput, match="cannot be mixed"):
        import_memory(empty, archive)
    assert len(empty.rows()) == 1
    assert verify_prompts(empty.folder).clean


def test_a_damaged_memory_is_not_exported(pool: PromptPool, tmp_path: Path) -> None:
    with sqlite3.connect(pool.path) as rows:
        rows.execute("UPDATE prompt_tensors SET prompt = zeroblob(length(prompt)) WHERE number = 5")
    rows.close()
    with pytest.raises(SnellenError, match="damaged"):
        export_memory(pool, tmp_path / "memory.zip")
    assert not (tmp_path / "memory.zip").exists()


Parts = dict[str, bytes]


def parts_of(archive: Path) -> Parts:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rewritten(archive: Path, parts: Parts, *, compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(archive, "w", compression) as opened:
        for name, content in parts.items():
            opened.writestr(name, content)


def manifest_of(parts: Parts, **changes: object) -> None:
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | changes).encode()


def with_block(parts: Parts, content: bytes, count: int = 1) -> None:
    """Put a block of a stranger's making into the archive, manifest and digest in order."""
    for name in [name for name in parts if name.startswith("prompts/")]:
        del parts[name]
    digest = hashlib.sha256(content).hexdigest()
    parts[f"prompts/{digest}.safetensors"] = content
    manifest_of(parts, blocks={digest: count})


def tensors_of(*prompts: LearnedPrompt) -> dict[str, Any]:
    return dict(safetensors.numpy.load(encode(prompts)))


def saved(tensors: dict[str, Any]) -> bytes:
    return bytes(safetensors.numpy.save(tensors))


def told_rows(tensors: dict[str, Any], **changes: object) -> dict[str, Any]:
    told = json.loads(tensors["rows"].tobytes())
    told["rows"] = [row | changes for row in told["rows"]]
    return tensors | {"rows": np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)}


def escaping(parts: Parts) -> None:
    parts["prompts/../../escaped.safetensors"] = b"x"


def absolute(parts: Parts) -> None:
    parts["/etc/escaped"] = b"x"


def stranger(parts: Parts) -> None:
    parts["prompts/model.pkl"] = pickle.dumps({"a": 1})


def unnamed_block(parts: Parts) -> None:
    content = encode([made(50)])
    parts[f"prompts/{hashlib.sha256(content).hexdigest()}.safetensors"] = content


def missing_block(parts: Parts) -> None:
    del parts[next(name for name in parts if name.startswith("prompts/"))]


def changed_block(parts: Parts) -> None:
    name = next(name for name in parts if name.startswith("prompts/"))
    parts[name] = parts[name][:-20] + b"x" * 20


def pickled_block(parts: Parts) -> None:
    with_block(parts, pickle.dumps(np.ones(4)))


def truncated_block(parts: Parts) -> None:
    with_block(parts, encode([made(50)])[:-40])


def endless_header(parts: Parts) -> None:
    with_block(parts, struct.pack("<Q", 2**62) + b"{}")


def huge_shape(parts: Parts) -> None:
    header = json.dumps(
        {
            "features": {"dtype": "F32", "shape": [2**40, 2**20], "data_offsets": [0, 16]},
            "rows": {"dtype": "U8", "shape": [4], "data_offsets": [16, 20]},
        }
    ).encode()
    with_block(parts, struct.pack("<Q", len(header)) + header + b"\0" * 20)


def overlapping_tensors(parts: Parts) -> None:
    header = json.dumps(
        {
            "features": {"dtype": "F32", "shape": [1, 4], "data_offsets": [0, 16]},
            "rows": {"dtype": "U8", "shape": [16], "data_offsets": [0, 16]},
        }
    ).encode()
    with_block(parts, struct.pack("<Q", len(header)) + header + b"\0" * 16)


def other_dtype(parts: Parts) -> None:
    tensors = tensors_of(made(50))
    with_block(parts, saved(tensors | {"features": tensors["features"].astype(np.float64)}))


def extra_tensor(parts: Parts) -> None:
    with_block(parts, saved(tensors_of(made(50)) | {"code": np.zeros(3, dtype=np.float32)}))


def other_shape(parts: Parts) -> None:
    tensors = tensors_of(made(50))
    with_block(parts, saved(tensors | {"prompts": tensors["prompts"].reshape(1, 3, 2)}))


def not_finite(parts: Parts) -> None:
    tensors = tensors_of(made(50))
    with_block(parts, saved(tensors | {"prompts": tensors["prompts"] * np.float32(np.nan)}))


def long_feature(parts: Parts) -> None:
    tensors = tensors_of(made(50))
    with_block(parts, saved(tensors | {"features": tensors["features"] * 2}))


def other_checkpoint(parts: Parts) -> None:
    with_block(parts, saved(told_rows(tensors_of(made(50)), fingerprint="stolen")))


def pool_as_path(parts: Parts) -> None:
    with_block(parts, saved(told_rows(tensors_of(made(50)), pool="../../x")))


def row_of_other_fields(parts: Parts) -> None:
    with_block(parts, saved(told_rows(tensors_of(made(50)), program="import os")))


def row_of_other_types(parts: Parts) -> None:
    with_block(parts, saved(told_rows(tensors_of(made(50)), steps="many")))


def prompt_out_of_place(parts: Parts) -> None:
    with_block(parts, saved(told_rows(tensors_of(made(50)), prompt=7)))


def rows_of_no_json(parts: Parts) -> None:
    with_block(parts, saved(tensors_of(made(50)) | {"rows": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}))


def wrong_count(parts: Parts) -> None:
    with_block(parts, encode([made(50)]), count=2)


def too_many(parts: Parts) -> None:
    with_block(parts, encode([made(50)]), count=10**12)


def negative_count(parts: Parts) -> None:
    with_block(parts, encode([made(50)]), count=-1)


def another_version(parts: Parts) -> None:
    manifest_of(parts, format="snellen-memory-2")


def no_manifest(parts: Parts) -> None:
    del parts["manifest.json"]


def manifest_of_no_json(parts: Parts) -> None:
    parts["manifest.json"] = b"{" * 5000


def manifest_of_lists(parts: Parts) -> None:
    manifest_of(parts, blocks=[1, 2])


def changed_demonstrations(parts: Parts) -> None:
    parts["demonstrations.json"] = b"[]"


def with_demonstrations(parts: Parts, told: object, count: int = 1) -> None:
    content = json.dumps(told).encode()
    parts["demonstrations.json"] = content
    manifest_of(parts, demonstrations={"sha256": hashlib.sha256(content).hexdigest(), "count": count})


def forged_demonstration(parts: Parts) -> None:
    with_demonstrations(parts, [asdict(replace(WRONG, correct=True))])


def seed_demonstration(parts: Parts) -> None:
    with_demonstrations(parts, [asdict(SEED)])


def demonstration_of_other_fields(parts: Parts) -> None:
    with_demonstrations(parts, [asdict(WRONG) | {"shell": "rm"}])


def demonstration_of_other_types(parts: Parts) -> None:
    with_demonstrations(parts, [asdict(WRONG) | {"plan": [{"a": 1}]}])


def demonstrations_of_no_list(parts: Parts) -> None:
    with_demonstrations(parts, {"a": 1})


HOSTILE = [
    (escaping, "none of ours"),
    (absolute, "none of ours"),
    (stranger, "none of ours"),
    (unnamed_block, "not those that its manifest names"),
    (missing_block, "not those that its manifest names"),
    (changed_block, "is damaged"),
    (pickled_block, "as they were stored"),
    (truncated_block, "do not fill the file"),
    (endless_header, "longer than ours"),
    (huge_shape, "another type or shape"),
    (overlapping_tensors, "do not fill the file"),
    (other_dtype, "another type or shape"),
    (extra_tensor, "not features, prompts and rows"),
    (other_shape, "another shape than its row says"),
    (not_finite, "not finite"),
    (long_feature, "nothing is near it"),
    (other_checkpoint, "not what its id says"),
    (pool_as_path, "a pool is named by"),
    (row_of_other_fields, "fields of a row"),
    (row_of_other_types, "another type"),
    (prompt_out_of_place, "names a prompt that is not there"),
    (rows_of_no_json, "as they were stored"),
    (wrong_count, "holds 1 prompts and not 2"),
    (too_many, "more than 2,000,000 prompts"),
    (negative_count, "something else than numbers"),
    (another_version, "'snellen-memory-2', and this version of Snellen reads 'snellen-memory-1'"),
    (no_manifest, "lacks manifest.json"),
    (manifest_of_no_json, "is no JSON"),
    (manifest_of_lists, "does not say what there is"),
    (changed_demonstrations, "demonstrations are damaged"),
    (forged_demonstration, "not what its id says"),
    (seed_demonstration, "not what its id says"),
    (demonstration_of_other_fields, "other fields than ours"),
    (demonstration_of_other_types, "another type"),
    (demonstrations_of_no_list, "its demonstrations are not the 1"),
]


@pytest.mark.parametrize(("harm", "said"), HOSTILE, ids=[harm.__name__ for harm, _ in HOSTILE])
def test_what_a_stranger_made_up_is_refused_whole(
    archive: Path, empty: PromptPool, harm: Callable[[Parts], None], said: str
) -> None:
    parts = parts_of(archive)
    harm(parts)
    rewritten(archive, parts)
    refused(empty, archive, said)


def refused(pool: PromptPool, archive: Path, said: str) -> None:
    with pytest.raises(BadInput, match=said) as caught:
        import_memory(pool, archive)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    assert pool.rows() == []
    assert DemonstrationPool(pool.folder).all() == []
    assert not list(archive.parent.glob("escaped*"))


def test_a_demonstration_in_order_is_taken(archive: Path, empty: PromptPool) -> None:
    right: Demonstration = demonstration("program", "Tag it.", plan=[], program="A=RESULT(var=IMAGE)", source="search")
    parts = parts_of(archive)
    with_demonstrations(parts, [asdict(WRONG), asdict(right)], count=2)
    rewritten(archive, parts)

    assert import_memory(empty, archive).demonstrations == 2
    assert DemonstrationPool(empty.folder).all() == [WRONG, right]


def test_compressed_parts_are_refused_unread(archive: Path, empty: PromptPool) -> None:
    bomb = BytesIO()
    np.save(bomb, np.zeros(1_000_000))
    parts = parts_of(archive) | {"prompts/" + "0" * 64 + ".safetensors": bomb.getvalue()}
    rewritten(archive, parts, compression=zipfile.ZIP_DEFLATED)
    refused(empty, archive, "compressed, or larger")


def test_parts_that_claim_more_than_there_is_are_refused(archive: Path, empty: PromptPool) -> None:
    content = bytearray(archive.read_bytes())
    at = content.find(b"PK\1\2")  # the first entry of the table of contents: both of its sizes
    for offset in (20, 24):
        struct.pack_into("<L", content, at + offset, 60 * 2**20)
    archive.write_bytes(bytes(content))
    refused(empty, archive, "overlap")


def test_a_part_twice_is_refused(archive: Path, empty: PromptPool) -> None:
    with warnings.catch_warnings(), zipfile.ZipFile(archive, "a") as opened:
        warnings.simplefilter("ignore")
        opened.writestr("manifest.json", b"{}")
    refused(empty, archive, "overlap")


def test_an_endless_table_of_contents_is_refused_unread(
    archive: Path, empty: PromptPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snellen.memory.archives, "_MAX_DIRECTORY_BYTES", 100)
    refused(empty, archive, "table of contents is longer")


def test_a_large_archive_is_refused_unread(archive: Path, empty: PromptPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snellen.memory.archives, "MAX_ARCHIVE_BYTES", 100)
    refused(empty, archive, "more than the limit of 100")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\3\4" + b"\0" * 300, b"PK\5\6" + b"\xff" * 18])
def test_what_is_no_archive_is_refused(archive: Path, empty: PromptPool, content: bytes) -> None:
    archive.write_bytes(content)
    refused(empty, archive, "cannot be imported")


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_an_archive_cut_short_is_refused(archive: Path, empty: PromptPool, share: float) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    refused(empty, archive, "cannot be imported")


def test_a_missing_archive_is_told(empty: PromptPool, tmp_path: Path) -> None:
    refused(empty, tmp_path / "nowhere.zip", "There is no archive")
    refused(empty, tmp_path, "There is no archive")
