"""What a caller chooses about a run: the context that Studio shows as a form, and that programs pass as a dict.

A graph that is part of somebody else's graph sees the context of that one, whatever it is (``given_in``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from profiles.errors import BadInput

OWN_KEY: Final = "snellen"
"""Under what a foreign context, or ``configurable``, carries settings of ours."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a run is given beside its state: settings, or the resources (``nodes.context.Context``) that they name."""


@dataclass(frozen=True, kw_only=True)
class Settings(Given):
    """What a run is begun with, where nobody hands it the resources themselves."""

    profile: Annotated[
        str, Field(description="Which checkpoints are used, by a profile's name: embedded, hub. Empty: the thread's.")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class InvestigationSettings(Settings):
    """What an investigation is begun with, as far as its state does not say it."""

    models: Annotated[
        list[str], Field(description="Models to examine, by name in the profile. None: those that the query names.")
    ] = field(default_factory=list)
    protocol: Annotated[
        str, Field(description="How models are asked: auto (read off the query), choice, freeform or pairs.")
    ] = "auto"
    alpha: Annotated[
        float, Field(gt=0, lt=1, description="The share of verdicts that may be wrong, however often one looks.")
    ] = 0.05
    images: Annotated[int, Field(ge=0, description="Pictures that it may use. 0: as many as usual.")] = 0
    trials: Annotated[int, Field(ge=0, description="Questions that models may be asked. 0: as many as usual.")] = 0
    seconds: Annotated[float, Field(ge=0, description="Seconds that measuring may take. 0: as many as usual.")] = 0
    approve: Annotated[bool, Field(description="Ask a person before an experiment is run.")] = False
    correct: Annotated[
        bool, Field(description="Teach models what is found that they cannot do, and measure them again.")
    ] = False


def given_in(context: object, configurable: Mapping[str, Any]) -> Given | None:
    """Return the settings, or the resources, that a run was given; None where it was given none.

    The context of a graph around may be a dict, a dataclass, a pydantic model or nothing. Of a foreign one only the key
    or field ``snellen`` is read, unless all that it has are settings of ours: fields of other people's may have our
    names by chance.

    Args:
        context: That of the run.
        configurable: That of its configuration; its key ``snellen`` counts where the context says nothing.

    Raises:
        BadInput: A setting has a value that it cannot have.
    """
    if isinstance(context, Given):
        return context
    own = _own(context)
    if own is None:
        own = configurable.get(OWN_KEY)
    if own is None or isinstance(own, Given):
        return own
    try:
        return TypeAdapter(InvestigationSettings).validate_python(_fields_of(own))
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        msg = f"The setting {'.'.join(map(str, wrong['loc']))!r} cannot be used: {wrong['msg'].lower()}."
        raise BadInput(msg) from error


def _own(context: object) -> object:
    found = _fields_of(context)
    if OWN_KEY in found:
        return found[OWN_KEY]
    known = {one.name for one in fields(InvestigationSettings)}
    return found if found and set(found) <= known else None


def _fields_of(context: object) -> dict[str, Any]:
    if isinstance(context, Mapping | BaseModel):
        return {str(name): value for name, value in dict(context).items()}
    if is_dataclass(context) and not isinstance(context, type):
        return {one.name: getattr(context, one.name) for one in fields(context)}
    return dict(getattr(context, "__dict__", {}))
