"""The MCP server as the official client meets it: over HTTP behind the guard, and on standard input and output."""

from __future__ import annotations

import base64
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import BlobResourceContents, CallToolResult, ImageContent, TextContent, TextResourceContents

from snellen.cli.server_app import server_app
from snellen.serving import ServerSettings, Tokens
from snellen.serving.jobs import Jobs
from tests.servers.chat_server import SCENE, data_url
from tests.servers.snellen_server import listening

MODES = ["auto", "legacy"]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("owner")


@pytest.fixture(scope="module")
def tokens(owner: Path) -> dict[str, str]:
    return {name: Tokens(owner).add(name) for name in ("owner", "ann")}


@pytest.fixture(scope="module")
def server(owner: Path, tokens: dict[str, str]) -> Iterator[str]:
    app = server_app(Jobs(), ServerSettings(port=0), {"embedded": "embedded"}, page=False, tokens=Tokens(owner))
    with listening(app) as url:
        yield url


@asynccontextmanager
async def over_http(server: str, token: str, *, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{server}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


def text(result: CallToolResult) -> str:
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))


@pytest.mark.parametrize("mode", MODES)
async def test_the_tools_say_what_they_take_give_and_change(server: str, tokens: dict[str, str], mode: str) -> None:
    async with over_http(server, tokens["owner"], mode=mode) as client:
        found = {one.name: one for one in (await client.list_tools()).tools}
        templates = (await client.list_resource_templates()).resource_templates

    assert set(found) == {"ask", "investigate", "report", "learn", "memory_search"}
    for tool in found.values():
        assert tool.description
        assert tool.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in {"report", "memory_search"})
        assert "context" not in tool.input_schema["properties"]
    assert [one.uri_template for one in templates] == ["snellen://pictures/{id}", "snellen://reports/{id}"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_question_is_answered_with_steps_pictures_and_progress(
    server: str, tokens: dict[str, str], mode: str
) -> None:
    said: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        said.append(message)

    async with over_http(server, tokens["owner"], mode=mode) as client:
        asked = {"instruction": "Blur everything but the dog.", "pictures": [data_url()]}
        result = await client.call_tool("ask", asked, progress_callback=told)
        (picture,) = result.structured_content["pictures"]
        read = (await client.read_resource(f"snellen://pictures/{picture}")).contents[0]
        again = await client.call_tool("ask", {"instruction": "Is there a dog?", "pictures": [picture]})

    assert not result.is_error
    assert any(isinstance(one, ImageContent) for one in result.content)
    assert any("SEG" in step or "LOC" in step for step in result.structured_content["steps"])
    assert "planning" in said
    assert isinstance(read, BlobResourceContents)
    assert base64.b64decode(read.blob).startswith(b"\x89PNG")
    assert text(again).lower().startswith("yes")


async def test_one_user_does_not_see_what_another_has(server: str, tokens: dict[str, str]) -> None:
    async with over_http(server, tokens["owner"]) as client:
        asked = {"instruction": "Blur everything but the dog.", "pictures": [data_url()]}
        (picture,) = (await client.call_tool("ask", asked)).structured_content["pictures"]
    async with over_http(server, tokens["ann"]) as ann:
        with pytest.raises(MCPError, match="no such picture"):
            await ann.read_resource(f"snellen://pictures/{picture}")
        refused = await ann.call_tool("ask", {"instruction": "What is it?", "pictures": [picture]})

    assert refused.is_error
    assert "no picture" in text(refused)


async def test_errors_are_sentences(server: str, tokens: dict[str, str]) -> None:
    async with over_http(server, tokens["ann"]) as client:
        for name, arguments, said in (
            ("ask", {"instruction": "What?", "pictures": [str(SCENE)]}, "base64"),
            ("ask", {"instruction": "What?", "pictures": [f"file://{SCENE}"]}, "file: address"),
            ("ask", {"instruction": "", "pictures": [data_url()]}, "empty"),
            ("ask", {"instruction": "What?", "pictures": [data_url()], "profile": "../x"}, "no profile"),
            ("investigate", {"query": "Is nosuch robust?", "models": ["nosuch"]}, "nosuch"),
            ("report", {"thread": "none"}, "no thread"),
            ("learn", {"concept": ""}, "concept"),
            ("learn", {}, "The argument 'concept' of learn cannot be used: field required."),
            ("investigate", {"query": ["birds"]}, "The argument 'query' of investigate cannot be used"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error, name
            assert said in text(result)
            assert "\n" not in text(result)


async def test_what_is_remembered_is_found(server: str, tokens: dict[str, str]) -> None:
    async with over_http(server, tokens["owner"]) as client:
        result = await client.call_tool("memory_search", {"query": "How many dogs are there?"})

    assert any("How many" in one["instruction"] for one in result.structured_content["examples"])


def test_strangers_reach_nothing(server: str) -> None:
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = httpx.post(f"{server}/mcp", json=said, headers={"accept": "application/json, text/event-stream"})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_an_investigation_goes_on_in_the_background_and_is_reported(server: str, tokens: dict[str, str]) -> None:
    import asyncio

    asked = {"query": "Can the models recognize vehicles?", "images": 40, "models": ["clip"], "background": True}
    async with over_http(server, tokens["owner"]) as client:
        begun = await client.call_tool("investigate", asked)
        thread = begun.structured_content["thread"]
        while True:
            told = await client.call_tool("report", {"thread": thread})
            if told.structured_content["status"] not in {"running", "queued"}:
                break
            await asyncio.sleep(0.3)
        page = (await client.read_resource(f"snellen://reports/{thread}")).contents[0]

    assert told.structured_content["status"] == "finished"
    assert told.structured_content["findings"]
    (answer,) = told.structured_content["answers"]
    assert (answer["about"], answer["property"]) == ("clip", "good at recognizing vehicles")
    assert answer["answer"] == {True: "yes", False: "no", None: "undecided"}[answer["holds"]]
    assert isinstance(page, TextResourceContents)
    assert page.text.startswith("# Can the models recognize vehicles?")
    assert text(told) == page.text


@pytest.mark.slow
async def test_on_standard_input_pictures_of_the_folders_named_are_read(home: Path) -> None:
    root = Path(__file__).parents[2]
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "snellen", "mcp", "--root", str(SCENE.parent)],
        env={"SNELLEN_HOME": str(home), "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1"},
        cwd=root,
    )
    async with Client(started) as client:
        result = await client.call_tool("ask", {"instruction": "Is there a dog?", "pictures": [str(SCENE)]})
        elsewhere = await client.call_tool("ask", {"instruction": "Is there a dog?", "pictures": ["/etc/passwd"]})

    assert text(result).lower().startswith("yes")
    assert elsewhere.is_error
    assert "--root" in text(elsewhere)
