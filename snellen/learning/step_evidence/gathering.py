"""Gathering of evidence: which witnesses are asked about which step, and for how long."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from snellen.learning.step_evidence.answers import AnswerEvidence
from snellen.learning.step_evidence.labels import LabelEvidence
from snellen.learning.step_evidence.regions import RegionEvidence
from snellen.learning.step_evidence.witnesses import PERCEIVING, Witnesses, regions_in
from snellen.profiles import SnellenError
from snellen.values import Picture, from_json

if TYPE_CHECKING:
    from snellen.reasoning.critique import StepEvidence
    from snellen.tools.program import StepRecord
    from snellen.tools.registry import ToolContext
    from snellen.values import PictureStore

SECONDS: Final = 30.0
"""After so long no further step is looked into."""


def gather(
    records: Sequence[StepRecord],
    context: ToolContext,
    *,
    only: str | None = None,
    sought: Sequence[str] = (),
    seconds: float = SECONDS,
) -> dict[str, tuple[StepEvidence, ...]]:
    """Gather evidence about the steps that perceive.

    Args:
        records: The steps of a run, whole.
        context: The pictures and models; without models there is no evidence.
        only: The address of the one step to look into deeply; without it, all are looked into as far as is cheap.
        sought: Names of things that the feedback speaks of: where a step looked for anything, these are looked for.
        seconds: After so long the remaining steps are left without evidence.

    Returns:
        Evidence by address. Steps that make the same call share it; a tool that fails while it is asked says nothing.
    """
    if context.models is None:
        return {}
    until = time.monotonic() + seconds
    witnesses = Witnesses(context.models, deep=only is not None, sought=frozenset(sought))
    gathered: dict[str, tuple[StepEvidence, ...]] = {}
    by_call: dict[str, tuple[StepEvidence, ...]] = {}
    for record in records:
        if record.tool not in PERCEIVING or record.error or only not in {None, record.address}:
            continue
        call = repr((record.tool, record.arguments))
        if call not in by_call and time.monotonic() < until:
            try:
                by_call[call] = tuple(_about(record, witnesses, context.pictures))
            except (SnellenError, OSError, RuntimeError, MemoryError):
                by_call[call] = ()  # a witness that fails says nothing; the step itself is judged without it
        gathered[record.address] = tuple(replace(one, about=record.address) for one in by_call.get(call, ()))
    return gathered


def _about(record: StepRecord, witnesses: Witnesses, pictures: PictureStore) -> Iterator[StepEvidence]:
    """Yield what is said about one step; nothing where nobody can be asked."""
    arguments = {name: from_json(value) for name, value in record.arguments.items()}
    image = arguments.get("image")
    if not isinstance(image, Picture):
        return
    picture, regions = pictures.get(image.id), regions_in(record.value)
    match record.tool:
        case "LOC":
            yield from RegionEvidence(witnesses).about_search(picture, image, str(arguments["object"]), regions)
        case "FACEDET":
            yield from RegionEvidence(witnesses).about_boxes(picture, image, "face", regions)
        case "SEG":
            yield from RegionEvidence(witnesses).about_masks(picture, regions)
        case "VQA":
            question, answer = str(arguments["question"]), str(record.value)
            yield from AnswerEvidence(witnesses).about_answer(picture, image, question, answer)
        case "CLASSIFY":
            yield from LabelEvidence(witnesses).about_labels(picture, arguments, regions)
        case "SELECT":
            chosen = LabelEvidence(witnesses).about_choice(picture, arguments, regions)
            yield from witnesses.as_far_as_taught(str(arguments["query"]), chosen)
