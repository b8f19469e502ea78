"""An instruction that can be meant in several ways is a question: on the command line, in JSON, in the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import PIL.Image
import pytest

from snellen.api.following import deciding
from snellen.cli import main
from snellen.graphs.states import Json
from snellen.memory.artifacts import ArtifactStore
from snellen.memory.demonstrations import DemonstrationPool
from snellen.nodes.ask import reading
from snellen.nodes.ask.reading import meaning_request
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import Count, Describe
from snellen.reasoning.meanings.things import Everything
from snellen.reasoning.reading.reading_record import ReadingRecord, option_of
from snellen.runtime.context import Context
from snellen.threads import ask
from snellen.threads.meaning_choices import choosing
from tests.graphs.scripted import ScriptedReasoner, embed

MEANINGS = (Count(things=Everything()), Describe(things=Everything()))
TWO = ReadingRecord("ambiguous", options=tuple(option_of(one, echo(one)) for one in MEANINGS))
UNDERSTOOD = [option.understood for option in TWO.options]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let every instruction have two meanings, and every answer be three."""

    def context(_profile: str, folder: Path) -> Context:
        pool = DemonstrationPool(folder, embed=embed)
        reasoner = ScriptedReasoner(needs_one_meaning=True)
        return Context(pictures=ArtifactStore(folder / "artifacts"), reasoner=reasoner, pool=pool)

    monkeypatch.setattr(ask, "make_context", context)
    monkeypatch.setattr(reading, "read_instruction", lambda *_: TWO)
    path = tmp_path / "scene.png"
    PIL.Image.new("RGB", (128, 96), "olive").save(path)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main.main(words)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def test_the_user_chooses_by_number(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, errors = run(capsys, "ask", scene, "cats?", "--thread", "t1")
    assert status == 2
    assert f"(1) {UNDERSTOOD[0]} (2) {UNDERSTOOD[1]}" in errors
    assert "snellen resume t1 --meaning 1" in errors

    status, output, _ = run(capsys, "resume", "t1", "--meaning", "2")
    assert status == 0
    assert f"understood  {UNDERSTOOD[1]}" in output.splitlines()


def test_json_has_the_meanings_and_then_the_one(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, output, _ = run(capsys, "ask", scene, "cats?", "--json")
    waiting = json.loads(output)["waiting"]
    assert (status, [one["args"]["understood"] for one in waiting["action_requests"]]) == (2, UNDERSTOOD)

    status, output, _ = run(capsys, "ask", scene, "cats?", "--meaning", "1", "--json")
    answered = json.loads(output)
    assert (status, answered["understood"], answered["status"]) == (0, UNDERSTOOD[0], "finished")
    assert answered["reading"]["meaning"]["kind"] == "count"


def test_a_meaning_that_is_not_there_is_refused(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, errors = run(capsys, "ask", scene, "cats?", "--meaning", "3")
    assert status == 2
    assert "There is no meaning 3" in errors


@pytest.mark.parametrize(("yes", "decided"), [((0, 1), [True, False]), ((1,), [False, True]), ((), [False, False])])
def test_whoever_confirms_is_asked_about_one_after_the_other(yes: Sequence[int], decided: list[bool]) -> None:
    request: Json = meaning_request(TWO)
    descriptions = [one["description"] for one in request["action_requests"]]
    decide = deciding(lambda question: question in [descriptions[place] for place in yes])
    assert decide is not None
    assert [one["type"] == "approve" for one in decide(request) or ()] == decided


def test_one_meaning_is_chosen() -> None:
    assert choosing(meaning_request(TWO), 2) == [{"type": "reject"}, {"type": "approve"}]
