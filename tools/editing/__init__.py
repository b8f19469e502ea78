"""Tools that make pictures from pictures: the crops, COLORPOP, BGBLUR, EMOJI, TAG, REPLACE."""

from snellen.tools.editing.colour import blur_background, colour_pop
from snellen.tools.editing.crop import (
    crop,
    crop_above,
    crop_behind,
    crop_below,
    crop_front_of,
    crop_left_of,
    crop_right_of,
)
from snellen.tools.editing.emoji import cover_with_emoji
from snellen.tools.editing.tag import tag

__all__ = [
    "blur_background",
    "colour_pop",
    "cover_with_emoji",
    "crop",
    "crop_above",
    "crop_behind",
    "crop_below",
    "crop_front_of",
    "crop_left_of",
    "crop_right_of",
    "tag",
]
