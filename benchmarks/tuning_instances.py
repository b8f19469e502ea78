"""Instances that tuning is timed on, as the learn graph collects them, from scenes of the microworld."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.novel import crop, known_names, outlined
from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import draw
from snellen.microworld.questions import ask
from snellen.microworld.scenes import Dice, Scene, recipe, sample_scene
from snellen.tuning import Instance, TuningExample

NEGATIVES = {"CLIP": 4, "LOC": 4, "SEG": 4, "VQA": 2, "REPLACE": 0}
_NAMES = 13
_OTHER_PICTURES = 1_000


def instance(pool: str, index: int) -> Instance:
    """Return an instance of a pool; the concept differs each time."""
    return INSTANCES[pool](*_subject(pool, index), index)


def held_out(pool: str, index: int) -> TuningExample:
    """Return another picture of the concept of an instance, or another question."""
    return INSTANCES[pool](*_subject(pool, index), index + _OTHER_PICTURES).example


def _subject(pool: str, index: int) -> tuple[str, tuple[str, ...]]:
    """Return the concept of an instance, and names that compete with it."""
    concept = vocabulary().concepts[index % len(vocabulary().concepts)].name
    dice = Dice("benchmark", pool, index)
    return concept, tuple(dice.choice([name for name in known_names() if name != concept]) for _ in range(_NAMES))


def _crop_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    negatives = tuple(_crop(name, index) for name in names[: NEGATIVES["CLIP"]])
    return Instance(_crop(concept, index), negatives, names)


def _crop(name: str, index: int) -> TuningExample:
    scene = sample_scene(f"benchmark/{name}/{index}", recipe([name], counts=(1, 1)))
    return crop(scene, name)


def _scene_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    scenes = [sample_scene(f"benchmark/{index}/{n}", recipe(names)) for n in range(NEGATIVES["LOC"])]
    return Instance(_shown(concept, names, index), tuple(TuningExample(draw(each), concept) for each in scenes), names)


def _shown(concept: str, names: tuple[str, ...], index: int) -> TuningExample:
    """A scene with the concept, its boxes and its outlines."""
    scene = sample_scene(f"benchmark/{concept}/{index}", recipe(names, required=(concept,), counts=(2, 5)))
    return outlined(scene, concept)


def _question_instance(concept: str, names: tuple[str, ...], index: int) -> Instance:
    scene = sample_scene(f"benchmark/{index}", recipe([concept, *names], required=(concept,)))
    first, *others = (_question(scene, index, n) for n in range(1 + NEGATIVES["VQA"]))
    return Instance(first, tuple(others))


def _question(scene: Scene, index: int, number: int) -> TuningExample:
    asked = ask(
        scene,
        Dice("benchmark", index, number),
        kinds=[("exists", "background", "weather")[number % 3]],
        distractors=known_names(),
    )
    text, answer = (asked.text, asked.answer) if asked else ("what is the weather?", scene.weather)
    return TuningExample(draw(scene), question=text.casefold(), answer=answer)


INSTANCES: dict[str, Callable[[str, tuple[str, ...], int], Instance]] = {
    "CLIP": _crop_instance, "LOC": _scene_instance, "SEG": _scene_instance, "VQA": _question_instance,
    "REPLACE": lambda concept, names, index: Instance(_shown(concept, names, index)),
}  # fmt: skip
