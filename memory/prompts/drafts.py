"""Prompts that were tuned and are not yet proved: an interrupted tuning goes on where it stopped.

Each finished prompt is one small file, named by what it was learned from and how, written atomically. Whoever tunes the
same again, after a crash or in another process, finds it; what has been stored or discarded is removed. Drafts are
never used to answer anything.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.memory.home import storing, write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

FOLDER: Final = "drafts"
_KEPT_SECONDS: Final = 30 * 24 * 3600.0
"""Drafts that nobody came back for are removed after a month."""


@dataclass(frozen=True)
class DraftKey:
    """The inputs of a prompt's tuning: the same key, the same prompt.

    Attributes:
        fingerprint: Of the checkpoint.
        pool: The pool that it is meant for.
        recipe: A hash of the settings that it was tuned with.
        instance: The id of what it was learned from.
    """

    fingerprint: str
    pool: str
    recipe: str
    instance: str

    @property
    def name(self) -> str:
        """The name of the draft's file."""
        words = json.dumps([self.fingerprint, self.pool, self.recipe, self.instance])
        return hashlib.sha256(words.encode()).hexdigest()[:40]


@dataclass(frozen=True, eq=False)
class PromptDraft:
    """A tuned prompt.

    Attributes:
        prompt: Float32, of any shape.
        feature: Float32 (d,).
        steps: Updates that it took.
        loss: The loss at its end.
        accepted: Whether training ended because the tool said what it shall.
    """

    prompt: NDArray[np.float32]
    feature: NDArray[np.float32]
    steps: int
    loss: float
    accepted: bool


class Drafts:
    """The drafts of one home; safe for threads and for several processes."""

    def __init__(self, home: Path) -> None:
        """Keep drafts in a folder of ``home``, which is made when the first one is written."""
        self.folder = home / FOLDER

    def put(self, key: DraftKey, draft: PromptDraft) -> None:
        """Write a draft; writing it again changes nothing.

        Raises:
            MemoryTrouble: the disk is full or not writable.
        """
        from safetensors.numpy import save

        told = {"steps": str(draft.steps), "loss": repr(draft.loss), "accepted": str(int(draft.accepted))}
        content = save({"prompt": draft.prompt, "feature": draft.feature}, metadata=told)
        with storing(self.folder):
            write_atomically(self._path(key), content)

    def get(self, key: DraftKey) -> PromptDraft | None:
        """Return a draft; None where there is none, or where its file is damaged: it is then tuned again."""
        from safetensors import SafetensorError, safe_open

        path = self._path(key)
        if not path.is_file():
            return None
        try:
            with safe_open(path, framework="numpy") as file:
                told: dict[str, Any] = file.metadata() or {}
                return PromptDraft(
                    prompt=file.get_tensor("prompt"),
                    feature=file.get_tensor("feature"),
                    steps=int(told["steps"]),
                    loss=float(told["loss"]),
                    accepted=bool(int(told["accepted"])),
                )
        except (SafetensorError, OSError, KeyError, ValueError):
            return None

    def discard(self, keys: Iterable[DraftKey]) -> None:
        """Remove drafts that have been stored or found wanting, and old ones that nobody came back for.

        Raises:
            MemoryTrouble: a file cannot be removed.
        """
        with storing(self.folder):
            for key in keys:
                self._path(key).unlink(missing_ok=True)
            oldest = time.time() - _KEPT_SECONDS
            for path in self.folder.glob("*"):  # also what a process was killed in the midst of writing
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)

    def __len__(self) -> int:
        """How many drafts there are."""
        return sum(1 for _ in self.folder.glob("*.safetensors"))

    def _path(self, key: DraftKey) -> Path:
        return self.folder / f"{key.name}.safetensors"
