"""`snellen ask --answer` closes the loop: a tool at fault learns, and the answer becomes right.

The models are random ones that learn in two steps; what they learn is kept all the same, and the detector sees a dog as
soon as it has learned to.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.cli import main
from snellen.cli.ask_display import AskDisplay
from snellen.collection import OwnPictures
from snellen.learning.prompt_recall import PromptRecall
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.models.vision.detection import Detection
from snellen.nodes.learn import prompt_tuning as nodes
from snellen.reasoning.critique import Critique, Fault
from snellen.runtime.context import Context
from snellen.threads import ask
from snellen.threads.events import Finished, LearningProgress, NodeFinished, Started, StepFinished, Waits
from snellen.threads.progress import doing_after
from snellen.tools.vision import Models
from snellen.tuning import tune
from tests.cli.teachable import keep_all, save_profile
from tests.graphs.scripted import Critic

Say = Callable[..., str]

PROGRAM = """\
BOX0=LOC(image=IMAGE,object='dog')
ANSWER0=COUNT(box=BOX0)
FINAL_RESULT=RESULT(var=ANSWER0)
"""
BLIND = Fault("tool", "1", "LOC", "dog", "LOC found no dog.", right_output="1 dog somewhere")


class _Sight(Models):
    """Sees a dog in every picture, once it has learned what a dog is."""

    def detect(self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
        found = [Detection((10, 10, 40, 30), 0.9, "dog")] if "dog" in self.learned("LOC") else []
        return [found if "dog" in wanted else [] for wanted in names]


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_profile(tmp_path_factory.mktemp("models")))


@pytest.fixture
def changes() -> dict[str, Any]:
    """What a test has otherwise than the others: the ``sight``, and what the ``critic`` says."""
    return {"sight": _Sight, "critic": {}}


@pytest.fixture
def change(changes: dict[str, Any]) -> Callable[..., None]:
    return changes.update


@pytest.fixture(autouse=True)
def loop(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    """Let each run count dogs, blame the detector, and keep what that learns."""
    gathered = ask.make_context

    def context(profile: str, folder: Path, *, own: OwnPictures | None = None) -> Context:
        real = gathered(profile, folder, own=own)
        assert real.profile is not None
        assert real.learning is not None
        return replace(
            real,
            models=changes["sight"](real.profile, PromptRecall(real.learning.prompts, real.profile)),
            reasoner=Critic(**{"program": PROGRAM, "globally": (BLIND,), "teachable": False, **changes["critic"]}),
            without=frozenset({"results"}),
        )

    monkeypatch.setattr(ask, "make_context", context)
    monkeypatch.setattr(nodes, "validate", keep_all)
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command and return what it prints, or what it says of the error."""

    def said(*words: str, status: int = 0) -> str:
        assert main.main(words) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return said


@pytest.fixture
def question(tmp_path: Path, profile: str) -> tuple[str, ...]:
    """A question that is answered wrongly."""
    scene = tmp_path / "scene.png"
    PIL.Image.new("RGB", (80, 60), "olive").save(scene)
    return ("ask", str(scene), "How many dogs are there?", "--answer", "1", "--thread", "t1", "--profile", profile)


def learned(home: Path) -> int:
    return len(PromptPool(home).rows())


def status(say: Say) -> tuple[str, str]:
    (thread,) = json.loads(say("threads", "--json"))
    return (thread["status"], thread["verdict"])


def test_the_loop_is_shown_from_the_wrong_answer_to_the_right_one(
    question: tuple[str, ...], say: Say, home: Path, tmp_path: Path
) -> None:
    page = tmp_path / "run.html"
    lines = say(*question, "--html", str(page)).splitlines()

    story = [
        "answer  0",
        "judged  wrong (expected: 1)",
        "what went wrong (all at once)",
        "  LOC in step 1, 90% sure",
        "    LOC found no dog.",
        "    it should have given: 1 dog somewhere",
        "learned",
        "         → the task is tried again with it",
        "steps, once more",
        "  LOC: dog  LOC finds 'dog' now: the answer is right with it",
        "answer  1",
        "judged  right, at attempt 2 (expected: 1)",
        "Undo: snellen memory forget --concept dog",
    ]
    assert [line for line in lines if line in story] == story
    assert any(line.startswith("  LOC: dog  3 prompts kept, 0 discarded, from small library") for line in lines)
    assert learned(home) == 3
    _check_page(page.read_text("utf-8"))


def _check_page(html: str) -> None:
    titles = [part.partition("<")[0] for part in html.split("<h2>")[1:]]
    assert "LOC finds &#39;dog&#39; now: the answer is right with it" in html
    assert titles[:4] == ["First answer", "What went wrong", "What was learned", "Answer after learning"]
    assert "before: nothing found" in html
    assert "now: 1 region: dog 0.90" in html
    assert html.count('aria-label="a picture that LOC: dog was learned from"') == 3
    assert html.count("data:image/png;base64,") == 4  # the scene, and what was learned from


