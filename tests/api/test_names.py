"""Public names: imported when they are used, seen by type checkers, in nobody's way."""

from __future__ import annotations

import ast
import pkgutil
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import snellen

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "numpy", "langgraph", "langchain_core", "pydantic", "PIL", "asyncio")


def imported_for_types(file: Path) -> set[str]:
    """Return the names that a module imports for type checkers alone."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module not in {"__future__", "typing"}
        for alias in node.names
    }


def test_importing_it_imports_nothing_heavy() -> None:
    code = f"import sys, snellen; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_importing_it_takes_a_fifth_of_a_second_at_most() -> None:
    def seconds(code: str) -> float:
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    # The processor's time: the machine may be busy with other things.
    assert min(seconds("import snellen") for _ in range(3)) - min(seconds("") for _ in range(3)) < 0.2


def test_type_checkers_see_the_same_names_as_programs() -> None:
    assert imported_for_types(ROOT / "snellen" / "__init__.py") == set(snellen.__all__)
    assert imported_for_types(ROOT / "memory" / "__init__.pyi") == snellen.memory._CALLS  # type: ignore[attr-defined]
    for name in snellen.__all__:
        assert getattr(snellen, name) is not None
    for name in imported_for_types(ROOT / "memory" / "__init__.pyi"):
        assert callable(getattr(snellen.memory, name))


def test_no_call_has_the_name_of_a_module() -> None:
    modules = {one.name for one in pkgutil.iter_modules(snellen.__path__)}
    assert modules & set(snellen.__all__) == {"memory"}


def test_a_call_stays_itself_after_modules_were_imported() -> None:
    code = (
        "import snellen, snellen.graphs.ask, snellen.threads.learn, snellen.evaluation.pairs, snellen.memory.home; "
        "print(*(call.__module__ for call in (snellen.ask, snellen.learn, snellen.pairs, snellen.memory.stats)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == [f"snellen.api.{name}" for name in ("asking", "learning", "benchmarks", "memory")]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'answer'"):
        snellen.answer  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'remember'"):
        snellen.memory.remember  # type: ignore[attr-defined]  # noqa: B018
    assert {"ask", "memory"} <= set(dir(snellen))
    assert snellen.__version__
