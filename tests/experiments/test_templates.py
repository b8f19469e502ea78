"""Experiments from easy to hard."""

from __future__ import annotations

import pytest

from snellen.experiments.design import checked
from snellen.experiments.queries.class_groups import Subjects
from snellen.experiments.queries.model_queries import read_query
from snellen.experiments.templates import experiments_for
from snellen.profiles import load_profile
from snellen.tools.samples import SampleSelection, WorldSource, select
from snellen.tools.transforms import apply

MODELS = ["clip", "llava-sound", "blip2-clean"]
QUERIES = (
    "Are these models robust to rotation?",
    "Are these models robust to geometric transformations?",
    "Can models recognize birds?",
    "Can models recognize birds under style-type transformations?",
    "Can models identify left rotation in images?",
    "Can models identify Gaussian noise in images?",
    "Can models identify pixel-type transformations?",
    "Can models identify snow in images?",
    "Can the models tell left from right?",
    "Can the models count?",
    "Can the models count vehicles?",
    "Can the models tell colors?",
    "Can models identify if several identical objects are present in images?",
    "Which of clip and llava-sound is better at vehicles?",
)


@pytest.fixture(scope="module")
def subjects() -> Subjects:
    return Subjects.of(load_profile("embedded"))


@pytest.mark.parametrize("query", QUERIES)
def test_every_experiment_can_be_run_and_gets_harder(query: str, subjects: Subjects) -> None:
    from snellen import microworld

    world = WorldSource(microworld, title="microworld")
    designs = experiments_for(read_query(query, MODELS, subjects), subjects, MODELS)
    assert designs
    for design in designs:
        made = checked(design, MODELS)
        for arm in made.arms:
            found = select(arm.select, SampleSelection("1", world, world))
            assert apply(arm.transform, found.picture, "1", found.studio).mode == "RGB"
    assert [design.difficulty for design in designs] == sorted(design.difficulty for design in designs)


def test_only_one_thing_differs_between_paired_pictures(subjects: Subjects) -> None:
    for design in experiments_for(read_query("Are they robust to noise?", MODELS, subjects), subjects, MODELS):
        assert design.paired
        assert {arm.transform.name for arm in design.arms} == {"AddGaussianNoise"}
        assert {claim.kind for claim in design.claims} == {"plain", "drop"}


def test_everyday_classes_are_examined_where_there_is_no_world() -> None:
    subjects = Subjects.of(load_profile("hub"))
    coarse, fine = experiments_for(read_query("Can models recognize dogs?", MODELS, subjects), subjects, MODELS)
    assert "a dog" in coarse.classes
    assert len(fine.classes) == 4
    assert {arm.select.arguments["class_name"] for arm in fine.arms} <= set(subjects.groups["dogs"].members)
