"""Tell names apart before pictures are named.

A fresh text encoder gives every name nearly the same vector (mean cosine 0.81 between two names), and pictures cannot
be told apart by texts that are not: for 300 steps nothing was learned. A few seconds on the texts alone mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch.nn import functional


def spread(
    features: Callable[[], torch.Tensor], parameters: Iterable[torch.nn.Parameter], *, steps: int = 300
) -> float:
    """Train a text encoder until its vectors point in all directions.

    The loss is the uniformity of Wang and Isola (2020): the log of the mean Gaussian potential between pairs.

    Args:
        features: Computes the vectors (n, d) of the names.
        parameters: What may change.
        steps: Adam steps.

    Returns:
        The mean cosine between two different names afterwards.
    """
    optimizer = torch.optim.Adam(list(parameters), lr=1e-3)
    cosine = torch.ones(())
    for _ in range(steps):
        vectors = functional.normalize(features(), dim=-1)
        cosines = vectors @ vectors.T
        others = ~torch.eye(len(vectors), dtype=torch.bool)
        cosine = cosines[others].mean()
        loss = (4.0 * cosines[others]).exp().mean().log()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(cosine.detach())
