"""The chat reasoner over real HTTP, against a scripted server on loopback."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from snellen.profiles import BadInput, Profile, SnellenError, load_profile
from snellen.reasoning import make_reasoner
from snellen.reasoning.llm.reasoner import ChatReasoner, chat_reasoner
from snellen.reasoning.reasoner import Reasoner, ReasoningFailed
from snellen.reasoning.revision import ProposedRevision
from snellen.reasoning.task import Examples, Plan, Task
from snellen.reasoning.trouble import Trouble
from snellen.tools.program import StepRecord
from tests.servers.openai_server import Reply, Script, openai_server

TASK = Task("How many cups are there?", {"IMAGE": "Picture"})
PLAN = Plan(["Locate cups.", "Count them.", "Give the number."])
STEPS = {"steps": PLAN.steps}
PROGRAM = "BOX0=LOC(image=IMAGE,object='cup')\nN0=COUNT(box=BOX0)\nFINAL_RESULT=RESULT(var=N0)"
NOTHING = Examples()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def profile(base_url: str | None, **settings: object) -> Profile:
    embedded = load_profile("embedded")
    chosen = {"kind": "chat", "model": "scripted", "base_url": base_url, "max_retries": 0, "timeout": 5.0} | settings
    return embedded.model_copy(update={"reasoner": embedded.reasoner.model_copy(update=chosen)})


def reasoner(script: Script, **settings: object) -> ChatReasoner:
    return chat_reasoner(profile(script.base_url, **settings))


async def plan_with(replies: Sequence[Reply], **settings: object) -> Plan:
    with openai_server(replies) as script:
        return await reasoner(script, **settings).plan(TASK, NOTHING)


async def failure_of(replies: Sequence[Reply], **settings: object) -> str:
    with pytest.raises(ReasoningFailed) as caught:
        await plan_with(replies, **settings)
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


# what is wanted of it


async def test_the_profile_decides_the_reasoner() -> None:
    with openai_server([Reply(STEPS)]) as script:
        made = make_reasoner(profile(script.base_url))
        assert isinstance(made, Reasoner)
        assert await made.plan(TASK, NOTHING) == PLAN
        assert script.keys == ["Bearer test-key"]
        assert script.requests[0]["model"] == "scripted"


async def test_a_plan_loses_its_numbers() -> None:
    assert await plan_with([Reply({"steps": ["Step1, Look.", "Step 2: Tell."]})]) == Plan(["Look.", "Tell."])


async def test_a_program_is_returned_when_it_checks() -> None:
    with openai_server([Reply({"program": PROGRAM})]) as script:
        assert await reasoner(script).write_program(TASK, PLAN, NOTHING) == PROGRAM
        assert "| Step2, Count them." in script.said()
        assert "Inputs: IMAGE (Picture)" in script.said()


@pytest.mark.parametrize(
    "program", ["BOX0=SPY(image=IMAGE)\n", PROGRAM.replace("BOX0)", "BOX1)"), "import os", "", "{"]
)
async def test_an_invalid_program_goes_back_with_the_reason(program: str) -> None:
    with openai_server([Reply({"program": program}), Reply({"program": PROGRAM})]) as script:
        assert await reasoner(script).write_program(TASK, PLAN, NOTHING) == PROGRAM
        told = script.requests[1]["messages"][-1]["content"]
        assert told.startswith("That reply cannot be used:\n| ")
        assert script.requests[1]["messages"][:2] == script.requests[0]["messages"]


async def test_an_input_that_the_task_lacks_is_refused() -> None:
    with openai_server([Reply({"program": PROGRAM.replace("IMAGE", "LEFT")}), Reply({"program": PROGRAM})]) as script:
        await reasoner(script).write_program(TASK, PLAN, NOTHING)
        assert "LEFT" in script.requests[1]["messages"][-1]["content"]


async def test_a_list_keeps_candidates_in_their_spelling_and_number() -> None:
    with openai_server([Reply({"names": ["mug", "Cup", "spoon", "cup", "tea pot"]})] * 2) as script:
        chat = reasoner(script)
        assert await chat.list_knowledge("for drinking", 2, ["CUP", "tea pot", "mug"]) == ["mug", "CUP"]
        assert await chat.list_knowledge("for drinking", 3, []) == ["mug", "Cup", "spoon"]


async def test_a_list_of_strays_goes_back_and_an_empty_one_is_an_answer() -> None:
    with openai_server([Reply({"names": ["spoon"]}), Reply({"names": []})]) as script:
        assert await reasoner(script).list_knowledge("for drinking", 5, ["cup"]) == []
        assert len(script.requests) == 2


async def test_nothing_is_asked_where_the_answer_is_plain() -> None:
    with openai_server([]) as script:
        chat = reasoner(script)
        assert await chat.list_knowledge("cups", 0, []) == []
        assert await chat.route("  ") == "unclear"
        assert chat.usage.calls == 0


async def test_a_route_is_one_of_the_known_ones() -> None:
    with openai_server([Reply({"route": "delete"}), Reply({"route": "explain"})]) as script:
        assert await reasoner(script).route("Why?") == "explain"
        assert "'ask'" in script.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("instruction", ["", "  \n", "\u200b", "x" * 20_001])
async def test_an_unreadable_instruction_is_bad_input(instruction: str) -> None:
    with openai_server([]) as script, pytest.raises(BadInput, match="instruction is"):
        await reasoner(script).plan(Task(instruction, {"IMAGE": "Picture"}), NOTHING)


# structured output, and endpoints without it


@pytest.mark.parametrize("ways", [("response_format", "tools"), ("tools",), ()])
async def test_an_endpoint_is_asked_in_the_way_it_supports(ways: tuple[str, ...]) -> None:
    with openai_server([Reply(STEPS), Reply({"route": "ask"})], ways=ways) as script:
        chat = reasoner(script)
        assert await chat.plan(TASK, NOTHING) == PLAN
        assert await chat.route("How many?") == "ask"
        for asked in script.requests:
            assert [way for way in ("response_format", "tools") if asked.get(way)] == list(ways[:1])
        assert chat.usage.calls == 2


@pytest.mark.parametrize(
    "text",
    [
        'Sure! Here it is:\n```json\n{"steps": ["Look."]}\n```\nAnything else?',
        '<think>{"a": {}} or {steps}?</think>{"steps": ["Look."]} {"steps": ["No."]}',
        '{"note": "draft"} {"steps": ["Look."]}',
    ],
)
async def test_the_first_fitting_object_of_a_talkative_reply_is_read(text: str) -> None:
    assert await plan_with([Reply(text)]) == Plan(["Look."])


async def test_any_chat_model_will_do() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage('{"steps": ["Look."]}')]))
    chat = ChatReasoner(model, catalogue="LOC")
    assert await chat.plan(TASK, NOTHING) == Plan(["Look."])
    assert (chat.usage.calls, chat.usage.uncounted_calls) == (1, 1)


# replies that cannot be used


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(""), "It was empty."),
        (Reply(None), "It was empty."),
        (Reply("I would look for cups."), "It holds no complete JSON object."),
        (Reply('{"steps": ["Look'), "It holds no complete JSON object."),
        (Reply("{" * 5000), "It holds no complete JSON object."),
        (Reply('{"steps": ' + "[" * 100_000), "It holds no complete JSON object."),
        (Reply({"steps": "Look."}), "In steps: Input should be a valid list."),
        (Reply({"plan": ["Look."]}), "In steps: Field required."),
        (Reply({"steps": []}), "A plan has 1 to 20 steps; this one has 0."),
        (Reply({"steps": ["Look."] * 21}), "A plan has 1 to 20 steps; this one has 21."),
        (Reply({"steps": ["Look.", " "]}), "Step 2 is empty."),
        (Reply({"steps": ["x" * 601]}), "Step 1 has 601 characters; at most 600 are allowed."),
        (Reply('{"steps": ["Lo', finish_reason="length"), "It was cut off before its end. Reply more briefly."),
    ],
)
@pytest.mark.parametrize("way", ["response_format", "tools"])
async def test_an_unusable_reply_goes_back_with_the_reason(reply: Reply, reason: str, way: str) -> None:
    with openai_server([reply, Reply(STEPS)], ways=[way]) as script:
        chat = reasoner(script)
        assert await chat.plan(TASK, NOTHING) == PLAN
        assert f"| {reason}\n" in script.requests[1]["messages"][-1]["content"]
        assert (chat.usage.calls, chat.usage.input_tokens, chat.usage.output_tokens) == (2, 200, 20)


async def test_a_tool_call_with_broken_arguments_goes_back() -> None:
    with openai_server([Reply(arguments='{"steps": ["Lo'), Reply(STEPS)], ways=["tools"]) as script:
        assert await reasoner(script).plan(TASK, NOTHING) == PLAN
        assert "no complete JSON object" in script.said()


@pytest.mark.parametrize("way", ["response_format", "tools"])
async def test_a_hostile_reply_takes_no_time_to_refuse(way: str) -> None:
    begun = time.monotonic()
    with openai_server([Reply('{"a":' * 200_000), Reply("{" * 1_000_000), Reply(STEPS)], ways=[way]) as script:
        assert await reasoner(script).plan(TASK, NOTHING) == PLAN
    assert time.monotonic() - begun < 5


async def test_a_step_is_designed_afresh_once_and_then_fails() -> None:
    with openai_server([Reply("no")] * 20) as script:
        with pytest.raises(ReasoningFailed, match=r"no usable plan in 8 replies .*no complete JSON object"):
            await reasoner(script).plan(TASK, NOTHING)
        assert [len(asked["messages"]) for asked in script.requests] == [2, 4, 6, 8] * 2


async def test_the_fresh_design_can_succeed() -> None:
    assert await plan_with([*[Reply("no")] * 7, Reply(STEPS)]) == PLAN


@pytest.mark.parametrize(
    "reply",
    [
        Reply(None, refusal="I cannot help\nwith \x1b[31mthat."),
        Reply("", finish_reason="content_filter"),
    ],
)
@pytest.mark.parametrize("way", ["response_format", "tools"])
async def test_a_refusal_ends_the_step_at_once(reply: Reply, way: str) -> None:
    with openai_server([reply], ways=[way]) as script:
        chat = reasoner(script)
        with pytest.raises(ReasoningFailed, match=r"declined to give a plan \((I cannot help with|its content filter)"):
            await chat.plan(TASK, NOTHING)
        assert chat.usage.calls == 1
        assert chat.usage.input_tokens == 100


# endpoints that fail


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (
            401,
            "The key was refused by the chat model 'scripted' at http://127.0.0.1",
        ),
        (403, "The key was refused"),
        (404, "Not found: the chat model 'scripted'"),
        (418, "The request was refused by the chat model 'scripted'"),
        (429, "Too many requests or no quota left at the chat model 'scripted'"),
        (500, "The server failed behind the chat model 'scripted'"),
        (503, "(HTTP 503, 1 try: scripted failure 503)"),
    ],
)
async def test_an_http_error_is_one_sentence(status: int, sentence: str) -> None:
    message = await failure_of([Reply(status=status)])
    assert sentence in message
    assert "test-key" not in message


async def test_a_refused_key_says_which_variable_to_set() -> None:
    assert "set OPENAI_API_KEY" in await failure_of([Reply(status=401)])


async def test_a_passing_error_is_tried_again() -> None:
    assert await plan_with([Reply(status=500), Reply(STEPS)], max_retries=1) == PLAN


async def test_retries_are_bounded() -> None:
    assert "(HTTP 429, 2 tries)" in await failure_of([Reply(status=429)] * 9, max_retries=1)


async def test_a_bad_request_that_is_not_about_structure_is_named() -> None:
    message = await failure_of([Reply(status=400, body=b'{"error": {"message": "temperature must be 1"}}')] * 3)
    assert "(HTTP 400: temperature must be 1)" in message


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "too long", "code": "context_length_exceeded"}}',
        b'{"error": {"message": "This model\'s maximum context length is 4096 tokens."}}',
        b'{"error": {"message": "the request exceeds the available context size", "code": 400}}',
    ],
)
async def test_a_prompt_too_long_for_the_model_is_named(body: bytes) -> None:
    assert "longer than the chat model 'scripted'" in await failure_of([Reply(status=400, body=body)])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Welcome</html>",
        b"{}",
        b"[]",
        b"null",
        b'{"choices": null}',
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b"\xff",
    ],
)
@pytest.mark.parametrize("way", ["response_format", "tools", "none"])
async def test_a_body_that_is_no_completion_is_named(body: bytes, way: str) -> None:
    with openai_server([Reply(body=body)], ways=[way]) as script, pytest.raises(ReasoningFailed) as caught:
        await reasoner(script).plan(TASK, NOTHING)
    assert "is not a chat completion: point base_url" in str(caught.value)


async def test_a_slow_server_is_given_up() -> None:
    begun = time.monotonic()
    message = await failure_of([Reply(STEPS, delay=30)], timeout=0.2)
    assert "No answer came from the chat model 'scripted'" in message
    assert "within 0.2 s (1 try): raise timeout" in message
    assert time.monotonic() - begun < 10


async def test_an_answer_that_drips_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.reasoning.llm.structured_model._BACKOFF", 0.3)
    assert "No answer came" in await failure_of([Reply(drip=True)], timeout=0.3)


async def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://user:secret@127.0.0.1:{unused.getsockname()[1]}/v1"
    with pytest.raises(ReasoningFailed, match=r"Cannot reach .* at http://127\.0\.0\.1:.*correct base_url") as caught:
        await chat_reasoner(profile(address)).plan(TASK, NOTHING)
    assert "secret" not in str(caught.value)


# keys and addresses


@pytest.mark.parametrize("address", ["localhost:8000", "file:///etc/passwd", "ftp://host/v1", "http://", "http://[::1"])
def test_an_address_that_is_none_is_bad_input(address: str) -> None:
    with pytest.raises(BadInput, match="is no web address"):
        chat_reasoner(profile(address))


def test_openai_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="set OPENAI_API_KEY"):
        make_reasoner(profile(None))


async def test_a_server_of_ones_own_needs_none_and_the_environment_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with openai_server([Reply(STEPS)]) as script:
        monkeypatch.setenv("OPENAI_BASE_URL", script.base_url)
        assert await chat_reasoner(profile(None)).plan(TASK, NOTHING) == PLAN


# accounting


async def test_tokens_and_cost_are_summed_over_failed_attempts_too() -> None:
    replies = [Reply("no", tokens=(1000, 50)), Reply('{"st', finish_reason="length", tokens=(1100, 800)), Reply(STEPS)]
    with openai_server(replies) as script:
        chat = reasoner(script, input_price=2.0, output_price=8.0)
        await chat.plan(TASK, NOTHING)
        assert (chat.usage.calls, chat.usage.input_tokens, chat.usage.output_tokens) == (3, 2200, 860)
        assert chat.usage.cost == pytest.approx(2200 * 2e-6 + 860 * 8e-6)
        assert chat.usage.uncounted_calls == 0


@pytest.mark.parametrize(("tokens", "uncounted"), [((100, 10), 0), (None, 1)])
async def test_no_price_means_no_cost_and_uncounted_calls_are_told(
    tokens: tuple[int, int] | None, uncounted: int
) -> None:
    with openai_server([Reply(STEPS, tokens=tokens)]) as script:
        chat = reasoner(script)
        assert chat.usage.cost == 0
        await chat.plan(TASK, NOTHING)
        assert chat.usage.cost is None
        assert chat.usage.uncounted_calls == uncounted


async def test_calls_at_the_same_time_are_all_counted() -> None:
    with openai_server([Reply({"route": "ask"})] * 5) as script:
        chat = reasoner(script)
        await asyncio.gather(*(chat.route("How many?") for _ in range(5)))
        assert chat.usage.calls == 5


def test_one_reasoner_serves_several_event_loops() -> None:
    with openai_server([Reply(STEPS)] * 3) as script:
        chat = reasoner(script)
        for _ in range(3):
            assert asyncio.run(chat.plan(TASK, NOTHING)) == PLAN


@pytest.mark.parametrize("said", [{"steps": [None]}, {"steps": [1]}, {"steps": {"a": "b"}}, {"steps": ["\ud800"]}])
async def test_odd_json_ends_in_a_sentence(said: Mapping[str, Any]) -> None:
    with (
        openai_server([Reply(said)] * 8, ways=["tools"]) as script,
        pytest.raises(SnellenError, match="no usable plan"),
    ):
        await reasoner(script).plan(TASK, NOTHING)


# revisions

STEPS_RUN = [StepRecord("1", 1, "BOX0=LOC(image=IMAGE,object='cup')", "LOC", output=[], target="BOX0")]
TROUBLE = Trouble("empty", "2", "Step 2 rests on nothing.", ("1",))
REVISION = {"stands": False, "change": "Look  for mugs.", "plan": ["Step1, Look."], "program": PROGRAM}


async def revised(script: Script) -> ProposedRevision | None:
    return await reasoner(script).revise(TASK, PLAN, PROGRAM, STEPS_RUN, TROUBLE, NOTHING)


async def test_a_program_is_revised_with_its_steps_and_trouble_in_view() -> None:
    with openai_server([Reply(REVISION)]) as script:
        assert await revised(script) == ProposedRevision(Plan(["Look."]), PROGRAM, "Look for mugs.")
        assert "| Step 2 rests on nothing." in script.said()
        assert "| Result: nothing" in script.said()


async def test_the_reviser_may_say_that_the_answer_stands() -> None:
    with openai_server([Reply({"stands": True, "change": "", "plan": [], "program": "import os"})]) as script:
        assert await revised(script) is None


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"program": "import os"}, "is no step of a program"),
        ({"program": "A=NOSUCH(image=IMAGE)\nFINAL_RESULT=RESULT(var=A)"}, "NOSUCH"),
        ({"program": ""}, "empty"),
        ({"program": f"A='{'x' * 1_990}'\nB='{'x' * 1_990}'\nFINAL_RESULT=RESULT(var=A)"}, "longer than 3,000 bytes"),
        ({"plan": []}, "1 to 20 steps"),
        ({"change": " "}, "1 to 300 are allowed"),
        ({"change": "x" * 301}, "1 to 300 are allowed"),
        ({"change": "\u202e\u200b"}, "1 to 300 are allowed"),
    ],
)
async def test_an_unusable_revision_goes_back_with_the_reason(wrong: dict[str, Any], reason: str) -> None:
    with openai_server([Reply(REVISION | wrong), Reply(REVISION)]) as script:
        made = await revised(script)
        assert made is not None
        assert made.program == PROGRAM
        assert reason in script.said()


async def test_replies_that_never_become_a_revision_are_bounded() -> None:
    with openai_server([Reply(REVISION | {"program": "{"})] * 8) as script:
        with pytest.raises(ReasoningFailed, match="no usable revision in 8 replies"):
            await revised(script)
        assert len(script.requests) == 8
