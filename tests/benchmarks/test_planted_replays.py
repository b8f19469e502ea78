"""Planted queries are answered from trials that are drawn again, as the graph would answer them."""

from __future__ import annotations

import argparse

import numpy as np
import pytest

from benchmarks.planted import PlantedQuery
from benchmarks.planted_replays import PlantedReplayBench, replayed
from benchmarks.planted_trials import SIGNS, name_of, question_of
from snellen.errors import BadInput
from snellen.experiments.examination_plan import ExaminedQuestion
from snellen.experiments.further_wordings import further_wordings
from snellen.profiles import load_profile

QUERY = PlantedQuery("Can it count?", ("it",))
OPTIONS = argparse.Namespace(
    runs=3, ways=["ours", "fixed", "apex"], images=1_000, alpha=0.05, margin=0.2, power=0.9, seed=1
)


@pytest.fixture(scope="module")
def part() -> ExaminedQuestion:
    return question_of(QUERY, load_profile("embedded"))


def trials(part: ExaminedQuestion, rate: float) -> dict[str, object]:
    """Return trials of a model that is right so often; else it takes the answer before the right one."""
    experiments = []
    for design in [*part.designs, *(other for one in part.designs for other in further_wordings(one))]:
        places, choices = [design.choices.index(arm.answer) for arm in design.arms], len(design.choices)
        shown = ["".join(SIGNS[(place - (turn >= 20 * rate)) % choices] for turn in range(20)) for place in places]
        experiments.append({"name": name_of(design), "choices": {"it": {"shown": shown}}})
    return {"query": QUERY.text, "models": ["it"], "experiments": experiments}


@pytest.mark.parametrize(("rate", "true"), [(1.0, "yes"), (0.2, "no")])
async def test_what_is_clear_is_answered_right_in_all_ways(part: ExaminedQuestion, rate: float, true: str) -> None:
    found = await replayed(trials(part, rate), part, OPTIONS)
    assert found["true"] == true
    for way in OPTIONS.ways:
        assert found[way]["right"] == 1
    assert found["ours"]["images"] < found["fixed"]["images"]


async def test_what_was_not_collected_is_said(part: ExaminedQuestion) -> None:
    bench = PlantedReplayBench(trials(part, 1.0) | {"experiments": []}, part, OPTIONS, np.random.default_rng(1))
    with pytest.raises(BadInput, match="were collected"):
        await bench.ours(QUERY)
