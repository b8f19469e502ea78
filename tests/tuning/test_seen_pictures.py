"""A picture that was seen lately is not looked at again, whoever asks, and what is learned meanwhile is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from snellen.profiles import Profile
from snellen.tools.vision import Models
from tests.tuning.conftest import Learned, noise
from tests.tuning.segmenters import save_segmenter, shown

PICTURES = [noise(31), noise(32), noise(33, side=60)]
NAMES = [["cat", "dog"], ["house"], ["cat"]]


@contextmanager
def passes(module: Any) -> Iterator[list[int]]:  # noqa: ANN401 - a module of torch
    """Count the pictures of each forward pass."""
    counted: list[int] = []
    handle = module.register_forward_hook(
        lambda _, given, named, __: counted.append(len(named.get("pixel_values", next(iter(given), ())))),
        with_kwargs=True,
    )
    try:
        yield counted
    finally:
        handle.remove()


def test_two_homes_share_what_was_seen(learner: Callable[[str], Profile], learned: Learned) -> None:
    first, second = (Models(learner("small"), learned, window=0) for _ in range(2))
    with passes(first.encoder().checkpoint.model.vision_model) as counted:
        found = first.similarity(PICTURES, ["cat", "dog"])
        assert np.array_equal(second.similarity(PICTURES[::-1], ["cat", "dog"]), found[::-1])
        more = second.similarity([*PICTURES, noise(34)], ["cat", "dog"])
        np.testing.assert_allclose(more[:3], found, rtol=1e-5)
    assert counted == [3, 1]


def test_boxes_are_those_of_a_picture_that_is_looked_at_anew(learner: Callable[[str], Profile]) -> None:
    models = Models(learner("small"), window=0)
    vision = models.detector().checkpoint.model.owlvit.vision_model
    with passes(vision) as counted:
        found = models.detect(PICTURES, NAMES)
        again = models.detect(PICTURES[1:], NAMES[1:])
        others = models.detect(PICTURES, NAMES[::-1])
    assert counted == [3]
    assert again == found[1:]
    models.detector().checkpoint._seen._kept.clear()
    assert models.detect(PICTURES, NAMES[::-1]) == others
    assert models.detect(PICTURES, NAMES) == found


def test_boxes_follow_what_is_learned(learner: Callable[[str], Profile], learned: Learned) -> None:
    models = Models(learner("small"), learned, window=0)
    before = models.glimpse(PICTURES, NAMES, threshold=0.0)
    prompts = 3 * np.random.default_rng(1).normal(size=(2, 4, 32)).astype(np.float32)
    learned.put("LOC", "cat", prompts, np.ones((2, 32), dtype=np.float32))
    assert models.glimpse(PICTURES, NAMES, threshold=0.0)[0] != before[0]


@pytest.mark.parametrize("shape", ["embedded", "hub"])
def test_segments_follow_settings_and_what_is_learned(
    shape: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, learned = save_segmenter(tmp_path_factory.mktemp(shape), shape), Learned()
    models, strict = Models(profile, learned, window=0), Models(profile, window=0)
    strict.segmenter().settings = strict.segmenter().settings.model_copy(update={"threshold": 0.999999})
    pictures = [shown(1).picture, shown(2).picture]
    segmenter = models.segmenter()
    asked: list[list[str]] = []
    with passes(segmenter.checkpoint.model) as counted:
        before = models.segment(pictures)
        assert [[each.score for each in one] for one in models.segment(pictures[::-1])] == [
            [each.score for each in one] for one in before[::-1]
        ]
        assert sum(counted) == 2
        assert not any(strict.segment(pictures)), "another threshold leaves nothing"
        width = segmenter.checkpoint.model.config.decoder_config.hidden_size
        learned.put("SEG", "panda", np.ones((1, 8, width), dtype=np.float32), np.ones((1, width), dtype=np.float32))

        def novel(_: object, __: object, prompts: dict[str, object]) -> list[object]:
            asked.append(sorted(prompts))
            return []

        monkeypatch.setattr(segmenter, "novel", novel)
        monkeypatch.setattr(segmenter, "_selected", lambda concepts, _: dict.fromkeys(concepts))
        for _ in range(2):
            models.segment(pictures)
    assert asked == [["panda"]] * 4
    assert sum(counted) == 6, "once more with another threshold, and once more to be asked with prompts"
