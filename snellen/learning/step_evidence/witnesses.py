"""Witnesses: the detector, the classifier and VQA, asked once more about a picture."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from snellen.profiles import ClipModel, LocModel
from snellen.reasoning.critique import StepEvidence
from snellen.tools.vision.ask import normalised
from snellen.tools.vision.context import softmax, widened
from snellen.values import Picture, Region

if TYPE_CHECKING:
    import PIL.Image

    from snellen.models.vision.models import Models

PERCEIVING: Final = frozenset({"LOC", "FACEDET", "SEG", "VQA", "SELECT", "CLASSIFY"})
"""Tools whose results can be doubted; the others compute."""

MAX_REGIONS: Final = 12
"""Regions of one step that are looked at again."""
MAX_THINGS: Final = 16
"""Other things of a picture that are looked at."""
FAINT: Final = 0.35
"""Share of the detector's threshold from which on a box is looked at."""
DIM: Final = 0.6
"""The same for things that are something else: less is asked of a box that a name's own query gives."""
APART: Final = 0.4
"""Up to this overlap two boxes are two things."""
SURE: Final = 0.5
"""From this probability on, the classifier takes a box for what was asked."""
HEARSAY: Final = 0.35
"""How far one answer to a question counts: a question may be misunderstood."""
UNTAUGHT: Final = 0.4
"""How far it counts that nobody ever taught the detector what it did not find."""
IGNORANT: Final = 0.2
"""Share of what a witness says that counts where it was never taught the word itself."""


@dataclass(frozen=True)
class Thing:
    """A thing in a picture: where it is, and how probable it is that it is what was asked for."""

    box: tuple[int, int, int, int]
    score: float
    name: str
    probability: float = 0.0


@dataclass
class Witnesses:
    """The models that can be asked, and what they said already.

    Attributes:
        models: The vision models.
        deep: Whether one step is looked into deeply.
        sought: Names of things that the feedback speaks of.
    """

    models: Models
    deep: bool = False
    sought: frozenset[str] = frozenset()
    seconds_a_look: float = 0.0
    _known_things: dict[str, list[Thing]] = field(default_factory=dict)

    @property
    def threshold(self) -> float:
        """The score from which on the detector finds a thing."""
        return self.models.profile.entry(LocModel).threshold

    @cached_property
    def all_names(self) -> list[str]:
        """Every name that a thing may have."""
        return self.models.expansion_of("CLIP").all_names()

    @cached_property
    def detected_names(self) -> frozenset[str]:
        """Every name that the detector knows, what it has learned included."""
        return frozenset(self.models.expansion_of("LOC").all_names())

    def name_probabilities(self, pictures: Sequence[PIL.Image.Image], names: Sequence[str]) -> list[dict[str, float]]:
        """Return the classifier's probabilities of names, these against all others, for each picture."""
        if not pictures:
            return []
        clip = self.models.profile.entry(ClipModel)
        universe = list(dict.fromkeys([*names, *self.all_names, *clip.null]))
        started = time.monotonic()
        logits = self.models.similarity(pictures, [clip.template.format(name) for name in universe], names=universe)
        self.seconds_a_look = (time.monotonic() - started) / len(pictures)
        return [dict(zip(universe, softmax(row.tolist()), strict=True)) for row in logits]

    def cut_out(self, picture: PIL.Image.Image, boxes: Sequence[Sequence[int]], margin: float) -> list[PIL.Image.Image]:
        """Return the parts of a picture that boxes show, each with a margin as a share of its size."""
        return [picture.crop(widened((b[0], b[1], b[2], b[3]), picture.size, margin=margin)) for b in boxes]

    def probabilities(
        self,
        picture: PIL.Image.Image,
        boxes: Sequence[Sequence[int]],
        names: Sequence[str],
        *,
        margins: Sequence[float] = (0.0, 0.15),
    ) -> list[float]:
        """Return the probability that each box shows one of the names: the mean of a close and a wider look."""
        looks = [self.name_probabilities(self.cut_out(picture, boxes, margin), names) for margin in margins]
        return [sum(look[name] for look in pair for name in names) / len(margins) for pair in zip(*looks, strict=True)]

    def things_in(self, picture: PIL.Image.Image, image: Picture) -> list[Thing]:
        """Return everything that the detector sees in a picture, whatever it takes it for; looked at once."""
        if image.id not in self._known_things:
            names = self.models.expansion_of("LOC").all_names()
            threshold = self.threshold * DIM
            detections = self.models.glimpse([picture], [names], threshold=threshold)[0] if names else []
            self._known_things[image.id] = [Thing(one.box, one.score, one.name) for one in detections[:MAX_THINGS]]
        return self._known_things[image.id]

    def ask(self, picture: PIL.Image.Image, questions: Sequence[str]) -> list[str]:
        """Ask VQA."""
        return [normalised(one) for one in self.models.answer([picture] * len(questions), list(questions))]

    def untaught(self, pool: str, words: str) -> list[str]:
        """Return the concepts among the words that the facts know and that the tools of a pool never learned."""
        learned = self.models.expansion_of(pool)
        known = {one.name: one.taught for one in learned.concepts}
        return [name for name in learned.names(words) if not known.get(name, True)]

    def as_far_as_taught(self, words: str, said: Iterable[StepEvidence]) -> Iterator[StepEvidence]:
        """Weaken what the classifier and VQA say about words that they were never taught themselves."""
        trust = IGNORANT if self.untaught("CLIP", words) else 1.0
        yield from (replace(one, support=trust * one.support) for one in said)


def never_taught(who: str, name: str, *, suggests: Any) -> StepEvidence:  # noqa: ANN401 - as in StepEvidence
    """Return the evidence that nobody ever taught a tool a name."""
    return StepEvidence("", "the table of facts", f"the {who} was never taught {name}", -UNTAUGHT, suggests)


def regions_in(value: Any) -> list[Region]:  # noqa: ANN401 - any value of a program
    """Return the regions of a value."""
    listed = [value] if isinstance(value, Region) else value
    return [one for one in listed if isinstance(one, Region)] if isinstance(listed, list | tuple) else []


def scope_of(box: Sequence[int]) -> str:
    """Return the scope of evidence about one box."""
    return json.dumps(list(box))


def support_of(probability: float) -> float:
    """Return the support in [-1, 1] that a probability in [0, 1] gives, never quite certain."""
    return max(-0.97, min(0.97, 2 * probability - 1))
