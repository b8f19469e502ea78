"""Nodes that read the message of a person, answer it from what is known, and reply."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final, cast

from langchain_core.messages import HumanMessage
from pydantic import ValidationError

from snellen.experiments.report import Report
from snellen.graphs.messages import read_message, reply_message, text_of
from snellen.learning.records import LearningOutcome
from snellen.nodes.chat.courtesies import ABILITIES
from snellen.reasoning.language.inflection import listing
from snellen.reasoning.meanings.talk import TALK, Doubt, KnowledgeQuestion, Talk
from snellen.reasoning.reading.remarks import in_words
from snellen.runtime.resources import context_of
from snellen.summaries.chat_replies import (
    certainty_in_words,
    evidence_in_words,
    knowledge_in_words,
    lessons_in_words,
    outlined_answer,
    steps_in_words,
)
from snellen.values import Picture, from_json, to_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.messages import Read
    from snellen.graphs.states import AskState, ChatState, Json
    from snellen.runtime.context import Context
    from snellen.runtime.settings import Given

MOST_SHOWN: Final = 4
"""Pictures of a reply."""
_NOTHING_YET: Final = f"There is nothing to explain yet. {ABILITIES}"


async def receive(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Read the last message of the person: store its pictures, keep references to them."""
    context = await context_of(runtime, state)
    last = last_message(state)
    if last is None:
        return {"said": ABILITIES, "began": _now()}
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
        "part": "",
        "queue": [],
        "answers": [],
        "asides": [],
        "missed": [],
        "remark": {},
        "route": "",
    } | fresh


async def explain(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Tell how the last result came about or how sure it is, from what was recorded of it; or what was learned."""
    talk = talk_of(state)
    if isinstance(talk, KnowledgeQuestion):
        return {"said": await asyncio.to_thread(knowledge_in_words, talk.name, await context_of(runtime, state))}
    if isinstance(talk, Doubt):
        return await asyncio.to_thread(_reassured, state, talk, await context_of(runtime, state))
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
    answers = [each for each in dict.fromkeys((*state.answers, state.said)) if each] or ["Done."]
    if state.asides:
        answers.append(f"*Left aside: {listing([f'“{each}”' for each in state.asides])}.*")
    if state.missed:
        answers.append(f"I did not understand: {listing([f'“{each}”' for each in state.missed])}.")
    if state.queue and state.pending:
        answers.append(f"*Not answered yet: {listing([f'“{each}”' for each in state.queue])}.*")
    return {"messages": [reply_message("\n\n".join(answers), pictures, route=state.route, turn=state.turn)]}


def last_message(state: ChatState) -> HumanMessage | None:
    """Return the message that is to be answered: the last of the person."""
    return next((one for one in reversed(state.messages) if isinstance(one, HumanMessage)), None)


def last_text(state: ChatState) -> str:
    """Return the words of the message that is to be answered."""
    return text_of(cast("HumanMessage", last_message(state)))


def talk_of(state: ChatState) -> Talk | None:
    """Return what the part of the message that is answered says beside instructions; None where it says nothing."""
    try:
        return TALK.validate_python(state.talk) if state.talk else None
    except ValidationError:
        return None


def last_task(state: ChatState) -> AskState:
    """Return what the conversation keeps of its last task."""
    return cast("AskState", SimpleNamespace(**state.last["state"]))


def _reply_to_no_words(read: Read) -> str:
    if read.text:
        return ""
    return "What shall I do with it? Ask something about it, or say what to change." if read.pictures else ABILITIES


def _reassured(state: ChatState, doubt: Doubt, context: Context) -> Json:
    """Say how sure the last answer is and what it rests on; where another answer is thought of, ask about that."""
    task = last_task(state)
    if state.last.get("graph") != "ask":
        return {"said": _NOTHING_YET}
    text = certainty_in_words(task, state.last.get("meaning", ""))
    outlined = outlined_answer(task, context.pictures)
    update: Json = {"shown": [*state.shown, to_json(context.pictures.put(outlined))]} if outlined is not None else {}
    if doubt.correction is None:
        return update | {"said": f"{text} If it is wrong, tell me what it should be."}
    meant = {"right": False, "expected": "", "correction": in_words(doubt.correction)}
    said = f"{text} Do you mean that {meant['correction']}? Say “yes”, and I look into it."
    return update | {"said": said, "pending": {"remark": meant}}


def _now() -> str:
    # As precisely as memory notes when something was learned.
    return datetime.now(UTC).isoformat(timespec="seconds")
