"""EMOJI: cover an object with a named picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from snellen.errors import BadInput, SnellenError
from snellen.tools.editing.regions import clipped, warn_if_empty
from snellen.tools.regions.computing import check_count
from snellen.tools.registry import ToolContext, nearest, tool
from snellen.values import Picture, Region, describe

if TYPE_CHECKING:
    import PIL.Image


@tool("EMOJI")
def cover_with_emoji(context: ToolContext, image: Picture, object: list[Region], emoji: str) -> Picture:
    """Cover each region of object with the emoji of that name, such as face_with_tongue or 'red heart'.

    The emoji is scaled to the region's box (CLOVA, table 2).
    """
    art = _art(context, emoji)
    if warn_if_empty(context, object, "no emoji is placed"):
        return image
    check_count(len(object))
    from PIL import Image

    picture = context.pictures.get(image.id).convert("RGB")
    for region in object:
        x0, y0, x1, y1 = clipped(region.box, picture.size)
        scaled = art.resize((x1 - x0, y1 - y0), Image.Resampling.LANCZOS)
        picture.paste(scaled, (x0, y0), scaled)
    return context.pictures.put(picture)


def _art(context: ToolContext, name: str) -> PIL.Image.Image:
    from PIL import Image

    # The name comes from a program: it selects among the files that are there and never becomes a path.
    files = {file.stem: file for file in _art_folder(context).glob("*.png")}
    key = re.sub(r"[\s_-]+", "_", name.strip().strip(":").casefold())
    if key not in files:
        close = nearest(key, sorted(files), 3)
        remedy = f"did you mean {' or '.join(close)}?" if close else f"take one such as {', '.join(sorted(files)[:5])}"
        msg = f"There is no emoji named {describe(name)}; {remedy}"
        raise BadInput(msg)
    with Image.open(files[key]) as art:
        return art.convert("RGBA")


def _art_folder(context: ToolContext) -> Path:
    folder = context.profile.art_path() if context.profile else None
    if folder is not None and folder.is_dir():
        return folder
    where = context.profile.path if context.profile else "the profile"
    msg = f"EMOJI needs a folder of named PNG pictures: set art under [world] in {where}, as embedded.toml does."
    raise SnellenError(msg)
