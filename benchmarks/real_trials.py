"""Real trials of every protocol as a small file of numbers: what `benchmarks.nulls` resamples.

    python -m benchmarks.real_trials --folder HOME --out docs/results/nulls/trials.json

The embedded models are asked as an investigation asks them, about many rounds of one experiment of each kind. The file
holds, for each model, round and arm: of choices whether the model was right (and in a paired experiment whether it was
right before), of free answers truth and help, of pairs the four scores. A collection that was stopped goes on in
`--folder`; `--only` collects some of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from snellen.experiments.class_groups import Subjects
from snellen.experiments.design import Claim, Design, Protocol
from snellen.experiments.design_checks import checked
from snellen.experiments.examination_plan import planned
from snellen.experiments.examiners.protocols import ProtocolExaminer
from snellen.experiments.protocols import protocol as protocols
from snellen.experiments.protocols.free_answers import EvaluatedAnswers
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices, chosen
from snellen.experiments.protocols.pair_scoring import EvaluatedPairs, scores_by_original
from snellen.experiments.protocols.protocol import RoundPlace, unmeasured
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Report
from snellen.experiments.understanding import understood
from snellen.memory.samples import Sample
from snellen.memory.trials import Trial, TrialKey
from snellen.profiles import Profile, load_profile
from snellen.runtime.resources import examining
from snellen.scoring.freeform import AnswerScores
from snellen.scoring.judge_replies import parsed_score
from snellen.scoring.measure import Measure

if TYPE_CHECKING:
    from snellen.experiments.resources import Examination

SEED = 20_260
"""Of the pictures; no other result was measured with it."""
_ANSWERING = ("llava-upright", "blip2-clean", "idefics3-mirrored")
_AT_ONCE = 10
"""Rounds that are made and asked about together."""
DIGITS = 4
TRIALS: Final = Path(__file__).parents[1] / "docs" / "results" / "nulls" / "trials.json"
_PAIRS: Final = 3
"""Arms of a split."""
_Rows = Mapping[str, Mapping[Sample, Sequence[float | None]]]


@dataclass(frozen=True)
class Collection:
    """An experiment whose trials are collected.

    Attributes:
        name: Of the collection.
        query: Leads to the experiment, with `{}` for the models.
        models: Who is asked.
        rounds: How many rounds are drawn.
        protocol: How they are asked.
        level: The place among the query's experiments, from 0.
    """

    name: str
    query: str
    models: tuple[str, ...]
    rounds: int
    protocol: Protocol = "choice"
    level: int = 0

    def design(self, profile: Profile) -> Design:
        """Return the experiment."""
        query = self.query.format(f"{', '.join(self.models[:-1])} and {self.models[-1]}")
        if self.protocol == "choice":
            subjects = Subjects.of(profile)
            plan = planned(understood(query, self.models, profile).query, subjects, self.models)
            return checked(plan.parts[0].designs[self.level], list(self.models))
        report = Report(query=query, models=list(self.models), alpha=0.05, seed=SEED)
        made = asyncio.run(ProtocolExaminer(profile, self.protocol).design_experiment(report, []))
        if made is None:
            msg = f"no experiment follows from {query!r}"
            raise ValueError(msg)
        return made


COLLECTIONS = (
    Collection("rotation", "Are {} robust to rotation?", _ANSWERING, 150),
    Collection("birds", "Can {} recognize birds?", _ANSWERING, 200, level=1),
    Collection("freeform", "Is what {} say true?", ("blip", *_ANSWERING), 150, "freeform"),
    Collection("pairs", "Can I trust {} to judge similarity?", ("idefics3-judge", "llava-judge"), 200, "pairs"),
)


def main() -> None:
    """Collect, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="the memory's home, where pictures and trials are")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--only", nargs="+", choices=[one.name for one in COLLECTIONS], help="default: all")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    profile = load_profile("embedded")
    examination = examining("embedded", options.folder).examiner()
    wanted = [one for one in COLLECTIONS if not options.only or one.name in options.only]
    found = {one.name: collected(one, one.design(profile), examination) for one in wanted}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in found.items())
    options.out.write_text(f"{{{rows}}}\n", encoding="utf-8")


