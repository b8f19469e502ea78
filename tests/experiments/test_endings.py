"""Endings of investigations: what is said of a budget, and how many pictures are expected to decide a claim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.decisions import likely_decided, next_error_rate, with_unspent_told
from snellen.experiments.endings import (
    ending_told,
    further_budget,
    in_words,
    not_worth_it,
    pictures_to_decide,
    rounded_up,
    used_up,
    with_older_readings_marked,
)
from snellen.experiments.report import Experiment, Report
from tests.experiments.test_decisions import experiment, report

RATE = 0.01


def needed(one: Experiment) -> float:
    """Return the pictures that decide the claims of an experiment, or more than anybody makes."""
    found = pictures_to_decide(one, one.findings, RATE)
    return float("inf") if found is None else found


@given(st.floats(0, 1), st.integers(4, 200))
def test_so_many_pictures_probably_decide_a_claim_and_far_fewer_do_not(mean: float, rounds: int) -> None:
    one = experiment(mean, rounds=rounds)
    pictures = needed(one)
    if pictures == float("inf"):
        return
    (found,) = one.findings
    assert likely_decided(found, one, int(pictures) // 2, alpha=RATE) > 0.75
    if pictures > 40:
        assert likely_decided(found, one, int(pictures) // 4, alpha=RATE) < 0.8


@given(st.floats(0, 0.7), st.floats(0, 0.7))
def test_a_clearer_claim_takes_no_more_pictures(one: float, other: float) -> None:
    clear, close = sorted((one, other))
    assert needed(experiment(clear)) <= needed(experiment(close))


@given(st.integers(1, 10**6))
def test_numbers_are_rounded_up_to_two_digits(number: int) -> None:
    assert number <= rounded_up(number) < 1.11 * number + 1
    assert set(str(rounded_up(number))[2:]) <= {"0"}


def test_what_is_used_up_is_named() -> None:
    assert used_up(report(experiment(0.8), images=200)) == ""
    assert used_up(report(experiment(0.8), images=40)) == "all 40 pictures are used up"
    assert used_up(report(experiment(0.8), images=41)) == "all 41 pictures but 1 are used up, too few to go on with"
    assert used_up(report(experiment(0.8), tokens=10), tokens=10) == "the 10 tokens are used up"
    over = report(experiment(0.8), trials=5).model_copy(update={"trials": 5})
    assert used_up(over) == "the 5 questions to models are used up"
    assert further_budget(over, [], [])["trials"] == 10


def test_a_share_that_waits_for_the_rest_of_the_budget_says_why_it_does_not_get_it() -> None:
    waiting = experiment(0.76, stopped="its share of the pictures is used up")

    def told(known: Report, *unsettled: str) -> str:
        return with_unspent_told(known, unsettled).experiments[0].stopped

    assert told(report(waiting, images=400)) == "what matters is decided"
    assert told(report(waiting, images=41), "m0") == "all pictures of the budget are used up"
    assert told(report(waiting, images=60), "m0").startswith("stopped early: the pictures that were left")
    assert told(report(waiting, decision=20), "m0").startswith("stopped early: more pictures are unlikely")
    assert told(report(waiting, each=40), "m0") == "its share of the pictures is used up"


@pytest.mark.parametrize(("decision", "says"), [(2_000, "20 pictures that are left"), (20, "more than 20 further")])
def test_what_is_left_is_not_spent_for_a_reason(decision: int, says: str) -> None:
    known = report(experiment(0.76), images=60, decision=decision)
    assert says in not_worth_it(known, ["m0"])
    assert not_worth_it(known, []) == ""
    ended = known.model_copy(update={"ended": not_worth_it(known, ["m0"])})
    further = further_budget(ended, [], ended.findings)
    assert further["images"] > 60
    assert further.get("decision", decision) >= decision
    told = in_words(pictures_to_decide(ended.experiments[0], ended.findings, next_error_rate(ended)), most=decision)
    assert ("beyond" in told) == ("decision" in further)
    (note,) = ending_told(ended, further)
    assert f"the budget {','.join(f'{name}={number}' for name, number in further.items())} goes on" in note
    assert ending_told(known, further) == []
    (chosen,) = ending_told(ended, further, seed=7)
    assert " and seed 7 " in chosen


def test_what_was_read_from_other_figures_says_so() -> None:
    one = experiment(0.9).model_copy(update={"interpretation": "It is right in 90 % (70 to 100)."})
    known = report(one)
    assert with_older_readings_marked(known, known) == known
    (found,) = one.findings
    later = one.model_copy(update={"findings": [found.model_copy(update={"interval": (0.6, 1.0)})]})
    (marked,) = with_older_readings_marked(report(later), known).experiments
    assert marked.interpretation == f"(Read while it ran, from figures that have changed since.) {one.interpretation}"
    again = report(marked.model_copy(update={"findings": one.findings}))
    assert with_older_readings_marked(again, report(marked)).experiments[0].interpretation == marked.interpretation
