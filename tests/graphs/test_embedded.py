"""Graphs in other people's programs: inside graphs with a context of their own, run with and without await."""

from __future__ import annotations

import asyncio
import base64
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Overwrite
from pydantic import BaseModel
from typing_extensions import TypedDict

from snellen.errors import BadInput
from snellen.graphs import ask, chat, investigate, learn
from snellen.graphs.messages import reference, text_of
from snellen.graphs.states import STATE_TYPES, AskState
from snellen.learning.records import Need
from snellen.memory.background_loop import blocking
from snellen.memory.checkpoints import blocking_checkpoints, serializer
from snellen.memory.home import home as memory_home
from snellen.runtime.context import Context
from snellen.runtime.input_pictures import no_paths, stored_pictures
from snellen.runtime.resources import open_pictures, resources
from snellen.runtime.settings import InvestigationSettings, RunSettings, given_in
from snellen.tuning import POOL_OF_TOOL
from snellen.values import Picture, from_json
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import make_context

SCENE = Path(__file__).parents[2] / "examples" / "scene.png"
TASK: dict[str, Any] = {"instruction": "How many dogs are there?", "pictures": [str(SCENE)]}
RATE = 0.97


@pytest.fixture(autouse=True)
def made(home: Path) -> None:
    home.mkdir()


THREAD: Any = {"configurable": {"thread_id": "t"}}


class Plain(TypedDict):
    tenant: str


class Keyed(TypedDict):
    tenant: str
    snellen: dict[str, Any]


class Modelled(BaseModel):
    tenant: str
    profile: int = 3


@dataclass
class Classy:
    tenant: str
    models: tuple[str, ...] = ()
    snellen: RunSettings = field(default_factory=lambda: RunSettings(profile="embedded"))


class Outer(TypedDict, total=False):
    instruction: str
    pictures: list[Any]
    answer: Any
    mine: str


@dataclass
class OuterClass:
    instruction: str = ""
    pictures: list[Any] = field(default_factory=list)
    answer: Any = None
    mine: str = ""


PARENTS: list[tuple[Any, Any]] = [
    (None, None),
    (None, {"tenant": "a"}),
    (None, {"profile": "embedded"}),
    (Plain, {"tenant": "a"}),
    (Keyed, {"tenant": "a", "snellen": {"profile": "embedded"}}),
    (Modelled, Modelled(tenant="a")),
    (Modelled, {"tenant": "a"}),
    (Classy, Classy("a")),
    (None, object()),
]


def parent(state: type[Any], schema: Any, action: Any, **options: Any) -> Any:  # noqa: ANN401 - a compiled graph
    outer = StateGraph(state, context_schema=schema)
    outer.add_node("look", action)
    outer.add_edge(START, "look")
    return outer.compile(**options)


@pytest.mark.parametrize(("schema", "given"), PARENTS)
@pytest.mark.parametrize("state", [Outer, OuterClass])
async def test_a_graph_is_a_node_of_any_other(state: type[Any], schema: type[Any] | None, given: object) -> None:
    outer = parent(state, schema, ask.graph)
    ended = await outer.ainvoke({**TASK, "mine": "kept"}, context=given)

    assert (ended["answer"], ended["mine"]) == (1, "kept")


@pytest.mark.parametrize(("schema", "given"), PARENTS)
def test_it_is_so_without_await(schema: type[Any] | None, given: object) -> None:
    assert parent(Outer, schema, ask.graph).invoke(dict(TASK), context=given)["answer"] == 1


async def test_it_is_called_inside_a_node_and_told_what_to_use() -> None:
    async def look(state: Outer) -> Outer:
        ended = await ask.graph.ainvoke(state, context={"profile": "embedded"})
        return {"answer": ended["answer"]}

    outer = parent(Outer, Plain, look, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}

    assert (await outer.ainvoke(dict(TASK), config, context={"tenant": "a"}))["answer"] == 1


def test_it_is_called_inside_a_synchronous_node_of_a_graph_that_saves(tmp_path: Path) -> None:
    def look(state: Outer) -> Outer:
        return {"answer": ask.graph.invoke(state)["answer"]}

    with SqliteSaver.from_conn_string(str(tmp_path / "outer.sqlite")) as saver:
        outer = parent(Outer, Plain, look, checkpointer=saver)
        assert outer.invoke(dict(TASK), THREAD, context={"tenant": "a"})["answer"] == 1


