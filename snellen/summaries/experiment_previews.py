"""Previews of experiments in words: what is examined, what is to be decided, and what it will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from snellen.reasoning.language.inflection import counted, listing
from snellen.summaries.learning import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from snellen.experiments.preview import ArmPreview, ExperimentPreview, SamplePicture

_MINUTE: Final = 60
_NAMED: Final = 12
"""Classes of a pool that are named."""


def expected_in_words(preview: ExperimentPreview) -> str:
    """Say how many pictures and how long an experiment will take: ``60 to 1,000 pictures, 1 to 4 minutes``."""
    low, _, high = preview.pictures
    spans = [f"{_span(low, high)} pictures", f"{_span(*preview.questions)} questions to models"]
    if preview.seconds is not None:
        spans.append(_time(*preview.seconds))
    return ", ".join(spans)


def expectation_notes(preview: ExperimentPreview) -> list[str]:
    """Say what the expectation rests on."""
    low, median, high = preview.pictures
    notes = []
    if low < high:
        notes.append(
            f"{low:,} pictures if all models clearly pass or fail, {high:,} if one is close to its threshold; half of "
            f"the simulated runs end within {median:,}. The budget has {preview.left:,} left."
        )
    if preview.untimed:
        was = "was" if len(preview.untimed) == 1 else "were"
        notes.append(f"How long it takes is not known: {listing(preview.untimed)} {was} not timed here yet.")
    if preview.trouble:
        notes.append(f"There are no more sample pictures: {preview.trouble}")
    return notes


def classes_in_words(preview: ExperimentPreview) -> dict[str, str]:
    """Return the classes of each pool in words, the first few by name."""
    return {
        name: ", ".join(pool[:_NAMED]) + (f" and {counted(len(pool) - _NAMED, 'other')}" if len(pool) > _NAMED else "")
        for name, pool in preview.classes.items()
    }


def preview_lines(preview: ExperimentPreview, find: Callable[[str], str]) -> Iterator[Line]:
    """Yield as lines what a preview says beside the description of its request.

    Args:
        preview: The preview.
        find: Says where a picture is, by its id.
    """
    for claim in preview.claims:
        yield Line("    decides   ", claim)
    for kind, arms in arms_by_kind(preview).items():
        yield Line("    pictures  ", f"{' / '.join(dict.fromkeys(arm.answer for arm in arms))}: {kind}")
        for sample in arms[0].samples[:1]:
            yield Line("              ", sample_in_words(sample))
            for one in dict.fromkeys([*([sample.before] if sample.before else []), *sample.pictures]):
                yield Line("              ", find(one), "dim")
    for name, classes in classes_in_words(preview).items():
        yield Line("    classes   ", f"{name}: {classes}")
    for note in expectation_notes(preview):
        yield Line("    ", note, "dim")


def arms_by_kind(preview: ExperimentPreview) -> dict[str, list[ArmPreview]]:
    """Return the arms by what their pictures are, in words; those of one kind differ in the answer alone."""
    kinds: dict[str, list[ArmPreview]] = {}
    for arm in preview.arms:
        kinds.setdefault(f"{arm.source}, {arm.change}" if arm.change else arm.source, []).append(arm)
    return kinds


def sample_in_words(sample: SamplePicture) -> str:
    """Say what a sample picture shows, and what is asked about it."""
    asked = f"{sample.shows}: “{sample.question}”"
    unsaid = [one for one in sample.choices if one not in sample.question]
    choices = f" {' / '.join(sample.choices)}." if unsaid else ""
    return f"{asked}{choices} Right: {sample.answer}." if sample.choices else asked


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _time(low: float, high: float) -> str:
    if high < 2 * _MINUTE:
        return f"{_span(round(low), max(round(high), 1))} seconds"
    return f"{_span(round(low / _MINUTE), round(high / _MINUTE))} minutes"
