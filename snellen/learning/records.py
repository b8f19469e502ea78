"""Records of learning, as states carry them: needs, collected examples, outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import BadInput
from snellen.reasoning.language.inflection import counted
from snellen.tuning import POOL_OF_TOOL, TuningExample
from snellen.values import Picture, PictureStore, from_json, to_json

if TYPE_CHECKING:
    import PIL.Image

    from snellen.tuning.instances import Box

Json = dict[str, Any]

MAX_MASKS: Final = 255
"""Things of one picture whose masks are kept: as many as one byte of a pixel can name."""


@dataclass(frozen=True)
class Need:
    """One thing that one tool should learn.

    Attributes:
        tool: As programs call it: VQA, LOC, SEG, SELECT, CLASSIFY, REPLACE.
        concept: What it should learn to see; empty for VQA.
        question: VQA: what it answered wrongly.
        answer: VQA: the right answer.
        picture: VQA: the picture that was asked about.
        reason: Why it should be learned, in a sentence.
        doubt: Why a person should say first that it shall be learned, with the evidence; empty where nothing speaks
            against it.
        retried: Whether a task waits for it and is tried again afterwards.
    """

    tool: str
    concept: str = ""
    question: str = ""
    answer: str = ""
    picture: Picture | None = None
    reason: str = ""
    doubt: str = ""
    retried: bool = False

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return asdict(self) | {"picture": None if self.picture is None else to_json(self.picture)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Need:
        """Read what `to_json` wrote."""
        picture = from_json(data["picture"]) if data.get("picture") else None
        return cls(**{**data, "picture": picture if isinstance(picture, Picture) else None})

    def __str__(self) -> str:
        """Name it for people: ``LOC: flamingo``."""
        return f"{self.tool}: {self.concept or self.question}"


def checked_need(data: Json) -> Json:
    """Return a need in JSON form, as it was given.

    Raises:
        ValueError: It is none.
    """
    try:
        need = Need.from_json(data)
    except (BadInput, TypeError, KeyError) as error:
        msg = 'it is no need: {"tool": "LOC", "concept": "penguin"} is one, or a question and an answer for VQA'
        raise ValueError(msg) from error
    if need.tool not in POOL_OF_TOOL:
        msg = f"{str(need.tool)[:40]!r} cannot be taught: {', '.join(POOL_OF_TOOL)} can"
        raise ValueError(msg)
    return data


@dataclass(frozen=True)
class StoredExample:
    """An example whose picture lies in the artifact store.

    Attributes:
        picture: The artifact's id.
        concept: As in `snellen.tuning.TuningExample`.
        boxes: As there.
        question: As there.
        answer: As there.
        masks: The id of one picture with all masks, in which the pixels of the first have the value 1, of the second 2
            and so on; empty where there are none. A state holds many examples, so each takes one id, not one a mask.
    """

    picture: str
    concept: str = ""
    boxes: tuple[Box, ...] = ()
    question: str = ""
    answer: str = ""
    masks: str = ""

    @classmethod
    def of(cls, example: TuningExample, pictures: PictureStore) -> StoredExample:
        """Store an example's picture and masks; storing them again changes nothing."""
        stored = pictures.put(example.picture)
        masks = pictures.put(_joined(example.masks)).id if example.masks else ""
        return cls(stored.id, example.concept, example.boxes, example.question, example.answer, masks)

    def example(self, pictures: PictureStore) -> TuningExample:
        """Read the example back.

        Raises:
            SnellenError: Its picture is not in the store, or damaged.
        """
        masks = _parted(pictures.get(self.masks), len(self.boxes)) if self.masks else ()
        return TuningExample(pictures.get(self.picture), self.concept, self.boxes, self.question, self.answer, masks)


