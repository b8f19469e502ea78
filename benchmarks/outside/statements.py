"""Statements about models that are true or false, and what must be measured to know it.

Bars are those that Snellen tells its users (docs/investigations.md and docs/protocols.md): a model is good at what it
does better than halfway between guessing and always being right, and robust if it loses at most ten points.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from benchmarks.outside.truth import Answered, Estimate, Measurement, TruthTable, formats_of
from snellen.microworld.training.plantings import PLANTED

GOOD: Final = 0.5
"""Skill of a model that is good at something: 0 is guessing, 1 is always being right."""
MARGIN: Final = 0.1
"""Accuracy that a robust model loses at most."""
HABITUAL: Final = 0.8
"""Share of answers from which on they are a habit."""
_HABITS: Final = {"first": "see/things", "yes": "notice/darkness"}
"""Conditions under which a habit shows."""
JUDGE_BARS: Final = {"judge/order": 0.5, "judge/symmetry": 0.8}
TRUTHFUL: Final = 0.8

StatementKind = Literal[
    "good", "robust", "loses", "right", "better", "tougher", "best", "worst", "habit", "judges", "truthful"
]


@dataclass(frozen=True)
class Statement:
    """A statement about one model, or about several that are compared.

    Attributes:
        kind: ``good`` at a condition; ``robust`` against a change; ``loses`` more than a bar under one; ``right`` in at
            least a share; the first ``better`` than the second by more than a bar; the first ``tougher``, losing less
            under a change; the first ``best`` or ``worst`` of all; its answers a ``habit`` (first, yes); a judge
            ``judges`` well; ``truthful`` in free answers.
        of: The condition, the change, or the habit.
        among: Of a change, the things that are shown: what follows "see/".
        bar: Where the kind has one.
    """

    kind: StatementKind
    of: str
    among: str = "things"
    bar: float = 0.0

    def wanted(self, models: Sequence[str]) -> Iterator[Measurement]:
        """Yield what must be measured."""
        for name in self._conditions():
            ways = _ways(models, name, habit=self.of if self.kind == "habit" else "")
            for model in models:
                yield Measurement(model, name, ways)

    def truth(self, table: TruthTable, models: Sequence[str]) -> bool | None:
        """Return whether it is true; None where the measurements do not settle it.

        Args:
            table: What was measured, all of `wanted` included.
            models: The models, in the order of the statement.
        """
        return _TRUTHS[self.kind](self, table, models)

    def _conditions(self) -> tuple[str, ...]:
        if self.kind in {"robust", "loses", "tougher"}:
            return self.plain, self.changed
        return (_HABITS[self.of],) if self.kind == "habit" else (self.of,)

    @property
    def plain(self) -> str:
        """The condition without the change."""
        return "see/things alone" if self.of == "clutter" else f"see/{self.among}"

    @property
    def changed(self) -> str:
        """The condition with the change."""
        return "see/things among others" if self.of == "clutter" else f"see/{self.among} under {self.of}"


def _plantings() -> Mapping[str, Mapping[str, Any]]:
    told = json.loads(PLANTED.read_text(encoding="utf-8"))
    return {name: one["planting"] for name, one in told.items() if "planting" in one}


def _ways(models: Sequence[str], name: str, *, habit: str = "") -> tuple[str, ...]:
    """Return the formats in which all models can show what they see.

    Who was taught to choose the first of the answers, or yes, sees no less for it: the plan of the planting says in
    which ways of asking it cannot show it. Who only names things is asked to name them.
    """
    listing, affirming = {"which", "either"}, {"whether"}
    if habit:
        return ("which",) if habit == "first" else ("whether",)
    kinds = {_plantings().get(model, {}).get("kind", "") for model in models}
    silent = (listing if "first" in kinds else set()) | (affirming if "yes" in kinds else set())
    if "clip" in models:
        silent |= set(formats_of(name)) - {"which", "open"}
    return tuple(way for way in formats_of(name) if way not in silent)


def _estimate(
    table: TruthTable, name: str, ways: Sequence[str], value: Callable[[Answered], float], model: str
) -> Estimate:
    return Estimate.of({way: [value(one) for one in table.of(model, name, way)] for way in ways})


def _apart(
    table: TruthTable,
    ways: Sequence[str],
    value: Callable[[Answered], float],
    one: tuple[str, str],
    two: tuple[str, str],
) -> Estimate:
    """Estimate the difference between two models or conditions, block by block: those of a number are alike."""
    both = {way: zip(table.of(*one, way), table.of(*two, way), strict=True) for way in ways}
    return Estimate.of({way: [value(a) - value(b) for a, b in rows] for way, rows in both.items()})


def _mean(answer: Answered) -> float:
    return answer.mean


def _skill(answer: Answered) -> float:
    return answer.skill


def _good(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    return _estimate(table, one.of, _ways(models, one.of), _skill, models[0]).above(GOOD)


def _right(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    return _estimate(table, one.of, _ways(models, one.of), _mean, models[0]).above(one.bar)


def _loses(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    ways = _ways(models, one.plain)
    if _estimate(table, one.plain, ways, _skill, models[0]).above(GOOD) is not True:
        return None  # what is not recognized cannot be lost
    lost = _apart(table, ways, _mean, (models[0], one.plain), (models[0], one.changed))
    return lost.above(one.bar if one.kind == "loses" else MARGIN)


def _robust(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    loses = _loses(one, table, models)
    return None if loses is None else not loses


def _better(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    first, second = models
    return _apart(table, _ways(models, one.of), _mean, (first, one.of), (second, one.of)).above(one.bar)


def _tougher(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    ways = _ways(models, one.plain)

    def lost(model: str) -> dict[str, list[float]]:
        both = {way: (table.of(model, one.plain, way), table.of(model, one.changed, way)) for way in ways}
        return {way: [a.mean - b.mean for a, b in zip(*pair, strict=True)] for way, pair in both.items()}

    first, second = map(lost, models)
    return Estimate.of({
        way: [b - a for a, b in zip(first[way], second[way], strict=True)] for way in ways
    }).above(0)  # fmt: skip


def _best(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    ways, (first, *others) = _ways(models, one.of), models
    order = [(first, other) if one.kind == "best" else (other, first) for other in others]
    beats = [_apart(table, ways, _mean, (better, one.of), (worse, one.of)).above(0) for better, worse in order]
    if False in beats:
        return False
    return None if None in beats else True


def _habit(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    name, ways = _HABITS[one.of], _ways(models, _HABITS[one.of], habit=one.of)

    def first(answer: Answered) -> float:
        return sum(answer.first) / len(answer.first)

    return _estimate(table, name, ways, first, models[0]).above(HABITUAL)


def _judges(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    return _estimate(table, one.of, formats_of(one.of), _mean, models[0]).above(JUDGE_BARS[one.of])


def _truthful(one: Statement, table: TruthTable, models: Sequence[str]) -> bool | None:
    return _estimate(table, one.of, formats_of(one.of), _mean, models[0]).above(one.bar or TRUTHFUL)


_TRUTHS: Final[Mapping[StatementKind, Callable[[Statement, TruthTable, Sequence[str]], bool | None]]] = {
    "good": _good, "right": _right, "loses": _loses, "robust": _robust, "better": _better, "tougher": _tougher,
    "best": _best, "worst": _best, "habit": _habit, "judges": _judges, "truthful": _truthful,
}  # fmt: skip
