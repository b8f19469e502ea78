"""The conversation so far, with which a message is read, and the answer that it may be about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from snellen.errors import SnellenError
from snellen.learning.taught_names import taught_names
from snellen.nodes.chat.messages import last_task
from snellen.reasoning.language.inflection import singular
from snellen.reasoning.meanings.meanings import Meaning, read_meaning
from snellen.reasoning.queries.query_readings import UnreadQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.conversation import Dialogue
from snellen.reasoning.reading.lexical_entries import LexicalNoun, entries
from snellen.reasoning.reading.remarks import GivenAnswer
from snellen.values import Picture, Region, from_json

if TYPE_CHECKING:
    from pathlib import Path

    from snellen.graphs.states import AskState, ChatState
    from snellen.runtime.context import Context

_MODELS: Final = re.compile(
    r"\b(?:investigate|examine|benchmark|models?|vlms?|detectors?|robust(?:ness)?|weakness(?:es)?)\b", re.IGNORECASE
)
_SEARCHES: Final = ("LOC", "FACEDET", "SEG", "SELECT", "CLASSIFY")


def dialogue_of(state: ChatState, context: Context) -> Dialogue:
    """Return what the next part of a message is read with."""
    names = taught_names(context.learning)
    return Dialogue(
        max(len(state.pictures), 1),
        facts_file(context),
        last_meaning(state),
        names,
        lambda text: is_about_models(text, context),
    )


def is_about_models(text: str, context: Context) -> bool:
    """Tell whether a sentence asks about models: it names one or speaks of them, or reads as a question about them."""
    if context.profile is None:
        return _MODELS.search(text) is not None
    names = tuple(context.profile.tested)
    named = any(re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) for name in names)
    return bool(named or _MODELS.search(text)) or not isinstance(read_query(text, names, context.profile), UnreadQuery)


def facts_file(context: Context) -> Path | None:
    """Return the file of concepts that may be named; None where any name may be."""
    return context.profile.facts_path() if context.profile else None


def last_meaning(state: ChatState) -> Meaning | None:
    """Return the meaning of the last instruction about pictures; None where there was none, or it was not read."""
    text = state.last.get("meaning")
    try:
        return read_meaning(text) if text else None
    except SnellenError:
        return None


def was_answered(state: ChatState) -> bool:
    """Tell whether a remark could be about an answer: of the last task, about pictures that did not just come."""
    return state.last.get("graph") == "ask" and not state.fresh


def given_answer(state: ChatState, context: Context) -> GivenAnswer:
    """Return the answer that a remark may be about."""
    value = from_json(state.last["state"]["answer"])
    shows = isinstance(value, Picture | Region) or (isinstance(value, list) and bool(value))
    return GivenAnswer(value, shows=shows, noun=_looked_for(last_task(state)), names=_names(context))


def _names(context: Context) -> frozenset[str]:
    nouns = [each.value for each in entries(facts_file(context)) if isinstance(each.value, LexicalNoun)]
    return frozenset(name for noun in nouns for name in noun.names)


def _looked_for(task: AskState) -> str:
    """Return the name of what the task's program looked for last."""
    for step in reversed(task.steps):
        name = step.get("arguments", {}).get("object")
        if step.get("tool") in _SEARCHES and isinstance(name, str):
            return singular(name)
    return ""
