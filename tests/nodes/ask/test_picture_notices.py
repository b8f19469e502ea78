"""What was lost in reading a picture is told with the answer, from every way in."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import PIL.Image
import pytest
from langchain_core.messages import HumanMessage

from snellen.errors import BadInput
from snellen.graphs.messages import read_message, reference
from snellen.graphs.states import AskState, ChatState
from snellen.memory.artifacts import ArtifactStore
from snellen.nodes.ask.inference import _unfamiliar
from snellen.nodes.chat.delegation import task_of
from snellen.runtime.investigation_requests import InvestigationRequest, initial_fields
from snellen.serving import ServerSettings, Uploads
from snellen.serving.openai_api.histories import for_the_graph
from snellen.serving.openai_api.requests import Message
from snellen.values import to_json

LAID_ON_WHITE = "Picture 1 has transparent parts; they are looked at as white."


def encoded(mode: str = "RGBA", color: tuple[int, ...] = (200, 30, 30, 90)) -> str:
    held = io.BytesIO()
    PIL.Image.new(mode, (8, 6), color).save(held, "PNG")
    return base64.b64encode(held.getvalue()).decode()


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


def test_a_message_tells_of_its_own_pictures_and_of_those_that_were_stored_before(store: ArtifactStore) -> None:
    sent = read_message(HumanMessage(content=[{"type": "image", "base64": encoded()}]), store)
    assert sent.notices == (LAID_ON_WHITE,)
    block: Any = reference(sent.pictures[0], [LAID_ON_WHITE])
    assert read_message(HumanMessage(content=[block]), store).notices == (LAID_ON_WHITE,)
    assert not read_message(HumanMessage(content=[reference(sent.pictures[0])]), store).notices


@pytest.mark.parametrize("told", ["no list", [1, None, {}], ["x" * 9_000] * 50, {"a": 1}, None])
def test_what_a_client_puts_into_a_reference_is_bounded(store: ArtifactStore, told: object) -> None:
    picture = read_message(HumanMessage(content=[{"type": "image", "base64": encoded()}]), store).pictures[0]
    block: Any = reference(picture) | {"extras": {"width": 8, "height": 6, "notices": told}}
    notices = read_message(HumanMessage(content=[block]), store).notices
    assert len(notices) <= 4
    assert all(len(one) <= 300 for one in notices)


async def test_an_upload_tells_and_so_does_the_message_that_an_endpoint_makes_of_it(store: ArtifactStore) -> None:
    uploads = Uploads(store, ServerSettings())
    picture = await uploads.add_reference(encoded())
    assert uploads.notices == {picture.id: [LAID_ON_WHITE]}
    await uploads.add_reference(encoded("RGB", (1, 2, 3)))
    assert len(uploads.notices) == 1

    address = f"data:image/png;base64,{encoded()}"
    asked = Message(role="user", content=[{"type": "image_url", "image_url": {"url": address}}])
    (message,) = await for_the_graph([asked], Uploads(store, ServerSettings()))
    assert read_message(message, store).notices == (LAID_ON_WHITE,)


def test_a_task_of_a_conversation_begins_with_what_is_to_be_known_of_its_pictures(store: ArtifactStore) -> None:
    picture = read_message(HumanMessage(content=[{"type": "image", "base64": encoded()}]), store).pictures[0]
    state = ChatState(messages=[HumanMessage("What is it?")], pictures=[to_json(picture)], notices=[LAID_ON_WHITE])
    begun = task_of(state)
    assert (begun["warnings"], begun["instruction"]) == ([LAID_ON_WHITE], "What is it?")


@pytest.mark.parametrize(
    ("mode", "color", "warned"), [("L", 90, True), ("RGB", (90, 90, 91), True), ("RGB", (90, 20, 9), False)]
)
def test_an_answer_about_a_grey_picture_comes_with_a_warning(
    store: ArtifactStore, mode: str, color: int | tuple[int, ...], *, warned: bool
) -> None:
    picture = store.put(PIL.Image.new(mode, (8, 6), color))
    context: Any = SimpleNamespace(models=SimpleNamespace(warning=lambda _: None, troubles=list), pictures=store)
    said = _unfamiliar(AskState(pictures=[to_json(picture)]), context)
    assert [one for one in said if "no colors" in one] == said
    assert bool(said) == warned


def test_an_address_in_place_of_a_file_is_told_with_both_its_slashes(store: ArtifactStore) -> None:
    address = "https://example.org/cat.png"
    for given in (address, Path(address)):
        with pytest.raises(BadInput, match="is an address, and nothing is fetched"):
            store.ingest(given)
    with pytest.raises(BadInput, match=address):
        store.ingest(address)
    with pytest.raises(BadInput, match=r"https://example\.org/birds:"):
        initial_fields(
            "t", InvestigationRequest(query="Can the models recognize birds?", pictures="https://example.org/birds")
        )
