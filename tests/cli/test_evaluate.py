"""`snellen evaluate tasks`: from its words to its figures, with a Reasoner that always says yes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from snellen.cli import main
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.reasoning.reasoner import ReasonerUsage, Route
from snellen.reasoning.task import Examples, Plan, Task
from snellen.runtime.context import Context
from snellen.threads import ask
from tests.graphs.scripted import Uncritical

_WORDS = ("evaluate", "tasks", "--family", "statement", "-n", "12", "--seed", "5")


class _YesSayer(Uncritical):
    usage = ReasonerUsage()
    examples_wanted = 4
    needs_one_meaning = False

    async def plan(self, task: Task, examples: Examples) -> Plan:
        return Plan(steps=["say yes"])

    async def write_program(self, task: Task, plan: Plan, examples: Examples) -> str:
        return "ANSWER0=EVAL(expr='1 < 2')\nFINAL_RESULT=RESULT(var=ANSWER0)"

    async def list_knowledge(self, query: str, limit: int, candidates: Sequence[str]) -> list[str]:
        return []

    async def route(self, message: str) -> Route:
        return "ask"


def _embed(texts: list[str]) -> NDArray[np.float32]:
    return np.ones((len(texts), 2), dtype=np.float32)


@pytest.fixture(autouse=True)
def yes_sayer(monkeypatch: pytest.MonkeyPatch) -> None:
    def context(_profile: str, folder: Path) -> Context:
        pool = DemonstrationPool(folder, embed=_embed)
        return Context(pictures=ArtifactStore(folder / "artifacts"), reasoner=_YesSayer(), pool=pool)

    monkeypatch.setattr(ask, "make_context", context)


def test_figures_are_one_json_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main((*_WORDS, "--json")) == 0

    said = json.loads(capsys.readouterr().out)
    assert {"accuracy", "interval", "n", "by_type", "blind", "seed", "profile"} <= said.keys()
    assert (said["n"], said["seed"], said["profile"]) == (12, 5, "embedded")
    low, high = said["interval"]
    assert 0 <= low <= said["accuracy"] <= high <= 1


def test_the_same_seed_gives_the_same_figures_and_leaves_nothing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(_WORDS) == 0
    first = capsys.readouterr().out
    assert main.main(_WORDS) == 0

    assert capsys.readouterr().out == first
    assert first.splitlines()[0] == "type\taccuracy\t95 % interval\tn"
    assert not list(home.rglob("*.png"))
    assert not list(home.rglob("*.jsonl"))
    assert main.main(("threads", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_figures_are_written_as_a_page_a_table_and_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main.main((*_WORDS, "--out", str(tmp_path / "out"), "--html", str(tmp_path / "page.html"))) == 0

    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "report.json", "table.md"}
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "statement, test split, known concepts, seed 5, embedded" in page
    assert "all, blind" in page
    assert (
        (tmp_path / "out" / "table.md")
        .read_text("utf-8")
        .startswith("| type | accuracy | 95 % interval | n |\n| --- |")
    )
    assert f"wrote   {tmp_path / 'page.html'}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--family", "vga"), "no family 'vga'"),
        (("--family", "vqa", "--profile", "hub"), "has no world"),
    ],
)
def test_what_cannot_be_evaluated_is_told(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(("evaluate", "tasks", *words)) in {1, 2}

    captured = capsys.readouterr().err
    assert said in captured
    assert captured.count("\n") == 1
