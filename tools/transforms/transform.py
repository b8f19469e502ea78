"""The transform protocol: the pictures that transforms work on, and how a call is applied."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Protocol

import numpy as np
from PIL import Image
from pydantic import Field

from snellen.errors import BadInput, SnellenError
from snellen.tools.calls import Declarations, ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Box = tuple[int, int, int, int]
    Pixels = NDArray[np.uint8]

Channel = Annotated[int, Field(ge=0, le=255)]
Colour = tuple[Channel, Channel, Channel]
"""Red, green and blue."""
Factor = Annotated[float, Field(ge=0, le=100)]
Repeat = Annotated[int, Field(ge=1, le=20)]
ANY: Final = "random"
"""Asks for an object of any class (APEX, section 3.4)."""
SAME: Final = "same"
"""Asks for an object of the sample's own class."""
OTHER: Final = "other"
"""Asks for an object of any other class than the sample's."""


class ParameterOutOfRange(BadInput):
    """A picture cannot be changed as much as the call says; the message gives the bound. Another picture may."""


class Studio(Protocol):
    """Studio that samples come from; transforms that need more than the sample's pixels ask it."""

    def another(self, dice: np.random.Generator) -> Image.Image:
        """Return the picture of another sample, of any class and size."""
        ...

    def cut_out(self, class_name: str, side: int, dice: np.random.Generator) -> Image.Image:
        """Return an object on nothing: RGBA, at most `side` pixels high and wide.

        Args:
            class_name: A class, `ANY`, or `SAME` or `OTHER` than what the sample shows.
            side: In pixels.
            dice: Choose the object.

        Raises:
            BadInput: It has no such object.
        """
        ...

    def occupied(self) -> Sequence[Box]:
        """Return where the sample's objects are: (x0, y0, x1, y1) in pixels; nothing where that is not known."""
        ...

    def restyled(self, *, style: str, weather: str) -> Image.Image:
        """Return the sample as it would be in that style, or in that weather; the empty one stays as it is.

        Raises:
            BadInput: It has no such style or weather.
        """
        ...


@dataclass(frozen=True)
class SourcePicture:
    """A picture that a transform works on.

    Attributes:
        picture: RGB, of any size.
        dice: What is drawn at random.
        studio: Where it is from; `None` where nothing but its pixels is known.
    """

    picture: Image.Image
    dice: np.random.Generator
    studio: Studio | None = None

    def ask(self, what: str) -> Studio:
        """Return the studio.

        Raises:
            SnellenError: There is none, so `what` cannot be had.
        """
        if self.studio is None:
            msg = f"Nothing is known of this picture but its pixels: there is no {what} for it."
            raise SnellenError(msg)
        return self.studio


TRANSFORMS: Declarations[Image.Image] = Declarations("transform")


def apply(call: ToolCall, picture: Image.Image, seed: str, studio: Studio | None = None) -> Image.Image:
    """Transform a picture.

    Args:
        call: Name and arguments of the transform.
        picture: It is left as it is.
        seed: The same seed, call and picture give the same result, byte for byte.
        studio: Where the picture is from; needed by transforms that show something else.

    Returns:
        An RGB picture; of the same size, but for quarter turns of one that is not square.

    Raises:
        ParameterOutOfRange: This picture cannot be changed as the call says.
        BadInput: There is no such transform, or its arguments cannot be used.
        SnellenError: It needs a studio, and there is none.
    """
    read = TRANSFORMS.read(call)
    stamp = json.dumps([seed, read.name, read.arguments], sort_keys=True)
    dice = np.random.default_rng(list(hashlib.sha256(stamp.encode()).digest()))
    return TRANSFORMS.named(read.name)(SourcePicture(picture.convert("RGB"), dice, studio), read.arguments)


def pixels(picture: Image.Image) -> Pixels:
    """Return a picture's values, shape (height, width, 3)."""
    return np.asarray(picture.convert("RGB"))


def as_picture(values: NDArray[np.floating]) -> Image.Image:
    """Round and clip values of 0 to 255, shape (height, width, 3), to a picture."""
    return Image.fromarray(np.clip(np.rint(values), 0, 255).astype(np.uint8))
