"""A wrong answer on the command line: what is shown of it, on the screen, on the page and in JSON; how it is corrected.

The program is at fault here, so that no model is needed; `test_learning_from_answers.py` has tools at fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest

from snellen.cli import main
from snellen.runtime.context import Context
from snellen.threads import ask
from tests.graphs.scripted import RIGHT, Critic, fault, make_context

Say = Callable[..., str]


@pytest.fixture
def scene(tmp_path: Path) -> str:
    path = tmp_path / "scene.png"
    PIL.Image.new("RGB", (80, 60), "olive").save(path)
    return str(path)


@pytest.fixture
def reasoner(monkeypatch: pytest.MonkeyPatch) -> Critic:
    """Every run of the test reasons like this one."""
    critic = Critic(globally=(fault("program"),), corrected=RIGHT)

    def context(_profile: str, folder: Path) -> Context:
        return make_context(folder, reasoner=critic)

    monkeypatch.setattr(ask, "make_context", context)
    return critic


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Run a command and return what it prints, or what it says of the error."""

    def said(*words: str, status: int = 0) -> str:
        assert main.main(words) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return said


def shown(said: str) -> list[str]:
    """The lines but those of plan, program and steps."""
    leads = ("answer", "judged", "what went wrong", "  the ", "  no ", "    ", "corrected", "steps", "learned")
    return [line for line in said.splitlines() if line.startswith(leads) and not line.startswith("      ")]


FOUND = [
    "what went wrong (all at once)",
    "  the program, 90% sure",
    "    It adds one and two, not one and three.",
]


@pytest.mark.usefixtures("reasoner")
def test_a_wrong_answer_is_shown_with_what_was_wrong_and_the_right_one(say: Say, scene: str) -> None:
    said = say("ask", scene, "Add them", "--answer", "4")

    assert shown(said) == [
        "steps",
        "answer  3",
        "judged  wrong (expected: 4)",
        *FOUND,
        "corrected program",
        "steps, once more",
        "answer  4",
        "judged  right, at attempt 2 (expected: 4)",
    ]


@pytest.mark.usefixtures("reasoner")
def test_a_corrected_run_is_shown_again_with_its_story(say: Say, scene: str) -> None:
    say("ask", scene, "Add them", "--answer", "4", "--thread", "t1")

    said = say("resume", "t1")

    assert shown(said) == [
        "answer  3",
        "judged  wrong (expected: 4)",
        *FOUND,
        "steps",
        "answer  4",
        "judged  right, at attempt 2 (expected: 4)",
    ]


@pytest.mark.usefixtures("reasoner")
def test_json_and_files_have_it_all(say: Say, scene: str, tmp_path: Path) -> None:
    said = json.loads(say("ask", scene, "Add them", "--answer", "4", "--json", "--out", str(tmp_path / "out")))

    assert (said["status"], said["waiting"]) == ("finished", None)
    assert (said["answer"], said["verdict"]) == (4, "right")
    (attempt,) = said["attempts"]
    assert attempt["answer"] == 3
    assert [step["address"] for step in attempt["faulty"]] == ["1"]
    (critique,) = said["critiques"]
    assert (critique["method"], critique["certainty"]) == ("global", 0.9)
    assert said["lessons"][0]["program"].startswith("ANSWER0=EVAL(expr='1 + 2')")
    saved = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert saved == {name: value for name, value in said.items() if name not in {"status", "waiting"}}


