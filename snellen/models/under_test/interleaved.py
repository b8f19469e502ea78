"""Idefics under test: a model that looks at pictures through cross-attention, from wherever they stand in its prompt.

Its processor knows no chat template: it takes texts and pictures in turns (Laurençon et al. 2023, OBELICS).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.models.under_test.local import LocalModel
from snellen.models.under_test.model import Question

if TYPE_CHECKING:
    import torch

_ASKED = "User: {question}"
_ENDED = "<end_of_utterance>\nAssistant:"
_PICTURE = "<fake_token_around_image><image>"


class InterleavedModel(LocalModel):
    """A checkpoint of `IdeficsForVisionText2Text`; see `LocalModel`."""

    def _prompt(self, question: Question) -> str:
        """Return what its processor writes, as its instructed checkpoints were taught."""
        seen = _PICTURE * len(question.pictures) + "<fake_token_around_image>"
        return _ASKED.format(question=question.text) + seen + _ENDED

    def _inputs(self, questions: Sequence[Question], prompt: str) -> dict[str, torch.Tensor]:  # noqa: ARG002 - as written
        # A text that is an address would be fetched by the processor; with the words before it, no question is one.
        said = [
            [_ASKED.format(question=one.text), *(picture.convert("RGB") for picture in one.pictures), _ENDED]
            for one in questions
        ]
        return self._moved(self._processor(text=said, return_tensors="pt"))
