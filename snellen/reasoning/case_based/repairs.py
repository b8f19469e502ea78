"""Small changes that may put a failed run right: other outputs of a step, other statements of a program."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.language.rewording import COLOURS, SIZES
from snellen.scoring.answers import same
from snellen.tools import program as programs
from snellen.tools.program import Assign, Call, For, If, StepRecord
from snellen.values import Region, as_number, as_text, from_json, to_json

if TYPE_CHECKING:
    from snellen.tools.program import Statement

FINDING: Final = frozenset({"LOC", "FACEDET", "SEG"})
MAX_ALTERNATIVES: Final = 24
"""Other outputs that are tried for one step."""
MAX_EDITS: Final = 24
"""Edits that are tried for one program."""
_EDGES: Final = ("left", "right", "top", "bottom", "middle")
_QUOTED: Final = re.compile(r"'([^'{}]{1,40})'|\"([^\"{}]{1,40})\"")


@dataclass(frozen=True)
class Alternative:
    """Another output of a step.

    Attributes:
        output: The value.
        distance: How far it is from the step's own, in things that changed; a suggestion of the evidence counts less.
        suggested: How strongly evidence suggests it, in [0, 1].
    """

    output: Any
    distance: float
    suggested: float = 0.0


def alternatives(
    record: StepRecord,
    evidence: Sequence[tuple[Any, float]],
    hints: Sequence[str],
    *,
    expected: Sequence[str] = (),
) -> list[Alternative]:
    """Return other outputs that a step might have had, the likely ones first.

    Args:
        record: The step.
        evidence: What evidence suggests instead: outputs in JSON form (or a number of regions), and how strongly.
        hints: Words of the program and of the feedback that an answer may be.
        expected: The names that the feedback lists, each as often as it does.
    """
    own = record.value
    listed = [*_suggested(own, evidence, record), *_imagined(record, own, hints)]
    if record.tool == "CLASSIFY":
        listed += _as_listed(record, own, expected)
    best: dict[str, Alternative] = {}
    for one in listed:
        key = repr(to_json(one.output))
        if key == repr(to_json(own)):
            continue
        known = best.get(key)
        stronger = one if known is None else replace(known, suggested=max(known.suggested, one.suggested))
        best[key] = stronger
    ranked = sorted(best.values(), key=lambda one: (-one.suggested, one.distance))
    return ranked[:MAX_ALTERNATIVES]


def _suggested(own: Any, evidence: Sequence[tuple[Any, float]], record: StepRecord) -> Iterator[Alternative]:  # noqa: ANN401
    for data, strength in evidence:
        value = from_json(data)
        if isinstance(own, list) and isinstance(value, str):
            continue  # a name that is missing, nobody says where
        if isinstance(own, list) and isinstance(value, int | float):
            value = _so_many(own, int(value), record)
        distance = _distance(own, value)
        yield Alternative(value, distance, strength)


def _so_many(own: Sequence[Region], number: int, record: StepRecord) -> list[Region]:
    """Return so many of the regions, the best ones; imagined ones where there are too few."""
    best = sorted(own, key=lambda one: -one.score)
    return [*best, *_phantoms(record)][: max(number, 0)] if number <= len(own) + len(_EDGES) else list(own)


def _distance(own: Any, value: Any) -> float:  # noqa: ANN401 - any values
    if isinstance(own, list) and isinstance(value, list):
        mine, other = [repr(one) for one in own], [repr(one) for one in value]
        return float(max(len(set(mine) - set(other)), len(set(other) - set(mine)), 1))
    return 1.0


def _imagined(record: StepRecord, own: Any, hints: Sequence[str]) -> Iterator[Alternative]:  # noqa: ANN401
    if record.tool in FINDING:
        yield from _other_regions(record, own)
    elif record.tool == "VQA":
        yield from (Alternative(text, 1.0) for text in _other_answers(record, str(own), hints))
    elif record.tool == "SELECT":
        given = _given(record)
        yield from (Alternative([one], 1.0) for one in given)
        yield Alternative(given, 2.0)
        yield Alternative([], 2.0)
    elif record.tool == "CLASSIFY":
        yield from _other_labels(record, own)
    elif record.tool == "LIST" and isinstance(own, list):
        yield from (Alternative([*own, hint], 1.5) for hint in hints if hint not in own)


def _other_regions(record: StepRecord, own: list[Region]) -> Iterator[Alternative]:
    for number in range(len(own)):
        yield Alternative([*own[:number], *own[number + 1 :]], 1.0)
    phantoms = _phantoms(record)
    for one in phantoms:
        yield Alternative([*own, one], 1.2)
    for one in phantoms[:4]:
        yield Alternative([replace(one, score=1.0), *own], 1.6)
    if len(own) > 1:
        yield Alternative([], 2.0)
    yield Alternative([*own, *phantoms[:2]], 2.2)
    yield Alternative([*own, *phantoms[:3]], 3.2)


def _phantoms(record: StepRecord) -> list[Region]:
    """Regions at the edges and in the middle of the picture: where a thing may be that nobody saw."""
    image = from_json(record.arguments.get("image"))
    label = str(record.arguments.get("object", "face" if record.tool == "FACEDET" else ""))
    width, height = getattr(image, "width", 3), getattr(image, "height", 3)
    w, h = max(width // 4, 1), max(height // 4, 1)
    places = {"left": (0, height // 2 - h // 2), "right": (width - w, height // 2 - h // 2),
              "top": (width // 2 - w // 2, 0), "bottom": (width // 2 - w // 2, height - h),
              "middle": (width // 2 - w // 2, height // 2 - h // 2)}  # fmt: skip
    return [
        Region((max(x, 0), max(y, 0), max(x, 0) + w, max(y, 0) + h), 0.01, label, picture=getattr(image, "id", ""))
        for x, y in (places[edge] for edge in _EDGES)
    ]


def _other_answers(record: StepRecord, own: str, hints: Sequence[str]) -> Iterator[str]:
    if own in {"yes", "no"}:
        yield "no" if own == "yes" else "yes"
        return
    question = str(record.arguments.get("question", "")).casefold()
    choice = re.search(r"(\w+) or (\w+)\W*$", question)
    if choice:
        yield from (option for option in choice.groups() if not same(option, own))
        return
    number = as_number(own)
    if number is not None:
        yield from (as_text(number + step) for step in (1, -1, 2, -2, 3) if number + step >= 0)
    yield from (hint for hint in hints if not same(hint, own))
    if own in COLOURS:
        yield from sorted(COLOURS - {own})
    elif own in SIZES:
        yield from ("small", "large")


def _given(record: StepRecord) -> list[Region]:
    given = from_json(record.arguments.get("object"))
    listed = [given] if isinstance(given, Region) else given
    return [one for one in listed if isinstance(one, Region)] if isinstance(listed, list) else []


def _other_labels(record: StepRecord, own: list[Region]) -> Iterator[Alternative]:
    categories = from_json(record.arguments.get("categories"))
    names = categories if isinstance(categories, list) else str(categories).split(",")
    for number in range(len(own)):
        yield Alternative([*own[:number], *own[number + 1 :]], 1.0)
    shown = {one.box for one in own}
    dropped = [one for one in _given(record) if one.box not in shown]
    for name in names[:8]:
        for number, one in enumerate(own):
            yield Alternative([*own[:number], replace(one, label=str(name)), *own[number + 1 :]], 1.2)
        yield from (Alternative([*own, replace(one, label=str(name))], 1.2) for one in dropped)


def _as_listed(record: StepRecord, own: list[Region], expected: Sequence[str]) -> list[Alternative]:
    """The names of the feedback given to the regions: labels that it lists stay, the others are exchanged for the rest.

    A classifier that takes one thing for another does so with each of them: names that change count, not regions.
    """
    categories = from_json(record.arguments.get("categories"))
    known = {name.casefold(): name for name in map(str, categories)} if isinstance(categories, list) else {}
    wanted = Counter(known[name] for name in expected if name in known)
    now = {one.box: one.label for one in own}
    named: list[Region] = []
    for one in own:
        if wanted[one.label] > 0:
            wanted[one.label] -= 1
            named.append(one)
    taken = {one.box for one in named}
    left = [one for one in _given(record) if one.box not in taken]
    for name in wanted.elements():
        # What was found under that name, else what has a wrong one, else what was left out.
        best = min(left, key=lambda one: (one.label != name, one.box not in now), default=None)
        if best is not None:
            left.remove(best)
            named.append(replace(best, label=name))
    changed = {(now.get(one.box, ""), one.label) for one in named if now.get(one.box) != one.label}
    dropped = {label for box, label in now.items() if box not in {one.box for one in named}}
    return [Alternative(named, 1.2 * (len(changed) + len(dropped)), suggested=1.0)] if changed or dropped else []


def hints_of(program: str, *more: str) -> list[str]:
    """Return the words that answers are compared with in a program, and the given ones, each once."""
    found = [one or other for one, other in _QUOTED.findall(program.replace("\\'", "'"))]
    words = [*(one for text in more for one in text.split(",")), *found]
    return [word for word in dict.fromkeys(one.strip() for one in words) if word and word not in {"yes", "no"}][:24]


# --- programs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProgramEdit:
    """Another program: its text, the addresses of the statements that differ, and what changed in words."""

    program: str
    addresses: tuple[str, ...]
    said: str


def difference(program: str, other: str) -> ProgramEdit | None:
    """Compare a program with the one that should have been written; None where they say the same."""
    old, new = _located(program), _located(other)
    if not old and new:
        return ProgramEdit(other, ("1",), "something that can be read")
    matcher = difflib.SequenceMatcher(None, [text for _, text in old], [text for _, text in new], autojunk=False)
    addresses: list[str] = []
    said: list[str] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            continue
        addresses += [address for address, _ in old[i : max(j, min(i + 1, len(old)))]]
        wrong, right = "; ".join(text for _, text in old[i:j]), "; ".join(text for _, text in new[k:m])
        said.append(f"“{right}” instead of “{wrong}”" if wrong and right else f"“{wrong or right}”")
    return ProgramEdit(other, tuple(dict.fromkeys(addresses)), ", ".join(said)) if addresses else None


def _located(program: str) -> list[tuple[str, str]]:
    """Return each statement's address (of a loop's first iteration) and its text without blanks."""
    try:
        return list(_addressed(programs.parse(program).statements, ""))
    except programs.ProgramError:
        return []


def _addressed(statements: Sequence[Statement], prefix: str) -> Iterator[tuple[str, str]]:
    for number, statement in enumerate(statements, start=1):
        address = f"{prefix}{number}"
        yield address, _text(statement)
        if isinstance(statement, If):
            yield from _addressed(statement.then, f"{address}.then.")
            yield from _addressed(statement.otherwise, f"{address}.else.")
        elif isinstance(statement, For):
            yield from _addressed(statement.body, f"{address}[1].")


def _text(statement: Statement) -> str:
    match statement:
        case Call():
            arguments = ",".join(f"{name}={value.text}" for name, value in statement.arguments.items())
            return f"{statement.target}={statement.tool}({arguments})"
        case Assign():
            return f"{statement.target}={statement.value.text}"
        case If():
            return f"if {statement.condition.text}"
        case For():
            return f"for {statement.variable} in {statement.iterable.text}"


_EXCHANGES: Final = (
    (r" > ", (" < ", " >= ", " == ")), (r" < ", (" > ", " <= ", " == ")), (r" >= ", (" > ", " == ")),
    (r" <= ", (" < ", " == ")), (r" == ", (" != ", " >= ", " <= ")), (r" != ", (" == ",)),
    (r"\band\b", ("or", "xor")), (r"\bor\b", ("and", "xor")), (r"\bxor\b", ("or", "and")),
    ("CROP_LEFTOF", ("CROP_RIGHTOF",)), ("CROP_RIGHTOF", ("CROP_LEFTOF",)),
    ("CROP_ABOVE", ("CROP_BELOW",)), ("CROP_BELOW", ("CROP_ABOVE",)),
    ("image=LEFT", ("image=RIGHT",)), ("image=RIGHT", ("image=LEFT",)),
)  # fmt: skip


def edits(program: str) -> list[ProgramEdit]:
    """Return programs that differ in one operator, direction, picture or number."""
    return [edit for text in _changed(program) if (edit := difference(program, text))][:MAX_EDITS]


def _changed(program: str) -> Iterator[str]:
    for pattern, others in _EXCHANGES:
        for found in re.finditer(pattern, program):
            yield from (program[: found.start()] + other + program[found.end() :] for other in others)
    for found in re.finditer(r"(?<=[=<>] )\d+\b", program):
        for number in (int(found[0]) - 1, int(found[0]) + 1):
            if number >= 0:
                yield program[: found.start()] + str(number) + program[found.end() :]
