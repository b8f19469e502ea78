"""The endpoint as its users' programs meet it: OpenAI's client and LangChain's, over a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from snellen.memory.prompts import PromptPool
from snellen.memory.thread_locks import running
from snellen.serving import Tokens
from tests.memory.learned import made
from tests.servers.chat_server import chat_app, data_url
from tests.servers.snellen_server import listening

Json = dict[str, Any]
Client = Any
"""OpenAI's client, whose overloads would have each message built from classes of its own."""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("owner")


@pytest.fixture(scope="module")
def tokens(owner: Path) -> dict[str, str]:
    return {name: Tokens(owner).add(name) for name in ("owner", "ann")}


@pytest.fixture(scope="module")
def server(owner: Path, tokens: dict[str, str]) -> Iterator[str]:
    with listening(chat_app(owner)) as url:
        yield url


@pytest.fixture
def client(server: str, tokens: dict[str, str]) -> Iterator[Client]:
    with openai.OpenAI(base_url=f"{server}/v1", api_key=tokens["owner"], max_retries=0) as client:
        yield client


def shown(text: str, *pictures: str) -> Json:
    content: list[Json] = [{"type": "text", "text": text}]
    content += [{"type": "image_url", "image_url": {"url": picture or data_url()}} for picture in pictures]
    return {"role": "user", "content": content}


def test_the_profiles_are_the_models(client: Client) -> None:
    assert [one.id for one in client.models.list()] == ["embedded"]
    assert client.models.retrieve("embedded").owned_by == "snellen"


def test_a_question_about_a_picture_is_answered(client: Client) -> None:
    raw = client.chat.completions.with_raw_response.create(
        model="embedded", messages=[shown("How many dogs are there?", "")], temperature=0, max_tokens=5
    )
    answer = raw.parse()

    assert answer.choices[0].message.role == "assistant"
    assert answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    assert raw.headers["x-snellen-thread"]


