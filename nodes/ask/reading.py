"""The node that reads an instruction: its meaning is found, or chosen by a person where there are several."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.learning.taught_names import taught_names
from snellen.reasoning.reading.recording import read_instruction
from snellen.runtime.approval import approval_request, ask_for_choice
from snellen.runtime.context import Context
from snellen.runtime.resources import context_of

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.graphs.states import AskState, Json
    from snellen.reasoning.reading.reading_record import ReadingRecord
    from snellen.runtime.settings import Given

ACTION: Final = "mean"
"""The name of the requested action."""


async def read(state: AskState, runtime: Runtime[Given]) -> Json:
    """Read the instruction; where it may mean several things and the Reasoner needs one, ask which."""
    context = await context_of(runtime, state)
    record = await asyncio.to_thread(_read, state, context)
    if record.status == "as it stands" and not context.reasoner.needs_one_meaning:
        # It is planned like every other.
        record = replace(record, status="unread")
    if record.status == "ambiguous" and context.reasoner.needs_one_meaning:
        place = ask_for_choice(meaning_request(record))
        record = replace(record, status="unread", why=_NONE_MEANT) if place is None else record.chosen(place)
    return {"reading": record.to_json()}


_NONE_MEANT: Final = "None of its readings is meant; say it in other words."


def meaning_request(record: ReadingRecord) -> Json:
    """Return the request to choose one of the meanings of an instruction."""
    proposals = [
        (f"Do you mean: {one.understood}", {"meaning": number, "understood": one.understood})
        for number, one in enumerate(record.options, 1)
    ]
    return approval_request(ACTION, proposals)


def _read(state: AskState, context: Context) -> ReadingRecord:
    facts = context.profile.facts_path() if context.profile else None
    return read_instruction(state.instruction, len(state.pictures), facts, taught_names(context.learning))
