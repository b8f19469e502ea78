"""Designs of experiments edited at the terminal, in the editor of ``VISUAL`` or ``EDITOR``."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.cli.display import clean, print_hint
from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.design_text import design_of, json_of
from snellen.experiments.preview import preview_in

if TYPE_CHECKING:
    from snellen.graphs.states import Json


def editor() -> list[str]:
    """Return the command of the user's editor; nothing where none is chosen."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")


def decided_by_person(action: Json, question: str, edited: Json | None = None) -> Json:
    """Ask whether an experiment is run: yes, no, or with a design that is edited first.

    Args:
        action: The requested action, whose arguments are the design.
        question: The question.
        edited: A design that was edited before and could not be run, to go on from.

    Returns:
        A decision of `snellen.runtime.approval`.
    """
    design, preview = Design.model_validate(edited or action["args"]), preview_in(action)
    models = preview.examined if preview else [name for one in design.claims for name in (one.model, one.other)]
    text = json_of(design)
    while True:
        sys.stderr.write(f"{clean(question)} [y/N, e to edit it] ")
        sys.stderr.flush()
        said = sys.stdin.readline().strip().casefold()
        if said not in {"e", "edit"}:
            return {"type": "approve" if said in {"y", "yes"} else "reject"}
        try:
            text = _in_editor(text)
            changed = design_of(text, models).model_dump(mode="json")
            return {"type": "edit", "edited_action": {"name": action["name"], "args": changed}}
        except BadInput as error:
            print_hint(f"snellen: {clean(str(error))}")


def _in_editor(text: str) -> str:
    """Return a text as it was left in the editor."""
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder:
        file = Path(folder) / "design.json"
        file.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*editor(), str(file)], check=True)  # noqa: S603 - the user's own command
            return file.read_text(encoding="utf-8")
        except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
            msg = f"The editor failed ({' '.join(str(error).split())[:200]}): set EDITOR to another one."
            raise BadInput(msg) from error
