"""Keeping what a run leaves behind small enough for a checkpoint, and saying so where something was cut."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

MAX_STEPS_BYTES: Final = 14_000
"""For all step records together, so that no checkpoint exceeds 64 kB; most runs need a quarter of it."""
MAX_ANSWER_BYTES: Final = 3_000
MAX_PLAN_BYTES: Final = 8_000
MAX_PROGRAM_BYTES: Final = 20_000
"""A program is never shortened; a longer one is refused."""
MAX_SENTENCE_CHARACTERS: Final = 300
MAX_SENTENCES_BYTES: Final = 2_400

_SHORTENED: Final = "This record is shortened; the step itself used the whole."


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
    return _SHORTENED not in step.get("warnings", ())


def fitted_answer(answer: Any, *, limit: int = MAX_ANSWER_BYTES) -> Fitted:  # noqa: ANN401 - any value in JSON form
    """Shorten an answer that is longer than anybody reads: a text by its end, a list by its last items."""
    if _bytes(answer) <= limit:
        return Fitted(answer)
    notice = "The saved answer is shortened; it was longer than a checkpoint may hold."
    for cut in (_Cut(64, 700), *_CUTS):
        shorter = _cut_value(answer, cut)
        if _bytes(shorter) <= limit:
            return Fitted(shorter, notice)
    return Fitted(json.dumps(answer, ensure_ascii=True)[: limit // 2] + "…", notice)


def fitted_plan(plan: list[str], *, limit: int = MAX_PLAN_BYTES) -> Fitted:
    """Shorten each step of a long-winded plan to its first characters, as few as the limit asks for."""
    if _bytes(plan) <= limit:
        return Fitted(plan)
    # Six bytes is the most that one character takes in JSON text, the ellipsis included.
    share = max(limit // (6 * len(plan)) - 2, 1)
    return Fitted([_cut_text(step, share) for step in plan], "Long steps of the plan are shortened.")


def fitted_sentences(sentences: list[str], *, limit: int = MAX_SENTENCES_BYTES) -> list[str]:
    """Keep each sentence once and within a few lines, and as many of them as fit, the first ones first."""
    once = [_cut_text(sentence, MAX_SENTENCE_CHARACTERS) for sentence in dict.fromkeys(sentences)]
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
    waiting = list(steps)
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


def _shortened(step: Json, cut: _Cut) -> Json:
    shorter = {name: _cut_value(value, cut) for name, value in step.items()}
    if shorter == step:
        return step
    return shorter | {"warnings": [*shorter.get("warnings", []), _SHORTENED]}


def _cut_value(value: Any, cut: _Cut) -> Any:  # noqa: ANN401 - any value in JSON form
    if isinstance(value, str):
        return _cut_text(value, cut.characters)
    if isinstance(value, dict):
        return {name: _cut_value(item, cut) for name, item in value.items()}
    if isinstance(value, list):
        return [_cut_value(item, cut) for item in value[: cut.items]]
    return value


def _cut_text(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + "…"


def _bytes(value: Any) -> int:  # noqa: ANN401 - any value in JSON form
    return len(json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass"))
