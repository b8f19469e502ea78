"""What is printed when nobody watches: plain lines and tables that other programs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snellen.cli import main
from snellen.cli.display import clean, print_json, print_table, progress, stages


def test_tables_are_tab_separated_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "text"), [("a", "one\ttwo\nthree"), ("b", None)])

    assert capsys.readouterr().out == "name\ttext\na\tone two three\nb\t\n"


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\x07", "\x9b", "\r", "\u202e", "\u2066", "\u2028"])
def test_control_characters_are_replaced(character: str) -> None:
    assert clean(f"a{character}b\nc\td") == "a\N{REPLACEMENT CHARACTER}b\nc\td"


def test_text_that_cannot_be_encoded_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"text": "caf\udce9"})

    assert json.loads(capsys.readouterr().out) == {"text": "caf\udce9"}


def test_no_bar_is_drawn_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(3, "answering") as advance:
        advance(2)

    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")


def test_tools_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("tools",)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tool\twhat it does"
    assert any(line.startswith("LOC(image: Picture, object: Text) -> Regions\t") for line in lines)

    assert main.main(("tools", "--json")) == 0
    assert {"name", "signature", "synonyms", "description"} == json.loads(capsys.readouterr().out)[0].keys()


def test_models_say_where_they_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('[models.clip]\nclass = "CLIPModel"\nfolder = "clip"\n', "utf-8")
    (tmp_path / "clip").mkdir()

    assert main.main(("models", "--profile", str(mine), "--json")) == 0

    said = json.loads(capsys.readouterr().out)
    states = {one["key"]: (one["source"], one["state"]) for one in said["models"]}
    assert said["profile"] == "mine"
    assert states["clip"] == ("clip", "missing")
    assert states["loc"] == ("", "none in this profile")


def test_no_threads_are_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("threads", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_stages_are_told_once_where_no_terminal_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    """Tasks are judged several at a time, so that one number may come twice."""
    with stages() as show:
        for done in (1, 5, 5, 5):
            show("before", done, 5, "0.40")
        show("after", 5, 5, "0.80")

    assert capsys.readouterr().err == "before: 5 of 5 (0.40)\nafter: 5 of 5 (0.80)\n"
