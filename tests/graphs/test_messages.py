"""Messages of chat pages: pictures in every form that pages send, bounds, and what stays in a conversation."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from snellen.graphs.messages import (
    LINKS_VARIABLE,
    MAX_HISTORY,
    MAX_MESSAGES,
    MAX_PICTURES,
    MAX_TEXT,
    bounded,
    pictures_in,
    read_message,
    reference,
    reply_message,
    text_of,
)
from snellen.memory.artifacts import ArtifactStore
from snellen.values import to_json


def png(colour: str = "red", size: tuple[int, int] = (8, 6)) -> str:
    held = io.BytesIO()
    PIL.Image.new("RGB", size, colour).save(held, "PNG")
    return base64.b64encode(held.getvalue()).decode()


DATA = f"data:image/png;base64,{png()}"
FORMS: dict[str, dict[str, Any]] = {
    "openai": {"type": "image_url", "image_url": {"url": DATA, "detail": "low"}},
    "openai, short": {"type": "image_url", "image_url": DATA},
    "openai responses": {"type": "input_image", "image_url": DATA},
    "langchain 0": {"type": "image", "source_type": "base64", "data": png(), "mime_type": "image/png"},
    "langchain 1": {"type": "image", "base64": png(), "mime_type": "image/png"},
    "langchain url": {"type": "image", "url": DATA},
    "agent-chat-ui": {"type": "image", "mimeType": "image/png", "data": png(), "metadata": {"name": "cat.png"}},
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png()}},
    "whole address as data": {"type": "image", "data": DATA},
    "broken in lines": {"type": "image", "base64": "\n".join([png()[:20], png()[20:]])},
}


def asking(*blocks: dict[str, Any], text: str = "What is it?") -> HumanMessage:
    return HumanMessage(content=[{"type": "text", "text": text}, *blocks], id="m1")


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_a_picture_is_understood_in_every_form_and_leaves_a_reference(store: ArtifactStore, form: str) -> None:
    read = read_message(asking(FORMS[form]), store)

    assert read.troubles == ()
    assert [(one.width, one.height) for one in read.pictures] == [(8, 6)]
    assert read.text == "What is it?"
    assert read.message.id == "m1"
    assert pictures_in(read.message) == [read.pictures[0].id]
    assert png() not in str(read.message.content)
    assert store.get(read.pictures[0].id).getpixel((0, 0)) == (255, 0, 0)


def test_several_pictures_keep_their_order_and_a_known_one_is_found_again(store: ArtifactStore) -> None:
    first = read_message(
        asking(*(FORMS["openai"] | {"image_url": f"data:image/png;base64,{png(c)}"} for c in ("red", "blue"))), store
    )
    again = read_message(asking(*first.message.content[1:]), store)

    assert [store.get(one.id).getpixel((0, 0)) for one in first.pictures] == [(255, 0, 0), (0, 0, 255)]
    assert again.pictures == first.pictures


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}, "sent as an address"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "sent as an address"),
        ({"type": "image_url", "image_url": {}}, "sent as an address"),
        ({"type": "image", "base64": "!!!"}, "cannot be read"),
        ({"type": "image", "base64": base64.b64encode(b"no picture").decode()}, "picture 1 is not a picture"),
        ({"type": "image", "file_id": "0" * 64}, "There is no picture 000000000000"),
        ({"type": "image", "file_id": "../../etc/passwd"}, "is not the id of a picture"),
    ],
)
def test_what_is_no_picture_is_told_and_the_words_are_read_all_the_same(
    store: ArtifactStore, block: dict[str, Any], said: str
) -> None:
    read = read_message(asking(block), store)

    assert (read.text, read.pictures) == ("What is it?", ())
    assert said in read.troubles[0]


def test_a_reference_as_states_write_it_names_the_stored_picture(store: ArtifactStore) -> None:
    (known,) = read_message(asking(FORMS["openai"]), store).pictures
    read = read_message(asking(to_json(known)), store)

    assert (read.text, read.pictures, read.troubles) == ("What is it?", (known,), ())
    assert "There is no picture 000000000000" in read_message(
        asking({"type": "Picture", "id": "0" * 64}), store
    ).troubles[0]  # fmt: skip


def test_words_beyond_what_is_read_are_told(store: ArtifactStore) -> None:
    assert not read_message(asking(text="a" * MAX_TEXT), store).troubles
    (trouble,) = read_message(asking(text="a" * (MAX_TEXT + 1)), store).troubles
    assert "4,001 characters; at most 4,000 are read" in trouble


def test_more_pictures_than_are_looked_at_together_are_told(store: ArtifactStore) -> None:
    read = read_message(asking(*[FORMS["openai"]] * (MAX_PICTURES + 1)), store)

    assert len(read.pictures) == MAX_PICTURES
    assert read.troubles == (f"There are {MAX_PICTURES + 1} pictures; at most {MAX_PICTURES} are looked at together.",)


def test_no_picture_is_no_trouble(store: ArtifactStore) -> None:
    read = read_message(HumanMessage("  Why?  "), store)

    assert (read.text, read.pictures, read.message.content) == ("Why?", (), "Why?")


def test_a_reply_links_to_its_pictures_where_a_server_shows_them(
    store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = store.put(PIL.Image.new("RGB", (2, 2)))
    plain = reference(picture)
    monkeypatch.setenv(LINKS_VARIABLE, "http://127.0.0.1:2024/artifacts/")
    reply = reply_message("Here it is.", [picture], route="ask")

    assert "url" not in plain
    assert text_of(reply) == "Here it is."
    assert isinstance(reply.content[1], dict)
    assert reply.content[1]["url"] == f"http://127.0.0.1:2024/artifacts/{picture.id}.png"
    assert reply.additional_kwargs == {"snellen": {"route": "ask"}}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5_000)), max_size=80))
def test_a_conversation_stays_bounded_and_keeps_what_was_said_last(said: list[tuple[bool, int]]) -> None:
    kept: list[AnyMessage] = []
    for number, (person, length) in enumerate(said):
        message = (HumanMessage if person else AIMessage)(content="x" * length, id=str(number))
        kept = bounded(kept, [message])
        assert kept[-1].id == str(number)
        assert len(kept) <= MAX_MESSAGES
        assert len(kept) == 1 or sum(len(str(one.content)) for one in kept) <= MAX_HISTORY
    assert [int(one.id or "") for one in kept] == list(range(len(said)))[len(said) - len(kept) :]


def test_a_message_takes_the_place_of_the_one_with_its_id() -> None:
    kept = bounded([HumanMessage("a", id="1"), AIMessage("b", id="2")], [HumanMessage("c", id="1")])

    assert [one.content for one in kept] == ["c", "b"]