def test_json_tells_what_was_learned(question: tuple[str, ...], say: Say) -> None:
    said = json.loads(say(*question, "--json"))

    assert (said["status"], said["verdict"], said["answer"]) == ("finished", "right", 1)
    (one,) = said["learned"]
    assert (one["need"]["tool"], one["need"]["concept"], one["kept"]) == ("LOC", "dog", 3)
    assert len(set(one["pictures"])) == 3
    assert one["helped"] is True
    assert said["attempts"][0]["faulty"][0]["output"] == []


def test_a_page_outlives_the_pictures_that_were_learned_from(
    question: tuple[str, ...], say: Say, home: Path, tmp_path: Path
) -> None:
    (one,) = json.loads(say(*question, "--json"))["learned"]
    for path in (path for each in one["pictures"] for path in (home / "artifacts").rglob(f"*{each}*")):
        path.unlink()

    say("resume", "t1", "--html", str(tmp_path / "run.html"))

    assert "was learned from" not in (tmp_path / "run.html").read_text("utf-8")


class _Blind(_Sight):
    """Sees no dog, whatever it learns."""

    def detect(self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
        return [[] for _ in pictures]


def test_success_is_not_claimed_while_the_retry_finds_nothing(
    question: tuple[str, ...], say: Say, home: Path, tmp_path: Path, change: Callable[..., None]
) -> None:
    """And what changed nothing is not tried alike again, though local reflection blames the same step."""
    change(sight=_Blind, critic={"locally": (BLIND,)})
    page = tmp_path / "run.html"

    said = say(*question, "--html", str(page))

    assert [line for line in said.splitlines() if line.startswith("judged")][-1].startswith("judged  wrong")
    for claim in ("LOC finds", "from now on"):
        assert claim not in said
        assert claim not in page.read_text("utf-8")
    assert said.count("the task is tried again with it") == 1
    assert "LOC: dog  the answer was still not right with it" in said
    assert "LOC: dog was learned in this run and changed nothing about the step at fault" in said
    (one,) = json.loads(say("resume", "t1", "--json"))["learned"]
    assert (one["kept"], one["helped"]) == (3, False)
    assert learned(home) == 3
    assert "LOC finds" not in say("resume", "t1")


class TestDoubt:
    """What is said of the right answer may be false."""

    @pytest.fixture(autouse=True)
    def doubtful(self, change: Callable[..., None]) -> None:
        change(critic={"certainty": 0.01})

    def test_it_shows_its_evidence_and_learns_nothing_without_a_terminal(
        self, question: tuple[str, ...], say: Say, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main.main(question) == 0
        captured = capsys.readouterr()
        asked = captured.out.splitlines()[-1]
        assert asked.startswith("  ? LOC: dog: 3 to learn from")
        assert "doubtful that LOC was wrong (1% sure): step 1 gave nothing found" in asked
        assert "Is it really “expected: 1”?" in asked
        assert "`snellen resume t1 --approve` or `--reject`" in captured.err
        assert (learned(home), len(Drafts(home))) == (0, 0)
        assert status(say) == ("waiting for approval", "wrong")

        assert "judged  right" in say("resume", "t1", "--approve")
        assert learned(home) == 3

    def test_json_has_the_evidence(self, question: tuple[str, ...], say: Say) -> None:
        said = json.loads(say(*question, "--json"))
        (action,) = said["waiting"]["action_requests"]
        assert (said["status"], said["learned"]) == ("waiting", [])
        assert action["args"]["doubt"] in action["description"]

    def test_who_insists_is_not_asked(self, question: tuple[str, ...], say: Say, home: Path) -> None:
        assert "judged  right" in say(*question, "--insist")
        assert learned(home) == 3

    def test_a_rejected_correction_teaches_nothing(self, question: tuple[str, ...], say: Say, home: Path) -> None:
        say(*question)
        assert "nothing was learned: It was not approved." in say("resume", "t1", "--reject")
        assert learned(home) == 0

    def test_a_later_correction_may_insist(self, question: tuple[str, ...], say: Say, home: Path) -> None:
        say(*question)
        say("resume", "t1", "--reject")
        assert "judged  right" in say("correct", "t1", "--answer", "1", "--insist")
        assert learned(home) == 3

    def test_asking_and_insisting_contradict_each_other(self, question: tuple[str, ...], say: Say) -> None:
        assert "leave out one of them" in say(*question, "--confirm", "--insist", status=2)

    def test_what_a_tool_was_never_taught_is_learned_without_a_question(
        self, question: tuple[str, ...], say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("snellen.nodes.ask.correction.is_new", lambda *_: True)
        assert "judged  right" in say(*question)
        assert learned(home) == 3


class TestApproval:
    def test_without_a_terminal_the_run_waits_and_tells_how_to_decide(
        self, question: tuple[str, ...], say: Say, home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        assert main.main((*question, "--confirm")) == 0
        captured = capsys.readouterr()
        assert captured.out.splitlines()[-1].startswith("  ? LOC: dog: 3 to learn from, 2 to prove it on")
        assert "`snellen resume t1 --approve` or `--reject`" in captured.err
        assert status(say) == ("waiting for approval", "wrong")
        assert "t1\t" in say("threads")
        assert "has not finished" in say("correct", "t1", "not that", status=2)
        assert learned(home) == 0

        said = say("resume", "t1", "--approve", "--html", str(tmp_path / "run.html"))

        assert said.index("judged  wrong") < said.index("learned\n") < said.index("judged  right, at attempt 2")
        assert learned(home) == 3
        assert status(say) == ("finished", "right")
        _check_page((tmp_path / "run.html").read_text("utf-8"))

    def test_json_has_the_request(self, question: tuple[str, ...], say: Say) -> None:
        said = json.loads(say(*question, "--confirm", "--json"))

        assert (said["status"], said["verdict"], said["learned"]) == ("waiting", "wrong", [])
        (action,) = said["waiting"]["action_requests"]
        assert (action["args"]["tool"], action["args"]["concept"]) == ("LOC", "dog")

    def test_what_is_rejected_is_not_learned_but_may_be_asked_for_again(
        self, question: tuple[str, ...], say: Say, home: Path
    ) -> None:
        say(*question, "--confirm")

        said = say("resume", "t1", "--reject")

        assert "nothing was learned: It was not approved." in said
        assert said.splitlines()[-2:] == ["answer  0", "judged  wrong (expected: 1)"]
        assert (learned(home), len(Drafts(home))) == (0, 0)
        assert "waits for no decision" in say("resume", "t1", "--approve", status=2)
        assert "judged  right, at attempt 2 (expected: 1)" in say("correct", "t1", "--answer", "1")
        assert learned(home) == 3

    def test_what_was_approved_and_then_stopped_goes_on_without_asking_again(
        self, question: tuple[str, ...], say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stopped(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        say(*question, "--confirm")
        with monkeypatch.context() as patch:
            patch.setattr(nodes, "tune", stopped)
            assert "`snellen resume t1` goes on" in say("resume", "t1", "--approve", status=130)

        assert status(say) == ("stopped before learn", "wrong")
        assert "waits for no decision" in say("resume", "t1", "--reject", status=2)
        assert "judged  right" in say("resume", "t1")
        assert learned(home) == 3

    def test_a_terminal_is_asked(
        self, question: tuple[str, ...], say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answers = io.StringIO("y\n")
        monkeypatch.setattr(answers, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", answers)

        assert "judged  right" in say(*question, "--confirm")
        assert learned(home) == 3


def test_ctrl_c_in_the_middle_of_tuning_loses_nothing(
    question: tuple[str, ...], say: Say, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def stopped(tuner: Any, instances: Sequence[Any], **more: Any) -> Any:  # noqa: ANN401
        asked.append(len(instances))
        if len(asked) == 3:
            return tune(tuner, instances, **more)
        tune(tuner, instances[:1], **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(nodes, "tune", stopped)

    assert "`snellen resume t1` goes on" in say(*question, status=130)
    assert "`snellen resume t1` goes on" in say("resume", "t1", status=130)
    assert status(say) == ("stopped before learn", "wrong")
    assert (learned(home), len(Drafts(home))) == (0, 2)

    said = say("resume", "t1")

    assert asked == [3, 2, 1]
    assert said.count("what went wrong") == 1
    assert "judged  right, at attempt 2" in said
    assert (learned(home), len(Drafts(home))) == (3, 0)


def test_a_thread_that_learned_has_no_answer_to_correct(say: Say, profile: str) -> None:
    say("learn", "gizmo", "--tool", "LOC", "--thread", "t1", "--profile", profile, status=1)

    assert "has no answer to be corrected" in say("correct", "t1", "not that", status=2)


class TestDisplay:
    async def _events(self, question: tuple[str, ...]) -> list[ask.SessionEvent]:
        _, scene, instruction, _, expected, _, thread, _, profile = question
        stream = ask.stream_ask(
            [scene],
            instruction,
            expected=expected,
            profile=profile,
            thread=thread,
            learn="approved",
            decide=lambda request: [{"type": "approve"} for _ in request["action_requests"]],
        )
        return [event async for event in stream]

    async def test_every_event_is_shown_and_followed_by_what_is_done_next(self, question: tuple[str, ...]) -> None:
        from rich.console import Console

        events = await self._events(question)
        assert {type(event) for event in events} == {
            Started,
            NodeFinished,
            StepFinished,
            LearningProgress,
            Waits,
            Finished,
        }
        shown = io.StringIO()
        display = AskDisplay(Console(file=shown, force_terminal=True, width=100, highlight=False, markup=False))
        with display.watching():
            for event in events:
                display.show(event)
                assert doing_after(event)

                with display.silent():  # as when a person is asked
                    pass

        assert re.search(r"judged  \S*right, at attempt 2", shown.getvalue())

    def test_who_is_asked_is_not_told_that_it_is_finishing(self) -> None:
        assert doing_after(Waits("t1", {})) == "waiting for a decision"

    def test_a_guess_is_not_called_sure(self) -> None:
        from snellen.summaries.runs import fault_in_words

        program = replace(BLIND, place="program")
        assert fault_in_words(program, Critique((program,), 0.0, "global")) == "the program, unsure"
