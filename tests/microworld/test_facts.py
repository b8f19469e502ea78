"""The table of facts answers queries in words, and is silent where it does not understand."""

from __future__ import annotations

import pytest

from snellen.microworld.concepts import vocabulary
from snellen.microworld.facts import list_names
from snellen.microworld.tasks import tag

EVERY_QUERY = [*tag.group_queries(), *tag.fact_queries(), *tag.narrowed_queries()]


def test_every_query_of_the_tag_tasks_is_understood() -> None:
    for query in EVERY_QUERY:
        assert set(list_names(query.text, 1000)) == query.names, query.text
        assert set(list_names(query.text.removeprefix("the ").removeprefix("all "), 1000)) == query.names, query.text


@pytest.mark.parametrize(
    ("query", "some", "none"),
    [
        ("wild animals that live on the land", {"bear", "wolf"}, {"dog", "dolphin", "mushroom"}),
        ("fruit that grows on trees", {"banana", "lemon"}, {"grapes", "chestnut"}),
        ("utensils used for drinking", {"beer", "tea"}, {"knife"}),
        ("birds and drinks", {"penguin", "wine"}, {"dog"}),
        ("animals that are wild and can fly", {"robin", "bee"}, {"penguin"}),
        ("birds that cannot fly", {"penguin", "hen"}, {"robin"}),
        ("farm animals", {"cow", "hen"}, {"wolf", "tractor"}),
        ("things worn on the feet", {"sandal", "boot"}, {"hat"}),
        ("electrical devices", {"radio"}, {"battery", "tram"}),
        ("kinds of cat", {"cat"}, {"dog"}),
        ("cats and dogs", {"cat", "dog"}, {"cow"}),
        ("fork and knife", {"fork and knife"}, {"knife"}),
        ("sweet potatoes", {"sweet potato"}, {"candy"}),
        ("Vehicles, or buildings", {"car", "house"}, {"dog"}),
    ],
)
def test_wordings_of_users_are_understood(query: str, some: set[str], none: set[str]) -> None:
    names = set(list_names(query, 1000))
    assert some <= names
    assert not none & names


@pytest.mark.parametrize("query", ["", "   ", "animals that play chess", "furniture", "quarks", "?!", "the", "not"])
def test_what_is_not_understood_gives_nothing(query: str) -> None:
    assert list_names(query) == []


def test_the_limit_keeps_the_first_in_the_order_of_the_table() -> None:
    everything = list_names("animals", 1000)
    order = [c.name for c in vocabulary().concepts]
    assert everything == sorted(everything, key=order.index)
    assert list_names("animals", 5) == everything[:5]
    assert list_names("animals", 0) == list_names("animals", -1) == []
