"""Alignment of a picture with its label: the check that APEX leaves to its generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError

if TYPE_CHECKING:
    import PIL.Image

    from snellen.tools.calls import ToolCall
    from snellen.tools.samples.select import Selected

HIDING: Final = frozenset(
    {
        "ApplyCutMix",
        "ApplyMixUp",
        "OverlayColor",
        "PasteGeneratedObjectAtRandomPosition",
        "PasteGeometricShapeAtRandomPosition",
        "PasteTextAtRandomPosition",
        "ZoomAtRandomPosition",
    }
)
"""Transforms after which a picture need not show any more what it showed. The others change how it looks, and whether a
model still recognizes it is what experiments ask, so no other model may decide that beforehand."""

Match = Callable[["PIL.Image.Image", Sequence[str]], Sequence[float]]
"""The probability that each text describes a picture."""


class NotShown(SnellenError):  # noqa: N818 - read aloud as what happened
    """None of many pictures shows what it should, or can be changed as it should be.

    Attributes:
        tried: How many.
    """

    def __init__(self, message: str, tried: int) -> None:
        super().__init__(message)
        self.tried = tried


@dataclass(frozen=True)
class Alignment:
    """Compares pictures with their labels.

    Attributes:
        match: The matcher of the profile.
        least: The probability below which a picture does not show what it should.
    """

    match: Match
    least: float = 0.3

    def fits(self, selected: Selected, picture: PIL.Image.Image, transform: ToolCall) -> bool:
        """Tell whether a picture shows what it should.

        A source that knows what it drew is believed; then only what may hide the thing is looked at.

        Args:
            selected: As it came from its source.
            picture: After it was transformed.
            transform: How it was.
        """
        looked = [] if selected.certain else [selected.picture]
        looked += [picture] if transform.name in HIDING else []
        return all(self.match(one, [selected.class_name])[0] >= self.least for one in looked)
