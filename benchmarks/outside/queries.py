"""Queries of the benchmark: what is asked of whom, and the statement that the answer is about (`queries.jsonl`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from benchmarks.outside.statements import Statement

QUERIES: Final = Path(__file__).with_name("queries.jsonl")
KINDS: Final = (
    "single", "group", "comparison", "ranking", "negated", "threshold", "position", "counting", "free", "judges",
)  # fmt: skip
NEITHER: Final = "undecided"

Asks = Literal["whether", "opposite", "which"]
"""Whether a yes means that the statement is true, or that it is false; or a model is asked for by name."""


@dataclass(frozen=True)
class OutsideQuery:
    """A query.

    Attributes:
        kind: One of `KINDS`.
        text: As people would ask it.
        models: The models that it is about, in the order of the statement.
        statement: What is true or false.
        asks: What a yes means.
        plan: What the plan of the plantings says of the statement; None where it says nothing.
    """

    kind: str
    text: str
    models: tuple[str, ...]
    statement: Statement
    asks: Asks
    plan: bool | None

    @classmethod
    def of(cls, row: dict[str, Any]) -> OutsideQuery:
        """Read a line of the file."""
        statement = Statement(**row["statement"])
        return cls(row["kind"], row["query"], tuple(row["models"]), statement, row["asks"], row.get("plan"))

    def answer(self, *, holds: bool | None) -> str:
        """Return the answer to the query, "undecided" where there is none.

        Args:
            holds: Whether the statement is true; None where that is not known.
        """
        if holds is None:
            return NEITHER
        if self.asks == "which":
            return self.models[0] if holds else NEITHER
        return "yes" if holds == (self.asks == "whether") else "no"


def read_queries(file: Path = QUERIES) -> list[OutsideQuery]:
    """Read the queries of a file, in its order."""
    return [OutsideQuery.of(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
