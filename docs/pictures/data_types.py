"""Draw the types of data as ``docs/pictures/data-types.png``: those of Udandarao et al. (2024), and further ones.

``PYTHONPATH=. python docs/pictures/data_types.py``; the same pictures each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from snellen import microworld
from snellen.tools.samples import WorldSource
from snellen.tools.transforms import DATA_TYPES, FURTHER_TYPES, DataType, ParameterOutOfRange, apply

PICTURE: Final = Path(__file__).with_name("data-types.png")
THINGS: Final = (("dog", "8"), ("castle", "11"))
SIDE, GAP, LABEL, ACROSS = 96, 4, 14, 7


def main() -> None:
    """Draw and write the picture."""
    paper = _sheet("The 27 types of Udandarao et al. (2024)", list(DATA_TYPES.values()))
    further = _sheet("Further types", list(FURTHER_TYPES.values()))
    whole = Image.new("RGB", (paper.width, paper.height + further.height), "white")
    whole.paste(paper, (0, 0))
    whole.paste(further, (0, paper.height))
    whole.save(PICTURE, optimize=True)


def _sheet(title: str, types: Sequence[DataType]) -> Image.Image:
    """Draw types beside one another, each with two pictures below its name."""
    wide, high = len(THINGS) * SIDE + 2 * GAP, SIDE + LABEL + 2 * GAP
    rows = -(-len(types) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * wide, rows * high + 2 * LABEL), "white")
    pen = ImageDraw.Draw(sheet)
    pen.text((GAP, GAP), title, fill="black", font=ImageFont.load_default(14))
    for place, kind in enumerate(types):
        x, y = place % ACROSS * wide + GAP, place // ACROSS * high + 2 * LABEL
        pen.text((x, y), f"{kind.name} ({kind.group})", fill="black", font=ImageFont.load_default(11))
        for number, (name, seed) in enumerate(THINGS):
            shown = _changed(kind, name, seed).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
            sheet.paste(shown, (x + number * SIDE, y + LABEL))
    return sheet


def _changed(kind: DataType, name: str, seed: str) -> Image.Image:
    for attempt in range(20):
        selected = WorldSource(microworld, title="").select(name, "photo", seed + "'" * attempt)
        try:
            return apply(kind.calls[-1], selected.picture, seed, selected.studio)
        except ParameterOutOfRange:
            continue
    msg = f"No picture of a {name} can be of the type {kind.name}."
    raise SystemExit(msg)


if __name__ == "__main__":
    main()
