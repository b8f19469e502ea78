"""BLIP under test: a model that encodes the question with the picture, and whose decoder reads what came of it.

Nothing of a choice is read together with the question, so the question is read once; all choices are one padded batch
behind it (Li et al. 2022, section 3.1, rank the answers of VQA so). A picture is seen once for all questions about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from snellen.models.under_test.batches import alike, batches, pictures_of
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
        groups = alike(range(len(questions)), lambda place: pictures_of(questions[place]))
        found: dict[int, Ranking] = {}
        with self._checkpoint.inference():
            for begun in range(0, len(groups), self._batch):
                part = groups[begun : begun + self._batch]
                seen = self._seen([questions[places[0]] for places in part])
                rows = {place: row for row, places in enumerate(part) for place in places}
                # Nothing is padded: the decoder of transformers heeds what is padded behind a question.
                for places in batches(rows, lambda place: self._length(questions[place]), self._batch):
                    ranked = self._ranked([questions[place] for place in places], seen[[rows[one] for one in places]])
                    found.update(zip(places, ranked, strict=True))
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

    def _length(self, question: Question) -> int:
        return int(self._checkpoint.tokens([question.text])["input_ids"].shape[1])

    def _seen(self, asked: Sequence[Question]) -> torch.Tensor:
        """See the picture of each question: ``(n, patches, width)``."""
        pixels = self._checkpoint.pixels([each.pictures[0] for each in asked])
        seen: torch.Tensor = self._checkpoint.model.vision_model(pixel_values=pixels)[0]
        return seen

    def _ranked(self, asked: Sequence[Question], seen: torch.Tensor) -> Iterator[Ranking]:
        """Rank the choices of questions of one length, each with what was seen for it."""
        import torch

        tokenizer, model = self._checkpoint.tokenizer, self._checkpoint.model
        choices = [
            (row, tokenizer(choice, add_special_tokens=False)["input_ids"])
            for row, each in enumerate(asked)
            for choice in each.choices
        ]
        longest = max(len(choice) for _, choice in choices)
        start, pad = model.decoder_start_token_id, model.decoder_pad_token_id
        rows = [[start, *choice, *[pad] * (longest - len(choice))] for _, choice in choices]
        ids = torch.tensor(rows, device=self._checkpoint.device)
        about = [row for row, _ in choices]
        read = self._read(asked, seen)[about]
        logits = model.text_decoder(
            input_ids=ids[:, :-1],
            encoder_hidden_states=read,
            encoder_attention_mask=torch.ones(read.shape[:-1], dtype=torch.long, device=ids.device),
            return_dict=True,
        ).logits
        found = logits.float().log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0].tolist()
        scores = (tuple(row[: len(choice)]) for row, (_, choice) in zip(found, choices, strict=True))
        for each in asked:
            yield Ranking(tuple(itertools.islice(scores, len(each.choices))))

    def _read(self, asked: Sequence[Question], seen: torch.Tensor) -> torch.Tensor:
        """Read questions of one length, each with what was seen: ``(n, words, width)``."""
        import torch

        read: Any = self._checkpoint.model.text_encoder(
            **self._checkpoint.tokens([each.text for each in asked]),
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:-1], dtype=torch.long, device=seen.device),
            return_dict=False,
        )[0]
        found: torch.Tensor = read
        return found
