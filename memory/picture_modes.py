"""Pictures of any mode brought to 8-bit colour or grey, with a sentence where that changes what one sees.

Sixteen bits become eight by their range, transparent parts are laid on white, palettes and CMYK become RGB. What was
lost or had to be guessed is told, since an answer may rest on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import PIL.Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

Notice = Callable[[str], None]

_EIGHT_BITS: Final = 255
_SIXTEEN_BITS: Final = 65_535
_DIM: Final = 0.25
"""Of a range of 16 bits, the share below which a picture uses fewer bits than its file has, as 12-bit cameras do."""
_BITS_PER_SAMPLE: Final = 258
"""The tag of TIFF that says how many bits a channel has."""


def bits_of(picture: PIL.Image.Image) -> int:
    """Return how many bits a channel has in the file of a picture that is opened and not yet decoded.

    Pillow keeps the upper eight bits of colours, and does not tell afterwards.
    """
    tags = getattr(picture, "tag_v2", None)
    if tags is not None and _BITS_PER_SAMPLE in tags:
        return int(max(tags[_BITS_PER_SAMPLE]))
    return 16 if any(";16" in str(tile[3]) for tile in getattr(picture, "tile", ())) else 8


def eight_bit(picture: PIL.Image.Image, *, name: str, notice: Notice, bits: int = 8) -> PIL.Image.Image:
    """Return a picture with 8 bits a channel: L stays L, everything else becomes RGB.

    Args:
        picture: Any mode, decoded.
        name: What to call it in notices.
        notice: Called with a sentence for each change that shows.
        bits: As `bits_of` told before it was decoded.
    """
    if picture.mode.startswith(("I", "F")):
        return _from_numbers(picture, name, notice)
    if picture.mode == "L" and not picture.has_transparency_data:
        return picture
    if not picture.has_transparency_data:
        return _brightened(picture.convert("RGB"), bits, name, notice)
    full = picture.convert("RGBA")
    colors = _brightened(full.convert("RGB"), bits, name, notice)
    return _opaque(colors, full.getchannel("A"), name, notice)


def _opaque(colors: PIL.Image.Image, alpha: PIL.Image.Image, name: str, notice: Notice) -> PIL.Image.Image:
    """Lay a picture with transparency on white; one that would vanish altogether is shown as if it had none."""
    least, most = alpha.getextrema()
    if least == _EIGHT_BITS:
        return colors
    if most == 0 and any(low != high for low, high in _extrema(colors)):
        notice(f"{name} is wholly transparent; what lies under the transparency is looked at.")
        return colors
    notice(f"{name} has transparent parts; they are looked at as white.")
    white = PIL.Image.new("RGB", colors.size, "white")
    return PIL.Image.composite(colors, white, alpha)


def _extrema(picture: PIL.Image.Image) -> list[tuple[int, int]]:
    return [picture.getchannel(band).getextrema() for band in picture.getbands()]  # type: ignore[misc]


def _brightened(picture: PIL.Image.Image, bits: int, name: str, notice: Notice) -> PIL.Image.Image:
    """Stretch colours of a file of 16 bits that uses the lower ones alone."""
    if bits <= 8:  # noqa: PLR2004 - what is kept
        return picture
    values = np.asarray(picture)
    most = int(values.max())
    if most == 0 or most > _DIM * _EIGHT_BITS:
        return picture
    top = (1 << most.bit_length()) - 1
    notice(f"{name} has 16 bits a channel and uses few of them; its brightness is stretched.")
    return PIL.Image.fromarray(np.rint(values * (_EIGHT_BITS / top)).astype(np.uint8))


def _from_numbers(picture: PIL.Image.Image, name: str, notice: Notice) -> PIL.Image.Image:
    """Bring 16- and 32-bit grey values to 8 bits; Pillow's own conversion would clip all above 255 to white."""
    values = np.nan_to_num(np.asarray(picture, dtype=np.float64))
    low, high = float(values.min()), float(values.max())
    if picture.mode == "F" and low >= 0 and high <= 1:
        return _grey(values * _EIGHT_BITS)
    if low < 0 or high > _SIXTEEN_BITS:
        notice(f"{name} has values from {low:g} to {high:g}; the lowest is looked at as black, the highest as white.")
        return _grey((values - low) / max(high - low, 1e-12) * _EIGHT_BITS)
    if high > _DIM * _SIXTEEN_BITS:
        return _grey(values / (_SIXTEEN_BITS / _EIGHT_BITS))
    top = max((1 << int(high).bit_length()) - 1, _EIGHT_BITS)
    if top > _EIGHT_BITS:
        notice(f"{name} has 16 bits and no value above {high:g}; its brightness is stretched.")
    return _grey(values * (_EIGHT_BITS / top))


def _grey(values: NDArray[np.float64]) -> PIL.Image.Image:
    return PIL.Image.fromarray(np.rint(values).clip(0, _EIGHT_BITS).astype(np.uint8)).convert("RGB")


def is_grey(picture: PIL.Image.Image) -> bool:
    """Tell whether a picture has no colours: its channels differ by no more than what JPEG makes of grey."""
    if picture.mode == "L":
        return True
    red, green, blue = (np.asarray(picture.convert("RGB"), dtype=np.int16)[..., place] for place in range(3))
    spread = np.maximum(np.maximum(red, green), blue) - np.minimum(np.minimum(red, green), blue)
    return bool((spread > _ALMOST).mean() < _STRAY)


_ALMOST: Final = 6
"""Steps of 255 by which channels of a grey pixel may differ."""
_STRAY: Final = 0.001
"""The share of coloured pixels below which a picture is grey."""
