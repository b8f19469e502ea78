"""Pieces of programs that can be renamed, joined and written out, with the sentences of the plan that say the same.

Program text is read by ``ast`` only to be rewritten; `snellen.tools.program` parses, checks and runs what comes of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from snellen.tools.program import ProgramError, parse
from snellen.tools.program.expression_limits import ExpressionError
from snellen.tools.program.expressions import parse_python
from snellen.tools.program.expressions import written as expression_text
from snellen.tools.program.syntax import takes_expression

RESULT_NAME: Final = "FINAL_RESULT"
_NUMBERED: Final = re.compile(r"^(.*?)_?\d*$")


@dataclass(frozen=True)
class ProgramBlock:
    """Statements that compute one value.

    Attributes:
        statements: In order, without the closing RESULT.
        plan: What they do, in sentences.
        result: The variable that holds the value.
        sources: Instructions of the demonstrations it was made from.
    """

    statements: tuple[ast.stmt, ...]
    plan: tuple[str, ...]
    result: str
    sources: tuple[str, ...] = ()


class Unusable(ValueError):  # noqa: N818 - said of a demonstration, and always caught
    """A demonstration's program cannot be taken apart (it does not parse, or ends within a branch)."""


def parse_block(program: str, plan: Sequence[str]) -> ProgramBlock:
    """Read a demonstration's program; its last statement must be ``NAME=RESULT(var=OTHER)``.

    Raises:
        Unusable: It does not parse, or has no single result at its end.
    """
    try:
        parse(program)
        # What the language reads holds no f-string, no number of thousands of digits, and nothing nested beyond bounds.
        statements = parse_python(program, mode="exec").body
    except (ProgramError, ExpressionError) as error:
        msg = "its program cannot be read"
        raise Unusable(msg) from error
    match statements[-1:]:
        case [
            ast.Assign(
                value=ast.Call(func=ast.Name(id="RESULT"), keywords=[ast.keyword(arg="var", value=ast.Name(id=name))])
            )
        ]:
            return ProgramBlock(tuple(statements[:-1]), _without_the_end(plan), name)
    msg = "its program has no single result at its end"
    raise Unusable(msg)


_END: Final = re.compile(
    r"\b(visuali[sz]e|show|return|give|present|display)\b.*\b(result|answer|picture|number)", re.IGNORECASE
)
_STEP: Final = re.compile(r"^\s*step\s*\d+\s*[:,.]?\s*", re.IGNORECASE)


def _without_the_end(plan: Sequence[str]) -> tuple[str, ...]:
    steps = [_STEP.sub("", step).strip() for step in plan]
    return tuple(steps[:-1] if len(steps) > 1 and _END.match(steps[-1]) else steps)


def assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the variables that statements set, loop variables included, in order, each once."""
    names: dict[str, None] = {}
    for statement in _walk(statements):
        if isinstance(statement, ast.Assign):
            names.update(dict.fromkeys(target.id for target in statement.targets if isinstance(target, ast.Name)))
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            names.setdefault(statement.target.id)
    return list(names)


def inputs_of(block: ProgramBlock) -> list[str]:
    """Return the variables that a block reads but does not set: the pictures it is given."""
    held = {*assigned(block.statements), "yes", "no", "true", "false"}
    read = [node.id for statement in block.statements for node in ast.walk(statement) if isinstance(node, ast.Name)]
    read += [block.result]
    tools = {
        node.func.id
        for statement in block.statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return [name for name in dict.fromkeys(read) if name not in held and name not in tools]


def _walk(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        if isinstance(statement, ast.If | ast.For):
            yield from _walk(statement.body)
            yield from _walk(statement.orelse)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str], text: Callable[[str, bool], str], call: Callable[[str], str]) -> None:
        self.names, self.text, self.call = names, text, call
        self._expression = False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(self.text(node.value, self._expression)) if isinstance(node.value, str) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        tool = node.func.id if isinstance(node.func, ast.Name) else ""
        keywords = [self._keyword(tool, keyword) for keyword in node.keywords]
        return ast.Call(ast.Name(self.call(tool), ast.Load()), [self.visit(each) for each in node.args], keywords)

    def _keyword(self, tool: str, keyword: ast.keyword) -> ast.keyword:
        before, self._expression = self._expression, takes_expression(tool, keyword.arg or "")
        value = self.visit(keyword.value)
        self._expression = before
        return ast.keyword(keyword.arg, value)


def rewrite(
    block: ProgramBlock,
    *,
    names: Mapping[str, str] | None = None,
    text: Callable[[str, bool], str] | None = None,
    call: Callable[[str], str] | None = None,
) -> ProgramBlock:
    """Return the block with variables renamed, and texts and tool names changed.

    Args:
        block: What to rewrite.
        names: New names of variables; in texts they are renamed where they stand as ``{NAME}``, in
            expressions also bare.
        text: Changes a text; the second argument says whether it is an expression, as those of EVAL and FILTER are.
        call: Changes the name of a tool.
    """
    renamed = names or {}

    def changed(value: str, expression: bool) -> str:  # noqa: FBT001 - called by the rewriter alone
        return _rename_within(text(value, expression) if text else value, renamed, expression=expression)

    statements = []
    for statement in block.statements:
        # A node is shared between the demonstration and all that is made from it: only copies change.
        copy = ast.parse(ast.unparse(statement)).body[0]
        statements.append(_Rewriter(renamed, changed, call or (lambda name: name)).visit(copy))
    return ProgramBlock(tuple(statements), block.plan, renamed.get(block.result, block.result), block.sources)


_BRACED: Final = re.compile(r"(?<=\{)\s*([A-Za-z]\w*)(?=[^{}]*\})")
_NAME_OR_TEXT: Final = re.compile(r"'[^']*'|\"[^\"]*\"|(?<![\w.])([A-Za-z]\w*)")


def _rename_within(text: str, names: Mapping[str, str], *, expression: bool) -> str:
    """Rename variables in a text: where they stand in braces, with an item or a field; in expressions also bare."""

    def renamed(match: re.Match[str]) -> str:
        if match[1] is None:
            return _rename_within(match[0], names, expression=False)
        return names.get(match[1], match[1])

    return (_NAME_OR_TEXT if expression else _BRACED).sub(renamed, text)


class VariableNames:
    """Hands out variable names that are used nowhere else while a program is composed."""

    def __init__(self) -> None:
        self._numbers = count()

    def fresh(self, stem: str) -> str:
        """Return a new name; its stem tells what it holds."""
        return f"{stem}_{next(self._numbers)}"

    def refreshed(self, block: ProgramBlock, pictures: Mapping[str, str]) -> ProgramBlock:
        """Return the block with new names for all it sets, reading the given pictures."""
        names = {name: self.fresh(stem_of(name)) for name in assigned(block.statements)}
        return rewrite(block, names={**pictures, **names})


def stem_of(name: str) -> str:
    """Return a variable's name without its number (``BOX`` of ``BOX0``)."""
    found = _NUMBERED.match(name)
    return (found[1] if found else name) or name


def renumbered(block: ProgramBlock, taken: Sequence[str]) -> ProgramBlock:
    """Return the block with variables numbered from 0 in the order of appearance, as the paper writes them."""
    names: dict[str, str] = {}
    used = set(taken) | {RESULT_NAME}
    for name in assigned(block.statements):
        stem = stem_of(name)
        number = next(number for number in count() if f"{stem}{number}" not in used)
        names[name] = f"{stem}{number}"
        used.add(names[name])
    return rewrite(block, names=names)


def written(block: ProgramBlock) -> str:
    """Write the block as a program, its RESULT at the end."""
    return "\n".join([*_lines(block.statements, 0), f"{RESULT_NAME}=RESULT(var={block.result})"]) + "\n"


def _lines(statements: Sequence[ast.stmt], depth: int) -> Iterator[str]:
    indent = "    " * depth
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield f"{indent}{name}={_value(value)}"
            case ast.If():
                yield f"{indent}if {expression_text(statement.test)}:"
                yield from _lines(statement.body, depth + 1)
                if statement.orelse:
                    yield f"{indent}else:"
                    yield from _lines(statement.orelse, depth + 1)
            case ast.For():
                yield f"{indent}for {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}:"
                yield from _lines(statement.body, depth + 1)
            case _:
                yield indent + ast.unparse(statement)


def _value(value: ast.expr) -> str:
    if isinstance(value, ast.Call) and not value.args:
        arguments = ",".join(f"{keyword.arg}={expression_text(keyword.value)}" for keyword in value.keywords)
        return f"{ast.unparse(value.func)}({arguments})"
    return expression_text(value)


def statement(text: str) -> ast.stmt:
    """Read one statement."""
    return ast.parse(text).body[0]
