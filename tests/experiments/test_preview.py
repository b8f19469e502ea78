"""Previews of experiments: sample pictures that are no evidence, and a forecast by the rules that end experiments."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen.experiments.decisions import FIRST
from snellen.experiments.design import Design
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.forecast import PaceOfModels, SimulatedRun, forecast, simulated_runs
from snellen.experiments.preview import FIRST_ROUND, preview_in, previewed
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Budget, Experiment, Report, Result
from snellen.memory.trials import TrialKey, TrialTime
from snellen.profiles import load_profile
from tests.experiments.investigating import Oracle, Watched, watched

MODELS = ["clip", "blip"]


async def designed(query: str, models: list[str] | None = None) -> tuple[Design, Report]:
    """Return the first experiment about a query, and the report that it belongs to."""
    examiner = CaseExaminer(load_profile("embedded"))
    report = Report(query=query, models=models or MODELS, alpha=0.05, seed=7, budget=Budget(images=300))
    design = await examiner.design_experiment(report, [])
    assert design is not None
    return design, report


def examination(folder: Path) -> Watched:
    return watched(folder, Oracle({name: lambda *_: 0.97 for name in MODELS}))


@pytest.mark.parametrize("query", ["Can clip and blip recognize vehicles?", "Are clip and blip robust to rotation?"])
async def test_sample_pictures_are_of_every_arm_and_of_no_experiment(tmp_path: Path, query: str) -> None:
    design, report = await designed(query)
    given = examination(tmp_path)
    preview = previewed(design, report, given)

    shown = [one for arm in preview.arms for each in arm.samples for one in each.pictures]
    assert len(preview.arms) == len(design.arms)
    assert all(arm.samples for arm in preview.arms)
    assert all(map(given.pictures.is_whole, shown))
    assert given.samples.count() == given.trials.count() == sum(given.oracle.asked.values()) == 0
    own = [
        sample.picture
        for turn in range(20)
        for sample in PROTOCOLS["choice"].make(given, design, RoundPlace("t", 0, turn, report.seed))
    ]
    assert not set(shown) & set(own)
    assert all((each.before is not None) == design.paired for arm in preview.arms for each in arm.samples)
    assert all(each.answer in each.choices for arm in preview.arms for each in arm.samples)
    assert previewed(design, report, given).arms == preview.arms, "a node may run twice"


def test_no_budget_reaches_the_rounds_of_sample_pictures() -> None:
    most = next(one.le for one in Budget.model_fields["images"].metadata if hasattr(one, "le"))
    assert most <= FIRST_ROUND


async def test_a_preview_says_how_long_it_takes_once_the_models_were_timed(tmp_path: Path) -> None:
    design, report = await designed("Can clip and blip recognize vehicles?")
    given = examination(tmp_path)
    unknown = previewed(design, report, given)
    for name in MODELS:
        given.trials.add([], [TrialTime(name, TrialKey("f", ("p",), "q", ("a", "b")), 0.5)])
    known = previewed(design, report, given)

    assert (unknown.seconds, sorted(unknown.untimed)) == (None, sorted(MODELS))
    assert known.seconds is not None
    assert known.questions[0] * 0.5 <= known.seconds[0] <= known.seconds[1]
    assert known.untimed == []


@pytest.mark.parametrize("action", [{}, {"preview": None}, {"preview": {"number": 0}}, {"preview": [1]}])
def test_requests_of_other_versions_have_no_preview(action: dict[str, Any]) -> None:
    assert preview_in(action) is None


async def test_a_preview_is_plain_bounded_json(tmp_path: Path) -> None:
    design, report = await designed("Are clip and blip robust to rotation?")
    written = previewed(design, report, examination(tmp_path))

    assert preview_in({"preview": written.model_dump(mode="json")}) == written
    assert len(written.model_dump_json()) < 40_000


async def test_a_forecast_keeps_to_the_budget_and_to_the_design() -> None:
    design, report = await designed("Can clip and blip recognize vehicles?")
    runs = simulated_runs(design, report)
    few = simulated_runs(design.model_copy(update={"most": 40}), report)
    many = simulated_runs(design.model_copy(update={"least": 100}), report)

    assert all(FIRST <= one.pictures <= 150 for one in runs), "half of the budget is the share of the first"
    assert all(one.pictures <= 40 for one in few)
    assert all(one.pictures >= 100 for one in many)
    assert runs == simulated_runs(design, report)


async def test_models_that_were_clear_before_are_expected_to_be_clear_again() -> None:
    design, report = await designed("Can clip and blip recognize vehicles?")
    results = [
        Result(model=name, plain=False, n=50, average=0.97, interval=(0.95, 1.0), by_class={}, abstention=None,
               invalid=0.0, informedness=None)
        for name in MODELS
    ]  # fmt: skip
    before = report.model_copy(update={"experiments": [Experiment(design=design, results=results, stopped="done")]})

    def usual(of: Report) -> int:
        return sorted(one.pictures for one in simulated_runs(design, of))[10]

    assert usual(before) < usual(report)


def test_a_forecast_is_the_range_of_all_runs() -> None:
    runs = [SimulatedRun(pictures, {"a": pictures, "b": 10}) for pictures in range(10, 120, 10)]
    expected = forecast(runs, PaceOfModels(0.1, {"a": [1.0, 2.0, 9.0], "b": [0.0]}, each=2), most_seconds=1e9)

    assert expected.pictures == (10, 60, 110)
    assert expected.questions == (40, 240)
    assert expected.seconds is not None
    usual = [number * 0.1 + number * 2 * 2.0 for number in (10, 110)]
    assert expected.seconds[0] <= usual[0] <= usual[1] <= expected.seconds[1]
    short = forecast(runs, PaceOfModels(0.1, {"a": [1.0], "b": [0.0]}, each=2), most_seconds=5)
    assert short.seconds == (10 * 0.1 + 5, 110 * 0.1 + 5), "the budget ends the asking"
    unknown = forecast(runs, PaceOfModels(0.1, {"a": [1.0]}, each=2), most_seconds=5)
    assert (unknown.seconds, unknown.unknown) == (None, ("b",))


async def test_what_a_real_run_takes_is_within_the_forecast(tmp_path: Path) -> None:
    from snellen.graphs.investigate import builder
    from snellen.graphs.states import InvestigateState
    from tests.graphs.scripted import make_context

    design, report = await designed("Can clip and blip recognize vehicles?")
    expected = previewed(design, report, examination(tmp_path))
    context = replace(make_context(tmp_path), examination=examination(tmp_path))
    begun = InvestigateState(
        query=report.query, models=MODELS, investigation="t", budget={"images": 300, "experiments": 1}
    )
    ended = await builder.compile().ainvoke(begun, {"recursion_limit": 4_000}, context=context)
    (took,) = Report.model_validate(ended["report"]).experiments

    assert expected.pictures[0] <= took.images <= expected.pictures[2]
    assert all(context.examiner().trials.times(name, pictures=1, ranked=True) for name in MODELS)
