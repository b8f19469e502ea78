"""Understanding of queries: a meaning that can be examined, or an error that says what cannot be and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.reasoning.learned.query_fallback import read_query
from snellen.reasoning.queries.echo import echo
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.query_readings import AmbiguousQuery, QueryReading, UnderstoodQuery

if TYPE_CHECKING:
    from snellen.experiments.design import Protocol
    from snellen.experiments.report import Report
    from snellen.profiles import Profile

CAN: Final = (
    "recognizing a group or class of things (birds, cats …), small or large ones, all or most of its kinds; telling "
    "two from one another, counting, colors, sizes, left from right and above from below, noticing several things; "
    "noticing a change of pictures (rotated, noisy, blurred …) or robustness to it; which model is better; which "
    "answer it favors; whether free answers are true and helpful; and whether a model judges similarity well"
)


class UnexaminableError(BadInput):
    """A query that experiments cannot answer here; the message says what can be asked."""


class AmbiguousQueryError(UnexaminableError):
    """A query with several meanings.

    Attributes:
        readings: Each of them in words, which can be asked instead.
        left_out: What of the query they have no place for, in sentences.
    """

    def __init__(self, message: str, readings: Sequence[str], left_out: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.readings, self.left_out = tuple(readings), tuple(left_out)


def reading_of(query: str, models: Sequence[str], profile: Profile) -> QueryReading:
    """Read a query, which may name models that are examined and others of the profile."""
    return read_query(query, list(dict.fromkeys([*models, *profile.tested])), profile)


def understood(query: str, models: Sequence[str], profile: Profile) -> UnderstoodQuery:
    """Return the meaning of a query.

    Args:
        query: In the user's words, or an echo.
        models: The models that can be examined.
        profile: Says what pictures can show.

    Raises:
        UnexaminableError: It is not understood, is understood in several ways, or names a model that is not examined.
    """
    match reading_of(query, models, profile):
        case UnderstoodQuery() as reading:
            _check(reading.query, models)
            return reading
        case AmbiguousQuery(queries=queries, left_out=left_out):
            readings = [echo(each) for each in queries[:4]]
            listed = " or ".join(f"“{each}”" for each in readings)[:700]
            is_sure = len(readings) > 1
            msg = f"This can mean {listed}: ask one of them." if is_sure else f"Do you mean {listed}? Then ask that."
            raise AmbiguousQueryError(" ".join([*left_out[:3], msg]), readings, left_out[:3])
        case unread:
            asked = " ".join(query.split())[:120]
            msg = f"This cannot be examined here: {asked!r}. {unread.why} You can ask about {CAN}."
            raise UnexaminableError(msg)


def notes_of(reading: UnderstoodQuery) -> list[str]:
    """Say which words were taken for others, and which sentences were left out."""
    taken = [f"“{written}” is read as “{word}”." for written, word in reading.corrected]
    if reading.probability < 1:
        taken.append(f"The question has no form that is known here; {reading.probability:.0%} sure that this is meant.")
    return taken + [f"Not read: “{sentence[:200]}”" for sentence in reading.unread]


def reread(report: Report, profile: Profile) -> ModelQuery:
    """Return the meaning of a report's query, which was understood when the report was opened.

    Raises:
        UnexaminableError: An older version understood it, and this one does not.
    """
    for words in filter(None, (report.understood, report.query)):
        reading = reading_of(words, report.models, profile)
        if isinstance(reading, UnderstoodQuery):
            return reading.query
    msg = f"This is not understood any more: {report.query[:120]!r}."
    raise UnexaminableError(msg)


def echo_of(query: str, models: Sequence[str], profile: Profile) -> str:
    """Return the meaning of a query in words; empty where it is not understood."""
    reading = reading_of(query, models, profile)
    return reading.echo if isinstance(reading, UnderstoodQuery) else ""


def meaning_of(query: str, models: Sequence[str], profile: Profile) -> ModelQuery | None:
    """Return the meaning of a query; None where it is not understood."""
    reading = reading_of(query, models, profile)
    return reading.query if isinstance(reading, UnderstoodQuery) else None


def protocol_of(query: str, models: Sequence[str], profile: Profile) -> Protocol:
    """Return how a query is examined; by choices where it is not understood."""
    reading = reading_of(query, models, profile)
    return reading.query.protocol if isinstance(reading, UnderstoodQuery) else "choice"


def _check(query: ModelQuery, models: Sequence[str]) -> None:
    strangers = [name for each in query.questions for name in each.models if name not in models]
    if strangers:
        msg = f"{strangers[0]} is not among the models that are examined: {', '.join(models)}."
        raise UnexaminableError(msg)
    if query.mixed:
        msg = (
            "Choosing answers, free answers and judging pairs are examined in different ways. Ask one after the other: "
            f"“{echo(query)[:300]}”"
        )
        raise UnexaminableError(msg)
