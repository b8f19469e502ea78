"""Commands that only look at the home import what they need, and none of the libraries that answer questions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.cli import main

_ROOT = Path(main.__file__).resolve().parents[2]
_HEAVY = frozenset(
    {
        "PIL", "aiosqlite", "cv2", "diffusers", "faiss", "httpx", "jinja2", "langchain_core", "langgraph", "langsmith",
        "matplotlib", "networkx", "pandas", "pyarrow", "pydantic", "scipy", "sentence_transformers", "sklearn",
        "sympy", "tokenizers", "torch", "transformers",
    }
)  # fmt: skip
_CODE = """\
import sys
from snellen.cli.main import main
status = main(sys.argv[1:])
print(*sys.modules)
sys.exit(status)
"""


@pytest.mark.parametrize(
    ("words", "also"),
    [
        (("--version",), {"numpy", "rich", "sqlite_utils"}),
        (("threads",), {"numpy"}),
        (("threads", "--json"), {"numpy"}),
        (("reports",), {"numpy"}),
        (("memory", "list"), set()),
    ],
)
def test_a_list_imports_no_heavy_library(words: tuple[str, ...], also: set[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CODE, *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=_ROOT,
        env={**os.environ, "SNELLEN_HOME": str(tmp_path)},
    )

    imported = {name.partition(".")[0] for name in done.stdout.splitlines()[-1].split()}
    assert imported & (_HEAVY | also) == set()
