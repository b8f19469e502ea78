"""Fault localisation without a language model: the smallest change that explains the feedback, weighed by the evidence.

Every call that perceives is wrong at some odds before anything is known of it; its other possible outputs share them,
the near ones most. Each statement of the evidence is a claim that an output meets or not: it raises the odds of outputs
that meet it against those that do not, the step's own one included. Each output is tried by running the program again.
What weigh those with which the answer agrees, by call, is how sure the explanation is; corrections of the program
compete with them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from snellen.reasoning.case_based.repairs import ProgramEdit, alternatives, difference, edits, hints_of
from snellen.reasoning.critique import MAX_FAULTS, MAX_REASON, Critique, FailedCase, Fault, Replay, StepCheck
from snellen.reasoning.output_constraints import met
from snellen.sentences import capitalized
from snellen.values import Picture, Region, Value, as_text

if TYPE_CHECKING:
    from snellen.reasoning.critique import ReplayOutcome, StepEvidence
    from snellen.tools.program import StepRecord

PRIOR: Final = {"LOC": -2.0, "FACEDET": -2.0, "SEG": -2.0, "VQA": -1.7, "SELECT": -2.0, "CLASSIFY": -2.0, "LIST": -4.0}
"""Log-odds that a call of a tool was wrong, before anything else is known."""
TRUST: Final = 4.0
"""Log-odds that evidence of full support weighs: of outputs that meet its claim against those that do not."""
NEARNESS: Final = 1.0
"""Log-odds that an output loses with each thing that differs."""
MOST: Final = 8.0
"""Log-odds that all evidence about an output weighs at most: witnesses share their errors."""
COMPOSED: Final = 3.0
"""Log-odds of a program that the reasoner would have written otherwise, and that then is right."""
EDITED: Final = -5.0
"""The same for a program that the reasoner would have written as it is."""
UNEXPLAINED: Final = -5.0
"""Log-odds that it was something else altogether."""
TRIED: Final = -3.0
"""What a call's odds lose when it was already corrected without success."""
MAX_PAIRED: Final = 3
"""Outputs of each call that are tried together with those of another one."""
MAX_PAIRED_CALLS: Final = 6
"""Calls that are tried together with each other."""
IMAGINED: Final = 0.01
"""Up to this score a region was made up, to see what would follow from it."""
SPOKEN_AGAINST: Final = 0.4
"""Evidence against a step from which on it is called wrong though no change explains it; one answer is not enough."""
FOUND_FROM: Final = 0.5
"""Share from which on a step that is checked is called wrong."""


@dataclass(frozen=True)
class SuspectedCall:
    """One call of a tool that perceives, at one or more addresses of the run."""

    record: StepRecord
    addresses: tuple[str, ...]
    evidence: tuple[StepEvidence, ...]
    log_odds: float
    """Before the evidence."""


@dataclass(frozen=True)
class Repair:
    """Outputs (or a program) with which the answer agrees."""

    weight: float
    calls: tuple[SuspectedCall, ...] = ()
    outputs: tuple[Any, ...] = ()
    edit: ProgramEdit | None = None


@dataclass
class Weighed:
    """Explanation of the feedback, by the calls or the edit concerned."""

    repairs: list[Repair] = field(default_factory=list)

    @cached_property
    def total(self) -> float:
        """All weight, with that of what nobody thought of."""
        return sum(repair.weight for repair in self.repairs) + math.exp(UNEXPLAINED)

    def groups(self) -> list[tuple[float, list[Repair]]]:
        """Return the repairs of the same calls or statements together, the heaviest first, with their share."""
        grouped: dict[tuple[str, ...], list[Repair]] = {}
        for repair in self.repairs:
            grouped.setdefault(_key(repair), []).append(repair)
        shares = [(sum(one.weight for one in each) / self.total, each) for each in grouped.values()]
        return sorted(shares, key=lambda pair: -pair[0])


def _key(repair: Repair) -> tuple[str, ...]:
    if repair.edit is not None:
        return ("program", *repair.edit.addresses)
    return tuple(call.addresses[0] for call in repair.calls)


