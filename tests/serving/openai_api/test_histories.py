"""Conversations are known again by what their users said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.memory.conversations import MAX_KEPT, ConversationTable, Turn
from snellen.serving.openai_api.histories import fingerprint
from snellen.serving.openai_api.requests import Message

Json = dict[str, Any]
words = st.text(alphabet="abc  \n", min_size=1, max_size=8)


def said(*texts: str) -> list[Message]:
    return [Message(role="user", content=text) for text in texts]


@given(st.lists(words, min_size=1), st.lists(words), words)
def test_what_was_answered_and_how_it_is_spaced_does_not_matter(texts: list[str], answers: list[str], gap: str) -> None:
    plain = said(*texts)
    between = [Message(role="assistant", content=one) for one in answers]
    spaced = [Message(role="user", content=f" {text.strip()}\n") for text in texts]

    assert fingerprint([*plain[:1], *between, *plain[1:]]) == fingerprint(plain) == fingerprint(spaced)


@given(
    st.lists(st.text(alphabet="ab", min_size=1), min_size=1), st.lists(st.text(alphabet="ab", min_size=1), min_size=1)
)
def test_other_words_are_another_conversation(one: list[str], other: list[str]) -> None:
    assert (fingerprint(said(*one)) == fingerprint(said(*other))) == (one == other)


def test_other_pictures_are_another_conversation() -> None:
    def shown(url: str) -> list[Message]:
        return [Message(role="user", content=[{"type": "image_url", "image_url": {"url": url}}])]

    assert fingerprint(shown("data:a")) != fingerprint(shown("data:b"))
    assert fingerprint([]) == ""


def test_turns_are_kept_and_the_latest_counts(home: Path) -> None:
    home.mkdir()
    table = ConversationTable(home)
    table.keep("h", Turn("a", "1"))
    table.keep("h", Turn("b", "2"))

    assert ConversationTable(home).find("h") == Turn("b", "2")
    assert table.find("other") is None


def test_the_oldest_turns_are_forgotten(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.memory.conversations.MAX_KEPT", 3)
    home.mkdir()
    table = ConversationTable(home)
    for number in range(5):
        table.keep(str(number), Turn("t", str(number)))

    assert [number for number in range(5) if table.find(str(number))] == [2, 3, 4]
    assert MAX_KEPT > 3
