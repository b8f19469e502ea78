"""The values that programs compute, their type names, and their JSON form.

A picture is named by the SHA-256 of its stored PNG, never carried: program states are checkpointed and
stay small. ``to_json`` writes any value as plain JSON (records as dicts with a ``type`` tag) and
``from_json`` reads it back unchanged.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from snellen.errors import BadInput

if TYPE_CHECKING:
    import PIL.Image

PICTURE: Final = "Picture"
REGION: Final = "Region"
REGIONS: Final = "Regions"
TEXT: Final = "Text"
NUMBER: Final = "Number"
BOOL: Final = "Bool"
TEXTS: Final = "Texts"
GROUPS: Final = "Groups"
LABEL: Final = "Label"
LABELS: Final = "Labels"
NUMBERS: Final = "Numbers"
CONDITION: Final = "Condition"
KEY: Final = "Key"
ORDER: Final = "Order"
ANY: Final = "Any"
"""The type names that the catalogue and the checks of programs use.

Checks alone tell a ``Label`` from other texts, and ``Labels`` and ``Numbers`` from other ``Texts``: labels have no
order. A ``Condition`` (``where='area > 100'``), a ``Key`` (``by='label'``) and an ``Order`` (``by='left'``) are texts
that a tool computes for each region.
"""
COMPUTED_KINDS: Final = frozenset({CONDITION, KEY, ORDER})

_ID: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Picture:
    """A stored picture: ``id`` is the SHA-256 of its PNG, sizes are in pixels."""

    id: str
    width: int
    height: int


@dataclass(frozen=True)
class Region:
    """A part of a picture.

    Attributes:
        box: ``(x0, y0, x1, y1)`` in pixels, ``x1`` and ``y1`` exclusive.
        score: Confidence of the tool that found it, usually in [0, 1].
        label: What it was found as, or was labelled later; empty when nobody said.
        mask: Artifact id of an L-mode PNG of the picture's size (255 inside), when it was segmented.
        picture: Id of the picture it was found in; empty when unknown.
        ground: Whether it is background (grass, a striped background), not a thing; SEG tells them apart.
    """

    box: tuple[int, int, int, int]
    score: float
    label: str = ""
    mask: str | None = None
    picture: str = ""
    ground: bool = False

    @property
    def width(self) -> int:
        """Pixels from the left edge to the right one."""
        return max(self.box[2] - self.box[0], 0)

    @property
    def height(self) -> int:
        """Pixels from the upper edge to the lower one."""
        return max(self.box[3] - self.box[1], 0)

    @property
    def area(self) -> int:
        """Pixels in the box."""
        return self.width * self.height

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the box, x and y in pixels."""
        return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2


class Untaught(list[Region]):
    """No region, because no tool was taught the name that was looked for: nothing follows from it.

    Programs take it for an empty list; records and answers tell it from a thing that was not found.
    """

    def __init__(self, name: str) -> None:
        """Keep the name that no tool was taught."""
        super().__init__()
        self.name = name


Scalar: TypeAlias = str | int | float | bool | None
Value: TypeAlias = Picture | Region | Scalar | Sequence[Picture | Region | Scalar | Sequence[Region]]
"""A value that a program's variable may hold; sequences are lists of regions, groups of regions, texts or numbers."""

Json: TypeAlias = Any
"""Plain JSON data: dicts with text keys, lists, texts, numbers, booleans, ``None``."""


class PictureStore(Protocol):
    """Keeps pictures under their id; ``snellen.memory.artifacts.ArtifactStore`` is the one that lasts."""

    def put(self, picture: PIL.Image.Image) -> Picture:
        """Store an RGB picture (or an L-mode mask) and return its reference."""
        ...

    def get(self, picture_id: str) -> PIL.Image.Image:
        """Return the picture (RGB, or L for masks); raises ``SnellenError`` when it is not there."""
        ...


def kind_of(value: object) -> str:
    """Return the type name of a value, e.g. ``"Regions"``.

    An empty list is ``"Regions"`` (what LOC gives when it finds nothing); ``None``, mixed lists and
    everything that is no value of a program are ``"Any"``.
    """
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int | float):
        return NUMBER
    if isinstance(value, str):
        return TEXT
    if isinstance(value, Picture):
        return PICTURE
    if isinstance(value, Region):
        return REGION
    return _kind_of_list(value) if isinstance(value, list | tuple) else ANY