def test_the_saver_of_the_home_keeps_classes_of_other_peoples_graphs(home: Path) -> None:
    with blocking_checkpoints(home) as saver:
        outer = parent(OuterClass, None, ask.graph, checkpointer=saver)
        outer.invoke(dict(TASK), THREAD)

        assert outer.get_state(THREAD).values["answer"] == 1


async def test_what_the_configuration_says_counts_where_the_context_says_nothing() -> None:
    outer = parent(Outer, Plain, ask.graph)
    strange: Any = {"configurable": {"snellen": {"profile": "no such profile"}}}

    with pytest.raises(BadInput, match="no such profile"):
        await outer.ainvoke(dict(TASK), strange, context={"tenant": "a"})
    assert (await outer.ainvoke(dict(TASK), strange, context={"snellen": {"profile": "embedded"}}))["answer"] == 1


class Question(TypedDict, total=False):
    query: str
    models: list[str]
    approve: bool
    report: dict[str, Any]


def examining(folder: Path) -> Context:
    return replace(make_context(folder), examination=watched(folder, Oracle({"sound": lambda *_: RATE})))


def test_a_person_answers_a_graph_inside_another_through_its_saver(tmp_path: Path) -> None:
    given = {"tenant": "a", "snellen": examining(tmp_path)}
    with SqliteSaver.from_conn_string(str(tmp_path / "outer.sqlite")) as saver:
        outer = parent(Question, None, investigate.graph, checkpointer=saver)
        asked = {"query": "Can sound recognize birds?", "models": ["sound"], "approve": True}
        told = outer.invoke(asked, THREAD, context=given)
        names = []
        while "__interrupt__" in told:
            names.append(told["__interrupt__"][0].value["action_requests"][0]["name"])
            told = outer.invoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD, context=given)

    assert set(names) == {"experiment"}
    assert told["report"]["conclusion"]


@pytest.mark.parametrize(
    ("context", "profile"),
    [
        (None, None),
        ({}, None),
        ({"tenant": "a", "profile": "theirs"}, None),
        ({"profile": "anna"}, None),
        ({"models": {"a": 1}, "seconds": "many"}, None),
        ({"profile": "theirs", "tenant": 3, "snellen": {"profile": "hub"}}, "hub"),
        ({"snellen": InvestigationSettings(profile="hub")}, "hub"),
        (Modelled(tenant="a"), None),
        (RunSettings(profile="hub"), "hub"),
        (7, None),
    ],
)
def test_only_what_is_ours_is_read_from_a_context(context: object, profile: str | None) -> None:
    given = given_in(context, {})

    assert (given.profile if isinstance(given, RunSettings) else None) == profile


@pytest.mark.parametrize("wrong", [{"snellen": {"profile": 3}}, {"images": -1}, {"snellen": {"alpha": "x"}}])
def test_a_setting_that_cannot_be_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"The setting '(profile|images|alpha)' cannot be used"):
        ask.graph.invoke(TASK, context=cast("Any", wrong))


@dataclass
class Owning:
    models: str = "a table of theirs"


@pytest.mark.parametrize("given", [{"profile": "anna"}, {"models": {"a": 1}}, {"seconds": "many"}, Owning()])
async def test_a_graph_around_means_its_own_fields(given: object) -> None:
    assert (await parent(Outer, None, ask.graph).ainvoke(dict(TASK), context=given))["answer"] == 1


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("embedded", "is 'str': give a dict of settings"),
        (5, "is 'int': give a dict of settings"),
        ({"nope": 1}, "There is no setting 'nope'"),
    ],
)
def test_settings_of_a_wrong_form_are_refused(given: object, why: str) -> None:
    context: Any = {"snellen": given}
    with pytest.raises(BadInput, match=why):
        parent(Outer, None, ask.graph).invoke(dict(TASK), context=context)
    with pytest.raises(BadInput, match=why):
        ask.graph.invoke(TASK, context=context)
    with pytest.raises(BadInput, match=why):
        ask.graph.invoke(TASK, cast("Any", {"configurable": context}))


@pytest.mark.parametrize("given", [{"tenant": "a"}, 7, Plain, Owning()])
def test_a_caller_is_told_that_a_context_is_none_of_ours(given: Any) -> None:  # noqa: ANN401 - anything
    with pytest.raises(BadInput, match="under 'snellen'"):
        ask.graph.invoke(TASK, context=given)


