"""Expressions of programs, parsed and checked: EVAL, ``if``, and the arguments of a program's steps.

Text is parsed by ``ast`` and every node is checked against a list of what is allowed; nothing is ever
compiled or handed to Python's own evaluation. There are no attributes but the fields of regions and pictures, no
comprehensions and no calls but a few, and sizes are bounded, so that no expression can take more than a moment or a
page of memory.

The language: numbers, texts, lists, ``True``/``False`` (also ``yes``/``no``), variables by bare name or as
``{NAME}``, ``{NAME}``, ``{NAME.label}`` and ``{NAME[0].label}`` filled in within texts, ``+ - * / // % **``,
``== != < <= > >= in``, ``and or not``, ``a if c else b``, items and slices (steps too) of lists and texts, the fields
of ``fields.REGION_FIELDS``, and the calls of ``functions.FUNCTIONS``.
``a xor b`` and ``a ^ b`` are the same thing: exactly one of them is true. Both bind as loosely as ``or``,
from left to right, so that ``A == 1 xor B == 2`` means what it says.
``and``, ``or``, ``xor``, ``not`` and comparisons give a Bool. Comparisons follow :mod:`snellen.scoring.answers`;
text answers such as ``"no"`` are false where a condition is wanted (:func:`snellen.values.truth`).
CLOVA's table 2 uses Python's ``eval`` for this; model text must not reach it.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Final

from snellen.scoring.answers import before, contains, same
from snellen.tools.program.expression_limits import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_NODES,
    MAX_NUMBER,
    MAX_SHOWN,
    ExpressionError,
)
from snellen.tools.program.fields import check_field
from snellen.tools.program.functions import FUNCTIONS
from snellen.values import describe


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, its tree, and the variables it reads in order of appearance."""

    text: str
    tree: ast.expr = field(compare=False, repr=False)
    names: tuple[str, ...] = ()

    def constant_text(self) -> str | None:
        """Return the text that the expression is, ``None`` where it is another value or depends on variables."""
        text = self.tree.value if isinstance(self.tree, ast.Constant) and not self.names else None
        return text if isinstance(text, str) else None


def parse_expression(text: str) -> Expression:
    """Parse and check one expression.

    Raises:
        ExpressionError: It is too long, no expression, or uses what is not allowed.
    """
    if len(text) > MAX_CHARACTERS:
        msg = f"the expression is longer than {MAX_CHARACTERS} characters; compute it in several steps"
        raise ExpressionError(msg)
    tree = parse_python(f"({text.strip()}\n)", mode="eval").body
    if isinstance(tree, ast.Tuple) and not tree.elts:
        msg = "the expression is empty; write what to compute"
        raise ExpressionError(msg)
    return from_tree(tree, text.strip())


