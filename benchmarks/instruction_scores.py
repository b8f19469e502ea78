"""Scores of answers to instructions: the rules of the corpus that they come from.

An instruction says what is right by one of these, as a row of ``tests/tools/reference_programs/instructions.toml``:

    answers          any of these texts: "yes", a number, a name, alone or as the last words
    contains         groups of words, one of each (or of ``at_least`` so many), in their order where ``ordered``,
                     nothing else where ``only``, and none of ``absent``
    expect_regions   what TAG must have drawn, and nothing else, by overlap
    crop             the part of the picture that the answer must be, by overlap
    changed          boxes in which the answer must differ from the picture; ``unchanged``: points where it must not
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from PIL import Image

from snellen.scoring.detection import iou
from snellen.tools.boxes import Box

Row = Mapping[str, Any]

_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS: Final = {word: str(number) for number, word in enumerate(_WORDS)} | {"none": "0", "no one": "0"}
_SAME_BOX: Final = 0.4
_CLEARLY: Final = 18
"""Levels of 256 from which on a colour is another one."""
_CHANGED: Final = 0.04
_KEPT: Final = 0.2
_PLURAL: Final = 3
"""Letters beyond which a last s is taken for a plural's."""


@dataclass(frozen=True)
class InstructionAnswer:
    """The answer of a program.

    Attributes:
        text: It in words; empty where it is a picture.
        picture: It where it is a picture.
        tagged: The boxes that were tagged on the way.
    """

    text: str = ""
    picture: Image.Image | None = None
    tagged: Sequence[Box] = ()


def is_right(row: Row, answer: InstructionAnswer, before: Image.Image) -> bool:
    """Tell whether an answer is right by what a row says.

    Args:
        row: The instruction's row.
        answer: What came out.
        before: The first picture of the instruction.
    """
    if "expect_regions" in row:
        boxes = [tuple(each["box"]) for each in row["expect_regions"]]
        return answer.picture is not None and _cover(boxes, answer.tagged) and _cover(answer.tagged, boxes)
    if "crop" in row:
        return answer.picture is not None and _is_crop(before, answer.picture, tuple(row["crop"]["box"]))
    if "changed" in row:
        return answer.picture is not None and _is_edit(row, before, answer.picture)
    if answer.picture is not None:
        return False
    if "contains" in row:
        return _contains(row, answer.text)
    return any(_same(each, _plain(answer.text)) for each in row["answers"])


def _cover(boxes: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(any(iou(box, other) >= _SAME_BOX for other in others) for box in boxes)


def _is_crop(before: Image.Image, after: Image.Image, box: Any) -> bool:  # noqa: ANN401 - four numbers
    """Find the answer in the picture, pixel by pixel, and compare its place with the box."""
    first, pixels = after.getpixel((0, 0)), after.tobytes()
    for y in range(before.height - after.height + 1):
        for x in range(before.width - after.width + 1):
            place = (x, y, x + after.width, y + after.height)
            if before.getpixel((x, y)) == first and before.crop(place).tobytes() == pixels:
                return iou(place, box) >= _SAME_BOX
    return False


def _is_edit(row: Row, before: Image.Image, after: Image.Image) -> bool:
    if before.size != after.size:
        return False
    changed = all(_share_changed(before, after, each["box"]) >= _CHANGED for each in row["changed"])
    kept = all(_share_moved(before, after, each["points"]) <= _KEPT for each in row["unchanged"])
    return changed and kept


def _share_changed(before: Image.Image, after: Image.Image, box: Sequence[int]) -> float:
    """Return the share of the pixels within a box, a seventh from its edges, that clearly changed."""
    x0, y0, x1, y1 = box
    across, down = (x1 - x0) // 7, (y1 - y0) // 7
    points = [(x, y) for y in range(y0 + down, y1 - down) for x in range(x0 + across, x1 - across)]
    return _share_moved(before, after, points)


def _share_moved(before: Image.Image, after: Image.Image, points: Sequence[Sequence[int]]) -> float:
    """Return the share of points that clearly changed, in hundredths."""
    moved = [_differ(before.getpixel((x, y)), after.getpixel((x, y))) for x, y in points]
    return round(sum(moved) / len(moved), 2)


def _differ(one: Any, other: Any) -> bool:  # noqa: ANN401 - colours as Pillow gives them
    return any(abs(a - b) > _CLEARLY for a, b in zip(one, other, strict=True))


def _contains(row: Row, text: str) -> bool:
    plain = _plain(text)
    groups: list[list[str]] = row["contains"]
    places = _places(groups, plain, ordered=bool(row.get("ordered")))
    enough = sum(place >= 0 for place in places) >= row.get("at_least", len(places))
    items = [item for part in re.split(r",| and ", text) if (item := _plain(part))]
    words = [word for group in groups for word in group]
    only = not row.get("only") or all(any(_place(word, item) >= 0 for word in words) for item in items)
    return enough and only and all(_place(word, plain) < 0 for word in row.get("absent", ()))


def _places(groups: Sequence[Sequence[str]], text: str, *, ordered: bool) -> list[int]:
    """Return where a word of each group first stands, or stands after those before it where they are ordered, or -1."""
    places: list[int] = []
    for group in groups:
        after = max(places, default=-1) + 1 if ordered else 0
        places.append(min((p for word in group if (p := _place(word, text, after)) >= 0), default=-1))
    return places


def _place(word: str, text: str, after: int = 0) -> int:
    match = re.compile(rf"\b{re.escape(word)}").search(text, after)
    return match.start() if match else -1


def _plain(text: str) -> str:
    """Return a text in lower case without punctuation and leading articles, numbers in digits."""
    cleaned = re.sub(r"[^\w\s,/-]", " ", text.lower().strip()).replace(",", " ")
    words = [_NUMBERS.get(word, {"true": "yes", "false": "no"}.get(word, word)) for word in cleaned.split()]
    while words and words[0] in {"the", "a", "an", "it", "is", "in", "at", "on"}:
        words = words[1:]
    return " ".join(words)


def _same(right: str, text: str) -> bool:
    if right in {"yes", "no"}:
        return text.split(" ", maxsplit=1)[0] == right
    if right.isdigit():
        return text == right
    one, other = _singular(_plain(right)), _singular(text)
    return other == one or other.endswith(f" {one}")


def _singular(text: str) -> str:
    words = text.split()
    return " ".join(w[:-1] if len(w) > _PLURAL and w.endswith("s") and not w.endswith("ss") else w for w in words)
