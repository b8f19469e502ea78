"""Trouble in a run: failures, results that rest on nothing, contradictions, found in the records of its steps alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from snellen.reasoning.contradictions import contradictions
from snellen.tools.program import Assign, Call, For, If, Program, Statement, StepRecord
from snellen.tools.program.rewriting import statement_at
from snellen.tools.registry import Tool, catalogue
from snellen.values import ANY, GROUPS, REGIONS, Untaught

TroubleKind = Literal["error", "empty", "contradiction"]

MAX_REASON: Final = 300
"""Characters of the sentence about a trouble."""
_COUNTING: Final = frozenset({"COUNT", "EVAL", "RESULT"})
"""Tools for which nothing is a number, a truth or an answer like any other."""


@dataclass(frozen=True)
class Trouble:
    """Trouble of a run.

    Attributes:
        kind: ``error``: a step failed. ``empty``: nothing was found, and a later step rests on it. ``contradiction``:
            results of which one must be wrong.
        address: The step at which it shows: that failed, rests on nothing, or was asked last.
        reason: It in a sentence.
        causes: The steps from which it may come, in order: those that found nothing, or that contradict.
    """

    kind: TroubleKind
    address: str
    reason: str
    causes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the trouble as plain JSON."""
        return asdict(self) | {"causes": list(self.causes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trouble:
        """Read a trouble that :meth:`to_json` wrote."""
        return cls(data["kind"], data["address"], data["reason"], tuple(data["causes"]))


def trouble_in(program: Program, records: Sequence[StepRecord]) -> Trouble | None:
    """Return the gravest trouble of a run: a failed step, else nothing that a step rests on, else a contradiction.

    That nothing was found is no trouble where it is counted, tested, gone through, or the answer itself: 0, "no" and
    none are answers. It is one where a later step cannot do without: a picture is cut from it, edited or named by it,
    or a relation refers to it. What makes regions of regions (FILTER, SORT, LEFT_OF's ``object``) hands nothing on.

    A name that no tool was taught is none either: no other program knows it, and the answer says so.

    Args:
        program: The program that was run.
        records: Its steps in order; where some were left out of the middle, less is found.
    """
    steps = _Steps(program)
    resting: Trouble | None = None
    for record in records:
        trouble = steps.take(record)
        if trouble is not None and trouble.kind == "error":
            return trouble
        resting = resting or trouble
    if resting is not None:
        return resting
    found = next(contradictions([record.to_json() for record in records]), None)
    return None if found is None else _trouble("contradiction", found.addresses[-1], found.sentence, found.addresses)


def _trouble(kind: TroubleKind, address: str, reason: str, causes: Sequence[str]) -> Trouble:
    return Trouble(kind, address, " ".join(reason.split())[:MAX_REASON], tuple(dict.fromkeys(causes)))


class _Steps:
    """Follows through a run which variables hold nothing, and which steps that comes from."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._nothing: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, str] = {}

    def take(self, record: StepRecord) -> Trouble | None:
        """Take the next step, and return its trouble."""
        statement = statement_at(self._program, record.address)
        if record.error is not None:
            causes = () if statement is None else self._origins(_names(statement))
            return _trouble("error", record.address, f"Step {record.address} failed: {record.error}", causes)
        self._sources[record.address] = record.source
        if not isinstance(statement, Call | Assign):
            return None
        causes = self._rests_on(statement, record) if isinstance(statement, Call) else ()
        self._note(statement, record)
        if not causes:
            return None
        empty = ", ".join(f"step {one} ({self._sources.get(one, '')})" for one in causes)
        reason = f"Step {record.address} ({record.source}) rests on nothing: {empty} found none."
        return _trouble("empty", record.address, reason, causes)

    def _rests_on(self, call: Call, record: StepRecord) -> tuple[str, ...]:
        """Return the steps that found nothing of what a call cannot do without."""
        tool = catalogue().find(call.tool)
        if tool is None or tool.name in _COUNTING:
            return ()
        names = [
            name
            for argument, expression in call.arguments.items()
            if _needs(tool, argument) and record.arguments.get(argument) == []
            for name in expression.names
        ]
        return self._origins(names)

    def _note(self, statement: Call | Assign, record: StepRecord) -> None:
        """Note whether a step's variable holds nothing: found by the step itself, or handed on by it."""
        value = record.value
        self._nothing.pop(statement.target, None)
        if not isinstance(value, list) or value or isinstance(value, Untaught):
            return
        origins = self._origins(_names(statement))
        tool = catalogue().find(statement.tool) if isinstance(statement, Call) else None
        if not origins and tool is not None and tool.returns == REGIONS:
            origins = (record.address,)
        if origins:
            self._nothing[statement.target] = origins

    def _origins(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(address for name in names for address in self._nothing.get(name, ())))


def _needs(tool: Tool, argument: str) -> bool:
    """Tell whether a tool cannot do without regions in an argument."""
    parameter = tool.parameter(argument)
    if parameter is None or parameter.kind not in {REGIONS, GROUPS}:
        return False
    makes_regions = tool.returns in {REGIONS, GROUPS, ANY}
    is_reference = tool.parameter("of") is not None and argument != "object"
    return is_reference or not makes_regions


def _names(statement: Statement) -> list[str]:
    """Return the variables that a statement itself reads."""
    return [name for expression in _expressions(statement) for name in expression.names]


def _expressions(statement: Statement) -> Iterator[Any]:
    match statement:
        case Call():
            yield from statement.arguments.values()
        case Assign():
            yield statement.value
        case If():
            yield statement.condition
        case For():
            yield statement.iterable
