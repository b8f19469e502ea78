"""Experiments about things at a place, or among others: what pictures show, what is asked, who is right."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen import microworld
from snellen.errors import BadInput
from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Design
from snellen.experiments.design_checks import checked
from snellen.experiments.drawn_answers import arm_drawn, asked_about
from snellen.experiments.examination_plan import planned
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.templates import experiments_about
from snellen.experiments.understanding import understood
from snellen.microworld.arrangements import is_in
from snellen.profiles import load_profile
from snellen.reasoning.language.inflection import with_article
from snellen.reasoning.queries.abilities import Kind, Recognise

PROFILE = load_profile("embedded")
SUBJECTS = Subjects.of(PROFILE)
KINDS = st.sampled_from([Kind(), Kind(names=("bird",)), Kind(names=("cat",)), Kind(names=("vehicle",))])
PLACES = st.sampled_from(["top left", "bottom right", "left half", "top half", "middle"])
ABILITIES = st.one_of(
    st.builds(Recognise, place=PLACES, things=KINDS),
    st.builds(Recognise, among=st.just(True), things=KINDS),  # noqa: FBT003 - a value to draw
)


def designs_of(query: str) -> list[Design]:
    (part,) = planned(understood(query, ["clip", "blip"], PROFILE).query, SUBJECTS, ["clip"]).parts
    return [checked(design, ["clip"]) for design in part.designs]


@given(ability=ABILITIES, seed=st.integers(0, 10**6).map(str), again=st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_of_two_names_the_picture_shows_one_which_stands_first_as_often_as_second(
    ability: Recognise, seed: str, *, again: int
) -> None:
    (design,) = experiments_about(ability, SUBJECTS)
    design = further_wordings(design)[again - 1] if again else design
    right = []
    for arm in design.arms:
        drawn = arm_drawn(design, arm, seed)
        put = asked_about(design, arm, "", "", names=drawn.names)
        things = microworld.portrait(str(drawn.arm.select.arguments["class_name"]), seed).scene.objects
        shown = [with_article(thing.concept) for thing in things]
        assert [choice for choice in put.choices if choice in shown] == [put.answer], "an oracle is always right"
        assert len(set(shown)) == (4 if ability.among else 1)
        assert all(is_in(thing, ability.place) for thing in things if ability.place)
        assert again or all(choice in put.question for choice in put.choices)
        right.append(put.choices.index(put.answer))
    assert sorted(right) == [0, 1], "a constant answer is right in half of the pictures"


def test_what_is_claimed_says_where_things_are_and_what_is_beside_them() -> None:
    (clutter,) = designs_of("Is clip bad at finding birds among other things?")
    (corner,) = designs_of("Can clip recognize birds in the top left corner?")
    birds = f"recognizing birds of {len(SUBJECTS.groups['birds'].members)} kinds"
    assert (clutter.skill, corner.skill) == (f"{birds} among three others", f"{birds} in the top left")
    assert len(clutter.pools["neighbor"]) > len(clutter.pools["thing"])


def test_places_are_compared_in_one_experiment() -> None:
    (design,) = designs_of("Is clip worse at things in the top left than at things in the bottom right?")
    shown = {str(arm.select.arguments["class_name"]).rpartition(" in the ")[2] for arm in design.arms}
    assert shown == {"top left", "bottom right"}
    assert {claim.kind for claim in design.claims} == {"contrast"}


@pytest.mark.parametrize("ability", [Recognise(place="top left"), Recognise(among=True)])
def test_other_pictures_than_those_of_a_world_need_not_show_it(ability: Recognise) -> None:
    with pytest.raises(BadInput, match="says what they show, and not where"):
        experiments_about(ability, Subjects.made({}, classes=("cat", "dog")))
    with pytest.raises(BadInput, match="Painted pictures need not show"):
        experiments_about(ability, Subjects.of(load_profile("hub")))


def test_a_place_is_not_examined_under_changes_that_move_things() -> None:
    question = understood("Can clip recognize things in the top left under rotation?", ["clip"], PROFILE).query
    with pytest.raises(BadInput, match="where things are"):
        planned(question, SUBJECTS, ["clip"])
    (noisy,) = designs_of("Can clip recognize things in the top left under noise?")
    assert {arm.transform.name for arm in noisy.arms} == {"AddGaussianNoise"}
