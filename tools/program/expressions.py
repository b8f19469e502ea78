"""Typed expressions: what EVAL, ``if`` and the arguments of a program's steps may compute.

Text is parsed by ``ast`` and every node is checked against a list of what is allowed; nothing is ever
compiled or handed to Python's own evaluation. There are no attributes, no comprehensions and no calls but a
few, and sizes are bounded, so that no expression can take more than a moment or a page of memory.

The language: numbers, texts, lists, ``True``/``False`` (also ``yes``/``no``), variables by bare name or as
``{NAME}``, ``{NAME}`` filled in within texts, ``+ - * / // % **``, ``== != < <= > >= in``, ``and or not``,
``a if c else b``, items and slices (steps too) of lists and texts, and the calls of ``FUNCTIONS``.
``a xor b`` and ``a ^ b`` are the same thing: exactly one of them is true. Both bind as loosely as ``or``,
from left to right, so that ``A == 1 xor B == 2`` means what it says.
``and``, ``or``, ``xor``, ``not`` and comparisons give a Bool. Comparisons follow :mod:`snellen.scoring.answers`;
text answers such as ``"no"`` are false where a condition is wanted (:func:`snellen.values.truth`).
CLOVA's table 2 uses Python's ``eval`` for this; model text must not reach it.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from snellen import values
from snellen.errors import BadInput
from snellen.scoring.answers import before, contains, same
from snellen.values import Value, as_number, as_text, describe, truth

MAX_CHARACTERS: Final = 2_000
"""Length of an expression's text, and of any text it computes."""
MAX_NODES: Final = 400
MAX_DEPTH: Final = 50
MAX_ITEMS: Final = 256
"""Length of any list that an expression computes."""
MAX_NUMBER: Final = 10**15
MAX_EXPONENT: Final = 32


