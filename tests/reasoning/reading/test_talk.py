"""What people say beside instructions: courtesies, feedback on answers, orders to forget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.reasoning.meanings.talk import Agreement, Assent, Correction, Decline, Doubt, ForgetOrder, Talk
from snellen.reasoning.reading.remarks import GivenAnswer, Remark, in_words, remark_of
from snellen.reasoning.reading.talk_reader import read_correction, read_talk

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = st.sampled_from(["dog", "fire engine", "quokka"])


def wordings(name: str) -> dict[str, list[Any]]:
    read: dict[str, list[Any]] = json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8"))
    return read


def remarked(text: str, answer: object = None) -> Remark:
    """Return what a sentence says of an answer, as a conversation takes it."""
    for each in read_talk(text):
        if isinstance(each, Agreement):
            return Remark(right=True)
        if isinstance(each, Decline) and each.bare:
            return Remark(correction="that is wrong")
        if isinstance(each, Correction):
            return remark_of(each, GivenAnswer(answer, names=("fox", "wolf", "cat", "flamingo", "goose", "lion")))
        if isinstance(each, Doubt) and each.correction:
            return remark_of(each.correction, GivenAnswer(answer))
    return Remark()


@pytest.mark.parametrize("half", ["tuned", "held_out"])
def test_thanks_and_small_talk_are_no_feedback(half: str) -> None:
    read = {text: remarked(text, 3) for text in wordings(f"replies_{half}")["chatter"]}
    assert {text: remark for text, remark in read.items() if remark and not remark.unsure and not remark.right} == {}


@pytest.mark.parametrize("half", ["tuned", "held_out"])
def test_doubts_and_wishes_correct_nothing(half: str) -> None:
    said = wordings(f"replies_{half}")
    readings = [each for text in said["doubt"] + said["wish"] for each in read_talk(text)]
    assert [each for each in readings if isinstance(each, Correction | Agreement)] == []


@pytest.mark.parametrize("half", ["tuned", "held_out"])
def test_agreement_is_read(half: str) -> None:
    assert [text for text in wordings(f"replies_{half}")["right"] if not remarked(text).right] == []


@pytest.mark.parametrize("half", ["tuned", "held_out"])
def test_most_corrections_are_read(half: str) -> None:
    rows = wordings(f"replies_{half}")["correction"]
    read = [(text, meant, read_correction(text)) for text, meant in rows]
    missed = [text for text, meant, it in read if it is None or not (it.only_denies or meant in repr(it))]
    assert missed == []


@pytest.mark.parametrize("half", ["found", "held_out"])
def test_agreement_commands_and_corrections_are_told_apart(half: str) -> None:
    said = wordings(f"denials_{half}")
    assert [row for row in said["command"] if remarked(row[1], row[0])] == []
    assert [row for row in said["agreement"] if remarked(row[1], row[0]).correction] == []
    assert [row for row in said["correction"] if not remarked(row[1], row[0]).correction] == []
    assert [row for row in said["unclear"] if not remarked(row[1], row[0]).unsure] == []


@pytest.mark.parametrize(
    ("answer", "text", "asks"),
    [(3, "it is 4", True), (3, "it is a dog", False), ("dog", "it's a fox", True), (True, "it is a dog", False)],
)
def test_a_plain_sentence_is_only_asked_about_where_it_could_be_the_answer(
    answer: object,
    text: str,
    asks: bool,  # noqa: FBT001 - a case of the test
) -> None:
    assert remarked(text, answer).unsure is asks


@pytest.mark.parametrize(
    ("answer", "text", "meant"),
    [
        ("dog", "No, fox", Remark(correction="it should be fox")),
        (3, "No, fox", Remark()),
        (True, "No, 4", Remark()),
        ("left", "No, right", Remark(expected="right")),
        ("red", "It's the left one", Remark()),
    ],
)
def test_only_what_the_answer_could_be_is_expected(answer: object, text: str, meant: Remark) -> None:
    corrections = [each for each in read_talk(text) if isinstance(each, Correction)]
    assert meant in [remark_of(each, GivenAnswer(answer, names=("fox",))) for each in corrections]


def test_a_side_means_the_thing_that_was_looked_for_where_places_were_shown() -> None:
    shown = GivenAnswer([], shows=True, noun="dog")
    assert remark_of(Correction(side="left"), shown).correction == "you missed the dog on the left"


@given(
    st.sampled_from(["", "No, ", "Actually, ", "Hm, no. ", "Nope, "]),
    st.sampled_from(["you are", "that is", "the answer is", "I think it is"]),
    st.sampled_from(["", "not "]),
    st.sampled_from([("right", True), ("correct", True), ("wrong", False), ("incorrect", False)]),
)
def test_a_negation_turns_a_judgement_round_whatever_leads_it(
    lead: str, frame: str, negation: str, judged: tuple[str, bool]
) -> None:
    word, good = judged
    said = read_talk(f"{lead}{frame} {negation}{word}")
    (first, *_) = [each for each in said if not isinstance(each, Decline | Assent)]
    assert isinstance(first, Agreement) is (good is not bool(negation))


@given(
    st.builds(Correction, expected=st.sampled_from(["", "four", "red", "quokka"]), absent=st.just("")),
    NAMES | st.just(""),
    st.sampled_from(["", "left", "bottom"]),
)
def test_a_correction_in_words_reads_as_the_same(correction: Correction, present: str, side: str) -> None:
    said = correction.model_copy(update={"present": present, "side": side if present else ""})
    if said.expected and said.present:
        said = said.model_copy(update={"expected": "four"})
    read = read_correction(in_words(said))
    assert read is not None
    assert read.model_copy(update={"manner": said.manner}) == said


@given(NAMES, NAMES)
def test_what_is_not_so_in_words_reads_as_the_same(right: str, wrong: str) -> None:
    for said in (Correction(absent=wrong), Correction(expected=right, absent=wrong)):
        read = read_correction(in_words(said))
        assert read is not None
        assert read.model_copy(update={"manner": said.manner}) == said


def orders(text: str) -> list[Talk]:
    return [each for each in read_talk(text) if isinstance(each, ForgetOrder)]


@pytest.mark.parametrize("half", ["found", "held_out"])
def test_orders_to_forget_name_what_is_meant(half: str) -> None:
    said = wordings("orders")[half]
    for text, name in said["named"]:  # type: ignore[call-overload]
        assert orders(text) == ([ForgetOrder(name=name)] if name else []), text
    for text in said["everything"]:  # type: ignore[call-overload]
        assert orders(text)[0] == ForgetOrder(everything=True), text
    assert [text for text in said["none"] if orders(text)] == []  # type: ignore[call-overload]


def test_the_last_lesson_is_not_everything() -> None:
    for text in wordings("orders")["held_out"]["last"]:  # type: ignore[call-overload]
        assert orders(text) == [ForgetOrder()], text


@given(st.text(max_size=300))
def test_any_text_is_read_without_harm(text: str) -> None:
    assert isinstance(read_talk(text), tuple)
    read_correction(text)


def test_a_long_text_takes_no_time() -> None:
    assert read_correction("not a " * 100_000) == read_correction("not a " * 200_000)
