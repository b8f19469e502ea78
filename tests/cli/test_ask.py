"""`snellen ask` from its words to its files, with a Reasoner that says what the test wants."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

from snellen.cli import main
from snellen.errors import SnellenError
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.reasoning.reasoner import ReasonerUsage, Route
from snellen.reasoning.revision import ProposedRevision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import Trouble
from snellen.runtime.context import Context
from snellen.threads import ask
from snellen.tools.program import StepRecord
from tests.graphs.scripted import Uncritical

_SUM = "ANSWER0=EVAL(expr='1 + 2')\nFINAL_RESULT=RESULT(var=ANSWER0)"
_CROP = "BOX0=[]\nIMAGE0=CROP(image=IMAGE,box=BOX0)\nFINAL_RESULT=RESULT(var=IMAGE0)"
_BROKEN = "ANSWER0=EVAL(expr='1 / 0')\nFINAL_RESULT=RESULT(var=ANSWER0)"


class _Scripted(Uncritical):
    """A Reasoner that knows one program."""

    usage = ReasonerUsage()
    examples_wanted = 4
    needs_one_meaning = False

    def __init__(self, program: str, stop: SnellenError | signal.Signals | None, revised: str = "") -> None:
        self._program, self._stop, self._revised = program, stop, revised

    async def plan(self, task: Task, examples: Examples) -> Plan:
        return Plan(steps=["think about " + task.instruction])

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        if self._stop is not None:
            stop, self._stop = self._stop, None
            if isinstance(stop, SnellenError):
                raise stop
            signal.raise_signal(stop)
            await asyncio.sleep(30)
        return self._program

    async def revise(
        self,
        task: Task,
        plan: Plan,
        program: str,
        steps: Sequence[StepRecord],
        trouble: Trouble,
        examples: Examples,
    ) -> ProposedRevision | None:
        return ProposedRevision(Plan(["add"]), self._revised, "Add <them>.") if self._revised else None

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return []

    async def route(self, message: str) -> Route:
        return "ask"


def _embed(texts: list[str]) -> NDArray[np.float32]:
    return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


Script = Callable[..., None]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Let every run of the test use this program."""

    def install(program: str = _SUM, *, stop: SnellenError | signal.Signals | None = None, revised: str = "") -> None:
        reasoner = _Scripted(program, stop, revised)

        def context(_profile: str, folder: Path) -> Context:
            pool = DemonstrationPool(folder, embed=_embed)
            return Context(pictures=ArtifactStore(folder / "artifacts"), reasoner=reasoner, pool=pool)

        monkeypatch.setattr(ask, "make_context", context)

    return install


@pytest.fixture
def scene(tmp_path: Path) -> str:
    path = tmp_path / "scene.png"
    PIL.Image.new("RGB", (128, 96), "olive").save(path)
    return str(path)


