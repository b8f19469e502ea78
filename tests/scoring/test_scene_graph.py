"""Scene graphs: what is written survives, and listing 1's methods say what is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput
from snellen.microworld.scene_graphs import described
from snellen.microworld.scenes import relations
from snellen.scoring.scene_graph import WHOLE, Fact, SceneGraph, name_of, numbered, parse_tuple, read_tuples, tuple_text

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
        # Further forms of Davidsonian scene graphs.
        ("3 | other - count (tires, ==2)", Fact("tires", attribute="2", kind="count")),
        ("other - count (butterflies, ==bunch)", Fact("butterflies", attribute="bunch", kind="count")),
        ("other - count (birds, >=5)", Fact("birds", attribute=">=5", kind="count")),
        ('other - text rendering (word, "START")', Fact("word", attribute="START", kind="text rendering")),
        ("other - text rendering (sign, STOP, NOW)", Fact("sign", attribute="STOP, NOW", kind="text rendering")),
        ("other - scale (dog, cat, larger)", Fact("dog", relation="larger", target="cat", kind="scale")),
        ("global - (digital art)", Fact(WHOLE, attribute="digital art", kind="global")),
        ("global - style (hd painting)", Fact(WHOLE, attribute="hd painting", kind="style")),
        ("global - style (image, watercolor)", Fact(WHOLE, attribute="watercolor", kind="style")),
        ("action - (car, soccer, play)", Fact("car", relation="play", target="soccer", kind="action")),
        ("action - (skateboarder, pull off a trick)",
         Fact("skateboarder", attribute="pull off a trick", kind="action")),
        ("action - hold (man, iPhone)", Fact("man", relation="hold", target="iPhone", kind="action")),
        ("relation - action (man, ball, kick)", Fact("man", relation="kick", target="ball", kind="action")),
        ("entity - part (pig's crown)", Fact("pig's crown", kind="part")),
        ("entity - state (man, old)", Fact("man", attribute="old", kind="state")),
        ("Attribute – Material (bench, wood).", Fact("bench", attribute="wood", kind="material")),
        ("other - text rendering (sign, “STOP”)", Fact("sign", attribute="STOP", kind="text rendering")),
        ("other - text rendering (sign, \u2018STOP, now\u2019)",
         Fact("sign", attribute="STOP, now", kind="text rendering")),
        ("other - text rendering (sign, :-)", Fact("sign", attribute=":-", kind="text rendering")),
        ('other - text rendering (sign, ":-)")', Fact("sign", attribute=":-)", kind="text rendering")),
        ("other - count (tires == 2)", Fact("tires", attribute="2", kind="count")),
        ("attribute - count (tires >= 2)", Fact("tires", attribute=">= 2", kind="count")),
        ("entity - whole (dog (2))", Fact("dog (2)", kind="whole")),
        ("attribute - state (dog (left, front), wet)", Fact("dog (left, front)", attribute="wet", kind="state")),
        ("- attribute - color (shirt, red, white)", Fact("shirt", attribute="red, white", kind="color")),
    ],
)  # fmt: skip
def test_tuples_are_read_as_they_are_written(text: str, fact: Fact) -> None:
    assert parse_tuple(text) == fact


@pytest.mark.parametrize(
    "text",
    ["", "dog", "entity ()", "attribute (dog)", "relation (dog, house)", "entity (a, b)", "attribute (dog,, red)",
     "entity (" + "x" * 300 + ")", "thing (dog)", "entity - whole (dog) | entity - whole (cat)",
     "entity - whole (dog)\nentity - whole (cat)", "attribute (dog, red), attribute (cat, blue)", "entity (dog))",
     "entity ((dog)", "other - count (tires)", "global - count (2)"],
)  # fmt: skip
def test_what_is_no_tuple_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_tuple(text)


PARTS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\"'="), min_size=1, max_size=20)
WORDS = PARTS.map(lambda part: " ".join(part.split())).filter(bool)
KINDS = st.sampled_from(["", "color", "text rendering", "spatial", "action", "whole"])


@given(
    st.one_of(
        st.builds(lambda name, kind: Fact(name, kind=kind), WORDS, KINDS),
        st.builds(lambda name, value, kind: Fact(name, attribute=value, kind=kind), WORDS, WORDS, KINDS),
        st.builds(lambda one, how, other, kind: Fact(one, "", how, other, kind), WORDS, WORDS, WORDS, KINDS),
    )
)
def test_what_is_written_is_read_again(fact: Fact) -> None:
    assert parse_tuple(tuple_text(fact)) == fact


FORMED = st.one_of(
    st.builds(Fact, WORDS),
    st.builds(lambda name, value: Fact(name, attribute=value, kind="color"), WORDS, WORDS),
)


@given(FORMED, FORMED, st.sampled_from(["|", "\n", " ", ", ", ";", "and"]))
def test_two_tuples_in_one_text_are_not_read_as_one(one: Fact, other: Fact, between: str) -> None:
    text = f"{tuple_text(one)}{between}{tuple_text(other)}"
    assert read_tuples([text]).unreadable == (text[:200],)


@given(
    st.sampled_from(["entity", "attribute", "relation", "action", "global", "other", "Entity", "thing", ""]),
    st.sampled_from(["", " - ", " -", "-", " – ", ": "]),
    st.sampled_from(["", "whole", "color", "count", "style", "text rendering", "spatial", "é(", "x" * 300]),
    st.lists(st.text(max_size=30), max_size=6).map(", ".join),
    st.sampled_from(["", ".", ")", "\n", " | "]),
)
def test_nothing_that_looks_like_a_tuple_stops_the_others(
    form: str, dash: str, kind: str, parts: str, end: str
) -> None:
    text = f"{form}{dash}{kind} ({parts}){end}"
    found = read_tuples(["entity - whole (dog)", text, "attribute - color (dog, red)"])
    assert found.facts[0] == Fact("dog", kind="whole")
    assert found.facts[-1] == Fact("dog", attribute="red", kind="color")
    assert len(found.facts) + len(found.unreadable) == 3
    assert SceneGraph.of_tuples([text, "entity (dog)"]).get_entities()[-1:] or found.unreadable


@given(st.text(max_size=2_000))
def test_any_text_is_a_tuple_or_is_counted(text: str) -> None:
    found = read_tuples([text])
    assert len(found.facts) + len(found.unreadable) == 1


def test_there_is_an_end_to_tuples() -> None:
    found = read_tuples(["entity (dog)", "entity (cat)", "entity (owl)"], most=2)
    assert (len(found.facts), found.unreadable) == (2, ("entity (owl)",))


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
