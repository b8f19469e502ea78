"""VQA: short answers from BLIP."""

from __future__ import annotations

import re

from snellen.models.vision.language import ScoredAnswer
from snellen.tools.registry import ToolContext, tool
from snellen.tools.vision.context import models_of
from snellen.values import Picture, as_number, as_text

_ARTICLE = re.compile(r"^(?:a|an|the)\s+")


@tool("VQA")
def answer_question(context: ToolContext, image: Picture, question: str) -> str:
    """Answer a question about the picture in a word or two: "yes", "no", a number in digits, a colour, a name."""
    models = models_of(context)
    text = " ".join(question.split()).casefold()
    context.evidence.note_untaught(models.expansion_of("VQA").untaught_in(text))
    answer = models.answer([context.pictures.get(image.id)], [text])[0]
    note_answer(context, answer)
    return normalised(answer)


def note_answer(context: ToolContext, answer: str) -> None:
    """Note how sure VQA was of an answer, and what it would have said next."""
    if isinstance(answer, ScoredAnswer):
        context.evidence.note_answer(normalised(answer), answer.probability, normalised(answer.rival))


def normalised(answer: str) -> str:
    """An answer as programs compare it: lower case, no article or punctuation, numbers in digits."""
    plain = _ARTICLE.sub("", " ".join(answer.split()).casefold().strip(" .,!?;:\"'"))
    number = as_number(plain)
    return plain if number is None else as_text(number)
