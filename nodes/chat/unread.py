"""Sentences that no grammar reads: which words are not known, what may be meant instead, and what can be taught."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from snellen.nodes.chat.courtesies import ABILITIES
from snellen.nodes.chat.dialogue import facts_file, last_meaning
from snellen.reasoning.language.inflection import listing, singular, with_article
from snellen.reasoning.reading.conversation import MAX_PICTURES
from snellen.reasoning.reading.reader import Unread, read

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState
    from snellen.reasoning.reading.conversation import SentenceReading
    from snellen.runtime.context import Context

NOT_READ: Final = "I do not understand what to do with that."
_OTHERWISE: Final = "Say it in other words, or ask for help."
_MOST_WORDS: Final = 4


@dataclass(frozen=True)
class UnreadReply:
    """A reply to what was not read.

    Attributes:
        text: The reply.
        instead: The sentence that is offered in its place; empty where none is.
    """

    text: str
    instead: str = ""


def unread_reply(reading: SentenceReading, state: ChatState, context: Context) -> UnreadReply:
    """Say what was not understood; of one misspelt word, offer the nearest known one."""
    unread = reading.about_pictures
    words = unread.words if isinstance(unread, Unread) else ()
    if not words:
        return UnreadReply(f"{NOT_READ} {_OTHERWISE if state.last else ABILITIES}")
    listed = listing([f"“{word}”" for word in words[:_MOST_WORDS]])
    text = f"I do not know the word{'s' if len(words) > 1 else ''} {listed}, so I do not understand that."
    nearest = unread.nearest[0] if isinstance(unread, Unread) and len(words) == 1 else ""
    if nearest:
        instead = re.sub(rf"\b{re.escape(words[0])}\b", nearest, reading.text, flags=re.IGNORECASE)
        return UnreadReply(f"{text} Do you mean “{instead}”? Say “yes”.", instead)
    before, pictures = last_meaning(state), max(min(len(state.pictures), MAX_PICTURES), 1)
    names_things = not isinstance(read(reading.text, pictures, facts_file(context), open_=True, before=before), Unread)
    if names_things:
        name = with_article(singular(words[0]))
        return UnreadReply(f"{text} If it can be seen in pictures, have me learn it: “learn what {name} is”.")
    return UnreadReply(f"{text} {_OTHERWISE}")
