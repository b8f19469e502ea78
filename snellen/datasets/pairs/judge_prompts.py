"""Prompts for judges of pairs: five wordings for two pictures, five for a picture and a text (appendix D.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from snellen.datasets.pairs.benchmark import Pair
from snellen.scoring.pairs import Condition

_FORM: Final = 'Answer with the line "Score: N", where N is a number from 1 to 10, and nothing before it.'
_PICTURES: Final = (
    "How alike are these two pictures? {condition} 10 means the same, 1 means that they have nothing in common. {form}",
    (
        "Compare the first picture with the second. {condition} Give 10 to pictures that are the same in all "
        "that counts, less the more they differ in it, and 1 to pictures of unrelated things. {form}"
    ),
    (
        "You judge similarity. {condition} Two pictures that show unrelated things get a 1, two that agree in "
        "everything that counts get a 10, and what lies between gets a number between. {form}"
    ),
    "Rate from 1 (unrelated) to 10 (the same) how similar the pictures are. {condition} {form}",
    (
        "Look at both pictures before you answer. {condition} If they only share a part of what counts, choose a "
        "score in the middle; keep 1 for unrelated pictures and 10 for the same ones. {form}"
    ),
)
_TEXTS: Final = (
    "How well does this text fit the picture? {condition} 10 means wholly, 1 means not at all. Text: {text}\n{form}",
    (
        "Compare the picture with the text. {condition} Give 10 to a text that is right in all that counts, less "
        "the more it is wrong in, and 1 to one about something else. Text: {text}\n{form}"
    ),
    (
        "You judge whether texts fit pictures. {condition} A text about unrelated things gets a 1, one that is "
        "right in everything that counts a 10, and what lies between a number between. Text: {text}\n{form}"
    ),
    "Rate from 1 (unrelated) to 10 (right) how well picture and text go together. {condition} Text: {text}\n{form}",
    (
        "Look at the picture, then read the text. {condition} If it is right only in a part of what counts, "
        "choose a score in the middle; keep 1 for unrelated texts and 10 for right ones. Text: {text}\n{form}"
    ),
)
TEMPLATES: Final = len(_PICTURES)
"""Wordings of each kind."""
_CHANGES: Final = {
    "CJ": "their colors, brightness and contrast",
    "R": "how far a picture is rotated",
    "GB": "how blurred a picture is",
    "PS": "the perspective from which a picture is seen",
    "ET": "how warped a picture is",
    "SP": "where things are in relation to each other",
}
"""What the transforms of the splits change, by their names in the paper."""


@dataclass(frozen=True)
class JudgeRequest:
    """A request to a judge.

    Attributes:
        files: The pictures, in this order.
        text: The words.
    """

    files: tuple[str, ...]
    text: str


def asked(pair: Pair, condition: Condition, *, backward: bool = False) -> JudgeRequest:
    """Return what is asked about a pair.

    Args:
        pair: It.
        condition: Whether what changes in its split counts.
        backward: Whether the second comes first. A text stays where it is: only pictures are exchanged.
    """
    changes = " and ".join(_CHANGES[part] for part in pair.split.split("-"))
    sentence = {
        "sensitive": f"It counts {'' if pair.text else 'also '}whether they agree in {changes}.",
        "invariant": f"It does not count whether they agree in {changes}: overlook it.",
    }[condition]
    template = (_TEXTS if pair.text else _PICTURES)[pair.template]
    files = pair.files[::-1] if backward else pair.files
    return JudgeRequest(tuple(files), template.format(condition=sentence, form=_FORM, text=pair.text))
