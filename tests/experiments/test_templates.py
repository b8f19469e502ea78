"""Experiments of questions about models, from easy to hard."""

from __future__ import annotations

import pytest

from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, Design, checked
from snellen.experiments.drawn_answers import arm_drawn
from snellen.experiments.examination_plan import ExaminationPlan, planned
from snellen.experiments.templates import battery
from snellen.experiments.understanding import AmbiguousQueryError, UnexaminableError, understood
from snellen.profiles import load_profile
from snellen.reasoning.queries import reader
from snellen.tools.samples import SampleSelection, WorldSource, select
from snellen.tools.transforms import apply

MODELS = ["clip", "blip", "llava-upright"]
PROFILE = load_profile("embedded")
SUBJECTS = Subjects.of(PROFILE)


def plan_of(query: str, models: list[str] | None = None) -> ExaminationPlan:
    chosen = models or MODELS
    return planned(understood(query, chosen, PROFILE).query, SUBJECTS, chosen)


def run(design: Design) -> None:
    """Make a picture of each arm."""
    from snellen import microworld

    world = WorldSource(microworld, title="microworld")
    for plan in checked(design, MODELS).arms:
        arm = arm_drawn(design, plan, "1")
        drawn = select(arm.select, SampleSelection("1", world, world))
        assert apply(arm.transform, drawn.picture, "1", drawn.studio).mode == "RGB"


@pytest.mark.parametrize(
    "query",
    [
        "Are these models robust to rotation?",
        "Can models recognize insects under style-type transformations?",
        "Can models identify pixel-type transformations?",
        "Can the models tell left from right in snow?",
        "Can the models count vehicles?",
        "Can the models tell red from green?",
        "Can models notice several different birds?",
        "Can models recognize things that can fly?",
        "Can models recognize cats?",
        "Can models tell cats from vehicles?",
        "Are the models robust to red tint and to being tilted by 20 degrees to the left?",
    ],
)
def test_every_experiment_can_be_run_and_gets_harder(query: str) -> None:
    for part in plan_of(query).parts:
        for design in part.designs:
            run(design)
        levels = [design.difficulty for design in part.designs]
        assert levels == sorted(levels)


def test_the_battery_has_an_experiment_for_each_ability() -> None:
    designs = battery(SUBJECTS)
    assert len({design.skill for design in designs}) == len(designs)
    for design in designs:
        run(design.model_copy(update={"claims": [Claim(kind="ability", model="clip", threshold=0.5)]}))


def test_only_one_thing_differs_between_paired_pictures() -> None:
    (part,) = plan_of("Are they robust to noise?").parts
    for design in part.designs:
        assert design.paired
        assert {arm.transform.name for arm in design.arms} == {"AddGaussianNoise"}
        assert {claim.kind for claim in design.claims} == {"plain", "drop"}


def test_what_is_excepted_is_in_no_experiment_and_the_rest_is() -> None:
    parts = plan_of("Is clip robust to everything except blur?").parts
    transforms = {arm.transform.name for part in parts for design in part.designs for arm in design.arms}
    assert "DefocusBlurImage" not in transforms
    assert {"AddGaussianNoise", "RotateImage", "EditImageStyle", "EditImageWeather"} <= transforms


def test_a_stated_severity_and_direction_are_those_of_the_pictures() -> None:
    (part,) = plan_of("Is clip robust to counterclockwise rotation by 45 degrees?").parts
    assert {str(arm.transform.arguments) for arm in part.designs[0].arms} == {"{'angle': -45}"}


def test_conditions_are_examined_each_for_itself_and_a_contrast_turns_the_second() -> None:
    left, right = plan_of("Is clip robust to left rotation but not to right rotation?").parts
    assert (left.question.sense, right.question.sense) == ("holds", "fails")
    assert left.designs[0].condition != right.designs[0].condition


@pytest.mark.parametrize(
    ("query", "kind", "threshold", "number"),
    [
        ("Is clip right in at least 90 % of pictures of fruit?", "ability", 0.9, 1),
        ("Does clip lose more than five points under noise?", "drop", 0.05, 1),
        ("Is clip better than blip at food by more than ten points?", "better", 0.1, 1),
        ("Are the models within 2 points of one another on food?", "better", 0.02, 6),
    ],
)
def test_claims_have_the_bounds_that_the_question_states(query: str, kind: str, threshold: float, number: int) -> None:
    claims = [claim for claim in plan_of(query).parts[0].designs[0].claims if claim.kind == kind]
    assert {claim.threshold for claim in claims} == {threshold}
    assert len(claims) == number


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("Is clip better at birds than at vehicles?", "vehicles"),
        ("Can clip recognize penguins?", "taught penguin"),
        ("Can clip tell left from right under noise and rotation?", "half turn"),
        ("Is clip as good as blip at counting?", "worse by less than 10 points"),
        ("How much noise can blip take?", "1.2, 1.4, 1.7, 2, 2.5"),
        ("Can clip recognize birds in dark and blurred pictures?", "Low brightness and defocus blur are examined each"),
    ],
)
def test_what_is_not_examined_is_said_before(query: str, note: str) -> None:
    assert any(note in each for each in plan_of(query).notes)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Can clip tell birds from robins?", "cannot be told apart"),
        ("Can clip tell left from right under rotation?", "where things are"),
        ("Is clip the best at counting?", "read"),
        ("Which model is best?", "read"),
        ("Is clip at most 10 points worse than blip at birds?", "ask"),
        ("Can clip tell birds from noise?", "read"),
        ("Is llava-judge symmetric, and can it count?", "one after the other"),
        ("Is blip robust to noise?", "not among"),
    ],
)
def test_what_cannot_be_examined_is_said_with_the_reason(query: str, why: str) -> None:
    models = ["clip"] if "blip" in query else list(PROFILE.tested)
    with pytest.raises(BadInput, match=why):
        plan_of(query, models)


def test_of_two_meanings_the_user_is_asked_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [understood(text, MODELS, PROFILE).query for text in ("Can clip count?", "Can clip count birds?")]
    monkeypatch.setattr("snellen.experiments.understanding.read_query", lambda *_: reader.AmbiguousQuery(tuple(both)))
    with pytest.raises(AmbiguousQueryError, match=r"“Can clip count things\?” or “Can clip count birds\?”") as raised:
        understood("Can clip count?", MODELS, PROFILE)
    assert isinstance(raised.value, UnexaminableError)
    assert len(raised.value.readings) == 2


def test_everyday_classes_are_examined_where_there_is_no_world() -> None:
    hub = load_profile("hub")
    subjects = Subjects.of(hub)
    (part,) = planned(understood("Can models recognize dogs?", ["clip"], hub).query, subjects, ["clip"]).parts
    by_name, by_members = part.designs
    assert "a dog" in by_name.classes
    assert by_name.of_names
    dogs = set(subjects.groups["dogs"].members)
    assert set(by_members.pools["dogs"]) == dogs
    assert dogs.isdisjoint(by_members.pools["other things"])
