"""The house keeps its rules: imports in one direction, one class for one name, files that fit a screen or three."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "snellen"
MAX_LINES = 400
HEAVY = frozenset(
    {
        "PIL",
        "aiosqlite",
        "cv2",
        "datasets",
        "diffusers",
        "faiss",
        "filelock",
        "gradio",
        "httpx",
        "inspect_ai",
        "jinja2",
        "langchain_core",
        "langchain_openai",
        "langgraph",
        "langgraph_api",
        "matplotlib",
        "mcp",
        "networkx",
        "numpy",
        "openai",
        "ormsgpack",
        "peft",
        "prometheus_client",
        "psycopg",
        "psycopg_pool",
        "pyarrow",
        "pydantic",
        "pydantic_monty",
        "ray",
        "rich",
        "safetensors",
        "scipy",
        "sentence_transformers",
        "sqlite_utils",
        "starlette",
        "tokenizers",
        "torch",
        "transformers",
        "uvicorn",
    }
)
"""Libraries whose weight may hide an import in a function, and with it an import of a module that needs them."""
QUESTION_WORDS = frozenset(["Who", "Whom", "Whose", "What", "Which", "Whether", "How", "Where", "When", "Why"])


@cache
def sources() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for folder, _, names in os.walk(PACKAGE, followlinks=True):
        for name in names:
            if name.endswith(".py"):
                path = Path(folder, name)
                parts = path.relative_to(ROOT).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(sources()[module].read_text(encoding="utf-8"))


def _imported(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names: of the package as modules, of others as top-level packages."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        names = [
            inner if (inner := f"{node.module}.{alias.name}") in sources() else node.module for alias in node.names
        ]
    else:
        return
    for name in names:
        if name.partition(".")[0] != "snellen":
            yield name.partition(".")[0]
        elif name in sources():
            yield name


def _inside_functions(module: str) -> Iterator[ast.AST]:
    for function in ast.walk(tree(module)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ast.walk(function)


@cache
def imports(module: str) -> frozenset[str]:
    """All that a module imports, inside functions and for type checking alike."""
    return frozenset(chain.from_iterable(map(_imported, ast.walk(tree(module))))) - {module}


@cache
def imports_at_once(module: str) -> frozenset[str]:
    """All that is imported when a module is: not inside functions, not for type checking."""

    def parts(body: list[ast.stmt]) -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                continue
            yield from _imported(node)
            if isinstance(node, ast.If | ast.Try | ast.With):
                yield from parts([part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)])

    found = set(parts(tree(module).body))
    # A package is imported before what is inside it.
    parents = {name.rpartition(".")[0] for name in {*found, module} if name.startswith("snellen.")}
    return frozenset(found | parents) - {module}


def is_heavy(module: str) -> bool:
    """Whether importing a module imports one of the libraries that take their time."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in HEAVY:
            return True
        if name in seen or name not in sources():
            continue
        seen.add(name)
        waiting.extend(imports_at_once(name))
    return False


def circles() -> list[list[str]]:
    """The strongly connected groups of modules, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in imports(module) & sources().keys():
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in sources():
        if module not in index:
            visit(module)
    return found


def test_the_rooms_of_the_top_level_are_linked_into_the_package() -> None:
    for room in ("graphs", "nodes", "tools", "memory", "microworld"):
        assert (PACKAGE / room).is_symlink()
        assert (PACKAGE / room).resolve() == ROOT / room
        assert f"snellen.{room}" in sources()


def test_files_do_not_import_each_other_in_circles() -> None:
    assert circles() == []


def test_a_class_name_stands_for_one_class() -> None:
    places = defaultdict(list)
    for module in sources():
        for node in tree(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_file_is_too_long() -> None:
    lengths = {module: path.read_text(encoding="utf-8").count("\n") for module, path in sources().items()}
    assert {module: lines for module, lines in lengths.items() if lines > MAX_LINES} == {}


def test_a_modules_docstring_begins_with_a_noun() -> None:
    """A noun or a name; a question word tells that the module has no subject."""
    first = {module: (ast.get_docstring(tree(module)) or "").partition(" ")[0] for module in sources()}
    assert {module: word for module, word in first.items() if not word or word in QUESTION_WORDS} == {}


@pytest.mark.parametrize("kind", ["function", "class"])
def test_public_docstrings_do_not_begin_with_a_question_word(kind: str) -> None:
    kinds = ast.ClassDef if kind == "class" else ast.FunctionDef | ast.AsyncFunctionDef
    found = [
        f"{module}:{node.lineno} {node.name}"
        for module in sources()
        for node in ast.walk(tree(module))
        if isinstance(node, kinds)
        and not node.name.startswith("_")
        and (ast.get_docstring(node) or "").partition(" ")[0] in QUESTION_WORDS
    ]
    assert found == []


def test_only_the_weight_of_a_library_hides_an_import_in_a_function() -> None:
    hidden = [
        f"{module} -> {name}"
        for module in sources()
        for node in _inside_functions(module)
        for name in _imported(node)
        if name in sources() and not is_heavy(name)
    ]
    assert sorted(set(hidden)) == []


def test_documents_name_paths_that_exist() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    rooms = "graphs|nodes|tools|memory|microworld|snellen|tests|docs|benchmarks|examples"
    missing = []
    for document in listed.stdout.splitlines():
        if document == "CHANGELOG.md" or document.startswith(("docs/results/", "microworld/checkpoints/")):
            continue
        text = (ROOT / document).read_text(encoding="utf-8")
        missing += [
            f"{document}: {path}"
            for path in re.findall(rf"`((?:{rooms})/[\w./-]*)`", text)
            if not ((ROOT / path).exists() or (PACKAGE / path).exists())
        ]
        missing += [
            f"{document}: {link}"
            for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
            if not (ROOT / document).parent.joinpath(link).exists()
        ]
    assert missing == []


def test_the_rooms_are_drawn_and_listed_as_they_are() -> None:
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "docs" / "pictures" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    page = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert page == rooms.page(page), "draw the rooms again with `make graphs`"
    with Image.open(ROOT / "docs" / "pictures" / "rooms.png") as picture:
        assert picture.info.get(rooms.DIGEST) == rooms.digest(rooms.dot()), "draw the rooms again with `make graphs`"


def test_the_glossary_is_short_and_says_where_its_terms_are_from() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")][1:]
    assert 40 <= len(rows) <= 60
    assert all(len(row) == 3 and all(row) for row in rows)
    terms = [row[0].casefold() for row in rows]
    assert terms == sorted(set(terms))
