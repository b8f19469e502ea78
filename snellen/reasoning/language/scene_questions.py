"""Questions about a scene graph with verification programs, written without a language model (PROVE, section 3.1).

Each question is about one tuple, or the few that belong together, and its program looks the answer up by names alone,
as it would in any other graph. Whether a name means one thing, whether the question gives its answer away and whether
the picture shows it is not seen to here: that is what programs and filters are for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from snellen.datasets.prove import Pictured, QuestionDraft
from snellen.reasoning.language.inflection import is_plural, listing, plural, with_article
from snellen.reasoning.reading.tuples import SETTING_KINDS
from snellen.scoring.scene_graph import WHOLE, Fact, SceneGraph, name_of
from snellen.sentences import capitalized

if TYPE_CHECKING:
    from snellen.reasoning.reasoner import ReasonerUsage

MOST: Final = 15
"""Questions about one picture."""
_LOOKUP: Final = """
def verify(scene_graph):
    found = [
        key for key in scene_graph.get_entities()
        if (key == {name!r} or key.startswith({name!r} + " ("))
        and all(scene_graph.get_attributes(key).get(kind) == value for kind, value in {given!r}.items())
    ]
"""
_OPPOSITES: Final = {"to the left of": "to the right of", "to the right of": "to the left of", "above": "below",
                     "below": "above", "in front of": "behind", "behind": "in front of"}  # fmt: skip
_GIVEN: Final = ("color", "size", "place")
"""Kinds of attributes by which things are told apart in questions."""
_PREPOSITIONS: Final = {"place": "in the"}

Maker = Callable[["_Scene"], QuestionDraft | None]


class CaseQuestionWriter:
    """Writes questions about scenes; the same scene and seed give the same ones."""

    usage: ReasonerUsage | None = None
    """Nothing is consumed."""

    async def write(self, scene: Pictured, seed: int) -> list[QuestionDraft]:
        """Write questions; see `snellen.datasets.prove.building.Writer`."""
        return self.drafts(scene, seed)

    def drafts(self, scene: Pictured, seed: int) -> list[QuestionDraft]:
        """Write ten to fifteen different questions about a scene, fewer where there is little to ask.

        Args:
            scene: With its tuples.
            seed: Chooses what is asked, and the wordings.
        """
        known = _Scene(SceneGraph(scene.facts, caption=scene.caption), random.Random(f"quiz/{seed}/{scene.name}"))
        drafts: dict[str, QuestionDraft] = {}
        makers = [maker for maker in _MAKERS if maker(known) is not None]
        for turn in range(4 * MOST):
            if not makers or len(drafts) == MOST:
                break
            draft = makers[turn % len(makers)](known)
            if draft is not None:
                drafts.setdefault(draft.question, draft)
        return list(drafts.values())


class _Scene:
    """A graph, and the dice that choose what is asked about it."""

    def __init__(self, graph: SceneGraph, dice: random.Random) -> None:
        self.graph, self.dice = graph, dice
        self.facts = graph.facts
        self.things = [key for key in graph.get_entities() if key not in SETTING_KINDS and key != WHOLE]

    def attribute(self, *kinds: str) -> Fact | None:
        """Return an attribute of a thing, of one of these kinds; of any other kind where none are given."""
        known = {"color", "size", "place", "count", "category"}
        fitting = [
            fact for fact in self.facts
            if fact.attribute and fact.entity in self.things
            and (fact.kind in kinds if kinds else fact.kind not in known and fact.kind)
        ]  # fmt: skip
        return self.dice.choice(fitting) if fitting else None

    def relation(self) -> Fact | None:
        """Return a relation between things."""
        held = [
            fact for fact in self.facts if fact.relation and fact.entity in self.things and fact.target in self.things
        ]
        return self.dice.choice(held) if held else None

    def given(self, key: str) -> dict[str, str]:
        """Return an attribute by which a thing may be told from others; mostly none."""
        values = [(kind, value) for kind, value in self.graph.get_attributes(key).items() if kind in _GIVEN]
        return dict([self.dice.choice(values)]) if values and self.dice.random() < 1 / 3 else {}

    def any_of(self, *wordings: str) -> str:
        """Choose a wording."""
        return self.dice.choice(wordings)


def _attribute(scene: _Scene, kind: str, wordings: Sequence[str], answer: str) -> QuestionDraft | None:
    fact = scene.attribute(kind)
    if fact is None:
        return None
    name, given = name_of(fact.entity), scene.given(fact.entity)
    words = {"x": _called(name, given), "be": _be(name), "value": fact.attribute}
    return QuestionDraft(
        kind=kind, question=_sentence(scene.any_of(*wordings).format_map(words)),
        answer=_sentence(answer.format_map(words)),
        program=_looked_up(name, given, f"return scene_graph.get_attributes(found[0])[{kind!r}]"),
    )  # fmt: skip


def _color(scene: _Scene) -> QuestionDraft | None:
    wordings = ("what color {be} {x}?", "what is the color of {x}?", "which color does {x} have?")
    return _attribute(scene, "color", wordings, "{x} {be} {value}.")


def _size(scene: _Scene) -> QuestionDraft | None:
    return _attribute(scene, "size", ("how big {be} {x}?", "{be} {x} small, medium or large?"), "{x} {be} {value}.")


def _place(scene: _Scene) -> QuestionDraft | None:
    wordings = ("where {be} {x}?", "where in the picture {be} {x}?")
    return _attribute(scene, "place", wordings, "{x} {be} in the {value} of the picture.")


def _category(scene: _Scene) -> QuestionDraft | None:
    return _attribute(scene, "category", ("what kind of thing {be} {x}?",), "{x} {be} a kind of {value}.")


def _other(scene: _Scene) -> QuestionDraft | None:
    """Ask for an attribute of a kind that only this data set knows."""
    fact = scene.attribute()
    if fact is None:
        return None
    name = name_of(fact.entity)
    return QuestionDraft(
        kind="attribute", question=_sentence(f"what is the {fact.kind} of the {name}?"),
        answer=_sentence(f"the {fact.kind} of the {name} is {fact.attribute}."),
        program=_looked_up(name, {}, f"return scene_graph.get_attributes(found[0])[{fact.kind!r}]"),
    )  # fmt: skip


def _count(scene: _Scene) -> QuestionDraft | None:
    """Ask how many there are of a thing: as many as it has keys, or as its tuple of the kind ``count`` says."""
    if not scene.things:
        return None
    key = scene.dice.choice(scene.things)
    name, told = name_of(key), scene.graph.get_attributes(key).get("count", "")
    number = sum(name_of(other) == name for other in scene.things)
    program = "return len(found)"
    if number == 1 and is_plural(name) and told != "1":
        if not told.isdecimal():
            return None  # "the tires" are several, and nothing says how many
        number, program = int(told), "return int(scene_graph.get_attributes(found[0])['count'])"
    many = plural(name)
    be, said = ("is", name) if number == 1 else ("are", many)
    question = scene.any_of("how many {xs} are there?", "how many {xs} can you see?", "what is the number of {xs}?")
    return QuestionDraft(
        kind="count", question=_sentence(question.format(xs=many)),
        answer=f"There {be} {number} {said}.", program=_looked_up(name, {}, program),
    )  # fmt: skip


def _beside(scene: _Scene) -> QuestionDraft | None:
    """Ask what stands somewhere."""
    fact = scene.relation()
    if fact is None:
        return None
    name, given = name_of(fact.target), scene.given(fact.target)
    there = [one.entity for one in scene.facts if (one.relation, one.target) == (fact.relation, fact.target)]
    names = list(dict.fromkeys(map(name_of, there)))
    words = {"relation": fact.relation, "y": _called(name, given)}
    question = scene.any_of(
        "what is {relation} {y}?", "what can you see {relation} {y}?", "name what is {relation} {y}."
    )
    said = listing([with_article(each) for each in names])
    body = f"""names = []
    for key, kinds in scene_graph.get_incoming_relations(found[0]).items():
        if any({fact.relation!r} in held for held in kinds.values()):
            names.append(key.split(" (")[0])
    return sorted(set(names))"""
    return QuestionDraft(
        kind="thing", question=_sentence(question.format_map(words)),
        answer=_sentence(f"{said} {'is' if len(names) == 1 else 'are'} {fact.relation} {words['y']}."),
        program=_looked_up(name, given, body),
    )  # fmt: skip


def _between(scene: _Scene) -> QuestionDraft | None:
    """Ask how two things stand to each other."""
    fact = scene.relation()
    if fact is None:
        return None
    held = [
        one.relation for one in scene.facts if (one.entity, one.target) == (fact.entity, fact.target) and one.relation
    ]
    one, other = name_of(fact.entity), name_of(fact.target)
    be = _be(one)
    question = scene.any_of("where {be} the {x} in relation to the {y}?", "where {be} the {x}, seen from the {y}?")
    said = listing([f"{relation} the {other}" for relation in held])
    body = f"""others = [key for key in scene_graph.get_entities() if key.split(" (")[0] == {other!r}]
    kinds = scene_graph.get_outgoing_relations(found[0])[others[0]]
    return [relation + " the " + {other!r} for held in kinds.values() for relation in held]"""
    return QuestionDraft(
        kind="relation", question=_sentence(question.format(x=one, y=other, be=be)),
        answer=_sentence(f"the {one} {be} {said}."), program=_looked_up(one, {}, body),
    )  # fmt: skip


def _whether_related(scene: _Scene) -> QuestionDraft | None:
    fact = scene.relation()
    if fact is None or fact.relation not in _OPPOSITES:
        return None
    one, other = name_of(fact.entity), name_of(fact.target)
    holds = scene.dice.random() < 1 / 2
    asked = fact.relation if holds else _OPPOSITES[fact.relation]
    body = f"""others = [key for key in scene_graph.get_entities() if key.split(" (")[0] == {other!r}]
    kinds = scene_graph.get_outgoing_relations(found[0]).get(others[0], {{}})
    return any({asked!r} in held for held in kinds.values())"""
    return _whether(f"{_be(one)} the {one} {asked} the {other}?", f"the {one} {_be(one)} {{no}}{asked} the {other}.",
                    holds=holds, program=_looked_up(one, {}, body))  # fmt: skip


def _whether_so(scene: _Scene) -> QuestionDraft | None:
    """Ask whether a thing has a color or a size."""
    fact = scene.attribute("color", "size")
    if fact is None:
        return None
    name, holds = name_of(fact.entity), scene.dice.random() < 1 / 2
    others = sorted({one.attribute for one in scene.facts if one.kind == fact.kind} - {fact.attribute})
    if not holds and not others:
        return None
    asked = fact.attribute if holds else scene.dice.choice(others)
    body = f"return scene_graph.get_attributes(found[0])[{fact.kind!r}] == {asked!r}"
    return _whether(f"{_be(name)} the {name} {asked}?", f"the {name} {_be(name)} {{no}}{asked}.", holds=holds,
                    program=_looked_up(name, {}, body))  # fmt: skip


def _whether(question: str, answer: str, *, holds: bool, program: str) -> QuestionDraft:
    said = f"{'yes' if holds else 'no'}, {answer.format(no='' if holds else 'not ')}"
    return QuestionDraft(kind="whether", question=_sentence(question), answer=_sentence(said), program=program)


def _which(scene: _Scene) -> QuestionDraft | None:
    """Ask which thing has an attribute."""
    fact = scene.attribute("color", "size", "place")
    if fact is None:
        return None
    where = _PREPOSITIONS.get(fact.kind, "")
    value = f"{where} {fact.attribute}".strip()
    question = f"what is {value} of the picture?" if where else f"which thing in the picture is {value}?"
    held = [one.entity for one in scene.facts if (one.kind, one.attribute) == (fact.kind, fact.attribute)]
    names = list(dict.fromkeys(name_of(key) for key in held if key in scene.things))
    said = listing([f"the {each}" for each in names])
    body = f"""
