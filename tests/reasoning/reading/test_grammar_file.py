"""Grammar files: word classes, rules, what may be missing, and mistakes that are found when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from snellen.reasoning.reading.grammar_file import read_grammar

FUNCTIONS = {"pair": lambda one, other: (one, other)}


def grammar_of(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "test.grammar"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_rule_with_a_missing_item_keeps_the_places_of_the_others(tmp_path: Path) -> None:
    grammar = read_grammar(grammar_of(tmp_path, 's = "the"? NOUN "is|are" NOUN : pair(2, 4) @ 0.5'), FUNCTIONS)
    with_article, without = grammar.productions
    assert with_article.items == ('"the"', "NOUN", '"is|are"', "NOUN")
    assert with_article.action([None, "cat", None, "animal"]) == ("cat", "animal")
    assert without.action(["cat", None, "animal"]) == ("cat", "animal")
    assert without.cost == 0.5


def test_word_classes_have_values_and_fillers_none(tmp_path: Path) -> None:
    grammar = read_grammar(
        grammar_of(tmp_path, "COLOUR = red: red | scarlet\nFILLER: please\nSPELLING colour: color\n"), FUNCTIONS
    )
    assert grammar.phrases == [("red", "COLOUR", "red"), ("scarlet", "COLOUR", "red")]
    assert grammar.fillers == ["please"]
    assert grammar.spellings == {"color": "colour"}


@pytest.mark.parametrize("text", ["s = NOUN : triple(1)", "s = : pair(1, 1)", "s = NOUN : pair(1, 1) pair(1, 1)"])
def test_a_mistake_in_a_grammar_is_found_when_it_is_read(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"action|items"):
        read_grammar(grammar_of(tmp_path, text), FUNCTIONS)
