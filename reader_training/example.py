"""What the learned reader is trained on, in a file of its own so that it is pickled by this name."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.reasoning.learned.mentions import MentionedText
from snellen.reasoning.learned.typed_actions import Action


@dataclass(frozen=True)
class Example:
    """A text and the meaning that it has.

    Attributes:
        source: Where it comes from.
        pictures: The number of pictures, 0 for a question about models.
        text: The text with stand-ins.
        actions: What writes its meaning.
        validation: Whether it is kept from training.
    """

    source: str
    pictures: int
    text: MentionedText
    actions: tuple[Action, ...]
    validation: bool = False
