"""Encoders of pictures under test, such as DINOv2: they say how alike pictures are, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from snellen.errors import BadInput, SnellenError
from snellen.models.under_test.model import Card, Question, Ranking

if TYPE_CHECKING:
    import PIL.Image
    import torch

    from snellen.models.loading import Checkpoint


class EncoderModel:
    """A model that makes a vector of a picture, such as `Dinov2Model`.

    Args:
        checkpoint: The model, in eval mode, with what reads pictures for it.
        card: What it is.
        batch: How many pictures are computed at once, at most.
    """

    def __init__(self, checkpoint: Checkpoint, card: Card, *, batch: int = 32) -> None:
        self._checkpoint, self._card, self._batch = checkpoint, card, batch

    @property
    def card(self) -> Card:
        """The model's card."""
        return self._card

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:  # noqa: ARG002 - none is read
        """Refuse: it reads no texts.

        Raises:
            SnellenError: Always.
        """
        msg = f"{self._card.name} compares pictures with pictures: it reads no questions and ranks no answers."
        raise SnellenError(msg)

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:  # noqa: ARG002 - as above
        """Refuse: there is nothing in it that writes.

        Raises:
            SnellenError: Always.
        """
        msg = f"{self._card.name} compares pictures with pictures and cannot answer freely."
        raise SnellenError(msg)

    def alike(self, questions: Sequence[Question]) -> list[float]:
        """Return the cosine of each question's two pictures (PairBench, appendix C.5).

        Raises:
            BadInput: A question has not just two pictures.
        """
        for question in questions:
            if len(question.pictures) != 2:  # noqa: PLR2004 - a pair
                msg = f"{self._card.name} compares two pictures: it reads no texts."
                raise BadInput(msg)
        vectors = self._encoded([picture for question in questions for picture in question.pictures])
        return [float(vectors[2 * place] @ vectors[2 * place + 1]) for place in range(len(questions))]

    def _encoded(self, pictures: Sequence[PIL.Image.Image]) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        with self._checkpoint.inference():
            for begun in range(0, len(pictures), self._batch):
                pixels = self._checkpoint.pixels(list(pictures[begun : begun + self._batch]))
                vectors = self._checkpoint.model(pixel_values=pixels).pooler_output.float().cpu()
                found.extend(vectors / vectors.norm(dim=-1, keepdim=True))
        return found
