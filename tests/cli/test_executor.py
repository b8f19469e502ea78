"""Commands with ``--executor ray``, on a cluster of this machine alone that begins and ends with the command.

They run where the extra ``ray`` is installed: pip install 'snellen[ray]'.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
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


def test_ctrl_c_ends_the_cluster_too_and_the_thread_goes_on_in_one_process(tmp_path: Path) -> None:
    question = (*_QUESTION[:-1], "images=120")
    wanted = investigated(tmp_path / "local", "local", question)["report"]
    home = tmp_path / "ray"
    home.mkdir()
    words = [sys.executable, "-m", "snellen", "investigate", *question, "--executor", "ray", "--thread", "t"]
    # What is begun in the background of a shell ignores it, and so would the command.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    environment = os.environ | {"SNELLEN_HOME": str(home), "RAY_ADDRESS": ""}
    with subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        signal.signal(signal.SIGINT, before)
        while not TrialTable(home).count():
            assert process.poll() is None, "it was too quick to be interrupted"
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: all processes of the foreground get it
        _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Interrupted: `snellen resume t` goes on" in said
    assert "Traceback" not in said
    assert not left_behind(home, but="agent", seconds=10)
    assert not left_behind(home), "Ray's own agents notice by themselves, where it has ended them before they could end"

    again = [sys.executable, "-m", "snellen", "resume", "t", "--executor", "local", "--json"]
    ran = subprocess.run(again, env=environment, capture_output=True, text=True, check=True)
    report = json.loads(ran.stdout)["report"]
    timed = {"seconds", "trials"}  # what was kept before the interruption is not measured again, and not counted
    assert {key: report[key] for key in report.keys() - timed} == {key: wanted[key] for key in report.keys() - timed}
    assert scores_in(home) == pytest.approx(scores_in(tmp_path / "local"), abs=1e-4)


def test_a_campaign_of_several_cells_at_a_time_is_the_one_of_one_process(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    file.write_text(
        'title = "Two groups"\nquery = "Can models recognize {row}?"\nrows = ["birds", "vehicles"]\n'
        'models = ["clip"]\nimages = 24\n'
    )
    local = printed_by("campaign", str(file), home=tmp_path / "local", executor="local")
    on_ray = printed_by("campaign", str(file), "--at-once", "2", home=tmp_path / "ray", executor="ray")

    assert on_ray["cells"] == local["cells"]
    assert scores_in(tmp_path / "ray") == pytest.approx(scores_in(tmp_path / "local"), abs=1e-4)


def test_models_judge_pairs_side_by_side_as_one_after_the_other(tmp_path: Path) -> None:
    bench = tmp_path / "bench"
    printed_by("pairs", "build", "--kind", "captions", "-n", "4", "--out", str(bench), home=tmp_path / "home")
    words = ("pairs", "run", "--bench", str(bench), "--models", "clip", "--models", "llava-judge")
    local = printed_by(*words, home=tmp_path / "local", executor="local")
    on_ray = printed_by(*words, home=tmp_path / "ray", executor="ray")

    assert on_ray == local
    assert scores_in(tmp_path / "ray") == pytest.approx(scores_in(tmp_path / "local"), abs=1e-4)


def investigated(home: Path, executor: str, question: Sequence[str] = _QUESTION) -> dict[str, Any]:
    """Return what an investigation prints, without what times it."""
    printed = printed_by("investigate", *question, home=home, executor=executor)
    printed["report"].pop("seconds")
    return printed


def printed_by(*words: str, home: Path, executor: str = "") -> dict[str, Any]:
    """Return what a command prints."""
    command = [sys.executable, "-m", "snellen", *words, *(["--executor", executor] if executor else []), "--json"]
    environment = os.environ | {"SNELLEN_HOME": str(home), "RAY_ADDRESS": ""}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    printed: dict[str, Any] = json.loads(ran.stdout)
    return printed


def scores_in(home: Path) -> dict[str, float]:
    """Return every score of a home's trials, by trial, choice and token."""
    with TrialTable(home)._reading() as rows:
        kept = {str(row[0]): json.loads(row[1]) for row in rows.execute("SELECT id, scores FROM trials")}
    return {
        f"{name} {choice} {token}": score
        for name, scores in kept.items()
        for choice, row in enumerate(scores)
        for token, score in enumerate(row)
    }


def left_behind(home: Path, *, but: str = "", seconds: int = 120) -> list[str]:
    """Return the processes that a command of a home has left, so many seconds after its end.

    Args:
        home: The home.
        but: Those with this word in their title are not counted.
        seconds: How long they may take.
    """
    found: list[str] = []
    for _ in range(seconds):
        titles = [_title(folder) for folder in Path("/proc").glob("[0-9]*") if _is_of(home, folder)]
        found = [title for title in titles if title and not (but and but in title.lower())]
        if not found:
            break
        time.sleep(1)
    return found


def _title(process: Path) -> str:
    try:
        return (process / "cmdline").read_text().replace("\0", " ").strip()
    except OSError:  # it has ended
        return ""


def _is_of(home: Path, process: Path) -> bool:
    try:
        return f"SNELLEN_HOME={home}\0".encode() in (process / "environ").read_bytes()
    except OSError:  # it has ended, or is somebody else's
        return False
