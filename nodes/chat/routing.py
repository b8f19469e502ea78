"""The node that chooses the part of Snellen which a message is for: the one whose grammar reads it.

A message may say several things, which are answered one after the other: the node is come back to until none is left.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command

from snellen.nodes.chat import courtesies, feedback
from snellen.nodes.chat.dialogue import (
    dialogue_of,
    facts_file,
    given_answer,
    is_about_models,
    last_meaning,
    was_answered,
)
from snellen.nodes.chat.forgetting import ACTION, KEPT
from snellen.nodes.chat.messages import last_text
from snellen.nodes.chat.unread import unread_reply
from snellen.reasoning.case_based.reasoner import CaseReasoner
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import write_meaning
from snellen.reasoning.meanings.talk import (
    Agreement,
    Assent,
    Correction,
    Courtesy,
    Decline,
    Doubt,
    ForgetOrder,
    Help,
    KnowledgeQuestion,
    LearnOrder,
    Naming,
    Repeat,
    Selection,
    Talk,
    Why,
)
from snellen.reasoning.meanings.things import Filter, IsA
from snellen.reasoning.reading.conversation import (
    MAX_PICTURES,
    MessageParts,
    SentenceReading,
    parts_of,
    single_meanings,
)
from snellen.reasoning.reading.follow_ups import kind_of, spoken_of
from snellen.reasoning.reading.reader import Ambiguous, Understood, read
from snellen.reasoning.reading.remarks import Remark, remark_of
from snellen.runtime.resources import context_of

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import ChatState, Json
    from snellen.runtime.context import Context
    from snellen.runtime.settings import Given

Place = Literal["ask", "learn", "investigate", "explain", "forget", "erase", "reply", "route"]

_OPPOSITES: Final = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}
NOTHING_SHOWN: Final = "There is no picture to look at yet: send one with the question."
_NOT_LEARNED: Final = "Then I learn nothing from it."
_NOT_CHOSEN: Final = "Then say it in other words."
_WHAT_TO_LEARN: Final = "What shall I learn? Say it in a word or two: “learn what a penguin is”."


async def route(state: ChatState, runtime: Runtime[Given]) -> Command[Place]:
    """Choose the part of Snellen that the next part of the message is for."""
    context = await context_of(runtime, state)
    if state.said and not state.part and not (state.fresh and "instruction" in state.pending):
        return Command(goto="reply")
    begun = await asyncio.to_thread(_next_part, state, context)
    from dataclasses import replace

    chosen = await _Router(replace(state, **begun), context).choose()
    update = {**begun, **dict(chosen.update or {})} if isinstance(chosen.update, dict) else begun
    goto = chosen.goto
    if goto == "reply" and update["queue"] and not update.get("pending"):
        goto = "route"
    return Command(update=update, goto=goto)


def _next_part(state: ChatState, context: Context) -> Json:
    """Return the fields that change as the next part of a message is taken up."""
    plain: Json = {"said": "", "instruction": "", "understood": "", "meaning": "", "talk": {}, "remark": {}}
    if state.part:
        return plain | {"part": state.queue[0], "queue": state.queue[1:], "answers": [*state.answers, state.said]}
    message = parts_of(last_text(state), dialogue_of(state, context))
    left = [*message.asides, *message.unread]
    if any(is_about_models(each, context) for each in left):
        # What stands around a question about models says of what pictures it asks.
        message = MessageParts((*message.parts, " ".join(left)))
    first, *rest = message.parts
    return plain | {
        "part": first,
        "queue": rest,
        "asides": list(message.asides),
        "missed": list(message.unread),
        "answers": [],
    }


class _Router:
    """The choice of a place for one part of a message."""

    def __init__(self, state: ChatState, context: Context) -> None:
        self.state, self.context = state, context
        # Whatever is said to a question answers it: nothing stays open.
        self.pending: Json = {} if state.fresh else state.pending

    async def choose(self) -> Command[Any]:
        """Choose, and say what is to be done there."""
        dialogue = await asyncio.to_thread(dialogue_of, self.state, self.context)
        reading = await asyncio.to_thread(dialogue.understand, self.state.part)
        decision = self._decision(reading)
        if decision is not None:
            return decision
        waiting = self.state.pending.get("instruction")
        if waiting and self.state.fresh and not reading.is_instruction:
            return self._to_instruction(waiting)
        talk = self._talk_in(reading)
        if talk is not None:
            return await self._to_talk(talk)
        if isinstance(reading.about_pictures, Understood):
            return self._to_ask(self.state.part, reading.about_pictures)
        if isinstance(reading.about_pictures, Ambiguous):
            return self._to_choice([echo(each) for each in reading.about_pictures.meanings])
        return await self._unread(reading)

    # --- replies to what was asked -----------------------------------------------------------------------------

    def _decision(self, reading: SentenceReading) -> Command[Any] | None:
        """Return what a reply to a question leads to; None where none was asked, or it is another matter."""
        kinds = {type(each) for each in reading.talk}
        if not self.pending:
            return None
        assents = bool(kinds & {Assent, Agreement}) and not reading.is_instruction
        if ACTION in self.pending and Assent in kinds and not reading.is_instruction:
            return Command(update={"route": "forget"}, goto="erase")
        if Decline in kinds and "instruction" not in self.pending:
            kept = KEPT if ACTION in self.pending else _NOT_LEARNED if "remark" in self.pending else _NOT_CHOSEN
            return self._reply(kept, self.state.route)
        if "remark" in self.pending and assents:
            return feedback.agreed(Remark(**self.pending["remark"]), self.state, self.context)
        options: list[str] = self.pending.get("choice", [])
        place = _selected(reading, options, assents=assents)
        return None if place is None else self._to_instruction(options[place])

    def _to_instruction(self, instruction: str) -> Command[Any]:
        dialogue = dialogue_of(self.state, self.context)
        reading = dialogue.understand(instruction).about_pictures
        if isinstance(reading, Understood):
            return self._to_ask(instruction, reading)
        return self._to("ask", instruction=instruction, understood=instruction)

    # --- talk --------------------------------------------------------------------------------------------------

    def _talk_in(self, reading: SentenceReading) -> Talk | None:
        """Return what a part says as talk; None where it is an instruction, or unread."""
        for talk in sorted(reading.talk, key=self._says_another_side, reverse=True):
            match talk:
                case Correction() | Doubt(correction=Correction()):
                    if self._corrects(talk, reading):
                        return talk
                case Decline(bare=True) if was_answered(self.state):
                    return Correction(manner="denied")
                case Naming() | Selection():
                    continue
                case Agreement() | Doubt() if was_answered(self.state):
                    return talk
                case Courtesy() | Assent() | Decline() | Agreement() | Doubt() if reading.is_instruction:
                    continue
                case Assent() | Decline() if any(not isinstance(each, Assent | Decline) for each in reading.talk):
                    continue  # nothing was asked
                case _:
                    return talk
        return None

    def _says_another_side(self, talk: Talk) -> bool:
        """Tell whether "no, right" means a side: where the answer was another one."""
        if not (isinstance(talk, Correction) and talk.side and was_answered(self.state)):
            return False
        return str(given_answer(self.state, self.context).value) == _OPPOSITES[talk.side]

    def _corrects(self, talk: Correction | Doubt, reading: SentenceReading) -> bool:
        """Tell whether a correction is one of the last answer, and no statement about the picture of its own."""
        correction = talk if isinstance(talk, Correction) else talk.correction
        if correction is None or not was_answered(self.state):
            return False
        remark = remark_of(correction, given_answer(self.state, self.context))
        if not remark or not reading.is_instruction:
            return bool(remark)
        if isinstance(talk, Doubt):
            return False
        if correction.manner != "stated":
            return True
        before = last_meaning(self.state)
        topic = None if before is None else spoken_of(before)
        return not correction.present or (topic is not None and _names(topic, correction.present))

    async def _to_talk(self, talk: Talk) -> Command[Any]:  # noqa: PLR0911 - one for each kind of talk
        said: Json = {"talk": talk.model_dump(mode="json")}
        match talk:
            case Why() | KnowledgeQuestion():
                return self._to("explain", **said)
            case Doubt() if was_answered(self.state):
                return self._to("explain", **said)
            case LearnOrder(name=""):
                return self._reply(_WHAT_TO_LEARN, "learn")
            case LearnOrder():
                return self._to("learn", **said)
            case ForgetOrder():
                return self._to("forget", **said)
            case Agreement() if was_answered(self.state):
                return await feedback.given(Remark(right=True), self.state, self.context)
            case Correction():
                remark = remark_of(talk, given_answer(self.state, self.context))
                return await feedback.given(remark, self.state, self.context)
            case Help():
                return self._reply(courtesies.ABILITIES, "explain")
            case Repeat():
                return self._reply(courtesies.repeated(self.state), "explain")
        return self._reply(courtesies.reply_to(talk), "unclear")

    # --- instructions ------------------------------------------------------------------------------------------

    def _to_ask(self, text: str, reading: Understood) -> Command[Any]:
        first, *rest = single_meanings(reading.meaning)
        told = [*self.state.asides, *reading.asides]
        alone = read(text, max(min(len(self.state.pictures), MAX_PICTURES), 1), facts_file(self.context))
        stands_alone = isinstance(alone, Understood) and alone.meaning == reading.meaning and not rest
        plain = stands_alone and not reading.corrected and text in last_text(self.state)
        update: Json = {
            "instruction": text if stands_alone else echo(first),
            "understood": "" if plain else echo(first),
            "meaning": write_meaning(first),
            "asides": told,
            "queue": [*map(echo, rest), *self.state.queue],
        }
        return self._to("ask", **update)

    def _to_choice(self, options: list[str]) -> Command[Any]:
        if len(options) == 1:
            return self._reply(f"Do you mean “{options[0]}”? Say “yes”.", "ask", pending={"choice": options})
        listed = ", or ".join(f"({number}) “{each}”" for number, each in enumerate(options, 1))
        return self._reply(f"Do you mean {listed}? Say which.", "ask", pending={"choice": options})

    async def _unread(self, reading: SentenceReading) -> Command[Any]:
        text = self.state.part
        if is_about_models(text, self.context):
            return self._to("investigate", instruction=text)
        if not reading.talk and feedback.only_denied(text) and was_answered(self.state):
            return await feedback.not_understood(text, self.state, self.context)
        if not isinstance(self.context.reasoner, CaseReasoner):
            chosen = await self.context.reasoner.route(text)
            if chosen != "unclear":
                return self._to(chosen, instruction=text)
        unread = await asyncio.to_thread(unread_reply, reading, self.state, self.context)
        return self._reply(unread.text, "unclear", pending={"choice": [unread.instead]} if unread.instead else {})

    # --- commands ----------------------------------------------------------------------------------------------

    def _to(self, place: str, **update: Any) -> Command[Any]:  # noqa: ANN401 - fields of the state
        if place == "ask" and not self.state.pictures:
            waiting = {"instruction": update["instruction"]}
            return self._reply(NOTHING_SHOWN, "ask", pending=waiting)
        return Command(update={"route": place, "pending": {}, **update}, goto=place)

    def _reply(self, text: str, chosen: str, *, pending: Json | None = None) -> Command[Any]:
        return Command(update={"said": text, "route": chosen, "pending": pending or {}}, goto="reply")


def _selected(reading: SentenceReading, options: list[str], *, assents: bool) -> int | None:
    """Return the place of the option that a reply chooses; None where it chooses none."""
    if not options:
        return None
    if assents:
        return 0 if len(options) == 1 else None
    bare = " ".join(reading.text.casefold().split()).strip(" .!?")
    spelled = [place for place, each in enumerate(options) if each.casefold().strip(" .?") == bare]
    if spelled:
        return spelled[0]
    number = next((each.number for each in reading.talk if isinstance(each, Selection)), 0)
    place = len(options) - 1 if number == -1 else number - 1
    return place if 0 <= place < len(options) else None


def _names(topic: Any, name: str) -> bool:  # noqa: ANN401 - a set
    kind = kind_of(topic)
    return isinstance(kind, Filter) and isinstance(kind.property, IsA) and name in kind.property.names
