"""The truth about models: what they answer under the conditions, kept block by block, and what follows from it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, variance
from typing import Any, Final

from benchmarks.outside.conditions import BLOCK, QuestionBlock, condition
from benchmarks.outside.judging import JUDGED, judged
from benchmarks.outside.truth_archive import ARCHIVE, archived_lines
from snellen.models.under_test import ModelUnderTest, Question

SETTLED: Final = 2.6
"""Standard errors between a mean and its bar, from which on it is known which is larger."""
_WORDS: Final = 6
"""Tokens of a free answer."""


@dataclass(frozen=True)
class Answered:
    """Answers to a block.

    Attributes:
        value: For each picture whether the answer is right, or how good it is.
        first: For each picture whether the answer is the first one that the question lists, or yes.
        chance: The share that is right by guessing.
    """

    value: tuple[float, ...]
    first: tuple[bool, ...]
    chance: float

    @property
    def mean(self) -> float:
        """The mean value."""
        return fmean(self.value)

    @property
    def skill(self) -> float:
        """The mean value where guessing is worth 0 and being always right 1."""
        return (self.mean - self.chance) / (1 - self.chance)


def answered(model: ModelUnderTest, block: QuestionBlock) -> Answered:
    """Ask a model about a block."""
    if not block.choices:
        said = model.answer([Question((one.picture,), block.text) for one in block.shown], tokens=_WORDS)
        right = [_plain(text) == _plain(answer) for text, answer in zip(said, block.answers, strict=True)]
        return Answered(tuple(map(float, right)), (False,) * len(right), block.chance)
    ranked = model.rank([Question((one.picture,), block.text, block.choices) for one in block.shown])
    value = tuple(float(one.choice == shown.right) for one, shown in zip(ranked, block.shown, strict=True))
    listed = sorted(range(len(block.choices)), key=lambda place: block.text.find(block.choices[place]))
    first = listed[0] if " or " in block.text else 0
    return Answered(value, tuple(one.choice == first for one in ranked), block.chance)


def _plain(text: str) -> str:
    return text.casefold().strip(" .").replace(" ", "")


@dataclass(frozen=True)
class Measurement:
    """A measurement that a statement needs: a model under a condition, in some of its formats."""

    model: str
    condition: str
    formats: tuple[str, ...]


@dataclass
class TruthTable:
    """Measurements, a file for each model, condition and format.

    Attributes:
        folder: Where new ones are kept.
        read: Reads a model under test.
        fingerprint: Names what a model is; another one is measured anew.
        pictures: Of each condition.
        archive: What was measured before.
    """

    folder: Path
    read: Callable[[str], ModelUnderTest]
    fingerprint: Callable[[str], str]
    pictures: int
    archive: Path = ARCHIVE
    _kept: dict[Path, dict[int, Answered]] = field(default_factory=dict)

    def blocks(self, name: str) -> int:
        """Return how many blocks of each format of a condition are measured."""
        return math.ceil(self.pictures / BLOCK / len(formats_of(name)))

    def measure(self, wanted: Iterable[Measurement], told: Callable[[str], Any] = lambda _: None) -> None:
        """Measure what is not known yet: each picture is drawn once for all models.

        Args:
            wanted: What is needed.
            told: Called with what was measured.
        """
        models: dict[tuple[str, str], list[str]] = {}
        for one in wanted:
            for way in one.formats:
                names = models.setdefault((one.condition, way), [])
                names += [one.model] if one.model not in names else []
        for (name, way), names in models.items():
            for number in range(self.blocks(name)):
                missing = [model for model in names if number not in self._of(model, name, way)]
                if missing:
                    self._measure(missing, name, way, number)
            told(f"{name} ({way}): {', '.join(names)}")

    def _measure(self, models: Sequence[str], name: str, way: str, number: int) -> None:
        if name in JUDGED:
            found = [judged(self.read(model), name, number) for model in models]
            answers = [Answered(tuple(value), (False,) * len(value), 0) for value in found]
        else:
            block = condition(name).block(way, number)
            answers = [answered(self.read(model), block) for model in models]
        for model, answer in zip(models, answers, strict=True):
            self._of(model, name, way)[number] = answer
            file = self._file(model, name, way)
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as lines:
                row = {"block": number, "value": answer.value, "first": answer.first, "chance": answer.chance}
                lines.write(json.dumps(row) + "\n")

    def of(self, model: str, name: str, way: str) -> list[Answered]:
        """Return the blocks of a model under a condition in a format, in their order."""
        known = self._of(model, name, way)
        return [known[number] for number in range(self.blocks(name))]

    def _file(self, model: str, name: str, way: str) -> Path:
        return self.folder / name.replace("/", "-").replace(" ", "_") / way / f"{model}-{self.fingerprint(model)}.jsonl"

    def _of(self, model: str, name: str, way: str) -> dict[int, Answered]:
        file = self._file(model, name, way)
        if file not in self._kept:
            lines = archived_lines(file.relative_to(self.folder).as_posix(), self.archive)
            lines += file.read_text(encoding="utf-8").splitlines() if file.exists() else []
            self._kept[file] = dict(_read(lines))
        return self._kept[file]


def _read(lines: Iterable[str]) -> Iterable[tuple[int, Answered]]:
    """Read blocks; a line that was cut off is measured again."""
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        yield row["block"], Answered(tuple(row["value"]), tuple(row["first"]), row["chance"])


def formats_of(name: str) -> tuple[str, ...]:
    """Return the formats of a condition."""
    return ("scored",) if name in JUDGED else tuple(condition(name).formats)


@dataclass(frozen=True)
class Estimate:
    """A mean over pictures, the formats weighing alike; what is drawn independently are blocks.

    Attributes:
        means: By format.
        error: The standard error of their mean.
    """

    means: Mapping[str, float]
    error: float

    @classmethod
    def of(cls, values: Mapping[str, Sequence[float]]) -> Estimate:
        """Estimate from the values of the blocks of each format, two of each at least."""
        # As if either end of what is possible had been seen once: blocks that are all right are not certain.
        errors = [(variance(each) + 1 / len(each)) / len(each) for each in values.values()]
        return cls({way: fmean(each) for way, each in values.items()}, math.sqrt(sum(errors)) / len(values))

    @property
    def mean(self) -> float:
        """The mean of the formats."""
        return fmean(self.means.values())

    def above(self, bar: float) -> bool | None:
        """Tell whether the mean is above a bar; None where that is not settled, or formats disagree."""
        sides = {mean > bar for mean in self.means.values()}
        if len(sides) > 1 or abs(self.mean - bar) < SETTLED * self.error:
            return None
        return sides.pop()
