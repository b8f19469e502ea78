"""Statements to a database, in the SQL that SQLite and Postgres share; what either of them is, as tables see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager


class StatementResult(Protocol):
    """The rows that a statement found, as tuples, or the number of those that it changed."""

    @property
    def rowcount(self) -> int:
        """Return how many rows were changed, by all executions of the statement together."""

    @property
    def description(self) -> Any:  # noqa: ANN401 - a sequence, each item of which begins with a column's name
        """Return what the columns are called."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row
        """Return the next row; None after the last one."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""


class Statements(Protocol):
    """A connection that takes statements that SQLite and Postgres both know, with a ``?`` for each value."""

    def execute(self, query: str, values: Sequence[Any] = ..., /) -> StatementResult:
        """Execute a statement."""

    def executemany(self, query: str, values: Sequence[Sequence[Any]], /) -> StatementResult:
        """Execute a statement once for each of several rows of values."""


class TableDatabase(Protocol):
    """A database that tables lie in."""

    @property
    def is_read_only(self) -> bool:
        """Tell whether nothing can be written to it."""

    def reading(self) -> AbstractContextManager[Statements]:
        """Open it to read from it."""

    def transaction(self, *, exclusive: bool = False) -> AbstractContextManager[Statements]:
        """Open it for one change, all of it or nothing; no other writer is let in if ``exclusive``."""

    def kept_open(self) -> AbstractContextManager[None]:
        """Keep it open inside the block, where one change follows another."""
