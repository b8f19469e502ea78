"""HTML of what is decided about: the preview of an experiment with its sample pictures, and the form of its design."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.page.design_form import FormField, fields_of
from snellen.page.html import figure
from snellen.reports.templating import rendered
from snellen.summaries.experiment_previews import (
    arms_by_kind,
    classes_in_words,
    expectation_notes,
    expected_in_words,
    sample_in_words,
)
from snellen.values import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from snellen.experiments.design import Design
    from snellen.experiments.preview import ExperimentPreview, SamplePicture
    from snellen.page.design_entry import EnteredDesign
    from snellen.reports.pictures import Figure


@dataclass(frozen=True)
class ShownField:
    """A field as the form shows it.

    Attributes:
        field: The field.
        value: What stands in it.
        error: What is wrong with that, if anything.
    """

    field: FormField
    value: Any
    error: str


def preview_html(preview: ExperimentPreview, design: Design, home: Path) -> str:
    """Write the preview of an experiment.

    Args:
        preview: The preview.
        design: The design that it is of.
        home: The memory's home, which has its pictures.
    """
    return rendered(
        "page/preview",
        preview=preview,
        design=design,
        kinds=[
            (kind, [_sample(one, arm.answer, design, home) for arm in arms for one in arm.samples])
            for kind, arms in arms_by_kind(preview).items()
        ],
        classes=classes_in_words(preview),
        expected=expected_in_words(preview),
        notes=expectation_notes(preview),
    )


def form_html(design: Design, models: Sequence[str], entered: EnteredDesign, name: str) -> str:
    """Write the form of a design.

    Args:
        design: The design.
        models: The models that are examined.
        entered: What was entered, with what is wrong with it.
        name: The beginning of its elements' ids.
    """
    shown = [
        ShownField(one, one.shown(entered.values.get(one.name)), entered.errors.get(one.name, ""))
        for one in fields_of(design, models)
    ]
    groups = [(heading, list(fields)) for heading, fields in groupby(shown, key=lambda one: one.field.group)]
    return rendered(
        "page/design-form", groups=groups, refused=bool(entered.errors), trouble=entered.errors.get("", ""), name=name
    )


def _sample(sample: SamplePicture, answer: str, design: Design, home: Path) -> tuple[list[Figure], str]:
    """Return the pictures of a sample, and what is said below them."""
    ids = [*([sample.before] if sample.before else []), *sample.pictures]
    figures = [figure(Picture(one, 0, 0), home) for one in dict.fromkeys(ids)]
    is_known = sample.question == design.question and not design.pools
    return [one for one in figures if one], f"{sample.shows}: {answer}" if is_known else sample_in_words(sample)
