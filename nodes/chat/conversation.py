"""Conversation: a message of a chat is read, sent to the part of Snellen that it is for, and answered.

receive → route → ask | learn | investigate | explain | forget | erase → reply, and where a reply asks whether something
may be forgotten, confirm → erase → reply. What ``ask``, ``learn`` and ``investigate`` do
is done by the graphs of these names; here is what they begin with, and what is told of how they ended. Feedback on the
last answer ("no, it's the left one") goes back into the task that gave it.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from langchain_core.messages import HumanMessage
from langgraph.types import Command

from snellen.errors import BadInput
from snellen.experiments.schema import Report
from snellen.graphs.messages import MAX_PICTURES, Read, read_message, reply_message, text_of
from snellen.learning.feedback import bears_on, told
from snellen.learning.records import LearningOutcome
from snellen.learning.teachable import checked_concept, needs_for
from snellen.nodes.chat.forgetting import ACTION, WHICH, forgotten, proposal, request
from snellen.nodes.learn.approval import answered
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.case_based.routing import cue_of
from snellen.reasoning.critique import Feedback
from snellen.reasoning.language.corrections import read_correction
from snellen.reasoning.language.forget_requests import ForgetOrder, agrees, declines, read_forget_order
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.language.lexicon import lexicon_of
from snellen.reasoning.language.replies import Remark, greets, is_courtesy, read_remark
from snellen.runtime.context import Context, thread_name
from snellen.runtime.requests import Order, beginning
from snellen.runtime.resources import context_of
from snellen.runtime.settings import Given, InvestigationSettings
from snellen.summaries.outcomes import (
    answer_in_words,
    bare_name,
    evidence_in_words,
    knowledge_in_words,
    lessons_in_words,
    steps_in_words,
)
from snellen.summaries.runs import drawn, in_words
from snellen.values import Picture, Region, from_json, to_json

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    # Types only: at run time the graphs know the nodes, never the other way round.
    from snellen.graphs.states import AskState, ChatState, InvestigateState, Json, LearnState

Place = Literal["ask", "learn", "investigate", "explain", "forget", "erase", "reply"]

CHAT_IMAGES: Final = 600
"""Pictures that an investigation within a chat may use, where nothing else is said: a minute or two."""
_MOST_SHOWN: Final = 4
"""Pictures of a reply."""
_MOST_READ: Final = 300
"""Characters of a message in which a command is looked for."""
_SEARCHES: Final = ("LOC", "FACEDET", "SEG", "SELECT", "CLASSIFY")

_GREETING: Final = (
    "Show me pictures and say what to do with them (“How many dogs are there?”, “Blur all but the dog”), say what was "
    "wrong with an answer, ask what models can see (“Are the models robust to rotation?”), or have me learn something "
    "(“learn what a penguin is”). “Why?” explains the last answer, “forget it” takes back what I learned from it."
)
_UNCLEAR: Final = f"I do not understand what to do with that. {_GREETING}"
_NOTHING_SHOWN: Final = "There is no picture to look at yet: send one with the question."
_NOTHING_YET: Final = f"There is nothing to explain yet. {_GREETING}"
_WELCOME: Final = "You are welcome."
_NOT_LEARNED: Final = "Then I learn nothing from it."
_NOTHING_TAUGHT: Final = (
    "Nothing was learned in this conversation. Say what to forget: “forget flamingos”, or “forget everything”."
)
_KEPT: Final = "I have forgotten nothing."
_NOT_UNDERSTOOD: Final = (
    "I do not understand what the answer should be, so I learn nothing from it. Say it in a few words: “it should be "
    "three”, “that is not a cat”, “there is also a cat on the left”."
)

_ABOUT_MEMORY: Final = re.compile(
    r"\bwhat (?:do|did|have|all do) you (?:already |still )?(?:know|learn(?:ed|t)?|remember)"
    r"(?: (?:about|of) (?P<named>[\w -]+))?|\bdo you know (?P<asked>[\w -]+)",
    re.IGNORECASE,
)
_TO_LEARN: Final = re.compile(
    r"\b(?:learn|teach yourself|get to know)\b"
    r"(?: (?:what|how|to|see|recogni[sz]e|find|tell|about|the|an?|looks?|like))*"
    r" (?P<named>[\w -]+?)(?: (?:is|are|look(?:s)?(?: like)?))?$",
    re.IGNORECASE,
)


async def receive(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Read the last message of the person: store its pictures, keep references to them."""
    context = await context_of(runtime, state)
    last = _last_said(state)
    if last is None:
        return {"said": _GREETING, "began": _now()}
    read = await asyncio.to_thread(read_message, last, context.pictures)
    known = [to_json(one) for one in read.pictures]
    fresh = {"pictures": known, "notices": list(read.notices)} if known else {}
    return {
        "messages": [read.message],
        "turn": state.turn + 1,
        "began": _now(),
        "fresh": bool(read.pictures),
        "said": " ".join(read.troubles) or _wordless(read),
        "shown": [],
        "remark": {},
        "route": "",
    } | fresh


