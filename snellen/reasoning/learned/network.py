"""The network of the learned reader: low-rank adapters on the sentence encoder, and a small decoder of actions.

The encoder is the one by which demonstrations are found. The decoder is a transformer with attention to the words; it
scores the actions of its vocabulary and, by their words, the mentions that may be copied (a pointer network).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH: Final = 192
HEADS: Final = 4
LAYERS: Final = 3
RANK: Final = 16
_ADAPTED: Final = ("query", "key", "value", "dense")


class AdaptedLinear(nn.Module):
    """A linear layer with an update of low rank (LoRA, Hu et al. 2022); the layer itself stays as it is."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to (…, in) and return (…, out)."""
        return self.linear(x) + functional.linear(functional.linear(x, self.down), self.up)  # type: ignore[no-any-return]


def adapted(encoder: nn.Module, rank: int = RANK) -> nn.Module:
    """Freeze an encoder and put adapters on the linear layers of its transformer blocks."""
    for parameter in encoder.parameters():
        parameter.requires_grad = False
    for name, module in list(encoder.named_modules()):
        if ".layer." in name and isinstance(module, nn.Linear):
            parent = encoder.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], AdaptedLinear(module, rank))
    return encoder


@dataclass(frozen=True)
class EncodedText:
    """Texts that are encoded.

    Attributes:
        states: (n, words, width).
        mask: (n, words), true for words.
        mentions: (n, mentions, width).
        mention_mask: (n, mentions), true for mentions.
    """

    states: Tensor
    mask: Tensor
    mentions: Tensor
    mention_mask: Tensor


class ActionDecoder(nn.Module):
    """The encoder with its adapters, and the decoder."""

    def __init__(self, encoder: nn.Module, actions: int, kinds: int, width: int = WIDTH, layers: int = LAYERS) -> None:
        super().__init__()
        self.encoder = encoder
        size: int = encoder.config.hidden_size  # type: ignore[union-attr,assignment]
        self.project = nn.Linear(size, width)
        self.kind = nn.Embedding(kinds, width)
        self.action = nn.Embedding(actions, width)
        self.copied = nn.Linear(width, width)
        self.position = nn.Embedding(128, width)
        layer = nn.TransformerDecoderLayer(width, HEADS, 2 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.layers = nn.TransformerDecoder(layer, layers, norm=nn.LayerNorm(width))
        self.pointer = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)
        for table in (self.kind, self.action, self.position):
            nn.init.normal_(table.weight, std=width**-0.5)

    def encode(self, ids: Tensor, mask: Tensor, membership: Tensor, kinds: Tensor) -> EncodedText:
        """Encode texts.

        Args:
            ids: (n, words), word pieces.
            mask: (n, words).
            membership: (n, mentions, words), the share of each word in a mention; zero for none.
            kinds: (n, mentions), the kinds of the mentions; -1 where there is none.
        """
        hidden = self.encoder(input_ids=ids, attention_mask=mask.long()).last_hidden_state.float()
        states = self.project(self.drop(hidden))
        mentions = membership @ states + self.kind(kinds.clamp(min=0))
        # A word knows of which kind of mention it is a part, and of which one: by the sum over its mentions.
        states = states + (membership > 0).float().transpose(1, 2) @ self.copied(mentions)
        return EncodedText(states, mask, mentions, kinds >= 0)

    def decode(self, text: EncodedText, actions: Tensor) -> Tensor:
        """Score what comes next.

        Args:
            text: n encoded texts.
            actions: (n, steps), the actions before; from the size of the vocabulary on they are copies.

        Returns:
            (n, steps, vocabulary + mentions).
        """
        size = self.action.num_embeddings
        plain = self.action(actions.clamp(max=size - 1))
        index = (actions - size).clamp(min=0)[..., None].expand(-1, -1, plain.shape[-1])
        copies = torch.gather(text.mentions, 1, index.clamp(max=text.mentions.shape[1] - 1))
        inputs = torch.where((actions >= size)[..., None], self.copied(copies), plain)
        steps = actions.shape[1]
        inputs = self.drop(inputs + self.position(torch.arange(steps)))
        causal = torch.full((steps, steps), -torch.inf).triu(1)
        states = self.layers(
            inputs, text.states, tgt_mask=causal, tgt_is_causal=True, memory_key_padding_mask=~text.mask
        )
        vocabulary = functional.linear(states, self.action.weight)
        pointers = self.pointer(states) @ text.mentions.transpose(1, 2) / math.sqrt(states.shape[-1])
        pointers = pointers.masked_fill(~text.mention_mask[:, None], -torch.inf)
        return torch.cat((vocabulary, pointers), dim=-1)

    def own_state(self) -> dict[str, Any]:
        """Return the parameters that were trained, without those of the encoder itself."""
        return {name: value for name, value in self.state_dict().items() if not _is_of_encoder(name)}


def _is_of_encoder(name: str) -> bool:
    return name.startswith("encoder.") and not name.endswith((".down", ".up"))
