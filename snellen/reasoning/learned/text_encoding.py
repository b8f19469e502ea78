"""Texts as tensors: word pieces, and which of them belong to which mention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from snellen.reasoning.learned.mentions import KINDS, MentionedText

MAX_PIECES: Final = 160
OPENINGS: Final = {1: "picture :", 2: "pictures :", 0: "models :"}
"""What a text is about: one picture, two, or models."""


@dataclass(frozen=True)
class TextTensors:
    """Texts as tensors; the shapes are those of `ActionDecoder.encode`."""

    ids: Tensor
    mask: Tensor
    membership: Tensor
    kinds: Tensor


class TextEncoder:
    """Makes tensors of texts with a tokenizer of the encoder."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - of transformers
        self._tokenizer = tokenizer
        self._pieces: dict[str, list[int]] = {}

    def _of(self, word: str) -> list[int]:
        if word not in self._pieces:
            self._pieces[word] = self._tokenizer(word, add_special_tokens=False)["input_ids"] or [
                self._tokenizer.unk_token_id
            ]
        return self._pieces[word]

    def __call__(self, texts: Sequence[tuple[int, MentionedText]]) -> TextTensors:
        """Make tensors of texts, each with the number of its pictures, 0 for one about models."""
        rows = [self._row(*each) for each in texts]
        longest = max(len(ids) for ids, _ in rows)
        most = max(1, *(len(text.mentions) for _, text in texts))
        ids = torch.full((len(rows), longest), self._tokenizer.pad_token_id)
        mask = torch.zeros((len(rows), longest), dtype=torch.bool)
        membership = torch.zeros((len(rows), most, longest))
        kinds = torch.full((len(rows), most), -1)
        for number, ((row, starts), (_, text)) in enumerate(zip(rows, texts, strict=True)):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = True
            for place, mention in enumerate(text.mentions):
                kinds[number, place] = KINDS.index(mention.kind)
                for start, end in mention.spans:
                    membership[number, place, starts[start] : starts[end]] = 1
                total = membership[number, place].sum()
                membership[number, place] /= total.clamp(min=1)
        return TextTensors(ids, mask, membership, kinds)

    def _row(self, pictures: int, text: MentionedText) -> tuple[list[int], list[int]]:
        """Return the pieces of a text, and where each of its words begins; after the last word where it ends."""
        ids = [self._tokenizer.cls_token_id]
        for word in OPENINGS[pictures].split():
            ids += self._of(word)
        starts = []
        for word in text.words:
            starts.append(min(len(ids), MAX_PIECES - 1))
            ids += self._of(word)
        starts.append(min(len(ids), MAX_PIECES - 1))
        return [*ids[: MAX_PIECES - 1], self._tokenizer.sep_token_id], starts