async def route(state: ChatState, runtime: Runtime[Given]) -> Command[Place]:
    """Say which part of Snellen the message is for."""
    if state.said:
        return Command(goto="reply")
    context = await context_of(runtime, state)
    text = text_of(cast("HumanMessage", _last_said(state)))
    # Whatever is said to a question answers it: only a plain yes agrees, and nothing stays open.
    pending: Json = {} if state.fresh else state.pending
    settled: Json = {"pending": {}}
    if ACTION in pending and agrees(text):
        return Command(update={"route": "forget"}, goto="erase")
    if pending and declines(text):
        said = _KEPT if ACTION in pending else _NOT_LEARNED
        return Command(update={"said": said, "route": state.route} | settled, goto="reply")
    remark = Remark(**pending["remark"]) if "remark" in pending and agrees(text) else _remark(state, text, context)
    if remark:
        return await _to_feedback(state, remark, context)
    if is_courtesy(text):
        said = f"Hello. {_GREETING}" if greets(text) else _WELCOME
        return Command(update={"said": said, "route": "unclear"} | settled, goto="reply")
    chosen = "explain" if _ABOUT_MEMORY.search(_words(state)) else await context.reasoner.route(text)
    if chosen == "unclear":
        return Command(update={"said": _UNCLEAR, "route": chosen} | settled, goto="reply")
    if chosen == "ask" and not state.pictures:
        return Command(update={"said": _NOTHING_SHOWN, "route": chosen} | settled, goto="reply")
    return Command(update={"route": chosen} | settled, goto=chosen)


async def _to_feedback(state: ChatState, remark: Remark, context: Context) -> Command[Place]:
    """Act on a remark about the last answer; ask first where it is not sure that it is one."""
    meant: Json = {"right": remark.right, "expected": remark.expected, "correction": remark.correction}
    if remark.unsure:
        asked = {"said": _meant(state, remark), "route": "ask", "pending": {"remark": meant}}
        return Command(update=asked, goto="reply")
    said = await asyncio.to_thread(_objection, state, remark, context)
    update: Json = {"said": said, "route": "ask", "remark": meant, "pending": {}}
    return Command(update=update, goto="reply" if said else "ask")


def _meant(state: ChatState, remark: Remark) -> str:
    """Ask whether a sentence corrects the last answer."""
    answer, found = in_words(from_json(state.last["state"]["answer"])), read_correction(remark.correction)
    if not (remark.expected or found.expected or found.present):
        return f"Do you mean that “{answer}” is wrong? Say “yes”, and I look into it."
    other = remark.expected or found.expected or f"with {found.present}"
    return f"Do you mean that the answer should be “{other}”, and not “{answer}”? Say “yes”, and I look into it."


