"""Tasks with known truth: what is asked, about which scenes, and what is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from PIL import Image

from snellen.microworld.concepts import Share
from snellen.microworld.drawing import draw
from snellen.microworld.scenes import Scene

Family = Literal["vqa", "statement", "edit", "tag"]
Split = Literal["train", "val", "test"]

FAMILIES: tuple[Family, ...] = ("vqa", "statement", "edit", "tag")
SPLITS: tuple[Split, ...] = ("train", "val", "test")
SHARES: tuple[Share, ...] = ("known", "novel", "mixed")

Operation = Literal["colorpop", "bgblur", "replace", "emoji"]
Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class TextAnswer:
    """The right answer is a word or a number.

    Attributes:
        text: The answer, lower case; numbers as digits, truth as `yes` or `no`.
    """

    text: str


@dataclass(frozen=True)
class TaggedRegion:
    """A region with its name; `box` is (x0, y0, x1, y1) in pixels, x1 and y1 exclusive."""

    name: str
    box: Box


@dataclass(frozen=True)
class TagAnswer:
    """The right answer is a set of named regions, at least one."""

    regions: tuple[TaggedRegion, ...]


@dataclass(frozen=True)
class EditStep:
    """One thing that has to be done to the picture.

    Attributes:
        operation: `colorpop` and `bgblur` leave the objects as they are and change all the rest; `replace` and
            `emoji` change the objects and leave the rest.
        objects: Indices of the scene's objects that are meant.
        becomes: What they are replaced with, or the emoji that covers them; "" for the other operations.
    """

    operation: Operation
    objects: tuple[int, ...]
    becomes: str = ""


@dataclass(frozen=True)
class EditAnswer:
    """The right answer is the picture with these steps done to it."""

    steps: tuple[EditStep, ...]


Expected = TextAnswer | TagAnswer | EditAnswer


@dataclass(frozen=True)
class WorldTask:
    """One task.

    Attributes:
        id: Unique name, which also says how to draw it again.
        family: `vqa`, `statement`, `edit` or `tag`.
        type: The kind of task within its family (`counting`).
        instruction: What is asked, in words.
        scenes: What the pictures show; two (left, right) for a statement, else one.
        expected: What is right.
        concepts: The key concepts: those the instruction names, or those that answer it.
        share: From which concepts the task was drawn.
        split: `train`, `val` or `test`.
        seed: The seed it was drawn from.
        blind: The instruction with its concepts, colours and numbers masked: all that a blind baseline may use.
        options: Masked words that the answer may be one of, so that "always the first one" is a blind answer too.
    """

    id: str
    family: Family
    type: str
    instruction: str
    scenes: tuple[Scene, ...]
    expected: Expected
    concepts: tuple[str, ...]
    share: Share
    split: Split
    seed: int
    blind: str
    options: tuple[str, ...] = ()

    def pictures(self) -> list[Image.Image]:
        """Draw the pictures, each 128 × 128 RGB, in the order in which the instruction counts them."""
        return [draw(scene) for scene in self.scenes]

    def to_json(self) -> dict[str, Any]:
        """Return the task as plain JSON data."""
        data = asdict(self)
        return {**data, "expected": {"kind": type(self.expected).__name__, **data["expected"]}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> WorldTask:
        """Read back what `to_json` wrote.

        Raises:
            KeyError: If a field is missing, or the kind of expectation is unknown.
        """
        changed = {
            "scenes": tuple(Scene.from_json(item) for item in data["scenes"]),
            "expected": _expected(data["expected"]),
            "concepts": tuple(data["concepts"]),
            "options": tuple(data["options"]),
        }
        return cls(**{**data, **changed})


def _expected(data: dict[str, Any]) -> Expected:
    if data["kind"] == "TextAnswer":
        return TextAnswer(data["text"])
    if data["kind"] == "TagAnswer":
        return TagAnswer(tuple(TaggedRegion(item["name"], _box(item["box"])) for item in data["regions"]))
    if data["kind"] == "EditAnswer":
        steps = (EditStep(item["operation"], tuple(item["objects"]), item["becomes"]) for item in data["steps"])
        return EditAnswer(tuple(steps))
    raise KeyError(data["kind"])


def _box(numbers: Sequence[int]) -> Box:
    x0, y0, x1, y1 = numbers
    return x0, y0, x1, y1


@dataclass(frozen=True)
class TaskOutcome:
    """Outcome of a task.

    Attributes:
        answer: The answer as text, number or truth value; None where there is none.
        regions: The named regions that the result shows, for `tag`.
        picture: The resulting picture, for `edit`.
        error: Why there is no result, in one sentence; "" where there is one.
    """

    answer: str | float | bool | None = None
    regions: tuple[TaggedRegion, ...] = ()
    picture: Image.Image | None = field(default=None, compare=False)
    error: str = ""


@dataclass(frozen=True)
class Score:
    """Score of an outcome.

    Attributes:
        value: Between 0 and 1: right or wrong, or the F1 of a tag task.
        correct: Whether nothing at all is wrong with it.
        reason: Where it is wrong, in a few words; "" where it is right.
    """

    value: float
    correct: bool
    reason: str = ""
