"""Who may use a server: tokens are shown once, kept as hashes, and end when they are revoked."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput, SnellenError
from snellen.serving import Tokens, check_listening
from snellen.serving.users import PREFIX, checked_name, is_loopback


def test_a_token_opens_for_its_user_alone(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    ann, bob = tokens.add("ann"), tokens.add("bob")

    found = tokens.find(ann)
    assert found is not None
    assert found.name == "ann"
    assert ann != bob
    assert tokens.find(ann[:-1] + ("A" if ann[-1] != "A" else "B")) is None


def test_only_a_hash_is_kept_and_only_for_the_owner_to_read(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    token = tokens.add("ann")

    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert token.removeprefix(PREFIX) not in tokens.path.read_text()
    assert not [path for path in tmp_path.iterdir() if path.name not in {"tokens.json", "tokens.json.lock"}]


def test_a_revoked_token_opens_nothing_in_a_running_server(tmp_path: Path) -> None:
    server, command = Tokens(tmp_path), Tokens(tmp_path)
    token = command.add("ann")
    assert server.find(token) is not None

    command.revoke("ann")

    assert server.find(token) is None
    assert server.named("ann") is None


def test_a_home_that_had_tokens_stays_closed_without_any(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    assert not tokens.required
    tokens.add("ann")
    tokens.revoke("ann")

    assert tokens.required
    assert Tokens(tmp_path).required
    tokens.path.unlink()
    assert tokens.required  # until the server is started anew: its owner decides then
    assert not Tokens(tmp_path).required


def test_the_owner_works_in_the_home_and_others_in_their_own(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)

    assert tokens.user("owner").home == tmp_path
    assert tokens.user("ann").home == tmp_path / "users" / "ann"


@given(st.text() | st.sampled_from(["..", "../ann", "a/b", "a\\b", "", "Ann", "ann\n", "é", "con.txt", "a" * 33, "~"]))
def test_only_plain_names_become_folders(name: str) -> None:
    try:
        assert checked_name(name) == name
    except BadInput:
        return
    assert name.isascii()
    assert Path(name).name == name
    assert name == name.lower()


def test_a_second_token_for_a_name_and_revoking_nothing_are_refused(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    tokens.add("ann")

    with pytest.raises(BadInput, match="revoke it first"):
        tokens.add("ann")
    with pytest.raises(BadInput, match="no token"):
        tokens.revoke("bob")


def test_use_is_noted_once_an_hour(tmp_path: Path) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    tokens = Tokens(tmp_path, now=lambda: now)
    found = tokens.find(tokens.add("ann"))
    assert found is not None
    assert tokens.is_due(found)

    tokens.note_use("ann")

    (noted,) = tokens.all()
    assert noted.last_used == "2026-01-01T00:00:00+00:00"
    assert not tokens.is_due(noted)
    now += timedelta(hours=1)
    assert tokens.is_due(noted)


def test_tokens_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as workers:
        list(workers.map(lambda number: Tokens(tmp_path).add(f"user{number}"), range(16)))

    assert len(Tokens(tmp_path).all()) == 16


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"tokens": 3}',
        '{"tokens": [{}]}',
        '{"tokens": [{"name": "../x", "sha256": "", "created": ""}]}',
    ],
)
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, content: str) -> None:
    tokens = Tokens(tmp_path)
    tokens.path.write_text(content)
    tokens.path.chmod(0o600)

    with pytest.raises(SnellenError, match="damaged"):
        tokens.find(PREFIX + "A" * 43)
    with pytest.raises(SnellenError, match="damaged"):
        _ = tokens.required


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path)
    tokens.add("ann")
    tokens.path.chmod(0o644)

    with pytest.raises(SnellenError, match="chmod 600"):
        Tokens(tmp_path).all()


@given(st.text(max_size=80))
def test_no_text_but_the_token_is_the_token(text: str) -> None:
    tokens = Tokens(Path("/nowhere"))
    assert tokens.find(text) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_no_token(tmp_path: Path, host: str) -> None:
    assert is_loopback(host)
    check_listening(host, Tokens(tmp_path))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.example.org", ""])
def test_listening_to_others_needs_a_token(tmp_path: Path, host: str) -> None:
    tokens = Tokens(tmp_path)
    with pytest.raises(BadInput, match="snellen tokens add owner"):
        check_listening(host, tokens)

    tokens.add("ann")
    check_listening(host, tokens)
    tokens.revoke("ann")
    with pytest.raises(BadInput, match="make a token"):
        check_listening(host, tokens)


def test_what_is_kept_says_when(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path, now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    tokens.add("ann")

    (row,) = json.loads(tokens.path.read_text())["tokens"]
    assert (row["name"], row["created"], row["last_used"]) == ("ann", "2026-01-01T00:00:00+00:00", "")