def parse_python(text: str, *, mode: str) -> Any:  # noqa: ANN401 - an ast.Module or ast.Expression, by mode
    """Parse text of the language to Python's tree; ``xor`` becomes an ``or`` around a mark.

    Raises:
        ExpressionError: It is not written as Python would be; ``line`` tells where.
    """
    try:
        return ast.parse(_for_python(text), mode=mode)
    except SyntaxError as error:
        msg = f"it cannot be read ({error.msg})"
        raise ExpressionError(msg, error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        msg = "it cannot be read (too deep, or it holds characters that no program has)"
        raise ExpressionError(msg) from error


def from_tree(tree: ast.expr, text: str | None = None) -> Expression:
    """Check a tree that :func:`parse_python` gave, and return it as the expression written ``text``.

    Without ``text`` it is written anew from the tree.

    Raises:
        ExpressionError: It is too large or uses what is not allowed.
    """
    _check_size(tree)
    names: dict[str, None] = {}
    _check(tree, names)
    return Expression(written(tree) if text is None else text, tree, tuple(names))


# --- writing -----------------------------------------------------------------------------------------------

# Python's own words, so that what it reads as text or number is not taken for anything else here. A quote that is never
# closed takes the rest of its line: looking again from the next one would cost n² steps.
_WORDS: Final = re.compile(
    r"""(?P<prefix>[A-Za-z]{0,2})(?P<text>
      '''(?:\\(?:.|\Z)|[^\\])*?(?:'''|\Z)
    | \"\"\"(?:\\(?:.|\Z)|[^\\])*?(?:\"\"\"|\Z)
    | '(?:\\(?:.|\Z)|[^'\\\n])*(?:'|(?=\n)|\Z)
    | "(?:\\(?:.|\Z)|[^"\\\n])*(?:"|(?=\n)|\Z))
    | \#[^\n]*
    | (?P<word>[^\W\d]\w*)
    | (?P<ellipsis>\.\.\.)
    | (?P<number>0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+
        |(?:[0-9](?:_?[0-9])*\.?(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?[jJ]?)
    | \^""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_XOR_MARK: Final = " or ... or "
_OTHER_TEXTS: Final = frozenset({"b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"})
"""Prefixes of Python's texts that compute something, or are none."""


def _for_python(text: str) -> str:
    """Write a text of the language so that Python reads it alike, and has nothing to warn about.

    ``a xor b`` becomes ``a or ... or b``: ``or`` is the only operator of Python that binds as xor should. Only escapes
    of quotes, backslashes, new lines and tabs count. Python would warn about other escapes, and about numbers that
    touch a word (``1if``), and its filters of warnings cannot be set for one text: they belong to the whole process.

    Raises:
        ExpressionError: A text has a prefix that the language has not, or there is an ellipsis.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _WORDS.sub(_word_for_python, text)


def _word_for_python(match: re.Match[str]) -> str:
    if match["text"] is not None:
        prefix = match["prefix"].casefold()
        if prefix in _OTHER_TEXTS:
            msg = (
                f"a text cannot begin with {match['prefix']}{match['text'][0]}; write {{NAME}} within an ordinary text"
            )
            raise ExpressionError(msg, match.string.count("\n", 0, match.start()) + 1)
        return match[0] if prefix == "r" else match["prefix"] + _plain_escapes(match["text"])
    if match["number"] is not None:
        return match[0] + " "
    if match["ellipsis"] is not None:  # the mark of xor is ours to write
        msg = "'...' is no number, text or list"
        raise ExpressionError(msg, match.string.count("\n", 0, match.start()) + 1)
    return _XOR_MARK if match[0] in {"xor", "XOR", "^"} else match[0]


def _plain_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda match: match[0] if match[1] in "\\'\"nt\n" else "\\" + match[0], text)


# --- checking ----------------------------------------------------------------------------------------------

NAMED: Final[dict[str, bool]] = {"yes": True, "no": False, "true": True, "false": False}
PLACEHOLDER: Final = re.compile(r"\{\s*([A-Za-z]\w{0,63}(?:\.[a-z]{1,16}|\[-?[0-9]{1,4}\]){0,4})\s*\}", re.ASCII)
"""A variable within a text, or an item or a field of it: ``{NAME}``, ``{NAME[0].label}``."""
_NAME: Final = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)


ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: same,
    ast.NotEq: lambda left, right: not same(left, right),
    ast.Lt: before,
    ast.Gt: lambda left, right: before(right, left),
    ast.LtE: lambda left, right: same(left, right) or before(left, right),
    ast.GtE: lambda left, right: same(left, right) or before(right, left),
    ast.In: lambda left, right: contains(right, left),
    ast.NotIn: lambda left, right: not contains(right, left),
}


def is_name(text: str) -> bool:
    """Tell whether a variable may be called so: ASCII letters, digits, ``_``; a letter first; 64 at most."""
    return _NAME.fullmatch(text) is not None


@cache  # the few that a program has are looked at for every region
def placeholder(text: str) -> ast.expr:
    """Return the tree of what stands between the braces of a `PLACEHOLDER`."""
    tree: ast.expr = ast.parse(text, mode="eval").body
    return tree


def _check_size(tree: ast.expr) -> None:
    """Bound the number of nodes, their depth and their numbers without recursion, so that what follows may recurse.

    Python cannot even write an integer of thousands of digits, which an error message about it would.
    """
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(MAX_DEPTH):
        count += len(level)
        for node in level:
            _check_number(node)
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level or count > MAX_NODES:
            break
    if level or count > MAX_NODES:
        msg = f"the expression has more than {MAX_NODES} parts or nests deeper than {MAX_DEPTH}; use several steps"
        raise ExpressionError(msg)


def _check_number(node: ast.AST) -> None:
    constant = node.value if isinstance(node, ast.Constant) else None
    if isinstance(constant, int | float) and not abs(constant) <= MAX_NUMBER:
        msg = "a number is too large; the largest is 10**15"
        raise ExpressionError(msg)


def _check(node: ast.expr, names: dict[str, None]) -> None:
    match node:
        case ast.Constant():
            _check_constant(node, names)
        case ast.Name(id=name):
            if not is_name(name):
                msg = f"{describe(name)} is no name that a variable may have"
                raise ExpressionError(msg)
            if name not in NAMED:
                names.setdefault(name)
        case ast.Attribute(attr=name):
            check_field(name)
        case ast.Call():
            _check_call(node)
        case _:
            _check_form(node)
    for child in _operands(node):
        _check(child, names)


def _check_constant(node: ast.Constant, names: dict[str, None]) -> None:
    constant = node.value
    if isinstance(constant, str):
        if len(constant) > MAX_CHARACTERS:
            msg = f"a text is longer than {MAX_CHARACTERS} characters; shorten it"
            raise ExpressionError(msg)
        for match in PLACEHOLDER.finditer(constant):
            _check(placeholder(match[1]), names)
        return
    if constant is not None and not isinstance(constant, bool | int | float):
        msg = f"{describe(repr(constant))} is no number, text or list"
        raise ExpressionError(msg)


def _check_call(node: ast.Call) -> None:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        called = node.func.id if isinstance(node.func, ast.Name) else written(node.func)[:MAX_SHOWN]
        remedy = f"only {', '.join(sorted(FUNCTIONS))} can, and tools as NAME=TOOL(…)"
        msg = f"{called}(…) cannot be called here; {remedy}"
        raise ExpressionError(msg)
    if node.keywords:
        msg = f"{node.func.id}(…) takes no named arguments here"
        raise ExpressionError(msg)
    least, most = FUNCTIONS[node.func.id].arguments
    if not least <= len(node.args) <= most:
        msg = f"{node.func.id}(…) takes {least if least == most else f'{least} to {most}'} values, not {len(node.args)}"
        raise ExpressionError(msg)


def written(node: ast.expr) -> str:
    """Write a tree as text of the language."""
    return ast.unparse(node).replace(_XOR_MARK, " xor ")


def _check_form(node: ast.expr) -> None:
    allowed = isinstance(node, ast.List | ast.Tuple | ast.IfExp | ast.Subscript | ast.BoolOp)
    allowed = allowed or (isinstance(node, ast.Set) and len(node.elts) == 1)
    allowed = allowed or (isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC)
    allowed = allowed or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert))
    allowed = allowed or (isinstance(node, ast.Compare) and all(type(each) in COMPARISONS for each in node.ops))
    if not allowed:
        text = written(node)
        text = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
        remedy = _REMEDIES.get(type(node), "write it with comparisons, and/or/not/xor, arithmetic and a if c else b")
        msg = f"{text!r} is not allowed in an expression; {remedy}"
        raise ExpressionError(msg)


_REMEDIES: Final[dict[type, str]] = {
    ast.ListComp: "use 'for NAME in LIST:' over several lines",
    ast.GeneratorExp: "use 'for NAME in LIST:' over several lines",
    ast.JoinedStr: "write {NAME} within an ordinary text instead",
    ast.Compare: "use ==, !=, <, <=, >, >=, in or not in",
    ast.Dict: "use a list, or several variables",
}


def _operands(node: ast.expr) -> Sequence[ast.expr]:
    """Return the expressions below a node in order; the marks of xor and a call's function left out."""
    match node:
        case ast.Call():
            return node.args
        case ast.BoolOp():
            return _check_marks(node)
        case ast.Subscript(slice=ast.Slice() as part):
            return [node.value, *(each for each in (part.lower, part.upper, part.step) if each is not None)]
        case ast.Subscript():
            return [node.value, node.slice]
        case _:
            return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def is_mark(node: ast.expr) -> bool:
    """Tell whether a node is the mark that makes xor of an ``or``."""
    return isinstance(node, ast.Constant) and node.value is ...


def _check_marks(node: ast.BoolOp) -> list[ast.expr]:
    marks = [is_mark(each) for each in node.values]
    doubled = any(one and other for one, other in pairwise(marks))
    if marks[0] or marks[-1] or doubled or (any(marks) and isinstance(node.op, ast.And)):
        msg = "xor stands between two conditions, as in A xor B"
        raise ExpressionError(msg)
    return [each for each, mark in zip(node.values, marks, strict=True) if not mark]