async def explain(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Tell how the last result came about, from what was recorded of it; or what was learned, if that is asked."""
    asked = _ABOUT_MEMORY.search(_words(state))
    if asked is not None:
        named = (asked["named"] or asked["asked"] or "").strip()
        return {"said": await asyncio.to_thread(knowledge_in_words, named, await context_of(runtime, state))}
    of, kept = state.last.get("graph"), state.last.get("state", {})
    if of == "ask":
        return {"said": steps_in_words(_task(state))}
    if of == "investigate":
        return {"said": evidence_in_words(Report.model_validate(kept["report"]))}
    if of == "learn":
        return {"said": lessons_in_words([LearningOutcome.from_json(one) for one in kept["learned"]], reasons=True)}
    return {"said": _NOTHING_YET}


async def forget(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Propose what would be forgotten, and ask; nothing is deleted here, whoever sent the message this way."""
    context = await context_of(runtime, state)
    order = read_forget_order(_words(state))
    if order is None:
        return {"said": WHICH}
    if not (order.concept or order.everything or state.taught):
        return {"said": _NOTHING_TAUGHT}
    return await asyncio.to_thread(_proposed, order, state, context)


def waits_for_a_decision(state: ChatState) -> bool:
    """Tell whether the last reply asked whether something may be forgotten."""
    return ACTION in state.pending


async def confirm(state: ChatState) -> Command[Literal["erase", "reply"]]:
    """Wait until somebody decides about what would be forgotten; what may not be is kept."""
    (refused,) = answered(request(state.pending[ACTION]))
    if refused is None:
        return Command(goto="erase")
    return Command(update={"said": _KEPT, "pending": {}}, goto="reply")


async def erase(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Delete what was asked about and agreed to; ask again where memory has changed since."""
    context = await context_of(runtime, state)
    asked: Json = state.pending[ACTION]
    order = ForgetOrder(asked["concept"], everything=asked.get("everything", False))
    proposed = await asyncio.to_thread(proposal, order, state.taught, context)
    if proposed.fingerprint != asked["fingerprint"]:
        changed = await asyncio.to_thread(_proposed, order, state, context)
        return changed | {"said": f"What would go has changed since I asked. {changed['said']}"}
    said = await asyncio.to_thread(forgotten, proposed, context)
    return {"said": said, "pending": {}} | ({} if asked["concept"] else {"taught": {}})


def _proposed(order: ForgetOrder, state: ChatState, context: Context) -> Json:
    """Return the question whether something may be forgotten, and what it is bound to."""
    proposed = proposal(order, state.taught, context)
    if not proposed:
        return {"said": proposed.absence(), "pending": {}}
    return {"said": proposed.question(), "pending": {ACTION: proposed.to_json() | {"concept": order.concept}}}


async def reply(state: ChatState) -> Json:
    """Answer, with the pictures that belong to the answer."""
    pictures = [one for one in map(from_json, state.shown[:_MOST_SHOWN]) if isinstance(one, Picture)]
    said = state.said or "Done."
    return {"messages": [reply_message(said, pictures, route=state.route, turn=state.turn)]}


# --- what the other graphs begin with ------------------------------------------------------------------------


def task_of(state: ChatState) -> Json:
    """Return the fields that a visual task begins with: a new one, or the last one with what was said about it."""
    remark = Remark(**state.remark) if state.remark else Remark()
    if not remark:
        text = text_of(cast("HumanMessage", _last_said(state)))
        pictures = state.pictures[-MAX_PICTURES:]
        begun: Json = {"instruction": text, "pictures": pictures, "warnings": list(state.notices)}
        return begun | {"profile": state.profile or "embedded"} | _approving(state)
    before: Json = state.last["state"]
    right = in_words(from_json(before["answer"])) if remark.right else None
    feedback = Feedback(remark.expected or right, remark.correction or None)
    return before | told(before["learned"], feedback) | _approving(state)


def learning_of(state: ChatState, context: Context) -> Json:
    """Return the fields that a learning run begins with.

    Raises:
        BadInput: The message names nothing that could be learned.
    """
    found = _TO_LEARN.search(_words(state))
    if found is None or context.profile is None:
        msg = "Say what to learn in a word or two: “learn what a penguin is”."
        raise BadInput(msg)
    concept = checked_concept(singular(bare_name(found["named"])))
    needs = needs_for(concept, (), None, context.profile)
    return {"needs": needs, "profile": state.profile or "embedded", "seed": state.turn} | _approving(state)


def inquiry_of(state: ChatState, given: Given | None) -> Json:
    """Return the fields that an investigation begins with.

    Raises:
        BadInput: The question or the settings cannot be used.
    """
    chosen = given if isinstance(given, InvestigationSettings) else InvestigationSettings()
    budget = {name: value for name in ("images", "trials", "seconds") if (value := getattr(chosen, name))}
    order = Order(
        query=text_of(cast("HumanMessage", _last_said(state))),
        models=chosen.models,
        profile=chosen.profile or state.profile or "embedded",
        alpha=chosen.alpha,
        budget={"images": CHAT_IMAGES} | budget,
        approve=chosen.approve if state.approve is None else state.approve,
        correct=chosen.correct,
        protocol=chosen.protocol,
    )
    return beginning(album_name(state), order)


# --- what is told of how they ended --------------------------------------------------------------------------


def album_name(state: ChatState) -> str:
    """Return the name under which the pictures of an investigation of this turn are kept."""
    return f"{thread_name()[:56].rstrip('._-')}.{state.turn}"


def task_told(state: ChatState, ended: AskState, context: Context) -> Json:
    """Return what a conversation keeps of a task, and says of it."""
    remark = Remark(**state.remark) if state.remark else Remark()
    answer = from_json(ended.answer)
    shown: list[Picture] = []
    if isinstance(answer, Picture):
        shown = [answer]
    elif (outlined := drawn(answer, context.pictures)) is not None:
        shown = [context.pictures.put(outlined)]
    taught = _taught(state, ended)
    return {
        "said": answer_in_words(ended, remark),
        "shown": [to_json(one) for one in shown],
        "last": {"graph": "ask", "state": _kept(ended)},
    } | ({"taught": taught} if taught else {})


def learning_told(state: ChatState, ended: LearnState, context: Context) -> Json:
    """Return what a conversation keeps of a learning run, and says of it."""
    learned = [LearningOutcome.from_json(one) for one in ended.learned]
    pictures = [one for each in learned for one in each.pictures]
    shown = [to_json(Picture(one, *context.pictures.get(one).size)) for one in pictures[:_MOST_SHOWN]]
    needs = [each.need.to_json() for each in learned if each.kept]
    taught = {"since": state.began, "needs": needs, "instruction": ""} if needs else {}
    return {
        "said": lessons_in_words(learned),
        "shown": shown,
        "last": {"graph": "learn", "state": {"learned": ended.learned}},
    } | ({"taught": taught} if taught else {})


def inquiry_told(ended: InvestigateState) -> Json:
    """Return what a conversation keeps of an investigation, and says of it."""
    report = Report.model_validate(ended.report)
    kept = {
        name: getattr(ended, name) for name in ("investigation", "query", "models", "profile", "report", "protocol")
    }
    corrected = {name: getattr(ended, name) for name in ("corrections", "after") if getattr(ended, name)}
    said = report.conclusion or "It found nothing out."
    more = f"\n\n{report.images:,} pictures, {report.trials:,} questions. “Why?” shows the evidence." * bool(
        report.images
    )
    return {"said": said + more, "last": {"graph": "investigate", "state": kept | corrected}}


def _taught(state: ChatState, ended: AskState) -> Json:
    """Return what a task left in memory, so that it can be taken back."""
    needs = [one["need"] for one in ended.learned if one["kept"]]
    if not needs and ended.verdict != "right":
        return {}
    return {"since": state.began, "needs": needs, "instruction": " ".join(ended.instruction.split())}


# --- reading a message ---------------------------------------------------------------------------------------


def _words(state: ChatState) -> str:
    """Return the beginning of the message that is to be answered, as far as commands are looked for in it."""
    return text_of(cast("HumanMessage", _last_said(state)))[:_MOST_READ].rstrip(" .!?")


def _last_said(state: ChatState) -> HumanMessage | None:
    """Return the message that is to be answered: the last of the person."""
    return next((one for one in reversed(state.messages) if isinstance(one, HumanMessage)), None)


def _wordless(read: Read) -> str:
    if read.text:
        return ""
    return "What shall I do with it? Ask something about it, or say what to change." if read.pictures else _GREETING


def _task(state: ChatState) -> AskState:
    from types import SimpleNamespace

    return cast("AskState", SimpleNamespace(**state.last["state"]))


def _remark(state: ChatState, text: str, context: Context) -> Remark:
    """Read a message as feedback on the last answer; nothing where there is none, or new pictures came with it."""
    if state.last.get("graph") != "ask" or state.fresh:
        return Remark()
    answer = from_json(state.last["state"]["answer"])
    shows = isinstance(answer, Picture | Region) or (isinstance(answer, list) and bool(answer))
    names = lexicon_of(context.profile).nouns if context.profile else {}
    return read_remark(text, shows=shows, noun=_looked_for(_task(state)), answer=answer, names=names)


def looks_back(text: str) -> bool:
    """Tell whether a message is about what was answered before it: feedback, a "why?", a "forget it"."""
    return bool(read_remark(text, shows=True)) or cue_of(text) in {"explain", "forget"}


def is_task(text: str) -> bool:
    """Tell whether a message may be a visual task: it has words, and they do not say that it is something else."""
    return bool(text) and cue_of(text) is None and not looks_back(text)


def _looked_for(task: AskState) -> str:
    """Return the name of what the task's program looked for last."""
    for step in reversed(task.steps):
        name = step.get("arguments", {}).get("object")
        if step.get("tool") in _SEARCHES and isinstance(name, str):
            return singular(name)
    return ""


def _objection(state: ChatState, remark: Remark, context: Context) -> str:
    """Say why nothing can be learned from a remark; nothing where something can."""
    answer = from_json(state.last["state"]["answer"])
    if remark.right:
        compared = isinstance(answer, str | int | float | bool) and not state.last["state"]["error"]
        return "" if compared else "Good. There is nothing to correct then."
    feedback = Feedback(remark.expected or None, remark.correction or None, None)
    if feedback.expected:
        return ""
    said = read_correction(remark.correction)
    if not said and isinstance(context.reasoner, CaseReasoner):
        return _NOT_UNDERSTOOD
    return "" if bears_on(said, answer) else f"{_NOT_UNDERSTOOD} The answer was “{in_words(answer)}”."


def _approving(state: ChatState) -> Json:
    return {"approve": bool(state.approve)}


def _kept(ended: AskState) -> Json:
    from dataclasses import asdict

    # What reflection read and tried is of no use to the next message.
    spared: Json = {"described": [], "attempts": [], "lessons": [], "needs": [], "region": None}
    return asdict(replace(ended, **cast("Any", spared)))


def _now() -> str:
    # As precisely as memory notes when something was learned.
    return datetime.now(UTC).isoformat(timespec="seconds")
