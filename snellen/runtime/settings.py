"""Settings that a caller chooses for a run: the context that Studio shows as a form, and that programs pass as a dict.

A caller gives a graph its settings by name (``chosen_by_caller``). A graph that is a node of somebody else's graph sees
the context of that one, whatever it is, and reads nothing of it but ``snellen`` (``given_in``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from snellen.errors import BadInput

OWN_KEY: Final = "snellen"
"""Under what a foreign context, or ``configurable``, carries settings of ours."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """The context of a run: settings, or the resources (``Context``) that they name."""


@dataclass(frozen=True, kw_only=True)
class RunSettings(Given):
    """Settings of a run, for callers that do not bring the resources themselves."""

    profile: Annotated[
        str, Field(description="Which checkpoints are used, by a profile's name: embedded, hub. Empty: the thread's.")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class InvestigationSettings(RunSettings):
    """Settings of an investigation, as far as its state leaves them open."""

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

    @property
    def budget(self) -> dict[str, float]:
        """The limits that are chosen, by the names of ``snellen.experiments.report.Budget``."""
        return {name: value for name in ("images", "trials", "seconds") if (value := getattr(self, name))}


def chosen_by_caller(context: object) -> Given | None:
    """Return the settings, or the resources, that a caller gives a graph as its context; None where it gives none.

    Args:
        context: A dict of settings by name; settings or resources themselves; or what has either under ``snellen``.

    Raises:
        BadInput: It is something else, or a setting has a value that it cannot have.
    """
    if context is None or isinstance(context, Given):
        return context
    if isinstance(context, Mapping) and OWN_KEY not in context:
        return _settings(context) if context else None
    if not isinstance(context, Mapping) and not hasattr(context, OWN_KEY):
        msg = f"The context is {type(context).__name__!r}: give a dict of settings, or settings under {OWN_KEY!r}."
        raise BadInput(msg)
    return given_in(context, {})


def given_in(context: object, configurable: Mapping[str, Any]) -> Given | None:
    """Return the settings, or the resources, that a run was given; None where it was given none.

    The context of a graph around may be a dict, a dataclass, a pydantic model or nothing. Only its key or field
    ``snellen`` is read: other people's fields may have the names of our settings, and mean something else.

    Args:
        context: That of the run.
        configurable: That of its configuration; its key ``snellen`` counts where the context says nothing.

    Raises:
        BadInput: What stands under ``snellen`` is no settings, or one has a value that it cannot have.
    """
    if isinstance(context, Given):
        return context
    own = context.get(OWN_KEY) if isinstance(context, Mapping) else getattr(context, OWN_KEY, None)
    if own is None:
        own = configurable.get(OWN_KEY)
    return own if own is None or isinstance(own, Given) else _settings(own)


def _settings(settings: object) -> RunSettings:
    values = _fields_of(settings)
    known = [one.name for one in fields(InvestigationSettings)]
    if unknown := [name for name in values if name not in known]:
        msg = (
            f"There is no setting {unknown[0][:80]!r}: settings are {', '.join(known)}; a context with fields of your "
            f"own holds them under {OWN_KEY!r}."
        )
        raise BadInput(msg)
    try:
        return TypeAdapter(InvestigationSettings).validate_python(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        msg = f"The setting {'.'.join(map(str, wrong['loc']))!r} cannot be used: {wrong['msg'].lower()}."
        raise BadInput(msg) from error


def _fields_of(settings: object) -> dict[str, Any]:
    if isinstance(settings, Mapping | BaseModel):
        return {str(name): value for name, value in dict(settings).items()}
    if is_dataclass(settings) and not isinstance(settings, type):
        return {one.name: getattr(settings, one.name) for one in fields(settings)}
    kind = type(settings).__name__
    msg = f"What stands under {OWN_KEY!r} is {kind!r}: give a dict of settings, such as {{'profile': 'hub'}}."
    raise BadInput(msg)
