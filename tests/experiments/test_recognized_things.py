"""Pictures that count only where a model recognizes what they show."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from snellen.experiments.design import Arm, Claim, Design, OtherWords
from snellen.experiments.drawn_answers import arm_drawn, asked, recognition
from snellen.experiments.further_wordings import further_wordings
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices, MultipleChoice
from snellen.experiments.protocols.protocol import RoundPart, closed_up
from snellen.experiments.template_parts import select
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial, TrialTable

THINGS = [f"thing {letter}" for letter in "abcdefghijklmnop"]
KNOWN = frozenset(THINGS[:12])
"""Those that the model of these tests knows."""


def design_of() -> Design:
    arms = [
        Arm(
            answer="yes" if shown == asked_for else "no",
            select=select(f"[a thing] {shown} [another thing]"),
            question=f"Is the [thing] {asked_for} the [other thing]?",
            otherwise=[OtherWords(answer=shown, question="Is the [thing] above or below the [other thing]?")],
        )
        for asked_for in ("above", "below")
        for shown in (("above", "below") if asked_for == "above" else ("below", "above"))
    ]
    return Design(
        difficulty=1, purpose="One.", skill="telling", question=arms[0].question, arms=arms, pools={"thing": THINGS},
        claims=[Claim(kind="ability", model=name, threshold=0.75) for name in ("it", "other")],
    )  # fmt: skip


def samples_of(design: Design, rounds: int) -> list[Sample]:
    return [
        Sample("i", 0, number, which, f"{number:032x}{which:032x}", f"{number:032x}{which:032x}", "", "", 0,
               arm_drawn(design, arm, f"{number}/{which}").details)
        for number in range(rounds)
        for which, arm in enumerate(design.arms)
    ]  # fmt: skip


def tried(design: Design, samples: list[Sample], folder: Path) -> EvaluatedChoices:
    """Have models asked: both place what they know rightly, "it" knows some things and "other" all of them."""
    table = TrialTable(folder)
    for fingerprint, known in (("1", KNOWN), ("2", frozenset(THINGS))):
        for sample in samples:
            names = dict.fromkeys(recognition(design, sample))
            knows = all(put.answer.removeprefix("a ") in known for put in names)
            for place, key in enumerate(MultipleChoice().keys(design, sample, fingerprint)):
                put = asked(design, sample) if place == 0 else recognition(design, sample)[place - 1]
                right = knows if place == 0 else put.answer.removeprefix("a ") in known
                said = put.answer if right else next(one for one in put.choices if one != put.answer)
                table.add([Trial(key, tuple((0.0,) if one == said else (-9.0,) for one in key.choices))])
    return EvaluatedChoices.of(design, samples, {"it": "1", "other": "2"}, table)


def test_a_thing_is_asked_for_among_others_that_are_not_in_the_picture() -> None:
    design = further_wordings(design_of())[0]
    assert design.known == ["other thing", "thing"]
    for sample in samples_of(design, 20):
        names = arm_drawn(design, design.arms[sample.arm], f"{sample.round}/{sample.arm}").names
        for slot, put in zip(design.known, recognition(design, sample), strict=True):
            assert put.answer == f"a {names[slot]}"
            assert len(set(put.choices)) == 8
            assert {f"a {name}" for name in names.values()} & set(put.choices) == {put.answer}


def test_who_does_not_know_the_things_is_not_wrong_about_their_places(tmp_path: Path) -> None:
    plain, again = design_of(), further_wordings(design_of())[0]
    assert again.skill.endswith("that it recognizes")
    samples = samples_of(again, 40)
    found = tried(again, samples, tmp_path)
    one, other = (found.observations(claim) for claim in again.claims)
    assert one.mean == 1
    assert 20 < len(one) < 60 < len(other) == 80, "of the things it knows three quarters, of both fewer"
    compared = found.observations(Claim(kind="better", model="it", other="other", threshold=0))
    assert compared.mean == 0
    assert len(compared) == len(one)
    counted = [result.n for result in found.results(alpha=0.05)]
    assert counted == [len(one), len(other)]
    assert not recognition(plain, samples[0])


def test_arms_stay_balanced(tmp_path: Path) -> None:
    design = further_wordings(design_of())[0]
    (result, _) = tried(design, samples_of(design, 30), tmp_path).results(alpha=0.05)
    shown = {answer: sum(row.values()) for answer, row in result.confusion.items()}
    assert len(set(shown.values())) == 1


@given(counts=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=12), more=st.integers(0, 12))
def test_what_was_measured_stays_where_it_was_when_more_is(counts: list[list[bool]], more: int) -> None:
    parts = {RoundPart(number, arm): one for number, row in enumerate(counts) for arm, one in enumerate(row)}
    places = closed_up(parts, parts=3)
    fewer = {part: one for part, one in parts.items() if part.round < more}
    before = closed_up(fewer, parts=3)
    assert before == {part: place for part, place in places.items() if part in fewer}
    assert set(places) == {part for part, one in parts.items() if one}
    assert len(set(places.values())) == len(places)
    for arm in range(3):
        rounds = [place.round for part, place in places.items() if part.name == arm]
        assert rounds == list(range(len(rounds)))
