"""Encoders under test: contrastive models, and encoders of pictures alone, such as DINOv2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from snellen.errors import BadInput, SnellenError
from snellen.models.under_test.model import Card, Question, Ranking, check_question

if TYPE_CHECKING:
    import PIL.Image
    import torch

    from snellen.models.loading import Checkpoint


class ContrastiveModel:
    """A model with two encoders, such as `CLIPModel`: a choice is as good as its text is similar to the picture.

    Args:
        checkpoint: The model, in eval mode, with what reads pictures and texts for it.
        card: What it is.
        sentence: How a ``{question}`` and one ``{choice}`` become a text; ``{name}`` is a choice without its article.
        batch: How many pictures or texts are computed at once, at most.
    """

    def __init__(
        self, checkpoint: Checkpoint, card: Card, *, sentence: str = "{question} {choice}", batch: int = 64
    ) -> None:
        self.card, self._checkpoint, self._sentence, self._batch = card, checkpoint, sentence, batch

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank by the log-softmax over a question's choices of the scaled cosines."""
        for question in questions:
            check_question(self.card.name, question, ranked=True)
        sentences = [
            self._sentence.format(question=question.text, choice=choice, name=_bare(choice))
            for question in questions
            for choice in question.choices
        ]
        texts = self._encoded(list(dict.fromkeys(sentences)), self._texts)
        rows = dict(zip(dict.fromkeys(sentences), texts, strict=True))
        pictures = self._seen([question.pictures[0] for question in questions])
        found, at = [], 0
        for question, picture in zip(questions, pictures, strict=True):
            own = [rows[sentence] for sentence in sentences[at : at + len(question.choices)]]
            at += len(question.choices)
            found.append(Ranking(tuple((score,) for score in self._scores(picture, own)), basis="similarity"))
        return found

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:  # noqa: ARG002 - none is read
        """Refuse: there is nothing in it that writes.

        Raises:
            SnellenError: Always.
        """
        msg = f"{self.card.name} compares pictures with texts and cannot answer freely."
        raise SnellenError(msg)

    def alike(self, questions: Sequence[Question]) -> list[float]:
        """Return the cosine of each question's two pictures, or of its picture and its text (PairBench, appendix C.5).

        Raises:
            BadInput: A question has neither two pictures nor a picture and a text.
        """
        for question in questions:
            if len(question.pictures) + bool(question.text) != 2:  # noqa: PLR2004 - a pair
                msg = f"{self.card.name} compares two pictures, or a picture with a text."
                raise BadInput(msg)
        firsts = self._seen([question.pictures[0] for question in questions])
        told = [question.text for question in questions if question.text]
        texts = iter(self._encoded(told, self._texts))
        others = iter(self._seen([one.pictures[1] for one in questions if not one.text]))
        return [
            float(first @ next(texts if question.text else others))
            for first, question in zip(firsts, questions, strict=True)
        ]

    def _scores(self, picture: torch.Tensor, texts: Sequence[torch.Tensor]) -> list[float]:
        import torch

        scale = self._checkpoint.model.logit_scale.exp().float().cpu()
        scores: list[float] = (scale * (torch.stack(list(texts)) @ picture)).log_softmax(dim=0).tolist()
        return scores

    def _seen(self, pictures: Sequence[PIL.Image.Image]) -> list[torch.Tensor]:
        """Encode pictures, each of them once: a picture is the same if it is the same object."""
        distinct = {id(picture): picture for picture in pictures}
        vectors = dict(zip(distinct, self._encoded(list(distinct.values()), self._pictures), strict=True))
        return [vectors[id(picture)] for picture in pictures]

    def _encoded(self, items: Sequence[Any], encode: Callable[[list[Any]], Any]) -> list[torch.Tensor]:
        return _unit_vectors(self._checkpoint, items, encode, batch=self._batch)

    def _texts(self, texts: list[str]) -> Any:  # noqa: ANN401 - an output of transformers
        return self._checkpoint.model.get_text_features(**self._checkpoint.tokens(texts))

    def _pictures(self, pictures: list[PIL.Image.Image]) -> Any:  # noqa: ANN401 - as above
        return self._checkpoint.model.get_image_features(pixel_values=self._checkpoint.pixels(pictures))


class EncoderModel:
    """A model that makes a vector of a picture, such as `Dinov2Model`.

    Args:
        checkpoint: The model, in eval mode, with what reads pictures for it.
        card: What it is.
        batch: How many pictures are computed at once, at most.
    """

    def __init__(self, checkpoint: Checkpoint, card: Card, *, batch: int = 32) -> None:
        self.card, self._checkpoint, self._batch = card, checkpoint, batch

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:  # noqa: ARG002 - none is read
        """Refuse: it reads no texts.

        Raises:
            SnellenError: Always.
        """
        msg = f"{self.card.name} compares pictures with pictures: it reads no questions and ranks no answers."
        raise SnellenError(msg)

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:  # noqa: ARG002 - as above
        """Refuse: there is nothing in it that writes.

        Raises:
            SnellenError: Always.
        """
        msg = f"{self.card.name} compares pictures with pictures and cannot answer freely."
        raise SnellenError(msg)

    def alike(self, questions: Sequence[Question]) -> list[float]:
        """Return the cosine of each question's two pictures (PairBench, appendix C.5).

        Raises:
            BadInput: A question has not just two pictures.
        """
        for question in questions:
            if len(question.pictures) != 2:  # noqa: PLR2004 - a pair
                msg = f"{self.card.name} compares two pictures: it reads no texts."
                raise BadInput(msg)
        pictures = [picture for question in questions for picture in question.pictures]
        vectors = _unit_vectors(self._checkpoint, pictures, self._seen, batch=self._batch)
        return [float(vectors[2 * place] @ vectors[2 * place + 1]) for place in range(len(questions))]

    def _seen(self, pictures: list[PIL.Image.Image]) -> Any:  # noqa: ANN401 - an output of transformers
        return self._checkpoint.model(pixel_values=self._checkpoint.pixels(pictures))


def _unit_vectors(
    checkpoint: Checkpoint, items: Sequence[Any], encode: Callable[[list[Any]], Any], *, batch: int
) -> list[torch.Tensor]:
    """Encode pictures or texts, so many at once, as vectors of length one."""
    vectors: list[torch.Tensor] = []
    with checkpoint.inference():
        for begun in range(0, len(items), batch):
            features = encode(list(items[begun : begun + batch])).pooler_output.float().cpu()
            vectors.extend(features / features.norm(dim=-1, keepdim=True))
    return vectors


def _bare(choice: str) -> str:
    """Return a choice without its article: some models were only ever shown names."""
    first, _, rest = choice.partition(" ")
    return rest if first.casefold() in {"a", "an", "the"} and rest else choice
