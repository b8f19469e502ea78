"""``snellen investigate``, ``reports``, ``report`` and ``resume``, over models that are right as the test says."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from snellen.cli.main import main
from snellen.threads import investigate, thread
from tests.experiments.investigating import Oracle, watched

QUERY = "Can clip identify noise?"


@pytest.fixture
def oracle(home: Path, monkeypatch: pytest.MonkeyPatch) -> Oracle:
    """Examine models that are right as often as it says, instead of the checkpoints."""
    from dataclasses import replace

    known = Oracle({"clip": lambda *_: 0.97, "blip": lambda *_: 0.97})
    make = investigate.examining

    def context(profile: str, folder: Path, pictures: str = "") -> object:
        made = make(profile, folder, pictures)
        return replace(made, examination=watched(folder, known))

    monkeypatch.setattr(investigate, "examining", context)
    return known


def test_it_is_told_written_listed_and_shown_again(
    oracle: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out"
    assert main(["investigate", QUERY, "--thread", "t1", "--html", str(page), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "experiment 1  “Is the image noisy?” yes / no" in told
    assert "clip is good at identifying Gaussian noise" in told
    assert "On average at most 5 % of such verdicts are wrong" in told
    written = page.read_text()
    assert "clip is good at identifying Gaussian noise" in written
    assert 'id="explorer-pictures">["UklGR' in written, "pictures are WebP files inside the page"
    assert "http" not in written.replace("http-equiv", "")
    assert {path.name for path in out.iterdir()} == {"report.html", "report.md", "report.json", "trials.parquet"}
    from pyarrow import parquet

    trials = parquet.read_table(out / "trials.parquet").to_pylist()
    assert len(trials) == sum(oracle.asked.values())
    assert {row["model"] for row in trials} == {"clip"}
    assert all(row["right"] == (row["said"] == row["truth"]) for row in trials)
    assert main(["reports"]) == 0
    assert "t1" in capsys.readouterr().out
    assert main(["report", "t1"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"# {QUERY}")
    assert "snellen investigate 'Can clip identify noise?' --models clip" in shown
    assert main(["report", "t1", "--trials", str(tmp_path / "t.jsonl")]) == 0
    assert len((tmp_path / "t.jsonl").read_text().splitlines()) == len(trials)


def test_an_experiment_that_is_taken_up_again_is_announced_once(
    oracle: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle.rates["clip"] = lambda question, _: 0.8 if len(question.choices) == 2 else 0.97
    assert main(["investigate", "Can clip count?", "--budget", "images=300", "--seed", "3"]) == 0
    told = capsys.readouterr().out
    assert told.count("experiment 1  again, with what is left of the budget") == 1
    assert told.count("experiment 2  ") == 1
    assert "clip is good at counting" in told


def test_json_says_everything(oracle: Oracle, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", QUERY, "--json", "--thread", "t1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "finished"
    (answer,) = told["report"]["answers"]
    assert (answer["answer"], answer["property"], answer["holds"]) == (
        "yes",
        "good at identifying Gaussian noise in pictures",
        True,
    )
    assert main(["reports", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["id"], listed["status"]) == ("t1", "finished")


@pytest.mark.parametrize("confirm", [(), ("--confirm",)])
def test_a_thread_that_was_followed_is_read_once(
    oracle: Oracle, confirm: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[object] = []
    reading = thread.reading

    def counted(graph: thread.GraphName, folder: Path) -> object:
        opened.append(graph)
        return reading(graph, folder)

    monkeypatch.setattr(thread, "reading", counted)
    assert main(["investigate", QUERY, "--thread", "t1", *confirm]) == 0
    assert len(opened) == 2, "while it ran, and once at its end"
    assert main(["reports", "--json"]) == 0
    assert len(opened) == 2, "its line in the list was kept"
    assert '"t1"' in capsys.readouterr().out
    assert oracle.asked or confirm


def test_a_design_waits_for_a_decision(oracle: Oracle, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", QUERY, "--confirm", "--thread", "t1"]) == 0
    captured = capsys.readouterr()
    assert "`snellen resume t1 --approve` or `--reject`" in captured.err
    assert "Experiment 1: " in captured.out
    assert "Models: clip. It takes " in captured.out
    assert "decides   clip is right in more than 75 %" in captured.out
    shown = [Path(line.strip()) for line in captured.out.splitlines() if line.endswith(".png")]
    assert len(shown) >= 2
    assert all(one.is_file() for one in shown)
    assert main(["resume", "t1", "--approve"]) == 0
    assert "clip is good at identifying Gaussian noise" in capsys.readouterr().out
    assert main(["resume", "t1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["conclusion"]


def test_a_design_is_edited_in_the_users_editor(
    oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        "file, first = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).with_name('first')\n"
        "edited = file.read_text().replace('\"most\": 0', '\"most\": 24')\n"
        "file.write_text(first.read_text() if first.exists() else '{broken')\n"
        "first.write_text(edited)\n"
    )
    answers = io.StringIO("e\ne\n")
    monkeypatch.setattr(answers, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", answers)
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(script)]))
    monkeypatch.delenv("VISUAL", raising=False)
    assert main(["investigate", QUERY, "--confirm", "--thread", "t1", "--budget", "experiments=1"]) == 0
    captured = capsys.readouterr()
    assert captured.err.count("Run experiment 1? [y/N, e to edit it]") == 2
    assert "not valid JSON" in captured.err
    assert "24 pictures" in captured.out


def test_what_failed_goes_on_and_measures_nothing_twice(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole: Callable[..., object] = oracle.rank

    def full(model: str, questions: list[object]) -> object:
        if sum(oracle.asked.values()) > 20:
            from snellen.memory.home import MemoryTrouble

            msg = "The disk is full."
            raise MemoryTrouble(msg)
        return whole(model, questions)

    monkeypatch.setattr(oracle, "rank", full)
    assert main(["investigate", QUERY, "--thread", "t1"]) == 1
    assert "`snellen resume t1` goes on from there" in capsys.readouterr().err
    assert sum(oracle.asked.values())
    monkeypatch.setattr(oracle, "rank", whole)
    assert main(["resume", "t1"]) == 0
    assert max(oracle.asked.values()) == 1
    assert "clip is good at" in capsys.readouterr().out


def test_a_person_at_the_terminal_says_what_is_meant(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "Is clip the best at counting?"
    assert main(["investigate", query, "--thread", "t1"]) == 2
    meant = re.search(r"Do you mean “(.+?)”\? Then ask that\.", capsys.readouterr().err)
    assert meant is not None
    answers = io.StringIO("y\n")
    monkeypatch.setattr(answers, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", answers)
    assert main(["investigate", query, "--thread", "t1", "--budget", "images=48"]) == 0
    captured = capsys.readouterr()
    assert f"Do you mean “{meant[1]}”? [y/N] " in captured.err
    assert f"understood  {meant[1]}" in captured.out
    for options, left in ((["--json"], "y\n"), ([], "")):  # nobody is asked who reads JSON; declining examines nothing
        answers = io.StringIO("y\n" if options else "n\n")
        monkeypatch.setattr(answers, "isatty", lambda: True)
        monkeypatch.setattr("sys.stdin", answers)
        assert main(["investigate", query, "--thread", "t2", *options]) == 2
        assert answers.read() == left
    assert "as none of that is meant" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([""], "The query is empty"),
        (["x" * 5_000], "say it in at most"),
        (["Can models read clocks?"], "cannot be examined here"),
        (["Is GPT-9 robust to noise?"], "no model 'GPT-9'"),
        (["Are they robust to noise?", "--models", "nobody"], "no model 'nobody'"),
        (["Are they robust to noise?", "--alpha", "0"], "no error rate"),
        (["Are they robust to noise?", "--budget", "images=none"], "not name=number"),
        (["Are they robust to noise?", "--budget", "pictures=9"], "The budget's pictures cannot be used"),
        (["Are they robust to noise?", "--budget", "images=-1"], "The budget's images cannot be used"),
        (["Are they robust to noise?", "--pictures", "/nowhere"], "There is no folder"),
    ],
)
def test_bad_input_is_one_sentence_and_begins_nothing(
    words: list[str], says: str, oracle: Oracle, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["investigate", *words]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert main(["reports", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_run_that_is_no_investigation_has_no_report(oracle: Oracle, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "nothing"]) == 2
    assert "no thread 'nothing'" in capsys.readouterr().err


def test_the_models_of_the_embedded_profile_are_examined(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    budget = "images=24,experiments=1"
    assert main(["investigate", "Can these models recognize fruit?", "--budget", budget, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {result["model"] for result in told["report"]["experiments"][0]["results"]} >= {"clip", "blip"}
    assert told["report"]["trials"] > 0


@pytest.mark.parametrize("option", ["--out", "--html"])
def test_where_nothing_can_be_written_is_said_before_anything_is_measured(
    option: str, oracle: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "taken"
    if option == "--html":
        place.mkdir()
    else:
        place.write_text("a file")
    assert main(["investigate", QUERY, option, str(place)]) == 2
    assert option in capsys.readouterr().err
    assert not oracle.asked


def test_the_command_that_repeats_an_investigation_does(oracle: Oracle, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["investigate", "Can clip identify 'noise'?", "--budget", "images=40", "--thread", "t1"]) == 0
    first = capsys.readouterr().out
    assert main(["report", "t1"]) == 0
    written = capsys.readouterr().out.rpartition("## Reproduce")[2].strip()
    words = shlex.split(written)
    assert words[:3] == ["snellen", "investigate", "Can clip identify 'noise'?"]
    assert "images=40" in words
    assert main([*words[1:], "--thread", "t2"]) == 0
    again = capsys.readouterr().out
    assert again.partition("answer")[2].partition("e-BH")[0] == first.partition("answer")[2].partition("e-BH")[0]


def test_a_table_of_trials_is_parquet_or_json_lines(
    oracle: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["investigate", QUERY, "--budget", "images=24", "--thread", "t1"]) == 0
    assert main(["report", "t1", "--trials", str(tmp_path / "t.csv")]) == 2
    assert "neither .parquet nor .jsonl" in capsys.readouterr().err
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize(
    ("query", "answer", "lead"),
    [
        ("Is clip robust to noise?", "yes", "Yes, clip is robust to Gaussian noise"),
        ("Does noise hurt clip?", "no", "No, clip is robust to Gaussian noise"),
        ("How much does noise hurt clip?", None, "clip is robust to Gaussian noise"),
    ],
)
def test_a_question_is_answered_as_it_was_asked_and_the_property_is_named(
    query: str, answer: str | None, lead: str, oracle: Oracle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracle.rates["clip"] = lambda *_: 0.99
    page = tmp_path / "page.html"
    command = ["investigate", query, "--thread", "t1", "--budget", "images=800", "--html", str(page)]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (told,) = found["report"]["answers"]
    assert found["models"] == ["clip"]
    assert (told["answer"], told["property"], told["holds"]) == (answer, "robust to Gaussian noise", True)
    assert told["sentence"].startswith(lead)
    assert f">{lead}" in page.read_text()
    assert main(["report", "t1"]) == 0
    assert f"\n\n{lead}" in capsys.readouterr().out
