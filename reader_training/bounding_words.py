"""Forms of questions in which words that bound or deny say what is meant, by the wordings of people.

    python -m reader_training.bounding_words

writes `snellen/reasoning/learned/bounding_words.json`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Final

from pydantic import TypeAdapter

from reader_training.examples import WORDINGS, wordings_of
from snellen.reasoning.learned.bounding_words import BOUNDING, form_of, key_of
from snellen.reasoning.queries.bounds import unexamined_words
from snellen.reasoning.queries.model_query import ModelQuery

_LEAST: Final = 20
"""Wordings of a form that must have a word."""
_UNANSWERABLE: Final = 0.25
"""For each of them, the most questions with that word that cannot be answered."""
_QUERY: Final = TypeAdapter(ModelQuery)


def main() -> None:
    """Derive the forms and write them."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for row, text in wordings_of(WORDINGS / "models.jsonl"):
        query = _QUERY.validate_python(row["meaning"])
        for key in set(map(key_of, unexamined_words(text, query))):
            forms[key].update({form_of(each) for each in query.questions})
    unanswerable = Counter(
        key
        for text in (WORDINGS / "unanswerable_models.txt").read_text(encoding="utf-8").splitlines()
        for key in set(map(key_of, unexamined_words(text)))
    )
    table = {
        key: sorted(form for form, count in counts.items() if count >= max(_LEAST, unanswerable[key] / _UNANSWERABLE))
        for key, counts in sorted(forms.items())
    }
    lines = [f"{json.dumps(key)}: {json.dumps(some)}" for key, some in table.items() if some]
    BOUNDING.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(len(lines), "words;", *lines, sep="\n")


if __name__ == "__main__":
    main()
