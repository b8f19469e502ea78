"""How well the confidence of answers is calibrated, and the fit of its coefficients.

    python -m benchmarks.confidence fit                                   # coefficients beside the embedded profile
    python -m benchmarks.confidence measure --json --out docs/results/confidence

``fit`` solves tasks that the microworld draws of the train split, and fits a logistic regression for each kind of
answer (`snellen.runtime.confidence`): ridge, on standardised features, by Newton's method. The penalty is chosen on
tasks of the val split. ``measure`` takes the test split and the instructions of ``tests/tools/reference_programs``,
whose wordings nobody wrote for the reader, and writes the reliability plot and the expected calibration error of each.
Tasks that are refused, and answers without a confidence, are counted, and not measured. Nothing of any task is
remembered.

Keys of the JSON: `weights`, the fingerprints of the checkpoints; `measured`, the day; and for `test` and `corpus` each

    n, answered   tasks, and those with a confidence
    right         the share of these that are right, and `confidence`, the mean that was said
    ece, interval the expected calibration error over bins of equally many answers, and where 95 % of it would lie if
                  every confidence were exactly right
    bins          for each bin its answers `n`, the mean `confidence`, the share `right`
    kinds         the same sums by kind of answer
    unsure        answers below what the profile calls sure: how many, how many of them are right
    wrong         the surest answers that are wrong
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from benchmarks.answered_instructions import answered, asking_context
from benchmarks.instruction_scores import is_right
from benchmarks.reference_programs import read_references
from snellen.cli.display import stages
from snellen.evaluation.task_runs import solver
from snellen.evaluation.tasks import Assignment, EvaluationRequest, TaskExaminer
from snellen.graphs.states import AskState
from snellen.memory.home import using_home
from snellen.microworld.drawing import draw
from snellen.profiles import load_profile
from snellen.runtime.confidence import (
    Calibration,
    calibration_of,
    features_of,
    kind_of_answer,
    sigmoid,
    weights_of,
)
from snellen.scoring.calibration import calibration_error, calibration_interval, reliability
from snellen.summaries.runs import in_words
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.profiles import Profile
    from snellen.profiles.world import DrawnTask
    from snellen.runtime.confidence import AnswerKind
    from snellen.runtime.context import Context

Report = dict[str, Any]
Show = Callable[[int, int, str], None]

FILE: Final = Path(__file__).parents[1] / "snellen" / "profiles" / "embedded-confidence.json"
TASKS: Final = {"vqa": 600, "statement": 200, "tag": 80, "edit": 40}
"""Tasks of each family to fit on; half as many choose the penalty, and half as many are measured."""
SEEDS: Final = {"train": 7001, "val": 7002, "test": 7003}
PENALTIES: Final = (0.3, 1.0, 3.0, 10.0, 30.0)
FEWEST: Final = 25
"""Answers of a kind below which nothing is fitted to it."""
BINS: Final = 10
MOST_LISTED: Final = 12
RECIPE: Final = "python -m benchmarks.confidence fit"
SIDE_BY_SIDE: Final = 8
_TINY: Final = 1e-6


@dataclass(frozen=True)
class ConfidenceSample:
    """An answer of which the truth is known.

    Attributes:
        source: ``train``, ``val``, ``test`` or ``corpus``.
        task: What was asked.
        kind: The kind of the answer; empty where there is none, or nothing follows from it.
        right: Whether it is right.
        answer: It in words.
        run: The answer, the steps and the revisions in JSON form; empty where there is no answer.
    """

    source: str
    task: str
    kind: str
    right: bool
    answer: str
    run: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def features(self) -> dict[str, float]:
        """The features of its run."""
        return features_of(from_json(self.run["answer"]), self.run["steps"], self.run["revisions"])


def sample_of(source: str, task: str, state: AskState, *, right: bool) -> ConfidenceSample:
    """Return the sample of a solved task."""
    if state.error is not None or state.caveat is not None or state.answer is None:
        return ConfidenceSample(source, task, "", right, state.error or in_words(from_json(state.answer)))
    value = from_json(state.answer)
    run = {"answer": state.answer, "steps": state.steps, "revisions": state.revisions}
    return ConfidenceSample(source, task, kind_of_answer(value), right, in_words(value), run)


async def drawn_samples(context: Context, split: str, counts: Mapping[str, int], show: Show) -> list[ConfidenceSample]:
    """Solve drawn tasks of a split, and return what came of them."""
    world = load_profile("embedded").world()
    samples: list[ConfidenceSample] = []
    total = sum(counts.values())
    gate = asyncio.Semaphore(SIDE_BY_SIDE)

    async def one(family: str, task: DrawnTask) -> None:
        request = EvaluationRequest(family, split, "known")
        examiner, solve = TaskExaminer(world, context.pictures), solver(context, request)
        async with gate:
            states: list[AskState] = []

            async def keep(assignment: Assignment) -> AskState:
                states.append(cast("AskState", await solve(assignment)))
                return states[-1]

            result = await examiner.result(task, keep)
        if states:
            samples.append(sample_of(split, f"{family}: {task.instruction}", states[0], right=result.correct))
        else:
            samples.append(
                ConfidenceSample(split, f"{family}: {task.instruction}", "", right=False, answer=result.reason)
            )
        show(len(samples), total, f"{sum(each.right for each in samples)} right")

    tasks = [
        (family, task)
        for family, count in counts.items()
        for task in world.sample_tasks(family, split, "known", count, SEEDS[split])
    ]
    await asyncio.gather(*(one(family, task) for family, task in tasks))
    return samples


async def corpus_samples(context: Context, show: Show) -> list[ConfidenceSample]:
    """Ask the instructions of the reference programs in their own words, and return what came of them."""
    samples = []
    references = [each for each in read_references() if each.program]
    for done, each in enumerate(references, start=1):
        result = await answered(each.says, each.scenes, context)
        if result.state is None:
            # A refusal is no answer; what it says is kept.
            samples.append(ConfidenceSample("corpus", each.says, "", right=False, answer=result.refusal))
            continue
        right = is_right(each.row, result.answer, draw(each.scenes[0]))
        samples.append(sample_of("corpus", each.says, result.state, right=right))
        show(done, len(references), f"{sum(one.right for one in samples)} right")
    return samples


def solved(source: str, counts: Mapping[str, int], kept: Path | None, show: Show) -> list[ConfidenceSample]:
    """Return the samples of a split or of the corpus: those of a file where it is there, else solved anew, and kept."""
    if kept is not None and kept.exists():
        return [ConfidenceSample(**json.loads(line)) for line in kept.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory(prefix="snellen-") as folder, using_home(Path(folder)):
        context = asking_context(Path(folder))
        made = corpus_samples(context, show) if source == "corpus" else drawn_samples(context, source, counts, show)
        samples = asyncio.run(made)
    if kept is not None:
        kept.write_text("".join(json.dumps(asdict(each)) + "\n" for each in samples), encoding="utf-8")
    return samples


def fit(training: Iterable[ConfidenceSample], choosing: Sequence[ConfidenceSample]) -> dict[str, Report]:
    """Fit each kind of answer, with the penalty that predicts other tasks best; see `snellen.runtime.confidence`."""
    by_kind, others = _by_kind(training), _by_kind(choosing)
    fitted = {}
    for kind, samples in sorted(by_kind.items()):
        if len(samples) < FEWEST:
            continue
        tried = [_logistic(samples, penalty) for penalty in PENALTIES]
        fitted[kind] = min(tried, key=lambda one: _loss({kind: one}, others[kind]))
    return fitted


def _by_kind(samples: Iterable[ConfidenceSample]) -> dict[str, list[ConfidenceSample]]:
    by_kind: dict[str, list[ConfidenceSample]] = defaultdict(list)
    for each in samples:
        if each.kind:
            by_kind[each.kind].append(each)
    return by_kind


def _logistic(samples: Sequence[ConfidenceSample], penalty: float) -> Report:
    """Fit by Newton's method; the intercept has no penalty, and a prior of one right and one wrong answer."""
    names = sorted(samples[0].features)
    raw = np.array([[each.features[name] for name in names] for each in samples])
    centre, spread = raw.mean(axis=0), raw.std(axis=0)
    used = spread > _TINY  # a feature that never varies says nothing
    scaled = np.where(used, (raw - centre) / np.where(used, spread, 1.0), 0.0)
    inputs = np.vstack(
        [np.hstack([np.ones((len(raw), 1)), scaled]), np.eye(1, len(names) + 1), np.eye(1, len(names) + 1)]
    )
    right = np.array([*(float(each.right) for each in samples), 1.0, 0.0])
    ridge = penalty * np.diag([0.0, *np.ones(len(names))])
    weights = np.zeros(len(names) + 1)
    for _ in range(50):
        chances = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (right - chances) - ridge @ weights
        curve = inputs.T @ (inputs * (chances * (1 - chances))[:, None]) + ridge
        weights = weights + np.linalg.solve(curve, slope)
    by_name = np.where(used, weights[1:] / np.where(used, spread, 1.0), 0.0)
    return {
        "n": len(samples),
        "penalty": penalty,
        "right": sum(each.right for each in samples),
        "intercept": round(float(weights[0] - by_name @ centre), 4),
        "coefficients": {name: round(float(one), 4) for name, one in zip(names, by_name, strict=True) if one},
    }


