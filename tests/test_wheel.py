"""What is installed from the wheel, far from the repository, answers a question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_PICTURE = _ROOT / "examples" / "scene.png"

pytestmark = pytest.mark.slow


def _done(*command: str | Path, folder: Path) -> str:
    """Run a program away from the repository, without its paths, its home and the network's caches."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SNELLEN"))}
    environment |= {"HOME": str(folder), "SNELLEN_HOME": str(folder / "memory"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = (
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "-w",
        folder,
        _ROOT,
    )
    _done(*build, folder=folder)
    (built,) = folder.glob("snellen-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel alone; its dependencies are borrowed from the one that runs this test."""
    folder = tmp_path_factory.mktemp("elsewhere")
    _done(sys.executable, "-m", "venv", "--without-pip", folder / "env", folder=folder)
    python = folder / "env" / "bin" / "python"
    _done(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder)
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    # A .pth file inside a borrowed folder is not read, so the editable install of the repository stays out.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return folder


def test_the_wheel_carries_what_the_packages_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    for needed in (
        "snellen/profiles/embedded.toml",
        "snellen/profiles/hub.toml",
        "snellen/reports/templates/run.html.j2",
        "snellen/microworld/concepts.json",
        "snellen/microworld/split.json",
        "snellen/microworld/art/airplane.png",
        "snellen/microworld/checkpoints/clip/model.safetensors",
        "snellen/microworld/checkpoints/owlvit/model.safetensors",
        "snellen/microworld/checkpoints/blip/model.safetensors",
    ):
        assert needed in names
    assert any(name.startswith("snellen/reasoning/llm/prompts/") and name.endswith(".md") for name in names)
    assert any(name.startswith("snellen/reasoning/case_based/seeds/") and name.endswith(".json") for name in names)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert not [name for name in names if name.startswith(("tests/", "docs/")) or "__pycache__" in name]


def test_the_installed_program_answers_a_question(installed: Path) -> None:
    python = installed / "env" / "bin" / "python"
    where = _done(python, "-c", "import snellen; print(snellen.__file__)", folder=installed)
    assert str(_ROOT) not in where

    snellen = installed / "env" / "bin" / "snellen"
    said = _done(snellen, "ask", _PICTURE, "How many animals are in the picture?", "--json", folder=installed)

    run = json.loads(said)
    assert run["error"] is None
    assert run["answer_text"].isdigit()
    assert run["steps"]