def verify(scene_graph):
    found = [
        key.split(" (")[0] for key in scene_graph.get_entities()
        if key not in {sorted(SETTING_KINDS)!r}
        and scene_graph.get_attributes(key).get({fact.kind!r}) == {fact.attribute!r}
    ]
    return sorted(set(found))"""
    be = "is" if len(names) == 1 else "are"
    return QuestionDraft(
        kind="thing", question=_sentence(question), answer=_sentence(f"{said} {be} {value}."), program=body.strip()
    )


def _members(scene: _Scene) -> QuestionDraft | None:
    """Ask for all things of a kind."""
    fact = scene.attribute("category")
    if fact is None:
        return None
    held = [one.entity for one in scene.facts if (one.kind, one.attribute) == ("category", fact.attribute)]
    names = list(dict.fromkeys(map(name_of, held)))
    body = f"""
def verify(scene_graph):
    found = [
        key.split(" (")[0] for key in scene_graph.get_entities()
        if scene_graph.get_attributes(key).get("category") == {fact.attribute!r}
    ]
    return sorted(set(found))"""
    return QuestionDraft(kind="thing", question=_sentence(f"which {plural(fact.attribute)} can you see?"),
                 answer=_sentence(f"I can see {listing([with_article(each) for each in names])}."),
                 program=body.strip())  # fmt: skip


def _described(scene: _Scene) -> QuestionDraft | None:
    if not scene.things:
        return None
    key = scene.dice.choice(scene.things)
    values = {kind: value for kind, value in scene.graph.get_attributes(key).items() if kind in _GIVEN}
    if len(values) < 2:  # noqa: PLR2004 - one attribute is no description
        return None
    name = name_of(key)
    said = listing([f"in the {value}" if kind == "place" else value for kind, value in values.items()])
    question = scene.any_of("can you describe the {x}?", "describe the {x}.", "what does the {x} look like?")
    body = f"""seen = scene_graph.get_attributes(found[0])
    return [seen[kind] for kind in {list(_GIVEN)!r} if kind in seen]"""
    return QuestionDraft(kind="description", question=_sentence(question.format(x=name)),
                 answer=_sentence(f"the {name} {_be(name)} {said}."), program=_looked_up(name, {}, body))  # fmt: skip


def _setting(scene: _Scene) -> QuestionDraft | None:
    fitting = [fact for fact in scene.facts if fact.entity in SETTING_KINDS and fact.attribute]
    if not fitting:
        return None
    fact = scene.dice.choice(fitting)
    wordings: tuple[str, ...] = {
        "weather": ("what is the weather like?", "how is the weather?"),
        "background": ("what is the background?", "what kind of background is it?"),
        "style": ("what style is it?", "what is the style of the picture?"),
    }[fact.entity]
    if fact.kind == "color":
        wordings = ("what color is the background?",)
    return QuestionDraft(
        kind="setting", question=_sentence(scene.any_of(*wordings)),
        answer=_sentence(f"the {fact.entity} is {fact.attribute}."),
        program=_looked_up(fact.entity, {}, f"return scene_graph.get_attributes(found[0])[{fact.kind or 'state'!r}]"),
    )  # fmt: skip


def _far(scene: _Scene) -> QuestionDraft | None:
    """Ask for an attribute of what stands beside a thing: two steps."""
    fact = scene.relation()
    if fact is None:
        return None
    seen = {kind: value for kind, value in scene.graph.get_attributes(fact.entity).items() if kind in {"color", "size"}}
    if not seen:
        return None
    kind, value = scene.dice.choice(sorted(seen.items()))
    one, other = name_of(fact.entity), name_of(fact.target)
    asked = "what color" if kind == "color" else "how big"
    body = f"""beside = [
        key for key, kinds in scene_graph.get_incoming_relations(found[0]).items()
        if any({fact.relation!r} in held for held in kinds.values())
    ]
    if len(beside) != 1:
        raise ValueError("more than one thing is there")
    return scene_graph.get_attributes(beside[0])[{kind!r}]"""
    return QuestionDraft(
        kind="two steps", question=_sentence(f"{asked} {_be(one)} the {one} {fact.relation} the {other}?"),
        answer=_sentence(f"the {one} {_be(one)} {value}."), program=_looked_up(other, {}, body),
    )  # fmt: skip


_MAKERS: Final[tuple[Maker, ...]] = (
    _color, _beside, _count, _between, _size, _whether_related, _place, _which, _described, _whether_so, _setting,
    _far, _members, _category, _other,
)  # fmt: skip


def _looked_up(name: str, given: dict[str, str], body: str) -> str:
    return f"{_LOOKUP.format(name=name, given=given)}    {body}".strip()


def _called(name: str, given: dict[str, str]) -> str:
    """Name a thing: the dog, the red dog, the dog in the top left."""
    words = " ".join(value for kind, value in given.items() if kind not in _PREPOSITIONS)
    where = " ".join(f"{_PREPOSITIONS[kind]} {value}" for kind, value in given.items() if kind in _PREPOSITIONS)
    return " ".join(f"the {words} {name} {where}".split())


def _be(name: str) -> str:
    return "are" if plural(name) == name and name.endswith("s") else "is"


def _sentence(text: str) -> str:
    return capitalized(text)
