"""Words that ask for a part of the meaning: what is read without it is not what was said.

In the wordings that the learned reader was trained on, "row" always came with a row in the meaning, and "foggy" with
fog or bad weather. `word_requirements.json` lists such words with the actions of which one wrote that part; it is
derived by `reader_training.requirements`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from snellen.reasoning.learned.mentions import MentionedText
from snellen.reasoning.learned.typed_actions import Action

REQUIREMENTS: Final = Path(__file__).parent / "word_requirements.json"


def unmet(text: MentionedText, actions: Sequence[Action], pictures: int) -> tuple[str, ...]:
    """Return the words of a text that ask for a part which actions do not write.

    Args:
        text: The text.
        actions: What writes a meaning.
        pictures: The number of pictures that the text is about; 0 where it is about models.
    """
    required, written = _requirements()["pictures" if pictures else "models"], set(actions)
    return tuple(word for word in text.plain_words if word in required and written.isdisjoint(required[word]))


@cache
def _requirements() -> Mapping[str, Mapping[str, Sequence[str]]]:
    table: dict[str, dict[str, list[str]]] = json.loads(REQUIREMENTS.read_text(encoding="utf-8"))
    return table
