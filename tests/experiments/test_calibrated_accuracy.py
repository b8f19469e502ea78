"""How often a model is right without what it prefers, from the scores of an experiment's trials."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from snellen.experiments.design import Arm, Claim, Design
from snellen.experiments.protocols.calibrated_accuracy import calibrated_accuracy
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial, TrialKey
from snellen.tools.calls import ToolCall

CLAIM = Claim(kind="ability", model="it", threshold=0.75)
ARMS = [
    Arm(answer=answer, select=ToolCall(name="TextToImageGeneration", arguments={"class_name": name}))
    for answer, name in (("yes", "hen"), ("no", "bus"))
]
DESIGN = Design(difficulty=1, purpose="p", skill="seeing hens", question="Is it a hen?", arms=ARMS, claims=[CLAIM])
SAMPLES = [Sample("t", 0, number, place, f"{number}/{place}", "", "", "") for number in range(20) for place in range(2)]


def measured(scores: Mapping[Sample, tuple[float, float]], basis: str = "tokens") -> dict[Sample, Trial]:
    return {
        sample: Trial(TrialKey("f", (sample.picture,), DESIGN.question, ("yes", "no")), tuple((x,) for x in row), basis)
        for sample, row in scores.items()
    }


SEEING = {sample: (-0.1 - 0.2 * sample.arm, -4.0) for sample in SAMPLES}
"""It always says yes, and rather so of a hen."""


def test_scores_may_tell_apart_what_answers_do_not() -> None:
    choices = {("it", False): dict.fromkeys(SAMPLES, "yes")}
    evaluated = EvaluatedChoices(DESIGN, SAMPLES, choices, trials={("it", False): measured(SEEING)})
    (result,) = evaluated.results(alpha=0.05)
    assert result.average == 0.5
    assert result.calibrated is not None
    share, low, high, most = result.calibrated
    assert (share, most) == (1.0, 1.0)
    assert high == pytest.approx(1.0)
    assert 0.8 < low < share


def test_without_scores_of_all_pictures_nothing_is_known() -> None:
    assert calibrated_accuracy(DESIGN, {}, SAMPLES) is None
    assert calibrated_accuracy(DESIGN, dict(list(measured(SEEING).items())[:-1]), SAMPLES) is None
    assert calibrated_accuracy(DESIGN, measured(dict.fromkeys(SAMPLES, (-1.0, -2.0))), SAMPLES) is None
    assert calibrated_accuracy(DESIGN, measured(SEEING, basis="answer"), SAMPLES) is None


def test_scores_that_say_nothing_are_right_by_luck() -> None:
    by_round = {sample: (-0.1 * (sample.round % 7), -0.1 * (sample.round % 5)) for sample in SAMPLES}
    found = calibrated_accuracy(DESIGN, measured(by_round), SAMPLES)
    assert found is not None
    assert found[0] == 0.5, "both pictures of a round have the same scores"
    assert max(found[2:]) < CLAIM.threshold


def test_names_that_are_drawn_for_each_picture_may_be_preferred_too() -> None:
    named = DESIGN.model_copy(
        update={
            "arms": [
                arm.model_copy(update={"answer": f"a {tint} [thing]"}) for arm, tint in zip(ARMS, "ab", strict=True)
            ]
        }
    )
    found = calibrated_accuracy(named, measured(SEEING), SAMPLES)
    assert found is not None
    assert found[3] == 1.0
