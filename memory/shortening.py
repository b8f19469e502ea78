"""Keeping what a run leaves behind small enough for a checkpoint, and saying so where something was cut.

What was cut is read like the whole: a value stays one that ``snellen.values.from_json`` reads, of the same type.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from snellen.values import REGION

Json = dict[str, Any]

MAX_STEPS_BYTES: Final = 14_000
"""For all step records together, so that no checkpoint exceeds 64 kB; most runs need a quarter of it."""
MAX_ANSWER_BYTES: Final = 3_000
MAX_PLAN_BYTES: Final = 8_000
MAX_PROGRAM_BYTES: Final = 20_000
"""A program is never shortened; a longer one is refused."""
MAX_SENTENCE_CHARACTERS: Final = 300
MAX_SENTENCES_BYTES: Final = 2_400

_SHORTENED: Final = "This record is shortened"
"""How the warning of a shortened record begins; earlier versions went on otherwise."""
_VALUES: Final = ("arguments", "output")
"""The fields of a step's record that hold values of a program."""


@dataclass(frozen=True)
class _Cut:
    """How much of one value stays: items of each list, characters of each text."""

    items: int
    characters: int


_CUTS: Final = (_Cut(24, 500), _Cut(6, 160), _Cut(2, 70))


@dataclass(frozen=True)
class Fitted:
    """A value that fits, and the sentence that says what was cut; None when it is whole."""

    value: Any
    notice: str | None = None


def fitted_steps(steps: list[Json], *, limit: int = MAX_STEPS_BYTES) -> Fitted:
    """Shorten step records until they fit: long values first, then the middle ones of many steps.

    Args:
        steps: Step records in JSON form.
        limit: Bytes of their JSON text together.

    Returns:
        The records, each with its address, line and tool, and a notice when anything was cut.
    """
    if _bytes(steps) <= limit:
        return Fitted(steps)
    for cut in _CUTS:
        shorter = [_shortened(step, cut) for step in steps]
        if _bytes(shorter) <= limit:
            return Fitted(shorter, "Long results are shortened in the saved steps.")
    kept = _ends([_shortened(step, _CUTS[-1]) for step in steps], limit)
    return Fitted(kept, f"The saved steps leave out {len(steps) - len(kept)} of {len(steps)} in the middle of the run.")


def is_whole(step: Json) -> bool:
    """Tell whether a step's record is as the run left it, not shortened."""
    return not any(warning.startswith(_SHORTENED) for warning in step.get("warnings", ()))


