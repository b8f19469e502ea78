"""`snellen ask` says the same in a process of its own and in the resident process, which then imports nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen.cli.main import main
from snellen.cli.resident.circumstances import circumstances, compared, minutes_of
from snellen.cli.resident.client import asked, end
from snellen.errors import BadInput

_ROOT = Path(__file__).resolve().parents[3]
_PICTURE = _ROOT / "examples" / "scene.png"
_QUESTION = "How many dogs are there?"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="resident processes are forked")


@pytest.fixture
def resident_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Allow resident processes in the test's home, and leave none behind."""
    monkeypatch.setenv("SNELLEN_RESIDENT", "5")
    yield home
    end(home)
    assert asked(home, "status") is None


def snellen(*words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "snellen", *words]
    return subprocess.run(
        command, cwd=_ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False
    )


def told(text: str) -> str:
    """Return an output without the thread's name and the times."""
    return re.sub(r"\d{8}-\d{6}-[0-9a-f]{4}|\(\d+\.\d\d s\)", "…", text)


def complaints(text: str) -> list[str]:
    """Return what was said on standard error, without the signs of life of a slow machine."""
    return [told(line) for line in text.splitlines() if not line.endswith(" …")]


def without_times(data: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(data, dict):
        return {key: without_times(value) for key, value in data.items() if key not in {"seconds", "thread", "html"}}
    return [without_times(one) for one in data] if isinstance(data, list) else data


@pytest.mark.slow
@linux_only
def test_answers_are_the_same_and_later_ones_come_from_one_process(resident_home: Path) -> None:
    alone = snellen("ask", str(_PICTURE), _QUESTION, "--no-resident")
    assert asked(resident_home, "status") is None

    served = [snellen("ask", "examples/scene.png", _QUESTION) for _ in range(2)]
    as_json = [
        json.loads(snellen("ask", str(_PICTURE), _QUESTION, "--json", *more).stdout)
        for more in ((), ("--no-resident",))
    ]

    assert {told(one.stdout) for one in served} == {told(alone.stdout)}
    assert [one.returncode for one in served] == [0, 0]
    assert without_times(as_json[0]) == without_times(as_json[1])
    status = asked(resident_home, "status", seconds=60)
    assert status is not None
    assert status["answered"] == 3
    assert "3 answered" in snellen("resident").stdout


@pytest.mark.slow
@linux_only
def test_errors_are_the_same(resident_home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    for words in ((str(broken), _QUESTION), (str(_PICTURE), "Is the cat and the dog left of the horse?")):
        alone, served = (snellen("ask", *words, *more) for more in (("--no-resident",), ()))
        assert (served.returncode, told(served.stdout)) == (alone.returncode, told(alone.stdout))
        assert complaints(served.stderr) == complaints(alone.stderr)


@pytest.mark.parametrize(("said", "left"), [("off", 0.0), ("0", 0.0), ("2.5", 2.5), ("", 10.0)])
def test_the_environment_says_how_long_a_process_stays(said: str, left: float) -> None:
    assert minutes_of(None, {"SNELLEN_RESIDENT": said}) == left
    assert minutes_of(None, {"CI": "true"}) == 0.0


def test_a_profile_says_so_too(tmp_path: Path) -> None:
    profile = tmp_path / "mine.toml"
    profile.write_text('extends = "embedded"\n[resident]\nminutes = 0\n')

    assert minutes_of(str(profile), {}) == 0.0
    assert minutes_of(str(profile), {"SNELLEN_RESIDENT": "3"}) == 3.0


def test_what_is_neither_minutes_nor_off_is_refused() -> None:
    with pytest.raises(BadInput, match="SNELLEN_RESIDENT=soon"):
        minutes_of(None, {"SNELLEN_RESIDENT": "soon"})


def test_another_file_of_the_profile_is_another_process(tmp_path: Path) -> None:
    facts = tmp_path / "facts" / "mine.json"
    facts.parent.mkdir()
    facts.write_text("{}")
    profile = tmp_path / "mine.toml"
    profile.write_text('extends = "embedded"\n[world]\nfacts = "facts/mine.json"\n')
    before = circumstances(str(profile))

    assert circumstances(str(profile)) == before
    facts.write_text('{"a": 1}')
    after = circumstances(str(profile))

    assert after.process == before.process
    assert not after.met_by(before)
    assert replace(after, profile="").met_by(before)


def test_only_variables_of_a_session_may_differ() -> None:
    session = {"TERM": "xterm", "COLUMNS": "80", "SNELLEN_HOME": "/a", "OPENAI_API_KEY": "k", "PWD": "/", "_": "/b"}
    others = {
        "OMP_NUM_THREADS": "1",
        "HF_HOME": "/h",
        "PYTHONPATH": "/p",
        "LANG": "C",
        "TERMINFO": "/t",
        "TORCH_X": "1",
    }

    assert compared({**session, **others}) == others


def test_without_a_process_its_status_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("resident",)) == 0
    assert "No resident process" in capsys.readouterr().out
    assert main(("resident", "status", "--json")) == 0
    assert json.loads(capsys.readouterr().out) is None
    assert main(("resident", "stop")) == 0
