"""Meanings as they are written, read and said: what is refused, and how the sentences sound."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from snellen.errors import BadInput
from snellen.reasoning.meanings import meanings, things
from snellen.reasoning.meanings.canonical import canonical
from snellen.reasoning.meanings.compilation import compile_meaning
from snellen.reasoning.meanings.denotation import Undefined, denotation
from snellen.reasoning.meanings.echo import echo
from snellen.reasoning.meanings.meanings import read_meaning
from snellen.reasoning.meanings.scene import Entity, Graphs, PictureGraph
from snellen.tools.program import inputs_for, load

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "meanings.md").read_text(encoding="utf-8")


def everything(picture: str = "picture") -> dict[str, Any]:
    return {"kind": "everything", "picture": picture}


def a(name: str, picture: str = "picture") -> dict[str, Any]:
    return {"kind": "filter", "things": everything(picture), "property": {"kind": "is a", "name": name}}


def the(name: str, picture: str = "picture") -> dict[str, Any]:
    return {"kind": "one", "things": a(name, picture)}


def beside(of: dict[str, Any], relation: str = "left of") -> dict[str, Any]:
    return {"kind": "in relation", "relation": relation, "of": of}


def filtered(things: dict[str, Any], *properties: dict[str, Any]) -> dict[str, Any]:
    for each in properties:
        things = {"kind": "filter", "things": things, "property": each}
    return things


def read(data: dict[str, Any]) -> meanings.Meaning:
    return read_meaning(json.dumps(data))


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "count"},
        {"kind": "count", "things": everything(), "more": 1},
        {"kind": "guess", "things": everything()},
        {"kind": "count", "things": {"kind": "is a", "name": "dog"}},
        {"kind": "count", "things": a('dog" or 1')},
        {"kind": "count", "things": a("{IMAGE}")},
        {"kind": "count", "things": filtered(a("dog", "both"), {"kind": "is at", "across": "left"})},
        {"kind": "count", "things": filtered(a("dog", "left"), beside(the("cat", "right")))},
        {"kind": "exist", "things": everything(), "quantity": "at most", "number": 0},
        {"kind": "say", "words": "{IMAGE}"},
        {"kind": "edit picture", "actions": [{"kind": "edit action", "operation": "replace", "things": everything()}]},
    ],
)
def test_what_is_no_meaning_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        read(data)


def test_meanings_that_nobody_says_are_refused() -> None:
    deep = a("dog")
    for _ in range(40):
        deep = filtered(deep, beside(deep)) if len(json.dumps(deep)) < 9_000 else {"kind": "one", "things": deep}
    with pytest.raises(BadInput):
        read({"kind": "count", "things": deep})
    nested = '{"kind": "negation", "truth": ' * 500
    with pytest.raises(BadInput):
        read_meaning(nested)


def test_a_name_with_an_apostrophe_is_a_text_of_its_program() -> None:
    program = compile_meaning(read({"kind": "query", "things": the("men's shoe"), "what": "colour"})).program
    assert """LOC(image=IMAGE,object="men's shoe")""" in program
    load(program, inputs_for(1))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"kind": "count", "things": filtered(a("cat"), beside(the("house")))},
         "How many cats are there to the left of the house?"),
        ({"kind": "are", "things": the("dog"), "property": {"kind": "has colour", "colour": "red"}}, "Is the dog red?"),
        ({"kind": "query", "what": "colour", "things": {"kind": "one", "things": filtered(
            a("animal"), beside({"kind": "one", "things": filtered(a("house"), beside(the("tree"), "below"))}))}},
         "What colour is the animal to the left of the house that is below the tree?"),
        ({"kind": "query", "what": "name", "things": {"kind": "one", "things": filtered(
            a("animal"), beside(the("house")), beside(the("tree"), "below"))}},
         "What is the animal to the left of the house and below the tree?"),
        ({"kind": "exist", "things": filtered(a("bird"), {"kind": "is not", "property": {
            "kind": "has fact", "fact": "can fly"}}), "number": 2}, "Are there at least two birds that cannot fly?"),
        ({"kind": "exist", "things": a("fish"), "quantity": "exactly", "number": 0}, "Are there no fish?"),
        ({"kind": "are", "things": a("fish"), "property": {"kind": "has size", "size": "small"}},
         "Are all the fish small?"),
        ({"kind": "query", "what": "name", "things": {"kind": "ordinal", "things": a("car"), "rank": 2,
            "order": {"kind": "nearness", "of": the("bus")}}}, "What is the car second nearest to the bus?"),
    ],
)  # fmt: skip
def test_an_echo_is_a_plain_sentence(data: dict[str, Any], sentence: str) -> None:
    assert echo(read(data)) == sentence


def test_the_order_of_words_does_not_change_a_meaning() -> None:
    red, small = {"kind": "has colour", "colour": "red"}, {"kind": "has size", "size": "small"}
    dog = {"kind": "is a", "name": "dog"}
    one = read({"kind": "count", "things": filtered(everything(), dog, red, small)})
    other = read({"kind": "count", "things": filtered(everything(), small, dog, red, red)})
    assert one != other
    assert canonical(one) == canonical(other)
    assert echo(one) == "How many red small dogs are there?"
    assert echo(canonical(one)) == "How many small red dogs are there?"


def test_what_is_presupposed_and_missing_is_said() -> None:
    dogs = tuple(Entity("dog", (left, 0, left + 9, 9), frozenset({"dog", "animal"})) for left in (0, 20))
    graphs: Graphs = {"picture": PictureGraph(dogs, (128, 128))}
    colour = {"kind": "query", "what": "colour"}
    missing = denotation(read({**colour, "things": the("cat")}), graphs)
    assert missing == Undefined("There is no cat.", "missing")
    ambiguous = denotation(read({**colour, "things": the("dog")}), graphs)
    assert isinstance(ambiguous, Undefined)
    assert ambiguous.reason == "ambiguous"
    third = {"kind": "ordinal", "things": a("dog"), "order": {"kind": "by extreme", "extreme": "leftmost"}, "rank": 3}
    assert denotation(read({**colour, "things": third}), graphs) == Undefined(
        "There are fewer than three dogs.", "missing"
    )


def test_the_page_names_every_constructor_and_its_example_is_right() -> None:
    unions = (meanings.Meaning, meanings.Truth, things.Things, things.Property, things.Order)
    kinds = {
        get_args(kind.model_fields["kind"].annotation)[0] for each in unions for kind in get_args(get_args(each)[0])
    }
    assert {kind for kind in kinds if f"`{kind}`" not in PAGE} == set()
    example, program = re.findall(r"```(?:json)?\n(.*?)```", PAGE, flags=re.DOTALL)
    assert f'"{echo(read_meaning(example))}"' in PAGE
    assert compile_meaning(read_meaning(example)).program == program
