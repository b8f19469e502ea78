"""The page's parts without a browser: traces, Markdown, designs, the middleware around Gradio, generations of views."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from starlette.types import Message, Send

from snellen.errors import BadInput
from snellen.experiments.design_text import design_of
from snellen.graphs.states import AskState
from snellen.page.chat_tab import safe_markdown
from snellen.page.context import ViewGenerations
from snellen.page.gradio_middleware import GradioMiddleware
from snellen.page.html import address, trace_html
from snellen.page.trace import MAX_STEPS, ThreadTrace, trace_of
from snellen.threads.events import LearningProgress, NodeFinished, StepFinished, Waits
from snellen.tools.program import StepRecord

HOSTILE = "<img src=x onerror=alert(1)>"


@given(st.text("<>![]()\\`*_:#&$\n ahref/.jpsct'\"=", max_size=60))
def test_markdown_of_others_makes_no_element_that_loads_or_runs(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(safe_markdown(text))

    assert not any(tag in html for tag in ("<img", "<a ", "<script", "<iframe"))


@pytest.mark.parametrize("text", ["![a](http://x/y.png)", "[a](javascript:x)", "![a][b]\n\n[b]: http://x", HOSTILE])
def test_markdown_of_others_keeps_its_words(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(safe_markdown(text))

    assert "<img" not in html
    assert "<a " not in html
    assert "a" in html


def test_a_trace_grows_with_its_events() -> None:
    trace = ThreadTrace()
    for event in (
        NodeFinished("plan", {"plan": ["look", "count"]}),
        NodeFinished("write", {"program": "X=LOC()"}),
        *(StepFinished({"address": str(number)}) for number in range(MAX_STEPS + 5)),
    ):
        trace = trace.with_event(event)

    assert (trace.plan, trace.program, trace.activity) == (("look", "count"), "X=LOC()", "running the program")
    assert [one["address"] for one in (trace.steps[0], trace.steps[-1])] == ["5", str(MAX_STEPS + 4)]
    assert trace.with_event(NodeFinished("write", {"program": "Y"})).steps == ()
    assert trace.with_event(Waits("t", {})).activity == ""


_REVISION = {"kind": "error", "trouble": "Step 1 <failed>.", "change": "Look.", "program": "A", "revised": "B"}


@pytest.mark.parametrize("helped", [True, False])
def test_a_trace_shows_revisions(tmp_path: Path, helped: bool) -> None:  # noqa: FBT001 - a case of the test
    step = StepRecord("1", 1, "X", "LOC").to_json()
    trace = ThreadTrace(plan=("look",), program="A", steps=(step,))
    running = trace.with_event(NodeFinished("run", {"revisions": [], "trouble": {"kind": "error"}}))
    revised = running.with_event(
        NodeFinished("revise", {"revisions": [_REVISION | {"helped": None}], "program": "B", "plan": ["see"]})
    )
    run: dict[str, Any] = {"revisions": [_REVISION | {"helped": helped}], "trouble": {}}
    if not helped:
        run |= {"program": "A", "plan": ["look"], "steps": [step]}
    done = revised.with_event(StepFinished(step | {"source": "Y"})).with_event(NodeFinished("run", run))

    assert (running.activity, revised.activity, done.activity) == (
        "revising the program",
        "running the revised program",
        "judging",
    )
    assert (revised.program, revised.plan, revised.steps) == ("B", ("see",), ())
    assert (done.program, done.steps[0]["source"]) == (("B", "Y") if helped else ("A", "X"))
    html = trace_html(done, tmp_path)
    stopped = AskState(program="B", steps=[step], revisions=[_REVISION | {"helped": None}], best_run={"program": "A"})
    assert (trace_of(stopped).program, trace_of(stopped).steps) == ("B", ())
    assert "Step 1 &lt;failed&gt;. Look." in html
    assert ("It helped." in html) == helped


@pytest.mark.parametrize(
    ("told", "share"), [({"done": 3, "of": 4}, 0.75), ({"done": 9, "of": 4}, 1.0), ({"of": 0}, None)]
)
def test_progress_is_a_share_where_there_is_one(told: dict[str, Any], share: float | None) -> None:
    assert ThreadTrace().with_event(LearningProgress({"phase": "tune", "need": "LOC: owl"} | told)).share == share


def test_what_a_trace_says_is_escaped(tmp_path: Path) -> None:
    html = trace_html(ThreadTrace(plan=(HOSTILE,), program=HOSTILE, answers=(HOSTILE,), activity=HOSTILE), tmp_path)

    assert "<img" not in html
    assert html.count("&lt;img") >= 4


def test_only_ids_of_pictures_become_addresses() -> None:
    assert address("a" * 64) == f"/artifacts/{'a' * 64}.png"
    assert address("../../secret") == address("A" * 64) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[" * 50_000, "not valid JSON|cannot be used"),
        ("{}", "cannot be used"),
        (" " * 70_000, "characters"),
    ],
)
def test_a_design_that_is_none_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        design_of(text, ["clip"])


def test_who_follows_another_thread_overtakes_who_followed_before() -> None:
    generations = ViewGenerations()
    one, two = (cast("Any", SimpleNamespace(session_hash=name)) for name in ("a", "b"))
    first, elsewhere, other_tab = (
        generations.begin(one, "chat"),
        generations.begin(two, "chat"),
        generations.begin(one, "threads"),
    )
    second = generations.begin(one, "chat")

    assert [is_shown() for is_shown in (first, elsewhere, other_tab, second)] == [False, True, True, True]


async def _asked(path: str, *, user: str, fence: GradioMiddleware, method: str = "GET") -> int:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)

    state = {"user": SimpleNamespace(name=user)}
    await fence({"type": "http", "method": method, "path": path, "headers": [], "state": state}, receive, send)
    return int(sent[0]["status"])


async def test_an_uploaded_file_is_shown_to_whoever_uploaded_it() -> None:
    async def gradio(scope: object, receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(["/cache/one.png"]).encode()})

    fence = GradioMiddleware(gradio)
    shown = "/gradio_api/file=/cache/one.png"
    assert await _asked(shown, user="ann", fence=fence) == 404
    assert await _asked("/gradio_api/upload", user="ann", fence=fence, method="POST") == 200
    assert await _asked(shown, user="ann", fence=fence) == 200
    assert await _asked(shown, user="bob", fence=fence) == 404
    assert await _asked("/gradio_api/file=/etc/passwd", user="ann", fence=fence) == 404
    assert await _asked("/gradio_api/info", user="ann", fence=fence) == 404
    assert await _asked("/gradio_api/queue/join", user="ann", fence=fence) == 200
