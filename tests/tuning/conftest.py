"""Random models of the three tools' classes, small and at the shapes of both profiles, and a source of prompts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

from benchmarks.novel import KeptPrompts as InMemory
from snellen.profiles import Profile
from snellen.tools.vision import Models
from snellen.tuning import Candidates, Instance, TuningExample
from tests.tuning.tiny import save_models


class Learned(InMemory):
    """Prompts by pool and concept, put there without being tuned."""

    def put(self, pool: str, concept: str, prompts: NDArray[np.float32], features: NDArray[np.float32]) -> None:
        names = tuple(f"{pool} {concept} {index}" for index in range(len(prompts)))
        self.pools[pool, concept] = Candidates(prompts, features, names)


def noise(number: int, side: int = 40) -> PIL.Image.Image:
    random = np.random.default_rng(number)
    return PIL.Image.fromarray(random.integers(0, 256, (side, side, 3), dtype=np.uint8))


def examples(pool: str, count: int, *, seed: int = 0) -> list[TuningExample]:
    """Examples of lengths that differ."""
    names = ["cat", "dog", "how many cats", "a"]
    made = []
    for index in range(count):
        picture, name = noise(100 * seed + index), names[(seed + index) % len(names)]
        if pool == "VQA":
            question = ["is there a dog ?", "how many cats are in the picture ?", "a cat ?"][index % 3]
            made.append(
                TuningExample(picture, question=question, answer=["yes", "no dog", "a cat"][(seed + index) % 3])
            )
        else:
            boxes = ((5, 5, 25, 30),) if pool == "LOC" else ()
            made.append(TuningExample(picture, concept=name, boxes=boxes))
    return made


def instances(pool: str, count: int) -> list[Instance]:
    """Instances with differing numbers of negatives and names."""
    made = []
    for index, example in enumerate(examples(pool, count)):
        negatives = examples(pool, index % 3, seed=index + 1)
        if pool == "LOC":
            negatives = [TuningExample(each.picture, example.concept) for each in negatives]
        if pool == "CLIP":
            negatives = [TuningExample(each.picture, "house" if index % 2 else "tree") for each in negatives]
        made.append(Instance(example, tuple(negatives), ("house", "tree", "old house")[: 1 + index % 3]))
    return made


@pytest.fixture(scope="session")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Profile]:
    """The profile of one of the shapes: ``small``, or ``hub`` (the hub's sizes, random weights)."""
    made: dict[str, Profile] = {}

    def make(shape: str) -> Profile:
        if shape not in made:
            made[shape] = save_models(tmp_path_factory.mktemp(shape), shape)
        return made[shape]

    return make


@pytest.fixture
def learned() -> Learned:
    return Learned()


@pytest.fixture
def models(learner: Callable[[str], Profile], learned: Learned) -> Models:
    return Models(learner("small"), learned, window=0)


def settings(profile: Profile, pool: str, **changes: object) -> Profile:
    """The profile with other settings of one tool."""
    key = pool.lower()
    tool = getattr(profile.tuning, key).model_copy(update=changes)
    return profile.model_copy(update={"tuning": profile.tuning.model_copy(update={key: tool})})
