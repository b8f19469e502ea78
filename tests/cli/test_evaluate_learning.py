"""`snellen evaluate learning`: from its words to its figures, with a Reasoner that learns to say no."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.cli import main
from snellen.evaluation.learning import Figures, Gain, LearningEvaluation, LearningRequest, LessonResult
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.home import home
from snellen.reasoning.critique import Critique, FailedCase, Fault, Replay
from snellen.reasoning.reasoner import ReasonerUsage, Route
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reports.evaluations import learning_rows
from snellen.runtime.context import Context
from snellen.threads import ask
from tests.graphs.scripted import Uncritical

YES = "ANSWER0=EVAL(expr='1 < 2')\nFINAL_RESULT=RESULT(var=ANSWER0)"
NO = "ANSWER0=EVAL(expr='1 > 2')\nFINAL_RESULT=RESULT(var=ANSWER0)"
WORDS = ("evaluate", "learning", "--family", "statement", "--train", "8", "-n", "10", "--known", "10", "--seed", "5")


class Learner(Uncritical):
    """Says yes, until it has once been told that no was right."""

    usage = ReasonerUsage()
    examples_wanted = 4
    needs_one_meaning = False
    asked = 0

    async def plan(self, task: Task, examples: Examples) -> Plan:
        type(self).asked += 1
        return Plan(steps=["say something"])

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        return NO if examples.programs_incorrect else YES

    async def reflect(self, case: FailedCase, replay: Replay) -> Critique:
        fault = Fault("program", "1", "EVAL", "", "It is the other way round.")
        return Critique((fault,), 1.0, "global", NO if "<" in case.program else YES)

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return []

    async def route(self, message: str) -> Route:
        return "ask"


def embed(texts: list[str]) -> NDArray[np.float32]:
    return np.ones((len(texts), 2), dtype=np.float32)


@pytest.fixture(autouse=True)
def learner(monkeypatch: pytest.MonkeyPatch) -> None:
    def context(_profile: str, folder: Path) -> Context:
        pool = DemonstrationPool(folder, embed=embed)
        return Context(pictures=ArtifactStore(folder / "artifacts"), reasoner=Learner(), pool=pool)

    monkeypatch.setattr(ask, "make_context", context)
    monkeypatch.setattr(Learner, "asked", 0)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main.main((*WORDS, *words, "--json")) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_figures_before_and_after_are_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys)

    parts = ("before", "after_programs", "after_tools", "known_before", "known_after")
    assert {*parts, "prompts_kept", "prompts_discarded", "seconds", "gains"} <= found.keys()
    for part in parts:
        low, high = found[part]["interval"]
        assert 0 <= low <= found[part]["accuracy"] <= high <= 1
        assert found[part]["n"] == 10
    # It learned to say no: the tests that it had right before are now those that it has wrong.
    assert found["after_programs"]["accuracy"] == pytest.approx(1 - found["before"]["accuracy"])
    assert found["gains"]["programs"]["gain"] == pytest.approx(1 - 2 * found["before"]["accuracy"])
    assert found["gains"]["tools"] == {"gain": 0.0, "interval": [0.0, 0.0]}
    assert found["lessons"]["tasks"] == 8
    assert found["lessons"]["mended"] == found["lessons"]["wrong"] > 0


def test_the_memory_of_the_user_learns_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys)

    assert DemonstrationPool(Path(found["memory"]), embed=embed).count() > 0
    assert DemonstrationPool(home(), embed=embed).count() == 0


def test_started_again_it_repeats_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    first = said(capsys)
    asked = Learner.asked
    second = said(capsys)

    assert Learner.asked == asked
    assert {**second, "seconds": 0} == {**first, "seconds": 0}


def test_without_incorrect_examples_it_learns_less(capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "--without", "incorrect")

    assert found["without"] == ["incorrect"]
    assert found["after_tools"]["accuracy"] == found["before"]["accuracy"]


def test_a_stream_has_a_curve(capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for word in WORDS if word not in {"--train", "8"}]
    assert main.main((*words, "--setting", "online", "--json")) == 0
    found = json.loads(capsys.readouterr().out)

    assert set(found["curve"]) == {"with", "without"}
    assert len(found["curve"]["with"]) == found["before"]["n"] == 10
    assert found["curve"]["with"][-1] == found["after_tools"]["accuracy"]


def test_results_are_written_for_people(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.main((*WORDS, "--out", str(tmp_path / "results"))) == 0

    assert "before" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "results").iterdir()} == {
        "report.html",
        "report.json",
        "table.md",
        "learning.png",
    }
    assert str(tmp_path) not in (tmp_path / "results" / "report.json").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--without", "luck"), "'luck' is no part"),
        (("--without", "local", "--without", "global"), "nothing is learned"),
        (("--setting", "online"), "--train is for the offline setting"),
        (("--split", "train"), "Unrecognized arguments: --split train"),
    ],
)
def test_what_measures_nothing_is_refused(
    capsys: pytest.CaptureFixture[str], words: Sequence[str], sentence: str
) -> None:
    assert main.main((*WORDS, *words)) == 2
    assert sentence in capsys.readouterr().err


def test_options_of_learning_are_refused_for_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("evaluate", "tasks", "--family", "vqa", "--train", "3")) == 2
    assert "Unrecognized arguments: --train 3 (see `snellen evaluate tasks --help`)" in capsys.readouterr().err


def reported(before: Sequence[float], after: Sequence[float]) -> LearningEvaluation:
    old, new = Figures.of_values(before), Figures.of_values(after)
    learned, reasons = {"LOC: owl": [3, 1]}, {"Discarded: of no use": 1}
    lesson = LessonResult("a", 0.0, correct=False, after=1.0, learned=learned, reasons=reasons)
    return LearningEvaluation(LearningRequest("tag"), old, old, new, old, old, (lesson,), "", 1.0)


def test_a_gain_is_paired_by_task() -> None:
    gain = Gain.between([0.0, 1.0] * 20, [0.0, 1.0] * 20)
    assert (gain.gain, gain.interval.low, gain.interval.high) == (0.0, 0.0, 0.0)
    assert Gain.between([0.0] * 10, [1.0] * 10).gain == 1.0


def test_prompts_and_reasons_are_counted() -> None:
    report = reported([0.0, 0.5], [1.0, 0.5])

    told = report.to_json()
    assert (told["prompts_kept"], told["prompts_discarded"]) == (3, 1)
    assert told["metric"] == "f1"
    assert learning_rows(report)[2][:2] == ("programs and tools learned", "0.750")
