"""Training-validation prompt tuning (CLOVA sections 3.4 and 8): a prompt for each instance, proved before it stays.

Nothing here imports a model library until something is tuned.
"""

from __future__ import annotations

from tools.tuning.loop import tune
from tools.tuning.prompts import POOL_OF_TOOL, POOLS, Candidates, PromptSource, ensemble
from tools.tuning.records import Example, Instance, Progress, Tally, TunedPrompt, Verdict
from tools.tuning.tuners import tuner_of
from tools.tuning.validation import validate

__all__ = [
    "POOLS",
    "POOL_OF_TOOL",
    "Candidates",
    "Example",
    "Instance",
    "Progress",
    "PromptSource",
    "Tally",
    "TunedPrompt",
    "Verdict",
    "ensemble",
    "tune",
    "tuner_of",
    "validate",
]
