# ruff: noqa: ANN401 - it stands in for models, with their options
"""Vision models that know things by their colour: enough to look, to err and to be asked again in another way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import PIL.Image
import PIL.ImageDraw
from numpy.typing import NDArray

from snellen.models.vision.detection import Detection
from snellen.models.vision.name_expansion import Expansion, KnownConcept
from snellen.profiles import Profile, load_profile

COLOURS = {"cat": (255, 0, 0), "dog": (0, 255, 0), "bus": (0, 0, 255)}
PROFILE = load_profile("embedded").detecting_alone()
Box = tuple[int, int, int, int]


def drawn(*things: tuple[str, Box], size: tuple[int, int] = (96, 96)) -> PIL.Image.Image:
    """Draw things as rectangles; two of a kind must be apart from left to right."""
    picture = PIL.Image.new("RGB", size, (128, 128, 128))
    for name, (x0, y0, x1, y1) in things:
        PIL.ImageDraw.Draw(picture).rectangle((x0, y0, x1 - 1, y1 - 1), fill=COLOURS[name])
    return picture


@dataclass
class ColourModels:
    """The methods of ``snellen.tools.vision.Models`` that tools and evidence use.

    Attributes:
        blind: Names that the detector does not see, however it is asked.
        answers: What is answered to which question; ``unknown`` to others.
        asked: Every question so far.
    """

    blind: frozenset[str] = frozenset()
    answers: Mapping[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    profile: Profile = PROFILE

    @property
    def expansion(self) -> Expansion:
        return Expansion(
            concepts=tuple(KnownConcept(name, "things") for name in COLOURS), singulars={"thing": "things"}
        )

    def expansion_of(self, pool: str) -> Expansion:
        return self.expansion

    def warning(self, picture: PIL.Image.Image) -> str | None:
        return None

    def troubles(self) -> list[str]:
        return []

    def detect(self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
        return [self._seen(*each) for each in zip(pictures, names, strict=True)]

    def glimpse(
        self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]], *, threshold: float
    ) -> list[list[Detection]]:
        return self.detect(pictures, names)

    def answer(self, pictures: Sequence[PIL.Image.Image], questions: Sequence[str]) -> list[str]:
        self.asked += questions
        return [self.answers.get(question, "unknown") for question in questions]

    def caption(self, pictures: Sequence[PIL.Image.Image]) -> list[str]:
        return [f"a picture of {', '.join(sorted(_present(picture))) or 'nothing'}" for picture in pictures]

    def match(self, pictures: Sequence[PIL.Image.Image], texts: Sequence[str]) -> list[float]:
        return [0.5 for _ in texts]

    def similarity(self, pictures: Sequence[PIL.Image.Image], texts: Sequence[str], **_: Any) -> NDArray[np.float32]:
        shares = [_present(picture) for picture in pictures]
        return np.array(
            [[20 * each.get(text, 0.2 if text == "background" else 0.0) for text in texts] for each in shares],
            np.float32,
        )

    def _seen(self, picture: PIL.Image.Image, names: Sequence[str]) -> list[Detection]:
        seen = [name for name in names if name in COLOURS and name not in self.blind]
        return [Detection(box, 0.9, name) for name in seen for box in _boxes(picture, name)]


def _pixels(picture: PIL.Image.Image, name: str) -> NDArray[np.bool_]:
    matches: NDArray[np.bool_] = (np.asarray(picture.convert("RGB")) == COLOURS[name]).all(axis=-1)
    return matches


def _present(picture: PIL.Image.Image) -> dict[str, float]:
    shares = {name: float(_pixels(picture, name).mean()) for name in COLOURS}
    return {name: share for name, share in shares.items() if share > 0}


def _boxes(picture: PIL.Image.Image, name: str) -> list[Box]:
    matches = _pixels(picture, name)
    columns = np.flatnonzero(matches.any(axis=0))
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1) if len(columns) else []
    boxes = []
    for run in runs:
        rows = np.flatnonzero(matches[:, run].any(axis=1))
        boxes.append((int(run[0]), int(rows[0]), int(run[-1]) + 1, int(rows[-1]) + 1))
    return boxes