def predicted(kinds: Mapping[str, Report], sample: ConfidenceSample) -> float | None:
    """Return the confidence that fitted coefficients give an answer; None for a kind without them."""
    if sample.kind not in kinds:
        return None
    by_name = kinds[sample.kind]["coefficients"]
    return sigmoid(kinds[sample.kind]["intercept"] + sum(by_name.get(n, 0.0) * v for n, v in sample.features.items()))


def _loss(kinds: Mapping[str, Report], samples: Sequence[ConfidenceSample]) -> float:
    """Return the mean negative log-likelihood of samples."""
    pairs = [(chance, each.right) for each in samples if (chance := predicted(kinds, each)) is not None]
    return sum(-math.log(max(chance if right else 1 - chance, _TINY)) for chance, right in pairs)


def measure(samples: Sequence[ConfidenceSample], profile: Profile, calibration: Calibration) -> Report:
    """Return how well the confidences of answers are calibrated; see the module for what is returned."""
    answered = [each for each in samples if each.kind in calibration.intercepts]
    chances = [calibration.probability(cast("AnswerKind", each.kind), each.features) or 0.0 for each in answered]
    outcomes = [each.right for each in answered]
    pairs = sorted(zip(chances, answered, strict=True), key=lambda pair: -pair[0])
    by_kind: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for chance, each in pairs:
        by_kind[each.kind].append((chance, each.right))
    unsure = [each.right for chance, each in pairs if chance < profile.confidence.sure]
    return {
        "n": len(samples),
        "answered": len(answered),
        "right": _share(outcomes),
        "confidence": _share(chances),
        "ece": round(calibration_error(chances, outcomes, bins=BINS), 4),
        "interval": calibration_interval(chances, bins=BINS).rounded,
        "bins": [
            {"n": one.n, "confidence": round(one.confidence, 4), "right": round(one.right, 4)}
            for one in reliability(chances, outcomes, bins=BINS)
        ],
        "kinds": {
            kind: {
                "n": len(each),
                "right": _share([one for _, one in each]),
                "confidence": _share([one for one, _ in each]),
            }
            for kind, each in sorted(by_kind.items())
        },
        "unsure": {"n": len(unsure), "right": sum(unsure)},
        "wrong": [
            {"task": each.task, "answer": each.answer, "confidence": round(chance, 3)}
            for chance, each in pairs
            if not each.right
        ][:MOST_LISTED],
    }


