"""The trials of an investigation as rows of a table: model, question, pictures, answer, scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.experiments.drawn_answers import asked, said_in_words

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Report
    from snellen.memory.samples import Sample
    from snellen.memory.trials import Trial, TrialTable
    from snellen.threads.investigate import InvestigationResult

_SAID: Final = 200
"""Characters of a free answer where answers stand beside each other; ``text`` has all of it."""


def trial_rows(result: InvestigationResult, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every trial of an investigation, experiment by experiment and model by model.

    Experiments with corrected models are counted on from the others.

    Args:
        result: What it found.
        folder: The memory's home.
    """
    begun = 0
    for sample_set, report in result.parts:
        for number in range(len(report.experiments)):
            for row in rows_of_experiment(sample_set, report, number, folder, result.profile):
                yield row | {"experiment": row["experiment"] + begun, "sample": f"{begun + number + 1}/{row['sample']}"}
        begun += len(report.experiments)


def rows_of_experiment(
    sample_set: str, report: Report, number: int, folder: Path, profile: str
) -> Iterator[dict[str, Any]]:
    """Yield the trials of one experiment.

    Args:
        sample_set: The name under which its pictures are kept.
        report: That it is of.
        number: Its place in the report, from 0.
        folder: The memory's home.
        profile: Name or path of the profile.
    """
    from snellen.memory.samples import SampleTable
    from snellen.memory.trials import TrialTable

    design, trials = report.experiments[number].design, TrialTable(folder)
    samples = SampleTable(folder).of(sample_set, number)
    rows = (
        _choice_rows(design, samples, report, trials)
        if design.protocol == "choice"
        else _answer_rows(design, samples, report, trials, profile)
    )
    for row in rows:
        yield {"experiment": number + 1, **row}


def _choice_rows(
    design: Design, samples: Sequence[Sample], report: Report, trials: TrialTable
) -> Iterator[dict[str, Any]]:
    """Yield the trials of an experiment in which answers were chosen from."""
    from snellen.experiments.protocols.multiple_choice import chosen, key_of
    from snellen.models.under_test import Ranking

    questions = {sample: asked(design, sample) for sample in samples}
    for name, fingerprint in report.fingerprints.items():
        for plain in design.conditions:
            keys = {sample: key_of(put, sample, fingerprint, plain=plain) for sample, put in questions.items()}
            measured = trials.get(list(keys.values()))
            for sample, key in keys.items():
                if key not in measured:
                    continue
                trial, truth = measured[key], questions[sample].answer
                part = design.of_arm(sample.arm)
                ranking, answer = Ranking(trial.scores), chosen(trial, part.choices)
                yield {
                    **_common(sample, trial), "model": name, "plain": plain, "choices": list(key.choices),
                    "truth": truth, "target": truth, "said": said_in_words(part, key.choices, answer),
                    "right": design.is_right(answer, design.arms[sample.arm].answer),
                    "mean": list(ranking.means), "sum": list(ranking.sums),
                    "tokens": [list(row) for row in trial.scores], "picture": key.pictures[0],
                }  # fmt: skip


def _answer_rows(
    design: Design, samples: Sequence[Sample], report: Report, trials: TrialTable, profile: str
) -> Iterator[dict[str, Any]]:
    """Yield the trials of an experiment in which nothing was chosen from."""
    from snellen.experiments.protocols.registry import PROTOCOLS

    protocol = PROTOCOLS[design.protocol]
    judge, settings = _right(design.protocol, profile), _settings_of(design)
    for name, fingerprint in report.fingerprints.items():
        keys = [
            (sample, how, key)
            for sample in samples
            for how, key in zip(settings(sample), protocol.keys(design, sample, fingerprint), strict=True)
        ]
        measured = trials.get([key for *_, key in keys])
        for sample, how, key in keys:
            if key not in measured:
                continue
            trial, arm = measured[key], design.arms[sample.arm]
            yield {
                **_common(sample, trial), **how, "model": name, "plain": False, "choices": [], "truth": arm.answer,
                "said": trial.said[:_SAID], "right": judge(sample, arm.answer, trial), "mean": [], "sum": [],
                "tokens": [], "picture": sample.picture,
            }  # fmt: skip


def _common(sample: Sample, trial: Trial) -> dict[str, Any]:
    """Return what a row says of its sample and trial whatever was asked."""
    return {
        "sample": f"{sample.round}/{sample.arm}", "round": sample.round, "arm": sample.arm,
        "question": trial.key.question, "condition": "", "backward": False, "pictures": list(trial.key.pictures),
        "basis": trial.basis, "text": trial.said, "label": sample.label, "origin": sample.origin,
        "original": sample.plain, "rejected_before": sample.rejected, "trial": trial.key.id, "measured": trial.created,
    }  # fmt: skip


def _settings_of(design: Design) -> Callable[[Sample], list[dict[str, Any]]]:
    """Return a function that lists how a sample was asked about in each of its trials, with the right answer."""
    if design.protocol == "freeform":
        return lambda sample: [{"condition": "", "target": str(json.loads(sample.details)["answer"])}]
    from snellen.datasets.pairs import truth
    from snellen.experiments.protocols.pair_scoring import WAYS

    def ways(sample: Sample) -> list[dict[str, Any]]:
        kind = design.arms[sample.arm].answer
        return [
            {"condition": condition, "backward": backward, "target": f"{truth(kind, condition):g}"}  # type: ignore[arg-type]
            for condition, backward in WAYS
        ]

    return ways


def _right(protocol: str, profile: str) -> Callable[[Sample, str, Trial], bool]:
    """Return a function that decides whether an answer is right, as far as one can be."""
    if protocol == "freeform":
        from snellen.experiments.protocols.free_answers import is_right
        from snellen.profiles import load_profile
        from snellen.reasoning.reading.answers import AnswerReader

        reader = AnswerReader(load_profile(profile).facts_path())
        return lambda sample, _, trial: is_right(sample, trial.said, reader)
    from snellen.experiments.protocols.pair_scoring import is_right as is_score_right

    return lambda _, kind, trial: is_score_right(kind, trial)
