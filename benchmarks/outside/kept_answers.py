"""Answers that are kept, so that a run goes on where it was stopped, and several processes share one."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from benchmarks.outside.queries import OutsideQuery
from benchmarks.outside.ways import WayOutcome


class KeptAnswers:
    """A file with a line for each query that was answered in some way; lines of other settings are left alone.

    Args:
        file: Where they are kept; None keeps nothing.
        settings: What an answer depends on besides the query.
    """

    def __init__(self, file: Path | None, settings: dict[str, Any]) -> None:
        self._file, self._settings = file, settings
        rows = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
        known = [row for row in map(_read, rows) if row is not None and row["settings"] == settings]
        self._kept = {
            self._key(row["way"], row["query"], row["models"]): row for row in known if row["settings"] == settings
        }

    async def outcome(
        self, way: str, query: OutsideQuery, answer: Callable[[OutsideQuery], Awaitable[WayOutcome]]
    ) -> tuple[WayOutcome, float]:
        """Return what came of a query in some way, and the wall seconds that it took, when it was asked.

        Args:
            way: The name of the way.
            query: What is asked.
            answer: Asks it.
        """
        kept = self._kept.get(self._key(way, query.text, query.models))
        if kept is not None:
            return WayOutcome(**kept["outcome"]), kept["seconds"]
        began = time.perf_counter()
        found = await answer(query)
        seconds = time.perf_counter() - began
        if self._file is not None:
            row = {"way": way, "query": query.text, "models": list(query.models), "settings": self._settings}
            with self._file.open("a", encoding="utf-8") as kept_rows:
                # Begun on a line of its own: whoever was killed has left half of one.
                kept_rows.write("\n" + json.dumps({**row, "outcome": asdict(found), "seconds": seconds}))
        return found, seconds

    @staticmethod
    def _key(way: str, query: str, models: Any) -> tuple[str, str, tuple[str, ...]]:  # noqa: ANN401 - a sequence or a list
        return way, query, tuple(models)


def _read(row: str) -> dict[str, Any] | None:
    """Read a line; None where it is blank or cut off."""
    try:
        return cast("dict[str, Any]", json.loads(row))
    except ValueError:
        return None
