"""The arms of the benchmark of tuning learn the same prompts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.tuning import TOOLS, endless, take_turns
from benchmarks.tuning_arms import arms, in_double_precision
from benchmarks.tuning_instances import instance
from snellen.profiles import load_profile
from snellen.tools.vision import Models
from snellen.tuning import tuner_of

_EXACT = 1e-10
"""What rounding in double precision may grow to in a few steps."""


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(endless(load_profile("embedded"), steps=3), window=0)


def _tuner(models: Models, pool: str) -> Any:  # noqa: ANN401 - a tuner of any tool
    return tuner_of(models, pool)


@pytest.mark.parametrize(
    "pool", [pytest.param(pool, marks=() if pool in {"CLIP", "LOC"} else pytest.mark.slow) for pool in TOOLS]
)
def test_the_arms_differ_by_nothing_but_rounding(models: Models, pool: str) -> None:
    """In double precision they agree to ten digits: no arm has another draw, another company or another formula."""
    tuner = _tuner(models, pool)
    several = [instance(pool, index) for index in range(2)]
    with in_double_precision(tuner.module):
        release, cached, together = (arm(several) for arm in arms(tuner).values())
    for one, two, three in zip(release, cached, together, strict=True):
        assert one.prompt.dtype == three.prompt.dtype == np.float64
        np.testing.assert_allclose(one.prompt, three.prompt, atol=_EXACT, rtol=0)
        np.testing.assert_allclose(two.prompt, three.prompt, atol=_EXACT, rtol=0)


def test_a_model_is_bit_for_bit_as_before_double_precision(models: Models) -> None:
    module = _tuner(models, "SEG").module
    before = {name: each.clone() for name, each in module.state_dict().items()}
    with in_double_precision(module):
        assert next(module.parameters()).dtype == torch.float64
    assert all(torch.equal(each, before[name]) for name, each in module.state_dict().items())
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("pool", ["LOC", "VQA"])
def test_in_single_precision_most_numbers_agree_closely(models: Models, pool: str) -> None:
    """A few do not: Adam gives a gradient that is hardly more than rounding as long a step as any other."""
    several = [instance(pool, index) for index in range(3)]
    timed = take_turns(arms(_tuner(models, pool)), several, release=2)
    together = timed["together"].prompts
    assert [len(one.prompts) for one in timed.values()] == [2, 3, 3]
    for name in ("release", "cached"):
        apart = [np.abs(one.prompt - together[each].prompt) for each, one in timed[name].prompts.items()]
        assert np.quantile(apart, 0.9) < 1e-5
        assert all(each > 0 for each in timed[name].each())