def _kind_of_list(values: Sequence[object]) -> str:
    if all(isinstance(value, Region) for value in values):
        return REGIONS
    if all(isinstance(value, str | int | float) for value in values):
        return TEXTS
    grouped = all(isinstance(value, list | tuple) and kind_of(value) == REGIONS for value in values)
    return GROUPS if grouped else ANY


def accepts(wanted: str, given: str) -> bool:
    """Tell whether an argument of type ``wanted`` takes a value of type ``given``.

    ``Regions`` takes a single ``Region``; ``Text`` takes numbers and booleans, written out; ``Texts`` takes
    one ``Text`` of names between commas; ``Number`` and ``Bool`` take answers as visual questions give them.
    """
    if ANY in {wanted, given} or wanted == given:
        return True
    return given in _ALSO_TAKEN.get(wanted, ())


_ALSO_TAKEN: Final = {
    REGIONS: (REGION,),
    TEXT: (NUMBER, BOOL, LABEL),
    TEXTS: (TEXT, LABEL, LABELS, NUMBERS),
    BOOL: (TEXT, NUMBER, LABEL),
    NUMBER: (TEXT, BOOL),
    CONDITION: (BOOL,),
    KEY: (NUMBER, LABEL, TEXT, BOOL),
    ORDER: (NUMBER,),
}


def convert(value: Any, wanted: str) -> Any:  # noqa: ANN401 - a value of a program, narrowed by its type name
    """Return ``value`` as the type named ``wanted``.

    Raises:
        BadInput: The value is of another type and has no reading as the wanted one.
    """
    kind = kind_of(value)
    if wanted in {ANY, kind}:
        return value
    if wanted == TEXTS and isinstance(value, list | tuple) and not value:
        return []
    converted = _CONVERSIONS[wanted](value) if kind in _ALSO_TAKEN.get(wanted, ()) else None
    if converted is not None:
        return converted
    msg = f"expected {wanted}, but this is {kind if value is not None else 'nothing'} ({describe(value)})"
    raise BadInput(msg)


_FALSE_TEXTS: Final = frozenset({"", "no", "false", "none", "0"})


def truth(value: object) -> bool:
    """Read a value as a boolean: text answers ``no``, ``false``, ``none``, ``0`` and empty text are false.

    Everything else follows Python: zero and empty lists are false.
    """
    if isinstance(value, str):
        return value.strip().casefold() not in _FALSE_TEXTS
    return bool(value)


def as_text(value: object) -> str:
    """Write a value as a visual question's answer would be: ``yes``/``no``, digits, the text itself."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return str(int(value))
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item) for item in value)
    if isinstance(value, Region):
        return value.label or "region at " + ", ".join(map(str, value.box))
    if isinstance(value, Picture):
        return f"picture {value.id[:12]}"
    return "" if value is None else str(value)


_NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten "  # noqa: SIM905 - quoted one by one they read worse
        "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
_DIGITS: Final = re.compile(r"[-+]?\d{1,15}(\.\d{1,15})?", re.ASCII)


def as_number(value: object) -> int | float | None:
    """Read a value as a number: numbers, booleans as 0 and 1, ``"3"``, ``"2.5"``, ``"three"``; else ``None``."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    text = value.strip().casefold()
    if not _DIGITS.fullmatch(text):
        return _NUMBER_WORDS.get(text)
    return float(text) if "." in text else int(text)


_DESCRIBED_CHARACTERS: Final = 60


def describe(value: object) -> str:
    """Describe a value in a few words for a message or a log line."""
    if isinstance(value, Picture):
        return f"a picture of {value.width}x{value.height}"
    if isinstance(value, str):
        return repr(value if len(value) <= _DESCRIBED_CHARACTERS else value[:_DESCRIBED_CHARACTERS] + "…")
    if isinstance(value, Untaught):
        return f"no region: no tool was taught {describe(value.name)}"
    if isinstance(value, list | tuple) and value and all(isinstance(item, Region) for item in value):
        return f"{len(value)} region{'' if len(value) == 1 else 's'}"
    text = as_text(value) if isinstance(value, bool | int | float | Region) else str(value)
    return text if len(text) <= _DESCRIBED_CHARACTERS else text[:_DESCRIBED_CHARACTERS] + "…"


_CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {
    REGIONS: lambda region: [region],
    TEXT: as_text,
    TEXTS: lambda text: [part.strip() for part in text.split(",") if part.strip()],
    BOOL: truth,
    NUMBER: as_number,
}


def to_json(value: Value) -> Json:
    """Return the value as plain JSON; records become dicts tagged ``type``, non-finite floats are tagged too."""
    if isinstance(value, Picture):
        return {"type": PICTURE, "id": value.id, "width": value.width, "height": value.height}
    if isinstance(value, Region):
        return {
            "type": REGION,
            "box": list(value.box),
            "score": to_json(value.score),
            "label": value.label,
            "mask": value.mask,
            "picture": value.picture,
            **({"ground": True} if value.ground else {}),  # most regions are things, and older records lack it
        }
    if isinstance(value, Untaught):
        return {"type": "Untaught", "name": value.name}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"type": NUMBER, "value": repr(value)}
    return value


def from_json(data: Json) -> Any:  # noqa: ANN401 - whichever value was written
    """Read a value that :func:`to_json` wrote.

    Raises:
        BadInput: The data carries an unknown tag, or a tag's fields are missing.
    """
    if isinstance(data, list):
        return [from_json(item) for item in data]
    if not isinstance(data, dict):
        return data
    try:
        return _record_from_json(data)
    except (KeyError, TypeError, ValueError) as error:
        msg = (
            f"a stored value cannot be read ({describe(str(data))}); it is damaged, or was not written by this version "
            "of Snellen: begin anew instead of going on with what holds it"
        )
        raise BadInput(msg) from error


def _record_from_json(data: dict[str, Json]) -> Picture | Region | Untaught | float:
    match data["type"]:
        case "Picture":
            return Picture(id=data["id"], width=data["width"], height=data["height"])
        case "Region":
            x0, y0, x1, y1 = data["box"]
            return Region(
                box=(x0, y0, x1, y1),
                score=from_json(data["score"]),
                label=data["label"],
                mask=data["mask"],
                picture=data["picture"],
                ground=data.get("ground", False),
            )
        case "Untaught":
            return Untaught(data["name"])
        case "Number":
            return float(data["value"])
        case tag:
            raise KeyError(tag)


def checked_reference(data: dict[str, Json]) -> dict[str, Json]:
    """Return the reference to a picture in JSON form, as it was given.

    Raises:
        ValueError: It is none.
    """
    try:
        found = from_json(data)
    except BadInput:
        found = None
    if not isinstance(found, Picture) or not _ID.fullmatch(str(found.id)):
        msg = 'it refers to no picture: {"type": "Picture", "id": …, "width": …, "height": …} does'
        raise ValueError(msg)
    return data


def picture_ids(value: Value) -> list[str]:
    """Return the ids of the pictures in a value, masks of regions included, each once, in order."""
    if isinstance(value, Picture):
        return [value.id]
    if isinstance(value, Region):
        return [value.mask] if value.mask else []
    if isinstance(value, list | tuple):
        return list(dict.fromkeys(found for item in value for found in picture_ids(item)))
    return []


def named_regions(
    value: Any,  # noqa: ANN401 - a value of a program
    steps: Sequence[Json],
    *,
    tools: Sequence[str] = ("TAG",),
) -> list[Region]:
    """Return the regions that an answer shows.

    Regions are shown as they are; a picture shows those that TAG (or these tools) drew into it, and into the pictures
    it was made from.
    """
    if isinstance(value, Region):
        return [value]
    if isinstance(value, list | tuple):
        return [one for one in value if isinstance(one, Region)]
    found: list[Region] = []
    for step in reversed(steps):
        output = from_json(step.get("output")) if step.get("tool") in tools else None
        if isinstance(value, Picture) and isinstance(output, Picture) and output.id == value.id:
            drawn = from_json(step["arguments"]["object"])
            found += [drawn] if isinstance(drawn, Region) else drawn
            value = from_json(step["arguments"]["image"])
    return found