def test_a_run_is_shown_from_plan_to_answer(script: Script, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    script()

    assert main.main(("ask", scene, "how many?", "--answer", "3", "--thread", "t1")) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "thread  t1"
    assert lines[1:3] == ["plan", "  1. think about how many?"]
    assert "  ANSWER0=EVAL(expr='1 + 2')" in lines
    assert any(line.startswith("         → 3  (") for line in lines)
    assert lines[-2:] == ["answer  3", "judged  right (expected: 3)"]


def test_a_revision_is_shown_while_it_runs_and_in_the_answer(
    script: Script, scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(_BROKEN, revised=_SUM)

    assert main.main(("ask", scene, "how many?", "--thread", "t9", "--html", str(tmp_path / "run.html"))) == 0

    lines = capsys.readouterr().out.splitlines()
    first, program, second = lines.index("revision"), lines.index("revised program"), lines.index("steps, once more")
    assert lines.index("steps") < first < program < second
    assert lines[first + 1].startswith("  Step 1 failed:")
    assert lines[first + 2] == "  Add <them>."
    assert "  the revision helped" in lines[second:]
    assert "answer  3 (after one revision: add <them>)" in lines
    page = (tmp_path / "run.html").read_text("utf-8")
    assert "3 (after one revision: add &lt;them&gt;)" in page
    assert "Step 1 failed:" in page
    assert "1 / 0" in page

    assert main.main(("resume", "t9")) == 0
    assert "  Add <them>." in capsys.readouterr().out.splitlines()


def test_a_revision_that_does_not_help_is_shown_and_the_run_before_kept(
    script: Script, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script(_BROKEN, revised=_BROKEN.replace("1 / 0", "2 / 0"))

    assert main.main(("ask", scene, "how many?")) == 1

    lines = capsys.readouterr().out.splitlines()
    assert "  the revision did not help: the run before is kept" in lines
    assert "  no better program is known: the answer stands" in lines
    assert not any("after one revision" in line for line in lines)


def test_json_shows_revisions(script: Script, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    script(_BROKEN, revised=_SUM)

    assert main.main(("ask", scene, "how many?", "--json")) == 0

    told = json.loads(capsys.readouterr().out)
    assert (told["answer"], told["answer_text"]) == (3, "3")
    assert [(one["kind"], one["change"], one["helped"]) for one in told["revisions"]] == [
        ("error", "Add <them>.", True)
    ]


def test_json_is_one_document(script: Script, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    script()

    assert main.main(("ask", scene, "how many?", "--json")) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["answer"] == 3
    assert said["answer_text"] == "3"
    assert said["verdict"] == "unjudged"
    assert {"thread", "plan", "program", "steps", "warnings", "usage", "profile", "error"} <= said.keys()


def test_results_and_page_are_written(
    script: Script, scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(_CROP)
    out, page = tmp_path / "out", tmp_path / "pages" / "run.html"

    assert main.main(("ask", scene, "crop <it>", "--out", str(out), "--html", str(page))) == 0

    assert sorted(path.name for path in out.iterdir()) == ["answer.png", "run.json", "step-2.png"]
    assert "crop &lt;it&gt;" in page.read_text("utf-8")
    assert f"wrote   {page}" in capsys.readouterr().out


def test_a_picture_as_the_answer_names_its_file(script: Script, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    script(_CROP)

    assert main.main(("ask", scene, "crop it")) == 0

    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("picture ")]
    assert Path(line.removeprefix("picture ")).is_file()


def test_a_program_that_fails_ends_in_one_sentence(
    script: Script, scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(_BROKEN)

    assert main.main(("ask", scene, "how many?", "--html", str(tmp_path / "run.html"))) == 1

    said = capsys.readouterr().err
    assert said.startswith("snellen: ")
    assert said.count("\n") == 1
    assert (tmp_path / "run.html").is_file()


def test_a_failed_run_says_how_to_go_on_and_does(
    script: Script, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script(stop=SnellenError("The endpoint is silent."))

    assert main.main(("ask", scene, "how many?", "--thread", "t2")) == 1
    assert "The endpoint is silent (then `snellen resume t2` goes on from there)." in capsys.readouterr().err

    assert main.main(("threads",)) == 0
    assert "t2" in capsys.readouterr().out
    assert main.main(("resume", "t2")) == 0
    said = capsys.readouterr().out
    assert said.count("think about") == 1
    assert said.splitlines()[-1] == "answer  3"


def test_a_finished_run_is_shown_again(script: Script, scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    script()
    assert main.main(("ask", scene, "how many?", "--thread", "t3")) == 0
    first = capsys.readouterr().out

    assert main.main(("resume", "t3")) == 0

    assert capsys.readouterr().out == first


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach Python even where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_whoever_stops_a_run_is_told_how_to_go_on(
    script: Script, scene: str, capsys: pytest.CaptureFixture[str], stop: signal.Signals, status: int
) -> None:
    script(stop=stop)

    assert main.main(("ask", scene, "how many?", "--thread", "t4")) == status
    assert "`snellen resume t4` goes on" in capsys.readouterr().err
    assert main.main(("threads", "--json")) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["status"], listed["reason"]) == ("stopped before write", "")
    assert main.main(("resume", "t4")) == 0


def test_a_run_without_an_answer_is_listed_as_failed_with_its_reason(
    script: Script, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script(_BROKEN)
    assert main.main(("ask", scene, "how many?", "--thread", "t5", "--json")) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["status"] == "failed"
    reason = captured.err.strip().removeprefix("snellen: ")

    assert main.main(("threads", "--json")) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["status"], listed["reason"]) == ("failed", reason)
    assert main.main(("threads",)) == 0
    assert "failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.png", None),
        ("empty.png", b""),
        ("text.png", b"this is no picture"),
        ("cut.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x80"),
    ],
)
def test_bad_pictures_are_told_in_one_sentence(
    name: str, content: bytes | None, script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script()
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)

    assert main.main(("ask", str(path), "how many?")) == 2

    said = capsys.readouterr().err
    assert said.startswith("snellen: ")
    assert said.count("\n") == 1
    assert name in said


@pytest.mark.parametrize("thread", ["nobody", "../../etc", ""])
def test_unknown_threads_are_bad_input(thread: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("resume", thread)) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_control_characters_never_reach_the_terminal(
    script: Script, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script()

    assert main.main(("ask", scene, "how \x1b]0;many\x07?")) == 0

    assert "\x1b" not in capsys.readouterr().out
