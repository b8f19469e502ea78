"""Answers to a question that is examined in several parts: what is asked of every transformation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.evaluation.campaigns import load_campaign, names, result_of
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.examiners.overall_answers import PartStandings, overall_standings
from snellen.experiments.report import Conclusion, Experiment, Finding, Report
from snellen.experiments.standings import ModelStanding
from snellen.experiments.verdicts import Verdict
from snellen.profiles import load_profile
from snellen.reasoning.queries.conditions import Change, Condition
from snellen.reasoning.queries.model_query import ModelQuestion

PROFILE = load_profile("embedded")
GROUPS = ("geometric", "pixel", "style", "semantic")
EVERY = Condition(family="every transformation", without=("defocus blur",))
ASKED = ModelQuestion(models=("clip",), condition=EVERY, robust=True)


def part(condition: Condition, says: Verdict) -> PartStandings:
    standing = ModelStanding("clip", says, pending=False, decisive=says)
    return PartStandings(ASKED.model_copy(update={"condition": condition}), [standing])


@given(
    st.dictionaries(st.sampled_from(GROUPS), st.sampled_from(["yes", "no", "open"]), min_size=1),
    st.sampled_from(["yes", "no", "open"]),
)
def test_it_holds_where_all_of_it_does_and_fails_where_one_part_fails(
    verdicts: dict[str, Verdict], excepted: Verdict
) -> None:
    parts = [part(Condition(family=f"{name} transformations"), says) for name, says in verdicts.items()]
    parts.append(part(Condition(change=Change(type="defocus blur")), excepted))
    (standing,) = overall_standings(ASKED, parts)
    if "no" in verdicts.values():
        assert standing.says == "no"
    else:
        assert standing.says == ("yes" if [*verdicts.values()] == ["yes"] * len(GROUPS) else "open")
    for name in (*(f"{name} transformations" for name in GROUPS), "defocus blur"):
        assert standing.figures.count(name) == 1, "each is told once"
    assert ("not examined" in standing.figures) == (len(verdicts) < len(GROUPS))


async def concluded(query: str, *drops: Verdict) -> Conclusion:
    """Conclude from experiments in which clip sees the plain pictures, and loses too much or not, by condition."""
    examiner, report = CaseExaminer(PROFILE), Report(query=query, models=["clip"], alpha=0.05, seed=0)
    verdicts = dict(zip(("geometric", "pixel", "style", "semantic", "defocus"), drops, strict=False))
    while (design := examiner.next_design(report)) is not None:
        drop = next((one for name, one in verdicts.items() if f"under {name}" in design.condition), None)
        if drop is None:
            break
        found = [
            Finding(claim=claim, n=40, verdict=drop if claim.kind == "drop" else "yes", mean=0.3)
            for claim in design.claims
        ]
        done = Experiment(design=design, rounds=20, findings=found)
        report = report.model_copy(update={"experiments": [*report.experiments, done]})
    return await examiner.conclude(report)


async def test_everything_except_is_answered_in_one_sentence_and_what_is_excepted_is_told_beside() -> None:
    query = "Is clip robust to everything except blur?"
    said = await concluded(query, "no", "no", "no", "no", "yes")
    assert said.headline.startswith(
        "Is clip robust to every transformation except defocus blur? Yes: robust to geometric"
    )
    assert said.headline.endswith("; the exception: not robust to defocus blur.")
    assert (said.answers[0].answer, said.answers[0].property) == (
        "yes",
        "robust to every transformation except defocus blur",
    )
    assert said.answers[-1].answer is None, "nobody asked whether it is robust to that"
    said = await concluded(query, "no", "yes", "open", "no", "open")
    assert "? No: not robust to pixel transformations except defocus blur; robust to geometric" in said.headline
    assert "not decided for style transformations; the exception: not decided for defocus blur." in said.headline
    assert said.answers[0].sentence.startswith("No, it does not hold that clip is robust to every")
    said = await concluded("Is clip robust to everything except blur and noise?", "no", "no", "no", "no")
    assert said.headline.endswith("; the exception was not examined.")
    said = await concluded(query, "no", "no")
    assert said.answers[0].answer == "undecided"


async def test_a_campaign_takes_the_answer_to_the_question_and_not_one_to_a_part_of_it() -> None:
    query = "Is clip robust to everything except blur?"
    answers = (await concluded(query, "no", "no", "no", "no", "yes")).answers
    report = Report(query=query, models=["clip"], alpha=0.05, seed=0, answers=answers)
    cell = load_campaign(names()[0]).cells[0]
    assert result_of(cell, report).answers == {"clip": answers[0]}


@pytest.mark.parametrize(
    ("drops", "answer"),
    [(("no", "no", "no", "no"), "no"), (("yes", "yes", "yes", "yes"), "yes"), (("no", "yes", "no", "no"), None)],
)
async def test_sensitive_to_every_change_or_to_any_is_no_yes_or_no_where_it_is_sensitive_to_some(
    drops: tuple[Verdict, ...], answer: str | None
) -> None:
    said = await concluded("Is clip sensitive to every transformation?", *drops)
    assert said.answers[0].answer == answer
    assert said.headline.count("geometric transformations") == 1
