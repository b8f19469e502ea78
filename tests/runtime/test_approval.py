"""Answers to what a person is asked: read, or sent back with what was wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from snellen.errors import BadInput
from snellen.graphs import investigate, learn
from snellen.graphs.states import STATE_TYPES, InvestigateState
from snellen.memory.checkpoints import serializer
from snellen.runtime.approval import decisions_in, rejections
from tests.graphs.test_embedded import examining

THREAD: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 4_000}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["decisions", "type", "message", "x"]) | st.text(max_size=5), inner, max_size=3
        )
    ),
    max_leaves=8,
)
ANSWERS = JSON | st.fixed_dictionaries({"decisions": st.lists(st.fixed_dictionaries({"type": JSON}), max_size=3)})

WRONG: list[tuple[Any, str]] = [
    ("yes", "The answer is 'yes', no object."),
    (["approve"], "The answer is a list of 1, no object."),
    ({"decision": []}, "The answer has no field 'decisions', but 'decision'."),
    ({"decisions": "approve"}, "Its decisions are 'approve', no list."),
    ({"decisions": []}, "0 were decided about, and 1 was asked about."),
    ({"decisions": [{"type": "approve"}] * 2}, "2 were decided about, and 1 was asked about."),
    ({"decisions": ["approve"]}, "Decision 1 is 'approve', no object."),
    ({"decisions": [{}]}, "The type of decision 1 is missing, which is none of approve,"),
    ({"decisions": [{"type": "accept"}]}, "The type of decision 1 is 'accept', which is none of approve,"),
    ({"decisions": [{"type": ["approve"]}]}, "The type of decision 1 is a list of 1, which is none of approve,"),
    ({"decisions": [{"type": "reject", "message": 3}]}, "The message of decision 1 is 3, no text."),
]
WRONG_EDITS: list[tuple[Any, str]] = [
    ({"type": "edit"}, 'The edit has no "edited_action" with "args"'),
    ({"type": "edit", "edited_action": {"name": "experiment", "args": "none"}}, 'no "edited_action" with "args"'),
    ({"type": "edit", "edited_action": {"args": {}}}, "Field required"),
]


@given(ANSWERS, st.integers(1, 3))
def test_any_answer_is_read_or_refused_in_a_bounded_sentence(answer: object, count: int) -> None:
    why = ""
    try:
        found = decisions_in(answer, count, ["approve", "reject"])
    except BadInput as error:
        found, why = [], str(error)

    if why:
        assert len(why) < 600
        assert "Answer with" in why
    else:
        assert [one["type"] in {"approve", "reject"} for one in found] == [True] * count
        assert len(rejections(answer, count)) == count


@pytest.mark.parametrize(("answer", "why"), WRONG)
async def test_a_need_is_asked_about_again_with_what_was_wrong(answer: object, why: str) -> None:
    graph = learn.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    needs = [{"tool": "LOC", "concept": "dog"}]
    first = await graph.ainvoke({"needs": needs, "approve": True}, THREAD)
    again = await graph.ainvoke(Command(resume=answer), THREAD)
    (asking,) = (one.value for one in again["__interrupt__"])
    ended = await graph.ainvoke(Command(resume={"decisions": [{"type": "reject", "message": "no"}]}), THREAD)

    assert why in asking["error"]
    assert asking["action_requests"] == first["__interrupt__"][0].value["action_requests"]
    assert ended["learned"][0]["trouble"] == "It was not approved: no."


@pytest.mark.parametrize("answer", [{}, {"0" * 32: {"decisions": [{"type": "approve"}]}}])
async def test_an_answer_to_nobody_leaves_the_question_open(answer: object) -> None:
    # LangGraph takes these for answers to interrupts by their ids; none is of ours.
    graph = learn.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    begun = {"needs": [{"tool": "LOC", "concept": "dog"}], "approve": True}
    first = await graph.ainvoke(begun, THREAD)
    again = await graph.ainvoke(Command(resume=answer), THREAD)

    assert again["__interrupt__"] == first["__interrupt__"]


async def test_no_answer_at_all_is_refused_and_the_question_stays_open() -> None:
    graph = learn.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    await graph.ainvoke({"needs": [{"tool": "LOC", "concept": "dog"}], "approve": True}, THREAD)
    with pytest.raises(BadInput, match="The command says nothing"):
        await graph.ainvoke(Command(resume=None), THREAD)

    assert (await graph.aget_state(THREAD)).next == ("approve",)


@pytest.mark.parametrize(
    ("answer", "why"), [*WRONG, *(({"decisions": [edit]}, why) for edit, why in WRONG_EDITS)]
)  # fmt: skip
async def test_a_design_is_asked_about_again_with_what_was_wrong(answer: object, why: str, tmp_path: Path) -> None:
    graph = investigate.builder.compile(checkpointer=InMemorySaver(serde=serializer(STATE_TYPES)))
    context = examining(tmp_path)
    state = InvestigateState(query="Can sound recognize birds?", models=["sound"], approve=True, investigation="t")
    await graph.ainvoke(state, THREAD, context=context)
    again = await graph.ainvoke(Command(resume=answer), THREAD, context=context)
    (asking,) = (one.value for one in again["__interrupt__"])
    after = await graph.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), THREAD, context=context)

    assert why in asking["error"]
    assert after["report"]["experiments"]
