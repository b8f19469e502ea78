"""Calls by which a run of several stages tells how far it is, and what will come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snellen.experiments.trial_runner import StageProgress

ExpectStage = Callable[[str, int, str], None]


@dataclass(frozen=True)
class StageCalls:
    """Calls of a run.

    Attributes:
        tell: Called with how far a stage is.
        expect: Called with the name of a stage that will come, how much it has to do (0: it will not come after all),
            and the name of one that is as fast, if any.
    """

    tell: StageProgress = lambda _, __, ___: None
    expect: ExpectStage = lambda _, __, ___: None
