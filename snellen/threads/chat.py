"""Threads of the chat graph: messages are sent to a conversation, and followed to the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, cast

from snellen.errors import BadInput
from snellen.memory.checkpoints import thread_graph
from snellen.memory.home import home
from snellen.profiles import lasting
from snellen.reasoning.meanings.talk import Agreement, Correction, Decline, Doubt, ForgetOrder, Naming, Why
from snellen.reasoning.reading.talk_reader import read_talk
from snellen.runtime.resources import resources
from snellen.threads import thread as threads
from snellen.threads.events import Decide, Event, Finished, Started
from snellen.threads.investigate import InvestigationResult, found_in
from snellen.threads.saved_threads import Headline
from snellen.threads.thread_type import ThreadType
from snellen.values import Picture, to_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.messages import AnyMessage, BaseMessage
    from langgraph.graph.state import CompiledStateGraph

    from snellen.graphs.states import ChatState

    Graph = CompiledStateGraph[Any, Any, Any, Any]


def _headline(state: ChatState) -> Headline:
    from snellen.graphs.messages import text_of

    first = next((text_of(one) for one in state.messages if one.type == "human"), "")
    last = next((text_of(one) for one in reversed(state.messages) if one.type == "ai"), "")
    return Headline(first, outcome=last)


CHAT: Final = ThreadType["ChatState"]("chat", lambda _, profile, folder: resources(profile, folder), _headline)
"""Threads that are conversations."""

Decision = bool | None
"""Whether a person is asked; None leaves it as it was."""

ChatEvent = Started["ChatState"] | Event | Finished["ChatState"]


def stream_chat(
    text: str,
    pictures: Sequence[Picture] = (),
    *,
    notices: Mapping[str, Sequence[str]] | None = None,
    thread: str | None = None,
    profile: str = "embedded",
    approve: bool | None = None,
    decide: Decide | None = None,
) -> AsyncGenerator[ChatEvent]:
    """Say something in a conversation, a new one or one that was begun anywhere, and follow it to the reply.

    Args:
        text: What is said.
        pictures: Stored pictures that go with it.
        notices: What to know about pictures that look otherwise than their files, by their ids.
        thread: The conversation's id; one that does not exist is begun. None makes one up.
        profile: Name or path of a profile, for a new conversation.
        approve: Whether a person is asked before anything is learned or an experiment is run; None leaves it as it was.
        decide: Decides about that; without it, or when it leaves a request open, the conversation stops there.

    Yields:
        ``Started``, what happens in the order of events, and ``Finished`` with the reply as the last message, unless
        the conversation is left waiting.

    Raises:
        BadInput: The thread's name cannot be used, it is none of a conversation, or another process runs it.
        SnellenError: The run failed; ``CHAT.resume`` takes it up, another message begins anew.
    """
    return _stream([_message(text, pictures, notices or {})], thread, profile, approve, decide)


async def stream_messages(
    messages: Sequence[BaseMessage], *, thread: str | None = None, profile: str = "embedded"
) -> AsyncGenerator[ChatEvent]:
    """Say what a client sends: of a new conversation all messages, of a known one the last.

    A conversation that is new here may have been held elsewhere. If its last message is about the answer before it
    ("no, it's the left one"), the task that it speaks of is done first: there is no other record of it.

    Args:
        messages: The conversation as the client has it; the last message is the person's. Pictures are references
            (``snellen.graphs.messages.reference``), or come in any form with the last message.
        thread: The conversation's id, for a client that names one.
        profile: Name or path of a profile, for a new conversation.

    Yields:
        As ``stream_chat``.

    Raises:
        BadInput: As there.
        SnellenError: As there.
    """
    name = threads.checked_name(thread) if thread is not None else threads.new_name()
    known = await asyncio.to_thread(thread_graph, name, await asyncio.to_thread(home)) is not None
    earlier = None if known else _spoken_of(messages)
    if earlier is not None:
        async with aclosing(_stream(earlier, name, profile, None, None)) as events:
            async for event in events:
                if not isinstance(event, Finished):
                    yield event
    async with aclosing(_stream(list(messages), name, profile, None, None)) as events:
        async for event in events:
            yield event


def _spoken_of(messages: Sequence[BaseMessage]) -> list[BaseMessage] | None:
    """Return a conversation up to the task that its last message speaks of; None where it speaks of none."""
    from langchain_core.messages import HumanMessage

    from snellen.graphs.messages import reference, text_of

    if not _looks_back(text_of(messages[-1])) or _pictures_before(messages[-1:]):
        return None
    places = [place for place, one in enumerate(messages[:-1]) if one.type == "human" and _is_task(text_of(one))]
    pictures = _pictures_before(messages[: places[-1] + 1]) if places else []
    if not pictures:
        return None
    task: Any = [{"type": "text", "text": text_of(messages[places[-1]])}, *map(reference, pictures)]
    return [*messages[: places[-1]], HumanMessage(content=task)]


def _looks_back(text: str) -> bool:
    """Tell whether a message is about what was answered before it: feedback, a "why?", a "forget it"."""
    return any(
        isinstance(each, Agreement | Correction | Doubt | ForgetOrder | Decline | Why) for each in read_talk(text)
    )


def _is_task(text: str) -> bool:
    """Tell whether a message may be a visual task: it has words, and is no talk."""
    return bool(text) and all(isinstance(each, Naming) for each in read_talk(text))


def _pictures_before(messages: Sequence[BaseMessage]) -> list[Picture]:
    """Return the pictures that are spoken of: those of the person's last message that has any."""
    from snellen.graphs.messages import referred

    return next((pictures for one in reversed(messages) if one.type == "human" and (pictures := referred(one))), [])


async def _stream(
    messages: list[Any], thread: str | None, profile: str, approve: Decision, decide: Decide | None
) -> AsyncGenerator[ChatEvent]:
    name = threads.checked_name(thread) if thread is not None else threads.new_name()

    async def save(graph: Graph) -> tuple[Started[ChatState], None]:
        """Save what is said before anything runs."""
        from langgraph.graph import START

        from snellen.graphs.states import ChatState

        before = await graph.aget_state(CHAT.address(name))
        known = bool(before.created_at)
        if known and await threads.graph_of(name) != "chat":
            msg = f"The thread {name!r} is no conversation; name another one."
            raise BadInput(msg)
        values: dict[str, Any] = {"messages": messages[-1:]}
        if not known:
            begun = ChatState(profile=lasting(profile), pictures=[to_json(one) for one in _pictures_before(messages)])
            values = asdict(begun) | {"messages": messages}
        if approve is not None:
            values["approve"] = approve
        await graph.aupdate_state(CHAT.address(name), values, as_node=START)
        return Started(thread=name, state=await CHAT.state_of(graph, name), resumed=known), None

    async with aclosing(CHAT.run(name, await asyncio.to_thread(home), save, decide=decide)) as events:
        async for event in events:
            yield event


def _message(text: str, pictures: Sequence[Picture], notices: Mapping[str, Sequence[str]]) -> AnyMessage:
    from langchain_core.messages import HumanMessage

    from snellen.graphs.messages import reference

    shown = [reference(one, notices.get(one.id, ())) for one in pictures]
    return HumanMessage(content=cast("Any", [{"type": "text", "text": text}, *shown]))


def found_in_chat(state: ChatState) -> InvestigationResult | None:
    """Return what the last investigation of a conversation found; None where something else was done last."""
    from snellen.graphs.states import InvestigateState

    if state.last.get("graph") != "investigate":
        return None
    return found_in(threads.state_from(state.last["state"], InvestigateState))
