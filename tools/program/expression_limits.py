"""Bounds of expressions: the sizes that no value may pass, and the error of an expression that cannot be computed."""

from __future__ import annotations

from typing import Any, Final

from snellen.errors import BadInput
from snellen.values import as_number, describe

MAX_CHARACTERS: Final = 2_000
"""Length of an expression's text, and of any text it computes."""
MAX_NODES: Final = 400
MAX_DEPTH: Final = 50
MAX_ITEMS: Final = 256
"""Length of any list that an expression computes."""
MAX_NUMBER: Final = 10**15
MAX_EXPONENT: Final = 32
MAX_LIST_CHARACTERS: Final = 8_000
MAX_SHOWN: Final = 60


class ExpressionError(BadInput):
    """An expression uses something that is not allowed, or its values do not fit together.

    ``line`` is the line of the parsed text where it cannot be read, when Python told.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        """Keep the line beside the message."""
        super().__init__(message)
        self.line = line


def bounded(value: Any) -> Any:  # noqa: ANN401 - passes a value through
    """Return a value that an expression computed.

    Raises:
        ExpressionError: It is too long or too large, or is no number.
    """
    if isinstance(value, list) and len(value) > MAX_ITEMS:
        msg = f"a list grew beyond {MAX_ITEMS} items"
        raise ExpressionError(msg)
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        msg = f"a text grew beyond {MAX_CHARACTERS} characters"
        raise ExpressionError(msg)
    if isinstance(value, list) and sum(len(item) for item in value if isinstance(item, str)) > MAX_LIST_CHARACTERS:
        msg = f"the texts of a list grew beyond {MAX_LIST_CHARACTERS} characters"
        raise ExpressionError(msg)
    if isinstance(value, complex) or (isinstance(value, int | float) and not abs(value) <= MAX_NUMBER):
        msg = "the result is no number up to 10**15"
        raise ExpressionError(msg)
    return value


def read_number(value: object) -> int | float:
    """Return a value as a number.

    Raises:
        ExpressionError: It reads as none.
    """
    read = as_number(value)
    if read is None:
        hint = "; use len(…) to count a list" if isinstance(value, list) else ""
        msg = f"expected a number, but this is {describe(value)}{hint}"
        raise ExpressionError(msg)
    return read
