"""The command line: it answers at once, and tells what is wrong in one sentence."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import PIL.Image
import pytest

from snellen.cli import main
from snellen.cli.ask import pictures_and_instruction
from snellen.cli.options import Command
from snellen.errors import BadInput, SnellenError

_ROOT = Path(main.__file__).resolve().parents[2]
_COMMANDS = ("ask", "correct", "learn", "threads", "resume", "tools", "models", "demonstrations", "evaluate")


@pytest.fixture
def scene(tmp_path: Path) -> str:
    path = tmp_path / "scene.png"
    PIL.Image.new("RGB", (128, 128), "white").save(path)
    return str(path)


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "snellen", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env={**os.environ, **environment},
    )


def _sentence(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.startswith("snellen: ")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said


def test_help_answers_in_under_half_a_second() -> None:
    def seconds() -> float:
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert _run("--help").returncode == 0
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime

    # The processor's time: the machine may be busy with other things.
    assert min(seconds() for _ in range(3)) < 0.5


def test_help_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; from snellen.cli.main import main; main(['ask', '--help']);"
        "print(sorted({'pydantic', 'rich', 'torch', 'numpy', 'langgraph', 'profiles'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_ROOT)

    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_help_lists_every_command_with_an_example(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words) == 0

    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in _COMMANDS)
    assert 'snellen ask street.png "How many dogs are there?"' in said


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_teaches_by_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main((name, "--help")) == 0

    assert f"examples:\n  snellen {name}" in capsys.readouterr().out.replace(
        "examples:\n  snellen threads\n", "examples:\n"
    )


def test_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("--version",)) == 0
    assert capsys.readouterr().out.startswith("snellen ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("aks",), "did you mean `snellen ask`?"),
        (("memory", "lst"), "did you mean `snellen memory list`?"),
        (("prove",), "Name an action: `snellen prove build`"),
        (("zzz",), "`snellen --help` lists them"),
        (("ask",), "Nothing was asked"),
        (("ask", "what is it?"), "No picture was named"),
        (("ask", "SCENE"), "The instruction is missing"),
        (("ask", "SCENE", ""), "The instruction is empty"),
        (("ask", "SCENE", " \n "), "The instruction is empty"),
        (("ask", "SCENE", "é" * 2049), "4098 bytes, more than the 4096"),
        (("ask", "SCENE", "x" * 20_000), "20000 bytes, more than the 4096"),
        (("ask", "SCENE", "caf\udce9?"), "not valid UTF-8"),
        (("investigate", "Is clip sure of caf\udce9s?"), "query is not valid UTF-8"),
        (("learn", "caf\udce9"), "concept is not valid UTF-8"),
        (("ask", "~nosuch/x.png", "What is this?"), "home of a user that this machine does not know"),
        (("investigate", "Is clip sure?", "--pictures", "~nosuch/x"), "home of a user that this machine does not know"),
        (("campaign", "~nosuch/x.toml"), "home of a user that this machine does not know"),
        (("export", "~nosuch/x", "--to", "parquet"), "home of a user that this machine does not know"),
        (("ask", "SCENE", "what?", "--colour"), "Unrecognized arguments: --colour (see `snellen ask --help`)"),
        (("ask", "SCENE", "what?", "--html", "/"), "is a folder"),
        (("ask", "SCENE", "what?", "--out", "SCENE"), "is a file"),
        (
            ("ask", "SCENE", "what?", "--out", "/proc/nowhere/out"),
            "--out /proc/nowhere/out cannot be written (/proc is",
        ),
        (("ask", "SCENE", "what?", "--html", "/proc/run.html"), "--html /proc/run.html cannot be written"),
        (("resume", "x", "--approve", "--reject"), "not allowed with argument"),
        (("resume",), "the following arguments are required: THREAD"),
        (("evaluate", "tasks"), "the following arguments are required: --family"),
        (("evaluate", "tasks", "--family", "vqa", "-n", "many"), "invalid int value"),
        (("evaluate", "tasks", "--family", "vqa", "-n", "0"), "-n 0"),
        (("models", "--profile", "nowhere"), "no profile 'nowhere'"),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    words: tuple[str, ...], said: str, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main.main([scene if word == "SCENE" else word for word in words])

    assert said.casefold() in _sentence(capsys).casefold()
    assert status == 2


def test_options_may_stand_between_pictures_and_instruction(scene: str) -> None:
    _, options = main.parse(("ask", scene, "--answer", "3", scene, "how many?"))
    assert options.answer == "3"
    assert pictures_and_instruction(options.words) == ([scene, scene], "how many?")


def test_an_action_may_stand_after_its_options() -> None:
    command, options = main.parse(("memory", "--json", "list"))
    assert command.name == "memory list"
    assert options.json
    assert main.parse(("threads", "--json"))[0].name == "threads list"


@pytest.mark.parametrize("name", ["ask", "correct", "learn", "investigate"])
def test_asking_first_has_one_name_and_its_former_one_still_works(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for spelling in ("--confirm", "--approve"):
        assert main.parse((name, "x", spelling))[1].confirm
    assert main.main((name, "--help")) == 0
    told = capsys.readouterr().out
    assert "--confirm" in told
    assert "--approve" not in told


def test_an_option_means_the_same_everywhere() -> None:
    """Where several commands take an option, it has one metavariable, one type and one kind of action."""
    meanings: dict[str, set[tuple[object, ...]]] = {}
    for command in main.all_commands():
        for one in command.options:
            settings = one.settings
            meaning = (settings.get("metavar"), settings.get("type"))
            meanings.setdefault(one.names[0], set()).add(meaning)
    shared = {name: said for name, said in meanings.items() if name.startswith("-") and len(said) > 1}
    assert shared == {}


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BadInput("The picture is broken."), 2, "The picture is broken."),
        (SnellenError("The disk is full."), 1, "The disk is full."),
        (OSError(28, "No space left on device", "run.json"), 1, "No space left on device (run.json)"),
        (ValueError("a\nb"), 1, "unexpected went wrong (ValueError: a b); set SNELLEN_DEBUG=1"),
        (ValueError(), 1, "(ValueError)"),
        (KeyboardInterrupt(), 130, "`snellen threads` lists what can be resumed"),
    ],
)
def test_errors_end_in_a_sentence_and_a_status(
    error: BaseException,
    status: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_options: object) -> NoReturn:
        raise error

    tools = main.COMMANDS["tools"]
    assert isinstance(tools, Command)
    monkeypatch.setitem(main.COMMANDS, "tools", replace(tools, run=fail))

    assert main.main(("tools",)) == status
    assert said in _sentence(capsys)


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SNELLEN_DEBUG", "1")

    assert main.main(("aks",)) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_who_leaves_is_no_error() -> None:
    command = f"'{sys.executable}' -m snellen --help | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=_ROOT)

    assert done.stderr == ""


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "https://example.org/x", "What is this?"],
        ["learn", "penguin", "--pictures", "https://example.org/x"],
        ["investigate", "Can the models recognize birds?", "--pictures", "https://example.org/x"],
        ["prove", "run", "--bench", "https://example.org/x"],
        ["pairs", "run", "--bench", "https://example.org/x"],
        ["pairs", "build", "--data", "https://example.org/x", "--out", "y"],
        ["evaluate", "learning", "--out", "https://example.org/x"],
        ["memory", "import", "https://example.org/x"],
    ],
)
def test_an_address_in_place_of_a_file_is_told_with_both_its_slashes(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(words) == 2
    said = capsys.readouterr().err
    assert "https://example.org/x is an address, and nothing is fetched" in said
    assert said.count("\n") == 1


def test_streams_that_the_shell_closed_lead_nowhere() -> None:
    words = f"{sys.executable} -m snellen threads"
    for closed in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
        done = subprocess.run(["sh", "-c", f"{words} {closed}"], capture_output=True, text=True, check=False, cwd=_ROOT)
        assert (done.returncode, "went wrong" in done.stderr) == (0, False)


def test_ctrl_c_while_modules_are_imported_is_told_in_a_sentence() -> None:
    code = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'snellen.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from snellen.cli.entry import main\n"
        "sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=_ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "snellen: Interrupted.\n")