def test_a_stream_has_a_role_progress_content_an_end_and_usage(client: Client) -> None:
    stream = client.chat.completions.create(
        model="embedded",
        messages=[shown("Is there a dog in the picture?", "")],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    deltas = [one.choices[0].delta for one in chunks if one.choices]

    assert deltas[0].role == "assistant"
    assert "yes" in "".join(one.content or "" for one in deltas).lower()
    assert any("planning" in (getattr(one, "reasoning_content", None) or "") for one in deltas)
    assert [one.choices[0].finish_reason for one in chunks if one.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert len({one.id for one in chunks}) == 1


def test_progress_is_left_out_on_request(client: Client) -> None:
    stream = client.chat.completions.create(
        model="embedded",
        messages=[shown("Is there a dog in the picture?", "")],
        stream=True,
        extra_headers={"X-Snellen-Progress": "off"},
    )

    assert not any(getattr(one.choices[0].delta, "reasoning_content", None) for one in stream)


def test_a_picture_of_an_answer_is_shown(client: Client, server: str, tokens: dict[str, str]) -> None:
    asked = [shown("Blur everything but the dog.", "")]
    inside = client.chat.completions.create(model="embedded", messages=asked).choices[0].message.content or ""
    linked = client.chat.completions.create(
        model="embedded", messages=asked, extra_headers={"X-Snellen-Pictures": "link"}
    ).choices[0].message.content or ""  # fmt: skip
    bare = client.chat.completions.create(
        model="embedded", messages=asked, extra_headers={"X-Snellen-Pictures": "none"}
    ).choices[0].message.content or ""  # fmt: skip

    assert "](data:image/png;base64," in inside
    address = linked.partition("](")[2].rstrip(")")
    assert address.startswith(f"{server}/artifacts/")
    assert httpx.get(address, headers={"authorization": f"Bearer {tokens['owner']}"}).content.startswith(b"\x89PNG")
    assert httpx.get(address, headers={"authorization": f"Bearer {tokens['ann']}"}).status_code == 404
    assert "![" not in bare


def test_langchain_talks_to_it(server: str, tokens: dict[str, str]) -> None:
    model = ChatOpenAI(base_url=f"{server}/v1", api_key=tokens["owner"], model="embedded", max_retries=0)
    asked = HumanMessage(
        [
            {"type": "text", "text": "Is there a dog in the picture?"},
            {"type": "image_url", "image_url": {"url": data_url()}},
        ]
    )

    reply = model.invoke([asked])
    streamed = "".join(str(one.content) for one in model.stream([asked]))

    assert "yes" in reply.text.lower()
    assert "yes" in streamed.lower()
    assert reply.usage_metadata is not None


def test_a_conversation_goes_on_when_its_history_is_sent_again(client: Client) -> None:
    asked = shown("Is there a dog in the picture?", "")
    first = client.chat.completions.with_raw_response.create(model="embedded", messages=[asked])
    reply = first.parse().choices[0].message.content
    history = [asked, {"role": "assistant", "content": f"  {reply} (as the client keeps it)"}]
    second = client.chat.completions.with_raw_response.create(
        model="embedded",
        messages=[*history, {"role": "user", "content": "why?"}],
    )

    assert second.headers["x-snellen-thread"] == first.headers["x-snellen-thread"]
    assert "LOC" in (second.parse().choices[0].message.content or "")
    # The second message is written anew: the thread has gone on, so a branch begins where it stood.
    third = client.chat.completions.with_raw_response.create(
        model="embedded",
        messages=[*history, {"role": "user", "content": "Is there a cat in the picture?"}],
    )
    assert third.headers["x-snellen-thread"] != first.headers["x-snellen-thread"]
    assert third.parse().choices[0].message.content


def test_a_thread_that_is_named_goes_on_with_the_last_message_alone(client: Client) -> None:
    named = {"X-Snellen-Thread": "mine"}
    client.chat.completions.create(
        model="embedded", messages=[shown("Is there a dog in the picture?", "")], extra_headers=named
    )
    why = client.chat.completions.with_raw_response.create(
        model="embedded", messages=[{"role": "user", "content": "why?"}], extra_headers=named
    )

    assert why.headers["x-snellen-thread"] == "mine"
    assert "LOC" in (why.parse().choices[0].message.content or "")


def test_a_history_that_was_held_elsewhere_can_be_corrected(client: Client) -> None:
    """Nothing is known of it here: the task is done again, then what was wrong with it is read."""
    reply = client.chat.completions.create(
        model="embedded",
        messages=[
            {"role": "system", "content": "You are kind."},
            shown("Is there an umbrella in the picture?", ""),
            {"role": "assistant", "content": "It is on the right. ![picture](data:image/png;base64,AAAA)"},
            {"role": "user", "content": "why?"},
        ],
    )

    assert "LOC" in (reply.choices[0].message.content or "")


def test_what_was_answered_elsewhere_can_be_said_to_be_right(client: Client) -> None:
    reply = client.chat.completions.create(
        model="embedded",
        messages=[
            shown("Is there a dog in the picture?", ""),
            {"role": "assistant", "content": "Yes."},
            {"role": "user", "content": "That's right."},
        ],
    )
    said = reply.choices[0].message.content or ""

    assert "yes" in said.lower() or "good" in said.lower()
    assert "I do not understand" not in said


@pytest.mark.slow
def test_what_was_answered_elsewhere_can_be_corrected_in_words(client: Client) -> None:
    """The task is done again here, found wrong by what is said, and looked into; sight does not bear that out."""
    reply = client.chat.completions.create(
        model="embedded",
        messages=[
            shown("Where is the dog?", ""),
            {"role": "assistant", "content": "Top right."},
            {"role": "user", "content": "No, it's the left one."},
        ],
    )
    said = reply.choices[0].message.content or ""

    assert "I looked again" in said
    assert "right" in said
    assert "Show me pictures" not in said
    assert "nothing to explain" not in said


def test_a_picture_of_an_earlier_message_is_still_spoken_of(client: Client) -> None:
    reply = client.chat.completions.create(
        model="embedded",
        messages=[
            shown("What do you think of this?", ""),
            {"role": "assistant", "content": "Nice."},
            {"role": "user", "content": "Is there a dog in the picture?"},
        ],
    )

    assert "yes" in (reply.choices[0].message.content or "").lower()


def test_users_do_not_share_threads(server: str, tokens: dict[str, str], client: Client) -> None:
    client.chat.completions.create(
        model="embedded",
        messages=[shown("Is there a dog in the picture?", "")],
        extra_headers={"X-Snellen-Thread": "private"},
    )
    with openai.OpenAI(base_url=f"{server}/v1", api_key=tokens["ann"], max_retries=0) as opened:
        ann: Client = opened
        reply = ann.chat.completions.create(
            model="embedded",
            messages=[{"role": "user", "content": "why?"}],
            extra_headers={"X-Snellen-Thread": "private"},
        )

    assert "nothing to explain" in (reply.choices[0].message.content or "")


def test_what_cannot_be_done_is_said_in_words_and_the_conversation_goes_on(client: Client) -> None:
    asked = [shown("What would the dog like for dinner?", "")]
    refused = client.chat.completions.create(model="embedded", messages=asked).choices[0].message.content
    history = [*asked, {"role": "assistant", "content": refused}]
    follows = {"role": "user", "content": "And how many cats are there?"}
    answer = client.chat.completions.create(model="embedded", messages=[*history, follows]).choices[0].message.content

    assert "is outside what this reasoner can do" in refused or "do not understand" in refused
    assert answer.startswith("There are two cats")


def test_what_cannot_be_read_is_refused_and_not_tried_again(
    server: str, tokens: dict[str, str], client: Client
) -> None:
    with pytest.raises(openai.BadRequestError, match="9,000 characters; at most 4,000"):
        client.chat.completions.create(model="embedded", messages=[shown("a" * 9_000, "")])
    headers = {"authorization": f"Bearer {tokens['owner']}", "content-type": "application/json"}
    half = '{"model": "embedded", "messages": [{"role": "user", "content": "hi \\ud83d"}]}'
    for body in (half, "[" * 9_000):
        assert httpx.post(f"{server}/v1/chat/completions", content=body, headers=headers).status_code == 400


async def test_a_conversation_that_another_process_holds_is_busy(client: Client, owner: Path) -> None:
    async with running("held", owner):
        with pytest.raises(openai.ConflictError, match="is being run by") as busy:
            await asyncio.to_thread(
                client.chat.completions.create,
                model="embedded",
                messages=[shown("Is there a dog?", "")],
                extra_headers={"X-Snellen-Thread": "held"},
            )
    assert busy.value.code == "busy"


def test_errors_are_those_that_the_client_knows(server: str, client: Client) -> None:
    hello: list[Any] = [{"role": "user", "content": "hello"}]
    with pytest.raises(openai.NotFoundError, match="embedded") as missing:
        client.chat.completions.create(model="../../secret", messages=hello)
    with pytest.raises(openai.BadRequestError, match="n is not supported"):
        client.chat.completions.create(model="embedded", messages=hello, n=2)
    with pytest.raises(openai.BadRequestError, match="tools"):
        client.chat.completions.create(
            model="embedded", messages=hello, tools=[{"type": "function", "function": {"name": "f"}}]
        )
    with pytest.raises(openai.BadRequestError, match="picture 1"):
        client.chat.completions.create(model="embedded", messages=[shown("What is it?", "data:image/png;base64,AAAA")])
    with pytest.raises(openai.BadRequestError, match="allow"):
        client.chat.completions.create(model="embedded", messages=[shown("What is it?", "http://127.0.0.1/x.png")])
    with pytest.raises(openai.BadRequestError, match="thread"):
        client.chat.completions.create(model="embedded", messages=hello, extra_headers={"X-Snellen-Thread": "../x"})
    with (
        openai.OpenAI(base_url=f"{server}/v1", api_key="snellen_wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.models.list()

    assert missing.value.code == "model_not_found"
    assert missing.value.param == "model"
    assert missing.value.body == {
        "message": missing.value.body["message"],  # type: ignore[index]
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }


def test_memory_is_asked_about_in_words_and_the_next_message_decides(client: Client, owner: Path) -> None:
    prompts = PromptPool(owner)
    prompts.add(made(1, "narwhal"), made(2, "narwhal"))

    def say(*messages: Json) -> str:
        reply = client.chat.completions.create(model="embedded", messages=list(messages))
        return str(reply.choices[0].message.content)

    order: Json = {"role": "user", "content": "Forget what you learned about narwhals"}
    asked = say(order)
    assert asked.startswith("Shall I forget 2 prompts of LOC about “narwhal”")
    question: Json = {"role": "assistant", "content": asked}
    kept = say(order, question, {"role": "user", "content": "no"})
    assert (kept, len(prompts.rows())) == ("I have forgotten nothing.", 2)
    # The history goes on from the question in a branch of its own.
    gone = say(order, question, {"role": "user", "content": "yes"})
    assert "Forgotten: 2 prompts" in gone
    assert prompts.rows() == []
