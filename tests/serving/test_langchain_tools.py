"""Snellen as LangChain's tools: an agent with a scripted chat model calls the real ones."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from snellen.memory.checkpoints import thread_graphs
from snellen.serving.langchain_tools import snellen_tools
from snellen.threads.listing import list_threads

ROOT = Path(__file__).parents[2]
SCENE = ROOT / "examples" / "scene.png"
DATA = "data:image/png;base64," + base64.b64encode(SCENE.read_bytes()).decode()


class Scripted(BaseChatModel):
    """A chat model that calls one tool after the other, and then says what the last one told it."""

    calls: list[dict[str, Any]]
    offered: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: object) -> Scripted:
        self.offered.extend(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        told = [one for one in messages if isinstance(one, ToolMessage)]
        if len(told) == len(self.calls):
            said = AIMessage(f"It said: {told[-1].text}")
        else:
            call = self.calls[len(told)]
            arguments = {
                name: told[-1].artifact["thread"] if value == "THREAD" else value
                for name, value in call["args"].items()
            }
            said = AIMessage("", tool_calls=[{**call, "args": arguments, "id": f"call {len(told)}"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


def called(name: str, **args: object) -> dict[str, Any]:
    return {"name": name, "args": args}


@pytest.fixture(autouse=True)
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    monkeypatch.chdir(ROOT)


def results(ended: dict[str, Any]) -> list[ToolMessage]:
    return [one for one in ended["messages"] if isinstance(one, ToolMessage)]


async def test_an_agent_asks_about_a_picture_and_corrects_the_answer(home: Path) -> None:
    model = Scripted(
        calls=[
            called("ask_about_pictures", instruction="How many dogs are there?", pictures=["examples/scene.png"]),
            called("correct_answer", thread="THREAD", expected="1"),
            called("recall_memory", query="How many dogs are there?"),
        ]
    )
    agent = create_agent(model, snellen_tools(), checkpointer=InMemorySaver())
    ended = await agent.ainvoke({"messages": [HumanMessage("Count!")]}, {"configurable": {"thread_id": "agents"}})
    asked, corrected, recalled = results(ended)

    assert asked.text.splitlines()[0] == "1"
    assert any(step.startswith("LOC: ") for step in asked.artifact["steps"])
    assert corrected.artifact["thread"] == asked.artifact["thread"]
    assert "How many dogs are there? → " in recalled.text
    assert "How many dogs are there?" in ended["messages"][-1].text
    assert await asyncio.to_thread(thread_graphs, home) == {asked.artifact["thread"]: "ask"}
    (line,) = await list_threads()
    assert (line.status, line.verdict) == ("finished", "right")


def test_it_does_so_without_await_and_with_a_data_address() -> None:
    model = Scripted(calls=[called("ask_about_pictures", instruction="Is there a dog?", pictures=[DATA])])
    ended = create_agent(model, snellen_tools(roots=())).invoke({"messages": [HumanMessage("Look!")]})

    assert results(ended)[0].text.startswith("yes\n")


def test_an_agent_investigates_models() -> None:
    model = Scripted(calls=[called("investigate_models", query="Can clip recognize vehicles?", images=40)])
    (told,) = results(create_agent(model, snellen_tools()).invoke({"messages": [HumanMessage("Find out!")]}))

    assert told.artifact["conclusion"] in told.text
    assert told.artifact["findings"]
    assert told.artifact["pictures"] <= 40


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            called("ask_about_pictures", instruction="Is there a dog?", pictures=["/etc/passwd"]),
            "in a folder that may not",
        ),
        (
            called("ask_about_pictures", instruction="Is there a dog?", pictures=["../x.png"]),
            "in a folder that may not",
        ),
        (called("ask_about_pictures", instruction="Is there a dog?", pictures=["examples/no.png"]), "no.png"),
        (called("ask_about_pictures", instruction="Is it?", pictures=["https://example.org/a.png"]), "not looked up"),
        (called("ask_about_pictures", instruction="Is there a dog?", pictures=["0" * 64]), "There is no picture"),
        (called("ask_about_pictures", instruction="", pictures=["examples/scene.png"]), "The instruction is empty"),
        (called("ask_about_pictures", instruction="Is there a dog?", pictures=[]), "The argument 'pictures' cannot"),
        (called("ask_about_pictures", instruction="Is there a dog?"), "The argument 'pictures' cannot be used"),
        (called("correct_answer", thread="nowhere", expected="1"), "There is no thread 'nowhere'"),
        (called("investigate_models", query="Can it count?", models=["gpt-9"]), "gpt-9"),
        (called("learn_concept", concept=""), "The concept is empty"),
        (called("learn_concept", concept="dog", tools=["BLUR"]), "BLUR"),
    ],
)
def test_what_a_tool_cannot_do_comes_back_in_a_sentence(call: dict[str, Any], why: str) -> None:
    ended = create_agent(Scripted(calls=[call]), snellen_tools()).invoke({"messages": [HumanMessage("Go!")]})
    (told,) = results(ended)

    assert (told.status, why in told.text) == ("error", True), told.text
    assert "\n" not in told.text


def test_what_a_model_reads_of_the_tools_says_what_each_argument_is() -> None:
    tools = snellen_tools()

    assert len({one.name for one in tools}) == 5
    for tool in tools:
        schema = json.loads(json.dumps(tool.get_input_jsonschema()))
        assert tool.description
        assert schema["properties"]
        assert all(one.get("description") for one in schema["properties"].values())


@pytest.mark.parametrize("path", ["~nosuch/x.png", "\x00", "a\x00b", "\ud800.png", "x" * 5_000, "a/" * 3_000])
async def test_a_path_that_can_be_none_comes_back_as_a_sentence(path: str) -> None:
    (tool,) = [one for one in snellen_tools() if one.name == "ask_about_pictures"]
    call = {
        "type": "tool_call", "id": "1", "name": tool.name,
        "args": {"instruction": "Is there a dog?", "pictures": [path]},
    }  # fmt: skip
    told, awaited = tool.invoke(call), await tool.ainvoke(call)

    assert (told.status, awaited.status) == ("error", "error")
    assert told.text == awaited.text
    assert told.text.endswith(".")


async def test_text_that_is_no_unicode_comes_back_as_a_sentence() -> None:
    for name, args in {
        "ask_about_pictures": {"instruction": "a \ud800 b", "pictures": ["examples/scene.png"]},
        "correct_answer": {"thread": "\ud800"},
        "learn_concept": {"concept": "\ud800"},
        "recall_memory": {"query": "\ud800"},
    }.items():
        (tool,) = [one for one in snellen_tools() if one.name == name]
        told = await tool.ainvoke({"type": "tool_call", "id": "1", "name": name, "args": args})
        assert (told.status, "unicode" in told.text.casefold()) == ("error", True), name