def test_a_callers_settings_are_taken_by_name() -> None:
    with pytest.raises(BadInput, match="no profile 'anna'"):
        ask.graph.invoke(TASK, context=cast("Any", {"profile": "anna"}))


# --- without await -------------------------------------------------------------------------------------------


@contextmanager
def in_sqlite(folder: Path) -> Iterator[Any]:
    with SqliteSaver.from_conn_string(str(folder / "mine.sqlite")) as saver:
        saver.serde = serializer(STATE_TYPES)
        yield saver


@contextmanager
def in_memory(_: Path) -> Iterator[Any]:
    yield InMemorySaver(serde=serializer(STATE_TYPES))


@contextmanager
def in_the_home(folder: Path) -> Iterator[Any]:
    with blocking_checkpoints(folder, state_types=STATE_TYPES) as saver:
        yield saver


Saving = Callable[[Path], Any]
SAVING: list[Saving] = [in_sqlite, in_memory, in_the_home]


@pytest.mark.parametrize("saving", SAVING)
def test_a_task_is_run_looked_back_into_and_changed_without_await(saving: Saving, tmp_path: Path) -> None:
    with saving(tmp_path) as saver:
        graph = ask.builder.compile(checkpointer=saver)
        told = list(graph.stream(TASK, THREAD, context={"profile": "embedded"}, stream_mode=["custom", "updates"]))
        before = next(one for one in graph.get_state_history(THREAD) if one.next == ("run",))
        program = 'ANSWER0=EVAL(expr="6*7")\nFINAL_RESULT=RESULT(var=ANSWER0)'
        changed = graph.update_state(before.config, {"program": program})
        again = graph.invoke(None, changed)

    assert {mode for mode, _ in told} == {"custom", "updates"}
    assert next(chunk["step"]["tool"] for mode, chunk in told if mode == "custom") == "LOC"
    assert [next(iter(chunk)) for mode, chunk in told if mode == "updates"] == [
        "read", "recall", "plan", "write", "run", "judge", "remember",
    ]  # fmt: skip
    assert again["answer"] == 42


@pytest.mark.parametrize("saving", SAVING)
async def test_it_is_so_in_a_notebook_whose_thread_has_a_running_loop(saving: Saving, tmp_path: Path) -> None:
    assert asyncio.get_running_loop().is_running()
    with saving(tmp_path) as saver:
        graph = ask.builder.compile(checkpointer=saver)
        assert graph.invoke(TASK, THREAD)["answer"] == 1
        if not isinstance(saver, SqliteSaver):
            assert (await graph.ainvoke(TASK, {"configurable": {"thread_id": "other"}}))["answer"] == 1
        assert graph.get_state(THREAD).values["answer"] == 1


@pytest.mark.parametrize("saving", SAVING)
def test_a_conversation_runs_the_other_graphs_without_await(saving: Saving, tmp_path: Path) -> None:
    picture = {"type": "image", "base64": base64.b64encode(SCENE.read_bytes()).decode(), "mime_type": "image/png"}
    with saving(tmp_path) as saver:
        graph = chat.builder.compile(checkpointer=saver)
        said: list[str | dict[Any, Any]] = [{"type": "text", "text": "How many dogs are there?"}, picture]
        first = graph.invoke({"messages": [HumanMessage(said)]}, THREAD)
        why = graph.invoke({"messages": [HumanMessage("why?")]}, THREAD)

    assert "one dog" in text_of(first["messages"][-1])
    assert "What I planned" in text_of(why["messages"][-1])


def test_a_conversation_needs_no_thread_of_the_pool_that_its_nodes_use() -> None:
    async def use(pool: ThreadPoolExecutor) -> None:
        asyncio.get_running_loop().set_default_executor(pool)

    content = [{"type": "text", "text": "How many dogs are there?"}, reference(picture())]
    blocking(use(ThreadPoolExecutor(1)))
    try:
        told = chat.graph.invoke({"messages": [HumanMessage(cast("Any", content))]})
    finally:
        blocking(use(ThreadPoolExecutor()))
    assert "one dog" in text_of(told["messages"][-1])


def picture() -> Picture:
    return open_pictures(memory_home()).ingest(SCENE)


