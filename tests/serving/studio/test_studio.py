"""LangGraph's server: its own clients over real sockets, threads of the command line, users, edits, a fork, MCP."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import httpx
import PIL.Image
import pytest
from langgraph_sdk.schema import StreamMode, ThreadStatus

from snellen.cli import main
from snellen.memory.checkpoints import DATABASE, thread_ids
from snellen.memory.thread_locks import running
from snellen.reasoning.reasoner import ReasoningFailed
from snellen.runtime.context import Context
from snellen.serving.studio.launch import ENVIRONMENT, configuration
from snellen.serving.studio.thread_ids import server_id
from snellen.serving.users import Tokens
from snellen.threads import ask as sessions
from snellen.threads.listing import list_threads
from tests.graphs.scripted import ScriptedReasoner, make_context
from tests.servers.studio_server import ROOT, Caller, calling, studio

SCENE, BEACH = ROOT / "examples" / "scene.png", ROOT / "examples" / "beach.png"
_JSON = {"content-type": "application/json"}
WAVE = "Is there a wave in the picture?"
MODES: tuple[StreamMode, ...] = (
    "values",
    "updates",
    "custom",
    "messages-tuple",
    "debug",
    "tasks",
    "checkpoints",
    "events",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("studio") / "home"


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    home.mkdir()
    with studio(home, home.parent / "log") as found:
        yield found


@pytest.fixture
async def client(address: str) -> AsyncIterator[Caller]:
    async with calling(address) as caller:
        yield caller


@pytest.fixture(autouse=True)
def same_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(home))


def data_url(picture: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(picture.read_bytes()).decode()


def said(content: Any) -> str:  # noqa: ANN401 - of a message
    return content if isinstance(content, str) else str(content[0]["text"])


async def test_every_graph_is_an_assistant_with_a_form_for_its_settings(client: Caller) -> None:
    found = {one["graph_id"]: one["assistant_id"] for one in await client.sdk.assistants.search()}

    assert set(found) == {"ask", "learn", "investigate", "chat"}
    for graph, wanted in (("ask", {"profile"}), ("investigate", {"models", "images", "alpha", "approve"})):
        schema = (await client.sdk.assistants.get_schemas(found[graph]))["context_schema"]
        fields = dict(schema or {})["properties"]
        assert wanted <= set(fields)
        assert all(field["description"] for field in fields.values())


async def test_every_graph_has_a_short_form_of_described_fields(client: Caller) -> None:
    for one in await client.sdk.assistants.search():
        schemas = await client.sdk.assistants.get_schemas(one["assistant_id"])
        takes, gives = (dict(schemas[key] or {})["properties"] for key in ("input_schema", "output_schema"))
        assert len(takes) <= 6
        assert len(gives) <= 15
        assert all(field["description"] for field in takes.values())


@pytest.mark.parametrize("form", ["data", "id", "block"])
async def test_a_task_brings_its_picture_along_and_no_checkpoint_keeps_it(
    client: Caller, home: Path, form: str
) -> None:
    thread = await client.thread()
    stored = await client.upload(SCENE)
    block = {"type": "image_url", "image_url": {"url": data_url(SCENE)}}
    given = {"data": data_url(SCENE), "id": stored["id"], "block": block}[form]
    ended = await client.run(thread, "ask", input={"instruction": "How many dogs are there?", "pictures": [given]})

    assert ended["answer"] == 1
    assert "pictures" not in ended
    assert (await client.values(thread))["pictures"] == [stored]
    with closing(sqlite3.connect(home / DATABASE)) as rows:
        (size,) = rows.execute("SELECT MAX(length(checkpoint)) FROM checkpoints WHERE thread_id = ?", [thread])
    assert size[0] < 64_000


@pytest.mark.parametrize("path", ["/etc/passwd", "examples/scene.png", "file:///etc/passwd", "https://example.org/a"])
async def test_no_file_and_no_address_is_named_over_the_network(client: Caller, path: str) -> None:
    task = {"instruction": "How many dogs are there?", "pictures": [path]}
    answer = await client.http.post("/runs/wait", json={"assistant_id": "ask", "input": task})

    assert answer.status_code == 422
    assert "paths and addresses are not read" in answer.json()["error"]["message"]


async def test_an_answer_that_cannot_be_read_is_told_what_is_wrong_with_it(client: Caller) -> None:
    thread = await client.thread()
    question = {"query": "Can clip recognize fruit?", "approve": True, "budget": {"images": 40}}
    await client.run(thread, "investigate", input=question)
    for answer, why in (("yes", "The answer is 'yes', no object."), ({"decisions": []}, "0 were decided about")):
        await client.run(thread, "investigate", command={"resume": answer})
        ((request,),) = (await client.sdk.threads.get(thread))["interrupts"].values()
        assert why in request["value"]["error"]
    ended = await client.run(thread, "investigate", command={"resume": {"decisions": [{"type": "reject"}]}})
    assert "A person refused it" in str(ended["report"]["notes"])


@pytest.mark.parametrize("mode", MODES)
async def test_a_task_is_streamed_in_every_mode(client: Caller, mode: StreamMode) -> None:
    thread = await client.thread()
    task: dict[str, Any] = {"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    heard = [
        part.event
        async for part in client.sdk.runs.stream(
            thread, "ask", input=task, stream_mode=[mode], context={"profile": "embedded"}
        )
    ]

    assert "error" not in heard
    # The ask graph calls no chat model: nothing is heard of messages.
    assert len(heard) > (0 if mode == "messages-tuple" else 3)
    assert (await client.values(thread))["answer"] == 1


async def test_a_person_is_asked_and_decides_on_the_server(client: Caller) -> None:
    thread = await client.thread()
    task = {"instruction": WAVE, "pictures": [await client.upload(BEACH)], "expected": "yes", "approve": True}
    await client.run(thread, "ask", input=task)
    waiting = await client.sdk.threads.get(thread)
    (request,) = [one["value"] for of in waiting["interrupts"].values() for one in of]

    assert waiting["status"] == "interrupted"
    assert [one["name"] for one in request["action_requests"]] == ["learn"]
    assert request["review_configs"] == [{"action_name": "learn", "allowed_decisions": ["approve", "reject"]}]
    ended = await client.run(thread, "ask", command={"resume": {"decisions": [{"type": "reject"}]}})
    assert ended["verdict"] == "wrong"
    assert "It was not approved" in ended["learned"][0]["trouble"]


async def test_a_thread_of_the_server_is_taken_up_on_the_command_line(client: Caller) -> None:
    thread = await client.thread()
    task = {"instruction": WAVE, "pictures": [await client.upload(BEACH)], "expected": "yes", "approve": True}
    await client.run(thread, "ask", input=task)
    (listed,) = [one for one in await list_threads() if one.thread == thread]

    assert (listed.graph, listed.status) == ("ask", "waiting for approval")
    assert await asyncio.to_thread(main.main, ["resume", thread, "--reject", "--json"]) == 0
    assert (await client.values(thread))["verdict"] == "wrong"


async def test_whoever_comes_second_to_a_thread_is_told_who_runs_it(client: Caller, home: Path) -> None:
    thread = await client.thread()
    task = {"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    async with running(thread, home):
        ended = await client.run(thread, "ask", input=task, raise_error=False)

    assert ended["__error__"]["error"] == "BeingRun"
    assert "is being run by" in ended["__error__"]["message"]
    assert (await client.run(thread, "ask", input=task))["answer"] == 1


async def test_why_a_run_failed_is_told_in_its_sentence(client: Caller) -> None:
    thread = await client.thread()
    ended = await client.run(thread, "ask", input={"instruction": "How many dogs are there?"}, raise_error=False)

    assert ended["__error__"] == {
        "error": "TaskRefused",
        "message": "There is no picture to do that with; give at least one.",
    }


async def test_one_goes_back_to_any_step_changes_it_and_goes_on_from_there(client: Caller) -> None:
    thread = await client.thread()
    task = {"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    await client.run(thread, "ask", input=task)
    history = await client.sdk.threads.get_history(thread, limit=50)
    (before,) = [one for one in history if one["next"] == ["run"]]
    program = 'ANSWER0=EVAL(expr="6*7")\nFINAL_RESULT=RESULT(var=ANSWER0)'
    changed = await client.sdk.threads.update_state(thread, {"program": program}, checkpoint=before["checkpoint"])
    ended = await client.run(thread, "ask", checkpoint=changed["checkpoint"])

    assert ended["answer"] == 42
    after = await client.sdk.threads.get_history(thread, limit=50)
    assert len(after) > len(history) + 2
    assert {cast("dict[str, Any]", one["values"]).get("answer") for one in after} >= {1, 42}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"program": 3}, "'program' cannot be set so"),
        ({"strange": 1}, "no field 'strange'"),
        ({"folder": "/etc"}, "Folders of this machine"),
        ({"profile": "/etc/passwd.toml"}, "There is no profile"),
        ({"pictures": [{"id": "../../etc/passwd", "width": 1, "height": 1}]}, "it refers to no picture"),
        (
            {"pictures": [{"type": "Picture", "id": "../../etc/passwd", "width": 1, "height": 1}]},
            "refers to no picture",
        ),
        (
            {"pictures": [{"type": "Picture", "id": "0" * 64, "width": 1, "height": 1}]},
            "There is no picture 000000000000",
        ),
        ({"needs": [{"concept": "penguin"}]}, "it is no need"),
        ({"needs": [{"tool": "BLUR", "concept": "penguin"}]}, "'BLUR' cannot be taught"),
    ],
)
async def test_what_does_not_fit_a_state_is_refused_before_it_is_saved(
    client: Caller, values: dict[str, Any], why: str
) -> None:
    thread = await client.thread()
    await client.run(
        thread, "ask", input={"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    )
    before = await client.sdk.threads.get_history(thread, limit=50)
    edited = await client.http.post(f"/threads/{thread}/state", json={"values": values})
    begun = await client.http.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "ask", "input": values})

    assert (edited.status_code, begun.status_code) == (422, 422)
    assert why in edited.json()["error"]["message"]
    assert await client.sdk.threads.get_history(thread, limit=50) == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/runs/batch", [{"assistant_id": "ask"}, {"assistant_id": "investigate", "input": "BAD"}]),
        ("POST", "/runs/crons", {"assistant_id": "investigate", "schedule": "* * * * *", "input": "BAD"}),
        ("POST", "/threads", {"supersteps": [{"updates": [{"values": "BAD", "as_node": "__start__"}]}]}),
        ("POST", "/threads/THREAD/commands", {"id": 1, "method": "run.start", "params": {"input": "BAD"}}),
        ("POST", "/runs/wait", {"assistant_id": "investigate", "command": {"update": [["folder", "/etc"]]}}),
        ("POST", "/runs/wait", {"assistant_id": "investigate", "command": {"goto": {"node": "d", "input": "BAD"}}}),
        ("POST", "/assistants", {"graph_id": "ask", "context": {"profile": "/etc/passwd.toml"}}),
        ("POST", "/runs/wait", {"assistant_id": "investigate", "input": {}, "context": {"images": -1}}),
        ("POST", "/runs/wait", {"assistant_id": "ask", "input": {}, "context": {"images": 10}}),
        ("POST", "/runs/wait", {"assistant_id": "chat", "config": {"configurable": {"profile": "../x.toml"}}}),
        ("POST", "/runs/wait", {"assistant_id": "ask", "config": {"configurable": {"snellen": {"profile": "x.toml"}}}}),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "params": {"name": "investigate", "arguments": "BAD"}}),
    ],
)  # fmt: skip
async def test_no_other_way_leads_around_what_is_checked(client: Caller, method: str, path: str, body: object) -> None:
    said = json.dumps(body).replace('"BAD"', '{"query": "Can clip recognize birds?", "folder": "/etc"}')
    address = path.replace("THREAD", await client.thread())
    answer = await client.http.request(method, address, content=said, headers={"content-type": "application/json"})

    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "input"


async def test_a_body_that_cannot_be_read_goes_no_further(client: Caller) -> None:
    deep = '{"assistant_id": "ask", "input": ' + "[" * 900 + "]" * 900 + "}"

    assert (await client.http.post("/runs/wait", content=deep)).status_code == 422
    assert (await client.http.post("/artifacts", content="[" * 9_000, headers=_JSON)).status_code == 400


async def test_nothing_comes_over_a_websocket(client: Caller, address: str) -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    place = f"{address.replace('http', 'ws')}/threads/{await client.thread()}/stream/events"
    with pytest.raises(InvalidStatus, match="403"):
        await connect(place)


async def test_a_reference_to_a_stored_picture_shows_it_in_a_message(client: Caller) -> None:
    content = [{"type": "text", "text": "How many dogs are there?"}, await client.upload(SCENE)]
    ended = await client.run(await client.thread(), "chat", input={"messages": {"type": "human", "content": content}})

    assert said(ended["messages"][-1]["content"]).startswith("There is one dog")


async def test_a_conversation_keeps_references_and_no_pictures(client: Caller, home: Path) -> None:
    thread = await client.thread()
    content = [
        {"type": "text", "text": "How many dogs are there?"},
        {"type": "image", "source_type": "base64", "mime_type": "image/png", "data": data_url(SCENE).split(",")[1]},
    ]
    first = await client.run(thread, "chat", input={"messages": [{"type": "human", "content": content}]})
    why = await client.run(thread, "chat", input={"messages": [{"type": "human", "content": "why?"}]})
    question, answer = first["messages"]
    link = question["content"][1]["url"]

    assert said(answer["content"]).startswith("There is one dog")
    assert "What I planned" in said(why["messages"][-1]["content"])
    assert (await client.http.get(link)).content[:4] == b"\x89PNG"
    with closing(sqlite3.connect(home / DATABASE)) as rows:
        sizes = rows.execute("SELECT MAX(length(checkpoint)), MAX(length(metadata)) FROM checkpoints").fetchone()
    assert max(sizes) < 64_000


async def test_an_investigation_takes_its_settings_from_the_form(client: Caller) -> None:
    thread = await client.thread()
    settings = {"models": ["clip"], "images": 60}
    ended = await client.run(
        thread, "investigate", input={"query": "Can the models recognize fruit?"}, context=settings
    )

    assert ended["models"] == ["clip"]
    assert ended["report"]["conclusion"]
    assert sum(one["rounds"] for one in ended["report"]["experiments"]) > 0
    page = await client.http.get(f"/reports/{thread}")
    assert (page.status_code, "Can the models recognize fruit?" in page.text) == (200, True)


async def test_a_model_that_does_not_exist_is_named_at_once(client: Caller) -> None:
    thread = await client.thread()
    ended = await client.run(
        thread, "investigate", input={"query": "Can it count?"}, context={"models": ["gpt-9"]}, raise_error=False
    )

    assert "gpt-9" in str(ended["__error__"]) or ended["__error__"]["error"] == "BadInput"


async def test_a_thread_of_the_command_line_is_taken_up_on_the_server_and_back(
    client: Caller, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        await asyncio.to_thread(
            main.main, ["ask", str(BEACH), WAVE, "--answer", "yes", "--approve", "--thread", "mine", "--json"]
        )
        == 0
    )
    thread = server_id("owner", "mine")
    listed = {one["thread_id"]: one["metadata"] for one in await client.sdk.threads.search(limit=100)}
    state = await client.sdk.threads.get_state(thread)

    assert dict(listed[thread] or {})["name"] == "mine"
    assert state["next"] == ["learn"]
    ended = await client.run(thread, "ask", command={"resume": {"decisions": [{"type": "approve"}]}})
    assert ended["verdict"] == "right"
    assert (await sessions.ASK.read("mine")).verdict == "right"
    capsys.readouterr()
    assert await asyncio.to_thread(main.main, ["correct", "mine", "--answer", "no", "--json"]) == 0
    assert (await client.values(thread))["expected"] == "no"


async def test_a_thread_of_the_command_line_is_found_among_those_that_wait(client: Caller) -> None:
    thread = server_id("owner", "waits")

    async def listed(status: str) -> dict[str, Any]:
        found = await client.sdk.threads.search(limit=100, status=cast("ThreadStatus", status))
        return {str(one["thread_id"]): one for one in found}

    waits = ["investigate", "Can clip recognize fruit?", "--budget", "images=40", "--approve", "--thread", "waits"]
    assert await asyncio.to_thread(main.main, waits) == 0
    ((request,),) = (await listed("interrupted"))[thread]["interrupts"].values()
    assert [one["name"] for one in request["value"]["action_requests"]] == ["experiment"]
    assert (await client.sdk.threads.get(thread))["status"] == "interrupted"
    assert await asyncio.to_thread(main.main, ["resume", "waits", "--reject"]) == 0
    assert thread not in await listed("interrupted")
    assert "A person refused it" in str((await listed("idle"))[thread]["values"]["report"]["notes"])


async def test_a_run_that_failed_on_the_command_line_is_an_error_with_its_reason(
    client: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trouble(call: str) -> None:
        if call == "write":
            msg = "The chat model did not answer; try again later."
            raise ReasoningFailed(msg)

    def scripted(_: str, folder: Path) -> Context:
        return make_context(folder, reasoner=ScriptedReasoner(before=trouble))

    monkeypatch.setattr(sessions, "make_context", scripted)
    assert await asyncio.to_thread(main.main, ["ask", str(SCENE), "How many dogs are there?", "--thread", "fails"]) == 1

    found = await client.sdk.threads.search(limit=100, status="error")
    (failed,) = [one for one in found if one["thread_id"] == server_id("owner", "fails")]
    assert "The chat model did not answer" in str(cast("dict[str, Any]", failed)["error"])


async def test_a_design_is_edited_on_the_server(client: Caller) -> None:
    thread = await client.thread()
    question = {"query": "Can clip recognize fruit?", "approve": True, "budget": {"images": 40}}
    await client.run(thread, "investigate", input=question)
    ((request,),) = (await client.sdk.threads.get(thread))["interrupts"].values()
    design = request["value"]["action_requests"][0]["args"] | {"purpose": "As a person wants it."}
    edit = {"type": "edit", "edited_action": {"name": "experiment", "args": design}}
    ended = await client.run(thread, "investigate", command={"resume": {"decisions": [edit]}})

    assert ended["report"]["experiments"][0]["design"]["purpose"] == "As a person wants it."


async def test_a_thread_that_is_run_is_not_deleted(client: Caller, home: Path) -> None:
    thread = await client.thread()
    async with running(thread, home):
        assert (await client.http.delete(f"/threads/{thread}")).status_code == 409
    assert (await client.http.delete(f"/threads/{thread}")).status_code == 204


async def test_a_thread_is_deleted_with_what_belongs_to_it_alone(client: Caller, home: Path) -> None:
    blue = home.parent / "blue.png"
    await asyncio.to_thread(PIL.Image.new("RGB", (64, 48), "blue").save, blue)
    picture, thread = await client.upload(blue), await client.thread()
    await client.run(thread, "ask", input={"instruction": "How many dogs are there?", "pictures": [picture]})
    link = f"/artifacts/{picture['id']}.png"
    assert (await client.http.get(link)).status_code == 200

    assert (await client.http.delete(f"/threads/{thread}")).status_code == 204
    assert (await client.http.get(link)).status_code == 404
    assert thread not in thread_ids(home)


def runs_in(home: Path, thread: str) -> set[str]:
    """Return the runs that saved something of a thread."""
    if thread not in thread_ids(home):
        return set()
    with closing(sqlite3.connect(home / DATABASE)) as rows:
        found = rows.execute("SELECT metadata FROM checkpoints WHERE thread_id = ?", [thread]).fetchall()
    return {json.loads(metadata)["run_id"] for (metadata,) in found}


async def test_a_run_that_is_rolled_back_leaves_nothing_behind(client: Caller, home: Path) -> None:
    thread = await client.thread()
    question = {"query": "Can the models recognize fruit?", "budget": {"images": 2_000}}
    runs: Any = client.sdk.runs
    first = await runs.create(thread, "investigate", input=question)
    async with asyncio.timeout(60):
        while first["run_id"] not in await asyncio.to_thread(runs_in, home, thread):  # noqa: ASYNC110 - elsewhere
            await asyncio.sleep(0.1)
    second = {"query": "Can clip recognize fruit?", "budget": {"images": 40}}
    ended = await client.run(thread, "investigate", input=second, multitask_strategy="rollback")
    (run,) = await client.sdk.runs.list(thread)

    assert ended["report"]["conclusion"]
    assert run["run_id"] != first["run_id"]
    async with asyncio.timeout(10):
        while await asyncio.to_thread(runs_in, home, thread) != {run["run_id"]}:  # noqa: ASYNC110 - elsewhere
            await asyncio.sleep(0.1)


async def test_a_finished_run_is_deleted_with_what_it_saved_and_nothing_else(client: Caller, home: Path) -> None:
    thread = await client.thread()
    for question in ("How many dogs are there?", "Is there a dog?"):
        await client.run(thread, "ask", input={"instruction": question, "pictures": [await client.upload(SCENE)]})
    last, first = await client.sdk.runs.list(thread)
    await client.sdk.runs.delete(thread, last["run_id"])

    assert [one["run_id"] for one in await client.sdk.runs.list(thread)] == [first["run_id"]]
    assert runs_in(home, thread) == {first["run_id"]}
    assert (await client.values(thread))["answer"] == 1


async def test_a_thread_is_copied_and_goes_its_own_way(client: Caller) -> None:
    thread = await client.thread()
    task = {"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    await client.run(thread, "ask", input=task)
    copy = str(cast("dict[str, Any]", await client.sdk.threads.copy(thread))["thread_id"])
    await client.run(copy, "ask", input=task | {"instruction": "Is there a dog?"})

    assert (await client.values(copy))["answer"] == "yes"
    assert (await client.values(thread))["answer"] == 1


async def test_its_mcp_endpoint_lists_the_graphs_and_calls_them(client: Caller) -> None:
    headers = {"accept": "application/json, text/event-stream"}

    async def call(method: str, params: dict[str, object]) -> dict[str, Any]:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = await client.http.post("/mcp/", json=body, headers=headers, follow_redirects=True)
        assert answer.status_code == 200
        return dict(answer.json()["result"])

    tools = {one["name"] for one in (await call("tools/list", {}))["tools"]}
    task = {"instruction": "How many dogs are there?", "pictures": [await client.upload(SCENE)]}
    came = await call("tools/call", {"name": "ask", "arguments": task})

    assert tools == {"ask", "learn", "investigate", "chat"}
    assert "'answer': 1" in came["content"][0]["text"]


async def test_a_page_of_somebody_else_cannot_use_the_server(client: Caller) -> None:
    strange = {"origin": "https://evil.example", "content-type": "application/json"}

    assert (await client.http.post("/threads", json={}, headers=strange)).status_code == 403
    assert (await client.http.get("/ok", headers={"host": "evil.example"})).status_code == 400


def test_langgraph_json_says_what_the_command_does() -> None:
    written = json.loads((ROOT / "langgraph.json").read_text())

    assert written == {"dependencies": ["."], "env": ENVIRONMENT, **configuration("./snellen/serving/studio")}


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, dict[str, str]]]:
    home = tmp_path_factory.mktemp("shared") / "home"
    home.mkdir()
    tokens = {name: Tokens(home).add(name) for name in ("owner", "ann", "bob", "cleo")}
    with studio(home, home.parent / "log") as found:
        yield found, home, tokens


@pytest.mark.slow
async def test_users_see_their_own_threads_and_pictures_alone(
    shared_server: tuple[str, Path, dict[str, str]],
) -> None:
    address, home, tokens = shared_server
    async with (
        calling(address, tokens["ann"]) as ann,
        calling(address, tokens["bob"]) as bob,
        calling(address) as nobody,
    ):
        picture = await ann.upload(SCENE)
        thread = await ann.thread()
        task = {"instruction": "How many dogs are there?", "pictures": [picture]}
        assert (await ann.run(thread, "ask", input=task))["answer"] == 1

        assert [one["thread_id"] for one in await ann.sdk.threads.search()] == [thread]
        assert await bob.sdk.threads.search() == []
        theirs = bob.sdk.threads
        for refused in (theirs.get(thread), theirs.get_state(thread), theirs.delete(thread)):
            with pytest.raises(httpx.HTTPStatusError, match="not found"):
                await refused
        link = f"/artifacts/{picture['id']}.png"
        assert [(await one.http.get(link)).status_code for one in (ann, bob, nobody)] == [200, 404, 401]
        assert (await nobody.http.post("/threads/search", json={})).status_code == 401
    assert thread in thread_ids(home / "users" / "ann")
    assert thread not in thread_ids(home)


async def test_with_tokens_too_a_user_finds_what_was_begun_elsewhere_and_nothing_of_others(
    shared_server: tuple[str, Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, home, tokens = shared_server
    for folder in (home, home / "users" / "cleo"):
        folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("SNELLEN_HOME", str(folder))
        ask = ["ask", str(SCENE), "How many dogs are there?", "--thread", f"of-{folder.name}", "--json"]
        assert await asyncio.to_thread(main.main, ask) == 0
    async with calling(address, tokens["owner"]) as owner, calling(address, tokens["cleo"]) as cleo:
        for caller, name in ((owner, "of-home"), (cleo, "of-cleo")):
            found = [dict(one["metadata"] or {})["name"] for one in await caller.sdk.threads.search()]
            assert found == [name]
        task = {"instruction": "Is there a dog?", "pictures": [await cleo.upload(SCENE)]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": task}}
        accept = {"accept": "application/json, text/event-stream"}
        assert "'answer': 'yes'" in (await cleo.http.post("/mcp", json=call, headers=accept)).text
        hourly = {"assistant_id": "ask", "schedule": "0 * * * *", "input": {}}
        assert (await cleo.http.post("/runs/crons", json=hourly)).status_code == 403


@pytest.mark.slow
async def test_in_postgres_a_thread_goes_from_the_server_to_the_command_line(
    in_postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("SNELLEN_HOME", str(home))
    with studio(home, tmp_path / "log") as address:
        async with calling(address) as client:
            thread = await client.thread()
            task = {"instruction": WAVE, "pictures": [await client.upload(BEACH)], "expected": "yes", "approve": True}
            await client.run(thread, "ask", input=task)
            assert (await client.sdk.threads.get_state(thread))["next"] == ["learn"]
            assert await asyncio.to_thread(main.main, ["resume", thread, "--reject", "--json"]) == 0
            assert (await client.values(thread))["verdict"] == "wrong"
    assert in_postgres.startswith("postgresql://")
    assert not (home / DATABASE).exists()
