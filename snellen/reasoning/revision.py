"""Revisions of a program whose run was in trouble: as a Reasoner proposes them, and as a state keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.tools.program import ProgramError, parse
from snellen.tools.program.rewriting import rewritten

if TYPE_CHECKING:
    from snellen.reasoning.task import Plan
    from snellen.reasoning.trouble import TroubleKind

MAX_REVISIONS: Final = 2
"""Revisions of the program of one attempt."""
MAX_REVISED_BYTES: Final = 3_000
"""For a plan or a program that is revised: it is kept beside the present ones. Longer ones are left as they are."""
MAX_CHANGE: Final = 300
"""Characters of the sentence that says what was changed."""


@dataclass(frozen=True)
class ProposedRevision:
    """A proposal of a Reasoner.

    Attributes:
        plan: The plan of the revised program.
        program: Its text: it parses and checks.
        change: The difference in a sentence: "Look for the house in the whole picture."
    """

    plan: Plan
    program: str
    change: str


@dataclass(frozen=True)
class Revision:
    """A revision of an attempt.

    Attributes:
        kind: The kind of trouble that was the reason.
        trouble: It in a sentence.
        change: The change in a sentence.
        program: The program before.
        revised: The program after.
        helped: Whether its run was in less trouble; then it is kept, else the run before. None until it was run.
    """

    kind: TroubleKind
    trouble: str
    change: str
    program: str
    revised: str
    helped: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the revision as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Revision:
        """Read a revision that :meth:`to_json` wrote."""
        return cls(**data)


def same_program(one: str, other: str) -> bool:
    """Tell whether two programs are the same but for blanks, comments and quotes."""
    return _plain(one) == _plain(other)


def _plain(program: str) -> str:
    try:
        return rewritten(parse(program), lambda statement: [statement])
    except ProgramError:
        return program