@pytest.mark.parametrize("saving", SAVING)
def test_a_person_decides_without_await(saving: Saving, tmp_path: Path) -> None:
    given = examining(tmp_path)
    question = {"query": "Can sound recognize birds?", "models": ["sound"], "approve": True, "investigation": "t"}
    with saving(tmp_path) as saver:
        graph = investigate.builder.compile(checkpointer=saver)
        config: Any = {**THREAD, "recursion_limit": 4_000}
        stopped = graph.invoke(question, config, context=given)
        while "__interrupt__" in stopped:
            stopped = graph.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config, context=given)

    assert stopped["report"]["conclusion"]


def test_learning_runs_without_await(tmp_path: Path) -> None:
    with in_sqlite(tmp_path) as saver:
        graph = learn.builder.compile(checkpointer=saver)
        needs = [Need("LOC", "dog").to_json()]
        stopped = graph.invoke({"needs": needs, "approve": True}, THREAD, context={"profile": "embedded"})
        request = stopped["__interrupt__"][0].value
        ended = graph.invoke(Command(resume={"decisions": [{"type": "reject"}]}), THREAD)

    assert request["action_requests"][0]["args"]["concept"] == "dog"
    assert "It was not approved" in ended["learned"][0]["trouble"]


def test_whoever_interrupts_a_synchronous_run_ends_its_node() -> None:
    # A shell's background job begins with SIGINT ignored, and then nothing would be interrupted.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = threading.Event()

    async def endless() -> None:
        main = threading.main_thread().ident or 0
        asyncio.get_running_loop().call_later(0.1, lambda: signal.pthread_kill(main, signal.SIGINT))
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    try:
        with pytest.raises(KeyboardInterrupt):
            blocking(endless())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.wait(5)


def test_a_synchronous_call_on_the_background_loop_says_so_and_waits_for_nothing() -> None:
    async def inner() -> None:
        blocking(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="wait for itself"):
        blocking(inner())


# --- what a graph takes, and gives ---------------------------------------------------------------------------


@pytest.mark.parametrize("module", [ask, learn, investigate, chat])
def test_forms_are_short_and_every_field_is_described(module: ModuleType) -> None:
    takes, gives = module.graph.get_input_jsonschema(), module.graph.get_output_jsonschema()

    assert 1 < len(takes["properties"]) <= 6
    assert len(gives["properties"]) <= 15
    assert all(one.get("description") for one in takes["properties"].values())
    assert not {"demonstrations", "attempts", "described"} & {*takes["properties"], *gives["properties"]}


def test_what_can_be_learned_is_what_tools_learn() -> None:
    (lesson,) = learn.graph.get_input_jsonschema()["$defs"].values()

    assert set(lesson["properties"]["tool"]["enum"]) == set(POOL_OF_TOOL)


def as_path() -> str:
    return str(SCENE)


def as_data() -> str:
    return "data:image/png;base64," + base64.b64encode(SCENE.read_bytes()).decode()


def as_block() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": as_data()}}


def as_reference() -> dict[str, Any]:
    return stored_pictures([SCENE])[0]


def as_id() -> str:
    return str(as_reference()["id"])


@pytest.mark.parametrize("given", [as_path, as_data, as_block, as_reference, as_id, lambda: SCENE])
async def test_a_picture_is_given_in_any_form_and_reaches_no_checkpoint(given: Callable[[], Any]) -> None:
    saver = InMemorySaver(serde=serializer(STATE_TYPES))
    graph = ask.builder.compile(checkpointer=saver)
    ended = await graph.ainvoke({**TASK, "pictures": [given()]}, THREAD)
    (picture,) = graph.get_state(THREAD).values["pictures"]

    assert ended["answer"] == 1
    assert from_json(picture).id == as_id()
    assert "base64" not in str(list(saver.list(THREAD)))
    assert set(ended) <= set(graph.get_output_jsonschema()["properties"])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"pictures": ["https://example.org/dog.png"]}, "is an address, which is not looked up"),
        ({"pictures": ["data:image/png;base64,!!!"]}, "cannot be read"),
        ({"pictures": ["missing.png"]}, "missing.png"),
        ({"pictures": [{"id": "0" * 64}]}, "is none: give a path"),
        ({"pictures": ["0" * 64]}, "There is no picture"),
        ({"pictures": [str(SCENE)] * 9}, "at most 8"),
        ({"pictures": 3}, "'pictures'"),
        ({"family": "poem"}, "'family'"),
        ({"instruction": 3}, "'instruction'"),
    ],
)
async def test_what_cannot_be_used_is_said_before_anything_begins(given: dict[str, Any], why: str) -> None:
    saver = InMemorySaver(serde=serializer(STATE_TYPES))
    with pytest.raises(BadInput, match=why):
        await ask.builder.compile(checkpointer=saver).ainvoke(TASK | given, THREAD)

    assert not list(saver.list(None))


