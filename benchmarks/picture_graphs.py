"""Scene graphs of drawn scenes, for the denotation of meanings: the reasoning room knows no microworld."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import truths
from snellen.microworld.scenes import SIDE, Scene
from snellen.microworld.tasks.tag import VERBS
from snellen.reasoning.meanings.scene import Entity, Graphs, PictureGraph
from snellen.reasoning.meanings.things import PictureName


def graphs_of(scenes: Sequence[Scene]) -> Graphs:
    """Return the scene graphs of the one picture or the two pictures of a task."""
    names: tuple[PictureName, ...] = ("picture",) if len(scenes) == 1 else ("left", "right")
    return {name: _graph(scene, name) for name, scene in zip(names, scenes, strict=True)}


def _graph(scene: Scene, name: PictureName) -> PictureGraph:
    entities = tuple(
        Entity(item.concept, truth.box, kinds_of(item.concept), facts_of(item.concept), item.tint, item.size, name)
        for item, truth in zip(scene.objects, truths(scene), strict=True)
    )
    return PictureGraph(
        entities,
        (SIDE, SIDE),
        {
            "background": scene.pattern,
            "background colour": scene.colour,
            "weather": scene.weather,
            "style": scene.style,
        },
    )


@cache
def kinds_of(concept: str) -> frozenset[str]:
    """Return the kinds that a concept is of, in the singular, itself among them."""
    words = vocabulary()
    group = words.concept(concept).group
    groups = {group, *words.groups[group].parents}
    return frozenset({concept, *(words.groups[each].singular for each in groups)})


@cache
def facts_of(concept: str) -> frozenset[str]:
    """Return the facts that hold of a concept, in all their phrases, each as a verb phrase: "wild" is "are wild"."""
    words = vocabulary()
    phrases = [phrase for fact in words.concept(concept).facts for phrase in words.facts[fact]]
    return frozenset(phrase if phrase.split()[0] in VERBS else f"are {phrase}" for phrase in phrases)
