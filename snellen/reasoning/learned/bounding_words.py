"""Words that bound a question, and the forms of questions in which they mostly say what is meant.

"Far better than guessing" is what being good means, and "hardly any loss" is robustness, though "far better" states no
bound elsewhere, and "hardly" denies something. In the wordings that the learned reader was trained on such words stand
in some forms of questions often, and seldom in questions that cannot be answered. `bounding_words.json` lists them; it
is derived by `reader_training.bounding_words`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from snellen.reasoning.queries.bounds import UnexaminedWords
from snellen.reasoning.queries.model_query import ModelQuery, ModelQuestion

BOUNDING: Final = Path(__file__).parent / "bounding_words.json"


def form_of(question: ModelQuestion) -> str:
    """Return the form of a question: what it asks for, compares and bounds, whatever it is about."""
    comparison, threshold, than = question.comparison, question.threshold, question.than
    parts = (
        "robust" if question.robust else question.ability.kind,
        question.sense,
        question.asks,
        f"compared: {comparison.how}" if comparison else "",
        f"bound: {threshold.how}" if threshold else "",
        "contrasted" if than else "",
        f"of models: {question.quantifier.how}" if question.quantifier else "",
        f"of classes: {question.classes.how}" if question.classes else "",
    )
    return ", ".join(filter(None, parts))


def are_meant(found: UnexaminedWords, query: ModelQuery) -> bool:
    """Tell whether words that bound a question mostly say what such a query means.

    Args:
        found: The words.
        query: What the question is taken for.
    """
    forms = _forms().get(key_of(found), ())
    return all(form_of(each) in forms for each in query.questions)


def key_of(found: UnexaminedWords) -> str:
    """Return the words by which such words are listed: what is denied is said by the next one ("no problem")."""
    words = found.words.casefold()
    return f"{words} {found.before}" if words in {"no", "without"} else words


@cache
def _forms() -> Mapping[str, Sequence[str]]:
    table: dict[str, list[str]] = json.loads(BOUNDING.read_text(encoding="utf-8"))
    return table
