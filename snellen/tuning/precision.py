"""Precision of tuning: in bfloat16 where the processor is faster with it, in float32 elsewhere.

Some processors multiply bfloat16 many times faster than float32, others take every number apart. Only a measurement
tells, so a short one decides.
"""

from __future__ import annotations

import time
import timeit
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from snellen.profiles import Precision

Chosen = Literal["float32", "bfloat16"]

_LEAST: Final = {16: 0.25, 32: 0.4, 64: 0.8, 128: 1.25}
"""How many times faster bfloat16 must be at a size to be tried at the next, and at the last to be taken.

Sizes are the tokens of a sequence, whose width is twice as many. Where little is computed, what converts the numbers
weighs most; at the last, less than a quarter is not worth the lost digits, and noise would decide it.
"""

_RUNS: Final = 3
_SECONDS: Final = 0.5
"""What the measurement may take; a machine that needs longer, or is so busy, stays with float32."""


def computing(wanted: Precision, device: torch.device) -> AbstractContextManager[object]:
    """Compute products as ``tuning.dtype`` says; weights and prompts are kept as they are.

    Args:
        wanted: The setting; ``auto`` takes what the device is faster with.
        device: Where it computes.
    """
    import torch

    chosen = fastest(device.type, torch.get_num_threads()) if wanted == "auto" else wanted
    return nullcontext() if chosen == "float32" else torch.autocast(device.type, dtype=torch.bfloat16)


@lru_cache(maxsize=8)
def fastest(device: str, threads: int) -> Chosen:  # noqa: ARG001 - with other threads it is measured again
    """Return the type with which a kind of device tunes faster, found out once in a process."""
    import torch

    if device == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float32"
    return choose(_seconds)


def choose(seconds: Callable[[int, Chosen], float], *, clock: Callable[[], float] = time.perf_counter) -> Chosen:
    """Decide by ever larger sizes, and in time; what is not clearly faster is not taken.

    Args:
        seconds: How long a training step of a size takes in a precision; asked about no more than is needed.
        clock: Tells the time.
    """
    start = clock()
    for size, least in _LEAST.items():
        single, half = seconds(size, "float32"), seconds(size, "bfloat16")
        if single < least * half or clock() - start > _SECONDS:
            return "float32"
    return "bfloat16"


def _seconds(size: int, precision: Chosen) -> float:
    """Time the gradient of one transformer layer with respect to what it is given, as tuning a prompt takes it."""
    import torch
    from torch.nn import functional

    width = 2 * size
    # Not random: what draws from torch's generator must not depend on whether something was measured.
    values = torch.linspace(-1, 1, width * width).view(width, width)
    given = torch.linspace(-1, 1, 4 * size * width).view(4, size, width).requires_grad_()

    def step() -> None:
        with computing(precision, given.device), torch.enable_grad():
            query, key, value = (functional.linear(given, values).view(4, size, 2, size).transpose(1, 2),) * 3
            seen = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(4, size, width)
            inner = functional.gelu(functional.linear(seen, values.repeat(4, 1)))
            loss = functional.linear(inner, values.repeat(1, 4)).float().mean()
        torch.autograd.grad(loss, given)

    step()  # what is compiled at first is not counted
    return min(timeit.repeat(step, number=1, repeat=_RUNS))
