"""Experiments of questions about models, from easy to hard."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import microworld
from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawn_answers import arm_drawn, asked_about
from snellen.experiments.examination_plan import ExaminationPlan, planned
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.templates import battery, experiments_about
from snellen.experiments.understanding import AmbiguousQueryError, UnexaminableError, understood
from snellen.microworld.arrangements import arranged, read
from snellen.profiles import load_profile
from snellen.reasoning.queries.abilities import Recognise
from snellen.reasoning.queries.conditions import Condition
from snellen.reasoning.queries.query_readings import AmbiguousQuery
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
    world = WorldSource(microworld, title="microworld")
    for plan in checked(design, MODELS).arms:
        arm = arm_drawn(design, plan, "1").arm
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
        levels = [design.difficulty for design in part.designs if not design.of_names]  # names are asked for last
        assert levels == sorted(levels)


@pytest.mark.parametrize(
    ("query", "population"),
    [
        ("Can clip tell left from right?", "among things of 204 kinds"),
        ("Can clip tell above from below in pictures of vehicles?", "among vehicles of 15 kinds"),
        ("Can clip count cats?", "cats"),
        ("Can clip name colors?", "things of 204 kinds"),
        ("Can clip notice several things?", "things of 204 kinds"),
    ],
)
def test_claims_say_what_things_they_are_about_and_each_picture_has_others(query: str, population: str) -> None:
    (part,) = plan_of(query, ["clip"]).parts
    for design in part.designs:
        assert design.skill.endswith(population) or f"{population} " in design.skill
        drawn = {arm_drawn(design, arm, f"{seed}").details for seed in range(30) for arm in design.arms}
        assert len(drawn) > 15 or len(design.pools["thing"]) == 1


@given(seed=st.integers(0, 10**6), again=st.booleans())
@settings(max_examples=25, deadline=None)
def test_what_is_asked_about_places_is_true_of_the_picture(seed: int, again: bool) -> None:  # noqa: FBT001 - drawn
    for plan in plan_of("Can clip tell where things are?", ["clip"]).parts[0].designs:
        design = further_wordings(plan)[0] if again else plan
        for arm in design.arms:
            drawn = arm_drawn(design, arm, str(seed))
            put = asked_about(design, arm, "", "", names=drawn.names)
            scene = microworld.portrait(str(drawn.arm.select.arguments["class_name"]), str(seed)).scene
            first, second = scene.objects
            assert (first.concept, second.concept) == (drawn.names["thing"], drawn.names["other thing"])
            across, down = (a - b for a, b in zip(first.centre, second.centre, strict=True))
            true = {
                "to the left of": across < 0, "to the right of": across > 0, "above": down < 0, "below": down > 0,
                "to the left": across < 0, "to the right": across > 0,
            }  # fmt: skip
            if again:
                assert true[put.answer]
            else:
                relation = put.question.removeprefix(f"Is the {first.concept} ").removesuffix(f" the {second.concept}?")
                assert (put.answer == "yes") == true[relation]


def test_birds_are_told_from_birds_and_only_from_birds() -> None:
    easy, hard = plan_of("Can clip tell birds apart?", ["clip"]).parts[0].designs
    birds = set(SUBJECTS.groups["birds"].members)
    assert [len(easy.choices), len(hard.choices)] == [2, 4]
    for design in (easy, hard):
        for seed in map(str, range(20)):
            arm = arm_drawn(design, design.arms[0], seed).arm
            put = asked_about(design, design.arms[0], str(arm.select.arguments["class_name"]), seed)
            assert {name.partition(" ")[2] for name in put.choices} <= birds
        run(design)


def test_who_fails_at_places_is_asked_again_about_things_that_it_recognizes_and_elsewhere_without_names() -> None:
    places, *_ = plan_of("Can clip tell left from right?", ["clip"]).parts[0].designs
    assert further_wordings(places)[0].known == ["other thing", "thing"]
    assert not places.known
    for design in plan_of("Can clip count?", ["clip"]).parts[0].designs:
        again, _ = further_wordings(design)
        assert not again.known
        assert all("[" not in arm.question for arm in again.arms)


@pytest.mark.parametrize("query", ["Can clip name colors?", "Can clip recognize red things?"])
def test_who_fails_at_colors_is_asked_with_answers_that_name_the_thing(query: str) -> None:
    """A model that compares pictures with texts reads no questions: only other answers are other words to it."""
    for design in plan_of(query, ["clip"]).parts[0].designs:
        again, _ = further_wordings(design)
        assert not again.known
        assert not {*again.classes} & {*design.classes}
        assert [arm.select for arm in again.arms] == [arm.select for arm in design.arms[::-1]]


def test_the_classes_of_a_small_group_are_named() -> None:
    (note,) = plan_of("Can clip recognize birds?", ["clip"]).notes
    assert note.startswith("In the pictures birds are ")
    for query in ("Can clip recognize things?", "Can clip recognize animals?", "Can clip recognize horses?"):
        assert not plan_of(query, ["clip"]).notes


def test_colors_are_asked_for_two_at_a_time_and_all_at_once() -> None:
    two, five = plan_of("Can clip name colors?", ["clip"]).parts[0].designs
    pairs = {tuple(asked_about(two, arm, "", "", names=arm_drawn(two, arm, str(seed)).names).choices)
             for arm in two.arms for seed in range(200)}  # fmt: skip
    assert len(pairs) == 20
    assert len(five.choices) == 5


@pytest.mark.parametrize(
    "query", ["Can clip recognize red things?", "Is clip better than blip and llava-upright at recognizing red things?"]
)
def test_one_color_is_told_from_others_and_nothing_is_concluded_from_how_others_are_named(query: str) -> None:
    (design,) = plan_of(query, ["clip", "blip", "llava-upright"]).parts[0].designs
    assert [*design.classes] == ["red", "[color]"]
    assert len({arm.select.arguments["class_name"] for arm in design.arms if arm.answer == "red"}) == 1


def test_colors_that_are_told_from_one_another_are_asked_for_among_themselves() -> None:
    for query, colors in [
        ("Can clip tell red from blue?", {"red", "blue"}),
        ("Does clip tell green birds from yellow ones?", {"green", "yellow"}),
        ("Can clip tell red, blue and green apart?", {"red", "blue", "green"}),
    ]:
        assert [{*design.classes} for design in plan_of(query, ["clip"]).parts[0].designs] == [colors]


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


def test_what_is_excepted_is_in_no_experiment_about_the_rest_and_in_one_of_its_own() -> None:
    *parts, excepted = plan_of("Is clip robust to everything except blur?").parts
    transforms = {arm.transform.name for part in parts for design in part.designs for arm in design.arms}
    assert "DefocusBlurImage" not in transforms
    assert {"AddGaussianNoise", "RotateImage", "EditImageStyle", "EditImageWeather"} <= transforms
    assert {arm.transform.name for design in excepted.designs for arm in design.arms} == {"DefocusBlurImage"}
    many = plan_of("Is clip robust to everything except blur and noise?")
    assert len(many.parts) == len(parts), "more exceptions would take the pictures of what is asked"
    *_, whole = plan_of("Is clip robust to everything except geometric transformations?").parts
    assert whole.question.condition == Condition(family="geometric transformations")


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
        ("Is clip no worse than blip at counting by more than 5 points?", "better", 0.05, 1),
        ("Is clip as good as blip at counting by 20 points?", "better", 0.2, 1),
        ("Is clip no less robust than blip to noise by more than 5 points?", "steadier", 0.05, 1),
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
        ("Is blip better at telling the truth than at counting?", "the difference between them is not tested"),
        ("Can clip recognize penguins?", "taught penguin"),
        ("Can clip tell left from right under noise and rotation?", "half turn"),
        ("Is clip as good as blip at counting?", "worse by less than 10 points"),
        ("How much noise can blip take?", "1.2, 1.4, 1.7, 2 and 2.5"),
        ("Can clip recognize birds in dark and blurred pictures?", "and defocus blur are examined separately"),
    ],
)
def test_what_is_not_examined_is_said_before(query: str, note: str) -> None:
    assert any(note in each for each in plan_of(query).notes)


@pytest.mark.parametrize("query", ["Can models identify left rotation in pictures?", "Can clip identify heavy noise?"])
def test_a_type_is_told_from_pictures_as_they_are_and_from_nothing_else(query: str) -> None:
    (design,) = plan_of(query).parts[0].designs
    changed = {arm.answer: arm.transform.name != "Identity" for arm in design.arms}
    assert changed == {"yes": True, "no": False}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Can clip tell birds from robins?", "cannot be told apart"),
        ("Can clip tell left from right under rotation?", "where things are"),
        ("Is clip the best at counting?", "Do you mean"),
        ("Which model is best?", "Do you mean"),
        ("Is clip at most 10 points worse than blip at birds?", "ask"),
        ("Can clip tell birds from noise?", "read"),
        ("Can clip tell cats from one another?", "only one kind of cats"),
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
    monkeypatch.setattr("snellen.experiments.understanding.read_query", lambda *_: AmbiguousQuery(tuple(both)))
    with pytest.raises(AmbiguousQueryError, match=r"“Can clip count things\?” or “Can clip count birds\?”") as raised:
        understood("Can clip count?", MODELS, PROFILE)
    assert isinstance(raised.value, UnexaminableError)
    assert len(raised.value.readings) == 2


def test_everyday_classes_are_examined_where_there_is_no_world() -> None:
    hub = load_profile("hub")
    subjects = Subjects.of(hub)
    (part,) = planned(understood("Can models recognize dogs?", ["clip"], hub).query, subjects, ["clip"]).parts
    by_members, by_name = part.designs
    assert "a dog" in by_name.classes
    assert by_name.of_names
    dogs = set(subjects.groups["dogs"].members)
    assert set(by_members.pools["dogs"]) == dogs
    assert dogs.isdisjoint(by_members.pools["other things"])


def test_what_no_model_was_taught_of_a_type_is_said() -> None:
    (note,) = [one for one in plan_of("Can models identify plushies?").notes if "taught" in one]
    assert "plushie style" in note
    assert not [one for one in plan_of("Can models identify sketches?").notes if "taught" in one]


def test_recognizing_is_not_examined_among_other_things() -> None:
    plan = plan_of("Can models recognize birds under semantic-type transformations?")
    assert any("Not examined under multi-different" in note for note in plan.notes)
    calls = [arm.transform for part in plan.parts for one in part.designs for arm in one.arms]
    pasted = {call.arguments["class_name"] for call in calls if call.name.startswith("PasteGenerated")}
    assert pasted == {"same"}
    noticed = plan_of("Can models identify multi-different in images?").parts[0].designs[0]
    assert {arm.answer for arm in noticed.arms} == {"yes", "no"}
    run(noticed)


def test_sizes_are_those_of_the_pictures_and_of_none_that_a_folder_has() -> None:
    for query, sizes in [
        ("Can clip recognize small birds?", {"small"}),
        ("Can clip recognize large things?", {"large"}),
        ("Can clip tell small from large birds?", {"small", "large"}),
        ("Is clip worse at small things than at large ones?", {"small", "large"}),
    ]:
        (design,) = plan_of(query, ["clip"]).parts[0].designs
        drawn = [arm_drawn(design.of_arm(number), arm, "7").arm for number, arm in enumerate(design.arms)]
        shown = [str(arm.select.arguments["class_name"]) for arm in drawn]
        assert {name.split()[1] for name in shown} == sizes
        for name in shown:
            size, (thing,) = name.split()[1], arranged(read(name), "7")[1].objects
            assert thing.size == size
    folder = Subjects.made({}, classes=("cat", "dog"))
    with pytest.raises(BadInput, match="how large"):
        experiments_about(Recognise(size="small"), folder)


def test_counting_up_to_a_number_shows_all_numbers_up_to_it() -> None:
    (design,) = plan_of("Can blip count to three?", ["blip"]).parts[0].designs
    assert design.classes == ["1", "2", "3"]
    with pytest.raises(BadInput, match="at most 4 of a thing"):
        plan_of("Can blip count to ten?", ["blip"])


def test_who_is_blind_is_no_better_than_guessing_whatever_that_is() -> None:
    plan = plan_of("Is clip blind?", ["clip"])
    assert [one.claims[0].threshold for one in plan.parts[0].designs] == [0.6, 0.35]
    assert any("by less than 10 points" in note for note in plan.notes)
    better = plan_of("Is clip better than chance at birds?", ["clip"]).parts[0].designs
    assert {one.claims[0].threshold for one in better} == {0.5}
