"""Drafts outlive a crash, are found again by what they are, and are never trusted when damaged."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import snellen.memory.prompts.drafts
from snellen.memory.home import MemoryTrouble
from snellen.memory.prompts.drafts import DraftKey, Drafts, PromptDraft

KEY = DraftKey("abc", "LOC", "recipe", "instance")
DRAFT = PromptDraft(
    np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(4, dtype=np.float32), steps=7, loss=0.1 + 0.2, accepted=True
)


def test_a_draft_is_read_back_as_it_was(tmp_path: Path) -> None:
    Drafts(tmp_path).put(KEY, DRAFT)

    found = Drafts(tmp_path).get(KEY)

    assert found is not None
    np.testing.assert_array_equal(found.prompt, DRAFT.prompt)
    np.testing.assert_array_equal(found.feature, DRAFT.feature)
    assert (found.steps, found.loss, found.accepted) == (7, 0.1 + 0.2, True)


@pytest.mark.parametrize("changed", ["fingerprint", "pool", "recipe", "instance"])
def test_another_checkpoint_pool_recipe_or_instance_has_another_draft(tmp_path: Path, changed: str) -> None:
    drafts = Drafts(tmp_path)
    drafts.put(KEY, DRAFT)

    assert drafts.get(replace(KEY, **{changed: "other"})) is None


def test_writing_twice_keeps_one(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    drafts.put(KEY, DRAFT)
    drafts.put(KEY, DRAFT)

    assert len(drafts) == 1


@pytest.mark.parametrize("content", [b"", b"\x08\x00\x00\x00\x00\x00\x00\x00{}", b"x" * 200])
def test_a_damaged_draft_is_none(tmp_path: Path, content: bytes) -> None:
    drafts = Drafts(tmp_path)
    drafts.put(KEY, DRAFT)
    next(drafts.folder.iterdir()).write_bytes(content)

    assert drafts.get(KEY) is None


def test_discarding_removes_these_and_those_that_nobody_came_back_for(tmp_path: Path) -> None:
    drafts, old, other = Drafts(tmp_path), replace(KEY, instance="old"), replace(KEY, instance="other")
    for key in (KEY, old, other):
        drafts.put(key, DRAFT)
    long_ago = time.time() - 60 * 24 * 3600
    os.utime(drafts.folder / f"{old.name}.safetensors", (long_ago, long_ago))

    drafts.discard([KEY, KEY])

    assert [drafts.get(key) is None for key in (KEY, old, other)] == [True, True, False]


def test_a_full_disk_is_told_in_a_sentence_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(snellen.memory.prompts.drafts, "write_atomically", full)

    with pytest.raises(MemoryTrouble, match="the disk is full"):
        Drafts(tmp_path).put(KEY, DRAFT)
    assert len(Drafts(tmp_path)) == 0
