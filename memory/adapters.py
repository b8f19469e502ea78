"""Adapters that correct models under test: each in a folder of its own, named by its weights.

A model with an adapter is another model, and is called ``MODEL+ID``. What is under way lies beside, and is moved into
its place when it is finished, so that there is no half of an adapter.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from snellen.memory.home import MemoryTrouble, storing, write_atomically

FOLDER: Final = "adapters"
WEIGHTS: Final = "adapter_model.safetensors"
"""The file in which peft keeps an adapter's weights."""
_TOLD: Final = "adapter.json"
_DIGITS: Final = 8
"""Of the hash of the weights, in the name: as many as people can tell apart."""


@dataclass(frozen=True)
class Adapter:
    """A correction of a model: weights that are trained on what it got wrong.

    Attributes:
        id: The beginning of its weights' hash.
        model: The model under test that it was made for, as profiles call it.
        fingerprint: Of that model's checkpoint.
        about: What it was taught, in a sentence.
        origin: The investigation that found what was to be learned.
        created: When, ISO 8601 in UTC.
        proof: Figures of its training.
        folder: Where its files are.
    """

    id: str
    model: str
    fingerprint: str
    about: str
    origin: str
    created: str
    proof: dict[str, Any]
    folder: Path

    @property
    def name(self) -> str:
        """The name of the model with it."""
        return f"{self.model}+{self.id}"


class AdapterStore:
    """The adapters of one home; safe for threads and for several processes."""

    def __init__(self, home: Path) -> None:
        """Keep adapters in a folder of ``home``, which is made when the first one is."""
        self.folder = home / FOLDER

    def draft(self, *parts: str) -> Path:
        """Return the folder of an adapter that is under way; the same parts name the same one."""
        name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]
        return self.folder / f".{name}"

    def keep(
        self, draft: Path, *, model: str, fingerprint: str, about: str, origin: str, proof: Mapping[str, Any]
    ) -> Adapter:
        """Give a finished adapter its name; one that is there already stays as it is.

        Raises:
            MemoryTrouble: the disk is full or not writable.
        """
        with storing(self.folder):
            identity = _digest(draft)
            place = self.folder / identity
            if not place.exists():
                created = datetime.now(UTC).isoformat(timespec="seconds")
                record = {"model": model, "fingerprint": fingerprint, "about": about, "origin": origin}
                content = json.dumps(record | {"created": created, "proof": dict(proof)})
                write_atomically(draft / _TOLD, content.encode())
                draft.replace(place)
        self.discard(draft)
        return self._read(place)

    def discard(self, draft: Path) -> None:
        """Remove what is under way."""
        shutil.rmtree(draft, ignore_errors=True)

    def find(self, name: str) -> Adapter | None:
        """Return the adapter that a model is called by; None where there is none."""
        return next((one for one in self if one.name == name), None)

    def forget(self, name: str) -> bool:
        """Remove an adapter; say whether there was one.

        Raises:
            MemoryTrouble: it cannot be removed.
        """
        adapter = self.find(name)
        if adapter is not None:
            with storing(adapter.folder):
                shutil.rmtree(adapter.folder)
        return adapter is not None

    def count(self) -> int:
        """Return how many there are, damaged ones too."""
        return len(self._folders())

    def damaged(self) -> list[Path]:
        """Return the folders whose weights are not what their name says."""
        return [folder for folder in self._folders() if not self._is_whole(folder)]

    def __iter__(self) -> Iterator[Adapter]:
        """The adapters that are whole, the newest last."""
        adapters = [self._read(folder) for folder in self._folders() if (folder / _TOLD).is_file()]
        yield from sorted(adapters, key=lambda one: one.created)

    def _folders(self) -> list[Path]:
        return [one for one in self.folder.glob("*") if one.is_dir() and not one.name.startswith(".")]

    def _is_whole(self, folder: Path) -> bool:
        try:
            return self._read(folder).id == _digest(folder)
        except (MemoryTrouble, OSError):
            return False

    def _read(self, folder: Path) -> Adapter:
        try:
            with storing(folder):
                record = json.loads((folder / _TOLD).read_text(encoding="utf-8"))
            return Adapter(id=folder.name, folder=folder, **record)
        except (ValueError, TypeError) as error:
            msg = f"The adapter in {folder} is damaged; see `snellen memory verify`."
            raise MemoryTrouble(msg) from error


def _digest(folder: Path) -> str:
    with (folder / WEIGHTS).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
