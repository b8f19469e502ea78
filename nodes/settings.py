"""What a caller chooses about a run: the context that Studio shows as a form, and that programs pass as a dict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field


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
