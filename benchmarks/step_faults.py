"""Steps at fault for a wrong answer, found by comparing a run with that of perfect sight.

Where every step that sees is given what perfect sight sees, the answer is right. Then one step after the other sees by
itself again; those without whose true output the answer is wrong are at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.reference_programs import SeenScenes
from snellen.scoring.detection import iou
from snellen.tools.program import StepRecord
from snellen.values import Picture, Region, Value, as_text

SEEING: Final = frozenset(
    (
        *("LOC", "THINGS", "NAME", "SEG", "BACKGROUND", "MASK", "FACEDET"),
        *("VQA", "CAPTION", "DESCRIBE", "SAME", "CLASSIFY", "SELECT", "REPLACE"),
    )
)
"""The tools whose output depends on models."""
_SAME_THING: Final = 0.5


@dataclass(frozen=True)
class StepFault:
    """A step that saw something else than there is.

    Attributes:
        tool: Its tool.
        source: The step.
        cause: The difference between what it gave and what is true.
    """

    tool: str
    source: str
    cause: str


def faults_of(seen: SeenScenes, program: str, is_right: Callable[[Sequence[StepRecord]], bool]) -> list[StepFault]:
    """Return the steps at fault for a wrong answer; none where even their true outputs do not make it right."""
    true = {record.address: record for record in seen.truth(program)}
    given: dict[str, Value] = {
        address: record.value for address, record in true.items() if record.tool in SEEING and record.error is None
    }
    if not is_right(seen.look(program, given)):
        return []
    for address in list(given):
        without = {each: value for each, value in given.items() if each != address}
        if is_right(seen.look(program, without)):
            given = without
    faults = []
    for address in given:
        rest = {each: value for each, value in given.items() if each != address}
        own = next((record for record in seen.look(program, rest) if record.address == address), None)
        record = true[address]
        cause = "it was not reached" if own is None else own.error or difference(own.value, record.value)
        faults.append(StepFault(record.tool, record.source.strip(), cause))
    return faults


def difference(seen: Value, true: Value) -> str:
    """Say how what a step gave differs from what is true."""
    if not (isinstance(seen, list) and isinstance(true, list)):
        if isinstance(seen, Picture):
            return "another picture"
        return f"{as_text(seen)!r}, and it is {as_text(true)!r}"
    regions = [each for each in seen if isinstance(each, Region)]
    things = [each for each in true if isinstance(each, Region)]
    pairs = _matched(regions, things)
    misnamed = [f"{a.label} for {b.label}" for a, b in pairs if a.label != b.label]
    missed = [b.label for b in things if all(b is not other for _, other in pairs)]
    invented = [a.label for a in regions if all(a is not other for other, _ in pairs)]
    parts = [
        f"took {', '.join(misnamed)}" if misnamed else "",
        f"missed {', '.join(missed)}" if missed else "",
        f"saw {', '.join(invented)} where none is" if invented else "",
    ]
    return "; ".join(filter(None, parts)) or f"boxes off by up to {_farthest(pairs)} pixels"


def _matched(seen: Sequence[Region], true: Sequence[Region]) -> list[tuple[Region, Region]]:
    """Pair regions that show one thing, the best overlap first."""
    overlaps = sorted(((iou(a.box, b.box), i, j) for i, a in enumerate(seen) for j, b in enumerate(true)), reverse=True)
    pairs: list[tuple[int, int]] = []
    for share, i, j in overlaps:
        if share >= _SAME_THING and all(i != a and j != b for a, b in pairs):
            pairs.append((i, j))
    return [(seen[i], true[j]) for i, j in pairs]


def _farthest(pairs: Sequence[tuple[Region, Region]]) -> int:
    return max((abs(a - b) for one, other in pairs for a, b in zip(one.box, other.box, strict=True)), default=0)
