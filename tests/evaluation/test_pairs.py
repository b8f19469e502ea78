"""Judges with a planted character: every metric says what its definition says, and the verdict names the flaw."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from snellen.datasets.pairs import Original, PairBenchmark, build, read_benchmark
from snellen.errors import SnellenError
from snellen.evaluation.pairs import POOLED, Judge, correlations, examine
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.trials import TrialTable
from snellen.models.under_test import Card, Question, Ranking

Says = Callable[[str, int, str], str]
"""What is said to a pair of a kind, of which the changed picture is at a place, when something is asked."""


class Tones:
    """Originals of a few colored squares: each looks like no other, changed or not."""

    title = "tones"

    def original(self, number: int, seed: int) -> Original:
        pixels = np.random.default_rng([number, seed]).integers(0, 255, (6, 6, 3), dtype=np.uint8)
        picture = Image.fromarray(pixels).resize((24, 24), Image.Resampling.NEAREST)
        return Original(str(number), picture, f"tone {number}")


class Scripted:
    """Models that know which pair they are shown, and say what their character says."""

    def __init__(self, benchmark: PairBenchmark, characters: dict[str, Says]) -> None:
        self.characters, self.asked = characters, 0
        self.kinds: dict[tuple[bytes, bytes], tuple[str, int]] = {}
        for pair in benchmark.pairs:
            first, second = (Image.open(benchmark.picture(name)).convert("RGB").tobytes() for name in pair.files)
            self.kinds[first, second] = pair.kind, 1
            self.kinds[second, first] = pair.kind, 0

    def card(self, model: str) -> Card:
        if model == "gone":
            msg = "It is gone."
            raise SnellenError(msg)
        pictures = 1 if model == "short-sighted" else 2
        return Card(model, f"print of {model}", "Scripted", None, "answer", pictures, answers=model != "encoder")

    def at_once(self, model: str) -> int:
        return 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        raise NotImplementedError

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        self.asked += len(questions)
        return [self.characters[model](*self._seen(one), one.text) for one in questions]

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        return [{"identical": 0.99, "transformed": 0.8, "irrelevant": 0.1}[self._seen(one)[0]] for one in questions]

    def _seen(self, question: Question) -> tuple[str, int]:
        first, second = (picture.convert("RGB").tobytes() for picture in question.pictures)
        return self.kinds.get((first, second), ("identical", 1))


def right(kind: str, _: int, text: str) -> str:
    counts = "does not count" not in text
    return f"Score: {({'identical': 10, 'transformed': 6 if counts else 10, 'irrelevant': 1})[kind]}"


def biased(kind: str, place: int, text: str) -> str:
    return "Score: 9" if kind == "transformed" and place == 0 else right(kind, place, text)


def deaf(kind: str, place: int, _: str) -> str:
    return right(kind, place, "")


def thrown(kind: str, place: int, text: str) -> str:
    return f"Score: {1 + hashlib.sha256(f'{kind}{place}{text}'.encode()).digest()[0] % 10}"


CHARACTERS: dict[str, Says] = {
    "perfect": right,
    "biased": biased,
    "deaf": deaf,
    "constant": lambda *_: "Score: 7",
    "silent": lambda *_: "I would rather not.",
    "half": lambda kind, place, text: (
        right(kind, place, text) if "Rate from" in text or "Compare" in text else "7 or 8"
    ),
    "loud": lambda *_: "Score: 7 " * 12_000 + "Score: 8",
    "foreign": lambda *_: "評点 七",
    "random": thrown,
}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> PairBenchmark:
    return read_benchmark(build(Tones(), tmp_path_factory.mktemp("pairs"), count=12, seed=4))


async def judged(
    benchmark: PairBenchmark, folder: Path, names: Sequence[str]
) -> tuple[dict[str, Judge], Sequence[str]]:
    scripted = Scripted(benchmark, CHARACTERS)
    runner = TrialRunner(scripted, TrialTable(folder), ArtifactStore(folder / FOLDER))
    found = await examine(benchmark, runner, names)
    asked = scripted.asked
    await examine(benchmark, runner, names)
    assert scripted.asked == asked, "what was judged is not asked again"
    return {judge.name: judge for judge in found.judges}, found.notes


async def test_a_perfect_judge_is_trusted(benchmark: PairBenchmark, tmp_path: Path) -> None:
    judges, _ = await judged(benchmark, tmp_path, ["perfect"])
    judge = judges["perfect"]
    for condition in ("sensitive", "invariant"):
        found = judge.agreement(POOLED, condition)
        assert found.value == pytest.approx(1)
    assert judge.symmetry(POOLED, 0).value == 1
    assert judge.control(POOLED).value == pytest.approx(1)
    assert judge.invalid(POOLED).value == 0
    assert judge.verdict == "It orders pairs well."
    means = judge.templates[0].means
    assert {key[0]: row[0] for key, row in means.items() if key[1] == "sensitive"}.items() <= {
        "identical": 10, "transformed": 6, "irrelevant": 1,
    }.items()  # fmt: skip


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("biased", "change when the two are swapped"),
        ("deaf", "does not follow the criterion"),
        ("constant", "cannot be trusted to order pairs: it knows only one score"),
        ("silent", "cannot be trusted to order pairs: it never gives a score"),
        ("foreign", "it never gives a score"),
        ("loud", "it knows only one score"),
        ("half", "it gives no score in"),
        ("random", "cannot be trusted to order pairs"),
    ],
)
@pytest.mark.slow
async def test_the_verdict_names_the_flaw(name: str, said: str, benchmark: PairBenchmark, tmp_path: Path) -> None:
    judges, _ = await judged(benchmark, tmp_path, [name])
    assert said in judges[name].verdict
    for split in judges[name].splits:
        for found in (judges[name].symmetry(split, 1), judges[name].spread(split), judges[name].control(split)):
            assert (found.value is None) == bool(found.undefined), "a value, or the reason why there is none"


async def test_a_biased_judge_prefers_an_order_where_changes_count(benchmark: PairBenchmark, tmp_path: Path) -> None:
    judges, _ = await judged(benchmark, tmp_path, ["biased"])
    judge = judges["biased"]
    assert judge.agreement(POOLED, "sensitive", "forward").value == pytest.approx(1)
    assert judge.symmetry(POOLED, 1).value == pytest.approx(5 / 6, abs=0.01), "a third of the pairs where changes count"
    assert "second order" in judge.verdict


async def test_encoders_are_compared_by_cosine_and_what_cannot_judge_is_said(
    benchmark: PairBenchmark, tmp_path: Path
) -> None:
    judges, notes = await judged(benchmark, tmp_path, ["encoder", "short-sighted", "gone", "perfect"])
    assert set(judges) == {"encoder", "perfect"}
    encoder = judges["encoder"]
    assert encoder.agreement(POOLED, "sensitive").value == pytest.approx(1)
    assert encoder.symmetry(POOLED, 0).value == 1
    assert encoder.spread(POOLED).undefined == "cosines are no scores"
    assert "cannot be told what counts" in encoder.verdict
    assert any("short-sighted is left out: it reads one picture at once" in note for note in notes)
    assert any("gone is left out: It is gone." in note for note in notes)
    with pytest.raises(SnellenError, match="It is gone"):
        await judged(benchmark, tmp_path, ["gone"])


async def test_metrics_are_correlated_with_other_benchmarks(benchmark: PairBenchmark, tmp_path: Path) -> None:
    judges, _ = await judged(benchmark, tmp_path, ["perfect", "biased", "deaf", "constant"])
    same = {name: -judge.figure("mmscore").value for name, judge in judges.items() if judge.figure("mmscore").value}  # type: ignore[operator]
    table = {"other": {**same, "stranger": 9.0}, "short": {"perfect": 1.0}}
    found = correlations(list(judges.values()), table)
    assert found["mmscore"]["other"].value == pytest.approx(-1)
    assert "three models" in found["mmscore"]["short"].undefined
    assert found["relaxsym"]["other"].n == 3


async def test_a_text_and_a_picture_have_one_order(tmp_path: Path) -> None:
    class Placed(Tones):
        def original(self, number: int, seed: int) -> Original:
            one = super().original(number, seed)
            moved = one.picture.rotate(180)
            return Original(one.name, one.picture, f"a {number} above a b", moved, f"a {number} below a b")

    texts = read_benchmark(build(Placed(), tmp_path / "b", kind="captions", count=4))

    class Reads(Scripted):
        def __init__(self) -> None:
            self.asked = 0

        def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
            assert all(len(one.pictures) == 1 for one in questions)
            self.asked += len(questions)
            return [f"Score: {10 if 'above' in one.text else 3}" for one in questions]

    scripted = Reads()
    runner = TrialRunner(scripted, TrialTable(tmp_path), ArtifactStore(tmp_path / FOLDER))
    found = await examine(texts, runner, ["short-sighted"])
    assert scripted.asked == 2 * len(texts.pairs)
    assert "one order only" in found.judges[0].symmetry(POOLED, 1).undefined
