"""The two languages that the learned reader writes: what is said about pictures, talk included, and about models."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from snellen.reasoning.learned.typed_actions import Action, TypedActions
from snellen.reasoning.meanings.meanings import Meaning
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
    Repeat,
    Why,
)
from snellen.reasoning.meanings.things import Colour, Part
from snellen.reasoning.queries.conditions import FAMILIES, TYPES
from snellen.reasoning.queries.model_query import ModelQuery

_SETTINGS: Final = (
    "grass", "sand", "water", "road", "plain", "gradient", "striped", "checked", "dotted", "flat", "sketch", "pastel",
    "mosaic", "embossed", "grayscale", "posterized", "clear", "sunny", "rainy", "snowy", "foggy", "snow", "rain", "fog",
)  # fmt: skip
_EMOJIS: Final = (
    "smiling face", "heart", "star", "cool face", "crying face", "angry face", "laughing face", "ghost", "skull",
    "clown", "monkey face", "robot",
)  # fmt: skip
WORDS: Final = {
    ("SettingIs", "value"): tuple(sorted({*_SETTINGS, *get_args(Colour)})),
    ("EditAction", "by"): _EMOJIS,
    ("Say", "words"): ("yes", "no", "none", "nothing"),
    ("Change", "type"): tuple(TYPES),
    ("Condition", "family"): tuple(FAMILIES),
    ("Condition", "without"): tuple(TYPES),
}
"""Texts of fields that stand in no sentence as they are."""


class Unanswerable(Part):
    """A message that neither pictures nor experiments answer: prices, smells, owners, other jobs, mere chatter."""

    kind: Literal["unanswerable"] = "unanswerable"


PlainTalk: TypeAlias = (
    Courtesy | Help | Why | Repeat | Agreement | Correction | Doubt | Assent | Decline | KnowledgeQuestion | ForgetOrder
)
"""Talk that names nothing."""
PICTURES: Final = TypedActions(Meaning | PlainTalk | Unanswerable, WORDS)
UNTAUGHT: Final = frozenset(
    {
        "value which classes",
        "value which answer",
        "value at least half",
        "field ModelQuestion.classes",
        "field Threshold.guessing",
    }
)
"""What questions about models mean that the reader was not trained with: the grammar alone reads them."""
QUERIES: Final = TypedActions(ModelQuery | Unanswerable, WORDS, UNTAUGHT)
VOCABULARY: Final = tuple(sorted({*PICTURES.vocabulary(), *QUERIES.vocabulary()}))
START: Final = len(VOCABULARY)
"""The number of what stands before the first action: the row of the table after those of the vocabulary."""
_INDEX: Final = {action: number for number, action in enumerate(VOCABULARY)}


def action_number(action: Action) -> int:
    """Return the number of an action; copies come after the vocabulary and the start."""
    return START + 1 + action if isinstance(action, int) else _INDEX[action]
