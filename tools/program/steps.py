"""Records of executed steps: enough to show them, to judge them, and to go on after them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from snellen import values
from snellen.errors import BadInput, SnellenError
from snellen.tools.program.check import RESULT
from snellen.values import Json

SET: Final = "SET"
IF: Final = "IF"
FOR: Final = "FOR"
"""The ``tool`` of steps that call none: ``NAME=value``, the condition of an ``if``, the list of a ``for``."""
UNDECIDED: Final = "undecided"
"""The answer of a run that could only guess: about what no tool was taught, or where a question got no answer."""


@dataclass(frozen=True)
class StepRecord:
    """One executed step.

    Attributes:
        address: Where it stands: ``"1"``, ``"3.then.1"``, ``"3.else.2"``, ``"4[2].1"`` (second iteration).
        line: Line of the program's text, from 1.
        source: The text of the statement.
        tool: The tool it called, or ``SET``, ``IF``, ``FOR``.
        arguments: The arguments' values as JSON (``snellen.values.to_json``); EVAL's is its text.
        output: The result as JSON; of an ``IF`` the branch taken, of a ``FOR`` the list it goes through.
        target: The variable that holds the output; empty for ``IF`` and ``FOR``.
        pictures: Ids of the pictures in arguments and output, each once, output last.
        seconds: Wall-clock seconds.
        error: One sentence when it failed; the program stops there.
        warnings: Sentences for the user.
        evidence: How sure the models behind it were (``snellen.tools.evidence.ToolEvidence`` in JSON form).
        given: Whether the output was given from outside (``run``'s ``overrides``) instead of computed.
    """

    address: str
    line: int
    source: str
    tool: str
    arguments: dict[str, Json] = field(default_factory=dict)
    output: Json = None
    target: str = ""
    pictures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    evidence: dict[str, Json] = field(default_factory=dict)
    given: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the record as plain JSON; ``given`` and ``evidence`` are only written where they say something."""
        left_out = {name for name in ("evidence", "given") if not getattr(self, name)}
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    @classmethod
    def from_json(cls, data: dict[str, Json]) -> StepRecord:
        """Read a record that :meth:`to_json` wrote.

        Raises:
            BadInput: The data is no record.
        """
        try:
            return cls(**data)
        except TypeError as error:
            msg = f"a stored step cannot be read ({error}); it was not written by this version of Snellen"
            raise BadInput(msg) from error

    @property
    def value(self) -> Any:  # noqa: ANN401 - whatever the step computed
        """The output as a value of a program."""
        return values.from_json(self.output)


class ProgramFailed(SnellenError):  # noqa: N818 - read aloud as what happened
    """A program stopped at a step that failed; ``record`` is that step's."""

    def __init__(self, record: StepRecord) -> None:
        """Say where it stopped and why."""
        super().__init__(f"the program stopped at step {record.address} (line {record.line}): {record.error}")
        self.record = record


def caveat_of(records: Sequence[StepRecord]) -> str | None:
    """Return what a run's answer depends on and no tool was taught, in a sentence; ``None`` where all was."""
    names = list(dict.fromkeys(name for record in records for name in _untaught(record)))
    if not names:
        return None
    lessons = " and ".join(f"snellen learn {shlex.quote(name)}" for name in names)
    return f"never taught {' or '.join(names)}; any answer is a guess; teach it: {lessons}"


def decided_value(records: Sequence[StepRecord]) -> Any:  # noqa: ANN401 - whatever the program computed
    """Return the value of a finished run, or ``undecided``: "no" and 0 say nothing about what no tool was taught.

    Raises:
        ProgramFailed: The run stopped at a step that failed.
        BadInput: No RESULT was reached.
    """
    value = final_value(records)
    if isinstance(value, values.Picture) or caveat_of(records) is None:
        return value
    not_found = any(isinstance(record.value, values.Untaught) for record in records)
    return UNDECIDED if not_found or denies(value) else value


def denies(value: object) -> bool:
    """Tell whether an answer is that there is nothing: "no", 0, none."""
    return value == [] or values.as_text(value) in {"no", "0", "none", ""}


def _untaught(record: StepRecord) -> list[str]:
    output = record.value if record.tool not in {SET, IF, FOR} else None
    found = output.name.split(", ") if isinstance(output, values.Untaught) else []
    return [*found, *record.evidence.get("untaught", ())]


def final_value(records: Sequence[StepRecord]) -> Any:  # noqa: ANN401 - whatever the program computed
    """Return the value of the last RESULT of a finished run.

    Raises:
        ProgramFailed: The run stopped at a step that failed.
        BadInput: No RESULT was reached.
    """
    failed = next((record for record in records if record.error is not None), None)
    if failed is not None:
        raise ProgramFailed(failed)
    results = [record for record in records if record.tool == RESULT]
    if not results:
        msg = "the program gave no result; end it with FINAL_RESULT=RESULT(var=…)"
        raise BadInput(msg)
    return results[-1].value
