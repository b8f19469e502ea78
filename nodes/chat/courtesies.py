"""Replies to what asks for nothing: greetings, thanks, help, the last answer once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langchain_core.messages import AIMessage

from snellen.graphs.messages import text_of
from snellen.reasoning.meanings.talk import Agreement, Assent, Courtesy, Decline, Doubt

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState
    from snellen.reasoning.meanings.talk import Talk

ABILITIES: Final = (
    "Show me pictures and say what to do with them (“How many dogs are there?”, “Blur all but the dog”), say what was "
    "wrong with an answer, ask what models can see (“Are the models robust to rotation?”), or have me learn something "
    "(“learn what a penguin is”). “Why?” explains the last answer, “forget it” takes back what I learned from it."
)
_COURTESIES: Final = {
    "greeting": f"Hello. {ABILITIES}",
    "thanks": "You are welcome.",
    "farewell": "Goodbye.",
    "acknowledgement": "All right.",
}


def reply_to(talk: Talk) -> str:
    """Return the reply to a courtesy, and to feedback where there was no answer yet."""
    match talk:
        case Courtesy(of=of):
            return _COURTESIES[of]
        case Assent() | Decline():
            return "All right. I do nothing then, and have forgotten nothing."
        case Doubt() | Agreement():
            return f"I have not answered anything yet. {ABILITIES}"
    return f"There is no answer yet that this could be about. {ABILITIES}"


def repeated(state: ChatState) -> str:
    """Return the last reply once more."""
    said = [text_of(each) for each in state.messages if isinstance(each, AIMessage)]
    return f"I said: {said[-1]}" if said else f"I have not said anything yet. {ABILITIES}"