class ExpressionError(BadInput):
    """An expression uses something that is not allowed, or its values do not fit together.

    ``line`` is the line of the parsed text where it cannot be read, when Python told.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        """Keep the line beside the message."""
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Expression:
    """A checked expression: its text, its tree, and the variables it reads in order of appearance."""

    text: str
    tree: ast.expr = field(compare=False, repr=False)
    names: tuple[str, ...] = ()


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
    return Expression(_written(tree) if text is None else text, tree, tuple(names))


def evaluate(expression: Expression, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    """Compute an expression.

    Raises:
        ExpressionError: A variable is not set, or the values do not fit the operation.
    """
    try:
        return _value(expression.tree, variables)
    except ExpressionError:
        raise
    except BadInput as error:
        raise ExpressionError(str(error)) from error


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


def _word_for_python(found: re.Match[str]) -> str:
    if found["text"] is not None:
        prefix = found["prefix"].casefold()
        if prefix in _OTHER_TEXTS:
            msg = (
                f"a text cannot begin with {found['prefix']}{found['text'][0]}; write {{NAME}} within an ordinary text"
            )
            raise ExpressionError(msg, found.string.count("\n", 0, found.start()) + 1)
        return found[0] if prefix == "r" else found["prefix"] + _plain_escapes(found["text"])
    if found["number"] is not None:
        return found[0] + " "
    if found["ellipsis"] is not None:  # the mark of xor is ours to write
        msg = "'...' is no number, text or list"
        raise ExpressionError(msg, found.string.count("\n", 0, found.start()) + 1)
    return _XOR_MARK if found[0] in {"xor", "XOR", "^"} else found[0]


def _plain_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda found: found[0] if found[1] in "\\'\"nt\n" else "\\" + found[0], text)


# --- checking ----------------------------------------------------------------------------------------------

_NAMED: Final[dict[str, bool]] = {"yes": True, "no": False, "true": True, "false": False}
_PLACEHOLDER: Final = re.compile(r"\{\s*([A-Za-z]\w{0,63})\s*\}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z]\w{0,63}", re.ASCII)


def is_name(text: str) -> bool:
    """Tell whether a variable may be called so: ASCII letters, digits, ``_``; a letter first; 64 at most."""
    return _NAME.fullmatch(text) is not None


def placeholders(text: str) -> list[str]:
    """Return the names of variables that a text mentions as ``{NAME}``."""
    return _PLACEHOLDER.findall(text)


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
            if name not in _NAMED:
                names.setdefault(name)
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
        names.update(dict.fromkeys(placeholders(constant)))
        return
    if constant is not None and not isinstance(constant, bool | int | float):
        msg = f"{describe(repr(constant))} is no number, text or list"
        raise ExpressionError(msg)


def _check_call(node: ast.Call) -> None:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        called = node.func.id if isinstance(node.func, ast.Name) else _written(node.func)[:MAX_SHOWN]
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


def _written(node: ast.expr) -> str:
    return ast.unparse(node).replace(_XOR_MARK, " xor ")


def _check_form(node: ast.expr) -> None:
    allowed = isinstance(node, ast.List | ast.Tuple | ast.IfExp | ast.Subscript | ast.BoolOp)
    allowed = allowed or (isinstance(node, ast.Set) and len(node.elts) == 1)
    allowed = allowed or (isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC)
    allowed = allowed or (isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert))
    allowed = allowed or (isinstance(node, ast.Compare) and all(type(each) in _COMPARISONS for each in node.ops))
    if not allowed:
        written = _written(node)
        written = written if len(written) <= MAX_SHOWN else written[:MAX_SHOWN] + "…"
        remedy = _REMEDIES.get(type(node), "write it with comparisons, and/or/not/xor, arithmetic and a if c else b")
        msg = f"{written!r} is not allowed in an expression; {remedy}"
        raise ExpressionError(msg)


MAX_SHOWN: Final = 60
_REMEDIES: Final[dict[type, str]] = {
    ast.Attribute: "values have no attributes or methods (comparisons already ignore case)",
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


def _is_mark(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _check_marks(node: ast.BoolOp) -> list[ast.expr]:
    marks = [_is_mark(each) for each in node.values]
    doubled = any(one and other for one, other in pairwise(marks))
    if marks[0] or marks[-1] or doubled or (any(marks) and isinstance(node.op, ast.And)):
        msg = "xor stands between two conditions, as in A xor B"
        raise ExpressionError(msg)
    return [each for each, mark in zip(node.values, marks, strict=True) if not mark]


# --- evaluating --------------------------------------------------------------------------------------------


def _value(node: ast.expr, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    match node:
        case ast.Constant(value=str() as text):
            return _fill_in(text, variables)
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name):
            return _variable(name, variables)
        case ast.Set(elts=[inner]):
            return _value(inner, variables)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return _list([_value(item, variables) for item in items])
        case ast.Call(func=ast.Name(id=name)):
            return _bounded(FUNCTIONS[name].apply(*(_value(each, variables) for each in node.args)))
    return _operation(node, variables)


def _operation(node: ast.expr, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - any value
    match node:
        case ast.IfExp():
            return _value(node.body if truth(_value(node.test, variables)) else node.orelse, variables)
        case ast.BoolOp():
            return _combine(node, variables)
        case ast.UnaryOp():
            return _unary(node, variables)
        case ast.Compare():
            return _compare(node, variables)
        case ast.BinOp():
            return _arithmetic(type(node.op), _value(node.left, variables), _value(node.right, variables))
        case ast.Subscript():
            return _item(node, variables)
    msg = f"{type(node).__name__} is not allowed in an expression"
    raise ExpressionError(msg)


def _variable(name: str, variables: Mapping[str, Value]) -> Value:
    if name in variables:
        return variables[name]
    if name in _NAMED:
        return _NAMED[name]
    msg = f"{name} has no value yet; set it in an earlier step, or put text in quotes"
    raise ExpressionError(msg)


def _fill_in(text: str, variables: Mapping[str, Value]) -> str:
    """Write variables mentioned as ``{NAME}`` into a text: as text, never as part of the expression."""
    filled = _PLACEHOLDER.sub(lambda found: as_text(_variable(found[1], variables)), text)
    return str(_bounded(filled))


def _list(items: list[Any]) -> list[Any]:
    if any(isinstance(item, list | tuple) for item in items):
        msg = "a list cannot hold lists; join them with +"
        raise ExpressionError(msg)
    return list(_bounded(items))


def _combine(node: ast.BoolOp, variables: Mapping[str, Value]) -> bool:
    if isinstance(node.op, ast.And):
        return all(truth(_value(each, variables)) for each in node.values)
    result, exclusive = False, False
    for each in node.values:
        if _is_mark(each):
            exclusive = True
        elif exclusive:
            result, exclusive = result is not truth(_value(each, variables)), False
        else:
            result = result or truth(_value(each, variables))
    return result


def _unary(node: ast.UnaryOp, variables: Mapping[str, Value]) -> int | float | bool:
    operand = _value(node.operand, variables)
    if isinstance(node.op, ast.Not):
        return not truth(operand)
    number = _number(operand)
    return -number if isinstance(node.op, ast.USub) else number


_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: same,
    ast.NotEq: lambda left, right: not same(left, right),
    ast.Lt: before,
    ast.Gt: lambda left, right: before(right, left),
    ast.LtE: lambda left, right: same(left, right) or before(left, right),
    ast.GtE: lambda left, right: same(left, right) or before(right, left),
    ast.In: lambda left, right: contains(right, left),
    ast.NotIn: lambda left, right: not contains(right, left),
}


def _compare(node: ast.Compare, variables: Mapping[str, Value]) -> bool:
    left = _value(node.left, variables)
    for comparison, operand in zip(node.ops, node.comparators, strict=True):
        right = _value(operand, variables)
        if not _COMPARISONS[type(comparison)](left, right):
            return False
        left = right
    return True


_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def _arithmetic(kind: type[ast.operator], left: object, right: object) -> Any:  # noqa: ANN401 - number, text or list
    if kind is ast.Add and isinstance(left, list) and isinstance(right, list):
        return _bounded(left + right)
    if kind is ast.Add and isinstance(left, str) and isinstance(right, str) and not _both_numbers(left, right):
        return _bounded(left + right)
    one, other = _number(left), _number(right)
    if kind is ast.Pow and abs(other) > MAX_EXPONENT:
        msg = f"the exponent {describe(other)} is beyond {MAX_EXPONENT}"
        raise ExpressionError(msg)
    return _bounded(_computed(_ARITHMETIC[kind], one, other))


def _both_numbers(left: str, right: str) -> bool:
    return as_number(left) is not None and as_number(right) is not None


def _computed(operation: Callable[..., Any], *operands: object) -> Any:  # noqa: ANN401 - a number
    try:
        return operation(*operands)
    except ZeroDivisionError as error:
        msg = "a division by zero; test the divisor first"
        raise ExpressionError(msg) from error
    except OverflowError as error:
        msg = "the result is too large; the largest number is 10**15"
        raise ExpressionError(msg) from error


def _item(node: ast.Subscript, variables: Mapping[str, Value]) -> Any:  # noqa: ANN401 - an item of a list
    whole = _value(node.value, variables)
    if not isinstance(whole, list | str):
        msg = f"only lists and texts have items, not {describe(whole)}"
        raise ExpressionError(msg)
    if isinstance(node.slice, ast.Slice):
        return whole[_slice(node.slice, variables)]
    position = _position(node.slice, variables)
    if position is None or not -len(whole) <= position < len(whole):
        msg = f"there is no item {describe(position)} in {describe(whole)}; test len(…) first"
        raise ExpressionError(msg)
    return whole[position]


def _slice(node: ast.Slice, variables: Mapping[str, Value]) -> slice:
    step = _position(node.step, variables)
    if step == 0:
        msg = "the step of a slice cannot be zero"
        raise ExpressionError(msg)
    return slice(_position(node.lower, variables), _position(node.upper, variables), step)


def _position(node: ast.expr | None, variables: Mapping[str, Value]) -> int | None:
    if node is None:
        return None
    number = _number(_value(node, variables))
    if not math.isfinite(number) or number != int(number):
        msg = f"an item's position is a whole number, not {describe(number)}"
        raise ExpressionError(msg)
    return int(number)


def _number(value: object) -> int | float:
    number = as_number(value)
    if number is None:
        hint = "; use len(…) to count a list" if isinstance(value, list) else ""
        msg = f"expected a number, but this is {describe(value)}{hint}"
        raise ExpressionError(msg)
    return number


def _bounded(value: Any) -> Any:  # noqa: ANN401 - passes a value through
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


MAX_LIST_CHARACTERS: Final = 8_000


# --- calls -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """A call that expressions may make: what it does, and how many values it takes, least and most."""

    apply: Callable[..., Any]
    arguments: tuple[int, int] = (1, 1)


def _length(value: object) -> int:
    if isinstance(value, list | str):
        return len(value)
    msg = f"len(…) counts lists and texts, not {describe(value)}"
    raise ExpressionError(msg)


def _items(given: tuple[object, ...]) -> list[Any]:
    items = given[0] if len(given) == 1 else list(given)
    if isinstance(items, list) and items:
        return items
    msg = "min(…), max(…) and sorted(…) take a list with items, or several values"
    raise ExpressionError(msg)


def _order(left: object, right: object) -> int:
    if same(left, right):
        return 0
    return -1 if before(left, right) else 1


def _sorted(*given: object) -> list[Any]:
    if given == ([],):
        return []
    return sorted(_items(given), key=cmp_to_key(_order))


def _sum(given: object) -> int | float:
    if not isinstance(given, list):
        msg = f"sum(…) adds the numbers of a list, not {describe(given)}"
        raise ExpressionError(msg)
    return sum(map(_number, given))


def _every(given: object) -> list[Any]:
    if isinstance(given, list):
        return given
    msg = f"all(…) and any(…) take a list, not {describe(given)}"
    raise ExpressionError(msg)


def _rounded(number: object, digits: object = None) -> int | float:
    places = None if digits is None else max(-15, min(15, int(_number(digits))))
    return round(_number(number), places)


FUNCTIONS: Final[dict[str, Function]] = {
    "abs": Function(lambda number: abs(_number(number))),
    "all": Function(lambda given: all(map(truth, _every(given)))),
    "any": Function(lambda given: any(map(truth, _every(given)))),
    "bool": Function(truth),
    "float": Function(lambda number: float(_number(number))),
    "int": Function(lambda number: math.trunc(_number(number))),
    "len": Function(_length),
    "max": Function(lambda *given: max(_items(given), key=cmp_to_key(_order)), (1, 64)),
    "min": Function(lambda *given: min(_items(given), key=cmp_to_key(_order)), (1, 64)),
    "round": Function(_rounded, (1, 2)),
    "sorted": Function(_sorted),
    "str": Function(as_text),
    "sum": Function(_sum),
}


# --- types -------------------------------------------------------------------------------------------------

_CALL_KINDS: Final = {
    **dict.fromkeys(("abs", "float", "int", "len", "round", "sum"), values.NUMBER),
    **dict.fromkeys(("all", "any", "bool"), values.BOOL),
    "str": values.TEXT,
}
_ITEM_KINDS: Final = {values.REGIONS: values.REGION, values.TEXTS: values.TEXT, values.TEXT: values.TEXT}


def kind_of_item(kind: str) -> str | None:
    """Return the type name of a list's items, ``None`` when the type is no list."""
    if kind == values.ANY:
        return values.ANY
    return None if kind == values.TEXT else _ITEM_KINDS.get(kind)


