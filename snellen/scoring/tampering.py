"""Verification programs that would replace what they are run on, recognised by their text before they are run."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Iterator
from typing import Final

GRAPH: Final = "SceneGraph"
"""The class of the graph in the box."""
_METHODS: Final = frozenset(
    {
        "caption", "get_entities", "get_attributes", "get_outgoing_relations", "get_incoming_relations",
        "generate_subgraph", "describe",
    }
)  # fmt: skip
_SETTERS: Final = frozenset({"setattr", "delattr"})
_PARSING: Final = threading.Lock()
"""Filters of warnings belong to the whole process."""


def tampering(program: str, function: str) -> str:
    """Say how a program would replace its graph: by another class, another method, or another value of its parameter.

    Args:
        program: Its text; it is parsed, and nothing of it is evaluated.
        function: The function that is given the graph.

    Returns:
        A sentence; empty where it does nothing of the kind, or where it is no Python: then it cannot be run either.
    """
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the text of a stranger warns of concerns nobody
            tree = ast.parse(program)
    except SyntaxError:
        return ""
    except (ValueError, RecursionError, MemoryError):
        return "The program cannot be read: it is nested too deeply, or holds characters that no program has."
    graphs = set(_parameters(tree, function))
    return next((replaced for node in ast.walk(tree) if (replaced := _replaced(node, graphs))), "")


def _parameters(tree: ast.Module, function: str) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            yield from (each.arg for each in (*node.args.posonlyargs, *node.args.args))


def _replaced(node: ast.AST, graphs: set[str]) -> str:
    """Say what a node of the tree replaces, if anything."""
    if isinstance(node, ast.Attribute):
        if node.attr.startswith("_") and node.attr != "__init__":
            return f"The program reaches for .{node.attr}, which graphs do not offer."
        written = not isinstance(node.ctx, ast.Load) and node.attr in _METHODS
        return f"The program replaces .{node.attr} of its graph." if written else ""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        return f"The program calls {node.id}." if node.id in _SETTERS else ""
    bound = _bound(node)
    return next((f"The program gives {name} another meaning." for name in bound if name in {GRAPH, *graphs}), "")


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds, parameters of functions aside."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.alias(name=name, asname=known):
            return [known or name.partition(".")[0]]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return list(names)
    return []
