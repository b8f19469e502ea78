"""Lesson of telling things apart: the transformer decoder of the segmenter alone, on maps that are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import (
    MaskFormerForInstanceSegmentation,
)

from snellen.microworld.concepts import vocabulary
from snellen.microworld.drawing import Pixels
from snellen.microworld.training.corpus import Corpus
from snellen.microworld.training.detection_targets import as_input
from snellen.microworld.training.segmentation_targets import (
    ROWS,
    QueryAssignment,
    labels,
    panoptic,
    stacked,
    wanted_of,
)

PIXELS = 192
APART_BATCH = 16
# How sharply an anchored query looks at its place: the attention logit there, where elsewhere it is about 0.
FOCUS = 6.0
# Channels of the decoder that carry places alone in its first layer, and directions among them that tell places apart.
PLACE_CHANNELS, PLACE_DIRECTIONS = 12, 8
# Weights of the parts of the loss; one label in thirty is no "nothing".
FOCAL, DICE, NOTHING = 20.0, 2.0, 0.1


@torch.no_grad()
def begin_decoder(model: MaskFormerForInstanceSegmentation, pixels: torch.Tensor, *, rows: int = ROWS) -> None:
    """Prepare the decoder for telling things apart.

    Args:
        model: The segmenter, which has learned to see; changed in place. Some of its weights stay as they are from here
            on: what would make queries look elsewhere.
        pixels: The pixel decoder's map (n, F, H, W) of some pictures, from which sizes are taken.
        rows: The first `rows` × `rows` queries are anchored at the points of a grid.
    """
    constant = _of_one_size(model.model.pixel_level_module.decoder.mask_projection, pixels)
    last = [layer for layer in model.mask_embedder.modules() if isinstance(layer, nn.Linear)][-1]
    nn.init.xavier_uniform_(last.weight, gain=0.5)
    # Most pixels are not of a query's segment.
    last.bias.copy_(-0.7 * constant)
    module = model.model.transformer_module
    for layer in module.decoder.modules():
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
    _anchor_queries(module, rows)


def _of_one_size(projection: nn.Conv2d, pixels: torch.Tensor) -> torch.Tensor:
    """Give the features of pixels mean 0 and deviation 1 in all directions but one, in which they become constant.

    Features of very different sizes, with a large mean, let every query learn that mean and nothing else. The direction
    in which they vary least is given up for the constant, which masks need to be mostly empty.

    Returns:
        The direction of the constant (F,).
    """
    flat = pixels.float().permute(0, 2, 3, 1).reshape(-1, pixels.shape[1])
    mean = flat.mean(dim=0)
    values, vectors = torch.linalg.eigh(torch.cov(flat.T))
    whitened = (vectors / (values + 3e-3 * values.mean()).sqrt()) @ vectors.T
    direction = vectors[:, 0]
    whitened = whitened - direction[:, None] * (direction @ whitened)
    assert projection.bias is not None, "the class gives it one"  # noqa: S101 - for the type checker
    projection.bias.copy_(whitened @ (projection.bias - mean) + 3.0 * direction)
    projection.weight.copy_(torch.einsum("dc,cihw->dihw", whitened, projection.weight))
    return direction


def _anchor_queries(module: Any, rows: int) -> None:  # noqa: ANN401 - a module of transformers, untyped
    """Let the first `rows` × `rows` queries look at the points of a grid, for good.

    Their vectors become the sine code that the class adds to the cells of the picture. The channels in which codes
    differ most carry nothing else: neither what cells contain nor what the first layer begins with enters them. Queries
    and keys of the first cross-attention are these channels, whitened, so that their product is largest where query and
    cell are at the same place.
    """
    width = module.queries_embedder.embedding_dim
    side = 4 * rows
    codes = module.position_embedder(torch.Size((1, width, side, side)), torch.device("cpu"), torch.float32)[0]
    at = torch.arange(rows) * 4 + 2
    module.queries_embedder.weight[: rows * rows] = codes[:, at[:, None], at[None]].flatten(1).T
    flat = codes.flatten(1).T
    channels = flat.var(dim=0).topk(min(PLACE_CHANNELS, width // 2)).indices.sort().values
    mean, directions, spread = _where_codes_differ(flat[:, channels])
    first = module.decoder.layers[0]
    each = int(first.encoder_attn.head_dim)
    heads = width // each
    turned = [torch.linalg.qr(torch.randn(each, len(spread)))[0] for _ in range(heads)]
    weight = torch.cat([turn / spread for turn in turned]) @ directions * (FOCUS / len(spread) * each**0.5) ** 0.5
    for projection in (first.encoder_attn.q_proj, first.encoder_attn.k_proj):
        projection.weight.zero_()
        projection.weight[:, channels] = weight
        projection.bias.copy_(-weight @ mean)
        projection.requires_grad_(requires_grad=False)
    module.queries_embedder.requires_grad_(requires_grad=False)
    free = torch.ones(width)
    free[channels] = 0.0
    # What the layer begins with has a size of its own: it is normalised, and normalising nothing magnifies noise.
    first.self_attn.o_proj.bias.normal_(0.0, 0.5)
    contents = [first.self_attn_layer_norm, module.input_projection]
    for parameter in [each for one in contents if one is not None for each in one.parameters()]:
        shape = (-1, *[1] * (parameter.ndim - 1))
        parameter.mul_(free.view(shape))
        parameter.register_hook(lambda gradient, shape=shape: gradient * free.view(shape))


def _where_codes_differ(codes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return mean (d,), principal directions (k, d) and deviations (k,) of position codes (n, d)."""
    values, vectors = torch.linalg.eigh(torch.cov(codes.T))
    count = min(PLACE_DIRECTIONS, codes.shape[1] // 2)
    return codes.mean(dim=0), vectors[:, -count:].T, values[-count:].clamp(min=1e-3).sqrt()


def shown_at(pictures: Pixels, side: int = PIXELS) -> torch.Tensor:
    """Return pictures (B, 128, 128, 3) as the segmenter is shown them (B, 3, side, side)."""
    return functional.interpolate(as_input(pictures), size=(side, side), mode="bilinear", antialias=False)


def told_apart(
    model: Decoder | MaskFormerForInstanceSegmentation,
    states: Sequence[torch.Tensor],
    pixels: torch.Tensor,
    wanted: QueryAssignment,
) -> tuple[torch.Tensor, dict[str, float]]:
    """Return the loss of masks and labels, over the decoder's layers, and figures of the last one.

    Every query on a thing learns its mask in every layer. In the layers before the last it also learns the thing's
    label; in the last, only the owner does, and all others that they are nothing.

    Args:
        model: The segmenter.
        states: What the layers give (B, q, d), in order.
        pixels: The pixel decoder's map (B, F, H, W).
        wanted: Of a batch.
    """
    lies = wanted.lying >= 0
    target = (wanted.cells[:, None].long() == wanted.lying[:, :, None, None]).float()
    nothing = torch.full_like(wanted.labels, len(labels()))
    weight = torch.ones(len(labels()) + 1)
    weight[-1] = NOTHING
    total, parts = torch.zeros(()), dict[str, float]()
    for number, state in enumerate(states, start=1):
        logits = torch.einsum("bqc,bchw->bqhw", model.mask_embedder(state), pixels).float()
        focal, dice = mask_losses(logits[lies], target[lies])
        named = torch.where(wanted.owns, wanted.labels, nothing) if number == len(states) else wanted.labels
        said = model.class_predictor(state).float()
        naming = functional.cross_entropy(said.flatten(0, 1), named.flatten(), weight)
        total = total + FOCAL * focal + DICE * dice + naming
        if number == len(states):
            parts = _figures(logits, target, said, named, wanted)
    return total / len(states), parts


def mask_losses(logits: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return focal loss (Lin et al. 2017) and dice loss of masks (n, H, W), each the mean over masks."""
    crossed = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
    share = logits.sigmoid()
    missed = share + target - 2 * share * target
    focal = (crossed * missed**2 * (0.75 - 0.5 * target)).mean()
    both = (share * target).sum(dim=(1, 2))
    dice = 1 - (2 * both + 1) / (share.sum(dim=(1, 2)) + target.sum(dim=(1, 2)) + 1)
    return focal, dice.mean()


@torch.no_grad()
def _figures(
    logits: torch.Tensor, target: torch.Tensor, said: torch.Tensor, named: torch.Tensor, wanted: QueryAssignment
) -> dict[str, float]:
    found, there = logits > 0, target > 0
    overlap = (found & there).sum(dim=(2, 3)) / (found | there).sum(dim=(2, 3)).clamp(min=1)
    things = wanted.owns & (wanted.labels < len(vocabulary().groups))
    right = said.argmax(-1) == named
    rest = ~wanted.owns
    return {
        "thing IoU": overlap[things].mean().item() if things.any() else 0.0,
        "stuff IoU": overlap[wanted.owns & ~things].mean().item(),
        "labels right": right[wanted.owns].float().mean().item(),
        "nothing right": right[rest].float().mean().item(),
    }


class Decoder(nn.Module):
    """Parts that telling apart teaches: the transformer decoder and the two heads on its queries.

    Args:
        segmenter: The model whose parts these are; they are changed in place.
    """

    def __init__(self, segmenter: MaskFormerForInstanceSegmentation) -> None:
        super().__init__()
        self.transformer = segmenter.model.transformer_module
        self.mask_embedder = segmenter.mask_embedder
        self.class_predictor = segmenter.class_predictor


@dataclass(frozen=True)
class Maps:
    """Maps of the pixel level, computed once (half precision), and the targets of each picture.

    Attributes:
        cells: (n, C, h, w) the backbone's last map.
        pixels: (n, F, H, W) the pixel decoder's map.
        wanted: One of each picture.
    """

    cells: torch.Tensor
    pixels: torch.Tensor
    wanted: tuple[QueryAssignment, ...]

    @classmethod
    @torch.no_grad()
    def of(cls, model: MaskFormerForInstanceSegmentation, source: Corpus, indices: Sequence[int]) -> Maps:
        """Compute them for some pictures of a corpus."""
        level = model.model.pixel_level_module
        level.eval()
        cells, pixels = [], []
        for start in range(0, len(indices), APART_BATCH):
            seen = level(shown_at(source.pictures[list(indices[start : start + APART_BATCH])]))
            cells.append(seen.encoder_last_hidden_state.half())
            pixels.append(seen.decoder_last_hidden_state.half())
        side = pixels[0].shape[-1]
        wanted = tuple(wanted_of(panoptic(source.scenes[index]), side=side) for index in indices)
        return cls(torch.cat(cells), torch.cat(pixels), wanted)


class Apart:
    """Batches of maps and the loss on them."""

    def __init__(self, decoder: Decoder, maps: Maps) -> None:
        self.decoder, self.maps = decoder, maps

    def loss(self, step: int) -> tuple[torch.Tensor, dict[str, float]]:
        """Return the loss of one step and its figures."""
        chosen = np.random.default_rng([step, 43]).integers(0, len(self.maps.wanted), APART_BATCH)
        cells, pixels = self.maps.cells[chosen].float(), self.maps.pixels[chosen].float()
        states = self.decoder.transformer(cells, output_hidden_states=True).hidden_states[1:]
        return told_apart(self.decoder, states, pixels, stacked([self.maps.wanted[index] for index in chosen]))
