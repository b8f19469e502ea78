"""Prompts that tests learn, also in processes of their own."""

from __future__ import annotations

import errno
import os
from typing import Any

import numpy as np

from snellen.memory.prompts.records import LearnedPrompt, learned_prompt

CHECKPOINT = "0123456789abcdef"
SHAPE = (2, 3)


def made(seed: int, concept: str = "flamingo", **options: Any) -> LearnedPrompt:  # noqa: ANN401 - of learned_prompt
    """Make a prompt that follows from its seed."""
    numbers = np.random.default_rng(seed)
    prompt, feature = numbers.normal(size=SHAPE), numbers.normal(size=4)
    given = {"pool": "LOC", "fingerprint": CHECKPOINT, "prompt": prompt, "feature": feature} | options
    return learned_prompt(given.pop("pool"), concept, **given)


def full(*_: object) -> None:
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
