from __future__ import annotations

import json
from pathlib import Path

import pytest

from snellen.profiles import SnellenError
from snellen.tools.vision import Expansion, singular

TABLE = {
    "groups": {
        "animals": {"singular": "animal", "parents": []},
        "birds": {"singular": "bird", "parents": ["animals"]},
        "faces": {"singular": "face", "parents": []},
        "household objects": {"singular": "household object", "parents": []},
    },
    "facts": {"wild": ["wild"], "farm": ["live on a farm", "farm"]},
    "concepts": [
        {"name": "dog", "group": "animals", "files": ["dog.png"], "facts": ["pet"]},
        {"name": "wolf", "group": "animals", "files": [], "facts": ["wild"]},
        {"name": "hen", "group": "birds", "files": [], "facts": ["farm"]},
        {"name": "robin", "group": "birds", "files": [], "facts": ["wild"]},
        {"name": "ghost", "group": "faces"},
        {"name": "fork and knife", "group": "household objects"},
        {"name": "scissors", "group": "household objects"},
    ],
}


@pytest.fixture
def expansion(tmp_path: Path) -> Expansion:
    file = tmp_path / "concepts.json"
    file.write_text(json.dumps(TABLE))
    return Expansion.read(file)


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("dogs", "dog"),
        ("Dog", "dog"),
        ("green apples", "green apple"),
        ("cherries", "cherry"),
        ("ties", "tie"),
        ("foxes", "fox"),
        ("buses", "bus"),
        ("vases", "vase"),
        ("dresses", "dress"),
        ("glass", "glass"),
        ("octopus", "octopus"),
        ("wolves", "wolf"),
        ("people", "person"),
        ("old women", "old woman"),
        ("fish", "fish"),
        ("scissors", "scissors"),
        ("horses", "horse"),
        ("houses", "house"),
        ("torches", "torch"),
        ("", ""),
    ],
)
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dog", ["dog"]),
        ("the dogs", ["dog"]),
        ("animals", ["dog", "wolf", "hen", "robin"]),
        ("bird", ["hen", "robin"]),
        ("wild animals", ["wolf", "robin"]),
        ("farm birds", ["hen"]),
        ("all wild animals", ["wolf", "robin"]),
        ("household object", ["fork and knife", "scissors"]),
        ("fork and knife", ["fork and knife"]),
        ("dogs and birds", ["dog", "hen", "robin"]),
        ("dog, robin, dogs", ["dog", "robin"]),
        ("dog, birds", ["dog", "hen", "robin"]),
        ("unicorns", ["unicorn"]),
        ("red dogs", ["red dog"]),
        ("red birds", ["red hen", "red robin"]),
        ("objects", ["dog", "wolf", "hen", "robin", "ghost", "fork and knife", "scissors"]),
    ],
)
def test_words_give_the_names_that_the_detector_knows(expansion: Expansion, words: str, expected: list[str]) -> None:
    assert expansion.names(words) == expected


def test_without_facts_only_the_plural_is_taken_off() -> None:
    expansion = Expansion.read(None)
    assert expansion.names("wild animals") == ["wild animal"]
    assert expansion.names("dogs and cats") == ["dog", "cat"]
    assert expansion.all_names() == []


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"concepts": [{}]}', '{"concepts": 3}'])
def test_a_broken_table_of_facts_is_one_sentence(tmp_path: Path, content: str) -> None:
    file = tmp_path / "concepts.json"
    file.write_text(content)
    with pytest.raises(SnellenError, match=r"concepts\.json cannot be read"):
        Expansion.read(file)


def test_groups_expand_only_to_what_was_taught(tmp_path: Path) -> None:
    (tmp_path / "concepts.json").write_text(json.dumps(TABLE))
    (tmp_path / "split.json").write_text(json.dumps({"known": ["dog", "hen"], "novel": []}))
    expansion = Expansion.read(tmp_path / "concepts.json", split=tmp_path / "split.json")
    assert expansion.names("animals") == ["dog", "hen"]
    assert expansion.all_names() == ["dog", "hen"]
    assert expansion.names("wolves") == ["wolf"]


def test_a_broken_split_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "concepts.json").write_text(json.dumps(TABLE))
    with pytest.raises(SnellenError, match=r"split\.json cannot be read"):
        Expansion.read(tmp_path / "concepts.json", split=tmp_path / "split.json")


def test_a_circle_of_groups_ends(tmp_path: Path) -> None:
    file = tmp_path / "concepts.json"
    groups = {"a": {"parents": ["b"]}, "b": {"parents": ["a"]}}
    file.write_text(json.dumps({"groups": groups, "concepts": [{"name": "dog", "group": "a"}]}))
    assert Expansion.read(file).names("b") == ["dog"]


@pytest.mark.parametrize(
    ("words", "untaught"),
    [
        ("dogs", []),
        ("red animals", []),
        ("a big red dog", []),
        ("fork and knife", []),
        ("dog and unicorn", ["unicorn"]),
        ("the unicorn", ["unicorn"]),
        ("hot dog", ["hot dog"]),
        ("wolf", ["wolf"]),
    ],
)
def test_what_was_not_taught_is_told_from_what_was(tmp_path: Path, words: str, untaught: list[str]) -> None:
    facts, split = tmp_path / "concepts.json", tmp_path / "split.json"
    facts.write_text(json.dumps(TABLE))
    split.write_text(json.dumps({"known": ["dog", "hen", "robin", "fork and knife"]}))
    expansion = Expansion.read(facts, split=split)
    assert expansion.untaught(words) == untaught
    assert expansion.taught(["unicorn", "wolf", "hot dog"]).untaught(words) == []
    assert Expansion().untaught(words) == []