async def explain(case: FailedCase, replay: Replay, *, composed: str | None = None) -> Critique:
    """Find what made the answer wrong.

    Args:
        case: The failed task.
        replay: Runs its program again.
        composed: The program that the reasoner would write for the instruction.
    """
    weighed = await _weigh(case, replay, composed)
    groups = weighed.groups()
    if not groups:
        return Critique(_by_evidence_alone(case), 0.0, "global")
    share, best = groups[0]
    repair = max(best, key=lambda one: one.weight)
    faults = _faults(repair, case)
    return Critique(faults, min(share, 1.0), "global", repair.edit.program if repair.edit else "")


async def check(
    case: FailedCase, address: str, checked: Sequence[StepCheck], replay: Replay, *, composed: str | None = None
) -> StepCheck:
    """Judge one step: its share of what explains the feedback, the steps that were found right left out.

    Where hardly anything explains it, the step that the evidence speaks against most is at fault.
    """
    right = {one.address for one in checked if one.right}
    weighed = await _weigh(case, replay, composed, without=right)
    mine = [(share, each) for share, each in weighed.groups() if _concerns(each, address)]
    share = sum(part for part, _ in mine)
    if not mine or share < FOUND_FROM:
        doubted = _by_evidence_alone(case) if sum(part for part, _ in weighed.groups()) < FOUND_FROM else ()
        if any(fault.address == address for fault in doubted):
            return StepCheck(address, right=False, fault=doubted[0], certainty=0.0)
        return StepCheck(address, right=True, certainty=1 - share)
    repair = max((one for _, each in mine for one in each), key=lambda one: one.weight)
    fault = next((one for one in _faults(repair, case) if one.address == address), _faults(repair, case)[0])
    return StepCheck(address, right=False, fault=fault, certainty=min(share, 1.0))


async def right_output(case: FailedCase, address: str, replay: Replay) -> str:
    """Return the output of a VQA step with which the answer agrees, the best supported of several."""
    base = await replay({})
    call = next((one for one in _calls(case, base.steps) if address in one.addresses), None)
    for output, _ in _ranked(call, case) if call else ():
        outcome = await replay(dict.fromkeys(call.addresses if call else (), output))
        if outcome.agrees:
            return as_text(output)
    return case.feedback.expected or ""


def _concerns(repairs: Sequence[Repair], address: str) -> bool:
    return any(address in call.addresses for repair in repairs for call in repair.calls) or any(
        repair.edit is not None and address in repair.edit.addresses for repair in repairs
    )


async def _weigh(case: FailedCase, replay: Replay, composed: str | None, *, without: Iterable[str] = ()) -> Weighed:
    base = await replay({})
    left_out = set(without)
    calls = [one for one in _calls(case, base.steps) if not left_out & set(one.addresses)]
    weighed = Weighed()
    weighed.repairs += await _by_program(case, replay, composed)
    singles: dict[str, list[tuple[Any, float]]] = {}
    closer: list[Repair] = []
    for call in calls:
        ranked = _ranked(call, case)
        singles[call.addresses[0]] = ranked
        found, approaches = await _by_outputs(call, ranked, replay, beyond=base.closeness)
        weighed.repairs += found
        closer += approaches
    tried = _tried(case)
    if all(tried.issuperset(_addresses(repair)) for repair in weighed.repairs):
        # Nothing explains the feedback, or only what was corrected already, after which it was still wrong.
        pairs = await _by_pairs(calls, singles, replay)
        weighed.repairs = [one for one in pairs if not tried.issuperset(_addresses(one))] or weighed.repairs
    if not weighed.repairs:
        weighed.repairs += await _by_edits(case, replay)
    # Of an expected list more may be wrong than one change explains: then what says more of it than before.
    weighed.repairs = weighed.repairs or closer
    return weighed


def _tried(case: FailedCase) -> set[str]:
    """Return the addresses of the calls that were corrected before, after which the answer was still wrong."""
    return {fault.address for critique in case.earlier for fault in critique.faults}


def _addresses(repair: Repair) -> set[str]:
    """Return one address for each call of a repair; a program's statements count as not tried."""
    return {call.addresses[0] for call in repair.calls} if repair.edit is None else {"program"}


def _calls(case: FailedCase, records: Sequence[StepRecord]) -> list[SuspectedCall]:
    """Return the calls that perceive; steps that call the same tool with the same arguments are one."""
    grouped: dict[str, list[StepRecord]] = {}
    for record in records:
        if record.tool in PRIOR and not record.error:
            grouped.setdefault(repr((record.tool, record.arguments)), []).append(record)
    return [_suspected(each, case) for each in grouped.values()]


