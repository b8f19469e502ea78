"""Preview of an experiment: all that a person needs to decide whether it should be run.

Sample pictures are made as the experiment will make them, and are none of its own: they come from rounds that no budget
reaches, are not kept as samples, and no model is asked about them. So nothing that a person changes because of them is
tested on the pictures that suggested it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field, StringConstraints, ValidationError

from snellen.errors import SnellenError
from snellen.experiments.design import IDENTITY, ExperimentRecord, Name
from snellen.experiments.forecast import PaceOfModels, forecast, simulated_runs
from snellen.experiments.protocols.protocol import RoundPlace
from snellen.experiments.protocols.registry import PROTOCOLS
from snellen.memory.home import MemoryTrouble

if TYPE_CHECKING:
    from collections.abc import Mapping

    from snellen.experiments.design import Arm, Design
    from snellen.experiments.report import Report
    from snellen.experiments.resources import Examination
    from snellen.memory.samples import Sample
    from snellen.memory.trials import TrialKey
    from snellen.tools.calls import ToolCall

FIRST_ROUND: Final = 2_000_000
"""The first round of sample pictures: a budget has a million pictures at most."""
_EACH: Final = 3
"""Sample pictures of an arm, at most."""
_ALL: Final = 16
"""Sample pictures of all arms, unless there are more arms."""
_MOST_CLASSES: Final = 400

PictureId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(max_length=600)]


class SamplePicture(ExperimentRecord):
    """A picture, or the pictures of a pair, as the experiment will make them."""

    pictures: list[PictureId] = Field(min_length=1, max_length=4)
    """Those that models are shown."""
    before: PictureId | None = None
    """The picture before it was transformed, where it was."""
    shows: Text
    question: Text
    choices: list[Text] = Field(default_factory=list, max_length=40)
    answer: Text = ""
    """The right choice; empty where answers are free."""


class ArmPreview(ExperimentRecord):
    """An arm in words, and what its pictures look like."""

    answer: Text
    source: Text
    change: Text
    """How its pictures are transformed; empty where they are not."""
    samples: list[SamplePicture] = Field(default_factory=list, max_length=_EACH)


class ExperimentPreview(ExperimentRecord):
    """An experiment in words, with sample pictures, and what it will take."""

    number: int = Field(ge=1)
    """From 1."""
    models: list[Name]
    """Those that it asks."""
    examined: list[Name]
    """Those that it could ask."""
    claims: list[Text] = Field(max_length=40)
    """What is to be decided of them, with the thresholds."""
    arms: list[ArmPreview] = Field(max_length=40)
    classes: dict[Name, list[Name]] = Field(default_factory=dict)
    """The classes of each pool that pictures are drawn from, the first few hundred."""
    pictures: tuple[int, int, int]
    """How many it will take: the least, the median and the most of what was simulated."""
    questions: tuple[int, int]
    """How many questions are put to models: the least and the most."""
    seconds: tuple[float, float] | None = None
    """How long it will take; None where one of the models was not timed here yet."""
    untimed: list[Name] = Field(default_factory=list)
    """The models that were not."""
    left: int
    """Pictures that are left of the budget of the investigation."""
    trouble: Text = ""
    """Why there are no more sample pictures, if there are not."""


def preview_in(action: Mapping[str, Any]) -> ExperimentPreview | None:
    """Return the preview in a requested action; None in requests of earlier versions, and where it cannot be read."""
    try:
        return ExperimentPreview.model_validate(action.get("preview"))
    except ValidationError:
        return None


def previewed(design: Design, report: Report, examination: Examination) -> ExperimentPreview:
    """Preview the next experiment of a report; its sample pictures are stored.

    Args:
        design: The experiment, which can be run.
        report: The report so far.
        examination: Where pictures are made and kept.

    Raises:
        MemoryTrouble: The pictures cannot be stored.
    """
    began = time.perf_counter()
    samples, trouble = _samples(design, report, examination)
    picture_seconds = (time.perf_counter() - began) / max(len(samples), 1)
    keys = {sample: PROTOCOLS[design.protocol].keys(design, sample, "") for sample in samples}
    pace = PaceOfModels(
        picture_seconds, _timed(design.models, keys, examination), max(map(len, keys.values()), default=1)
    )
    seconds_left = max(report.budget.seconds - report.seconds, 0.0)
    expected = forecast(simulated_runs(design, report), pace, most_seconds=seconds_left)
    return ExperimentPreview(
        number=len(report.experiments) + 1,
        models=design.models,
        examined=report.models,
        claims=[claim.stated(design)[:600] for claim in design.claims],
        arms=[
            ArmPreview(
                answer=arm.answer,
                source=_source(arm),
                change="" if arm.transform == IDENTITY else in_words(arm.transform),
                samples=[_shown(design, sample, keys[sample][0]) for sample in samples if sample.arm == number],
            )
            for number, arm in enumerate(design.arms)
        ],
        classes={name: pool[:_MOST_CLASSES] for part in design.parts for name, pool in part.pools.items()},
        pictures=expected.pictures,
        questions=expected.questions,
        seconds=expected.seconds,
        untimed=list(expected.unknown),
        left=max(report.budget.images - report.images, 0),
        trouble=trouble,
    )


def in_words(call: ToolCall) -> str:
    """Write a tool with its arguments for people: ``RotateImage (angle 90)``."""
    arguments = ", ".join(f"{name} {value}" for name, value in call.arguments.items() if value is not None)
    return f"{call.name} ({arguments})"[:600] if arguments else call.name


def _source(arm: Arm) -> str:
    arguments = dict(arm.select.arguments)
    if "class_name" not in arguments:
        return ", ".join(f"{name} {value}" for name, value in arguments.items())[:600] or "scenes"
    kind = arguments.get("image_type", "photo")
    return f"{arguments['class_name']}{f' ({kind})' if kind != 'photo' else ''}"


def _samples(design: Design, report: Report, examination: Examination) -> tuple[list[Sample], str]:
    """Make some pictures of each arm; say why there are no more."""
    samples: list[Sample] = []
    for turn in range(max(min(_EACH, _ALL // len(design.arms)), 1)):
        place = RoundPlace("preview", len(report.experiments), FIRST_ROUND + turn, report.seed)
        try:
            samples += PROTOCOLS[design.protocol].make(examination, design, place)
        except MemoryTrouble:
            raise
        except SnellenError as error:
            return samples, " ".join(str(error).split())[:600]
    return samples, ""


def _timed(
    models: list[str], keys: Mapping[Sample, list[TrialKey]], examination: Examination
) -> dict[str, list[float]]:
    first = next((each[0] for each in keys.values()), None)
    if first is None:
        return {}
    pictures, ranked = len(first.pictures), bool(first.choices)
    return {name: examination.trials.times(name, pictures=pictures, ranked=ranked) for name in models}


def _shown(design: Design, sample: Sample, key: TrialKey) -> SamplePicture:
    is_changed = design.protocol == "choice" and sample.plain != sample.picture
    place = design.of_arm(sample.arm).choices.index(design.arms[sample.arm].answer) if key.choices else None
    return SamplePicture(
        pictures=list(key.pictures),
        before=sample.plain if is_changed else None,
        shows=sample.label[:600],
        question=key.question[:600],
        choices=list(key.choices),
        answer="" if place is None else key.choices[place],
    )
