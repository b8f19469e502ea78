from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from snellen.models.soft_prompts import cosines, similar_enough
from snellen.tuning import Candidates, ensemble

NUMBERS = st.floats(-4, 4, width=32)


@st.composite
def pools(draw: st.DrawFn) -> tuple[Candidates, NDArray[np.float32]]:
    count = draw(st.integers(1, 6))
    prompts = draw(arrays.arrays(np.float32, (count, 2, 3), elements=NUMBERS))
    features = draw(arrays.arrays(np.float32, (count, 4), elements=NUMBERS))
    asked = draw(arrays.arrays(np.float32, (4,), elements=NUMBERS))
    return Candidates(prompts, features, tuple(str(index) for index in range(count))), asked


@given(pools())
def test_an_ensemble_lies_between_its_prompts(pool: tuple[Candidates, NDArray[np.float32]]) -> None:
    candidates, asked = pool
    mean = ensemble(candidates, asked)
    mean = np.zeros((2, 3), dtype=np.float32) if mean is None else mean
    assert (mean >= candidates.prompts.min(axis=0) - 1e-4).all()
    assert (mean <= candidates.prompts.max(axis=0) + 1e-4).all()


@given(pools())
def test_the_order_of_candidates_does_not_matter(pool: tuple[Candidates, NDArray[np.float32]]) -> None:
    candidates, asked = pool
    order = np.arange(len(candidates))[::-1].copy()
    first, second = ensemble(candidates, asked), ensemble(candidates.take(order), asked)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        np.testing.assert_allclose(first, second, atol=1e-5)


@given(pools())
def test_one_candidate_is_itself(pool: tuple[Candidates, NDArray[np.float32]]) -> None:
    candidates, asked = pool
    alone = ensemble(candidates.take(np.array([0])), asked)
    expected = candidates.prompts[0]
    np.testing.assert_allclose(np.zeros_like(expected) if alone is None else alone, expected, atol=1e-6)


def test_weights_are_the_cosines_of_the_paper() -> None:
    candidates = Candidates(
        np.array([[[1.0]], [[5.0]]], dtype=np.float32), np.array([[1, 0], [1, 1]], dtype=np.float32), ("a", "b")
    )
    mean = ensemble(candidates, np.array([2, 0], dtype=np.float32))
    half = 2**-0.5
    assert mean is not None
    assert mean[0, 0] == pytest.approx((1 + 5 * half) / (1 + half))


def test_opposite_features_have_no_weight_unless_all_are_opposite() -> None:
    prompts = np.array([[[1.0]], [[5.0]]], dtype=np.float32)
    asked = np.array([1, 0], dtype=np.float32)
    mixed = Candidates(prompts, np.array([[1, 0], [-1, 0]], dtype=np.float32), ("a", "b"))
    opposite = Candidates(prompts, np.array([[-1, 0], [-2, 0]], dtype=np.float32), ("a", "b"))
    means = [ensemble(each, asked) for each in (mixed, opposite)]
    assert [None if mean is None else float(mean[0, 0]) for mean in means] == [1.0, 3.0]


def test_zero_prompts_and_no_prompts_mean_that_nothing_is_injected() -> None:
    zeros = Candidates(np.zeros((3, 2, 2), dtype=np.float32), np.ones((3, 4), dtype=np.float32), ("a", "b", "c"))
    assert ensemble(zeros, np.ones(4, dtype=np.float32)) is None
    assert ensemble(zeros.take(np.array([], dtype=np.intp)), np.ones(4, dtype=np.float32)) is None


@given(pools(), st.floats(-1, 1))
def test_only_similar_candidates_stay(pool: tuple[Candidates, NDArray[np.float32]], least: float) -> None:
    candidates, asked = pool
    staying = similar_enough(candidates, asked, least=least)
    assert set(staying.ids) == {
        name
        for name, cosine in zip(candidates.ids, cosines(candidates.features, asked), strict=True)
        if cosine >= least
    }
