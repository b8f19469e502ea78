"""A benchmark of free answers as a folder: ``benchmark.json``, ``questions.jsonl``, ``scenes.jsonl``, ``pictures/``.

Questions that were rejected are kept with their reasons in ``rejected.jsonl``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from snellen.datasets.benchmark_folders import (
    CHANGED,
    PICTURES,
    checked_head,
    content_of,
    picture_trouble,
    read_head,
    read_rows,
)
from snellen.errors import BadInput
from snellen.scoring.scene_graph import MAX_FACTS, MAX_NAME, Fact, SceneGraph

VERSION: Final = 1
QUESTIONS: Final = "questions.jsonl"
REJECTED: Final = "rejected.jsonl"
SCENES: Final = "scenes.jsonl"

Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
Caption = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
File = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.png$")]
Reason = Literal[
    "program fails", "program disagrees", "program ignores the scene", "ungrammatical", "incomplete", "taboo words",
    "ambiguous", "trivial", "not entailed", "duplicate",
]  # fmt: skip
"""Why a question was rejected: the first three by its program (filter one), the others by its text (filter two)."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Tuple(_Record):
    """A tuple of a scene graph, as it is stored: `snellen.scoring.Fact`."""

    entity: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
    attribute: str = ""
    relation: str = ""
    target: str = ""
    kind: str = ""

    @classmethod
    def of(cls, fact: Fact) -> Tuple:
        """Return the stored form of a fact."""
        return cls(
            entity=fact.entity, attribute=fact.attribute, relation=fact.relation, target=fact.target, kind=fact.kind
        )

    @property
    def fact(self) -> Fact:
        """The fact.

        Raises:
            BadInput: It is none.
        """
        return Fact(self.entity, self.attribute, self.relation, self.target, self.kind)


class DescribedScene(_Record):
    """A picture, and what is known of it.

    Attributes:
        name: In its source.
        picture: Its file in ``pictures``.
        digest: SHA-256 of that.
        caption: All of it in words.
        tuples: All of it as a scene graph.
    """

    name: Name
    picture: File
    digest: Digest
    caption: Caption
    tuples: list[Tuple] = Field(min_length=1, max_length=MAX_FACTS)

    @property
    def graph(self) -> SceneGraph:
        """Its scene graph, of the tuples that are some."""
        return SceneGraph(self._facts(), caption=self.caption)

    @property
    def unreadable(self) -> int:
        """The number of its tuples that cannot be read: somebody has changed them."""
        return len(self.tuples) - len(self._facts())

    def _facts(self) -> list[Fact]:
        facts = []
        for one in self.tuples:
            with suppress(BadInput):
                facts.append(one.fact)
        return facts


class QuestionDraft(_Record):
    """A question as it was written, with its answer and the program that verifies that.

    Attributes:
        kind: What it asks for.
        question: For a free answer.
        answer: In a sentence.
        program: Defines ``verify(scene_graph)``: see `snellen.scoring.verification`.
    """

    kind: Name
    question: Text
    answer: Text
    program: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class Item(_Record):
    """A question of a benchmark.

    Attributes:
        id: Its name in the benchmark.
        scene: The name of its scene.
        kind: What it asks for.
        question: It.
        answer: The right answer.
        program: What verified that.
        output: What the program said.
        reason: Why it was rejected; empty for those that were kept.
        note: More about that.
    """

    id: Name
    scene: Name
    kind: Name
    question: Text
    answer: Text
    program: str
    output: str = ""
    reason: Reason | Literal[""] = ""
    note: str = ""


class ProveBenchmarkHeader(_Record):
    """The header of a benchmark."""

    version: int
    source: str
    seed: int
    pictures: int
    data: str = ""
    content: str = ""
    rows: int
    funnel: dict[str, int]
    unreadable_tuples: int = 0
    left_out: list[str] = Field(default_factory=list)


@dataclass(frozen=True)
class ProveBenchmark:
    """A benchmark that was read.

    Attributes:
        folder: Where it is.
        source: What its pictures are.
        seed: That it was built from.
        items: The questions that can be used.
        scenes: Their scenes, by name.
        funnel: How many questions there were, and how many were rejected for which reason.
        left_out: Why others cannot be used, in sentences that name the row.
        unreadable_tuples: How many tuples of its pictures could not be read when it was built.
    """

    folder: Path
    source: str
    seed: int
    items: Sequence[Item]
    scenes: Mapping[str, DescribedScene]
    funnel: Mapping[str, int]
    left_out: Sequence[str]
    unreadable_tuples: int = 0

    def picture(self, scene: str) -> Path:
        """Return the place of a scene's picture."""
        return self.folder / PICTURES / self.scenes[scene].picture


def read_benchmark(folder: Path) -> ProveBenchmark:
    """Read a benchmark, and see that it is as it was built.

    Args:
        folder: Where it was built.

    Returns:
        It; rows that cannot be used are left out and told.

    Raises:
        BadInput: It is none, it is not finished, it is of another version, or no row of it can be used.
    """
    read = read_head(folder, (QUESTIONS, SCENES), kind="questions", version=VERSION)
    head = checked_head(folder, read, ProveBenchmarkHeader)
    left_out: list[str] = [*head.left_out]
    scenes: dict[str, DescribedScene] = {}
    for row, scene in read_rows(folder / SCENES, DescribedScene, left_out):
        trouble = _broken(folder, scene) or (
            f"there is another {scene.name!r} before it" if scene.name in scenes else ""
        )
        if trouble:
            left_out.append(f"Row {row} of {SCENES} is left out: {trouble}.")
        else:
            scenes[scene.name] = scene
            left_out += [f"{scene.unreadable} tuples in row {row} of {SCENES} cannot be read."] * bool(scene.unreadable)
    items: dict[str, Item] = {}
    for row, item in read_rows(folder / QUESTIONS, Item, left_out):
        trouble = f"there is another {item.id!r} before it" if item.id in items else ""
        trouble = trouble or (f"its scene {item.scene!r} cannot be used" if item.scene not in scenes else "")
        if trouble:
            left_out.append(f"Row {row} of {QUESTIONS} is left out: {trouble}.")
        else:
            items[item.id] = item
    known = len(items) + sum(line.startswith("Row ") and QUESTIONS in line for line in left_out)
    if known != head.rows:
        left_out.append(f"{QUESTIONS} has {known} rows, not the {head.rows} that were built.")
    if head.content and head.content != content_of(folder, (SCENES, QUESTIONS)):
        left_out.append(CHANGED)
    if not items:
        msg = f"The benchmark in {folder} has no usable question. {' '.join(left_out[:3])}".rstrip()
        raise BadInput(msg)
    return ProveBenchmark(
        folder=folder, source=head.source, seed=head.seed, items=list(items.values()), scenes=scenes,
        funnel=head.funnel, left_out=left_out, unreadable_tuples=head.unreadable_tuples,
    )  # fmt: skip


def _broken(folder: Path, scene: DescribedScene) -> str:
    """Say what is wrong with a scene."""
    trouble = picture_trouble(folder, scene.picture, scene.digest)
    return trouble or ("no tuple of it can be read" if scene.unreadable == len(scene.tuples) else "")
