"""BLIP under test: a model that encodes the question with the picture, and whose decoder reads what came of it.

Nothing of a choice is read together with the question, so what is computed once is the question as it was read; all
choices are one padded batch behind it (Li et al. 2022, section 3.1, rank the answers of VQA so).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from snellen.models.under_test.model import Card, Question, Ranking, check_question

if TYPE_CHECKING:
    import torch

    from snellen.models.loading import Checkpoint


class AnswererModel:
    """A checkpoint of `BlipForQuestionAnswering`.

    Args:
        checkpoint: The model, in eval mode, with what reads pictures and texts for it.
        card: What it is.
        batch: How many pictures are computed at once, at most.
    """

    def __init__(self, checkpoint: Checkpoint, card: Card, *, batch: int = 16) -> None:
        self.card, self._checkpoint, self._batch = card, checkpoint, batch

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank by the log-probability of each token of a choice, as the decoder would write it."""
        for question in questions:
            check_question(self.card.name, question, ranked=True)
        groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for place, question in enumerate(questions):
            groups.setdefault((question.text, question.choices), []).append(place)
        found: dict[int, Ranking] = {}
        with self._checkpoint.inference():
            for places in groups.values():
                for begun in range(0, len(places), self._batch):
                    part = places[begun : begun + self._batch]
                    found.update(zip(part, self._ranked([questions[place] for place in part]), strict=True))
        return [found[place] for place in range(len(questions))]

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        """Answer greedily, so that the same question gets the same answer."""
        for question in questions:
            check_question(self.card.name, question, ranked=False)
        said = []
        with self._checkpoint.inference():
            for question in questions:
                written = self._checkpoint.model.generate(
                    pixel_values=self._checkpoint.pixels([question.pictures[0]]),
                    **self._checkpoint.tokens([question.text]),
                    max_new_tokens=tokens,
                    do_sample=False,
                    num_beams=1,
                )
                said.append(self._checkpoint.tokenizer.decode(written[0], skip_special_tokens=True).strip())
        return said

    def _ranked(self, asked: Sequence[Question]) -> list[Ranking]:
        """Rank the choices of one question about several pictures."""
        import torch

        tokenizer, model = self._checkpoint.tokenizer, self._checkpoint.model
        choices = [tokenizer(choice, add_special_tokens=False)["input_ids"] for choice in asked[0].choices]
        longest = max(map(len, choices))
        start, pad = model.decoder_start_token_id, model.decoder_pad_token_id
        rows = [[start, *choice, *[pad] * (longest - len(choice))] for choice in choices]
        ids = torch.tensor(rows, device=self._checkpoint.device).repeat(len(asked), 1)
        read = self._read(asked).repeat_interleave(len(choices), dim=0)
        logits = model.text_decoder(
            input_ids=ids[:, :-1],
            encoder_hidden_states=read,
            encoder_attention_mask=torch.ones(read.shape[:-1], dtype=torch.long, device=ids.device),
            return_dict=True,
        ).logits
        found = logits.float().log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0].unflatten(0, (len(asked), -1))
        return [
            Ranking(tuple(tuple(row[: len(choice)]) for row, choice in zip(each, choices, strict=True)))
            for each in found.tolist()
        ]

    def _read(self, asked: Sequence[Question]) -> torch.Tensor:
        """Read one question with each picture: ``(n, words, width)``."""
        import torch

        model = self._checkpoint.model
        seen = model.vision_model(pixel_values=self._checkpoint.pixels([each.pictures[0] for each in asked]))[0]
        read: Any = model.text_encoder(
            **self._checkpoint.tokens([each.text for each in asked]),
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:-1], dtype=torch.long, device=seen.device),
            return_dict=False,
        )[0]
        found: torch.Tensor = read
        return found
