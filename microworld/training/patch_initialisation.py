"""Begin with eyes open: patches as their principal components, places as waves.

A ViT drawn at random spends its first thousand steps on learning what a patch and what a neighbour is. Both are known
beforehand, so the patch embedding starts as the (half whitened) principal components of real patches, the position
embedding as sines and cosines of the patch's row and column, in the proportion of about two to one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


@torch.no_grad()
def open_eyes(embedding: Any, pictures: torch.Tensor) -> None:  # noqa: ANN401 - a module of transformers, untyped
    """Initialise the patch and position embeddings of a CLIP or OWL-ViT vision encoder.

    Args:
        embedding: Its embeddings (`patch_embedding`, `position_embedding`, `class_embedding`).
        pictures: Pictures (B, 3, H, W) as the model will see them; some thousand patches in all.
    """
    weight = embedding.patch_embedding.weight
    width, _, patch, _ = weight.shape
    patches = nn.functional.unfold(pictures, patch, stride=patch).transpose(1, 2).reshape(-1, 3 * patch * patch)
    mean = patches.mean(dim=0)
    values, vectors = torch.linalg.eigh(torch.cov(patches.T))
    keep = min(width, len(values))
    basis = vectors[:, -keep:].T / values[-keep:, None].clamp(min=1e-4) ** 0.25
    scale = 1.0 / ((patches - mean) @ basis.T).std()
    filters = torch.zeros(width, 3 * patch * patch)
    filters[:keep] = basis * scale
    # Random rotation: layer normalisation and the heads should not meet the components sorted by size.
    rotation, _ = torch.linalg.qr(torch.randn(width, width))
    filters = rotation @ filters
    weight.copy_(filters.view_as(weight))
    places = waves((pictures.shape[-2] // patch, pictures.shape[-1] // patch), width)
    embedding.position_embedding.weight[1:] = places * 0.5 - filters @ mean
    embedding.position_embedding.weight[0] = 0.0
    embedding.class_embedding.normal_(std=0.5)


def waves(grid: tuple[int, int], width: int) -> torch.Tensor:
    """Return sines and cosines of rows and columns (rows × columns, width), each of unit mean square."""
    rows, columns = torch.meshgrid(torch.arange(grid[0]), torch.arange(grid[1]), indexing="ij")
    quarter = width // 4
    rates = torch.pi / 2 ** torch.linspace(0.0, 4.0, quarter)
    parts = [f(axis.reshape(-1, 1) * rates) for axis in (rows, columns) for f in (torch.sin, torch.cos)]
    out = torch.zeros(grid[0] * grid[1], width)
    out[:, : 4 * quarter] = torch.cat(parts, dim=1) * 2**0.5
    return out