@pytest.mark.usefixtures("reasoner")
def test_the_page_tells_the_story(say: Say, scene: str, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    say("ask", scene, "Add them", "--answer", "4", "--html", str(page))

    html = page.read_text("utf-8")

    assert [part.partition("<")[0] for part in html.split("<h2>")[1:]] == [
        "First answer",
        "What went wrong",
        "Answer",
        "Plan",
        "Program",
        "Steps of the last attempt",
    ]
    assert "wrong (expected: 4)" in html
    assert "the program, 90% sure" in html
    assert "right, at attempt 2 (expected: 4)" in html
    assert "the wrong program" in html


def test_a_wrong_answer_that_nobody_can_explain_is_told(say: Say, scene: str, reasoner: Critic) -> None:
    reasoner.globally = ()

    said = say("ask", scene, "Add them", "--answer", "4")

    assert said.count("  no step could be found at fault") == 2
    assert said.splitlines()[-2:] == ["answer  3", "judged  wrong (expected: 4)"]


def test_without_learning_it_is_only_judged(say: Say, scene: str, reasoner: Critic) -> None:
    said = say("ask", scene, "Add them", "--answer", "4", "--no-learn")

    assert said.splitlines()[-2:] == ["answer  3", "judged  wrong (expected: 4)"]
    assert reasoner.reflections == []


@pytest.mark.usefixtures("reasoner")
def test_what_is_not_learned_from_needs_no_approval(say: Say, scene: str) -> None:
    assert "leave out one of them" in say("ask", scene, "Add them", "--no-learn", "--confirm", status=2)


@pytest.mark.usefixtures("reasoner")
class TestCorrect:
    @pytest.fixture
    def thread(self, say: Say, scene: str) -> str:
        """A run that answered 3, which nobody judged."""
        say("ask", scene, "Add them", "--thread", "t1")
        return "t1"

    @pytest.mark.parametrize(
        ("words", "feedback"),
        [
            (("it should be four",), "told: it should be four"),
            (("--answer", "4"), "expected: 4"),
            (("no, look again",), "told: no, look again"),
            (("--region", "1,2,30,40", "--label", "a four"), "shown: a four at 1, 2, 30, 40"),
            (("there is a four", "--answer", "4"), "expected: 4; told: there is a four"),
        ],
    )
    def test_what_was_wrong_is_said_in_any_of_three_ways(
        self, words: tuple[str, ...], feedback: str, thread: str, say: Say
    ) -> None:
        said = say("correct", thread, *words)

        assert shown(said)[:3] == ["steps", "answer  3", f"judged  wrong ({feedback})"]
        assert shown(said)[-2:] == ["answer  4", f"judged  right, at attempt 2 ({feedback})"]

    def test_an_answer_that_was_right_is_told_to_be(self, thread: str, say: Say) -> None:
        said = say("correct", thread, "--answer", "3")

        assert shown(said)[-2:] == ["answer  3", "judged  right (expected: 3)"]

    def test_a_corrected_answer_may_be_corrected_again(self, thread: str, say: Say) -> None:
        say("correct", thread, "--answer", "4")

        said = json.loads(say("correct", thread, "it should be five", "--json"))

        assert (said["expected"], said["correction"]) == (None, "it should be five")
        assert said["attempts"][0]["answer"] == 4
        assert said["verdict"] == "wrong"

    def test_a_region_is_outlined_on_the_page(self, thread: str, say: Say, tmp_path: Path) -> None:
        page = tmp_path / "again.html"
        say("correct", thread, "--region", "1,2,30,40", "--label", "a <b>four</b>", "--html", str(page))

        html = page.read_text("utf-8")

        assert '<rect class="region" x="1" y="2" width="29" height="38">' in html
        assert "shown: a &lt;b&gt;four&lt;/b&gt; at 1, 2, 30, 40" in html

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ((), "Nothing says what was wrong"),
            (("  ",), "Nothing says what was wrong"),
            (("--answer", ""), "Nothing says what was wrong"),
            (("--answer", "x" * 501), "must have 1 to 500 characters"),
            (("x" * 501,), "takes 501 characters; say it in at most 500"),
            (("that is not a cat", "--answer", "cat"), "This contradicts itself: the answer cannot be 'cat'"),
            (("that is not a cat", "--region", "1,2,3,4", "--label", "cat"), "This contradicts itself: the region"),
            (("--region", "1,2,3"), "is not left,top,right,bottom"),
            (("--region", "1,2,3,four"), "is not left,top,right,bottom"),
            (("--region", "9,2,3,4"), "is empty"),
            (("--region", "70,50,90,60", "--label", "cat"), "does not lie in the first picture, which has 80 x 60"),
            (("--region", "10,20,30,40"), "a place alone does not say what is wrong: say what is there"),
            (("that is not a cat but that is a cat",), "it cannot be 'cat' and not 'cat' at once"),
            (("--label", "cat"), "show where it is with --region"),
            (("not that", "--profile", "x", "--out", "SCENE"), "is a file"),
        ],
    )
    def test_bad_feedback_is_refused_and_changes_nothing(
        self, words: tuple[str, ...], said: str, thread: str, say: Say, scene: str
    ) -> None:
        before = say("threads", "--json")

        told = say("correct", thread, *[scene if word == "SCENE" else word for word in words], status=2)

        assert said in told
        assert told.startswith("snellen: ")
        assert told.count("\n") == 1
        assert say("threads", "--json") == before

    @pytest.mark.parametrize("name", ["nobody", "../up", ""])
    def test_an_unknown_thread_is_refused(self, name: str, say: Say) -> None:
        assert "There is no thread" in say("correct", name, "not that", status=2)


def test_a_run_that_has_not_finished_is_not_corrected(say: Say, scene: str, reasoner: Critic) -> None:
    def fail(_call: str) -> None:
        raise KeyboardInterrupt

    reasoner.before = fail
    assert "`snellen resume t1` goes on" in say("ask", scene, "Add them", "--thread", "t1", status=130)

    assert "has not finished: `snellen resume t1` first" in say("correct", "t1", "--answer", "4", status=2)
