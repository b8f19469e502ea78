"""Nodes that forget in a conversation: what would go is listed, a person is asked, and only what was listed goes.

A request to forget deletes nothing by itself. ``forget`` makes a proposal, which is kept in the state, said in words,
and asked about in the shape of ``snellen.runtime.approval``, so that pages, Studio and the command line can show and
answer it; a plain "yes" as the next message answers it as well. When memory has changed since, ``erase`` asks again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from langgraph.types import Command

from snellen.memory.prompts.rows import PromptSelection
from snellen.nodes.chat.messages import talk_of
from snellen.reasoning.language.inflection import counted, singular
from snellen.reasoning.meanings.talk import ForgetOrder
from snellen.runtime.approval import approval_request, ask_for_approval
from snellen.runtime.resources import context_of

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import ChatState, Json
    from snellen.memory.prompts.records import PromptRow
    from snellen.runtime.context import Context
    from snellen.runtime.settings import Given

ACTION: Final = "forget"
"""The name of the requested action."""

KEPT: Final = "I have forgotten nothing."

_WHICH: Final = (
    "Shall I forget something that I learned? Then name it: “forget what you learned about flamingos”, or “forget it” "
    "after a lesson. I have forgotten nothing."
)
_NOTHING_TAUGHT: Final = (
    "Nothing was learned in this conversation. Say what to forget: “forget flamingos”, or “forget everything”."
)
_MOST_NAMED: Final = 6
"""Questions, and instructions of examples, that are quoted."""


async def forget(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Propose what would be forgotten, and ask; nothing is deleted here, whoever sent the message this way."""
    context = await context_of(runtime, state)
    order = talk_of(state)
    if not isinstance(order, ForgetOrder):
        return {"said": _WHICH}
    if not (order.name or order.everything or state.taught):
        return {"said": _NOTHING_TAUGHT}
    return await asyncio.to_thread(_proposed, order, state, context)


def waits_for_a_decision(state: ChatState) -> bool:
    """Tell whether the last reply asked whether something may be forgotten."""
    return ACTION in state.pending


async def confirm(state: ChatState) -> Command[Literal["erase", "reply"]]:
    """Wait until somebody decides about what would be forgotten; what may not be is kept."""
    proposed: Json = state.pending[ACTION]
    (rejection,) = ask_for_approval(approval_request(ACTION, [(f"Forget {proposed['listed']}.", proposed)]))
    if rejection is None:
        return Command(goto="erase")
    return Command(update={"said": KEPT, "pending": {}}, goto="reply")


async def erase(state: ChatState, runtime: Runtime[Given]) -> Json:
    """Delete what was asked about and agreed to; ask again where memory has changed since."""
    context = await context_of(runtime, state)
    agreed: Json = state.pending[ACTION]
    order = ForgetOrder(name=agreed["concept"], everything=agreed.get("everything", False))
    proposed = await asyncio.to_thread(_proposal, order, state.taught, context)
    if proposed.fingerprint != agreed["fingerprint"]:
        changed = await asyncio.to_thread(_proposed, order, state, context)
        return changed | {"said": f"What would go has changed since I asked. {changed['said']}"}
    text = await asyncio.to_thread(_forget, proposed, context)
    return {"said": text, "pending": {}} | ({} if agreed["concept"] else {"taught": {}})


def _proposed(order: ForgetOrder, state: ChatState, context: Context) -> Json:
    """Return the question whether something may be forgotten, and what it is bound to."""
    proposed = _proposal(order, state.taught, context)
    if not proposed:
        return {"said": proposed.absence(), "pending": {}}
    return {"said": proposed.question(), "pending": {ACTION: proposed.to_json() | {"concept": order.name}}}