def collected(one: Collection, design: Design, examination: Examination) -> dict[str, Any]:
    """Ask the models of a collection, and return what is kept of their trials."""
    protocol, name = PROTOCOLS[design.protocol], f"nulls-{one.name}"
    samples = examination.samples.of(name, 0)
    for begun in range(len(samples) // len(design.arms), one.rounds):
        made = protocol.make(examination, design, RoundPlace(name, 0, begun, SEED))
        examination.samples.add(made)
        samples += made
    samples = samples[: one.rounds * len(design.arms)]
    for model in one.models:
        for begun in range(0, len(samples), _AT_ONCE * len(design.arms)):
            part = samples[begun : begun + _AT_ONCE * len(design.arms)]
            for shard in unmeasured(protocol, examination, design, part, model):
                examination.runner.trials.add(examination.runner.measured(model, shard))
            print(f"{one.name}: {model} {begun + len(part)} of {len(samples)}", file=sys.stderr, flush=True)
    kept = {model: list(_kept(model, design, samples, examination)) for model in one.models}
    return {"design": design.model_dump(mode="json"), "models": kept}


def _kept(model: str, design: Design, samples: Sequence[Sample], examination: Examination) -> Iterator[list[Any]]:
    """Yield the numbers of each sample, round by round in the order of the arms."""
    fingerprints = examination.fingerprints([model])
    protocol = PROTOCOLS[design.protocol]
    if design.protocol == "freeform":
        evaluated: Any = protocol.evaluated(examination, design, samples, fingerprints)
        for sample in samples:
            scored = evaluated.scores[model][sample]
            yield [round(one.value or 0.0, DIGITS) for one in (scored.tscore, scored.hscore)]
        return
    keys = {sample: protocol.keys(design, sample, fingerprints[model]) for sample in samples}
    known: Mapping[Any, Trial] = examination.trials.get([key for each in keys.values() for key in each])
    for sample, each in keys.items():
        trials = [known[key] for key in each]
        if design.protocol == "pairs":
            yield [parsed_score(trial.said) for trial in trials]
        else:
            right = design.arms[sample.arm].answer
            yield [int(chosen(trial, design.choices) == right) for trial in trials]


@dataclass(frozen=True)
class Trials:
    """Real trials of one experiment.

    Attributes:
        design: The experiment.
        numbers: For each model what it got, for each sample (`benchmarks.real_trials`).
    """

    design: Design
    numbers: Mapping[str, Sequence[Sequence[float | None]]]

    @cached_property
    def samples(self) -> list[Sample]:
        """The samples, round by round in the order of the arms."""
        arms = len(self.design.arms)
        count = len(next(iter(self.numbers.values())))
        return [
            Sample("", 0, *divmod(place, arms), "", "", "", "", details='{"template": 0}') for place in range(count)
        ]

    @cached_property
    def evaluated(self) -> protocols.Evaluated:
        """The trials as the protocol reads them."""
        rows = {model: dict(zip(self.samples, each, strict=True)) for model, each in self.numbers.items()}
        return {"choice": self._chosen, "freeform": self._answered, "pairs": self._scored}[self.design.protocol](rows)

    def _chosen(self, rows: _Rows) -> protocols.Evaluated:
        said = {
            (model, plain): {
                sample: self.design.arms[sample.arm].answer if row[place] else None for sample, row in each.items()
            }
            for model, each in rows.items()
            for place, plain in enumerate(self.design.conditions)
        }
        return EvaluatedChoices(self.design, self.samples, said)

    def _answered(self, rows: _Rows) -> protocols.Evaluated:
        scores = {
            model: {
                sample: AnswerScores(hscore=Measure(helped, 1), tscore=Measure(truth, 1))
                for sample, (truth, helped) in each.items()
            }
            for model, each in rows.items()
        }
        return EvaluatedAnswers(self.design, scores)

    def _scored(self, rows: _Rows) -> protocols.Evaluated:
        def trial(score: float | None) -> Trial:
            return Trial(TrialKey("", (), "", ()), (), said="" if score is None else f"Score: {score:g}")

        said = {model: {sample: list(map(trial, row)) for sample, row in each.items()} for model, each in rows.items()}
        return EvaluatedPairs(
            self.design, {model: scores_by_original(self.design, each) for model, each in said.items()}
        )

    def population(self, claim: Claim) -> NDArray[np.float64]:
        """Return what a claim's units are drawn from: their values, shape (units of a round, rounds)."""
        seen = self.evaluated.observations(claim)
        return np.asarray(seen.values).reshape(-1, self.design.units).T

    def splits(self, claim: Claim) -> NDArray[np.float64]:
        """Return the values of each split by itself, shape (splits, rounds)."""
        arms = self.design.arms
        values = []
        for begun in range(0, len(arms), _PAIRS):
            alone = self.design.model_copy(update={"arms": arms[begun : begun + _PAIRS]})
            chosen = [place for place, sample in enumerate(self.samples) if begun <= sample.arm < begun + _PAIRS]
            numbers = {model: [rows[place] for place in chosen] for model, rows in self.numbers.items()}
            values.append(Trials(alone, numbers).population(claim)[0])
        return np.stack(values)


def real_trials(path: Path = TRIALS) -> dict[str, Trials]:
    """Return the trials of each collection by its name."""
    found = json.loads(path.read_text("utf-8"))
    return {name: Trials(Design.model_validate(one["design"]), one["models"]) for name, one in found.items()}


if __name__ == "__main__":
    main()