def fitted_answer(answer: Any, *, limit: int = MAX_ANSWER_BYTES) -> Fitted:  # noqa: ANN401 - any value in JSON form
    """Shorten an answer that is longer than anybody reads: a text by its end, a list by its last items.

    Of a list of many items as many stay as fit, with long texts among them shortened first.
    """
    if _bytes(answer) <= limit:
        return Fitted(answer)
    shorter, longest = answer, len(answer) if isinstance(answer, list) else 1
    for cut in (_Cut(longest, 700), *(_Cut(longest, one.characters) for one in _CUTS)):
        shorter = shortened(answer, items=cut.items, characters=cut.characters).data
        if _bytes(shorter) <= limit:
            return Fitted(shorter, _answer_notice())
    kept = _first_items(shorter, limit) if isinstance(answer, list) else []
    if kept:
        return Fitted(kept, _answer_notice(len(answer) - len(kept), len(answer)))
    return Fitted(json.dumps(answer, ensure_ascii=True)[: limit // 2] + "…", _answer_notice())


def _first_items(items: list[Any], limit: int) -> list[Any]:
    """Return as many of the first items as fit."""
    size, kept = 2, []
    for item in items:
        size += _bytes(item) + 2
        if size > limit:
            break
        kept.append(item)
    return kept


def _answer_notice(left_out: int = 0, count: int = 0) -> str:
    cut = f": it leaves out {left_out} of {count} items" if left_out else "; it was longer than a checkpoint may hold"
    return f"The saved answer is shortened{cut}."


def fitted_plan(plan: list[str], *, limit: int = MAX_PLAN_BYTES) -> Fitted:
    """Shorten each step of a long-winded plan to its first characters, as few as the limit asks for."""
    if _bytes(plan) <= limit:
        return Fitted(plan)
    # Six bytes is the most that one character takes in JSON text, the ellipsis included.
    share = max(limit // (6 * len(plan)) - 2, 1)
    return Fitted([shortened_text(step, share) for step in plan], "Long steps of the plan are shortened.")


def fitted_sentences(sentences: list[str], *, limit: int = MAX_SENTENCES_BYTES) -> list[str]:
    """Keep each sentence once and within a few lines, and as many of them as fit, the first ones first."""
    once = [shortened_text(sentence, MAX_SENTENCE_CHARACTERS) for sentence in dict.fromkeys(sentences)]
    if _bytes(once) <= limit:
        return once
    kept = list(once)
    while kept and _bytes([*kept, "… and 1000 more."]) > limit:
        kept.pop()
    return [*kept, f"… and {len(once) - len(kept)} more."]


def _ends(steps: list[Json], limit: int) -> list[Json]:
    """Keep as many steps as fit, in turn from the end (where the answer is) and from the start."""
    first: list[Json] = []
    last: list[Json] = []
    # A single step may still be too long through what it was given; where it stands and what it gave matter more.
    waiting = [step if _bytes(step) <= limit // 2 else _without_arguments(step) for step in steps]
    size = 2
    while waiting:
        from_end = len(last) <= len(first)
        size += _bytes(waiting[-1 if from_end else 0]) + 2
        if size > limit:
            break
        if from_end:
            last.insert(0, waiting.pop())
        else:
            first.append(waiting.pop(0))
    return first + last


def _without_arguments(step: Json) -> Json:
    return step | {"arguments": {}, "warnings": [*step.get("warnings", [])[:1], _cut_notice(0)]}


def _shortened(step: Json, cut: _Cut) -> Json:
    cuts = {"items": cut.items, "characters": cut.characters}
    texts = {name: shortened(value, **cuts).data for name, value in step.items() if name not in _VALUES}
    arguments = {name: shortened(value, **cuts) for name, value in step.get("arguments", {}).items()}
    output = shortened(step.get("output"), **cuts)
    shorter = step | texts | {"arguments": {name: one.data for name, one in arguments.items()}, "output": output.data}
    if shorter == step:
        return step
    left_out = output.left_out + sum(one.left_out for one in arguments.values())
    return shorter | {"warnings": [*shorter.get("warnings", []), _cut_notice(left_out)]}


def _cut_notice(left_out: int) -> str:
    counted = f", {left_out} item{'s' if left_out > 1 else ''} of its lists left out" if left_out else ""
    return f"{_SHORTENED}{counted}; the step itself used the whole."


@dataclass(frozen=True)
class ShortenedValue:
    """A shortened value in JSON form, and how many items of its lists it leaves out."""

    data: Any
    left_out: int = 0


def shortened(data: Any, *, items: int, characters: int) -> ShortenedValue:  # noqa: ANN401 - any value in JSON form
    """Shorten a value in JSON form so that ``from_json`` still reads it, as a value of the same type.

    Lists lose their last items and texts their end. A picture, a region and a number stay whole: half a box or half an
    id says nothing. Only the label of a region is a text like any other.

    Args:
        data: The value, as ``to_json`` writes it.
        items: Items that a list keeps.
        characters: Characters that a text keeps, before an ellipsis.
    """
    if isinstance(data, str):
        return ShortenedValue(shortened_text(data, characters))
    if isinstance(data, list):
        kept = [shortened(item, items=items, characters=characters) for item in data[:items]]
        left_out = len(data) - len(kept) + sum(one.left_out for one in kept)
        return ShortenedValue([one.data for one in kept], left_out)
    if isinstance(data, dict) and data.get("type") == REGION and isinstance(data.get("label"), str):
        return ShortenedValue(data | {"label": shortened_text(data["label"], characters)})
    if isinstance(data, dict) and data.get("type") == "Untaught":
        return ShortenedValue(data | {"name": shortened_text(str(data["name"]), characters)})
    return ShortenedValue(data)


def shortened_text(text: str, characters: int) -> str:
    """Return a text, or its first characters and an ellipsis."""
    return text if len(text) <= characters else text[:characters] + "…"


def _bytes(value: Any) -> int:  # noqa: ANN401 - any value in JSON form
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))
