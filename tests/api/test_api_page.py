"""The page about the API: its code runs as it stands, and it shows every call."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import snellen

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "api.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.slow
async def test_every_block_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {}
    for block in BLOCKS:
        done = eval(compile(block, str(PAGE), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True), names)
        if inspect.iscoroutine(done):
            await done

    said = capsys.readouterr().out
    assert "LOC finds" in said or "kept" in said
    assert (tmp_path / "tagged.png").is_file()
    assert "missing.png" in said


def test_every_call_is_shown() -> None:
    code = "\n".join(BLOCKS)
    calls = {name for name in snellen.__all__ if name.islower() and not name.endswith("_async")} - {"memory", "correct"}
    assert {name for name in calls if f"snellen.{name}(" not in code} == set()
    assert ".correct(" in code
    assert {
        name for name in ("list", "stats", "forget", "export", "import_", "verify") if f"memory.{name}" not in code
    } == set()
