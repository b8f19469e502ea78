"""Three ways of answering a query: Snellen, a design of fixed size, and APEX."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING, Any, Final

from benchmarks.outside.queries import NEITHER, OutsideQuery
from benchmarks.outside.readout import said_of
from benchmarks.outside.statements import MARGIN
from benchmarks.planted import asked_rounds, beyond, digest
from snellen.errors import BadInput, SnellenError
from snellen.experiments.design import Design
from snellen.experiments.examiners.llm import ChatExaminer
from snellen.experiments.protocols.protocol import Evaluated, RoundPlace
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.experiments.report import Answer, Experiment, Finding, Report
from snellen.experiments.understanding import protocol_of
from snellen.graphs.investigate import RECURSION_LIMIT, builder
from snellen.graphs.states import InvestigateState
from snellen.profiles import Profile
from snellen.reasoning.llm.structured_model import Reply
from snellen.reasoning.reasoner import ReasonerUsage
from snellen.runtime.context import Context

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from pydantic import BaseModel

DESIGNS: Final = Path(__file__).with_name("recorded_designs.jsonl")
PER_CLASS: Final = 20
"""Pictures of each class in an experiment of APEX (section 4)."""
EXPERIMENTS: Final = 5
REFUSED: Final = "refused"
_VARIANCE: Final = 0.25
"""Planned for paired answers, which mostly agree."""


@dataclass(frozen=True)
class WayOutcome:
    """What came of a query in one way.

    Attributes:
        says: The answer: yes, no, a model's name, "undecided", or "refused".
        images: Pictures that were made for it.
        note: Why it was refused.
    """

    says: str
    images: int
    note: str = ""


class RecordedDesigns:
    """A chat model that was asked for one design after the other, and replied so.

    Args:
        replies: What it replied, in order.
    """

    def __init__(self, replies: Sequence[Mapping[str, Any]]) -> None:
        self.usage = ReasonerUsage()
        self._left = list(replies)

    async def reply(self, messages: list[BaseMessage], schema: type[BaseModel]) -> Reply:  # noqa: ARG002 - it is known
        """Return the next design."""
        return Reply(text=json.dumps(self._left.pop(0) if self._left else {"experiment": None}))


def recorded_designs(file: Path = DESIGNS) -> dict[str, list[dict[str, Any]]]:
    """Read what was replied, by topic: a condition, or "under/" and a change."""
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {row["topic"]: row["replies"] for row in rows}


def topic_of(query: OutsideQuery) -> str:
    """Return the topic of the designs for a query."""
    statement = query.statement
    return f"under/{statement.of}" if statement.kind in {"robust", "loses", "tougher"} else statement.of


class OutsideBench:
    """Answers queries in each of the ways.

    Args:
        profile: Whose models are examined.
        context: What investigations of it work with.
        options: Of the command line: `alpha`, `images`, `margin`, `power`, `seed`.
    """

    def __init__(self, profile: Profile, context: Context, options: argparse.Namespace) -> None:
        self.profile, self.context, self.options = profile, context, options
        self.examination = context.examiner()
        self._designs = recorded_designs()

    async def ours(self, query: OutsideQuery) -> WayOutcome:
        """Let Snellen investigate; what it refuses is told as refused."""
        try:
            state = InvestigateState(
                investigation=f"outside-{digest(query.text, self.options.seed)}",
                query=query.text,
                models=list(query.models),
                alpha=self.options.alpha,
                budget={"images": self.options.images},
                seed=self.options.seed,
                protocol=protocol_of(query.text, query.models, self.profile),
            )
            found = await builder.compile().ainvoke(state, {"recursion_limit": RECURSION_LIMIT}, context=self.context)
        except BadInput as error:
            return WayOutcome(REFUSED, 0, str(error))
        report = Report.model_validate(found["report"])
        return WayOutcome(said_of(report.answers, query), report.images)

    async def fixed(self, query: OutsideQuery) -> WayOutcome:
        """Take as many pictures as a power analysis wants for the experiments that Snellen plans, and look once."""
        try:
            report, answers = await self._planned(query)
        except BadInput as error:
            return WayOutcome(REFUSED, 0, str(error))
        return WayOutcome(said_of(answers, query), report.images)

    async def _planned(self, query: OutsideQuery) -> tuple[Report, Sequence[Answer]]:
        options, normal = self.options, NormalDist()
        protocol = protocol_of(query.text, query.models, self.profile)
        investigator = self.examination.investigators.get(protocol, self.examination.investigator)
        opening = await investigator.open_report(query.text, query.models)
        seed = options.seed + 1_000
        report = Report(
            query=query.text, understood=opening.understood, models=opening.models, alpha=options.alpha, seed=seed
        )
        while len(report.experiments) < EXPERIMENTS:
            design = await investigator.design_experiment(report, [])
            if design is None:
                break
            claims = len(report.findings) + len(design.claims)
            errors = normal.inv_cdf(1 - options.alpha / 2 / claims)
            rounds = self._rounds(design)
            evaluated = self._evaluated(design, len(report.experiments), rounds, seed, report.models)
            findings = []
            for claim in design.claims:
                seen = evaluated.observations(claim).values
                verdict = beyond(claim, seen, errors)
                findings.append(Finding(claim=claim, n=len(seen), mean=fmean(seen), verdict=verdict))
            done = Experiment(design=design, rounds=rounds, findings=findings)
            report = report.model_copy(update={"experiments": [*report.experiments, done]})
        return report, (await investigator.conclude(report)).answers

    def _rounds(self, design: Design) -> int:
        """Return how many rounds tell a mean from its threshold that is `margin` away."""
        options, normal = self.options, NormalDist()
        # Right or wrong has at most this variance at its threshold.
        variance = max(
            claim.threshold * (1 - claim.threshold) if claim.low == 0 else _VARIANCE for claim in design.claims
        )
        sure = normal.inv_cdf(1 - options.alpha / 2 / len(design.claims)) + normal.inv_cdf(options.power)
        units = math.ceil(variance * (sure / options.margin) ** 2)
        return -(-units // design.units)

    async def apex(self, query: OutsideQuery) -> WayOutcome:
        """Take 20 pictures a class in each of five experiments of a language model, and believe the means."""
        replies = self._designs.get(topic_of(query), [])[:EXPERIMENTS]
        if not replies:
            return WayOutcome(NEITHER, 0, "its protocol asks for a choice only")
        examiner = ChatExaminer(RecordedDesigns(replies))  # type: ignore[arg-type]
        seed = self.options.seed + 2_000
        report = Report(query=query.text, models=list(query.models), alpha=self.options.alpha, seed=seed)
        right: dict[str, list[float]] = {name: [] for name in query.models}
        good: list[float] = []
        lost: dict[str, list[float]] = {name: [] for name in query.models}
        images = 0
        for number in range(len(replies)):
            design = await examiner.design_experiment(report, [])
            if design is None:
                break
            rounds = -(-PER_CLASS * len(design.classes) // len(design.arms))
            try:
                evaluated = self._evaluated(design, number, rounds, seed, query.models)
            except SnellenError as error:
                return WayOutcome(NEITHER, images, str(error))
            images += rounds * len(design.arms)
            for claim in design.claims:
                mean = fmean(evaluated.observations(claim).values)
                if claim.kind == "ability":
                    right[claim.model].append(mean)
                    good.append(claim.threshold)
                elif claim.kind == "drop":
                    lost[claim.model].append(mean)
        return WayOutcome(query.answer(holds=_believed(query, right, lost, good)), images)

    def _evaluated(self, design: Design, number: int, rounds: int, seed: int, models: Sequence[str]) -> Evaluated:
        """Make the rounds of an experiment, ask the models, and return what they said."""
        name = f"outside-{digest(design.model_dump_json(include={'arms', 'pools'}), seed)}"
        samples = asked_rounds(self.examination, design, RoundPlace(name, number, rounds, seed), models)
        fingerprints = self.examination.fingerprints(models)
        return PROTOCOLS[design.protocol].evaluated(self.examination, design, samples, fingerprints)


def _believed(
    query: OutsideQuery,
    right: Mapping[str, Sequence[float]],
    lost: Mapping[str, Sequence[float]],
    good: Sequence[float],
) -> bool | None:
    """Return what point estimates say of a query's statement: means over experiments alike."""
    statement, (first, *others) = query.statement, query.models
    kind = statement.kind
    if kind in {"robust", "loses", "tougher"}:
        means = {name: fmean(values) for name, values in lost.items() if values}
        if kind == "tougher":
            return all(means[first] < means[other] for other in others)
        return means[first] > statement.bar if kind == "loses" else means[first] <= MARGIN
    means = {name: fmean(values) for name, values in right.items() if values}
    if kind == "good":
        return means[first] > fmean(good)
    if kind == "right":
        return means[first] >= statement.bar
    if kind == "worst":
        return all(means[first] < means[other] for other in others)
    return all(means[first] - means[other] > statement.bar for other in others)