def test_paths_are_read_for_those_alone_who_sit_at_the_machine() -> None:
    with no_paths(), pytest.raises(BadInput, match="no files are read for whoever asks over the network"):
        ask.graph.invoke(TASK)

    assert ask.graph.invoke(TASK)["answer"] == 1


async def test_a_whole_state_may_be_given_and_paths_stand_in_it_too(home: Path) -> None:
    state = AskState(instruction="Is there a dog?", pictures=[str(SCENE)])  # type: ignore[list-item]

    assert (await ask.graph.ainvoke(state, context=resources("embedded", home)))["answer"] == "yes"


# --- updates -------------------------------------------------------------------------------------------------

CHANGE: dict[str, Any] = {"instruction": "Is there a dog?", "pictures": [str(SCENE)]}
UPDATES: list[Any] = [CHANGE, list(CHANGE.items()), AskState(**CHANGE)]


@pytest.mark.parametrize("update", UPDATES)
async def test_a_command_and_an_update_bring_pictures_as_an_input_does(update: Any) -> None:  # noqa: ANN401 - any form
    saver = InMemorySaver(serde=serializer(STATE_TYPES))
    graph = ask.builder.compile(checkpointer=saver)
    commanded = await graph.ainvoke(Command(update=update, goto="read"), THREAD)
    (picture,) = graph.get_state(THREAD).values["pictures"]

    assert commanded["answer"] == "yes"
    assert from_json(picture).id == as_id()


async def test_a_state_is_updated_with_a_path() -> None:
    graph = ask.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    graph.invoke(TASK, THREAD)
    graph.update_state(THREAD, CHANGE, as_node=START)
    assert graph.invoke(None, THREAD)["answer"] == "yes"

    await graph.aupdate_state(THREAD, TASK, as_node=START)
    assert graph.invoke(None, THREAD)["answer"] == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"instruction": 5}, "'instruction'"),
        ({"pictures": ["missing.png"]}, "missing.png"),
        ({"pictures": Overwrite([str(SCENE)])}, "'pictures'"),
        ({"instruction": "a \ud800 b"}, "'instruction' holds text that is no valid Unicode"),
    ],
)
async def test_an_update_that_cannot_be_changes_nothing(change: dict[str, Any], why: str) -> None:
    graph = ask.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    graph.invoke(TASK, THREAD)
    before = graph.get_state(THREAD).config
    with pytest.raises(BadInput, match=why):
        graph.update_state(THREAD, change, as_node=START)
    with pytest.raises(BadInput, match=why):
        await graph.aupdate_state(THREAD, change, as_node=START)
    with pytest.raises(BadInput, match=why):
        await graph.ainvoke(Command(update=change, goto="recall"), THREAD)
    with pytest.raises(BadInput, match=why):
        graph.invoke(TASK | change, THREAD)

    assert graph.get_state(THREAD).config == before


# --- input that is none --------------------------------------------------------------------------------------


@pytest.mark.parametrize("messages", [5, [{"role": "user"}], [{"role": "poet", "content": "x"}], [None]])
async def test_messages_that_are_none_are_refused_in_a_sentence(messages: object) -> None:
    with pytest.raises(BadInput, match="'messages' cannot be set so"):
        await chat.graph.ainvoke(cast("Any", {"messages": messages}))


@pytest.mark.parametrize("given", [{}, {"concept": "x"}, {"needs": []}])
async def test_learning_nothing_is_refused_in_a_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="nothing to learn"):
        await learn.graph.ainvoke(cast("Any", {"seed": 0, **given}))


@pytest.mark.parametrize("path", ["~nosuch/x.png", "\x00", "a\x00b", "\ud800.png"])
def test_what_cannot_be_a_path_is_refused_in_a_sentence(path: str) -> None:
    with pytest.raises(BadInput):
        ask.graph.invoke(TASK | {"pictures": [path]})
