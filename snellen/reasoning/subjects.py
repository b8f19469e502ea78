"""The constructs of the language that a demonstration is about: demonstrations are chosen by them (docs/memory.md)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from snellen.tools.program import RESULT, ProgramError, parse
from snellen.tools.program.constructs import all_constructs, constructs_of

if TYPE_CHECKING:
    from snellen.memory.demonstrations import Demonstration

_NAMED: Final = re.compile(r"\b[A-Z]{2}[A-Z_]*\b|\b[a-z]+(?=\()")


def subjects_of(shown: Demonstration) -> frozenset[str]:
    """Return the constructs that a demonstration's program uses, and those that its critique names.

    A critique names what would have been right, so that a mistake is about that, too. Of a program that cannot be read,
    and of a plan without one, only the critique counts.
    """
    return _used_in(shown.program) | _named_in(shown.critique)


@lru_cache(maxsize=4096)
def _used_in(program: str) -> frozenset[str]:
    try:
        # Every program has a result: it tells nothing.
        return constructs_of(parse(program)) - {RESULT} if program else frozenset()
    except ProgramError:
        return _named_in(program)


@lru_cache(maxsize=4096)
def _named_in(text: str) -> frozenset[str]:
    """Return the tools and functions that a text names: tools are upper-case, functions have a bracket behind them."""
    names = {name if name.isupper() else f"{name}()" for name in _NAMED.findall(text)}
    return (all_constructs() & names) - {RESULT}
