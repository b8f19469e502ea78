"""The parts of an export, in whatever form it is written: tables of rows, and runs of models over samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Final, Literal

Kind = Literal["text", "whole", "number", "flag", "texts", "numbers", "number lists", "picture"]
"""What a column holds. A picture is named in the rows by what ``ExportSource.picture`` takes; None where there is
none."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class ExportTable:
    """Rows of one kind.

    Attributes:
        name: A word.
        columns: What each column holds, in their order.
        rows: Yields them; each time anew.
        about: What a row is, in a sentence.
    """

    name: str
    columns: Mapping[str, Kind]
    rows: Callable[[], Iterator[Row]]
    about: str


@dataclass(frozen=True)
class AskedQuestion:
    """One question that was put to a model, with its answer.

    Attributes:
        id: Its name, once in a run.
        pictures: What was shown, by what ``ExportSource.picture`` takes, in this order.
        question: The words.
        choices: What was chosen from; none where the answer was free.
        target: The right answer.
        said: The answer.
        scores: What it is worth, by the name of the scorer: right or not, or a number. A scorer that has nothing to say
            of it is left out.
        about: What else is known.
        measured: When, ISO 8601 in UTC; empty where that is not known.
        trial: The trial's id; empty where it has none.
    """

    id: str
    pictures: Sequence[str]
    question: str
    choices: Sequence[str]
    target: str
    said: str
    scores: Mapping[str, bool | float]
    about: Mapping[str, Any] = field(default_factory=dict)
    measured: str = ""
    trial: str = ""


@dataclass(frozen=True)
class Stated:
    """A claim about a model, and what the evidence says of it.

    Attributes:
        claim: In words.
        verdict: Whether it holds.
        figures: What it is about: its mean with the ends of its interval.
        interval: The name of the interval.
        n: Independent units that it was observed on.
        unit: What they are.
    """

    claim: str
    verdict: str
    figures: Mapping[str, float]
    interval: str
    n: int
    unit: str


@dataclass(frozen=True)
class ModelRun:
    """The run of one model over the samples of one experiment or benchmark.

    Attributes:
        name: For a file: lower case letters, digits and hyphens.
        task: What was asked for, as a name of 50 characters at most: viewers show it in large letters.
        about: What was asked for, in sentences.
        model: Who was asked.
        created: When the first of it was measured, ISO 8601 in UTC; empty where that is not known.
        data: What the samples are of.
        asked: Yields the questions with their answers.
        figures: For each scorer its metrics.
        claims: That were examined.
        whole: Whether all of it was measured that was to be.
        settings: What it was measured with.
        facts: What else is known.
    """

    name: str
    task: str
    about: str
    model: str
    data: str
    asked: Callable[[], Iterable[AskedQuestion]]
    figures: Mapping[str, Mapping[str, float]]
    created: str = ""
    claims: Sequence[Stated] = ()
    whole: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExportSource:
    """Something that was measured, or made to be measured with.

    Attributes:
        name: For a folder.
        title: In a line.
        about: In a paragraph.
        tables: Its tables, the main one first.
        picture: Returns the PNG of a picture that is named in rows and runs.
        runs: Who did what with which samples; none where nobody was asked yet.
        no_runs: Why there are none, and what to do.
        notes: What to know before believing it, in sentences.
    """

    name: str
    title: str
    about: str
    tables: Sequence[ExportTable]
    picture: Callable[[str], bytes]
    runs: Sequence[ModelRun] = ()
    no_runs: str = ""
    notes: Sequence[str] = ()


LICENCE: Final = "Pictures of the microworld are drawn with Twemoji graphics, CC-BY 4.0."
"""What goes with pictures of the profile's own world."""


def span(name: str, value: float | None, ends: Sequence[float] | None = None) -> dict[str, float]:
    """Return a metric and the ends of its interval as three metrics; none where it has no value."""
    if value is None:
        return {}
    low_and_high = {} if ends is None else {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return {name: value, **low_and_high}


def line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(text.split())


def slug(text: str, most: int = 80) -> str:
    """Return a text as a name for files: words of lower case letters and digits with hyphens between, cut at a word."""
    letters = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in text.casefold())
    words = " ".join(word[:most] for word in letters.split())
    return shorten(words, most, placeholder="").replace(" ", "-") or "unnamed"