def _suspected(records: Sequence[StepRecord], case: FailedCase) -> SuspectedCall:
    first = records[0]
    step = case.step(first.address)
    evidence = step.evidence if step else ()
    log_odds = PRIOR[first.tool]
    addresses = tuple(record.address for record in records)
    return SuspectedCall(first, addresses, evidence, log_odds + (TRIED if _tried(case) & set(addresses) else 0.0))


def _ranked(call: SuspectedCall, case: FailedCase) -> list[tuple[Any, float]]:
    """Return the other outputs of a call with their odds against its own one, the likely ones first."""
    suggested = [(one.suggests, -one.support) for one in call.evidence if one.suggests is not None and one.support < 0]
    hints = hints_of(case.program, case.feedback.expected or "")
    listed = alternatives(call.record, suggested, hints, expected=_names(case.feedback.expected or ""))
    total = sum(math.exp(-NEARNESS * one.distance) for one in listed) or 1.0
    own = call.record.value
    ranked = [
        (one.output, math.exp(call.log_odds - NEARNESS * one.distance + _votes(call, one.output, own)) / total)
        for one in listed
    ]
    return sorted(ranked, key=lambda pair: -pair[1])


def _names(expected: str) -> list[str]:
    return [" ".join(part.split()).casefold() for part in expected.split(",") if part.strip()]


def _votes(call: SuspectedCall, output: Any, own: Any) -> float:  # noqa: ANN401 - any values
    """Add up the log-odds that evidence gives an output against the step's own one."""
    labels = call.record.tool == "CLASSIFY"
    changes = (
        (abs(one.support), met(one, output, own, labels=labels) - met(one, own, own, labels=labels))
        for one in call.evidence
    )
    return max(-MOST, min(MOST, TRUST * sum(weight * change for weight, change in changes)))


async def _by_outputs(
    call: SuspectedCall, ranked: Sequence[tuple[Any, float]], replay: Replay, *, beyond: float
) -> tuple[list[Repair], list[Repair]]:
    """Return what explains the feedback, and what comes closer to it than the wrong answer did, weighed by how much."""
    repairs, closer = [], []
    for output, odds in ranked:
        outcome = await replay(dict.fromkeys(call.addresses, output))
        if outcome.agrees:
            repairs.append(Repair(odds, (call,), (output,)))
        elif outcome.closeness > beyond:
            closer.append(Repair(odds * (outcome.closeness - beyond), (call,), (output,)))
    return repairs, closer


async def _by_pairs(
    calls: Sequence[SuspectedCall], ranked: Mapping[str, Sequence[tuple[Any, float]]], replay: Replay
) -> list[Repair]:
    """Try two calls at once, where none alone explains the feedback."""
    repairs = []
    for one, other in itertools.combinations(_most_suspected(calls, ranked), 2):
        first, second = (ranked[call.addresses[0]][:MAX_PAIRED] for call in (one, other))
        for (a, p), (b, q) in itertools.product(first, second):
            outcome = await replay({**dict.fromkeys(one.addresses, a), **dict.fromkeys(other.addresses, b)})
            if outcome.agrees:
                repairs.append(Repair(p * q, (one, other), (a, b)))
    return repairs


def _most_suspected(
    calls: Sequence[SuspectedCall], ranked: Mapping[str, Sequence[tuple[Any, float]]]
) -> list[SuspectedCall]:
    def odds(call: SuspectedCall) -> float:
        return max((weight for _, weight in ranked[call.addresses[0]]), default=0.0)

    return sorted(calls, key=lambda call: -odds(call))[:MAX_PAIRED_CALLS]


async def _by_program(case: FailedCase, replay: Replay, composed: str | None) -> list[Repair]:
    """Compare the program with the one that the reasoner would write."""
    edit = difference(case.program, composed) if composed else None
    if edit is None:
        return []
    outcome = await replay({}, edit.program)
    return [Repair(math.exp(COMPOSED), edit=edit)] if outcome.agrees else []


async def _by_edits(case: FailedCase, replay: Replay) -> list[Repair]:
    """Try small edits of the program, where nothing that was seen explains the feedback."""
    tried = edits(case.program)
    repairs = []
    for edit in tried:
        outcome: ReplayOutcome = await replay({}, edit.program)
        if outcome.agrees:
            repairs.append(Repair(math.exp(EDITED) / len(tried), edit=edit))
    return repairs


