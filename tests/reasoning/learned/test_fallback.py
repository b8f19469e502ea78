"""Both readers together: what counts as understood, what is asked back, and what stays unread."""

from __future__ import annotations

import pytest

from snellen.profiles import load_profile
from snellen.reasoning.learned.fallback import (
    CERTAIN,
    HARMLESS,
    LIKELY,
    SURE,
    WARY,
    compared,
    continued,
    decided,
    guessed,
    talk_of,
)
from snellen.reasoning.learned.languages import Unanswerable
from snellen.reasoning.learned.reader import Guess
from snellen.reasoning.meanings.meanings import Meaning
from snellen.reasoning.meanings.talk import Courtesy, Doubt, ForgetOrder, Talk
from snellen.reasoning.reading.reader import Ambiguous, Understood, Unread, read
from snellen.reasoning.reading.recording import read_instruction

PROFILE = load_profile("embedded")
FACTS = PROFILE.facts_path()
MODELS = tuple(PROFILE.tested)
UNREAD = Unread((), (), "")
assert FACTS is not None


def meaning(text: str) -> Meaning:
    reading = read(text, 1, FACTS)
    assert isinstance(reading, Understood), reading
    return reading.meaning


CATS, DOGS = meaning("How many cats are there?"), meaning("How many dogs are there?")


def guess(
    meant: object,
    probability: float,
    *unused: str,
    perhaps: tuple[str, ...] = (),
    unmet: tuple[str, ...] = (),
) -> Guess:
    return Guess(meant, probability, unused, perhaps, unmet)


def test_a_sure_guess_is_understood_with_its_probability() -> None:
    assert decided(UNREAD, [guess(CATS, SURE)]) == Understood(CATS, probability=SURE)


def test_of_a_likely_guess_the_user_is_asked_with_its_rival() -> None:
    assert decided(UNREAD, [guess(CATS, LIKELY)]) == Ambiguous((CATS,))
    assert decided(UNREAD, [guess(CATS, 0.5), guess(DOGS, 0.3)]) == Ambiguous((CATS, DOGS))


@pytest.mark.parametrize(
    "guesses",
    [
        [],
        [guess(CATS, LIKELY - 0.01)],
        [guess(CATS, 1.0, "house")],
        [guess(Unanswerable(), 0.6), guess(CATS, 0.4)],
        [guess(Doubt(), 0.6), guess(CATS, 0.4)],
    ],
)
def test_what_is_unlikely_or_leaves_out_a_name_stays_unread(guesses: list[Guess]) -> None:
    assert decided(UNREAD, guesses) is UNREAD


def test_beside_a_word_that_nobody_knows_only_what_is_nearly_certain_is_understood() -> None:
    strange = Unread(("zibbled",), ("",), "")
    assert decided(strange, [guess(CATS, WARY)]) == Understood(CATS, probability=WARY)
    assert decided(strange, [guess(CATS, WARY - 0.01)]) == Ambiguous((CATS,))
    assert decided(strange, [guess(CATS, SURE - 0.01)]) is strange


def test_a_part_that_is_left_out_is_a_question_back_however_sure_the_guess_and_a_name_perhaps() -> None:
    assert decided(UNREAD, [guess(CATS, WARY - 0.01, perhaps=("hand",))]) == Ambiguous((CATS,))
    assert isinstance(decided(UNREAD, [guess(CATS, WARY, perhaps=("hand",))]), Understood)
    assert decided(UNREAD, [guess(CATS, 1.0, unmet=("row",))]) == Ambiguous((CATS,))


def test_of_how_people_go_on_the_learned_reader_knows_more_than_the_grammar() -> None:
    fragment = Understood(CATS)
    assert continued(fragment, [guess(DOGS, SURE)]) == Understood(DOGS, probability=SURE)
    assert continued(fragment, [guess(DOGS, LIKELY)]) == Ambiguous((CATS, DOGS))
    assert continued(fragment, [guess(DOGS, SURE, unmet=("row",))]) == Ambiguous((CATS, DOGS))
    assert continued(fragment, [guess(DOGS, LIKELY - 0.01)]) is fragment
    assert continued(fragment, [guess(Doubt(), 1.0)]) is fragment


def test_readers_that_differ_are_a_question_back() -> None:
    assert compared(Understood(CATS), [guess(DOGS, CERTAIN)]) == Ambiguous((CATS, DOGS))
    assert compared(Understood(CATS), [guess(Unanswerable(), CERTAIN)]) == Ambiguous((CATS,))
    assert compared(Understood(CATS, asides=("lol",)), [guess(DOGS, LIKELY)]) == Ambiguous((CATS, DOGS))


def test_a_guess_that_loses_a_denial_casts_no_doubt_on_what_the_grammar_reads() -> None:
    assert compared(Understood(CATS), [guess(DOGS, 1.0, unmet=("no",))]) == Understood(CATS)
    denied = read_instruction("Does no picture here show a dog?", 1, FACTS)
    assert (denied.status, denied.understood) == ("understood", "Are there no dogs?")


def test_readers_that_agree_or_do_not_know_leave_the_grammar_its_reading() -> None:
    for guesses in ([], [guess(CATS, 1.0)], [guess(DOGS, CERTAIN - 0.01)], [guess(DOGS, 1.0, "house")]):
        assert compared(Understood(CATS), guesses) == Understood(CATS)


def test_talk_counts_where_it_is_sure() -> None:
    assert talk_of([guess(Doubt(), HARMLESS)]) == (Doubt(),)
    assert not talk_of([guess(Doubt(), HARMLESS - 0.01)])
    assert talk_of([guess(ForgetOrder(everything=True), CERTAIN)])
    assert not talk_of([guess(ForgetOrder(everything=True), CERTAIN - 0.01)])
    assert not talk_of([guess(CATS, 1.0)])


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("She asked me how many balloons there were, and I could not say. Can you?", "How many balloons are there?"),
        ("bombs - how many", "How many bombs are there?"),
        (
            "I want only the violins to stay in colour, the rest should go grey.",
            "Keep the violins in colour and make the rest grey.",
        ),
    ],
)
def test_the_shipped_reader_reads_what_no_rule_does(text: str, same: str) -> None:
    assert isinstance(read(text, 1, FACTS), Unread)
    record = read_instruction(text, 1, FACTS)
    assert (record.status, record.typed_meaning()) == ("understood", meaning(same))
    assert SURE <= record.probability < 1


@pytest.mark.parametrize(
    "text", ["How much did the guitar cost?", "What do the noodles smell of?", "Who took this photograph?"]
)
def test_what_no_picture_tells_is_not_read(text: str) -> None:
    assert read_instruction(text, 1, FACTS).status == "unread"


@pytest.mark.parametrize(
    ("text", "talk"), [("ty", Courtesy(of="thanks")), ("laters", Courtesy(of="farewell")), ("u positive?", Doubt())]
)
def test_the_shipped_reader_knows_talk(text: str, talk: Talk) -> None:
    assert FACTS is not None
    assert talk_of(guessed(text, 1, FACTS, before=CATS)) == (talk,)
