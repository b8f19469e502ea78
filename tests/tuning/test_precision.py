from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from snellen.profiles import Profile
from snellen.tools.vision import Models
from snellen.tuning import precision, tune, tuner_of
from snellen.tuning.precision import Chosen, choose, computing, fastest
from tests.tuning.conftest import instances

SIZES = [16, 32, 64, 128]


def timer(ratios: list[float], asked: list[int]) -> Callable[[int, Chosen], float]:
    """Seconds of a machine on which bfloat16 is so many times faster at each of the sizes."""

    def seconds(size: int, dtype: Chosen) -> float:
        if dtype == "float32":
            return 0.001
        asked.append(size)
        return 0.001 / ratios[SIZES.index(size)]

    return seconds


@pytest.mark.parametrize(
    ("ratios", "chosen", "sizes"),
    [
        ([0.6, 0.9, 2.0, 4.0], "bfloat16", SIZES),
        ([2.0, 2.0, 2.0, 2.0], "bfloat16", SIZES),
        ([1.0, 1.0, 1.0, 1.1], "float32", SIZES),
        ([0.5, 0.06, 0.05, 0.04], "float32", SIZES[:2]),
        ([0.01, 0.01, 0.01, 0.01], "float32", SIZES[:1]),
        ([3.0, 3.0, 0.7, 3.0], "float32", SIZES[:3]),
    ],
)
def test_the_clearly_faster_is_chosen_and_what_is_hopeless_is_not_measured_further(
    ratios: list[float], chosen: Chosen, sizes: list[int]
) -> None:
    asked: list[int] = []

    assert choose(timer(ratios, asked)) == chosen
    assert asked == sizes


def test_a_machine_that_takes_too_long_stays_exact() -> None:
    asked: list[int] = []
    now = iter([0.0, 0.1, 0.7])

    assert choose(timer([9.0] * 4, asked), clock=lambda: next(now)) == "float32"
    assert asked == SIZES[:2]


def test_a_real_measurement_is_short_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    fastest.cache_clear()
    state = torch.get_rng_state()
    start = time.perf_counter()
    chosen = fastest("cpu", torch.get_num_threads())
    # Half a second beside what is compiled at first, and other work on the machine.
    assert time.perf_counter() - start < 20
    assert bool((torch.get_rng_state() == state).all())

    monkeypatch.setattr(precision, "_seconds", None)
    assert fastest("cpu", torch.get_num_threads()) == chosen


@pytest.mark.parametrize(("supported", "chosen"), [(True, "bfloat16"), (False, "float32")])
def test_a_gpu_computes_in_bfloat16_where_it_can(
    monkeypatch: pytest.MonkeyPatch, chosen: Chosen, *, supported: bool
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: supported)
    fastest.cache_clear()
    assert fastest("cuda", 1) == chosen
    fastest.cache_clear()


def test_the_profile_decides_where_it_names_a_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(precision, "fastest", None)
    device, values = torch.device("cpu"), torch.ones(2, 2)
    with computing("bfloat16", device):
        assert (values @ values).dtype == torch.bfloat16
    with computing("float32", device):
        assert (values @ values).dtype == torch.float32


@pytest.mark.parametrize("pool", ["CLIP", "LOC", "VQA"])
def test_tuning_in_bfloat16_learns_nearly_the_same(learner: Callable[[str], Profile], pool: str) -> None:
    profile, several = learner("small"), instances(pool, 3)

    def tuned(dtype: Chosen) -> list[float]:
        table = profile.tuning
        changes = {"steps": 10, "score": 0.999}
        tool = getattr(table, pool.lower()).model_copy(update=changes)
        exact = profile.model_copy(update={"tuning": table.model_copy(update={pool.lower(): tool, "dtype": dtype})})
        prompts = tune(tuner_of(Models(exact, window=0), pool), several)
        assert all(each.prompt.dtype == each.feature.dtype == "float32" for each in prompts)
        return [each.loss for each in prompts]

    assert tuned("bfloat16") == pytest.approx(tuned("float32"), rel=0.1, abs=0.05)
