"""Numbers in a judge's reply: as words write them, and as JSON holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

LOWEST: Final = 1.0
HIGHEST: Final = 10.0
_MOST_OBJECTS: Final = 20
"""JSON objects of a reply that are read."""
_DEEPEST: Final = 5
"""Levels of JSON in which a score is looked for."""
NUMBER_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

NUMBER: Final = rf"(?:[0-9]+(?:\.[0-9]+)?|\b(?:{'|'.join(NUMBER_WORDS)})\b)"
_OUT_OF: Final = r"(?:\s*(?:/|\b(?:out\s+of|of|over)\b)\s*([0-9]+(?:\.[0-9]+)?|\b(?:five|ten|hundred)\b))?"
_VALUE: Final = re.compile(
    r"(?:I(?:['’]d|\s+would)\s+(?:say|give\s+(?:it|them))\s+)?(?:(?:~|≈|\b(?:about|around|approximately|roughly|an?)\b)\s*)?"
    rf"(?P<open>[\[(<{{]*)\s*(?P<number>{NUMBER}){_OUT_OF}(?:[^\S\n]*(?P<close>[\])>}}]+))?{_OUT_OF}",
    re.IGNORECASE,
)
_SCALE_AFTER: Final = re.compile(
    r"[^\n.;]{0,20}\b(?:scale|range)\b[^\n.;0-9]{0,20}[0-9]+\s*(?:to|-|–|and)\s*([0-9]+)", re.IGNORECASE
)
_UNCLEAR_AFTER: Final = re.compile(
    r"[\w%°+]|[.,][0-9]|[^\S\n]+[0-9]|[^\S\n]*(?:percent|per cent)\b"
    r"|[^\S\n]*(?:[+*×÷=→⇒−]|[-–—]+>|(?:plus|minus|times|x)\b)|[^\S\n]*and\s+(?:a\s+)?(?:half|quarter)\b"
    rf"|[^\S\n]*\(\s*{NUMBER}\s*\)"
    r"|[^\S\n]*(?:[,;/|–—~±&-]|\.\.+|\+/-|\b(?:or|to|and)\b)+\s*(?:\b(?:maybe|perhaps|possibly|even|an?)\b\s*)*"
    rf"{NUMBER}",
    re.IGNORECASE,
)
"""Follows a number that is not all that was stated: a range, arithmetic, another number, a unit."""
_SAME_AGAIN: Final = re.compile(rf"\s*\(\s*({NUMBER})\s*\)", re.IGNORECASE)
_KEY: Final = re.compile(r"(?:(?:final|overall|similarity|the)\s+)*(?:score|rating)", re.IGNORECASE)
_KEYS_OF_SCALE: Final = frozenset({"max", "maximum", "max score", "scale", "out of"})


@dataclass(frozen=True)
class ReplyNumber:
    """A number at the beginning of a text.

    Attributes:
        score: Its value; None where it is a range, has a unit or is of another scale.
        after: What follows it.
    """

    score: float | None
    after: str


def whole_number(text: str) -> float | None:
    """Return the score that is all of a text."""
    number = leading_number(text.strip())
    return number.score if number is not None and not number.after.strip(" \t\n.!") else None


def leading_number(text: str) -> ReplyNumber | None:
    """Read the number that a text begins with."""
    read = _VALUE.match(text)
    if read is None:
        return None
    value, after = number_value(read["number"]), text[read.end() :]
    again = _SAME_AGAIN.match(after)
    if again is not None and leading_number(again[1]) == ReplyNumber(value, ""):
        after = after[again.end() :]
    scales = [scale for scale in (read[3], read[5]) if scale]
    if (noted := _SCALE_AFTER.match(after)) is not None:
        scales.append(noted[1])
        after = after[noted.end() :]
    unclear = (
        len(read["open"]) > len(read["close"] or "") or _UNCLEAR_AFTER.match(after) or not all(map(is_ten, scales))
    )
    return ReplyNumber(None if unclear else value, after)


def number_value(said: str) -> float:
    """Return the value of a number in digits or words."""
    return NUMBER_WORDS.index(said.casefold()) + 1.0 if said.casefold() in NUMBER_WORDS else float(said)


def is_ten(scale: str) -> bool:
    """Tell whether a scale such as ``10``, ``ten`` or ``1-10`` ends at ten; one without a number may."""
    numbers = re.findall(rf"[0-9]+(?:\.[0-9]+)?|{'|'.join(NUMBER_WORDS)}|hundred", scale.casefold())
    return not numbers or numbers[-1] in {"10", "10.0", "ten"}


class _Object(list[tuple[str, Any]]):
    """A JSON object with every key, also one that it has twice."""


@dataclass(frozen=True)
class JsonScores:
    """The scores that JSON objects of a text state; None stands for one that is unclear.

    Attributes:
        scores: Under a key that says so.
        similarities: Under the key ``similarity``.
        beside: The text without the objects.
    """

    scores: list[float | None]
    similarities: list[float | None]
    beside: str


def json_scores(text: str) -> JsonScores:
    """Read the JSON objects of a text."""
    decoder = json.JSONDecoder(object_pairs_hook=_Object)
    scores: list[float | None] = []
    similarities: list[float | None] = []
    kept, place = "", 0
    for _ in range(_MOST_OBJECTS):
        begin = text.find("{", place)
        if begin < 0:
            break
        try:
            read, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            kept, place = kept + text[place : begin + 1], begin + 1
            continue
        scores += _scores_in(read, _DEEPEST)
        similarities += [_score_of(value) for key, value in read if _words(key) == "similarity"]
        kept, place = kept + text[place:begin] + "\n", end
    return JsonScores(scores, similarities, kept + text[place:])


def _scores_in(read: object, levels: int) -> Iterator[float | None]:
    """Yield the scores that JSON states under a key that says so."""
    if levels == 0 or not isinstance(read, list):
        return
    if not isinstance(read, _Object):
        for one in read:
            yield from _scores_in(one, levels - 1)
        return
    scales = [value for key, value in read if _words(key) in _KEYS_OF_SCALE]
    for key, value in read:
        if not _KEY.fullmatch(_words(key)):
            yield from _scores_in(value, levels - 1)
        elif isinstance(value, _Object):
            yield _score_with_scale(value)
        elif all(is_ten(str(scale)) for scale in scales):
            yield _score_of(value)
        else:
            yield None


def _score_with_scale(entries: _Object) -> float | None:
    """Return the score of an object such as ``{"value": 7, "max": 10}``."""
    values = [value for key, value in entries if _words(key) == "value" or _KEY.fullmatch(_words(key))]
    scales = [value for key, value in entries if _words(key) in _KEYS_OF_SCALE]
    return _score_of(values[0]) if len(values) == 1 and all(is_ten(str(scale)) for scale in scales) else None


def _words(key: str) -> str:
    return " ".join(key.casefold().replace("_", " ").split())


def _score_of(value: object) -> float | None:
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, str):
        return whole_number(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and LOWEST <= value <= HIGHEST:
        return float(value)
    return None
