"""The page about programs of one's own: its code runs as it stands."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "embedding.md"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


async def test_every_block_of_the_page_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(PAGE.parents[1])
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
