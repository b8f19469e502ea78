"""The journal of an interrupted evaluation, so that starting it again goes on from there.

One JSON line a task, appended as soon as the task is scored; the first line says what was being measured. A finished
evaluation deletes its journal.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from snellen.memory.home import storing

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


class EvaluationJournal:
    """The scored tasks of one evaluation; used by one process at a time."""

    def __init__(self, path: Path, *, fingerprint: str) -> None:
        """Keep the journal at ``path``; one with another ``fingerprint`` measured something else and is discarded."""
        self.path = path
        self.fingerprint = fingerprint

    def begin(self) -> dict[str, Json]:
        """Return the results that are already there, by task id, and make the file ready for more.

        Raises:
            MemoryTrouble: the disk is full or not writable.
        """
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
            records = [record for line in lines if (record := _record(line)) is not None]
            results = records[1:] if records and records[0].get("fingerprint") == self.fingerprint else []
            # Written anew: a line that was cut short by a crash would spoil the next one.
            kept = [{"fingerprint": self.fingerprint}, *results]
            self.path.write_text("".join(json.dumps(record) + "\n" for record in kept), encoding="utf-8")
        return {str(result["id"]): result for result in results if "id" in result}

    def add(self, result: Json) -> None:
        """Append the result of a task, a JSON object with its ``id``.

        Raises:
            MemoryTrouble: the disk is full or not writable.
        """
        with storing(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")

    def finish(self) -> None:
        """Delete the journal: all of it is in the report.

        Raises:
            MemoryTrouble: the disk is not writable.
        """
        with storing(self.path):
            self.path.unlink(missing_ok=True)


def _record(line: str) -> Json | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
