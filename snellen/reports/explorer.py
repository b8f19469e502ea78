"""Data of the evidence explorer: every trial of an investigation as compact columns, each picture and text once.

The explorer is a part of the page of an investigation, ``templates/explorer``. What it reads is JSON inside the page:
samples and trials as columns of numbers, with texts, lists of choices and pictures by their places in lists of their
own. Whatever the texts say, the template's filter ``tojson`` writes no element, and the script shows them as text.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from snellen.errors import SnellenError
from snellen.experiments.design import IDENTITY
from snellen.reasoning.queries.echo import SPLIT_WORDS
from snellen.scoring.judge_replies import parsed_score

if TYPE_CHECKING:
    from snellen.experiments.design import Arm, Design
    from snellen.experiments.report import Experiment
    from snellen.memory.artifacts import ArtifactStore

Value = TypeVar("Value", bound=Hashable)
TrialRow = dict[str, Any]

_PIXELS: Final = 256
"""The longer side of a picture in the page, at most."""
_FEWEST_PIXELS: Final = 96
"""That of a picture beside very many others."""
_ALL_PIXELS: Final = 64_000_000
"""Pixels of all pictures of a page together; they take about a tenth as many bytes."""
_QUALITY: Final = 85
_NONE: Final = -1
"""Stands in a column for a text or a picture that there is not."""


@dataclass(frozen=True)
class ExplorerData:
    """The data of an explorer.

    Attributes:
        evidence: What `explorer_data` says, ready to be written as JSON.
        pictures: WebP files in base64; an empty text for a picture that is gone.
        numbers: The place of each picture among them, by its id.
    """

    evidence: dict[str, Any]
    pictures: list[str]
    numbers: dict[str, int]

    def has(self, picture_id: str) -> bool:
        """Tell whether a picture is in the page."""
        return bool(picture_id in self.numbers and self.pictures[self.numbers[picture_id]])


@dataclass
class Numbering(Generic[Value]):
    """Distinct values, numbered from 0 in the order in which they were first asked for."""

    numbers: dict[Value, int] = field(default_factory=dict)

    def of(self, value: Value | None) -> int:
        """Return the number of a value, the next one if it is new; -1 of None."""
        return _NONE if value is None else self.numbers.setdefault(value, len(self.numbers))


def explorer_data(
    experiments: Sequence[Experiment], rows: Iterable[TrialRow], models: Sequence[str], store: ArtifactStore
) -> ExplorerData:
    """Gather what the explorer shows.

    Args:
        experiments: Those of the investigation, and behind them those about corrected models.
        rows: Every trial of theirs (`trial_rows`).
        models: The models' names.
        store: Where the pictures are.

    Returns:
        The data. Its `evidence` has `models`, `experiments`, `texts`, `lists` (of the numbers of texts) and two tables
        by columns, `samples` and `trials`: see `_sample_values` and `_trial_values`.
    """
    texts, lists, pictures = Numbering[str](), Numbering[tuple[int, ...]](), Numbering[str]()
    names = Numbering({name: place for place, name in enumerate(models)})
    groups: dict[tuple[int, int, int], list[TrialRow]] = {}
    for row in rows:
        groups.setdefault((row["experiment"] - 1, row["round"], row["arm"]), []).append(row)
    samples, trials = [], []
    for (place, number, which), group in sorted(groups.items()):
        design = experiments[place].design
        where = {"experiment": place, "round": number, "arm": which}
        choices = lists.of(tuple(map(texts.of, group[0]["choices"])))
        samples.append(where | _sample_values(group, design.arms[which], texts, pictures) | {"choices": choices})
        for row in group:
            whose = {"sample": len(samples) - 1, "model": names.of(row["model"])}
            trials.append(whose | _trial_values(row, design, texts))
    evidence = {
        "models": list(names.numbers),
        "experiments": [_described(number, one.design) for number, one in enumerate(experiments, 1)],
        "texts": list(texts.numbers),
        "lists": list(lists.numbers),
        "samples": _by_column(samples),
        "trials": _by_column(trials),
    }
    return ExplorerData(evidence, _embedded(list(pictures.numbers), store), pictures.numbers)


def _sample_values(
    rows: Sequence[TrialRow], arm: Arm, texts: Numbering[str], pictures: Numbering[str]
) -> dict[str, int]:
    """Return what a sample's columns hold: the numbers of pictures and texts.

    `original` is the picture before it was changed, of a pair the first; `truth` the right answer in words, `answer` as
    the design calls it.
    """
    first = rows[0]
    return {
        "picture": pictures.of(next((str(row["picture"]) for row in rows if not row["plain"]), None)),
        "original": pictures.of(first["original"]),
        "label": texts.of(first["label"]),
        "change": texts.of(change_in_words(arm)),
        "origin": texts.of(first["origin"]),
        "truth": texts.of(first["truth"]),
        "answer": texts.of(arm.answer),
    }


def _trial_values(row: TrialRow, design: Design, texts: Numbering[str]) -> dict[str, Any]:
    """Return what a trial's columns hold: numbers of texts, flags, and log-probabilities.

    `plain` says that the original was asked about, `way` how a pair was, `target` what would be right, `text` what was
    written where that is more than `said`, `mean` the mean log-probability of each choice, and `basis` what that is of.
    """
    said = _said(row, design)
    return {
        "plain": int(row["plain"]),
        "way": texts.of(_way_in_words(row)),
        "question": texts.of(row["question"]),
        "target": texts.of(row["target"]),
        "said": texts.of(said),
        "text": texts.of(row["text"] if row["text"] not in {"", said} else None),
        "right": int(row["right"]),
        "mean": [_short(one) for one in row["mean"]],
        "basis": texts.of(row["basis"]),
    }


def change_in_words(arm: Arm) -> str:
    """Say how the pictures of an arm differ from plain ones; nothing where they do not."""
    if arm.select.name == "Pair":
        return SPLIT_WORDS.get(str(arm.select.arguments.get("split")), "") if arm.answer == "transformed" else ""
    kind = str(arm.select.arguments.get("image_type", "photo"))
    style = [] if kind == "photo" else [kind]
    if arm.transform.name != IDENTITY.name:
        arguments = ", ".join(f"{name}={value}" for name, value in arm.transform.arguments.items() if value is not None)
        style.append(f"{arm.transform.name}({arguments})")
    return ", ".join(style)


def _said(row: TrialRow, design: Design) -> str | None:
    """Return what was said: of a judge the score that was read."""
    if design.protocol != "pairs":
        return row["said"] or None
    score = parsed_score(row["text"])
    return None if score is None else f"{score:g}"


def _way_in_words(row: TrialRow) -> str | None:
    """Say how a pair was asked about; None of anything else."""
    if not row["condition"]:
        return None
    counts = {"sensitive": "the change counts", "invariant": "the change does not count"}[row["condition"]]
    return counts + (", second picture first" if row["backward"] else "")


def _short(value: float) -> float | None:
    """Return a log-probability to three digits; None of what JSON has no number for."""
    return round(value, 3) if math.isfinite(value) else None


def _described(number: int, design: Design) -> dict[str, Any]:
    return {
        "number": number, "task": design.task, "question": design.question, "protocol": design.protocol,
        "unit": design.unit.name, "whole_round": design.unit.whole_round, "paired": design.paired,
        "drawn": any(part.of_places for part in design.parts), "answers": design.classes,
        "choices": [part.choices for part in design.parts] if design.protocol == "choice" else [[]],
        "arms_of_task": len(design.parts[0].arms),
    }  # fmt: skip


def _by_column(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _embedded(picture_ids: Sequence[str], store: ArtifactStore) -> list[str]:
    """Return pictures as WebP in base64, the smaller the more there are; an empty text for one that is gone."""
    fitting = math.isqrt(_ALL_PIXELS // max(len(picture_ids), 1))
    pixels = min(max(fitting, _FEWEST_PIXELS), _PIXELS)
    return [_web_picture(one, pixels, store) for one in picture_ids]


def _web_picture(picture_id: str, pixels: int, store: ArtifactStore) -> str:
    try:
        picture = store.get(picture_id)
    except SnellenError:
        return ""
    picture.thumbnail((pixels, pixels))
    buffer = BytesIO()
    picture.convert("RGB").save(buffer, "WEBP", quality=_QUALITY, method=2)
    return base64.b64encode(buffer.getvalue()).decode()
