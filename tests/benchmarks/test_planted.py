"""The examiner's examination, over models whose rates are known."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.planted import PlantedBench, PlantedQuery, measured, queries
from snellen.experiments.class_groups import Subjects
from snellen.experiments.examination_plan import planned
from snellen.experiments.understanding import understood
from snellen.profiles import load_profile
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import make_context

OPTIONS = argparse.Namespace(queries=None, truth=240, images=400, alpha=0.05, margin=0.2, power=0.9, seed=1)
ORACLE_RATES = {
    "sound": lambda *_: 0.97,
    "fragile": lambda _, changed: 0.55 if changed else 0.97,
    "blind": lambda *_: 0.5,
}


def bench(folder: Path) -> PlantedBench:
    oracle = Oracle(dict(ORACLE_RATES))
    context = replace(make_context(folder), examination=watched(folder, oracle))
    return PlantedBench(load_profile("embedded"), context, OPTIONS)


def test_there_are_enough_queries_in_different_words() -> None:
    models = ["clip", "blip", "llava-upright", "blip2-clean", "idefics3-mirrored"]
    asked = queries(models, models[1:])
    assert len(asked) >= 60
    assert len({query.text for query in asked}) == len(asked)
    assert all(name in query.text for query in asked for name in query.models)
    profile = load_profile("embedded")
    subjects = Subjects.of(profile)
    for query in asked:
        plan = planned(understood(query.text, models, profile).query, subjects, query.models)
        assert plan.parts, "every query leads to experiments"


@pytest.mark.parametrize(
    ("text", "model", "true"),
    [
        ("Is {} robust to Gaussian noise?", "fragile", "no"),
        # A minute: what is right in nine of ten cases takes many pictures.
        ("Is {} robust to Gaussian noise?", "sound", "yes"),
        ("Can {} identify Gaussian noise in images?", "blind", "no"),
    ],
)
@pytest.mark.slow
async def test_all_three_ways_are_told_from_the_truth(text: str, model: str, true: str, tmp_path: Path) -> None:
    made = bench(tmp_path)
    query = PlantedQuery(text.format(model), (model,))
    assert made.truth(query) == true
    ours, fixed, apex = await made.ours(query), await made.fixed(query), await made.apex(query)
    assert ours.says == fixed.says == true
    assert ours.images > 0
    assert fixed.images > 0
    assert apex.images > 0


@pytest.mark.slow
async def test_the_report_counts_what_was_said(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.options = argparse.Namespace(**{**vars(OPTIONS), "queries": 2})
    report = await measured(made, ["fragile"])
    assert report["queries"] == 2
    for arm in (report, report["fixed"], report["apex"]):
        assert arm["right"] + arm["wrong"] + arm["undecided"] == 2
