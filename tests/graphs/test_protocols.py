"""Free answers and judges of pairs as protocols of the investigate graph, over models whose character is known."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langgraph.checkpoint.memory import InMemorySaver

from snellen import microworld
from snellen.datasets.prove import WorldScenes
from snellen.experiments.design import Protocol
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.report import Report, verdict_of
from snellen.experiments.scene_questions import SceneQuestions
from snellen.graphs.investigate import builder
from snellen.graphs.states import InvestigateState
from snellen.memory.samples import Sample
from snellen.models.under_test import Card, Question
from snellen.profiles import load_profile
from snellen.profiles.model_settings import CheckpointUnderTest
from snellen.reasoning.language.scene_questions import CaseQuestionWriter
from snellen.reasoning.reading.answers import AnswerReader
from snellen.runtime.context import Context
from tests.experiments.investigating import Oracle, watched
from tests.graphs.scripted import make_context

CONFIG: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 4_000}
CLASSES = {"encoder": "CLIPModel"}
NAMES = {"honest": 2, "liar": 2, "biased": 2, "blind": 1, "encoder": 1}


class Characters(Oracle):
    """Models that know what they are asked, and say what their character says."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(NAMES, lambda *_: 1.0))
        self.answers: dict[tuple[str, bytes], str] = {}
        self.kinds: dict[tuple[bytes, bytes], tuple[str, int]] = {}
        self.seen: list[tuple[str, str, str]] = []

    def card(self, model: str) -> Card:
        return replace(super().card(model), pictures=NAMES[model], answers=model != "encoder")

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        return [self._said(model, one) for one in questions]

    def _said(self, model: str, question: Question) -> str:
        pixels = [picture.convert("RGB").tobytes() for picture in question.pictures]
        self.seen.append((model, question.text, hashlib.sha256(b"".join(pixels)).hexdigest()))
        if len(pixels) == 1:
            right = self.answers[question.text, pixels[0]]
            return right if model in {"honest", "biased"} else "There is a purple zeppelin."
        kind, place = self.kinds.get((pixels[0], pixels[1]), ("identical", 1))
        counts = "does not count" not in question.text
        score = {"identical": 10, "transformed": 6 if counts else 10, "irrelevant": 1}[kind]
        if model == "liar":
            score = 11 - score
        return f"Score: {9 if model == 'biased' and kind == 'transformed' and place == 0 and counts else score}"


def context(folder: Path, models: Characters) -> Context:
    import json

    profile = load_profile("embedded")
    tested = {
        name: CheckpointUnderTest.model_validate(
            {
                "class": "CLIPModel" if name == "encoder" else "LlavaForConditionalGeneration",
                "folder": "x",
                "pictures": many,
            }
        )
        for name, many in NAMES.items()
    }
    profile = profile.model_copy(update={"tested": tested})

    def embed(texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), 64))
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[hashlib.sha256(word.encode()).digest()[0] % 64] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    protocols: tuple[Protocol, ...] = ("freeform", "pairs")
    examination = watched(
        folder,
        models,
        world=microworld,
        scene_questions=SceneQuestions(
            WorldScenes(microworld), CaseQuestionWriter(), AnswerReader(profile.facts_path()), embed
        ),
        investigators={name: ProtocolExaminer(profile, name) for name in protocols},
    )
    store = examination.samples.add

    def told(samples: Sequence[Sample]) -> None:
        """Let the models know what they are shown, as the pictures are made."""
        for sample in (samples := list(samples)):
            first, second = (
                examination.pictures.get(one).convert("RGB").tobytes() for one in (sample.plain, sample.picture)
            )
            details = json.loads(sample.details)
            if "answer" in details:
                models.answers[details["question"], first] = details["answer"]
            else:
                kind = sample.label.split(",")[0]
                models.kinds[first, second] = kind, 1
                models.kinds[second, first] = kind, 0
        store(samples)

    examination.samples.add = told  # type: ignore[method-assign,assignment]
    return replace(make_context(folder), examination=examination)


