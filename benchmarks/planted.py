"""Who examines the examiner: queries about models whose weaknesses are known, answered in three ways.

    python -m benchmarks.planted --json

Queries in several phrasings ask about planted weaknesses and about abilities that were not taken away. What is true is
measured first, with `--truth` pictures for each condition of every experiment that a query leads to, and not read from
the plan of the planting. What so many pictures do not settle (a mean within 2.6 standard errors of its threshold), or
what cannot be said (what does a model that recognizes nothing lose?), is left out; so is every so manieth of the more
frequent answer, so that half of the queries are to be answered with yes. Then, with other pictures,

    ours    Snellen: looks after every few pictures, and stops when the evidence suffices
    fixed   the same experiments and claims, with as many pictures as a power analysis wants beforehand for a margin of
            --margin, at the same error rate shared over the claims (Bonferroni); looked at once
    apex    the same experiments, five at most, with 20 pictures a class, judged by point estimates (APEX, section 4)

Keys of the JSON: `queries`, `right`, `wrong`, `undecided`, `images`, `seconds` of ours, the same under `fixed` and
`apex`; `true`, how many of the queries are to be answered with yes; `unsettled` and `surplus`, how many were left out
for either reason; `each`, every query with what is true and was said.
What was measured of the truth is kept in `--folder`; a run that was stopped goes on there.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

from snellen.experiments.design import Claim, Design
from snellen.experiments.examiners.case_based import CaseExaminer
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.protocols.protocol import RoundPlace, unmeasured
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Experiment, Finding, Report, verdict_of
from snellen.experiments.resources import Examination
from snellen.experiments.verdicts import Verdict
from snellen.graphs.investigate import RECURSION_LIMIT, builder
from snellen.graphs.states import InvestigateState
from snellen.memory.samples import Sample
from snellen.profiles import Profile, load_profile
from snellen.runtime.context import Context
from snellen.runtime.resources import examining

ABOUT_ONE = {
    "rotation": ("Is {} robust to rotation?", "Does rotation hurt {}?"),
    "noise": ("Is {} robust to Gaussian noise?", "Does {} suffer from noise?"),
    "blur": ("Is {} robust to defocus blur?", "Is {} sensitive to blur?"),
    "snow": ("Is {} robust to snowy weather?", "Does snow hurt {}?"),
    "pastel": ("Is {} robust to a pastel style?", "Does {} cope with pastel style?"),
    "birds": ("Can {} recognize birds?", "How well does {} know birds?"),
    "instruments": ("Can {} recognize instruments?", "Does {} know instruments?"),
    "vehicles": ("Can {} recognize vehicles?", "How well does {} recognize vehicles?"),
    "buildings": ("Can {} recognize buildings?", "Does {} know buildings?"),
    "faces": ("How well does {} recognize faces?", "Does {} tell faces apart?"),
    "left rotation": (
        "Can {} identify left rotation in images?",
        "Does {} notice when a picture is rotated to the left?",
    ),
    "noisy pictures": ("Can {} identify Gaussian noise in images?", "Can {} tell whether a picture is noisy?"),
    "dark pictures": ("Can {} identify low brightness in images?", "Does {} notice darkness?"),
    "low contrast": ("Can {} identify low contrast in images?", "Does {} notice low contrast?"),
    "grayscale": ("Can {} identify grayscale style in images?", "Does {} notice a grayscale style?"),
    "text": ("Can {} identify text in images?", "Does {} notice text in images?"),
    "sides": ("Can {} tell left from right?", "Does {} understand spatial relations?"),
    "counting": ("Can {} count?", "How well does {} count things?"),
    "colors": ("Can {} tell colors?", "Does {} know the colors of things?"),
}
"""Queries about one model, in two phrasings that models take in turns."""
ABOUT_TWO = (
    "Is {} better than {} at recognizing birds?",
    "Which of {} and {} is better at recognizing vehicles?",
    "Is {} better at buildings than {}?",
)
SETTLED = 2.6
"""Standard errors between a mean and its threshold, from which on it is known which is larger."""
TRUTH_SEED = 7_920
"""Of the pictures of the truth, which no arm sees."""
PER_CLASS = 20
"""Pictures of each class in an experiment of APEX."""
EXPERIMENTS = 5


@dataclass(frozen=True)
class PlantedQuery:
    """A query with the models that it is about."""

    text: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class PlantedOutcome:
    """What came of a query.

    Attributes:
        says: The answer.
        images: Pictures that were made for it.
    """

    says: Verdict
    images: int


Weigh = Callable[[Claim, Sequence[float], int], Verdict]
"""Decides a claim from the values of its units, told how many claims its report has so far."""


def main() -> None:
    """Measure and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        profile = load_profile(options.profile)
        bench = PlantedBench(profile, examining(options.profile, folder), options)
        answering = [name for name, one in profile.tested.items() if getattr(one, "only", "") != "pairs"]
        report = asyncio.run(measured(bench, options.models or answering))
    print(json.dumps(report, indent=2) if options.json else _table(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="embedded", help="whose models under test are examined")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="who is asked about (default: all but judges)")
    parser.add_argument("--queries", type=int, help="only the first so many (default: all)")
    parser.add_argument("--truth", type=int, default=5_000, help="pictures a condition for the truth (%(default)s)")
    parser.add_argument("--images", type=int, default=1_000, help="the most that ours may use on a query (%(default)s)")
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--margin", type=float, default=0.1, help="what the fixed design can tell (%(default)s)")
    parser.add_argument("--power", type=float, default=0.9, help="how surely it does (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the pictures; every way has its own (%(default)s)")
    parser.add_argument("--folder", help="where pictures and trials are kept (default: a temporary one)")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def queries(models: Sequence[str], answering: Sequence[str]) -> list[PlantedQuery]:
    """Return the queries: about each model that answers questions, those that only name things, and pairs of them.

    Args:
        models: All models under test.
        answering: Those that answer questions; the others are only asked what is in a picture.
    """
    naming = ("birds", "instruments", "vehicles", "buildings", "faces")
    found = [
        PlantedQuery(phrasings[(place + turn) % 2].format(name), (name,))
        for turn, name in enumerate(models)
        for place, (what, phrasings) in enumerate(ABOUT_ONE.items())
        if name in answering or what in naming
    ]
    for place, pair in enumerate(combinations(models, 2)):
        named = pair[::-1] if place % 2 else pair
        found.append(PlantedQuery(ABOUT_TWO[place % len(ABOUT_TWO)].format(*named), named))
    return found


