"""Several processes that learn the same at once leave what one would have left."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.memory.verification import verify_memory
from tests.cli.teachable import save_profile

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_three_processes_that_learn_one_concept_learn_it_once(tmp_path: Path, home: Path) -> None:
    profile = save_profile(tmp_path)
    command = [sys.executable, str(Path(__file__).parent / "learner.py"), "dog", "--profile", str(profile), "--json"]
    environment = os.environ | {"SNELLEN_HOME": str(home), "PYTHONPATH": str(ROOT)}

    def start(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)

    with ThreadPoolExecutor(3) as processes:
        ended = list(processes.map(start, range(3)))

    assert [one.returncode for one in ended] == [0, 0, 0], [one.stderr for one in ended]
    rows = PromptPool(home).rows()
    assert sorted(row.pool for row in rows) == ["CLIP", "CLIP", "LOC", "LOC", "LOC"]
    assert len({(row.pool, row.picture) for row in rows}) == 5
    assert len(Drafts(home)) == 0
    assert verify_memory(home, lambda: DemonstrationPool(home)).clean