def _joined(masks: Sequence[PIL.Image.Image]) -> PIL.Image.Image:
    """Number the pixels of masks; of masks that overlap the smallest lies on top, so that none is hidden by another."""
    import numpy as np
    import PIL.Image

    inside = [np.asarray(mask) > 0 for mask in masks[:MAX_MASKS]]
    numbers = np.zeros(inside[0].shape, dtype=np.uint8)
    for index in sorted(range(len(inside)), key=lambda each: -int(inside[each].sum())):
        numbers[inside[index]] = index + 1
    return PIL.Image.fromarray(numbers)


def _parted(numbers: PIL.Image.Image, count: int) -> tuple[PIL.Image.Image, ...]:
    """The masks that were joined, each with 255 inside."""
    import numpy as np
    import PIL.Image

    plane = np.asarray(numbers)
    return tuple(PIL.Image.fromarray(np.uint8(255) * (plane == index + 1)) for index in range(min(count, MAX_MASKS)))


@dataclass(frozen=True)
class Collected:
    """The examples that a need can be learned from.

    Attributes:
        need: The need.
        training: One prompt is learned from each.
        held_out: What proves the prompts; none of its pictures is trained on.
        negatives: What prompts are trained against: other concepts, pictures without this one, questions that were
            answered rightly.
        others: Such things, too, in other pictures: they prove that nothing is spoilt, and are not trained on either.
        names: Names that compete with the concept.
        source: Where the pictures come from, for people.
        trouble: Why nothing can be learned, in a sentence; empty where it can.
    """

    need: Need
    training: tuple[StoredExample, ...] = ()
    held_out: tuple[StoredExample, ...] = ()
    negatives: tuple[StoredExample, ...] = ()
    others: tuple[StoredExample, ...] = ()
    names: tuple[str, ...] = ()
    source: str = ""
    trouble: str = ""

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return asdict(self) | {"need": self.need.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Collected:
        """Read what `to_json` wrote; before negatives were kept apart, the others served as such."""
        data = {"negatives": data["others"], **data}
        parts = {name: _examples(data[name]) for name in ("training", "held_out", "negatives", "others")}
        return cls(**{**data, **parts, "need": Need.from_json(data["need"]), "names": tuple(data["names"])})


def _examples(listed: Sequence[Mapping[str, Any]]) -> tuple[StoredExample, ...]:
    return tuple(StoredExample(**{**one, "boxes": tuple(tuple(box) for box in one["boxes"])}) for one in listed)


@dataclass(frozen=True)
class LearningOutcome:
    """The outcome of one need.

    Attributes:
        need: The need.
        kept: Prompts that proved themselves.
        discarded: Prompts that did not.
        reasons: Why each was discarded, in sentences, each once with how often.
        already: Prompts that had been learned before.
        trouble: Why nothing was learned, in a sentence.
        seconds: How long tuning and validation took.
        source: Where the pictures came from, for people.
        pictures: Ids of a few of the pictures that the kept prompts were learned from, to show them.
        helped: Whether the task that waited for it was right when it was tried again; None before that, and where no
            task waits.
    """

    need: Need
    kept: int = 0
    discarded: int = 0
    reasons: tuple[str, ...] = field(default_factory=tuple)
    already: int = 0
    trouble: str = ""
    seconds: float = 0.0
    source: str = ""
    pictures: tuple[str, ...] = ()
    helped: bool | None = None

    @property
    def is_new(self) -> bool:
        """True where something was learned that had not been learned before."""
        return self.kept > self.already

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return asdict(self) | {"need": self.need.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LearningOutcome:
        """Read what `to_json` wrote."""
        listed = {name: tuple(data.get(name, ())) for name in ("reasons", "pictures")}
        return cls(**{**data, **listed, "need": Need.from_json(data["need"])})

    def __str__(self) -> str:
        """Tell it in a sentence."""
        if self.trouble:
            return f"{self.need}: nothing was learned. {self.trouble}"
        before = f", {self.already} known before" if self.already else ""
        return f"{self.need}: {counted(self.kept, 'prompt')} kept, {self.discarded} discarded{before}."
