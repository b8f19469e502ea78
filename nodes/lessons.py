"""What a learning run is about, and what has been collected for it, as states carry it from node to node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tools.tuning import Example
from tools.values import Picture, PictureStore, from_json, to_json

if TYPE_CHECKING:
    from tools.tuning.records import Box

Json = dict[str, Any]


@dataclass(frozen=True)
class Need:
    """One thing that one tool should learn.

    Attributes:
        tool: As programs call it: VQA, LOC, SELECT, CLASSIFY.
        concept: What it should learn to see; empty for VQA.
        question: VQA: what it answered wrongly.
        answer: VQA: the right answer.
        picture: VQA: the picture that was asked about.
        reason: Why it should be learned, in a sentence.
    """

    tool: str
    concept: str = ""
    question: str = ""
    answer: str = ""
    picture: Picture | None = None
    reason: str = ""

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


@dataclass(frozen=True)
class StoredExample:
    """An example whose picture lies in the artifact store.

    Attributes:
        picture: The artifact's id.
        concept: As in `tools.tuning.Example`.
        boxes: As there.
        question: As there.
        answer: As there.
    """

    picture: str
    concept: str = ""
    boxes: tuple[Box, ...] = ()
    question: str = ""
    answer: str = ""

    @classmethod
    def of(cls, example: Example, pictures: PictureStore) -> StoredExample:
        """Store an example's picture; storing it again changes nothing."""
        stored = pictures.put(example.picture)
        return cls(stored.id, example.concept, example.boxes, example.question, example.answer)

    def example(self, pictures: PictureStore) -> Example:
        """Read the example back.

        Raises:
            SnellenError: Its picture is not in the store, or damaged.
        """
        return Example(pictures.get(self.picture), self.concept, self.boxes, self.question, self.answer)


@dataclass(frozen=True)
class Collected:
    """What a need can be learned from.

    Attributes:
        need: The need.
        training: One prompt is learned from each.
        held_out: What proves the prompts; none of its pictures is trained on.
        others: What must not be spoilt: other concepts, pictures without it, questions that were answered rightly.
        names: Names that compete with the concept.
        source: Where the pictures come from, for people.
        trouble: Why nothing can be learned, in a sentence; empty where it can.
    """

    need: Need
    training: tuple[StoredExample, ...] = ()
    held_out: tuple[StoredExample, ...] = ()
    others: tuple[StoredExample, ...] = ()
    names: tuple[str, ...] = ()
    source: str = ""
    trouble: str = ""

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return asdict(self) | {"need": self.need.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Collected:
        """Read what `to_json` wrote."""
        parts = {name: _examples(data[name]) for name in ("training", "held_out", "others")}
        return cls(**{**data, **parts, "need": Need.from_json(data["need"]), "names": tuple(data["names"])})


def _examples(listed: Sequence[Mapping[str, Any]]) -> tuple[StoredExample, ...]:
    return tuple(StoredExample(**{**one, "boxes": tuple(tuple(box) for box in one["boxes"])}) for one in listed)


@dataclass(frozen=True)
class Learned:
    """What came of one need.

    Attributes:
        need: The need.
        kept: Prompts that proved themselves.
        discarded: Prompts that did not.
        reasons: Why each was discarded, in sentences, each once with how often.
        already: Prompts that had been learned before.
        trouble: Why nothing was learned, in a sentence.
        seconds: How long tuning and validation took.
    """

    need: Need
    kept: int = 0
    discarded: int = 0
    reasons: tuple[str, ...] = field(default_factory=tuple)
    already: int = 0
    trouble: str = ""
    seconds: float = 0.0

    def to_json(self) -> Json:
        """Return it as plain JSON."""
        return asdict(self) | {"need": self.need.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Learned:
        """Read what `to_json` wrote."""
        return cls(**{**data, "need": Need.from_json(data["need"]), "reasons": tuple(data["reasons"])})

    def __str__(self) -> str:
        """Tell it in a sentence."""
        if self.trouble:
            return f"{self.need}: nothing was learned. {self.trouble}"
        before = f", {self.already} known before" if self.already else ""
        return f"{self.need}: {self.kept} prompts kept, {self.discarded} discarded{before}."
