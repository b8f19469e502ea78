"""Folders of exports: each is there whole or not at all, and never in the place of something else."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from snellen.errors import BadInput
from snellen.reports.runs import writing
from snellen.user_paths import user_path

MARK: Final = ".snellen-export"
"""The file by which a folder is known to be an export, which may be replaced on request."""


def checked(place: Path, *, force: bool) -> Path:
    """Return the folder that an export may be written to, before it is made.

    Args:
        place: Where it is wanted.
        force: Whether an export that is there may be replaced.

    Raises:
        BadInput: There is something that may not be replaced.
    """
    target = Path(os.path.abspath(user_path(place)))  # noqa: PTH100 - a link that is there must not be followed
    if target.is_symlink() or (target.exists() and not (target / MARK).is_file()):
        msg = f"There is something at {place} that is no export: name a new folder with --out."
        raise BadInput(msg)
    if target.exists() and not force:
        msg = f"There is an export at {place} already: name a new folder with --out, or replace it with --force."
        raise BadInput(msg)
    return target


@contextmanager
def whole(target: Path, told: dict[str, object]) -> Iterator[Path]:
    """Yield a folder to write an export into; where nothing fails it becomes the target, else nothing is left.

    Args:
        target: As ``checked`` returned it. An export that is there is replaced.
        told: What the export says of itself.

    Raises:
        SnellenError: The disk is full or not writable.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    with writing(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as box:
        draft, before = Path(box) / "draft", Path(box) / "before"
        draft.mkdir()
        yield draft
        (draft / MARK).write_text(json.dumps(told, indent=2) + "\n", "utf-8")
        if target.exists():
            target.rename(before)
        try:
            draft.rename(target)
        except OSError:
            if before.exists():
                before.rename(target)
            raise