def balanced(settled: Sequence[tuple[PlantedQuery, Verdict]]) -> list[tuple[PlantedQuery, Verdict]]:
    """Return as many queries of either answer: of the more frequent one, evenly fewer. All, if all have the same."""
    sides = [[pair for pair in settled if pair[1] == says] for says in ("yes", "no")]
    sides = [side for side in sides if side]
    few = min(map(len, sides), default=0)
    kept = {side[place * len(side) // few][0] for side in sides for place in range(few)}
    return [pair for pair in settled if pair[0] in kept]


async def measured(bench: PlantedBench, models: Sequence[str]) -> dict[str, Any]:
    """Ask all queries about the models, in every way.

    Args:
        bench: What they are asked with.
        models: Models under test of its profile.
    """
    cards = {name: bench.examination.executor.card(name) for name in models}
    asked = queries(list(cards), [name for name, card in cards.items() if card.answers])[: bench.options.queries]
    arms: dict[str, Callable[[PlantedQuery], Any]] = {"ours": bench.ours, "fixed": bench.fixed, "apex": bench.apex}
    totals: dict[str, dict[str, float]] = {
        name: {"right": 0, "wrong": 0, "undecided": 0, "images": 0, "seconds": 0.0} for name in arms
    }
    truths = []
    for place, query in enumerate(asked, 1):
        truths.append((query, bench.truth(query)))
        print(f"truth {place} of {len(asked)}: {query.text} {truths[-1][1]}", file=sys.stderr, flush=True)
    settled = [pair for pair in truths if pair[1] != "open"]
    chosen = balanced(settled)
    each = []
    for place, (query, true) in enumerate(chosen, 1):
        row: dict[str, Any] = {"query": query.text, "true": true}
        for name, arm in arms.items():
            began = time.perf_counter()
            found = await arm(query)
            totals[name]["seconds"] += time.perf_counter() - began
            totals[name]["images"] += found.images
            totals[name][_judged(found.says, true)] += 1
            row[name] = {"says": found.says, "images": found.images}
        each.append(row)
        told = ", ".join(f"{name} {row[name]['says']} ({row[name]['images']})" for name in arms)
        print(f"{place} of {len(chosen)}: {query.text} true: {true}; {told}", file=sys.stderr, flush=True)
    rounded = {name: {key: round(value, 1) for key, value in total.items()} for name, total in totals.items()}
    yes = sum(row["true"] == "yes" for row in each)
    return {
        "queries": len(each),
        "true": yes,
        "unsettled": len(truths) - len(settled),
        "surplus": len(settled) - len(chosen),
        **rounded.pop("ours"),
        **rounded,
        "seed": bench.options.seed,
        "each": each,
    }


def _judged(says: Verdict, true: Verdict) -> str:
    if says == true:
        return "right"
    return "undecided" if says == "open" else "wrong"


class PlantedBench:
    """Answers queries in each of the ways.

    Args:
        profile: Whose models are examined.
        context: What investigations of it work with.
        options: Of the command line.
    """

    def __init__(self, profile: Profile, context: Context, options: argparse.Namespace) -> None:
        self.context, self.options = context, options
        self.examination = context.examiner()
        self.examiner = CaseExaminer(profile)

    def truth(self, query: PlantedQuery) -> Verdict:
        """Return the answer that all the pictures of the truth give; "open" where they give none."""
        return self._climbed(
            query,
            lambda claim, seen, _: beyond(claim, seen, SETTLED),
            lambda design: int(self.options.truth // len(design.arms)),
            seed=TRUTH_SEED,
        ).says

    async def ours(self, query: PlantedQuery) -> PlantedOutcome:
        """Let Snellen investigate."""
        state = InvestigateState(
            investigation=f"planted-{digest(query.text, self.options.seed)}",
            query=query.text,
            models=list(query.models),
            alpha=self.options.alpha,
            budget={"images": self.options.images},
            seed=self.options.seed,
        )
        found = await builder.compile().ainvoke(state, {"recursion_limit": RECURSION_LIMIT}, context=self.context)
        report = Report.model_validate(found["report"])
        return PlantedOutcome(verdict_of(report.answers[0]), report.images)

    async def fixed(self, query: PlantedQuery) -> PlantedOutcome:
        """Take as many pictures as a power analysis wants, and look once."""
        options, normal = self.options, NormalDist()

        def weigh(claim: Claim, seen: Sequence[float], claims: int) -> Verdict:
            return beyond(claim, seen, normal.inv_cdf(1 - options.alpha / 2 / claims))

        def rounds(design: Design) -> int:
            # Right or wrong has at most this variance at its threshold; paired answers mostly agree (0.25, as planned).
            variance = max(
                claim.threshold * (1 - claim.threshold) if claim.low == 0 else 0.25 for claim in design.claims
            )
            sure = normal.inv_cdf(1 - options.alpha / 2 / len(design.claims)) + normal.inv_cdf(options.power)
            pictures: int = math.ceil(variance * (sure / options.margin) ** 2)
            return -(-pictures // len(design.arms))

        return self._climbed(query, weigh, rounds, seed=options.seed + 1_000)

    async def apex(self, query: PlantedQuery) -> PlantedOutcome:
        """Take 20 pictures a class in each of five experiments, and believe the means."""
        return self._climbed(
            query,
            lambda claim, seen, _: "yes" if sum(seen) / len(seen) > claim.threshold else "no",
            lambda design: PER_CLASS * len(design.classes) // len(design.arms),
            seed=self.options.seed + 2_000,
        )

    def _climbed(
        self, query: PlantedQuery, weigh: Weigh, rounds: Callable[[Design], int], *, seed: int
    ) -> PlantedOutcome:
        """Go through the experiments of a query as Snellen does, with another way of sampling and deciding."""
        report = Report(query=query.text, models=list(query.models), alpha=self.options.alpha, seed=seed)
        while len(report.experiments) < EXPERIMENTS:
            design = self.examiner.next_design(report)
            if design is None:
                break
            number = len(report.experiments)
            wanted = max(rounds(design), 1)
            evaluated = self.evaluated(design, number, wanted, seed, query.models)
            claims = len(report.findings) + len(design.claims)
            findings = []
            for claim in design.claims:
                seen = evaluated.observations(claim).values
                verdict = weigh(claim, seen, claims)
                findings.append(Finding(claim=claim, n=len(seen), mean=sum(seen) / len(seen), verdict=verdict))
            done = Experiment(design=design, rounds=wanted, findings=findings)
            report = report.model_copy(update={"experiments": [*report.experiments, done]})
        says = self.examiner.standings(report)[0].says
        return PlantedOutcome(says, report.images)

    def evaluated(self, design: Design, number: int, rounds: int, seed: int, models: Sequence[str]) -> EvaluatedChoices:
        """Make the rounds of an experiment, ask the models, and return what they said."""
        name = f"planted-{digest(design.model_dump_json(include={'arms'}), seed)}"
        samples = asked_rounds(self.examination, design, RoundPlace(name, number, rounds, seed), models)
        return EvaluatedChoices.of(design, samples, self.examination.fingerprints(models), self.examination.trials)


def asked_rounds(examination: Examination, design: Design, end: RoundPlace, models: Sequence[str]) -> list[Sample]:
    """Make the first rounds of an experiment, ask the models, and return the samples.

    Whoever asks the same by the same name gets the same pictures: they are drawn once for all models.

    Args:
        examination: Where pictures and trials are made and kept.
        design: The experiment.
        end: The place of the first round that is not made.
        models: Those that are asked.
    """
    protocol, arms = PROTOCOLS[design.protocol], len(design.arms)
    stored = examination.samples.of(end.investigation, end.experiment)
    for number in range(len(stored) // arms, end.round):
        made = protocol.make(examination, design, replace(end, round=number))
        examination.samples.add(made)
        stored += made
    samples = stored[: end.round * arms]
    for model in models:
        for shard in unmeasured(protocol, examination, design, samples, model):
            examination.runner.trials.add(examination.runner.measured(model, shard))
    return samples


def beyond(claim: Claim, seen: Sequence[float], errors: float) -> Verdict:
    """Decide a claim from the mean of its values, "open" within so many standard errors of its threshold."""
    mean = sum(seen) / len(seen)
    error = math.sqrt(max(sum((one - mean) ** 2 for one in seen) / max(len(seen) - 1, 1), 1e-9) / len(seen))
    far = (mean - claim.threshold) / error
    if abs(far) < errors:
        return "open"
    return "yes" if far > 0 else "no"


def digest(*parts: object) -> str:
    """Return a short name of what depends on these alone."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:12]


def _table(report: dict[str, Any]) -> str:
    lines = ["         right  wrong  undecided  images  seconds"]
    for name, row in (("ours", report), ("fixed", report["fixed"]), ("apex", report["apex"])):
        figures = (row[key] for key in ("right", "wrong", "undecided", "images", "seconds"))
        lines.append(f"{name:8}" + "".join(f"{value:>8g}" for value in figures))
    return "\n".join([*lines, f"{report['queries']} queries, {report['true']} of them true"])


if __name__ == "__main__":
    main()