@dataclass(frozen=True)
class Proposal:
    """The prompts and examples that would be forgotten.

    Attributes:
        concept: What it was learned about; empty for what the last lesson taught.
        prompts: The prompts that would go.
        examples: The ids of remembered examples that would go.
        instruction: Of which task the examples are.
        everything: Whether it is all that was ever learned.
    """

    concept: str = ""
    prompts: tuple[PromptRow, ...] = ()
    examples: tuple[str, ...] = ()
    instruction: str = ""
    everything: bool = False

    def __bool__(self) -> bool:
        """Whether anything would go."""
        return bool(self.prompts or self.examples)

    @property
    def fingerprint(self) -> str:
        """A sum of all that would go: there may be too many ids for a checkpoint."""
        ids = sorted([*(row.id for row in self.prompts), *self.examples])
        return hashlib.sha256("\n".join(ids).encode()).hexdigest()

    def __str__(self) -> str:
        """List what would go."""
        parts = []
        for pool in sorted({row.pool for row in self.prompts}):
            rows = [row for row in self.prompts if row.pool == pool]
            about = _quoted([row.concept or row.question for row in rows])
            days = sorted({row.created[:10] for row in rows})
            learned = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
            parts.append(f"{counted(len(rows), 'prompt')} of {pool} about {about} (learned {learned})")
        if self.examples and self.everything:
            parts.append(f"{counted(len(self.examples), 'example')} of how tasks were done")
        elif self.examples:
            parts.append(f"{counted(len(self.examples), 'example')} of how “{self.instruction}” was done")
        return "; ".join(parts)

    def to_json(self) -> Json:
        """Return what the state keeps of it until it is decided about."""
        counts = {"prompts": len(self.prompts), "examples": len(self.examples)}
        bound = {"concept": self.concept, "everything": self.everything, "fingerprint": self.fingerprint}
        return bound | {"listed": str(self)} | counts

    def question(self) -> str:
        """Ask about it in words."""
        all_of_it = "everything that I have learned: " if self.everything else ""
        return f"Shall I forget {all_of_it}{self}? Say “yes” and it is gone; say anything else and I keep it."

    def absence(self) -> str:
        """Say that there is nothing to forget."""
        if self.everything:
            return "I have learned nothing yet that I could forget."
        return f"I have learned nothing about “{self.concept}”." if self.concept else "There was nothing left of it."


def _proposal(order: ForgetOrder, taught: Json, context: Context) -> Proposal:
    """Find what would be forgotten: everything, all prompts of a concept, or what the last lesson left.

    Args:
        order: What to forget.
        taught: What the conversation taught last (``ChatState.taught``).
        context: Has the memory.
    """
    prompts, concept = context.learner().prompts, order.name
    if order.everything:
        learned = tuple(one.id for one in context.pool.learned())
        return Proposal(prompts=tuple(prompts.rows()), examples=learned, everything=True)
    if concept:
        # A name may be kept as it was said: of "scissors" there is no singular.
        names = dict.fromkeys((singular(concept), concept))
        rows = {row.id: row for name in names for row in prompts.rows(PromptSelection(concept=name))}
        return Proposal(singular(concept), tuple(rows.values()))
    since = taught.get("since", "")
    left = {
        row.id: row
        for need in taught.get("needs", ())
        for row in prompts.rows(PromptSelection(concept=need["concept"]))
        if row.created >= since and row.question == need["question"]
    }
    examples = [
        one.id
        for one in context.pool.learned()
        if taught and one.created >= since and one.instruction == taught["instruction"]
    ]
    return Proposal("", tuple(left.values()), tuple(examples), str(taught.get("instruction", "")))


def _forget(proposed: Proposal, context: Context) -> str:
    """Forget what was proposed, nothing else, and say how much it was."""
    ids = [row.id for row in proposed.prompts]
    prompts = context.learner().prompts.forget(ids) if ids else 0
    examples = context.pool.forget(proposed.examples) if proposed.examples else 0
    parts = [counted(prompts, "prompt")] * bool(prompts) + [counted(examples, "example")] * bool(examples)
    if not parts:
        return "There was nothing left of it."
    what = f"about “{proposed.concept}”" if proposed.concept else "so far" if proposed.everything else "from that"
    return f"Forgotten: {' and '.join(parts)} learned {what}. Everything is as if I had never learned it."


def _quoted(names: Sequence[str]) -> str:
    once = list(dict.fromkeys(names))
    more = f" and {len(once) - _MOST_NAMED} more" if len(once) > _MOST_NAMED else ""
    return ", ".join(f"“{one}”" for one in once[:_MOST_NAMED]) + more
