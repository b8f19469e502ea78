"""Nodes that read the message of a person, answer it from what is known, and reply."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, cast

from langchain_core.messages import HumanMessage

from snellen.experiments.report import Report
from snellen.graphs.messages import read_message, reply_message, text_of
from snellen.learning.records import LearningOutcome
from snellen.runtime.resources import context_of
from snellen.summaries.chat_replies import evidence_in_words, knowledge_in_words, lessons_in_words, steps_in_words
from snellen.values import Picture, from_json, to_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.messages import Read
    from snellen.graphs.states import AskState, ChatState, Json
    from snellen.runtime.settings import Given

MOST_SHOWN: Final = 4
"""Pictures of a reply."""
GREETING: Final = (
    "Show me pictures and say what to do with them (“How many dogs are there?”, “Blur all but the dog”), say what was "
    "wrong with an answer, ask what models can see (“Are the models robust to rotation?”), or have me learn something "
    "(“learn what a penguin is”). “Why?” explains the last answer, “forget it” takes back what I learned from it."
)
ABOUT_MEMORY: Final = re.compile(
    r"\bwhat (?:do|did|have|all do) you (?:already |still )?(?:know|learn(?:ed|t)?|remember)"
    r"(?: (?:about|of) (?P<named>[\w -]+))?|\bdo you know (?P<asked>[\w -]+)",
    re.IGNORECASE,
)
"""A question about what was learned."""

_NOTHING_YET: Final = f"There is nothing to explain yet. {GREETING}"
_MOST_READ: Final = 300
"""Characters of a message in which a command is looked for."""


async def receive(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Read the last message of the person: store its pictures, keep references to them."""
    context = await context_of(runtime, state)
    last = last_message(state)
    if last is None:
        return {"said": GREETING, "began": _now()}
    read = await asyncio.to_thread(read_message, last, context.pictures)
    known = [to_json(one) for one in read.pictures]
    fresh = {"pictures": known, "notices": list(read.notices)} if known else {}
    return {
        "messages": [read.message],
        "turn": state.turn + 1,
        "began": _now(),
        "fresh": bool(read.pictures),
        "said": " ".join(read.troubles) or _reply_to_no_words(read),
        "shown": [],
        "remark": {},
        "route": "",
    } | fresh


async def explain(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Tell how the last result came about, from what was recorded of it; or what was learned, if that is asked."""
    memory_question = ABOUT_MEMORY.search(command_in(state))
    if memory_question is not None:
        named = (memory_question["named"] or memory_question["asked"] or "").strip()
        return {"said": await asyncio.to_thread(knowledge_in_words, named, await context_of(runtime, state))}
    kept = state.last.get("state", {})
    match state.last.get("graph"):
        case "ask":
            return {"said": steps_in_words(last_task(state))}
        case "investigate":
            return {"said": evidence_in_words(Report.model_validate(kept["report"]))}
        case "learn":
            return {"said": lessons_in_words([LearningOutcome.from_json(one) for one in kept["learned"]], reasons=True)}
    return {"said": _NOTHING_YET}


async def reply(state: ChatState) -> Json:
    """Answer, with the pictures that belong to the answer."""
    pictures = [one for one in map(from_json, state.shown[:MOST_SHOWN]) if isinstance(one, Picture)]
    return {"messages": [reply_message(state.said or "Done.", pictures, route=state.route, turn=state.turn)]}


def last_message(state: ChatState) -> HumanMessage | None:
    """Return the message that is to be answered: the last of the person."""
    return next((one for one in reversed(state.messages) if isinstance(one, HumanMessage)), None)


def last_text(state: ChatState) -> str:
    """Return the words of the message that is to be answered."""
    return text_of(cast("HumanMessage", last_message(state)))


def command_in(state: ChatState) -> str:
    """Return the beginning of the message that is to be answered, as far as commands are looked for in it."""
    return last_text(state)[:_MOST_READ].rstrip(" .!?")


def last_task(state: ChatState) -> AskState:
    """Return what the conversation keeps of its last task."""
    return cast("AskState", SimpleNamespace(**state.last["state"]))


def _reply_to_no_words(read: Read) -> str:
    if read.text:
        return ""
    return "What shall I do with it? Ask something about it, or say what to change." if read.pictures else GREETING


def _now() -> str:
    # As precisely as memory notes when something was learned.
    return datetime.now(UTC).isoformat(timespec="seconds")
