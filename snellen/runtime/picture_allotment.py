"""Allotment of pictures to questions, and the notes about it in reports (`snellen.memory.picture_ledger`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from snellen.memory.picture_ledger import Allotment, LedgerQuestion

if TYPE_CHECKING:
    from snellen.experiments.design import Design
    from snellen.experiments.report import Report
    from snellen.experiments.resources import Examination
    from snellen.graphs.states import InvestigateState

WAY: Final = "~"
"""Between an investigation's name and the number of another way that it went; no thread's name has one."""
_NAMED: Final = 3
"""Earlier investigations that a note names."""
_DECIDING: Final = {"protocol", "question", "arms", "unknown", "paired"}
"""Fields of a design that decide what is asked about which pictures."""
_DECIDING_IF_SET: Final = {"kinds", "pools", "known", "against"}
"""Further such fields, which do not count where they are empty: designs of earlier homes keep their names."""


def question_of(
    state: InvestigateState, models: Sequence[str], examination: Examination, stage: str = ""
) -> LedgerQuestion:
    """Return the question of an investigation, as the ledger knows it.

    Args:
        state: Of the investigation.
        models: Those that its report examines.
        examination: What it works with.
        stage: What of the investigation asks it, if that is not the report itself.
    """
    return LedgerQuestion(
        query=state.query,
        models={name: examination.checkpoints.get(name, "") for name in models},
        protocol=state.protocol or "",
        source=examination.source,
        stage=stage,
    )


def allot(state: InvestigateState, models: Sequence[str], examination: Examination) -> Allotment:
    """Enter the question of an investigation into the ledger, and return its pictures."""
    return examination.ledger.open(question_of(state, models, examination), _thread(state), state.seed)


def allot_after(state: InvestigateState, before: Report, models: Sequence[str], examination: Examination) -> int:
    """Enter the question of how corrected models fare, and return the seed of its pictures."""
    question = question_of(state, models, examination, _after(before.seed))
    return examination.ledger.open(question, _thread(state)).seed


def begin(state: InvestigateState, report: Report, design: Design, examination: Examination) -> int:
    """Enter the next experiment of a report into the ledger, and return the seed of its pictures."""
    question = question_of(state, report.models, examination, _after(state.report["seed"]) if state.after else "")
    return examination.ledger.begin(
        question, _thread(state), seed=report.seed, experiment=len(report.experiments), design=name_of_design(design)
    )


def notes_of(allotment: Allotment, *, chosen: bool, folder: bool, alpha: float) -> Iterator[str]:
    """Say what is to be known about the pictures of a question before its verdicts are believed.

    Args:
        allotment: The pictures.
        chosen: Whether somebody chose their seed.
        folder: Whether they come from a folder, which has only so many.
        alpha: The error rate of the report.
    """
    rate = f"{100 * alpha:g} %"
    if allotment.again:
        yield (
            f"The same question was asked before ({listed(allotment.again)}). It looks at the same pictures, and what "
            "models said about them is looked up, so its verdicts are no further evidence."
        )
    if allotment.otherwise:
        yield (
            f"The same question was asked before on other pictures ({listed(allotment.otherwise)}). Of answers to one "
            f"question, the one that is chosen for what it says is wrong in more than {rate}."
        )
    suspect = _suspect(allotment) if chosen else ""
    if suspect:
        yield (
            f"The pictures of seed {allotment.seed} {suspect}. A question that one of those answers suggested is "
            f"tested on the evidence that suggested it, and more than {rate} of its verdicts may be wrong. Without "
            "a seed it looks at fresh pictures."
        )
    if folder and allotment.drawn:
        yield (
            "Other questions drew from the same folder. The draws are new, the pictures need not be: the verdicts hold "
            "for the pictures of this folder and say nothing of others."
        )


def _after(seed: int) -> str:
    """Name the part of an investigation that measures corrections; other pictures before, others afterwards."""
    return f"after {seed}"


def _suspect(allotment: Allotment) -> str:
    count = len(allotment.informed)
    if count:
        return f"informed {count} other investigation{'s' * (count != 1)} before ({listed(allotment.informed)})"
    if allotment.older:
        return f"may have informed {allotment.older} investigations from before this home kept a ledger of pictures"
    return ""


def listed(names: Sequence[str]) -> str:
    """Name some investigations, the first few where there are many."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _thread(state: InvestigateState) -> str:
    """Return the investigation's name whichever way it goes."""
    return state.investigation.partition(WAY)[0]


def name_of_design(design: Design) -> str:
    """Name a design by what decides its pictures, what is asked about them and what is claimed, of whomever."""
    claims = {(one.kind, one.measure, one.threshold, *filter(None, [one.share])) for one in design.claims}
    fields = design.model_dump(mode="json", include=_DECIDING)
    fields |= design.model_dump(mode="json", include=_DECIDING_IF_SET, exclude_defaults=True)
    content = [fields, sorted(claims)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:40]
