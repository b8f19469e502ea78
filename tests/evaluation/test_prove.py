"""Free answers to a benchmark's questions: who says what, and what that is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen import microworld
from snellen.datasets.prove import ProveBenchmark, WorldScenes, read_benchmark
from snellen.datasets.prove.building import BenchmarkWriter, build
from snellen.errors import SnellenError
from snellen.evaluation.prove import ProveResult, examine
from snellen.experiments.entailment import entailment, question_of
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.trials import TrialTable
from snellen.models.under_test import Card, Question, Ranking
from snellen.profiles import load_profile
from snellen.reasoning.language.scene_questions import CaseQuestionWriter
from snellen.reasoning.reading.answers import AnswerReader
from snellen.scoring.scene_graph import Fact
from snellen.scoring.verification import Verifier

READER = AnswerReader(load_profile("embedded").facts_path())


def embed(texts: Sequence[str]) -> np.ndarray:
    """Embed texts as bags of words."""
    words = sorted({word for text in texts for word in text.lower().split()})
    rows = np.array([[float(word in text.lower().split()) for word in words] for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


class Scripted:
    """Models that know the right answers, or none."""

    def __init__(self, benchmark: ProveBenchmark) -> None:
        self.right: dict[tuple[str, bytes], str] = {}
        for item in benchmark.items:
            with Image.open(benchmark.picture(item.scene)) as picture:
                self.right[item.question, picture.convert("RGB").tobytes()] = item.answer
        self.asked: list[str] = []

    def card(self, model: str) -> Card:
        return Card(model, f"print of {model}", "Scripted", None, "answer", 1, answers=model != "encoder")

    def at_once(self, model: str) -> int:
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        self.asked += [question.text for question in questions]
        return [
            Ranking(tuple((0.0,) if place == 0 else (-2.0,) for place in range(len(one.choices)))) for one in questions
        ]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        characters: dict[str, Callable[[tuple[str, bytes]], str]] = {
            "knows": lambda key: self.right.get(key, "no idea"),
            "lies": lambda _: "There is a purple volcano.",
            "silent": lambda _: "",
            "loud": lambda key: f"{self.right.get(key, 'no idea')} " + "x" * 100_000,
            "foreign": lambda _: "それは犬です。",
        }
        said = characters[model]
        return [said((question.text, question.pictures[0].convert("RGB").tobytes())) for question in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        raise NotImplementedError


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProveBenchmark]:
    import asyncio

    with Verifier(workers=1) as verifier:
        shop = BenchmarkWriter(CaseQuestionWriter(), READER, verifier, embed)
        yield read_benchmark(asyncio.run(build(WorldScenes(microworld), tmp_path_factory.mktemp("b"), shop, count=8)))


async def examined(benchmark: ProveBenchmark, folder: Path, names: Sequence[str]) -> ProveResult:
    runner = TrialRunner(Scripted(benchmark), TrialTable(folder), ArtifactStore(folder / FOLDER))
    return await examine(benchmark, runner, names, reader=READER, embed=embed, metric="calibrated")


@pytest.mark.slow
async def test_who_knows_and_who_lies_are_told_apart(benchmark: ProveBenchmark, tmp_path: Path) -> None:
    outcome = await examined(benchmark, tmp_path, ["knows", "lies", "silent", "encoder"])
    rows = {one.name: outcome.scores(one) for one in outcome.models}
    assert rows["knows"].hscore.value == pytest.approx(1)
    assert rows["knows"].tscore.value == pytest.approx(1, abs=0.02)
    assert (rows["lies"].hscore.value or 0) < 0.2
    assert (rows["lies"].tscore.value or 0) < 0.4
    assert rows["silent"].tscore.undefined == "the answer says nothing"
    assert rows["silent"].silent == 1
    assert rows["knows"].hscore.interval is not None
    assert any("encoder is left out: it compares pictures with texts" in note for note in outcome.notes)
    assert outcome.correlation.undefined
    assert sum(outcome.scores(outcome.models[0], kind).n for kind in outcome.kinds) == len(benchmark.items)


async def test_baselines_stand_beside_the_models(benchmark: ProveBenchmark, tmp_path: Path) -> None:
    outcome = await examined(benchmark, tmp_path, ["knows"])
    rows = {one.name: outcome.scores(one) for one in outcome.baselines}
    assert set(rows) == {"oracle", "blind (knows)", "copies the question", "refuses", "says everything"}
    assert rows["refuses"].silent == 1
    assert rows["refuses"].hscore.value == 0
    assert (rows["oracle"].hscore.value or 0) > 0.6
    assert (rows["says everything"].hscore.value or 0) > (rows["copies the question"].hscore.value or 0)
    assert (rows["says everything"].tscore.value or 0) > 0.9


async def test_strange_answers_stop_nothing(benchmark: ProveBenchmark, tmp_path: Path) -> None:
    outcome = await examined(benchmark, tmp_path, ["loud", "foreign"])
    rows = {one.name: outcome.scores(one) for one in outcome.models}
    assert (rows["loud"].hscore.value or 0) > 0.9
    assert rows["foreign"].silent == 1
    with pytest.raises(SnellenError, match="cannot answer freely"):
        await examined(benchmark, tmp_path, ["encoder"])


@pytest.mark.parametrize(
    ("fact", "text", "claimed"),
    [
        (Fact("dog"), "is there a dog?", "yes"),
        (Fact("dog (2)", attribute="red", kind="color"), "is the dog red?", "yes"),
        (Fact("dog", attribute="3", kind="count"), "how many dogs are there?", "3"),
        (Fact("dog", attribute="top left", kind="place"), "where is the dog?", "top left"),
        (Fact("dog", attribute="small", kind="size"), "is the dog small, medium or large?", "small"),
        (Fact("dog", attribute="99", kind="count"), "is the dog 99?", "yes"),
        (Fact("background", attribute="sand", kind="pattern"), "what is the background?", "sand"),
        (Fact("weather", attribute="rainy", kind="state"), "is it rainy?", "yes"),
        (Fact("style", attribute="sketch", kind="state"), "is the picture sketch?", "yes"),
        (Fact("dog", relation="above", target="cat"), "is the dog above the cat?", "yes"),
    ],
)
def test_tuples_become_questions(fact: Fact, text: str, claimed: str) -> None:
    asked, choices, place = question_of(fact)
    assert (asked, choices[place]) == (text, claimed)


def test_entailment_is_a_probability_and_asked_once(benchmark: ProveBenchmark, tmp_path: Path) -> None:
    scripted = Scripted(benchmark)
    runner = TrialRunner(scripted, TrialTable(tmp_path), ArtifactStore(tmp_path / FOLDER))
    name = next(iter(benchmark.scenes))
    stored = runner.store({name: benchmark.picture(name)})
    judge = entailment(runner, "knows", stored)
    dog, no_dog = Fact("dog"), Fact("dog", negated=True)
    yes, no = judge([(name, dog), (name, no_dog)])
    assert yes == pytest.approx(1 / (1 + np.exp(-2)))
    assert yes + no == pytest.approx(1)
    judge([(name, dog)])
    assert scripted.asked == ["is there a dog?"]
