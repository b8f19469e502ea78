"""Meanings of talk: messages that are neither instructions about pictures nor questions about models.

They are about the conversation, the last answer or the memory. Names in them are as they were said, in small letters;
`Correction` speaks of values, which have the form that people gave them: "four", "4", "dark blue".
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter

from snellen.reasoning.meanings.things import Part

Said: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True, max_length=120)]
"""A name or a value as it was said."""
Manner: TypeAlias = Literal["stated", "denied", "demanded"]
"""A plain sentence, which may be a remark on something else; one after a denial; one that says it is the answer."""


class Courtesy(Part):
    """A greeting, a farewell, thanks or praise, or a mere "I see": "Hello!", "Thanks, that's great"."""

    kind: Literal["courtesy"] = "courtesy"
    of: Literal["greeting", "farewell", "thanks", "acknowledgement"]


class Help(Part):
    """A question about what can be said here: "What can you do?"."""

    kind: Literal["help"] = "help"


class Why(Part):
    """A question about how the last result came about: "Why?", "How do you know?"."""

    kind: Literal["why"] = "why"


class Repeat(Part):
    """A wish to hear the last answer, or the question, again: "What did you say?"."""

    kind: Literal["repeat"] = "repeat"


class Agreement(Part):
    """The last answer was right: "That's correct"."""

    kind: Literal["agreement"] = "agreement"


class Correction(Part):
    """A fault of the last answer: "It should be three", "That is not a cat", "You missed a dog on the left".

    With no field but the manner it only says that the answer was wrong.
    """

    kind: Literal["correction"] = "correction"
    expected: Said = ""
    absent: Said = ""
    present: Said = ""
    side: Literal["", "left", "right", "top", "bottom"] = ""
    manner: Manner = "stated"

    @property
    def only_denies(self) -> bool:
        """True if it says nothing but that the answer was wrong."""
        return not (self.expected or self.absent or self.present or self.side)


class Doubt(Part):
    """A doubt about the last answer, perhaps with another in place of it: "Are you sure?", "Isn't it a fox?"."""

    kind: Literal["doubt"] = "doubt"
    correction: Correction | None = None


class Assent(Part):
    """A plain yes to a question: "Yes, please"."""

    kind: Literal["assent"] = "assent"


class Decline(Part):
    """A plain no, or a wish that nothing be done: "No", "Never mind"."""

    kind: Literal["decline"] = "decline"
    bare: bool = False
    """Whether it is a "no" that could answer a question or judge an answer."""


class Selection(Part):
    """One of several that were offered, counted from 1; -1 is the last: "The second one"."""

    kind: Literal["selection"] = "selection"
    number: int = Field(ge=-1, le=99)


class KnowledgeQuestion(Part):
    """A question about what was learned, of one thing or in all: "What do you know about owls?"."""

    kind: Literal["knowledge"] = "knowledge"
    name: Said = ""


class LearnOrder(Part):
    """An order to learn a thing from pictures: "Learn what a penguin is"."""

    kind: Literal["learn"] = "learn"
    name: Said = ""


class ForgetOrder(Part):
    """An order to forget what was learned about a thing, all of it, or what was learned last."""

    kind: Literal["forget"] = "forget"
    name: Said = ""
    everything: bool = False


class Naming(Part):
    """Nothing but a name or a value: the answer to a question, or unclear."""

    kind: Literal["naming"] = "naming"
    name: Said


Talk: TypeAlias = Annotated[
    Courtesy
    | Help
    | Why
    | Repeat
    | Agreement
    | Correction
    | Doubt
    | Assent
    | Decline
    | Selection
    | KnowledgeQuestion
    | LearnOrder
    | ForgetOrder
    | Naming,
    Field(discriminator="kind"),
]
TALK: Final[TypeAdapter[Talk]] = TypeAdapter(Talk)
"""Reads and writes meanings of talk as JSON."""