def kind_of_expression(expression: Expression, variables: Mapping[str, str]) -> str:
    """Return the type name an expression will have, from those of the variables; ``Any`` when it depends."""
    return _kind(expression.tree, variables)


def _kind(node: ast.expr, variables: Mapping[str, str]) -> str:
    match node:
        case ast.Constant(value=None):
            return values.ANY
        case ast.Constant(value=constant):
            return values.kind_of(constant)
        case ast.Name(id=name):
            return variables.get(name, values.BOOL if name in _NAMED else values.ANY)
        case ast.Set(elts=[inner]):
            return _kind(inner, variables)
        case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return values.BOOL
        case ast.UnaryOp():
            return values.NUMBER
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return _kind_of_items([_kind(item, variables) for item in items])
        case _:
            return _kind_of_operation(node, variables)


def _kind_of_items(kinds: list[str]) -> str:
    if kinds and all(kind == values.REGION for kind in kinds):
        return values.REGIONS
    plain = all(kind in {values.TEXT, values.NUMBER, values.BOOL} for kind in kinds)
    return values.TEXTS if kinds and plain else values.ANY


def _kind_of_operation(node: ast.expr, variables: Mapping[str, str]) -> str:
    match node:
        case ast.IfExp():
            kinds = {_kind(node.body, variables), _kind(node.orelse, variables)}
            return kinds.pop() if len(kinds) == 1 else values.ANY
        case ast.Subscript(slice=ast.Slice()):
            return _kind(node.value, variables)
        case ast.Subscript():
            return _ITEM_KINDS.get(_kind(node.value, variables), values.ANY)
        case ast.Call(func=ast.Name(id=name)):
            return _CALL_KINDS.get(name, values.ANY)
        case ast.BinOp(op=ast.Add()):
            return values.ANY
        case ast.BinOp():
            return values.NUMBER
    return values.ANY
