"""Sentences that stand in this repository, with what the grammars read in them: those of tests, seeds and drawn tasks.

    python -m reader_training.own_sentences > out/own.jsonl

The learned reader that knows them reads what the grammars read, so that it can be asked alone. Of drawn tasks only the
wordings of the training split are taken.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from reader_training.grammar_sentences import load_facts
from reader_training.meanings_to_word import MODELS
from snellen.profiles import load_profile
from snellen.reasoning.meanings.meanings import pictures_in, write_part
from snellen.reasoning.queries.query_readings import UnderstoodQuery
from snellen.reasoning.queries.reader import read_query
from snellen.reasoning.reading.reader import Understood, read

ROOT: Final = Path(__file__).parents[1]
_TESTS: Final = ("tests/reasoning", "tests/graphs", "tests/nodes", "tests/cli", "tests/experiments")
_SEEDS: Final = ROOT / "snellen" / "reasoning" / "case_based" / "seeds" / "demonstrations.json"
_FAMILIES: Final = ("vqa", "statement", "edit", "tag")
_DRAWN: Final = 400
_WORDS: Final = range(2, 40)


def texts() -> Iterator[str]:
    """Yield the texts of several words in the tests, the seeds and drawn tasks."""
    for folder in _TESTS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.value
    yield from _strings(json.loads(_SEEDS.read_text(encoding="utf-8")))
    world = load_profile("embedded").world()
    for family in _FAMILIES:
        for task in world.sample_tasks(family, "train", "known", _DRAWN, 5):
            yield task.instruction


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def read_rows(text: str) -> Iterator[dict[str, Any]]:
    """Yield what a text means of one picture, of two, and as a question about models, as far as that is clear."""
    for pictures in (1, 2):
        reading = read(text, pictures, load_facts())
        if not isinstance(reading, Understood) or reading.asides or reading.corrected:
            continue
        if pictures == 1 or pictures_in(reading.meaning) - {"picture"}:
            yield {"text": text, "pictures": pictures, "meaning": json.loads(write_part(reading.meaning))}
    query = read_query(text, MODELS, load_profile("embedded"))
    if isinstance(query, UnderstoodQuery) and not (query.corrected or query.unread):
        yield {"text": text, "meaning": query.query.model_dump(mode="json")}


def main() -> None:
    """Print them."""
    for text in dict.fromkeys(" ".join(each.split()) for each in texts() if len(each.split()) in _WORDS):
        for row in read_rows(text):
            print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