def _share(values: Sequence[float]) -> float:
    return round(sum(values) / max(len(values), 1), 4)


def main() -> None:
    """Fit or measure, print, and write where asked."""
    options = _options()
    profile = load_profile("embedded")
    counts = {family: max(1, round(count * options.share)) for family, count in TASKS.items()}
    halves = {family: max(1, count // 2) for family, count in counts.items()}

    def kept(name: str) -> Path | None:
        return options.keep / f"{name}.jsonl" if options.keep else None

    with stages() as stage:
        if options.what == "fit":
            train = solved("train", counts, kept("train"), partial(stage, "tasks to fit on"))
            val = solved("val", halves, kept("val"), partial(stage, "tasks to choose by"))
            report = {"recipe": RECIPE, "weights": weights_of(profile), "seeds": SEEDS, "kinds": fit(train, val)}
            FILE.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        else:
            calibration = calibration_of(profile)
            if calibration is None:
                msg = f"{FILE} was fitted with other checkpoints: {RECIPE}"
                raise SystemExit(msg)
            report = {"measured": datetime.now(UTC).date().isoformat(), "weights": weights_of(profile)}
            for name, tasks in (("test", halves), ("corpus", {})):
                samples = solved(name, tasks, kept(name), partial(stage, f"{name}: tasks to measure"))
                report[name] = measure(samples, profile, calibration)
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / "report.json").write_text(
                    json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8"
                )
                plot(report, options.out / "reliability.png")
    print(json.dumps(report, indent=2, ensure_ascii=False) if options.json else _summary(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("fit", "measure"), default="measure")
    parser.add_argument("--share", type=float, default=1.0, help="of the tasks, for a trial (%(default)s)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep solved tasks there, and take those that are there"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write report.json and reliability.png there")
    return parser.parse_args()


def plot(report: Report, path: Path) -> None:
    """Draw the share that is right over the confidence that was said, for each part of a report."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = drawing.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.plot([0, 1], [0, 1], color="#9aa5b1", linewidth=1)
    for name, colour in (("test", "#2f6db5"), ("corpus", "#d99a00")):
        bins = report[name]["bins"]
        sizes = [12 + 160 * one["n"] / report[name]["answered"] for one in bins]
        axes.plot([one["confidence"] for one in bins], [one["right"] for one in bins], color=colour, linewidth=0.8)
        label = f"{name}: error {report[name]['ece']:.3f}, n = {report[name]['answered']}"
        axes.scatter(
            [one["confidence"] for one in bins], [one["right"] for one in bins], s=sizes, color=colour, label=label
        )
    axes.set_xlabel("confidence")
    axes.set_ylabel("share of the answers that is right")
    axes.legend(frameon=False)
    drawing.savefig(path, dpi=120, metadata={"Software": None})


def _summary(report: Report) -> str:
    if "recipe" in report:
        return "\n".join(f"{kind}: {one['right']} of {one['n']} right" for kind, one in report["kinds"].items())
    return "\n".join(
        f"{name}: error {report[name]['ece']:.3f}, right {report[name]['right']:.3f} of {report[name]['answered']}"
        for name in ("test", "corpus")
    )


if __name__ == "__main__":
    main()
