"""Instances to learn from, tuned prompts, and the verdict of validation on them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class TuningExample:
    """A picture, and what the tool is expected to say of it.

    Attributes:
        picture: What is looked at; for CLIP, the cut-out region.
        concept: CLIP, REPLACE: what the picture shows. LOC: what is looked for. SEG: what the masks show. Empty
            for VQA.
        boxes: LOC: where the concept is, in pixels ``(x0, y0, x1, y1)``; none where the picture lacks it.
            REPLACE: where it is painted; without any, in the middle.
        masks: SEG: the outlines of what the picture shows of the concept, one for each of ``boxes`` (L mode, the
            picture's size, 255 inside).
        question: VQA: what is asked, in lower case as the tool asks it.
        answer: VQA: the right answer.
    """

    picture: PIL.Image.Image
    concept: str = ""
    boxes: tuple[Box, ...] = ()
    question: str = ""
    answer: str = ""
    masks: tuple[PIL.Image.Image, ...] = ()

    def digest(self) -> str:
        """A hash of everything that it says."""
        size = self.picture.size
        words = repr((size, self.picture.mode, self.concept, self.boxes, self.question, self.answer))
        masks = b"".join(mask.tobytes() for mask in self.masks)
        return hashlib.sha256(words.encode() + self.picture.tobytes() + masks).hexdigest()


@dataclass(frozen=True, eq=False)
class Instance:
    """One thing to learn: it gets a prompt of its own (CLOVA section 3.4).

    Attributes:
        example: What the tool shall say.
        negatives: What it shall go on saying: pictures of related concepts (CLIP), without the concept (LOC), other
            questions with their right answers (VQA).
        names: CLIP and LOC: names that compete with the concept, such as those of its group.
    """

    example: TuningExample
    negatives: tuple[TuningExample, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def concept(self) -> str:
        """The concept that the prompt will be stored under."""
        return self.example.concept

    @property
    def examples(self) -> tuple[TuningExample, ...]:
        """The example, then the negatives."""
        return (self.example, *self.negatives)

    @cached_property
    def id(self) -> str:
        """A hash of everything that it says: the same instance has the same name, wherever it stands."""
        parts = [*(each.digest() for each in self.examples), repr(self.names)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class TunedPrompt:
    """A prompt learned from one instance.

    Attributes:
        instance: The id of the instance.
        pool: One of `snellen.tuning.POOLS`.
        concept: What it is for; empty for VQA.
        prompt: ``(vectors, width)`` float32, or ``(layers, vectors, width)`` for CLIP.
        feature: ``(d,)`` float32: what the unprompted tool saw in the picture.
        steps: Updates that it took.
        loss: The loss at its end.
        accepted: Whether training ended because the tool said what it shall, rather than for lack of steps.
    """

    instance: str
    pool: str
    concept: str
    prompt: NDArray[np.float32]
    feature: NDArray[np.float32]
    steps: int
    loss: float
    accepted: bool


@dataclass(frozen=True)
class Tally:
    """Count of right answers among all."""

    right: int
    of: int

    @property
    def share(self) -> float:
        """The accuracy; 1 where there was nothing to get wrong."""
        return self.right / self.of if self.of else 1.0

    def __str__(self) -> str:
        return f"{self.right} of {self.of}"


@dataclass(frozen=True, eq=False)
class Verdict:
    """Verdict of validation on a prompt.

    Attributes:
        tuned: The prompt.
        kept: Whether it may be stored.
        reason: Why, in a sentence.
        expected: Held-out pictures on which the tool says what it shall, with the prompt.
        expected_before: The same without it.
        others: Answers about other things that are right with the prompt.
        others_before: The same without it.
    """

    tuned: TunedPrompt
    kept: bool
    reason: str
    expected: Tally
    expected_before: Tally
    others: Tally
    others_before: Tally


@dataclass(frozen=True, eq=False)
class TuningProgress:
    """Progress of tuning.

    Attributes:
        instances: How many are to be learned.
        finished: Prompts that ended with this step, accepted or not.
        done: How many ended so far, these included.
        step: Updates that the current chunk has taken.
    """

    instances: int
    finished: tuple[TunedPrompt, ...]
    done: int
    step: int
