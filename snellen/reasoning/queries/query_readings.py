"""Readings of questions about models: one meaning, several, or none."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.reasoning.queries.echo import echo
from snellen.reasoning.queries.model_query import ModelQuery


@dataclass(frozen=True)
class UnderstoodQuery:
    """One meaning.

    Attributes:
        query: The meaning.
        corrected: Words that were taken for another: as written, as read.
        unread: Sentences beside it that are not understood, and name nothing that is examined otherwise.
        probability: Of the meaning, where no rule of the grammar reads the query.
    """

    query: ModelQuery
    corrected: tuple[tuple[str, str], ...] = ()
    unread: tuple[str, ...] = ()
    probability: float = 1.0

    @property
    def echo(self) -> str:
        """The meaning in words."""
        return echo(self.query)


@dataclass(frozen=True)
class AmbiguousQuery:
    """Several meanings, among which only the user can choose; or one, of which only the user knows if it is meant.

    Attributes:
        queries: The meanings.
        left_out: What of the question they have no place for, in sentences.
    """

    queries: tuple[ModelQuery, ...]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnreadQuery:
    """No meaning.

    Attributes:
        words: The words that are not known; none where all are known, but not said in this way.
        nearest: The nearest known word to each of them, empty where there is none.
        why: A sentence.
        of_all: What it means if it is asked of all models, where only the model that “it” stands for was not said.
        by_parts: What it may mean by its parts, where no rule says how they are put together.
    """

    words: tuple[str, ...]
    nearest: tuple[str, ...]
    why: str
    of_all: ModelQuery | None = None
    by_parts: ModelQuery | None = None


QueryReading = UnderstoodQuery | AmbiguousQuery | UnreadQuery
