"""How a request says whose it is: no text is taken for a token or a session that is none."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.serving import Tokens
from snellen.serving.credentials import Sessions, presented_token
from tests.servers.snellen_server import tokens_of


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_whatever_a_header_says_is_read_without_harm(text: str) -> None:
    assert isinstance(presented_token(text), str)


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=200))
def test_a_bearer_token_is_read_as_it_is(token: str) -> None:
    assert presented_token(f"Bearer {token}") == token
    assert presented_token(f"bearer   {token} ") == token


@given(st.text(alphabet="abc", max_size=9), st.text(alphabet="xyz:-_", max_size=60))
def test_basic_carries_the_token_as_its_password(name: str, token: str) -> None:
    said = base64.b64encode(f"{name}:{token}".encode()).decode()
    assert presented_token(f"Basic {said}") == token


@pytest.mark.parametrize("said", ["", "Bearer", "Digest x", "Basic !!!", "Basic " + "A" * 5, "Token x", "x"])
def test_other_headers_carry_none(said: str) -> None:
    assert presented_token(said) == ""


def _begun(home: Path) -> tuple[Tokens, Sessions, str]:
    tokens, _ = tokens_of(home, "ann", "bob")
    ann = tokens.named("ann")
    assert ann is not None
    sessions = Sessions(60, clock=lambda: 1000.0)
    return tokens, sessions, sessions.begin(ann)


def test_a_session_is_of_the_user_who_began_it(tmp_path: Path) -> None:
    tokens, sessions, value = _begun(tmp_path)

    found = sessions.find(value, tokens)
    assert found is not None
    assert found.name == "ann"
    assert sessions.find(value.replace("ann", "bob"), tokens) is None
    assert sessions.find(value.replace("1060", "9060"), tokens) is None
    assert Sessions(60, clock=lambda: 1000.0).find(value, tokens) is None  # another start of the server


def test_a_session_ends_in_time_and_with_its_token(tmp_path: Path) -> None:
    tokens, sessions, value = _begun(tmp_path)
    sessions._clock = lambda: 1060.0
    assert sessions.find(value, tokens) is None

    sessions._clock = lambda: 1000.0
    assert sessions.find(value, tokens) is not None
    tokens.revoke("ann")
    tokens.add("ann")
    assert sessions.find(value, tokens) is None


@given(st.text(max_size=2000) | st.from_regex(r"ann\.[0-9]{1,1100}\.[0-9a-fé]{0,64}", fullmatch=True))
def test_no_other_text_is_a_session(text: str) -> None:
    assert Sessions(60).find(text, Tokens(Path("/nowhere"))) is None
