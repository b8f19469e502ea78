"""Scene graphs: what is written survives, and listing 1's methods say what is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microworld.described import described
from microworld.scenes import relations
from profiles.errors import BadInput
from tools.scoring.scene_graph import Fact, SceneGraph, name_of, numbered, parse_tuple

NAMES = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip)
ENTITIES = st.sampled_from(["dog", "dog (2)", "t-shirt", "5 o'clock sign", '"STOP" sign', "café"])
FACTS = st.lists(
    st.one_of(
        st.builds(Fact, ENTITIES),
        st.builds(lambda entity, value: Fact(entity, attribute=value, kind="color"), ENTITIES, NAMES),
        st.builds(
            lambda entity, relation, target: Fact(entity, relation=relation, target=target, kind="spatial"),
            ENTITIES, NAMES, ENTITIES,
        ),
    ),
    max_size=20,
)  # fmt: skip


@given(FACTS)
def test_a_graph_is_its_facts_and_the_entities_they_name(facts: list[Fact]) -> None:
    named = {Fact(key) for fact in facts for key in (fact.entity, fact.target) if key}
    told = {fact for fact in facts if fact.attribute or fact.relation}
    graph = SceneGraph(facts)
    assert set(graph.facts) == named | told
    assert len(graph.facts) == len(set(graph.facts)), "each once"
    assert set(SceneGraph(graph.facts).facts) == set(graph.facts)


@given(FACTS)
def test_a_part_of_a_graph_is_in_it(facts: list[Fact]) -> None:
    graph = SceneGraph(facts)
    kept = graph.get_entities()[::2]
    part = graph.generate_subgraph(kept)
    assert set(part.get_entities()) == set(kept)
    assert set(part.facts) <= set(graph.facts)


def test_the_methods_of_the_paper_say_what_is_there() -> None:
    graph = SceneGraph(
        [
            Fact("t-shirt", attribute="blue", kind="color"),
            Fact("t-shirt", attribute="white", kind="color"),
            Fact("dog", relation="in front of", target="house", kind="spatial"),
            Fact("dog", relation="guards", target="house"),
            Fact("dog (2)"),
        ],
        caption="Two dogs …",
    )
    assert graph.get_entities() == ["t-shirt", "dog", "house", "dog (2)"]
    assert graph.get_attributes("t-shirt") == {"color": "blue, white"}
    assert graph.get_attributes("nothing") == {}
    assert graph.get_outgoing_relations("dog") == {"house": {"spatial": ["in front of"], "relation": ["guards"]}}
    assert graph.get_incoming_relations("house") == {"dog": {"spatial": ["in front of"], "relation": ["guards"]}}
    assert graph.get_outgoing_relations("nothing") == {}
    assert graph.describe(graph.generate_subgraph(["dog", "house"])) == (
        "dog; house; dog in front of house; dog guards house"
    )
    assert Fact("dog (2)", attribute="red").text == "red dog"


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("entity - whole (t-shirt)", Fact("t-shirt", kind="whole")),
        ("attribute - color (t-shirt, light-blue)", Fact("t-shirt", attribute="light-blue", kind="color")),
        ('attribute - text (sign, "STOP, now")', Fact("sign", attribute="STOP, now", kind="text")),
        ("attribute - text rendering (wall, 'BUSIER')", Fact("wall", attribute="BUSIER", kind="text rendering")),
        ("attribute (dog's collar, red)", Fact("dog's collar", attribute="red")),
        ("relation - spatial (dog, house, in front of)",
         Fact("dog", relation="in front of", target="house", kind="spatial")),
        ("attribute - count (5 stripes, 5)", Fact("5 stripes", attribute="5", kind="count")),
    ],
)  # fmt: skip
def test_tuples_are_read_as_they_are_written(text: str, fact: Fact) -> None:
    assert parse_tuple(text) == fact


@pytest.mark.parametrize(
    "text",
    ["", "dog", "entity ()", "attribute (dog)", "relation (dog, house)", "entity (a, b)", "attribute (dog,, red)",
     "entity (" + "x" * 300 + ")", "thing (dog)"],
)  # fmt: skip
def test_what_is_no_tuple_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_tuple(text)


def test_numbers_tell_entities_of_one_name_apart() -> None:
    assert [numbered("dog", number) for number in (1, 2)] == ["dog", "dog (2)"]
    assert name_of("dog (2)") == "dog"
    assert name_of("route (1)") == "route (1)", "the first has no number"


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_of_a_scene_has_all_its_objects_and_relations(seed: int) -> None:
    one = described(seed, 5)
    graph = SceneGraph.of_tuples(one.tuples, caption=one.caption)
    entities = [name_of(key) for key in graph.get_entities() if key not in {"background", "weather", "style"}]
    assert sorted(entities) == sorted(item.concept for item in one.scene.objects)
    assert sum(bool(fact.relation) for fact in graph.facts) == len(relations(one.scene))
