"""The pools of learned prompts, by tool and concept (CLOVA, section 3.4: what training-validation prompt tuning keeps).

Records, tensors and features are rows of one SQLite database (``rows``), changed in one transaction; a search index
(``index``) can always be built again from them. Homes up to version 0.1 kept tensors in files (``blocks``).
"""

from snellen.memory.prompts.pool import PoolStats, PromptPool
from snellen.memory.prompts.records import LearnedPrompt, PromptOrigin, PromptRow, RecalledPrompts, learned_prompt
from snellen.memory.prompts.rows import PromptSelection

__all__ = [
    "LearnedPrompt",
    "PoolStats",
    "PromptOrigin",
    "PromptPool",
    "PromptRow",
    "PromptSelection",
    "RecalledPrompts",
    "learned_prompt",
]