# --- saying it -----------------------------------------------------------------------------------------------


def _faults(repair: Repair, case: FailedCase) -> tuple[Fault, ...]:
    if repair.edit is not None:
        return _faults_of_program(repair.edit, case)
    pairs = zip(repair.calls, repair.outputs, strict=True)
    return tuple(_fault_of_tool(call, output) for call, output in pairs)[:MAX_FAULTS]


def _faults_of_program(edit: ProgramEdit, case: FailedCase) -> tuple[Fault, ...]:
    reason = f"The program should say {edit.said}: then the answer is right."[:MAX_REASON]
    found = []
    for address in edit.addresses[:MAX_FAULTS]:
        step = case.step(address)
        found.append(Fault("program", address, step.tool if step else "", "", reason))
    return tuple(found)


def _fault_of_tool(call: SuspectedCall, output: Any) -> Fault:  # noqa: ANN401 - any value
    record = call.record
    said = _as_imagined(output)
    witness = min((one for one in call.evidence if one.support < 0), key=lambda one: one.support, default=None)
    heard = f" {capitalized(witness.says)}: {witness.value}." if witness else ""
    reason = f"{record.tool} gave {in_words(record.value)}; with {said} the answer would be right.{heard}"
    return Fault("tool", record.address, record.tool, concept_of(record, output), reason[:MAX_REASON], said)


def _as_imagined(output: Any) -> str:  # noqa: ANN401 - any value
    """Write an output that would have been right; where an imagined region is, nobody knows."""
    regions = output if isinstance(output, list) else []
    imagined = [one for one in regions if isinstance(one, Region) and one.score <= IMAGINED]
    if not imagined:
        return in_words(output)
    found = [in_words(one) for one in regions if one not in imagined]
    label = imagined[0].label or "region"
    more = f"{'another' if found and len(imagined) == 1 else len(imagined)} {label} somewhere"
    return ", ".join([*found, more])


def concept_of(record: StepRecord, output: Any = None) -> str:  # noqa: ANN401 - any value
    """Return the concept that a call was to see: what it looked for, or what a region should have been called."""
    if record.tool in {"LOC", "SELECT"}:
        return str(record.arguments.get("object" if record.tool == "LOC" else "query", ""))
    if record.tool == "FACEDET":
        return "face"
    if record.tool != "CLASSIFY" or not isinstance(output, list):
        return ""
    before = {(one.box, one.label) for one in record.value if isinstance(one, Region)}
    after = {(one.box, one.label) for one in output if isinstance(one, Region)}
    changed = [label for _, label in [*sorted(after - before), *sorted(before - after)] if label]
    return changed[0] if changed else ""


def in_words(value: Value) -> str:
    """Write a value for a reader who cannot see: regions as label, box and score; their number first."""
    if isinstance(value, list | tuple) and all(isinstance(one, Region) for one in value):
        shown = ", ".join(in_words(one) for one in value[:12])
        more = f" and {len(value) - 12} more" if len(value) > 12 else ""  # noqa: PLR2004 - as many as are shown
        number = f"{len(value)} region{'' if len(value) == 1 else 's'}"
        return f"{number}: {shown}{more}" if value else "nothing"
    if isinstance(value, Region):
        return f"{value.label or 'region'} {list(value.box)} ({value.score:.2f})"
    if isinstance(value, Picture):
        return f"a picture of {value.width}x{value.height}"
    return as_text(value) or "nothing"


def _by_evidence_alone(case: FailedCase) -> tuple[Fault, ...]:
    """Name the step that the evidence speaks against most, where no change explains the feedback."""
    if not case.feedback:
        return ()
    tried = _tried(case)
    doubted = [
        (min(one.support for one in step.evidence), step)
        for step in case.steps
        if step.evidence and step.address not in tried
    ]
    support, step = min(doubted, key=lambda pair: pair[0], default=(0.0, None))
    if step is None or -support < SPOKEN_AGAINST:
        return ()
    concept = step.arguments.get("object" if step.tool == "LOC" else "query", "") if step.tool != "VQA" else ""
    strongest = min(step.evidence, key=lambda one: one.support)
    reason = f"No single change explains the feedback; {strongest.says} speaks against this step: {strongest.value}."
    return (Fault("tool", step.address, step.tool, concept, reason[:MAX_REASON]),)
