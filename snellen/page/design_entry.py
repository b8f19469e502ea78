"""Designs that a person entered into the form: read, and checked by the same code as any other design.

Whatever is wrong is said beside the field whose place in the design it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from snellen.errors import BadInput
from snellen.experiments.design import Design
from snellen.experiments.design_checks import checked
from snellen.page.design_form import MODELS, FormField, Place, fields_of
from snellen.sentences import capitalized
from snellen.tools.samples import SELECTS
from snellen.tools.transforms import TRANSFORMS

if TYPE_CHECKING:
    from snellen.graphs.states import Json
    from snellen.tools.calls import Declarations, ToolCall

_MOST_ENTERED: Final = 64_000
"""Characters of what is entered."""


@dataclass(frozen=True)
class EnteredDesign:
    """The design that comes of a form.

    Attributes:
        design: The design; None where something is wrong.
        values: What was entered, by the names of the fields.
        errors: What is wrong, by the names of the fields; under the empty name what is wrong with the whole.
    """

    design: Design | None
    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


def entered_design(design: Design, models: Sequence[str], text: str) -> EnteredDesign:
    """Read what was entered into the form of a design.

    Args:
        design: The design that the form was made of.
        models: The models that are examined.
        text: A JSON object: what was entered, by the names of the fields. What is left out stays as it was.
    """
    try:
        values = json.loads(text) if len(text) <= _MOST_ENTERED else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        return EnteredDesign(None, errors={"": "What was entered could not be read: open the investigation again."})
    fields = [one for one in fields_of(design, models) if one.name in values]
    written: Json = design.model_dump(mode="json")
    errors = {}
    for one in fields:
        if values[one.name] == one.value:
            continue  # left as it was, with digits that the form does not show
        try:
            entered = one.read(values[one.name])
        except ValueError as error:
            errors[one.name] = f"{error}."
            continue
        for place in one.places:
            _write(written, place, entered)
    if MODELS in values:
        try:
            written["claims"] = _claims_of(written["claims"], values[MODELS], models)
        except BadInput as error:
            errors[MODELS] = str(error)
    if errors:
        return EnteredDesign(None, values, errors)
    return _checked(written, models, fields, values)


def placed(error: str, fields: Sequence[FormField]) -> str:
    """Return the name of the field that a sentence about a design is about; empty where that is not clear.

    Tools that cannot do what they are asked begin it with their names, and say which argument is wrong.
    """
    tool, _, rest = error.partition(": ")
    for one in fields:
        if one.group.partition(" ")[0] == tool and re.match(rf"{re.escape(one.label)}[=:]", rest):
            return one.name
    return ""


def _checked(
    written: Json, models: Sequence[str], fields: Sequence[FormField], values: Mapping[str, Any]
) -> EnteredDesign:
    errors: dict[str, str] = {}
    try:
        design = Design.model_validate(written)
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_input=False):
            errors.setdefault(_field_at(wrong["loc"], fields), f"{wrong['msg']}.")
        return EnteredDesign(None, values, errors)
    for place, call, tools in _calls(design):
        try:
            tools.named(call.name).form.model_validate(call.arguments)
        except ValidationError as error:
            for wrong in error.errors(include_url=False, include_input=False):
                errors.setdefault(_field_at((*place, *wrong["loc"]), fields), f"{wrong['msg']}.")
    if errors:
        return EnteredDesign(None, values, errors)
    try:
        return EnteredDesign(checked(design, list(models)), values)
    except BadInput as error:
        return EnteredDesign(None, values, {placed(str(error), fields): f"{capitalized(str(error))}."})


def _calls(design: Design) -> Iterator[tuple[Place, ToolCall, Declarations[Any]]]:
    if design.protocol != "choice":
        return
    for number, arm in enumerate(design.arms):
        yield ("arms", number, "select", "arguments"), arm.select, SELECTS
        yield ("arms", number, "transform", "arguments"), arm.transform, TRANSFORMS


def _field_at(place: Sequence[str | int], fields: Sequence[FormField]) -> str:
    """Return the name of the field that a place of the design belongs to; empty where it is none's."""
    return next(
        (one.name for one in fields for its in one.places if tuple(place[: len(its)]) == its),
        "",
    )


def _claims_of(claims: Sequence[Json], chosen: Any, models: Sequence[str]) -> list[Json]:  # noqa: ANN401 - any JSON
    """Return the claims about the chosen models; one that joins gets those of the others.

    Raises:
        BadInput: Nobody is chosen, or nothing is left to be decided.
    """
    if not isinstance(chosen, list) or not chosen or not all(isinstance(one, str) for one in chosen):
        msg = "Choose one model at least."
        raise BadInput(msg)
    kept = [one for one in claims if {one["model"], one["other"] or one["model"]} <= set(chosen)]
    if not kept and any(one["other"] for one in claims):
        msg = "Choose two models at least that are compared."
        raise BadInput(msg)
    known = {one["model"] for one in claims} | {one["other"] for one in claims}
    wanted = {(one["kind"], one["measure"], one["threshold"]): one for one in claims if not one["other"]}
    joining = [name for name in models if name in chosen and name not in known]
    return [*kept, *(one | {"model": name} for name in joining for one in wanted.values())]


def _write(target: Any, place: Place, value: Any) -> None:  # noqa: ANN401 - JSON
    for part in place[:-1]:
        target = target[part]
    target[place[-1]] = value
