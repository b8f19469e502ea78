"""Training-validation prompt tuning (CLOVA sections 3.4 and 8): a prompt for each instance, proved before it stays.

Nothing here imports a model library until something is tuned.
"""

from __future__ import annotations

from snellen.models.soft_prompts import POOL_OF_TOOL, POOLS, Candidates, PromptSource, ensemble
from snellen.tuning.instances import Instance, Tally, TunedPrompt, TuningExample, TuningProgress, Verdict
from snellen.tuning.loop import tune
from snellen.tuning.tuners import tuner_of
from snellen.tuning.validation import validate

__all__ = [
    "POOLS",
    "POOL_OF_TOOL",
    "Candidates",
    "Instance",
    "PromptSource",
    "Tally",
    "TunedPrompt",
    "TuningExample",
    "TuningProgress",
    "Verdict",
    "ensemble",
    "tune",
    "tuner_of",
    "validate",
]
