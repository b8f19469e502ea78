"""`snellen tokens`: a token is printed once, and what the owner sees of it later opens nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snellen.cli import main
from snellen.serving import Tokens


def test_a_token_is_made_listed_and_revoked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("tokens", "add", "ann")) == 0
    token = capsys.readouterr().out.strip()
    found = Tokens(home).find(token)
    assert found is not None
    assert found.name == "ann"

    assert main.main(("tokens", "list", "--json")) == 0
    listed = capsys.readouterr().out
    assert token not in listed
    assert found.sha256 not in listed
    (row,) = json.loads(listed)
    assert (row["name"], row["last_used"], row["home"]) == ("ann", "never", str(home / "users" / "ann"))

    assert main.main(("tokens", "revoke", "ann")) == 0
    assert "No token is left" in capsys.readouterr().err
    assert Tokens(home).find(token) is None


def test_a_script_reads_the_token_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("tokens", "add", "owner", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["token"].startswith("snellen_")
    assert main.main(("tokens", "add", "ann")) == 0
    assert len(capsys.readouterr().out.split()) == 1
    assert main.main(("tokens", "list")) == 0
    assert capsys.readouterr().out.startswith("name\tmade (UTC)")


def test_nobody_needs_one_until_one_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(("tokens", "list")) == 0
    assert "open to this machine alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tokens",), "Name an action: `snellen tokens add`"),
        (("tokens", "add"), "required: NAME"),
        (("tokens", "add", "../ann"), "is not a valid user name"),
        (("tokens", "revoke", "ann"), "has no token"),
        (("tokens", "make", "ann"), "`snellen tokens` has no action 'make'"),
    ],
)
def test_bad_input_is_told_in_one_sentence(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(words) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
