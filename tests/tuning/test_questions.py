"""What VQA does with questions that it remembers: which prompt is used, which negatives concern an instance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from snellen.models.vision.language import Answerer
from snellen.profiles import Profile
from snellen.tools.vision import Models
from snellen.tuning import Instance, tuner_of
from tests.tuning.conftest import Learned, examples, settings

Vectors = NDArray[np.float32]

ONE = np.ones((1, 5, 32), dtype=np.float32)
NEAR, FAR = np.eye(64, dtype=np.float32)[:1], np.eye(64, dtype=np.float32)[1:2]


def _answerer(profile: Profile, learned: Learned, prompts: Vectors, features: Vectors, **changes: object) -> Answerer:
    learned.put("VQA", "", prompts.astype(np.float32), features)
    return Models(settings(profile, "VQA", **changes), learned, window=0).answerer()


def test_a_question_nearest_to_one_answered_rightly_is_answered_as_ever(
    learner: Callable[[str], Profile], learned: Learned
) -> None:
    answerer = _answerer(learner("small"), learned, np.concatenate([0 * ONE, ONE]), np.concatenate([NEAR, NEAR + FAR]))
    assert answerer._select(NEAR[0]) is None


def test_right_answers_farther_off_do_not_weaken_what_was_learned(
    learner: Callable[[str], Profile], learned: Learned
) -> None:
    answerer = _answerer(learner("small"), learned, np.concatenate([ONE, 0 * ONE]), np.concatenate([NEAR, NEAR + FAR]))
    selected = answerer._select(NEAR[0])
    assert selected is not None
    assert np.array_equal(selected, ONE[0])


def test_questions_that_are_not_similar_enough_are_no_neighbours(
    learner: Callable[[str], Profile], learned: Learned
) -> None:
    answerer = _answerer(learner("small"), learned, ONE, NEAR + FAR, similarity=0.8)
    assert answerer._select(NEAR[0]) is None


def test_negatives_that_a_prompt_will_not_be_used_on_do_not_hold_it_back(learner: Callable[[str], Profile]) -> None:
    example, *others = examples("VQA", 4)
    counted = []
    for least in (-1.0, 1.0):
        tuner = tuner_of(Models(settings(learner("small"), "VQA", similarity=least), window=0), "VQA")
        batch = tuner.prepare([Instance(example, tuple(others)), Instance(others[0])])
        counted.append((batch.tokens[:, :, 0].sum(1)).tolist())
    assert counted == [[4, 1], [1, 1]]
