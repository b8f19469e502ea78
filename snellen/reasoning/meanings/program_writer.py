"""Writing a program line by line: names of variables, blocks, and the sentences of its plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

_INDENT: Final = "    "


@dataclass(frozen=True)
class RegionList:
    """Regions in a program: a variable, or some items of it.

    Attributes:
        variable: The variable that holds the list.
        start: The first item.
        end: The item after the last; None for all.
        kind: What the regions were located as; empty where they are of several kinds.
        image: The variable of the picture that they are in; empty where they are in several.
        is_one: Whether the variable holds one region instead of a list.
    """

    variable: str
    start: int = 0
    end: int | None = None
    kind: str = ""
    image: str = ""
    is_one: bool = False

    @property
    def expression(self) -> str:
        """The list as an expression: ``BOX0``, ``BOX0[:1]``."""
        if self.end is None:
            return self.variable
        return f"{self.variable}[{self.start or ''}:{self.end}]"

    @property
    def first(self) -> str:
        """The first of its regions as an expression: ``BOX0[0]``."""
        return self.variable if self.is_one else f"{self.variable}[{self.start}]"


@dataclass(frozen=True)
class ProgramGuard:
    """A condition under which there is no answer but a sentence."""

    condition: str
    sentence: str


@dataclass
class ProgramWriter:
    """The lines of a program so far, its guards that no line has yet, and its plan."""

    lines: list[str] = field(default_factory=list)
    plan: list[str] = field(default_factory=list)
    guards: list[ProgramGuard] = field(default_factory=list)
    _numbers: Counter[str] = field(default_factory=Counter)
    _depth: int = 0

    def fresh(self, stem: str) -> str:
        """Return a name that no variable has yet: ``BOX0``, then ``BOX1``."""
        name = f"{stem}{self._numbers[stem]}"
        self._numbers[stem] += 1
        return name

    def line(self, text: str) -> None:
        """Write a line in the block that is open."""
        self.lines.append(_INDENT * self._depth + text)

    def assign(self, stem: str, expression: str) -> str:
        """Write ``NAME=expression`` and return the fresh name."""
        name = self.fresh(stem)
        self.line(f"{name}={expression}")
        return name

    def assign_to(self, name: str, expression: str) -> None:
        """Write ``name=expression``; a variable that the last line has just computed is named so instead."""
        indent = _INDENT * self._depth
        if expression.isidentifier() and self.lines[-1].startswith(f"{indent}{expression}="):
            computed = self.lines.pop().removeprefix(f"{indent}{expression}=")
            expression = computed
        self.line(f"{name}={expression}")

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Open a block: ``for B in BOX0:``; an empty header goes on in the one that `alternative` opened."""
        if header:
            self.line(header)
        self._depth += 1
        yield
        self._depth -= 1

    def alternative(self, write: Callable[[], str]) -> tuple[str, bool]:
        """Write steps into an ``else:`` block that is opened where there are any.

        Returns:
            What ``write`` returns, and whether it wrote a step.
        """
        start = len(self.lines)
        self._depth += 1
        result = write()
        self._depth -= 1
        wrote = len(self.lines) > start
        if wrote:
            self.lines.insert(start, _INDENT * self._depth + "else:")
        return result, wrote

    def say(self, sentence: str) -> None:
        """Add a sentence to the plan, once."""
        if sentence not in self.plan:
            self.plan.append(sentence)

    def guard(self, condition: str, sentence: str) -> None:
        """Note that under a condition there is no answer but a sentence, once."""
        guard = ProgramGuard(condition, sentence)
        if guard not in self.guards:
            self.guards.append(guard)

    def take_guards(self) -> list[ProgramGuard]:
        """Return the guards that were noted, which are then written."""
        guards, self.guards = self.guards, []
        return guards


def text(words: str) -> str:
    """Write words as a text of the language, in which nothing is filled in."""
    plain = words.translate(str.maketrans("{}", "()", '"\\\n'))
    return f'"{plain}"' if "'" in plain else f"'{plain}'"
