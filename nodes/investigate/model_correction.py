"""Nodes of model correction: models learn what an investigation found that they cannot do, and are measured again.

teach → design → … → conclude → compare. What a model learned is an adapter of its own; the checkpoint stays as it is,
and both are measured side by side on fresh pictures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from langgraph.types import Command

from snellen.errors import SnellenError
from snellen.experiments.drawn_answers import arm_drawn, asked_about
from snellen.experiments.follow_up import (
    AccuracyChange,
    ModelCorrection,
    follow_up,
    measured,
    opened,
    plain,
    weaknesses,
)
from snellen.experiments.protocols.multiple_choice import EvaluatedChoices
from snellen.experiments.rounds import tried
from snellen.models.under_test import AdapterExample, AdapterExamples, LocalModel, Question, adapt
from snellen.runtime.approval import approval_request, ask_for_approval
from snellen.runtime.investigation_state import report_of, sample_set_of
from snellen.runtime.node_execution import interruptible
from snellen.runtime.picture_allotment import allot_after
from snellen.runtime.resources import context_of
from snellen.scoring import Observations, confidence_interval

if TYPE_CHECKING:
    import threading

    from langgraph.runtime import Runtime

    from snellen.experiments.design import Design
    from snellen.experiments.report import Experiment, Report
    from snellen.experiments.resources import Examination, Teaching
    from snellen.graphs.states import InvestigateState, Json
    from snellen.memory.adapters import Adapter
    from snellen.runtime.settings import Given

ACTION: Final = "teach"
"""The name of the requested action."""

Tell = Callable[["Json"], None]


def has_weaknesses(state: InvestigateState) -> bool:
    """Return whether the report decides a claim against a model, so that there is something to teach it."""
    return bool(weaknesses(report_of(state)))


async def teach(state: InvestigateState, runtime: Runtime[Given]) -> Command[Literal["design", "__end__"]]:
    """Have each model learn what it was found to be weak in; measure those that did."""
    context = await context_of(runtime, state)
    before, examination = report_of(state), context.examiner()
    pending = [
        ModelCorrection(
            model=model,
            experiments=sorted(by_experiment),
            weaknesses=[one for each in by_experiment.values() for one in each],
        )
        for model, by_experiment in weaknesses(before).items()
    ]
    proposals = [
        (
            f"Teach {one.model} what it is weak in: {'; '.join(one.weaknesses)}",
            {"model": one.model, "weaknesses": one.weaknesses},
        )
        for one in pending
    ]
    rejected = ask_for_approval(approval_request(ACTION, proposals)) if state.approve else [None for _ in pending]
    battery = await asyncio.to_thread(_battery, before, examination)
    corrections = []
    for correction, rejection in zip(pending, rejected, strict=True):
        if rejection is not None:
            corrections.append(correction.model_copy(update={"trouble": rejection}))
            continue
        work = partial(_corrected, correction, before, state.investigation, examination, battery)
        corrections.append(await interruptible(work, "investigating", runtime))
    written: Json = {"corrections": [one.model_dump(mode="json") for one in corrections]}
    if not any(one.called for one in corrections):
        return Command(goto="__end__", update=written)
    plan = follow_up(before, corrections, battery)
    seed = await asyncio.to_thread(allot_after, state, before, measured(corrections), examination)
    after = opened(before, corrections, len(plan), seed=seed)
    return Command(
        goto="design",
        update=written
        | {
            "plan": [one.model_dump(mode="json") for one in plan],
            "after": after.model_dump(mode="json"),
            "design": None,
            "refusals": [],
            "designs": 0,
        },
    )


async def compare(state: InvestigateState, runtime: Runtime[Given]) -> Json:
    """Say what each corrected model gained, and what it lost, over the experiments of the follow-up."""
    context = await context_of(runtime, state)
    report, examination = report_of(state), context.examiner()
    corrections = [ModelCorrection.model_validate(one) for one in state.corrections]
    evaluated = [
        await asyncio.to_thread(_evaluated, sample_set_of(state), number, report, examination)
        for number in range(len(report.experiments))
    ]
    compared = [_compared(one, report.experiments, evaluated, report.alpha) for one in corrections]
    return {"corrections": [one.model_dump(mode="json") for one in compared]}


def _battery(before: Report, examination: Examination) -> list[Design]:
    """Return the experiments of the battery that this profile can make pictures for, and that nobody was weak in."""
    weak = {number for numbers in weaknesses(before).values() for number in numbers}
    known = [(before.experiments[number].design.question, before.experiments[number].design.choices) for number in weak]
    designs = []
    for design in _teaching(examination).battery():
        if (design.question, design.choices) in known:
            continue
        try:
            tried(design, before, examination)
        except SnellenError:
            continue
        designs.append(design)
    return designs


def _teaching(examination: Examination) -> Teaching:
    if examination.teaching is None:
        msg = "This run has nothing to correct models with: begin it as an investigation."
        raise SnellenError(msg)
    return examination.teaching


def _corrected(
    correction: ModelCorrection,
    before: Report,
    investigation: str,
    examination: Examination,
    battery: Sequence[Design],
    tell: Tell,
    stop: threading.Event,
) -> ModelCorrection:
    """Teach one model, or say why it was not."""
    teaching = _teaching(examination)
    try:
        fingerprint = teaching.fingerprint(correction.model)
        made = _made_before(teaching, investigation, fingerprint)
        if made is None:
            model = teaching.read(correction.model)
            if not isinstance(model, LocalModel):
                msg = "Only checkpoints with a causal decoder learn here, by LoRA."
                return correction.model_copy(update={"trouble": msg})
            lessons = _lessons(correction, before, examination, battery, tell)
            draft = teaching.adapters.draft(investigation, fingerprint)
            status = {"phase": "teach", "model": correction.model}
            outcome = adapt(
                model, lessons, draft, teaching.settings,
                progress=lambda step, of: tell({**status, "done": step, "of": of}), should_stop=stop.is_set,
            )  # fmt: skip
            if outcome is None:  # the node was cancelled: nobody reads what it returns
                return correction
            proof: dict[str, Any] = asdict(outcome) | {"taught": len(lessons.wanted)}
            if outcome.trouble:
                teaching.adapters.discard(draft)
                return _with_proof(correction, proof, trouble=outcome.trouble)
            made = teaching.adapters.keep(
                draft, model=correction.model, fingerprint=fingerprint, about="; ".join(correction.weaknesses),
                origin=investigation, proof=proof,
            )  # fmt: skip
    except SnellenError as error:
        return correction.model_copy(update={"trouble": str(error)})
    return _with_proof(correction, made.proof, called=made.name)


def _made_before(teaching: Teaching, investigation: str, fingerprint: str) -> Adapter | None:
    """Return the adapter that was finished before this run was interrupted."""
    return next(
        (one for one in teaching.adapters if (one.origin, one.fingerprint) == (investigation, fingerprint)), None
    )


def _with_proof(correction: ModelCorrection, proof: dict[str, Any], **update: str) -> ModelCorrection:
    figures = {"taught": proof["taught"], "steps": proof["steps"], "seconds": proof["seconds"]}
    shares = (proof["wanted_before"], proof["wanted"])
    return correction.model_copy(update={**figures, "held_out": shares, **update})


def _lessons(
    correction: ModelCorrection, before: Report, examination: Examination, battery: Sequence[Design], tell: Tell
) -> AdapterExamples:
    """Make pictures to learn from, and others to prove it on: none of them is measured with."""
    settings = _teaching(examination).settings
    weak = [before.experiments[number].design for number in correction.experiments]
    # What was only hard because of how pictures were changed, it shall still do as they were.
    others = [*(plain(design) for design in weak if design.paired), *battery]

    def made(kind: str, designs: Sequence[Design], count: int) -> list[AdapterExample]:
        examples = []
        for place, design in enumerate(designs):
            tell({"phase": "lessons", "model": correction.model, "done": place, "of": len(designs)})
            examples += _pictures(design, f"{before.seed}/{kind}/{place}", -(-count // len(designs)), examination)
        return examples

    return AdapterExamples(
        wanted=made("learn", weak, settings.lessons * len(weak)),
        others=made("keep", others, settings.others),
        wanted_held_out=made("prove", weak, settings.held_out),
        others_held_out=made("prove others", others, settings.held_out),
    )


def _pictures(design: Design, seed: str, count: int, examination: Examination) -> list[AdapterExample]:
    """Make so many pictures of the arms in turns, with what is asked about them."""
    examples = []
    for number in range(count):
        arm, each = design.arms[number % len(design.arms)], f"{seed}/{number}"
        chosen = arm_drawn(design, arm, each)
        drawn = examination.draw(chosen.arm, each, named=design.about_things)
        put = asked_about(design, arm, drawn.label, each, names=chosen.names)
        examples.append(AdapterExample(Question((drawn.picture,), put.question, put.choices), put.answer))
    return examples


def _evaluated(name: str, number: int, report: Report, examination: Examination) -> EvaluatedChoices:
    samples = examination.samples.of(name, number)
    return EvaluatedChoices.of(report.experiments[number].design, samples, report.fingerprints, examination.trials)


def _compared(
    correction: ModelCorrection, experiments: Sequence[Experiment], evaluated: Sequence[EvaluatedChoices], alpha: float
) -> ModelCorrection:
    if not correction.called:
        return correction
    gains: list[Observations] = []
    elsewhere: list[Observations] = []
    for experiment, choices in zip(experiments, evaluated, strict=True):
        for claim in (one.claim for one in experiment.findings):
            if claim.kind != "better" or correction.called not in {claim.model, claim.other}:
                continue
            seen = choices.observations(claim)
            if claim.of_gain:
                gains.append(seen)
            else:
                elsewhere.append(-seen)
    return correction.model_copy(update={"gain": _change(gains, alpha), "elsewhere": _change(elsewhere, alpha)})


def _change(experiments: Sequence[Observations], alpha: float) -> AccuracyChange | None:
    """Return the mean change over experiments alike.

    How many pictures an experiment took depends on what it showed, so pictures of all experiments together would say
    what the longest ones do. Of each as many count as of the shortest, and one picture of each makes a unit.
    """
    rows = Observations.of_parts(
        (turn, value) for each in experiments for turn, value in enumerate(each.values[: min(map(len, experiments))])
    )
    if not rows:
        return None
    span = confidence_interval(rows, alpha=alpha, low=-1.0)
    return AccuracyChange(
        n=len(rows),
        mean=rows.mean,
        interval=(span.low, span.high),
        error_rate=alpha,
        experiments=len(experiments),
    )
