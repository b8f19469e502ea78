"""Run a checked program step by step, each step leaving a record."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from snellen import values
from snellen.errors import BadInput, SnellenError, out_of_memory
from snellen.tools.evidence import ToolEvidence
from snellen.tools.program.check import check
from snellen.tools.program.evaluation import evaluate
from snellen.tools.program.expressions import Expression
from snellen.tools.program.steps import FOR, IF, SET, StepRecord
from snellen.tools.program.syntax import (
    NO_PROFILE,
    Assign,
    Call,
    For,
    If,
    Program,
    ProgramError,
    ProgramLimits,
    Statement,
    takes_expression,
)
from snellen.tools.registry import Catalogue, ToolContext, catalogue
from snellen.values import Value


def run(
    program: Program,
    inputs: Mapping[str, Value],
    context: ToolContext,
    limits: ProgramLimits = NO_PROFILE,
    done: Sequence[StepRecord] = (),
    *,
    overrides: Mapping[str, Value] | None = None,
    known: Iterable[StepRecord] = (),
) -> Iterator[StepRecord]:
    """Run a program, yielding the record of each step as soon as it is executed.

    A step that fails is the last: its record carries the error, for what tools, values, limits and the
    machine can do wrong. Calls block; run it on a worker thread.

    Args:
        program: The program; it is checked first.
        inputs: The values of its inputs by name.
        context: What its tools may use.
        limits: Where it is stopped; steps and seconds of ``done`` count.
        done: Records of an interrupted run of the same program: their outputs are taken as they are, and
            they are not yielded again. A failed one is tried again.
        overrides: Outputs by address (``"2"``, ``"3.then.1"``, ``"4[2].1"``): a step there takes its output from here
            instead of computing it, and its record says so (``given``). An ``IF`` is given the branch, a ``FOR`` its
            list. Addresses that the run does not reach change nothing.
        known: Records of other runs: a step that calls the same tool with equal arguments takes their output.

    Raises:
        ProgramError: The program does not check against the inputs; nothing was run.
    """
    problems = check(program, {name: values.kind_of(value) for name, value in inputs.items()}, limits)
    if problems:
        raise ProgramError(problems)
    execution = _Execution(
        context,
        limits,
        catalogue(),
        dict(inputs),
        done={record.address: record for record in done},
        overrides=overrides or {},
        known={_call_of(record.tool, record.arguments): record for record in known if _can_be_known(record)},
    )
    return execution.block(program.statements, "")


@dataclass
class _Outcome:
    """The result of a step and its arguments, which stay when the tool fails."""

    arguments: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    evidence: dict[str, Any] = field(default_factory=dict)


def _failure(tool: str, raised: Exception) -> str:
    if isinstance(raised, SnellenError):
        return str(raised)
    # The machine's: a full disk, a broken accelerator.
    return f"{tool} failed on this machine ({type(raised).__name__}: {raised}); free space and resume"


def _begun(statement: Statement, address: str) -> StepRecord:
    record = StepRecord(address=address, line=statement.line, source=statement.source, tool=SET)
    match statement:
        case Call():
            return replace(record, tool=statement.tool, target=statement.target)
        case Assign():
            return replace(record, target=statement.target)
        case If():
            return replace(record, tool=IF)
        case For():
            return replace(record, tool=FOR)


@dataclass
class _Execution:
    context: ToolContext
    limits: ProgramLimits
    tools: Catalogue
    variables: dict[str, Value]
    done: Mapping[str, StepRecord]
    overrides: Mapping[str, Value] = field(default_factory=dict)
    known: Mapping[str, StepRecord] = field(default_factory=dict)
    steps: int = 0
    seconds: float = field(default=0.0)
    failed: bool = False

    def block(self, statements: Sequence[Statement], prefix: str) -> Iterator[StepRecord]:
        for number, statement in enumerate(statements, start=1):
            if self.failed:
                return
            address = f"{prefix}{number}"
            record, repeated = self._step(statement, address)
            if not repeated:
                yield record
            if record.error is not None:
                self.failed = True
                return
            yield from self._after(statement, address, record.value)

    def _after(self, statement: Statement, address: str, output: Any) -> Iterator[StepRecord]:  # noqa: ANN401
        match statement:
            case Call() | Assign():
                self.variables[statement.target] = output
            case If():
                branch, name = (statement.then, "then") if output else (statement.otherwise, "else")
                yield from self.block(branch, f"{address}.{name}.")
            case For():
                for number, item in enumerate(output, start=1):
                    self.variables[statement.variable] = item
                    yield from self.block(statement.body, f"{address}[{number}].")

    def _step(self, statement: Statement, address: str) -> tuple[StepRecord, bool]:
        self.steps += 1
        before = self.done.get(address)
        if before is not None and before.error is None:
            self.seconds += before.seconds
            return before, True
        record = self._execute(statement, address)
        self.seconds += record.seconds
        return record, False

    def _execute(self, statement: Statement, address: str) -> StepRecord:
        record = _begun(statement, address)
        started = time.monotonic()
        deadline = started + self.limits.seconds - self.seconds
        context = replace(
            self.context, variables=self.variables, warnings=[], evidence=ToolEvidence(), deadline=deadline
        )
        error: str | None = None
        outcome = _Outcome()
        try:
            self._check_limits()
            self._compute(statement, address, context, outcome)
        except (SnellenError, OSError, MemoryError, RuntimeError) as raised:
            if (shortage := out_of_memory(raised)) is not None:  # no fault of the program: it can be run again
                raise shortage from raised
            error = _failure(record.tool, raised)
        return replace(
            record,
            arguments={name: values.to_json(value) for name, value in outcome.arguments.items()},
            output=values.to_json(outcome.output),
            pictures=values.picture_ids([*outcome.arguments.values(), outcome.output]),
            seconds=time.monotonic() - started,
            error=error,
            warnings=context.warnings,
            evidence=context.evidence.to_json() | outcome.evidence,
            given=address in self.overrides,
        )

    def _check_limits(self) -> None:
        if self.steps > self.limits.steps:
            msg = f"the program was stopped after {self.limits.steps} steps; go through fewer items"
            raise BadInput(msg)
        if self.seconds > self.limits.seconds:
            msg = f"the program was stopped after {self.limits.seconds:g} seconds; use fewer steps or a smaller picture"
            raise BadInput(msg)

    def _compute(self, statement: Statement, address: str, context: ToolContext, outcome: _Outcome) -> None:
        if address in self.overrides:
            self._give(statement, self.overrides[address], outcome)
            return
        match statement:
            case Call():
                self._call(statement, context, outcome)
            case Assign():
                outcome.output = evaluate(statement.value, self.variables)
            case If():
                outcome.arguments["condition"] = statement.condition.text
                outcome.output = values.truth(evaluate(statement.condition, self.variables))
            case For():
                outcome.output = self._items(statement)

    def _give(self, statement: Statement, output: Value, outcome: _Outcome) -> None:
        """Take an output from outside, where it is of the kind that the step computes."""
        kind = values.ANY
        if isinstance(statement, Call):
            self._evaluate_arguments(statement, outcome)
            kind = getattr(self.tools.find(statement.tool), "returns", values.ANY)
        if isinstance(statement, For) and not isinstance(output, list | tuple):
            msg = f"for goes through a list, but it is given {values.describe(output)}"
            raise BadInput(msg)
        value = values.truth(output) if isinstance(statement, If) else values.convert(output, kind)
        outcome.output = list(value) if isinstance(value, tuple) else value

    def _evaluate_arguments(self, call: Call, outcome: _Outcome) -> None:
        for name, expression in call.arguments.items():
            outcome.arguments[name] = self._argument(call.tool, name, expression)

    def _call(self, call: Call, context: ToolContext, outcome: _Outcome) -> None:
        self._evaluate_arguments(call, outcome)
        before = self.known.get(self._named(call, outcome)) if self.known else None
        if before is not None:
            outcome.output = before.value
            context.warnings.extend(before.warnings)
            outcome.evidence = before.evidence
            return
        tool = self.tools.find(call.tool)
        if tool is None:
            msg = f"tool {call.tool} is unknown; the tools are {', '.join(self.tools.names())}"
            raise BadInput(msg)
        outcome.output = tool(context, **outcome.arguments)

    def _named(self, call: Call, outcome: _Outcome) -> str:
        return _call_of(call.tool, {name: values.to_json(value) for name, value in outcome.arguments.items()})

    def _argument(self, tool: str, name: str, expression: Expression) -> Any:  # noqa: ANN401 - any value
        if takes_expression(tool, name):
            return expression.text
        return evaluate(expression, self.variables)

    def _items(self, statement: For) -> list[Any]:
        items = evaluate(statement.iterable, self.variables)
        if not isinstance(items, list):
            msg = f"for goes through a list, but {statement.iterable.text} is {values.describe(items)}"
            raise BadInput(msg)
        if len(items) > self.limits.iterations:
            most = self.limits.iterations
            msg = f"for goes through at most {most} items, not {len(items)}; take {statement.iterable.text}[:{most}]"
            raise BadInput(msg)
        return items


def _call_of(tool: str, arguments: Mapping[str, values.Json]) -> str:
    """Name a call by its tool and arguments."""
    return f"{tool} {json.dumps(arguments, sort_keys=True)}"


def _can_be_known(record: StepRecord) -> bool:
    """Tell whether a record holds for equal calls of other runs: it was computed from arguments alone, and well."""
    computes = any(takes_expression(record.tool, name) for name in record.arguments)
    return not record.given and record.error is None and record.tool not in {SET, IF, FOR} and not computes
