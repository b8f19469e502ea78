"""Both readers of questions about models together: what is understood, what is asked back, what stays unread."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.learned.fallback import CERTAIN, LIKELY, SURE, WARY
from snellen.reasoning.learned.query_fallback import (
    QueryGuess,
    _is_contradicted,
    alike,
    compared_query,
    decided_query,
    guessed_queries,
    read_query,
)
from snellen.reasoning.learned.reader import Guess
from snellen.reasoning.queries import reader as grammar
from snellen.reasoning.queries.model_query import ModelQuery
from snellen.reasoning.queries.query_readings import AmbiguousQuery, UnderstoodQuery, UnreadQuery

PROFILE = load_profile("embedded")
MODELS = tuple(PROFILE.tested)
UNREAD = UnreadQuery((), (), "")


def meaning(text: str) -> ModelQuery:
    reading = grammar.read_query(text, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery), reading
    return reading.query


BIRDS, CARS = meaning("Can clip recognize birds?"), meaning("Can clip recognize vehicles?")


def guess(query: ModelQuery | None, probability: float, *left_out: str) -> QueryGuess:
    return QueryGuess(query, Guess(query, probability, ()), left_out)


def test_what_no_rule_reads_is_understood_where_it_is_sure_and_asked_back_where_it_is_likely() -> None:
    assert decided_query(UNREAD, [guess(BIRDS, SURE)]) == UnderstoodQuery(BIRDS, probability=SURE)
    assert decided_query(UNREAD, [guess(BIRDS, 0.6), guess(CARS, 0.3)]) == AmbiguousQuery((BIRDS, CARS))
    left_out = guess(BIRDS, CERTAIN - 0.01, "“ever” …")
    assert decided_query(UNREAD, [left_out]) == AmbiguousQuery((BIRDS,), ("“ever” …",))
    assert decided_query(UNREAD, [guess(BIRDS, CERTAIN, "“ever” …")]) == UnderstoodQuery(BIRDS, probability=CERTAIN)
    assert decided_query(UNREAD, [guess(BIRDS, LIKELY - 0.01)]) is UNREAD
    assert decided_query(UNREAD, [guess(None, CERTAIN), guess(BIRDS, LIKELY)]) is UNREAD


def test_things_that_are_told_apart_have_no_order() -> None:
    hens, robins = meaning("Can clip tell hens from robins?"), meaning("Can clip tell robins from hens?")
    assert hens != robins
    assert alike(hens, robins)
    assert not alike(hens, meaning("Can clip tell hens from horses?"))


def test_beside_words_that_mostly_say_what_is_meant_a_meaning_has_to_be_surer() -> None:
    found = QueryGuess(BIRDS, Guess(BIRDS, SURE, ()), bounding=("far better",))
    assert decided_query(UNREAD, [found]) == AmbiguousQuery((BIRDS,))
    surer = replace(found, guess=Guess(BIRDS, WARY, ()))
    assert decided_query(UNREAD, [surer]) == UnderstoodQuery(BIRDS, probability=WARY)


def test_what_a_question_names_beside_is_left_out_where_it_is_nearly_certain_only() -> None:
    def reading_of(question: str) -> object:
        return read_query(question, MODELS, PROFILE)

    story = "I keep dogs, but never mind them. "
    assert reading_of("Can clip recognize birds?") == UnderstoodQuery(BIRDS)
    (best, *_) = guessed_queries(f"{story}Is clip able to say of a picture that it shows a bird?", MODELS, PROFILE)
    assert best.guess.unused
    assert best.left_out[-1] == "It names something that has no place in what was understood."
    for probability, kind in ((CERTAIN, UnderstoodQuery), (SURE, AmbiguousQuery), (LIKELY, UnreadQuery)):
        found = QueryGuess(BIRDS, Guess(BIRDS, probability, ("dog",)), best.left_out)
        assert isinstance(decided_query(UNREAD, [found]), kind)
    unmet = Guess(BIRDS, 1.0, (), unmet=("blurred",))
    assert isinstance(decided_query(UNREAD, [QueryGuess(BIRDS, unmet)]), AmbiguousQuery)


@pytest.mark.parametrize(
    ("said", "is_contradicted"),
    [
        ("A picture of one object with nothing else around: does clip name it?", True),
        ("The object's all by its lonesome. Will clip name it?", True),
        ("Our objects never stand alone. Can clip tell what one is?", False),
        ("Can clip recognise objects in a crowd, as opposed to objects by themselves?", False),
    ],
)
def test_what_is_said_to_be_alone_is_not_understood_as_among_others(said: str, *, is_contradicted: bool) -> None:
    among = meaning("Can clip recognize things among other things?")
    assert _is_contradicted(said, among) is is_contradicted
    assert not _is_contradicted(said, meaning("Can clip recognize things?"))


@pytest.mark.parametrize(
    "question",
    [
        "Is clip the best of the models at counting?",
        "clip is the strongest at birds, right?",
        "The worst of all at birds is clip, they say.",
    ],
)
def test_a_superlative_is_not_understood_as_the_plain_ability(question: str) -> None:
    reading = read_query(question, MODELS, PROFILE)
    assert not isinstance(reading, UnderstoodQuery) or reading.query.questions[0].comparison is not None
    assert _is_contradicted(question, BIRDS)
    assert not _is_contradicted(question, meaning("Which model is best at recognizing birds?"))
    assert not _is_contradicted("Is clip at its best at birds, able to recognise one?", BIRDS)


@pytest.mark.parametrize("question", ["Is clip stuck on yes or no?", "Does any model always say yes or no?"])
def test_of_two_answers_one_is_not_understood_alone(question: str) -> None:
    reading = read_query(question, MODELS, PROFILE)
    assert not isinstance(reading, UnderstoodQuery) or len(reading.query.questions) > 1
    assert _is_contradicted(question, meaning("Does clip favor the answer yes?"))
    assert not _is_contradicted(question, meaning("Does clip favor the answer yes? Does clip favor the answer no?"))


@pytest.mark.parametrize(
    "question",
    [
        "Does blip favor the second option?",
        "Does blip always choose the second choice?",
        "Does blip have a bias towards the second answer?",
        "Is blip's habit to go for the third choice, whatever it is shown?",
    ],
)
def test_an_answer_at_another_place_is_not_understood_as_the_last_but_asked_back(question: str) -> None:
    reading = read_query(question, MODELS, PROFILE)
    assert isinstance(reading, UnreadQuery | AmbiguousQuery)
    assert not isinstance(reading, AmbiguousQuery) or reading.left_out
    assert _is_contradicted(question, meaning("Does blip always choose the last choice?"))


def test_what_the_grammar_reads_whole_is_doubted_by_certainty_and_what_it_reads_in_part_by_likelihood() -> None:
    whole, part = UnderstoodQuery(BIRDS), UnderstoodQuery(BIRDS, unread=("It is late.",))
    assert compared_query(whole, [guess(CARS, CERTAIN)]) == AmbiguousQuery((BIRDS, CARS))
    assert compared_query(whole, [guess(CARS, CERTAIN - 0.01)]) is whole
    assert compared_query(part, [guess(CARS, LIKELY)]) == AmbiguousQuery((BIRDS, CARS))
    for reading in (whole, part):
        assert compared_query(reading, [guess(BIRDS, 1.0)]) is reading
        assert compared_query(reading, [guess(None, 1.0)]) is reading
        assert compared_query(reading, [guess(CARS, 1.0, "“only” …")]) is reading
        assert compared_query(reading, []) is reading


def test_queries_are_alike_whatever_the_order_of_models_that_are_not_compared() -> None:
    assert alike(meaning("Can clip and blip recognize birds?"), meaning("Can blip and clip recognize birds?"))
    assert alike(meaning("Whether clip can recognize birds."), meaning("Is clip bad at recognizing birds?"))
    assert not alike(meaning("Can clip recognize birds?"), meaning("Is clip bad at recognizing birds?"))
    better = "Is {} better than {} at recognizing birds?"
    assert not alike(meaning(better.format("clip", "blip")), meaning(better.format("blip", "clip")))


def test_parts_alone_are_a_question_back_and_count_where_the_learned_reader_takes_the_question_for_the_same() -> None:
    text = "Would it be a bad idea to use blip for night-time photos?"
    parts = grammar.read_query(text, MODELS, PROFILE)
    assert isinstance(parts, UnreadQuery)
    assert parts.by_parts is not None
    without_network = read_query(text, MODELS, load_profile("hub"))
    assert isinstance(without_network, AmbiguousQuery)
    reading = read_query(text, MODELS, PROFILE)
    if isinstance(reading, UnderstoodQuery):
        assert alike(reading.query, parts.by_parts) or reading.probability >= SURE
    elif isinstance(reading, UnreadQuery):
        best, *_ = guessed_queries(text, MODELS, PROFILE)
        assert (best.query, best.probability >= SURE) == (None, True), "only a sure refusal outweighs the parts"
    else:
        assert isinstance(reading, AmbiguousQuery)
        assert parts.by_parts in reading.queries


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "mirrored images - does blip recognise that they were mirrored?",
            "Can blip identify horizontal flip in pictures?",
        ),
        (
            "Is recognising instruments a thing blip2-clean does badly?",
            "Is blip2-clean bad at recognizing instruments?",
        ),
    ],
)
def test_what_the_learned_reader_is_sure_of_is_more_than_what_the_parts_make(text: str, same: str) -> None:
    reading = read_query(text, MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery)
    assert reading.query == meaning(same)


def test_questions_about_models_are_read_by_both() -> None:
    reading = read_query("fog. does blip care?", MODELS, PROFILE)
    same = read_query("Is blip sensitive to foggy weather?", MODELS, PROFILE)
    assert isinstance(reading, UnderstoodQuery | AmbiguousQuery)
    assert isinstance(same, UnderstoodQuery)
    queries = (reading.query,) if isinstance(reading, UnderstoodQuery) else reading.queries
    assert same.query in queries


def test_of_which_model_something_is_asked_is_asked_back_in_the_same_words() -> None:
    reading = read_query("Can it count beyond two?", MODELS, PROFILE)
    assert isinstance(reading, AmbiguousQuery)
    assert [UnderstoodQuery(each).echo for each in reading.queries] == ["Can the models count up to 3 things?"]
    assert reading.left_out == ("Which model “it” is was not said: name one, or ask about “the models”.",)


@pytest.mark.parametrize("text", ["Does yolo11 see birds?", "How fast does blip recognise birds?", "Who wrote clip?"])
def test_models_and_abilities_that_there_are_not_are_never_taken_for_others(text: str) -> None:
    assert isinstance(read_query(text, MODELS, PROFILE), UnreadQuery | AmbiguousQuery)


@pytest.mark.parametrize(
    "text",
    [
        "Does llava-upright recognize no birds?",
        "Can clip recognize more than 3 kinds of birds?",
        "Does blip always recognize animals?",
        "Is clip completely robust to rotation?",
        "Does clip know a third of the birds?",
        "Does blip count every bird?",
        "Is clip robust to blur for most of the birds?",
        "Does blip recognize birds that it has never seen?",
    ],
)
def test_a_word_that_bounds_or_denies_is_never_dropped_in_silence(text: str) -> None:
    reading = read_query(text, MODELS, PROFILE)
    if isinstance(reading, UnderstoodQuery):
        assert reading.query != meaning(_without_bounds(text))


def _without_bounds(text: str) -> str:
    bounds = (
        r"\b(?:no|more than 3 kinds of|always|completely|a third of the|every|most of the) | that it has never seen"
    )
    return re.sub(bounds, "", text)
