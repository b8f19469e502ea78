"""From weakness to correction: the investigate graph on request teaches models, and measures them beside themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from snellen.errors import SnellenError
from snellen.experiments.class_groups import Subjects
from snellen.experiments.follow_up import ModelCorrection, corrected_sample_set, follow_up
from snellen.experiments.report import Report, verdict_of
from snellen.experiments.resources import Teaching
from snellen.experiments.templates import battery
from snellen.graphs.investigate import builder
from snellen.graphs.states import InvestigateState
from snellen.memory.adapters import WEIGHTS, AdapterStore
from snellen.models.under_test import AdapterExamples, AdapterOutcome, LocalModel
from snellen.profiles import CorrectionSettings, load_profile
from snellen.reasoning.language.inflection import with_article
from snellen.runtime.context import Context
from tests.experiments.investigating import Oracle, Rate, watched
from tests.graphs.scripted import make_context
from tests.models.under_test import architectures

FRAGILE: Rate = lambda _, changed: 0.5 if changed else 0.97  # noqa: E731
SOUND: Rate = lambda *_: 0.97  # noqa: E731
CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 4_000}
QUERY = "Is fragile robust to noise?"
FEW = CorrectionSettings(lessons=8, others=12, held_out=4)


class Corrected(dict[str, Rate]):
    """Rates of models by name; whatever has been corrected has another one."""

    def __init__(self, rates: dict[str, Rate], corrected: Rate) -> None:
        super().__init__(rates)
        self.corrected = corrected

    def __missing__(self, name: str) -> Rate:
        assert "+" in name
        return self.corrected


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[AdapterExamples]:
    """What models were taught, by a training that takes no time; how the real one goes, tests of `adapt` say."""
    seen: list[AdapterExamples] = []

    def adapt(
        model: LocalModel, lessons: AdapterExamples, folder: Path, settings: object, **_: object
    ) -> AdapterOutcome:
        assert isinstance(model, LocalModel)
        assert settings == FEW
        seen.append(lessons)
        folder.mkdir(parents=True)
        (folder / WEIGHTS).write_bytes(b"weights")
        return AdapterOutcome(1, 2, 3.0, 0.5, 0.9, 0.8, 0.8)

    monkeypatch.setattr("snellen.nodes.investigate.model_correction.adapt", adapt)
    return seen


def context(folder: Path, rates: dict[str, Rate], *, after: Rate = SOUND) -> Context:
    profile = load_profile("embedded")
    teaching = Teaching(
        read=lambda _: architectures.local("llava"),
        fingerprint=lambda name: f"weights of {name}",
        adapters=AdapterStore(folder),
        battery=lambda: battery(Subjects.of(profile))[:2],
        settings=FEW,
    )
    oracle = Oracle(Corrected(rates, after))
    return replace(make_context(folder), examination=watched(folder, oracle, teaching=teaching))


async def corrected(given: Context, **more: Any) -> InvestigateState:  # noqa: ANN401 - fields of the state
    state = InvestigateState(investigation="t", query=QUERY, models=["fragile"], correct=True, **more)
    graph = builder.compile()
    return InvestigateState(**await graph.ainvoke(state, CONFIG, context=given, output_keys=graph.stream_channels_list))


async def test_what_was_found_is_taught_and_measured_again_on_fresh_pictures(
    tmp_path: Path, taught: list[AdapterExamples]
) -> None:
    given = context(tmp_path, {"fragile": FRAGILE})
    found = await corrected(given)
    report, after = Report.model_validate(found.report), Report.model_validate(found.after)
    (correction,) = [ModelCorrection.model_validate(one) for one in found.corrections]
    assert verdict_of(report.answers[0]) == "no"
    assert after.models == ["fragile", correction.called]
    assert correction.gain is not None
    assert correction.elsewhere is not None
    assert correction.gain.interval[0] > 0
    assert correction.gain.interval[0] < correction.gain.mean < correction.gain.interval[1]
    assert abs(correction.elsewhere.mean) < 0.1
    assert after.experiments[0].design.arms == report.experiments[0].design.arms
    assert len(after.experiments) == 3, "what it was weak in, and the battery"
    assert "has learned recognizing things of 2" in after.conclusion
    samples = given.examiner().samples
    first, again = ({one.plain for one in samples.of(name, 0)} for name in ("t", corrected_sample_set("t")))
    assert first
    assert again
    assert not first & again
    (lessons,) = taught
    learned = {given.pictures.put(one.question.pictures[0]).id for one in (*lessons.wanted, *lessons.wanted_held_out)}
    shown = {one.picture for name in ("t", corrected_sample_set("t")) for one in samples.of(name, 0)}
    assert len(learned) == FEW.lessons + FEW.held_out
    assert not learned & shown
    assert {one.answer for one in lessons.wanted} <= {
        with_article(name) for name in report.experiments[0].design.pools["things"]
    }


@pytest.mark.slow
async def test_one_that_forgets_is_told_of(tmp_path: Path, taught: list[AdapterExamples]) -> None:
    forgetful: Rate = lambda question, _: 0.97 if len(question.choices) == 2 else 0.3  # noqa: E731
    found = await corrected(context(tmp_path, {"fragile": FRAGILE}, after=forgetful))
    (correction,) = [ModelCorrection.model_validate(one) for one in found.corrections]
    assert taught
    assert correction.elsewhere is not None
    assert correction.elsewhere.mean < -0.1
    assert "has lost some of" in Report.model_validate(found.after).conclusion


async def test_who_is_not_weak_is_not_taught(tmp_path: Path, taught: list[AdapterExamples]) -> None:
    found = await corrected(context(tmp_path, {"fragile": SOUND}))
    assert (found.corrections, found.after, taught) == ([], {}, [])


@pytest.mark.parametrize(
    ("trouble", "change"),
    [
        ("Only checkpoints with a causal decoder", {"read": lambda _: architectures.contrastive()}),
        ("cannot be read", {"read": lambda _: _fail("it cannot be read")}),
        ("not downloaded", {"fingerprint": lambda _: _fail("not downloaded")}),
    ],
)
async def test_who_cannot_learn_is_said_to(
    trouble: str, change: dict[str, Any], tmp_path: Path, taught: list[AdapterExamples]
) -> None:
    given = context(tmp_path, {"fragile": FRAGILE})
    examination = given.examiner()
    assert examination.teaching is not None
    other = replace(examination, teaching=replace(examination.teaching, **change))
    found = await corrected(replace(given, examination=other))
    (correction,) = [ModelCorrection.model_validate(one) for one in found.corrections]
    assert trouble in correction.trouble
    assert (found.after, taught) == ({}, [])
    assert "was not corrected" in str(correction)


def _fail(why: str) -> None:
    raise SnellenError(why)


async def test_an_adapter_that_proved_nothing_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def adapt(*_: object, **__: object) -> AdapterOutcome:
        return AdapterOutcome(1, 2, 3.0, 0.5, 0.5, 0.8, 0.8, trouble="It did not learn.")

    monkeypatch.setattr("snellen.nodes.investigate.model_correction.adapt", adapt)
    found = await corrected(context(tmp_path, {"fragile": FRAGILE}))
    (correction,) = [ModelCorrection.model_validate(one) for one in found.corrections]
    assert (correction.trouble, correction.held_out) == ("It did not learn.", (0.5, 0.5))
    assert list(AdapterStore(tmp_path)) == []


async def test_a_person_may_refuse(tmp_path: Path, taught: list[AdapterExamples]) -> None:
    given = context(tmp_path, {"fragile": FRAGILE})
    graph = builder.compile(checkpointer=InMemorySaver())
    state = InvestigateState(investigation="t", query=QUERY, models=["fragile"], correct=True, approve=True)
    told = await graph.ainvoke(state, CONFIG, context=given)
    while (request := told["__interrupt__"][0].value)["action_requests"][0]["name"] == "experiment":
        told = await graph.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), CONFIG, context=given)
    assert "fragile what it is weak in" in request["action_requests"][0]["description"]
    told = await graph.ainvoke(Command(resume="nonsense"), CONFIG, context=given)
    assert "The answer is 'nonsense', no object." in told["__interrupt__"][0].value["error"]
    refusal: Command[Any] = Command(resume={"decisions": [{"type": "reject", "message": "too dear"}]})
    told = await graph.ainvoke(refusal, CONFIG, context=given)
    assert told["corrections"][0]["trouble"] == "It was not approved: too dear."
    assert taught == []


@pytest.mark.slow
async def test_a_model_that_has_learned_is_not_taught_again_after_a_crash(
    tmp_path: Path, taught: list[AdapterExamples], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = context(tmp_path, {"fragile": FRAGILE})
    graph = builder.compile(checkpointer=InMemorySaver())
    state = InvestigateState(investigation="t", query=QUERY, models=["fragile"], correct=True)

    def crash(*_: object) -> None:
        msg = "the process dies"
        raise RuntimeError(msg)

    monkeypatch.setattr("snellen.nodes.investigate.model_correction.follow_up", crash)
    with pytest.raises(RuntimeError, match="the process dies"):
        await graph.ainvoke(state, CONFIG, context=given)
    assert len(taught) == 1
    monkeypatch.setattr("snellen.nodes.investigate.model_correction.follow_up", follow_up)
    found = InvestigateState(**await graph.ainvoke(None, CONFIG, context=given, output_keys=graph.stream_channels_list))
    assert len(taught) == 1
    (correction,) = [ModelCorrection.model_validate(one) for one in found.corrections]
    assert correction.called
    assert correction.taught == FEW.lessons
