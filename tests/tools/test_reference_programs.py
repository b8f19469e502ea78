"""The programs by hand mean what their instructions say: with perfect sight, on their own scenes and on others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from benchmarks.oracle import Oracle
from benchmarks.reference_programs import Reference, SeenScenes, read_references
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import truths
from snellen.microworld.facts import list_names
from snellen.microworld.scenes import SIDE, TINTS, Scene, SceneObject, recipe, relation_holds, sample_scene
from snellen.tools.program import StepRecord, final_value
from snellen.values import Picture, as_text, from_json

REFERENCES = read_references()
ANSWERABLE = [each for each in REFERENCES if each.program]
BY_ID = {each.id: each for each in REFERENCES}
OTHER_SCENES = 25
CLEARLY = 28
"""Pixels between two middles from which on a side is beyond doubt, whatever the sizes of the things."""


def test_every_instruction_has_a_program_or_a_reason_to_refuse() -> None:
    assert len(REFERENCES) == len(BY_ID) == 120
    assert [each.id for each in REFERENCES if bool(each.program) == bool(each.refuse)] == []
    assert len({each.kind for each in REFERENCES}) == 28


@pytest.mark.parametrize("reference", ANSWERABLE, ids=lambda each: each.id)
def test_a_program_gives_the_right_answer_with_perfect_sight(reference: Reference) -> None:
    seen = SeenScenes(reference.scenes)
    records = seen.truth(reference.program)
    assert records[-1].error is None
    assert seen.is_right(records, reference.row), seen.answer(records)


@pytest.mark.parametrize("reference", ANSWERABLE, ids=lambda each: each.id)
def test_another_scene_gives_another_answer(reference: Reference) -> None:
    """No answer is written into a program: some small change of the scene changes what it finds."""
    before = shown(Oracle(reference.scenes).run(reference.program))
    for changed in changes(reference):
        records = Oracle(changed).run(reference.program)
        if records[-1].error is None and shown(records) != before:
            return
    pytest.fail("no change of the scene changes the answer")


def shown(records: Sequence[StepRecord]) -> str:
    """Return the answer of a run; of a picture, the boxes that made it."""
    value = final_value(records)
    if not isinstance(value, Picture):
        return as_text(value)
    maker = next(record for record in reversed(records) if record.tool != "RESULT")
    regions = from_json(maker.arguments["box" if "box" in maker.arguments else "object"])
    return str([each.box for each in regions])


def changes(reference: Reference) -> Iterator[tuple[Scene, ...]]:
    """Yield the scenes with things gone, of another kind, size or colour, mirrored, or on another ground."""
    names = mentioned(reference.program)
    for place, scene in enumerate(reference.scenes):
        for other in changed_scenes(scene, names):
            yield (*reference.scenes[:place], other, *reference.scenes[place + 1 :])


def changed_scenes(scene: Scene, names: Sequence[str]) -> Iterator[Scene]:
    things = scene.objects
    yield replace(scene, pattern="sand", colour="")
    yield replace(scene, pattern="plain", colour="pink")
    yield replace(scene, objects=())
    yield replace(scene, objects=tuple(replace(each, side=26) for each in things))
    yield replace(scene, objects=tuple(named(each, "tree") for each in things))
    yield replace(scene, objects=tuple(replace(each, left=SIDE - each.left - each.side) for each in things))
    yield replace(scene, objects=tuple(replace(each, top=SIDE - each.top - each.side) for each in things))
    for number, thing in enumerate(things):
        rest = things[:number], things[number + 1 :]
        smaller = replace(thing, side=thing.side // 3, size="small")
        tinted = (replace(thing, tint=tint) for tint in TINTS)
        swapped = [named(thing, name) for name in names]
        for other in ((), (smaller,), *((each,) for each in tinted), *((each,) for each in swapped)):
            yield replace(scene, objects=(*rest[0], *other, *rest[1]))


def named(thing: SceneObject, name: str) -> SceneObject:
    return replace(thing, concept=name, file=vocabulary().concept(name).files[0])


def mentioned(program: str) -> list[str]:
    """Return a thing for each name that a program looks for."""
    words, names = vocabulary(), []
    for text in re.findall(r"(?:object|query)='([^'{]+)'", program):
        names += (list_names(text, 1) or [each.name for each in words.concepts if each.name in text])[:1]
    return [*names, "tree", "bear"]


# What some programs mean, from the description of a scene alone: None where a scene leaves it open.

Meaning = Callable[[Scene], str | None]


def whether(holds: object) -> str:
    return "yes" if holds else "no"


def having(fact: str) -> Callable[[Scene], list[str]]:
    words = vocabulary()
    return lambda scene: [each.concept for each in scene.objects if fact in words.concept(each.concept).facts]


def most(scene: Scene, things: Sequence[SceneObject], sign: int = 1) -> str | None:
    """Return the largest (or, with -1, the smallest) of some things by their drawn outlines, where one alone is."""
    boxes = dict(zip(scene.objects, (truth.box for truth in truths(scene)), strict=True))
    areas = sorted(
        (sign * (box[2] - box[0]) * (box[3] - box[1]), each.concept) for each in things for box in [boxes[each]]
    )
    if not areas or (len(areas) > 1 and areas[-1][0] == areas[-2][0]):
        return None
    return areas[-1][1]


def beside(one: str, side: str, other: str) -> Meaning:
    """Say whether the one thing is on that side of the other, where there is one of each and no doubt."""
    opposite = {"left": "right", "right": "left", "above": "below", "below": "above"}[side]

    def meaning(scene: Scene) -> str | None:
        first, second = scene.named(one), scene.named(other)
        if len(first) != 1 or len(second) != 1:
            return None
        axis = 0 if side in {"left", "right"} else 1
        if abs(first[0].centre[axis] - second[0].centre[axis]) < CLEARLY:
            return None
        assert relation_holds(first[0], side, second[0]) != relation_holds(first[0], opposite, second[0])  # type: ignore[arg-type]
        return whether(relation_holds(first[0], side, second[0]))  # type: ignore[arg-type]

    return meaning


def colour_of(name: str) -> Meaning:
    def meaning(scene: Scene) -> str | None:
        things = scene.named(name)
        return things[0].tint or None if len(things) == 1 else None

    return meaning


def top_thing(scene: Scene) -> str | None:
    tops = sorted((truth.box[1], truth.concept) for truth in truths(scene))
    return None if len(tops) > 1 and tops[0][0] == tops[1][0] else tops[0][1]


MEANINGS: dict[str, Meaning] = {
    "d004": top_thing,
    "d008": lambda scene: most(scene, scene.grouped("food")),
    "d009": lambda scene: whether(scene.named("dolphin") and not scene.named("turtle")),
    "d014": lambda scene: str(len(scene.named("book")) + len(scene.named("pencil"))),
    "d017": lambda scene: str(len(scene.grouped("animals")) - len(scene.named("cat"))),
    "d019": lambda scene: str(len(scene.grouped("animals"))),
    "d021": lambda scene: str(len(scene.named("cat"))),
    "d025": beside("dog", "right", "cat"),
    "d027": lambda scene: whether(len(scene.named("cat")) < len(scene.named("dog"))),
    "d031": lambda scene: whether(sum(each.tint == "green" for each in scene.named("book")) == 1),
    "d032": lambda scene: str(len(having("wheels")(scene))),
    "d038": lambda scene: whether(having("fly")(scene) or having("air")(scene)),
    "d042": lambda scene: most(scene, scene.grouped("animals"), -1),
    "d043": lambda scene: whether(not scene.named("beer") and not scene.named("coffee")),
    "d049": lambda scene: whether(scene.named("dog") and scene.named("horse")),
    "d053": lambda scene: str(len(scene.grouped("food"))),
    "d055": beside("banana", "below", "wine"),
    "d057": lambda scene: whether(scene.named("tiger")),
    "d061": colour_of("house"),
    "d068": lambda scene: most(scene, scene.objects),
    "d075": beside("fish", "left", "whale"),
    "d079": lambda scene: whether(scene.named("cat")),
    "d087": lambda scene: whether(len(scene.named("cat")) == 3),
    "d090": lambda scene: whether(len(scene.named("car")) > len(scene.named("airplane"))),
    "d098": lambda scene: whether(2 * len(scene.grouped("animals")) > len(scene.objects)),
    "d101": lambda scene: whether(len(scene.grouped("animals")) == len(scene.named("cat"))),
    "d103": beside("airplane", "above", "bus"),
    "d108": lambda scene: ", ".join(having("read")(scene)),
    "d110": lambda scene: whether(scene.grouped("fruit")),
    "d117": lambda scene: whether(scene.named("truck") or scene.named("bus")),
}
POOLS = {
    "d008": ["cake", "banana", "corn", "burger", "dog"],
    "d031": ["book"],
    "d032": ["bicycle", "bus", "tractor", "sailboat", "dog"],
    "d038": ["robin", "dragon", "airplane", "dog", "whale", "house"],
    "d042": ["cat", "robin", "whale", "bee", "house"],
    "d053": ["cake", "banana", "corn", "burger", "dog"],
    "d098": ["cat", "robin", "whale", "house", "tree"],
    "d108": ["book", "newspaper", "scroll", "computer", "pencil"],
    "d110": ["banana", "cherries", "cake", "corn", "dog"],
}
"""What scenes are drawn of, where the names in a program are not enough or too many."""
BOTH = {"d025": ("dog", "cat"), "d055": ("banana", "wine"), "d075": ("fish", "whale"), "d103": ("airplane", "bus")}
"""What scenes must have for a relation to be asked about."""


@pytest.mark.parametrize("name", MEANINGS)
def test_a_program_means_the_same_on_any_scene(name: str) -> None:
    reference, known = BY_ID[name], {each.name for each in vocabulary().concepts}
    words = [*re.findall(r"object='([^'{]+)'", reference.program), *re.findall(r"label != '(\w+)'", reference.program)]
    singular = {each for word in words for each in (word, word.removesuffix("s"), word.removesuffix("es"))}
    pool = POOLS.get(name, [each for each in sorted({*singular, "bear", "tree"}) if each in known])
    meant = set()
    for number in range(OTHER_SCENES):
        both = BOTH.get(name, ())
        drawn = recipe(
            ["tree"] if both else pool, required=both, counts=(1, 4), styles=("flat",), weathers=("clear",), repeat=0.3
        )
        scene = sample_scene(("another scene", name, number), drawn)
        right = MEANINGS[name](scene)
        if right is None:
            continue
        meant.add(right)
        records = Oracle([scene]).run(reference.program)
        assert as_text(final_value(records)) == right, scene
    assert len(meant) > 1
