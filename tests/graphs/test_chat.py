"""The chat graph: what goes where, feedback on the last answer, explanations, forgetting, approvals, stopping."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from snellen.graphs import chat
from snellen.graphs.messages import pictures_in, text_of
from snellen.graphs.states import STATE_TYPES, ChatState
from snellen.learning.resources import Learning
from snellen.memory.checkpoints import checkpoints
from snellen.memory.demonstrations import demonstration
from snellen.memory.prompts import PromptPool
from snellen.memory.prompts.drafts import Drafts
from snellen.nodes.chat.dialogue import is_about_models
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.meanings.talk import ForgetOrder
from snellen.reasoning.reading.talk_reader import read_talk
from snellen.reasoning.reasoner import Route
from snellen.runtime.context import Context
from snellen.runtime.node_execution import final_state
from snellen.threads.chat import found_in_chat
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import RIGHT, WRONG, Critic, fault, make_context
from tests.memory.learned import made

PICTURE = "FINAL_RESULT=RESULT(var=IMAGE)\n"


@dataclass
class Router(Critic):
    """A critic that takes questions which no grammar reads for tasks."""

    async def route(self, message: str) -> Route:
        return "ask" if message.rstrip().endswith("?") else "unclear"


@dataclass
class Conversation:
    """Somebody who talks to the chat graph."""

    graph: Any
    context: Context
    thread: str = "talk"

    @property
    def address(self) -> Any:  # noqa: ANN401 - a RunnableConfig
        return {"configurable": {"thread_id": self.thread}, "recursion_limit": chat.RECURSION_LIMIT}

    async def say(self, text: str, *pictures: str) -> str:
        blocks = [{"type": "image_url", "image_url": {"url": one}} for one in pictures]
        message = HumanMessage(content=[{"type": "text", "text": text}, *blocks])
        return await self.go_on({"messages": [message]})

    async def go_on(self, given: Any) -> str:  # noqa: ANN401 - what a graph is begun or resumed with
        await self.graph.ainvoke(given, self.address, context=self.context, durability="sync")
        state = await self.state()
        return text_of(state.messages[-1]) if state.messages[-1].type == "ai" else ""

    async def state(self) -> ChatState:
        return ChatState(**(await self.graph.aget_state(self.address)).values)


@asynccontextmanager
async def talking(context: Context, folder: Path) -> AsyncIterator[Conversation]:
    async with checkpoints(folder, state_types=STATE_TYPES) as saver:
        yield Conversation(chat.builder.compile(checkpointer=saver, name="chat"), context)


def picture(colour: str = "red") -> str:
    held = io.BytesIO()
    PIL.Image.new("RGB", (8, 8), colour).save(held, "PNG")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


def router(folder: Path, **more: Any) -> Context:  # noqa: ANN401 - fields of Critic
    return replace(
        make_context(folder, reasoner=Router(**more)),
        learning=Learning(prompts=PromptPool(folder), drafts=Drafts(folder)),
    )


async def test_a_question_about_a_picture_is_answered_and_explained(tmp_path: Path) -> None:
    async with talking(router(tmp_path, program=WRONG), tmp_path) as talk:
        assert await talk.say("What is one and two?", picture()) == "3"
        why = await talk.say("Why?")
        again = await talk.say("What is it now?")

    assert "1. Add one and two" in why
    assert "`EVAL`" in why
    # The picture that was shown before is still spoken of.
    assert again == "3"


async def test_a_picture_that_is_the_answer_is_shown(tmp_path: Path) -> None:
    async with talking(router(tmp_path, program=PICTURE), tmp_path) as talk:
        assert await talk.say("Crop it, will you?", picture()) == "Here is the picture"
        last = (await talk.state()).messages[-1]

    assert len(pictures_in(last)) == 1
    assert (tmp_path / "artifacts" / pictures_in(last)[0][:2] / f"{pictures_in(last)[0]}.png").exists()


@pytest.mark.parametrize("text", ["What is one and two?", "Blur it, would you?"])
async def test_without_a_picture_one_is_asked_for(tmp_path: Path, text: str) -> None:
    async with talking(router(tmp_path), tmp_path) as talk:
        assert await talk.say(text) == "There is no picture to look at yet: send one with the question."


async def test_a_picture_without_words_and_nothing_at_all_are_asked_about(tmp_path: Path) -> None:
    async with talking(router(tmp_path), tmp_path) as talk:
        assert (await talk.say("", picture())).startswith("What shall I do with it?")
        assert (await talk.say("")).startswith("Show me pictures")
        assert (await talk.say("xyzzy plugh qwert")).startswith("I do not know the words “xyzzy”, “plugh” and “qwert”")
        assert (await talk.say("Why?")).startswith("There is nothing to explain yet")


async def test_a_picture_that_cannot_be_read_is_told_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async with talking(router(tmp_path, program=WRONG), tmp_path) as talk:
        assert "sent as an address" in await talk.say("What is it?", "http://169.254.169.254/latest")
        assert await talk.say("What is one and two?", picture()) == "3"


async def test_feedback_goes_back_into_the_task_and_what_was_right_is_remembered(tmp_path: Path) -> None:
    context = router(tmp_path, globally=(fault("program"),), corrected=RIGHT)
    async with talking(context, tmp_path) as talk:
        assert await talk.say("What is one and two?", picture()) == "3"
        corrected = await talk.say("No, 4")
        state = await talk.state()

        assert "What was wrong: the program" in corrected
        assert corrected.endswith("Now: **4**")
        assert state.last["state"]["verdict"] == "right"
        assert context.pool.learned()
        asked = await talk.say("forget it")
        assert asked.startswith("Shall I forget ")
        assert "of how “What is one and two?” was done" in asked
        assert context.pool.learned()
        assert "Forgotten" in await talk.say("yes")
        assert context.pool.learned() == []
        assert "Nothing was learned in this conversation" in await talk.say("forget it")


async def test_praise_is_remembered(tmp_path: Path) -> None:
    context = router(tmp_path, program=WRONG)
    async with talking(context, tmp_path) as talk:
        await talk.say("What is one and two?", picture())
        assert await talk.say("That's right") == "Good: 3. I remember how I got there."

    assert {one.instruction for one in context.pool.learned()} == {"What is one and two?"}


async def test_what_is_not_understood_teaches_nothing(tmp_path: Path) -> None:
    context = replace(router(tmp_path, program=WRONG), reasoner=CaseReasoner(load_profile("embedded")))
    async with talking(context, tmp_path) as talk:
        await talk.graph.aupdate_state(talk.address, {"last": answered(), "messages": [HumanMessage("How many?")]})
        said = await talk.say("No, I do not believe that this can be what anybody would see here")

    assert said.startswith("I do not understand what the answer should be")
    assert context.pool.learned() == []


async def test_feedback_with_a_new_picture_is_a_new_task(tmp_path: Path) -> None:
    async with talking(router(tmp_path, program=WRONG), tmp_path) as talk:
        await talk.say("What is one and two?", picture())
        await talk.say("What about this one?", picture("blue"))
        state = await talk.state()

    assert state.remark == {}
    assert state.last["state"]["instruction"] == "What about this one?"
    assert state.pictures != []


async def test_what_is_known_is_told_and_what_was_learned_of_a_concept_is_forgotten(tmp_path: Path) -> None:
    context = router(tmp_path)
    context.pool.add(demonstration("plan", "Is there a flamingo?", plan=["Look"], correct=True))
    async with talking(context, tmp_path) as talk:
        known = await talk.say("What do you know about flamingos?")
        everything = await talk.say("What have you learned?")
        gone = await talk.say("Forget what you learned about flamingos")

    assert known.startswith("My models were never trained on “flamingo”.")
    assert "1 remembered examples speak of it" in known
    assert "No tool has learned anything yet" in everything
    assert gone == "I have learned nothing about “flamingo”."


async def test_an_investigation_is_done_within_the_conversation_and_explained(tmp_path: Path) -> None:
    oracle = Oracle({"clip": lambda *_: 0.99})
    context = replace(router(tmp_path), examination=watched(tmp_path, oracle), profile=load_profile("embedded"))
    async with talking(context, tmp_path) as talk:
        found = await talk.say("Can clip recognize fruit?")
        evidence = await talk.say("Why?")
        state = await talk.state()

    assert found.startswith("Yes, clip is good at recognizing fruit")
    assert "clip is right in more than" in evidence
    assert state.last["state"]["investigation"] == "talk.1"
    assert found_in_chat(state) is not None
    assert found_in_chat(replace(state, last={})) is None


async def test_what_cannot_be_investigated_is_said(tmp_path: Path) -> None:
    context = replace(router(tmp_path), examination=watched(tmp_path, Oracle({})), profile=load_profile("embedded"))
    async with talking(context, tmp_path) as talk:
        reply = await talk.say("Investigate the price of coffee")
    assert "cannot be examined here: 'Investigate the price of coffee'" in reply


async def test_a_person_is_asked_before_an_experiment_in_a_conversation(tmp_path: Path) -> None:
    oracle = Oracle({"clip": lambda *_: 0.99})
    context = replace(router(tmp_path), examination=watched(tmp_path, oracle), profile=load_profile("embedded"))
    async with talking(context, tmp_path) as talk:
        await talk.graph.aupdate_state(talk.address, {"approve": True})
        await talk.say("Can clip recognize fruit?")
        waiting = await talk.graph.aget_state(talk.address)
        (request,) = [one.value for one in waiting.interrupts]

        assert request["action_requests"][0]["name"] == "experiment"
        refused = await talk.go_on(Command(resume={"decisions": [{"type": "reject", "message": "Too dear."}] * 1}))
        assert refused == "Nothing was examined. No further experiment could be made: A person refused it: Too dear."
        # Whoever does not care for the question any more says something else.
        assert (await talk.say("What have you learned?")).startswith("No tool has learned anything")


async def test_a_stopped_conversation_goes_on_where_it_was(tmp_path: Path) -> None:
    reached = asyncio.Event()

    @dataclass
    class Slow(Router):
        async def plan(self, task: Any, examples: Any) -> Any:  # noqa: ANN401 - as inherited
            if not reached.is_set():
                reached.set()
                await asyncio.Event().wait()
            return await super().plan(task, examples)

    context = make_context(tmp_path, reasoner=Slow(program=WRONG))
    async with talking(context, tmp_path) as talk:
        saying = asyncio.create_task(talk.say("What is one and two?", picture()))
        await reached.wait()
        saying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await saying
        assert (await talk.graph.aget_state(talk.address)).next == ("ask",)
        assert await talk.go_on(None) == "3"


async def test_no_checkpoint_grows_beyond_its_bound(tmp_path: Path) -> None:
    async with talking(router(tmp_path, program=WRONG), tmp_path) as talk:
        for number in range(30):
            await talk.say(f"What is one and two, for the {number}th time, {'really ' * 200}?", picture())
        sizes = [
            len(json.dumps(one.values, default=str))
            async for one in talk.graph.aget_state_history(talk.address, limit=8)
        ]

    assert max(sizes) < 64_000


def answered() -> dict[str, Any]:
    from dataclasses import asdict

    from snellen.graphs.states import AskState

    return {"graph": "ask", "state": asdict(AskState(instruction="How many?", answer=3, steps=[{"tool": "EVAL"}]))}


def taught(context: Context, *concepts: str) -> PromptPool:
    assert context.learning is not None
    prompts = context.learning.prompts
    prompts.add(*(made(place, concept) for place, concept in enumerate(concepts)))
    return prompts


async def test_what_would_go_is_named_and_only_a_plain_yes_lets_it_go(tmp_path: Path) -> None:
    context = router(tmp_path)
    prompts = taught(context, "car", "car", "dog")
    async with talking(context, tmp_path) as talk:
        for answer in (
            "no",
            "hm, wait",
            "Yes, but what do you know about cars?",
            "Remove all the cars from the picture",
        ):
            asked = await talk.say("Forget what you learned about cars")
            assert asked.startswith("Shall I forget 2 prompts of LOC about “car” (learned ")
            await talk.say(answer)
            assert "forget" not in (await talk.state()).pending
            await talk.say("yes")
            assert len(prompts.rows()) == 3

        await talk.say("Forget what you learned about cars")
        assert "Forgotten: 2 prompts learned about “car”" in await talk.say("Yes, please.")

    assert [row.concept for row in prompts.rows()] == ["dog"]


async def test_everything_about_a_thing_and_everything_are_asked_about(tmp_path: Path) -> None:
    context = router(tmp_path)
    prompts = taught(context, "car", "car", "dog")
    context.pool.add(demonstration("plan", "Is there a flamingo?", plan=["Look"], correct=True))
    async with talking(context, tmp_path) as talk:
        assert "Shall I forget 2 prompts of LOC about “car”" in await talk.say("Forget everything about cars")
        await talk.say("no")
        asked = await talk.say("Forget everything you know")
        assert asked.startswith("Shall I forget everything that I have learned: 3 prompts of LOC about “car”, “dog”")
        assert "1 example of how tasks were done" in asked
        assert await talk.say("no") == "I have forgotten nothing."
        assert len(prompts.rows()) == 3
        await talk.say("Forget everything")
        assert "Forgotten: 3 prompts and 1 example learned so far." in await talk.say("yes")
        assert await talk.say("Forget everything") == "I have learned nothing yet that I could forget."

    assert prompts.rows() == []
    assert context.pool.learned() == []


@pytest.mark.parametrize("text", ["No, stop", "No, all good", "Actually, thank you!", "No, a dog", "No, leave it"])
async def test_what_cannot_be_the_answer_teaches_nothing(tmp_path: Path, text: str) -> None:
    context = router(tmp_path, program=WRONG, globally=(fault("program"),), corrected=RIGHT)
    async with talking(context, tmp_path) as talk:
        await talk.say("What is one and two?", picture())
        await talk.say(text)
        state = await talk.state()

    assert state.last["state"]["verdict"] == "unjudged"
    assert context.pool.learned() == []


async def test_the_question_is_a_request_like_any_other(tmp_path: Path) -> None:
    context = router(tmp_path)
    prompts, said = taught(context, "car", "car", "dog"), ""
    async with talking(context, tmp_path) as talk:
        for decision in ("reject", "approve"):
            await talk.say("forget cars")
            (request,) = [one.value for one in (await talk.graph.aget_state(talk.address)).interrupts]
            (action,) = request["action_requests"]
            assert (action["name"], action["args"]["concept"], action["args"]["prompts"]) == ("forget", "cars", 2)
            assert "2 prompts of LOC about “car”" in action["description"]
            assert len(prompts.rows()) == 3
            said = await talk.go_on(Command(resume={"decisions": [{"type": decision}]}))

    assert "Forgotten: 2 prompts" in said
    assert [row.concept for row in prompts.rows()] == ["dog"]


@pytest.mark.parametrize("how", ["yes", Command(resume={"decisions": [{"type": "approve"}]})])
async def test_what_changed_since_is_asked_about_again(tmp_path: Path, how: Any) -> None:  # noqa: ANN401
    context = router(tmp_path)
    prompts = taught(context, "car", "car")
    async with talking(context, tmp_path) as talk:
        answer = talk.say if isinstance(how, str) else talk.go_on
        await talk.say("forget cars")
        prompts.add(made(9, "car"))
        again = await answer(how)
        assert again.startswith("What would go has changed since I asked. Shall I forget 3 prompts")
        assert len(prompts.rows()) == 3
        assert "Forgotten: 3 prompts" in await answer(how)

    assert prompts.rows() == []


async def test_a_state_that_was_edited_lets_nothing_go_that_was_not_asked_about(tmp_path: Path) -> None:
    context = router(tmp_path)
    prompts = taught(context, "car", "dog")
    async with talking(context, tmp_path) as talk:
        await talk.say("forget cars")
        pending = (await talk.state()).pending["forget"] | {"concept": "dog"}
        await talk.graph.aupdate_state(talk.address, {"pending": {"forget": pending}})
        assert "Shall I forget 1 prompt of LOC about “dog”" in await talk.say("yes")

    assert len(prompts.rows()) == 2


SENTENCES = (Path(__file__).parent / "fixtures" / "no_order_to_forget.txt").read_text(encoding="utf-8").splitlines()
"""About pictures, models and what was said: by hand, from grammars, and instructions that people wrote."""


def test_a_thousand_sentences_are_no_order_to_forget() -> None:
    assert len(set(SENTENCES)) >= 1_000
    assert [one for one in SENTENCES if any(isinstance(talk, ForgetOrder) for talk in read_talk(one))] == []


async def test_no_sentence_deletes_whatever_the_router_says(tmp_path: Path) -> None:
    class Forgetful(Router):
        async def route(self, message: str) -> Route:
            return "forget"

    context = replace(router(tmp_path), reasoner=Forgetful())
    known = ["car", "dog", "cat", "tree", "boat", "sign", "cloud", "balloon", "lamp", "bird", "bus", "text", "face"]
    prompts = taught(context, *known, "bottle", "house", "wire", "shadow")
    before = prompts.rows()
    lesson = {"since": "", "needs": [{"concept": name, "question": ""} for name in known], "instruction": ""}
    said = set()
    for sentence in SENTENCES[::25]:
        if is_about_models(sentence, context):
            continue
        state = ChatState(messages=[HumanMessage(sentence)], taught=lesson)
        # Without a saver the graph could not even wait for a decision.
        ended = ChatState(**await final_state(chat.graph, state, context))
        assert "forget" not in ended.pending
        said.add(text_of(ended.messages[-1]).partition(":")[0])

    assert prompts.rows() == before
    assert "Shall I forget something that I learned? Then name it" in said


async def test_thanks_and_praise_are_answered_and_teach_nothing(tmp_path: Path) -> None:
    context = router(tmp_path, globally=(fault("program"),), corrected=RIGHT)
    async with talking(context, tmp_path) as talk:
        await talk.say("What is one and two?", picture())
        assert await talk.say("Thanks, that's great!") == "You are welcome."
        assert await talk.say("Wow, amazing") == "You are welcome."
        assert (await talk.say("Hello!")).startswith("Hello. Show me pictures")
        state = await talk.state()

    assert state.last["state"]["verdict"] == "unjudged"
    assert context.reasoner.reflections == []  # type: ignore[attr-defined]
    assert context.pool.learned() == []


async def test_what_may_be_a_correction_is_asked_about(tmp_path: Path) -> None:
    context = router(tmp_path, globally=(fault("program"),), corrected=RIGHT)
    async with talking(context, tmp_path) as talk:
        await talk.say("What is one and two?", picture())
        asked = await talk.say("it's 4")
        assert asked == "Do you mean that the answer should be “4”, and not “3”? Say “yes”, and I look into it."
        assert await talk.say("no") == "Then I learn nothing from it."
        assert context.pool.learned() == []
        await talk.say("it's 4")
        assert (await talk.say("yes")).endswith("Now: **4**")
        assert (await talk.state()).pending == {}
