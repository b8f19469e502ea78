"""Commands with ``--executor ray``, on a cluster of this machine alone that begins and ends with the command.

They run where the extra ``ray`` is installed: pip install 'snellen[ray]'.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from snellen.memory.trials import TrialTable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'snellen[ray]'"
    ),
]

_QUESTION = ("Can clip recognize birds?", "--models", "clip", "--seed", "1", "--budget", "images=40")
_LOOKS = """
import importlib.util, json, os, subprocess, sys
from snellen.models.under_test.ray_cluster import connected
from snellen.profiles import RaySettings

ray = connected(RaySettings())

@ray.remote
def is_found(module):
    return importlib.util.find_spec(module) is not None

joins = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False)"
without = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
address = ray.get_runtime_context().gcs_address
joined = subprocess.run([sys.executable, "-c", joins, address], env=without, capture_output=True, text=True)
print(json.dumps({
    "found": ray.get([is_found.remote("lies_in_the_folder"), is_found.remote("snellen")]),
    "joined": joined.returncode == 0,
    "why not": joined.stderr,
}))
"""


def test_the_answer_the_pictures_and_the_trials_are_those_of_one_process(tmp_path: Path) -> None:
    local = investigated(tmp_path / "local", "local")
    on_ray = investigated(tmp_path / "ray", "ray")

    assert on_ray["report"] == local["report"]
    assert scores_in(tmp_path / "ray") == pytest.approx(scores_in(tmp_path / "local"), abs=1e-4)
    assert not left_behind(tmp_path / "ray")


def test_a_cluster_of_this_machine_keeps_strangers_and_the_current_folder_out(tmp_path: Path) -> None:
    """Nobody without its secret reaches it; workers import nothing from where the command is run."""
    (tmp_path / "lies_in_the_folder.py").touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    ran = subprocess.run(
        [sys.executable, "-c", _LOOKS], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )

    seen = json.loads(ran.stdout)
    assert seen["found"] == [False, True]
    assert not seen["joined"]
    assert "InvalidAuthToken" in seen["why not"]


def investigated(home: Path, executor: str) -> dict[str, Any]:
    """Return what a command prints, without what times it."""
    words = [sys.executable, "-m", "snellen", "investigate", *_QUESTION, "--executor", executor, "--json"]
    environment = os.environ | {"SNELLEN_HOME": str(home), "RAY_ADDRESS": ""}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    printed: dict[str, Any] = json.loads(ran.stdout)
    printed["report"].pop("seconds")
    return printed


def scores_in(home: Path) -> dict[str, float]:
    """Return every score of a home's trials, by trial, choice and token."""
    with TrialTable(home)._rows() as rows:
        kept = {str(row[0]): json.loads(row[1]) for row in rows.conn.execute("SELECT id, scores FROM trials")}
    return {
        f"{name} {choice} {token}": score
        for name, scores in kept.items()
        for choice, row in enumerate(scores)
        for token, score in enumerate(row)
    }


def left_behind(home: Path) -> list[str]:
    """Return the processes that a command of a home has left, some seconds after its end."""
    found: list[str] = []
    for _ in range(120):
        found = [folder.name for folder in Path("/proc").glob("[0-9]*") if _is_of(home, folder)]
        if not found:
            break
        time.sleep(1)
    return found


def _is_of(home: Path, process: Path) -> bool:
    try:
        return f"SNELLEN_HOME={home}\0".encode() in (process / "environ").read_bytes()
    except OSError:  # it has ended, or is somebody else's
        return False
