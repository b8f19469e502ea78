"""Python in the documents: the page about graphs of one's own runs as it stands, and what others import is there."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "embedding.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


async def test_every_block_of_the_page_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    for block in blocks:
        code = compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        done = eval(code, names)
        if inspect.iscoroutine(done):
            await done
    said = capsys.readouterr().out

    assert len(blocks) == 8
    assert "LOC" in said
    assert "measure" in said


def test_the_block_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    exec(compile(block, "README.md", "exec", dont_inherit=True), {})
    assert capsys.readouterr().out.startswith("1\n")


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda one: one.name)
def test_what_an_example_imports_is_there(page: Path) -> None:
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        code = compile(block, str(page), "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(code):
            if not isinstance(node, ast.ImportFrom) or (node.module or "").partition(".")[0] != "snellen":
                continue
            for alias in node.names:
                if not hasattr(importlib.import_module(node.module or ""), alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
