"""`snellen completion`: scripts that shells accept, and that know every command and option."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from snellen.cli import main


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main.main(("completion", shell)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_knows_commands_actions_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for word in ("investigate", "copy-threads", "completion", "confirm", "alpha-over", "freeform"):
        assert word in text
    assert "approve" in text  # of resume
    assert text.count("--approve") < text.count("--confirm") or shell == "fish"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_its_script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell, capsys), "utf-8")
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("inv",), {"investigate"}),
        (("memory", "ver"), {"verify"}),
        (("memory", "forget", "--co"), {"--concept"}),
        (("learn", "penguin", "--con"), {"--confirm"}),
        (("investigate", "--protocol", "free"), {"freeform"}),
        (("completion", "f"), {"fish"}),
    ],
)
def test_bash_completes(
    words: tuple[str, ...], expected: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "script"
    path.write_text(script("bash", capsys), "utf-8")
    line = " ".join(f"'{word}'" for word in ("snellen", *words))
    completing = (
        f"source {path}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
        "$(complete -p snellen | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = subprocess.run(["bash", "-c", completing], capture_output=True, text=True, check=True)
    assert {word.strip() for word in done.stdout.split()} == expected


def test_other_shells_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("completion", "tcsh")) == 2
    assert "invalid choice: 'tcsh'" in capsys.readouterr().err
