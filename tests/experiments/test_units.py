"""The independent unit of each protocol: what counts as one observation, in evidence, sizes, intervals and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen import microworld
from snellen.experiments.decisions import judged as weighed
from snellen.experiments.decisions import next_rounds, with_intervals
from snellen.experiments.design import Arm, Claim, Design, Measured, Protocol
from snellen.experiments.findings import discussed, interval_name, sample_size
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.protocols.pair_scoring import EvaluatedPairs, scores_by_original
from snellen.experiments.protocols.protocol import Evaluated, RoundPart, RoundPlace, observed
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Budget, Experiment, Finding, Report, Result
from snellen.experiments.units import UNITS
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial, TrialKey
from snellen.tools.calls import ToolCall
from snellen.tools.samples import SELECTS
from tests.experiments.investigating import Oracle, watched

KINDS = ("identical", "transformed", "irrelevant")
ROUNDS = st.dictionaries(
    st.integers(0, 8), st.dictionaries(st.integers(0, 2), st.floats(-1, 1), min_size=1), max_size=9
)


def pairs_design(splits: Sequence[str], *measures: Measured) -> Design:
    claims = [Claim(kind="ability", measure=one, model="judge", threshold=0.5) for one in measures or ("symmetry",)]
    return Design(
        protocol="pairs",
        difficulty=3,
        purpose="p",
        skill="judging",
        question="How alike?",
        claims=claims,
        arms=[
            Arm(answer=kind, select=ToolCall(name="Pair", arguments={"split": split}))
            for split in splits
            for kind in KINDS
        ],
    )


def choice_design(*, paired: bool = False) -> Design:
    return Design(
        difficulty=1,
        purpose="p",
        skill="telling",
        question="Which?",
        paired=paired,
        arms=[
            Arm(answer=name, select=ToolCall(name="TextToImageGeneration", arguments={"class_name": name}))
            for name in ("banana", "ship")
        ],
        claims=[Claim(kind="ability", model="judge", threshold=0.75)],
    )


def scored(design: Design, scores: Mapping[tuple[int, str], Sequence[int]]) -> EvaluatedPairs:
    """Have a judge say four scores of each pair of a round and split, the same of all three kinds."""
    said = {}
    for (number, split), row in scores.items():
        for place, arm in enumerate(design.arms):
            if arm.select.arguments["split"] == split:
                sample = Sample("t", 0, number, place, "", "", "", "", details='{"template": 0}')
                said[sample] = [Trial(TrialKey("", (), "", ()), (), said=f"Score: {score}") for score in row]
    return EvaluatedPairs(design, {"judge": scores_by_original(design, said)})


def report_of(design: Design, *, images: int = 2_000, rounds: int = 0, mean: float = 0.0) -> Report:
    seen = {"n": rounds * design.units, "mean": mean, "spread": 0.3}
    findings = [Finding(claim=claim).model_copy(update=seen) for claim in design.claims]
    begun = Experiment(design=design, rounds=rounds, findings=findings)
    return Report(query="q", models=["judge"], alpha=0.05, seed=0, budget=Budget(images=images), experiments=[begun])


def found_in(design: Design, evaluated: Evaluated) -> Finding:
    return with_intervals(weighed(report_of(design), 0, evaluated), 0, evaluated).findings[0]


def test_every_protocol_declares_its_unit() -> None:
    assert set(UNITS) == set(get_args(Protocol)) == set(PROTOCOLS)


def test_splits_of_an_original_are_one_observation() -> None:
    """What a judge says of five changes of one picture is no more evidence than what it says of one of them."""
    one, five = pairs_design(["CJ"]), pairs_design(["CJ", "R", "GB", "PS", "ET"])
    swapped = {number: (9, 9, 9, 9) if number % 3 else (9, 2, 9, 2) for number in range(30)}
    alone = found_in(one, scored(one, {(number, "CJ"): row for number, row in swapped.items()}))
    splits = [str(arm.select.arguments["split"]) for arm in five.arms]
    every = {(number, split): row for number, row in swapped.items() for split in splits}
    together = found_in(five, scored(five, every))
    assert (together.n, together.unit) == (30, "original")
    assert together.logarithm == pytest.approx(alone.logarithm)
    assert together.interval == pytest.approx(alone.interval)


def test_an_original_counts_once_all_of_its_splits_were_scored_and_its_value_is_their_mean() -> None:
    design = pairs_design(["CJ", "R"])
    alike, unlike = (9, 9, 9, 9), (9, 2, 9, 2)
    evaluated = scored(
        design, {(0, "CJ"): alike, (0, "R"): unlike, (1, "CJ"): alike, (2, "R"): alike, (2, "CJ"): alike}
    )
    assert dict(evaluated.observations(design.claims[0]).by_unit) == {0: 0.5, 2: 1.0}
    (result,) = evaluated.results(alpha=0.05)
    assert (result.n, result.by_class["symmetry"]) == (2, 0.75)


@given(ROUNDS, st.randoms())
def test_only_whole_rounds_are_observed_and_each_unit_once(rounds: dict[int, dict[int, float]], dice: object) -> None:
    parts = [(RoundPart(number, arm), value) for number, row in rounds.items() for arm, value in row.items()]
    dice.shuffle(parts)  # type: ignore[attr-defined]
    whole = {number: row for number, row in rounds.items() if len(row) == 3}
    design = choice_design()
    pictures = observed(design, dict(parts), parts=3)
    assert dict(pictures.by_unit) == {RoundPart(number, arm): row[arm] for number, row in whole.items() for arm in row}
    originals = observed(pairs_design(["CJ"]), dict(parts), parts=3)
    assert originals.by_unit == pytest.approx({number: sum(row.values()) / 3 for number, row in whole.items()})
    assert originals.mean == pytest.approx(pictures.mean)


def test_a_picture_before_and_after_is_one_observation() -> None:
    design = choice_design(paired=True)
    samples = [Sample("t", 0, number, arm, "a", "b", "", "") for number in range(4) for arm in range(2)]
    right = {sample: design.arms[sample.arm].answer for sample in samples}
    wrong = dict.fromkeys(samples, None)
    evaluated = EvaluatedChoices(design, samples, {("judge", True): right, ("judge", False): wrong})
    drop = evaluated.observations(Claim(kind="drop", model="judge", threshold=0.1))
    assert drop.values == (1.0,) * 8


def test_arms_draw_for_themselves_where_a_picture_is_the_unit_and_together_where_a_round_is(tmp_path: Path) -> None:
    examination = watched(tmp_path, Oracle({"judge": lambda *_: 1.0}), world=microworld)
    pairs, choice = pairs_design(["CJ", "R"]), choice_design()
    same = SELECTS.read(choice.arms[0].select)
    choice = choice.model_copy(update={"arms": [arm.model_copy(update={"select": same}) for arm in choice.arms]})
    for number in range(3):
        place = RoundPlace("t", 0, number, 7)
        assert len({one.plain for one in PROTOCOLS["pairs"].make(examination, pairs, place)}) == 1
        assert len({one.plain for one in PROTOCOLS["choice"].make(examination, choice, place)}) == 2


def test_experiments_are_sized_by_units_not_by_pictures() -> None:
    five = pairs_design(["CJ", "R", "GB", "PS", "ET"])
    assert next_rounds(report_of(five)) == 12, "twelve originals, of fifteen pictures each"
    assert next_rounds(report_of(five, rounds=12, mean=0.8)) == 4
    assert next_rounds(report_of(choice_design())) == 6, "two pictures in each round"
    assert next_rounds(report_of(five, images=20)) == 1, "less than a first look is not halved"
    assert next_rounds(report_of(five, images=14)) == 0, "not even one whole original"
    # Of 200 originals many are left; of 20 too few to decide anything.
    assert next_rounds(report_of(five, images=15 * 2 * 13, rounds=12, mean=0.55)) == 0


def test_one_figure_has_one_interval_with_a_name() -> None:
    design = pairs_design(["CJ", "R"], "order")
    evaluated = scored(design, {(number, split): (9, 5, 9, 9) for number in range(6) for split in ("CJ", "R")})
    report = with_intervals(weighed(report_of(design), 0, evaluated), 0, evaluated)
    (found,), (result,) = report.findings, report.experiments[0].results
    assert [2 * end - 1 for end in result.interval] == pytest.approx(list(found.interval))
    assert interval_name(found) == interval_name(result) == "90 % confidence sequence"
    assert sample_size(found, design) == sample_size(result, design) == "n = 6 originals"
    assert "n = 6 originals" in discussed(report.experiments[0]).interpretation


def test_figures_of_older_reports_say_what_they_are() -> None:
    old = {
        "model": "judge",
        "plain": False,
        "n": 205,
        "average": 0.9,
        "interval": [0.8, 0.95],
        "by_class": {},
        "abstention": None,
        "invalid": 0.0,
        "informedness": None,
    }
    result = Result.model_validate(old)
    assert interval_name(result) == "95 % bootstrap, which ignores stopping"
    design = pairs_design(["CJ"])
    claim = design.claims[0].model_dump()
    finding = Finding.model_validate({"claim": claim, "n": 205, "mean": 0.9, "interval": [0.8, 0.95]})
    assert interval_name(finding) == "confidence sequence"
    assert sample_size(finding, design).startswith("n = 205 splits of originals, counted by an older version")
    assert sample_size(finding, choice_design()) == "n = 205 pictures"
