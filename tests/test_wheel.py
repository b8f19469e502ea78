"""Packages: every way of building makes one wheel, and what is installed from it works far from the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Final

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


def _wheel(source: str | Path, folder: Path) -> Path:
    """Build a wheel of a checkout, an archive or an address, with what is installed here."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "-w", folder)
    _done(sys.executable, "-m", "pip", "wheel", *options, source, folder=folder)
    (built,) = folder.glob("snellen-*.whl")
    return built


def _environment(wheel: Path, folder: Path) -> Path:
    """Make an environment with a wheel alone; its dependencies are borrowed from the one that runs this test."""
    _done(sys.executable, "-m", "venv", "--without-pip", folder / "env", folder=folder)
    python = folder / "env" / "bin" / "python"
    _done(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel, folder=folder)
    packages = next((folder / "env" / "lib").glob("python*/site-packages"))
    # A .pth file inside a borrowed folder is not read, so the editable install of the repository stays out.
    (packages / "zz-borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of its own that holds what is tracked here, or would be, links as links."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=_ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        if os.path.lexists(_ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, folder / name, follow_symlinks=False)
    git = ("git", "-c", "user.name=tests", "-c", "user.email=tests@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "All of it")):
        _done(*git, *command, folder=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _wheel(checkout, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _environment(wheel, tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="module")
def editable(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editable")
    build = "import sys, hatchling.build; print(hatchling.build.build_editable(sys.argv[1]))"
    name = _done(sys.executable, "-c", build, folder, folder=checkout).split()[-1]
    return _environment(folder / name, folder)


def _contents(wheel: Path) -> dict[str, int]:
    """Return the checksums of the files in a wheel by their names."""
    with zipfile.ZipFile(wheel) as archive:
        return {one.filename: one.CRC for one in archive.infolist()}


def test_one_package_is_installed(wheel: Path) -> None:
    assert {name.partition("/")[0] for name in _contents(wheel)} == {"snellen", "snellen-0.1.0.dist-info"}


def test_a_source_distribution_makes_the_same_wheel(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    _done(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", tmp_path, folder=checkout)
    (source,) = tmp_path.glob("snellen-*.tar.gz")
    assert _contents(_wheel(source, tmp_path)) == _contents(wheel)


def test_a_git_address_makes_the_same_wheel(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    assert _contents(_wheel(f"git+file://{checkout}", tmp_path)) == _contents(wheel)


def test_what_trainings_leave_is_not_packaged(checkout: Path, wheel: Path, tmp_path: Path) -> None:
    left = [checkout / "microworld" / "training" / name / "left.txt" for name in ("runs", "cache")]
    for one in left:
        one.parent.mkdir()
        one.write_text("left")
    try:
        assert _contents(_wheel(checkout, tmp_path)) == _contents(wheel)
    finally:
        for one in left:
            shutil.rmtree(one.parent)


_OWN: Final = ("tools", "memory", "nodes", "graphs", "microworld", "tests")
_PROGRAM: Final = """
import sys
import tools, memory, nodes, graphs, microworld, tests

import snellen
from snellen.graphs.ask import graph

picture = sys.argv[1]
print(snellen.ask(picture, "How many dogs are there?").answer)
task = {"instruction": "Is there a dog?", "pictures": [picture]}
print(graph.invoke(task, context={"profile": "embedded"})["answer"])
print(snellen.memory.stats().adapters)
print(*(one.OWN for one in (tools, memory, nodes, graphs, microworld, tests)))
"""


@pytest.mark.parametrize("form", ["folders", "files"])
@pytest.mark.parametrize("install", ["installed", "editable"])
def test_a_program_with_modules_of_the_same_names_embeds_it(
    install: str, form: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    python = request.getfixturevalue(install) / "env" / "bin" / "python"
    for name in _OWN:
        place = tmp_path / f"{name}.py" if form == "files" else tmp_path / name / "__init__.py"
        place.parent.mkdir(exist_ok=True)
        place.write_text("OWN = 'own'\n")
    (tmp_path / "program.py").write_text(_PROGRAM)

    said = _done(python, "program.py", _PICTURE, folder=tmp_path)

    assert said.splitlines() == ["1", "yes", "0", " ".join("own" for _ in _OWN)]


def test_the_wheel_carries_what_the_packages_read(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    for needed in (
        "snellen/profiles/embedded.toml",
        "snellen/profiles/hub.toml",
        "snellen/reports/templates/run.html.j2",
        "snellen/reports/templates/explorer/explorer.js",
        "snellen/reports/templates/explorer/explorer.css",
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
