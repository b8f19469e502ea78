"""Questions about models: every word counts, what is not read is named, and the echo means the same."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from snellen.profiles import load_profile
from snellen.reasoning.queries.abilities import (
    Ability,
    CountThings,
    Favour,
    IdentifyType,
    Kind,
    NameColours,
    Recognise,
    TellApart,
    TellMembers,
)
from snellen.reasoning.queries.conditions import Change, Condition
from snellen.reasoning.queries.echo import echo
from snellen.reasoning.queries.model_query import Comparison, Contrast, ModelQuery, ModelQuestion, Threshold
from snellen.reasoning.queries.quantifiers import Quantifier
from snellen.reasoning.queries.query_readings import AmbiguousQuery, UnderstoodQuery, UnreadQuery
from snellen.reasoning.queries.reader import read_query
from tests.reasoning.queries.random_queries import queries

PROFILE = load_profile("embedded")
MODELS = list(PROFILE.tested)


def meaning(text: str) -> tuple[ModelQuestion, ...]:
    reading = read_query(text, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery), reading
    return reading.query.questions


@settings(max_examples=40)
@given(queries(MODELS))
def test_reading_the_echo_gives_the_meaning_back(query: ModelQuery) -> None:
    reading = read_query(echo(query), MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    assert reading.query == query


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "Is every kind of bird recognised by clip?",
            [ModelQuestion(
                models=("clip",), ability=Recognise(things=Kind(names=("bird",))), classes=Quantifier(how="all"),
            )],
        ),
        (
            "Is blip the strongest of blip, clip and llava-upright when it comes to little birds?",
            [ModelQuestion(
                models=("blip", "clip", "llava-upright"), comparison=Comparison(how="better"),
                ability=Recognise(size="small", things=Kind(names=("bird",))),
            )],
        ),
        (
            "When other things are around it, does blip notice a bird?",
            [ModelQuestion(models=("blip",), ability=Recognise(among=True, things=Kind(names=("bird",))))],
        ),
        (
            "Do busy scenes confuse clip?",
            [ModelQuestion(models=("clip",), ability=Recognise(among=True), sense="fails")],
        ),
        (
            "Is clip worse in cluttered pictures than in normal ones?",
            [ModelQuestion(
                models=("clip",), ability=Recognise(among=True), sense="fails", than=Contrast(ability=Recognise()),
            )],
        ),
        (
            "Are birds in the upper left corner harder for blip than birds in the lower right corner?",
            [ModelQuestion(
                models=("blip",), ability=Recognise(place="top left", things=Kind(names=("bird",))), sense="fails",
                than=Contrast(ability=Recognise(place="bottom right", things=Kind(names=("bird",)))),
            )],
        ),
        (
            "Does clip overlook what is on the right side of the picture?",
            [ModelQuestion(models=("clip",), ability=Recognise(place="right half"), sense="fails")],
        ),
        (
            "Does blip have trouble with violet birds?",
            [ModelQuestion(
                models=("blip",), sense="fails",
                ability=NameColours(colours=("purple",), things=Kind(names=("bird",))),
            )],
        ),
        (
            "Can clip separate rotated photos from untouched ones?",
            [ModelQuestion(models=("clip",), ability=IdentifyType(condition=Condition(family="rotation")))],
        ),
        (
            "Does blip go for whichever option comes last?",
            [ModelQuestion(models=("blip",), ability=Favour(answer="last", always=True))],
        ),
        (
            "Does clip distinguish green and yellow things?",
            [ModelQuestion(models=("clip",), ability=NameColours(colours=("green", "yellow"), apart=True))],
        ),
        (
            "Are tiny birds harder for blip than big ones?",
            [ModelQuestion(
                models=("blip",), ability=Recognise(size="small", things=Kind(names=("bird",))), sense="fails",
                than=Contrast(ability=Recognise(size="large", things=Kind(names=("bird",)))),
            )],
        ),
        (
            "Can blip count beyond two birds?",
            [ModelQuestion(models=("blip",), ability=CountThings(up_to=3, things=Kind(names=("bird",))))],
        ),
        (
            "What does blip say most often?",
            [ModelQuestion(models=("blip",), ability=Favour(answer=""), asks="which answer")],
        ),
        (
            "Does clip just guess?",
            [ModelQuestion(models=("clip",), threshold=Threshold(how="at most", share=0.5, guessing=True))],
        ),
        (
            "Is clip robust to everything except blur?",
            [ModelQuestion(
                models=("clip",), robust=True,
                condition=Condition(family="every transformation", without=("defocus blur",)),
            )],
        ),
        (
            "Can blip tell birds from airplanes?",
            [ModelQuestion(
                models=("blip",), ability=TellApart(kinds=(Kind(names=("bird",)), Kind(names=("airplane",)))),
            )],
        ),
        (
            "Can all models count when a picture is tilted counterclockwise by 20 degrees?",
            [ModelQuestion(
                ability=CountThings(), condition=Condition(change=Change(type="tilt", amount=20, side="left")),
                quantifier=Quantifier(how="all"),
            )],
        ),
        (
            "Does clip lose more than 5 points on dark pictures?",
            [ModelQuestion(
                models=("clip",), robust=True, condition=Condition(change=Change(type="low brightness")),
                threshold=Threshold(how="more than", share=0.05),
            )],
        ),
        (
            "Is blip worse than clip at recognizing insects?",
            [ModelQuestion(
                models=("blip", "clip"), ability=Recognise(things=Kind(names=("insect",))), sense="fails",
                comparison=Comparison(how="better"),
            )],
        ),
    ],
)  # fmt: skip
def test_a_question_has_its_meaning(text: str, questions: list[ModelQuestion]) -> None:
    assert meaning(text) == tuple(questions)


@pytest.mark.parametrize(
    "text", ["Does clip fail to recognize any bird?", "Does clip have trouble with any of the birds?"]
)
def test_to_fail_at_any_is_to_fail_at_one_or_at_all_of_them(text: str) -> None:
    reading = read_query(text, MODELS, PROFILE)
    assert isinstance(reading, AmbiguousQuery)
    assert {echo(each) for each in reading.queries} == {
        "Are there kinds of birds that clip cannot recognize?", "Is clip bad at recognizing birds?",
    }  # fmt: skip


@settings(max_examples=20)
@given(queries(MODELS))
def test_of_a_pronoun_that_stands_for_no_model_the_nearest_meaning_is_of_all_of_them(query: ModelQuery) -> None:
    (question, *_) = query.questions
    assume(question.comparison is None and question.quantifier is None)
    about = question.model_copy(update={"models": MODELS[:1]})
    said = echo(ModelQuery(questions=(about,)))
    reading = read_query(said.replace(MODELS[0], "it"), MODELS, PROFILE)
    assume(isinstance(reading, UnreadQuery) and reading.of_all is not None)
    assert isinstance(reading, UnreadQuery)
    assert reading.of_all is not None
    assert reading.of_all.questions == (question.model_copy(update={"models": ()}),)


@pytest.mark.parametrize(
    ("text", "ability"),
    [
        ("Can clip tell birds apart?", TellMembers(things=Kind(names=("bird",)))),
        ("Can clip distinguish kinds of birds?", TellMembers(things=Kind(names=("bird",)))),
        ("Can clip tell one vehicle from another?", TellMembers(things=Kind(names=("vehicle",)))),
        (
            "Does clip get the kind of vehicle right in at most 60 % of the pictures?",
            TellMembers(things=Kind(names=("vehicle",))),
        ),
        ("Does clip get vehicles right in at most 60 % of the pictures?", Recognise(things=Kind(names=("vehicle",)))),
        ("Can clip tell birds and vehicles apart?", TellApart(kinds=(Kind(names=("bird",)), Kind(names=("vehicle",))))),
        ("Can clip tell things apart?", Recognise()),
        ("Does clip know birds?", Recognise(things=Kind(names=("bird",)))),
    ],
)
def test_things_of_one_kind_are_told_from_one_another_and_those_of_several_kinds_by_their_kind(
    text: str, ability: Ability
) -> None:
    assert [each.ability for each in meaning(text)] == [ability]


@pytest.mark.parametrize(
    ("text", "names", "sense"),
    [
        ("Which class is clip worst at?", (), "fails"),
        ("Which of these animals does clip confuse most?", ("animal",), "fails"),
        ("What does clip recognize worst?", (), "fails"),
        ("Which vehicles are easiest for clip?", ("vehicle",), "holds"),
    ],
)
def test_which_class_is_recognized_worst_is_asked_of_each_model(text: str, names: tuple[str, ...], sense: str) -> None:
    (question,) = meaning(text)
    assert (question.models, question.asks, question.sense) == (("clip",), "which classes", sense)
    assert question.ability == Recognise(things=Kind(names=names))


@pytest.mark.parametrize(
    ("text", "ability"),
    [
        ("Does blip always say yes?", Favour(answer="yes", always=True)),
        ("Does blip say no to everything?", Favour(answer="no", always=True)),
        ("Does blip prefer the first option?", Favour(answer="first")),
        ("Is blip biased towards the last choice?", Favour(answer="last")),
    ],
)
def test_an_answer_that_is_given_whatever_is_shown_is_asked_for(text: str, ability: Ability) -> None:
    assert [(each.ability, each.sense) for each in meaning(text)] == [(ability, "holds")]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Does blip favor yes or no?", "Does blip favor the answer yes? Does blip favor the answer no?"),
        ("Is blip biased towards yes or no?", "Does blip favor the answer yes? Does blip favor the answer no?"),
        ("Does blip prefer the answer no, or yes?", "Does blip favor the answer no? Does blip favor the answer yes?"),
        ("Does blip favor either yes or no?", "Does blip favor the answer yes? Does blip favor the answer no?"),
        ("Does blip favor yes/no?", "Does blip favor the answer yes? Does blip favor the answer no?"),
        (
            "Does clip always say yes or no?",
            "Does clip always choose the answer yes? Does clip always choose the answer no?",
        ),
        ("Does blip favor yes, yes or no?", "Does blip favor the answer yes?"),
        ("Is blip robust to noise or no?", "Is blip robust to noise?"),
        ("Does blip favor the last choice, yes or no?", "Does blip favor the last choice?"),
    ],
)
def test_of_two_answers_each_is_asked_about_and_a_mere_tag_is_none(text: str, same: str) -> None:
    assert meaning(text) == meaning(same)


@pytest.mark.parametrize(
    "text",
    [
        "Is clip no worse than blip at counting things by more than 5 points?",
        "Is clip no less robust than blip to defocus blur in counting things by more than 5 points?",
    ],
)
def test_by_how_much_a_model_may_be_worse_is_a_part_of_the_meaning_and_said_in_the_echo(text: str) -> None:
    (question,) = meaning(text)
    assert question.comparison == Comparison(how="as good", margin=0.05)
    assert echo(ModelQuery(questions=(question,))) == text


@pytest.mark.parametrize("text", ["Does any model favor yes or no?", "Does clip say yes too often or no?"])
def test_an_answer_is_not_taken_for_a_mere_tag(text: str) -> None:
    assert isinstance(read_query(text, MODELS, PROFILE), UnreadQuery)


def test_what_a_yes_means_follows_from_the_wording() -> None:
    for text, sense in (
        ("Is clip robust to noise?", "holds"),
        ("Does noise throw clip off?", "fails"),
        ("Is clip not robust to noise?", "open"),
        ("Does clip fail to recognize birds?", "fails"),
        ("Does blip hallucinate?", "fails"),
    ):
        assert {each.sense for each in meaning(text)} == {sense}, text


@settings(max_examples=40)
@given(place=st.integers(0, 9), word=st.text("bcdfghjklmnpqrstvwxz", min_size=5, max_size=9))
def test_a_word_that_is_not_known_is_never_dropped(place: int, word: str) -> None:
    words = ["can", "clip", "recognize", "birds", "in", "pictures", "with", "noise", "?"]
    reading = read_query(" ".join([*words[:place], word, *words[place:]]), MODELS, PROFILE)
    if isinstance(reading, UnderstoodQuery):
        assert (word, word) not in reading.corrected
        assert reading.corrected or word in reading.unread
    else:
        assert isinstance(reading, UnreadQuery)
        assert word in reading.words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Can the models recognize zebras?", "zebras"),
        ("Is GPT-4V robust to noise?", "GPT-4V"),
        ("Is dino-judge symmetric?", "dino-judge"),
        ("Is clip robust to quantisation?", "quantisation"),
    ],
)
def test_what_is_not_known_is_named(text: str, word: str) -> None:
    reading = read_query(text, MODELS, PROFILE)
    assert isinstance(reading, UnreadQuery)
    assert word in reading.words
    assert word in reading.why


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("clip: is it robust to noise?", "Is clip robust to noise?"),
        ("Robust to noise: can clip claim that?", "Is clip robust to noise?"),
        ("Left or right: does clip know where a thing is?", "Can clip tell left from right?"),
        ("Is clip robust to flips, horizontal or vertical?", "Is clip robust to flips?"),
        ("Is clip robust to bad weather (rain, fog)?", "Is clip robust to bad weather except snowy weather?"),
        ("Is clip better on sharp pictures than on blurred ones?", "Is clip sensitive to blur?"),
        ("Our customers want to know: does blur hurt clip?", "Is clip sensitive to blur?"),
    ],
)
def test_what_is_said_in_another_order_means_the_same(text: str, same: str) -> None:
    assert meaning(text) == meaning(same)


def test_a_sentence_that_is_not_read_is_left_out_only_where_it_adds_nothing() -> None:
    beside = read_query("We ship on Friday. Is clip robust to noise? Regards, Zoltan.", MODELS, PROFILE)
    assert isinstance(beside, UnderstoodQuery)
    assert beside.query.questions == meaning("Is clip robust to noise?")
    assert beside.unread == ("We ship on Friday.", "Regards, Zoltan.")
    for addition in ("Zoltan likes birds.", "Consider only blurred ones.", "And blip?", "Zoltan wants 90 %."):
        assert isinstance(read_query(f"{addition} Is clip robust to noise?", MODELS, PROFILE), UnreadQuery), addition


def test_models_are_known_by_what_they_are_called_for_short() -> None:
    assert {each.models for each in meaning("Is BLIP-2 or LLaVA better at counting?")} == {
        ("blip2-clean", "llava-upright")
    }
    assert {each.models for each in meaning("Is llava symmetric?")} != {("llava-upright", "llava-judge")}
    assert meaning("Are all models except clip robust to noise?")[0].models == (
        "blip", "llava-upright", "blip2-clean", "idefics3-mirrored",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Does snow make vehicles harder to recognise for clip?", "Is clip sensitive to snow in recognizing vehicles?"),
        ("Does snow make recognising vehicles harder for clip?", "Is clip sensitive to snow in recognizing vehicles?"),
        ("Is the loss caused by blur more than 20 points for clip?", "Does clip lose more than 20 points under blur?"),
        ("Does blip have a bias towards yes?", "Does blip favor the answer yes?"),
        ("Does clip have a preference for the first option?", "Does clip favor the first choice?"),
    ],
)
def test_what_a_question_names_is_in_its_meaning(text: str, same: str) -> None:
    assert meaning(text) == meaning(same)


@pytest.mark.parametrize("text", ["", "  ?! ", "x" * 2_000, "clip " * 130])
def test_no_text_is_too_odd_to_be_answered(text: str) -> None:
    assert isinstance(read_query(text, MODELS, PROFILE), UnreadQuery)


def test_where_there_is_no_world_the_classes_are_everyday_ones() -> None:
    reading = read_query("Can clip tell dogs from snakes?", ["clip"], load_profile("hub"))
    assert isinstance(reading, UnderstoodQuery)


def test_of_a_question_in_no_known_frame_the_parts_are_known_and_what_a_yes_means_is_left_open() -> None:
    reading = read_query("Would it be a bad idea to use blip for night-time photos?", MODELS, PROFILE)
    assert isinstance(reading, UnreadQuery)
    assert reading.by_parts is not None
    (question,) = reading.by_parts.questions
    assert question.models == ("blip",)
    assert question.condition == Condition(change=Change(type="low brightness"))
    assert question.robust
    assert question.sense == "open"


@pytest.mark.parametrize(
    "text",
    [
        "Was clip trained on blurred pictures?",
        "Can clip add noise to pictures?",
        "Can clip tell birds from noise?",
        "Would it be a bad idea to use blip for photos that are not dark?",
        "Would it be a worse idea to use blip or clip for night-time photos?",
        "Rain ruined my holiday. Can clip name birds?",
        "We do not have fog here. Can clip still recognise vehicles?",
    ],
)
def test_parts_are_not_put_together_where_a_word_may_mean_more(text: str) -> None:
    reading = read_query(text, MODELS, PROFILE)
    assert isinstance(reading, UnreadQuery)
    assert reading.by_parts is None


def test_circumstances_that_the_asker_tells_of_are_examined() -> None:
    reading = read_query("It is often foggy where we live. Does blip still recognise animals?", MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    (question,) = reading.query.questions
    assert question.condition == Condition(change=Change(type="foggy weather"))
    assert question.robust
    assert reading.unread == ("It is often foggy where we live.",)


@pytest.mark.parametrize(
    ("text", "quantifier"),
    [
        ("Does any model recognize birds?", Quantifier(how="at least", count=1)),
        ("Can every model recognize birds?", Quantifier(how="all")),
        ("Do none of the models recognize birds?", Quantifier(how="at most")),
        ("Do most models recognize birds?", Quantifier(how="most")),
        ("How many models recognize birds?", Quantifier(how="how many")),
        ("Do fewer than three models recognize birds?", Quantifier(how="at most", count=2)),
        ("Is it false that all models recognize birds?", Quantifier(how="not all")),
        ("Is it wrong to say that any model recognizes birds?", Quantifier(how="at most")),
        ("Do both clip and blip recognize birds?", Quantifier(how="all")),
        ("Does neither clip nor blip recognize birds?", Quantifier(how="at most")),
        ("Can clip and blip recognize birds?", None),
        ("How well do all models recognize birds?", None),
    ],
)
def test_for_how_many_models_something_shall_hold_is_a_part_of_the_meaning(
    text: str, quantifier: Quantifier | None
) -> None:
    (question,) = meaning(text)
    assert question.quantifier == quantifier
    assert question.ability == Recognise(things=Kind(names=("bird",)))


@pytest.mark.parametrize(
    "text",
    [
        "Can any model recognize birds and count?",  # the same one, or one each?
        "Can any model recognize birds? Can it count?",
        "Does any model not recognize birds?",
        "Is blur harmless for any model?",
        "Would it be a bad idea to use any model for dark photos?",
        "Up to what blur do all models recognize birds?",
    ],
)
def test_a_quantifier_is_not_read_where_it_is_not_clear_of_what(text: str) -> None:
    assert isinstance(read_query(text, MODELS, PROFILE), UnreadQuery)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("Is clip robust to heavy snow?", Change(type="snowy weather", heavy=True)),
        ("Is clip robust to very dark pictures?", Change(type="low brightness", heavy=True)),
        ("Is clip robust to pictures that are badly compressed?", Change(type="JPEG compression", heavy=True)),
        ("Does a bit of noise hurt clip?", Change(type="Gaussian noise", slight=True)),
        ("Is clip robust if I blur the pictures slightly?", Change(type="defocus blur", slight=True)),
        ("Is clip robust to slight rotation?", Change(type="tilt", slight=True)),
        ("Is clip robust to rotation by 30 degrees?", Change(type="tilt", amount=30)),
        ("Is clip robust to weak contrast?", Change(type="low contrast")),
    ],
)
def test_a_severity_in_words_is_a_part_of_the_meaning(text: str, change: Change) -> None:
    assert [each.condition for each in meaning(text)] == [Condition(change=change)]


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("Does clip lose half of its accuracy under blur?", Threshold(how="at least", share=0.5, relative=True)),
        ("Does clip lose 20 % of its accuracy under blur?", Threshold(how="at least", share=0.2, relative=True)),
        (
            "Does clip keep at least 90 % of its accuracy under blur?",
            Threshold(how="at most", share=0.1, relative=True),
        ),
        ("Does blur halve the accuracy of clip?", Threshold(how="at least", share=0.5, relative=True)),
        ("Does clip lose 20 points of its accuracy under blur?", Threshold(how="at least", share=0.2)),
        ("Does clip lose more than 20 points under blur?", Threshold(how="more than", share=0.2)),
    ],
)
def test_a_share_of_what_there_was_is_no_number_of_points(text: str, bound: Threshold) -> None:
    assert [each.threshold for each in meaning(text)] == [bound]


@pytest.mark.parametrize("word", ["ever", "never", "always", "exactly"])
def test_a_word_that_asks_for_more_than_pictures_can_show_is_sent_back_by_name(word: str) -> None:
    reading = read_query(f"Does clip {word} recognize birds?", MODELS, PROFILE)
    assert isinstance(reading, UnreadQuery)
    assert f"“{word}”" in reading.why


@pytest.mark.parametrize("whom", ["all birds but one", "every vehicle except two", "all vehicles save 3"])
def test_all_but_a_number_is_sent_back(whom: str) -> None:
    reading = read_query(f"Does clip recognize {whom}?", MODELS, PROFILE)
    assert not isinstance(reading, UnderstoodQuery)
    assert "without naming them" in (reading.why if isinstance(reading, UnreadQuery) else " ".join(reading.left_out))


def test_much_better_is_better_by_what_counts_as_a_loss() -> None:
    assert meaning("Is clip much better than blip at counting?") == meaning(
        "Is clip better than blip at counting by more than 10 points?"
    )