async def investigated(folder: Path, query: str, protocol: Protocol, **more: Any) -> tuple[Report, Characters]:  # noqa: ANN401
    models = Characters()
    budget = {"images": 480, **more.pop("budget", {})}
    state = InvestigateState(
        investigation="t", query=query, models=list(NAMES), protocol=protocol, budget=budget, **more
    )
    found = await builder.compile().ainvoke(state, CONFIG, context=context(folder, models))
    return Report.model_validate(found["report"]), models


async def test_who_tells_the_truth_most_often_is_found(tmp_path: Path) -> None:
    report, models = await investigated(tmp_path, "Who tells more truth, honest or liar?", "freeform")
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {"honest and liar": "yes"}
    assert report.conclusion.startswith("honest tells more truth than liar:")
    assert len(models.seen) == len(set(models.seen)), "nothing is asked twice"
    (experiment,) = report.experiments
    assert {result.model for result in experiment.results} == {"honest", "liar"}
    honest = next(result for result in experiment.results if result.model == "honest")
    assert honest.average > 0.95
    assert set(honest.by_class) == {"color", "count", "thing", "relation", "whether", "place", "help"}


async def test_a_liar_is_not_truthful_and_what_cannot_answer_is_said(tmp_path: Path) -> None:
    report, _ = await investigated(tmp_path, "Is what honest, liar and encoder say true?", "freeform")
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {"honest": "yes", "liar": "no"}
    assert any("encoder is not examined: it compares vectors" in note for note in report.notes)


async def test_a_judge_with_a_planted_asymmetry_is_found_out(tmp_path: Path) -> None:
    report, models = await investigated(
        tmp_path, "Can I trust honest, biased and blind to judge similarity under blur?", "pairs"
    )
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {"honest": "yes", "biased": "no"}
    verdicts = {(one.claim.model, one.claim.measure): one.verdict for one in report.findings}
    assert verdicts["biased", "order"] == "yes"
    assert verdicts["biased", "symmetry"] == "no"
    assert "it does not hold that it scores alike both ways round" in report.conclusion
    assert any("blind is not examined: it reads one picture" in note for note in report.notes)
    assert len(models.seen) == len(set(models.seen))
    assert all("blurred" in text for _, text, _ in models.seen)


async def test_a_judge_that_is_upside_down_is_no_judge(tmp_path: Path) -> None:
    report, _ = await investigated(tmp_path, "Is liar or honest the better judge of similarity?", "pairs")
    assert {answer.about: verdict_of(answer) for answer in report.answers} == {"liar and honest": "no"}
    (experiment,) = report.experiments
    assert len(experiment.design.arms) == 15, "five splits of three pairs"
    for figure in (*experiment.findings, *experiment.results):
        assert (figure.n, figure.unit) == (experiment.rounds, "original"), "each original counts once"
        assert figure.interval_kind == "confidence sequence"


async def test_the_same_investigation_asks_nothing_again(tmp_path: Path) -> None:
    query = "Can I trust honest to judge how alike rotated pictures are?"
    first, models = await investigated(tmp_path, query, "pairs")
    again, others = await investigated(tmp_path, query, "pairs")
    assert models.seen
    assert not others.seen, "trials are found again"
    assert [one.mean for one in first.findings] == [one.mean for one in again.findings]


async def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    class Stopped(Exception):  # noqa: N818 - nothing went wrong
        pass

    models, graph = Characters(), builder.compile(checkpointer=InMemorySaver())
    made = context(tmp_path, models)
    state = InvestigateState(
        investigation="t", query="Is honest truthful?", models=["honest"], protocol="freeform", budget={"images": 60}
    )
    answer, left = models.answer, [1]

    def once(model: str, questions: Sequence[Question]) -> list[str]:
        if not left:
            raise Stopped
        left.pop()
        return answer(model, questions)

    models.answer = once  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        await graph.ainvoke(state, CONFIG, context=made)
    models.answer = answer  # type: ignore[method-assign]
    found = await graph.ainvoke(None, CONFIG, context=made)
    report = Report.model_validate(found["report"])
    assert report.answers[0].about == "honest"
    assert len(models.seen) == len(set(models.seen))
