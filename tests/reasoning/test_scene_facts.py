"""Questions written and tuples read by a chat model, over real HTTP against a scripted server on loopback."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import pytest
from PIL import Image

from snellen.datasets.prove import Pictured
from snellen.profiles import load_profile
from snellen.reasoning import make_question_writer
from snellen.reasoning.llm.scene_facts import ChatQuestionWriter, ChatStatements
from snellen.scoring.scene_graph import Fact
from tests.servers.openai_server import Reply, Script, openai_server

SCENE = Pictured(
    "one", Image.new("RGB", (8, 8)), "A red dog.", (Fact("dog"), Fact("dog", attribute="red", kind="color"))
)
QUESTION = {"kind": "color", "question": "What color is the dog?", "answer": "The dog is red.",
            "program": "def verify(g):\n    return 'red'"}  # fmt: skip
TUPLE = {"entity": "Dog ", "attribute": "Red", "relation": "", "target": "", "kind": "color", "negated": False}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def made(script: Script) -> tuple[ChatQuestionWriter, ChatStatements]:
    embedded = load_profile("embedded")
    chosen = {"kind": "chat", "model": "scripted", "base_url": script.base_url, "max_retries": 0, "timeout": 5.0}
    profile = embedded.model_copy(update={"reasoner": embedded.reasoner.model_copy(update=chosen)})
    writer, reader = make_question_writer(profile)
    assert isinstance(writer, ChatQuestionWriter)
    assert isinstance(reader, ChatStatements)
    return writer, reader


def served(replies: Sequence[dict[str, Any]]) -> AbstractContextManager[Script]:
    return openai_server([Reply(reply) for reply in replies])


async def test_questions_are_typed_and_bad_ones_go_back() -> None:
    with served(
        [{"questions": []}, {"questions": [{**QUESTION, "program": "x" * 20_000}]}, {"questions": [QUESTION] * 3}]
    ) as script:
        drafts = await made(script)[0].write(SCENE, 0)
        assert [draft.question for draft in drafts] == ["What color is the dog?"], "each question once"
        assert "There is no question in it" in script.said(1)
        assert "10,000 characters" in script.said(2)
        assert "| A red dog." in script.said(0), "what others wrote is fenced"


async def test_texts_are_read_once_and_lists_must_fit() -> None:
    replies: list[dict[str, Any]] = [{"texts": []}, {"texts": [[TUPLE], []]}]
    with served(replies) as script:
        reader = made(script)[1]
        found = await reader.read_all(
            [("red", "What color is the dog?"), ("no idea", ""), ("", ""), ("red", "What color is the dog?")]
        )
        red = [Fact("dog", attribute="red", kind="color")]
        assert found == [red, [], [], red]
        assert await reader.read_all([("no idea", "")]) == [[]]
        assert len(script.requests) == 2
        assert "There are 2 texts, and 0 lists" in script.said(1)


async def test_a_tuple_that_is_none_is_left_out_and_counted_beside_others() -> None:
    broken = {**TUPLE, "relation": "above"}
    with served([{"texts": [[broken, TUPLE], []]}]) as script:
        reader = made(script)[1]
        found = await reader.read_all([("a red dog", ""), ("nothing", "")])
        assert found == [[Fact("dog", attribute="red", kind="color")], []]
        assert reader.unreadable == 1


async def test_tuples_that_are_none_go_back() -> None:
    broken = {**TUPLE, "relation": "above"}
    with served([{"texts": [[broken]]}, {"texts": [[{**TUPLE, "attribute": "", "negated": True}]]}]) as script:
        assert await made(script)[1].premises(["Is there no dog?"]) == [[Fact("dog", kind="color", negated=True)]]
        assert "is no tuple of a scene graph" in script.said(1)
        assert "A question alone: Is there no dog?" in script.said(0)
