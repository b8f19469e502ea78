"""BLIP: answers to questions, captions, and whether a text describes a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from snellen.models.injection import answer_prompts
from snellen.models.loading import load_checkpoint
from snellen.models.soft_prompts import PromptSource, ensemble, similar_enough

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import CaptionModel, Profile, VqaModel


@dataclass(frozen=True)
class PictureAndText:
    """One picture with a question or a description."""

    picture: PIL.Image.Image
    text: str


class ScoredAnswer(str):
    """An answer as decoded.

    Attributes:
        probability: Of all its tokens, in [0, 1].
        rival: The answer of one token that was next likeliest; empty where the next likeliest has several.
    """

    __slots__ = ("probability", "rival")
    probability: float
    rival: str

    def __new__(cls, text: str, probability: float, rival: str = "") -> Self:
        """Keep the probability and the rival of a text."""
        answer = super().__new__(cls, text)
        answer.probability, answer.rival = probability, rival
        return answer


@dataclass(frozen=True)
class EncodedQuestions:
    """Questions of one length, read with their pictures: no prompt changes it.

    Attributes:
        questions: ``(n, words, width)``, what the answer decoder attends to.
        features: ``(n, d)`` float32: the picture's mean patch beside the question's mean word, each of unit length.
    """

    questions: torch.Tensor
    features: NDArray[np.float32]


class Answerer:
    """``BlipForQuestionAnswering``, decoded greedily.

    Args:
        profile: Names the checkpoint and how prompts are selected.
        settings: The profile's entry for it.
        prompts: What was learned from questions; those alike are answered with it.
    """

    def __init__(self, profile: Profile, settings: VqaModel, prompts: PromptSource | None = None) -> None:
        self.checkpoint = load_checkpoint(profile, "vqa")
        self.settings = settings
        self._tuning = profile.tuning.vqa
        self._prompts = prompts

    def __call__(self, calls: Sequence[PictureAndText]) -> list[str]:
        """Answer each question; questions of one length share a forward pass.

        The model's ``generate`` lets the answer attend to the padding of its question, so questions of different
        lengths in one batch would change one another's answers.
        """
        answer = self._answer_as_learned if self._prompts and self._prompts.concepts("VQA") else self._answer
        answers = [""] * len(calls)
        for indices in self.by_length([call.text for call in calls]):
            for index, given in zip(indices, answer([calls[i] for i in indices]), strict=True):
                answers[index] = given
        return answers

    def by_length(self, questions: Sequence[str]) -> list[list[int]]:
        """Indices of the questions, those with as many tokens together."""
        groups: dict[int, list[int]] = defaultdict(list)
        for index, question in enumerate(questions):
            groups[len(self.checkpoint.tokenizer(question)["input_ids"])].append(index)
        return list(groups.values())

    def _answer(self, calls: Sequence[PictureAndText]) -> list[str]:
        with self.checkpoint.inference():
            generated = self.checkpoint.model.generate(
                pixel_values=self.checkpoint.pixels([call.picture for call in calls]),
                **self.checkpoint.tokens([call.text for call in calls]),
                **self._decoding,
            )
        return self._words(generated)

    def _answer_as_learned(self, calls: Sequence[PictureAndText]) -> list[str]:
        """Answer with the prompts of questions alike; those that have none are answered as ever, in their own pass."""
        import numpy as np
        import torch

        answers = [""] * len(calls)
        with self.checkpoint.inference():
            reading = self.read(calls)
            prompts = [self._select(feature) for feature in reading.features]
            plain = [row for row, prompt in enumerate(prompts) if prompt is None]
            prompted = [row for row, prompt in enumerate(prompts) if prompt is not None]
            for rows in filter(None, (plain, prompted)):
                chosen = None
                if rows is prompted:
                    chosen = torch.from_numpy(np.stack([each for each in prompts if each is not None]))
                    chosen = chosen.to(self.checkpoint.device)
                for row, answer in zip(rows, self.decode(reading.questions[rows], chosen), strict=True):
                    answers[row] = answer
        return answers

    def _select(self, feature: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The prompt for a question, combined from the nearest that are similar enough (CLOVA section 8.1.3).

        The nearest question of all decides: where it was answered rightly, as its prompt of zeros says, this one is
        answered as ever. In a mean with the others, as the paper has it, zeros would only weaken what was learned.
        """
        import numpy as np

        assert self._prompts is not None  # noqa: S101 - called only where something was learned
        candidates = self._prompts.candidates("VQA", "", feature, self._tuning.nearest)
        if candidates is None:
            return None
        alike = similar_enough(candidates, feature, least=self._tuning.similarity)
        if not len(alike) or not alike.prompts[0].any():
            return None
        learned = np.flatnonzero([prompt.any() for prompt in alike.prompts])
        return ensemble(alike.take(learned), feature)

    def read(self, calls: Sequence[PictureAndText]) -> EncodedQuestions:
        """Encode pictures, and questions of one length with them."""
        import torch

        model = self.checkpoint.model
        tokens = self.checkpoint.tokens([call.text for call in calls])
        seen = model.vision_model(pixel_values=self.checkpoint.pixels([call.picture for call in calls]))[0]
        read = model.text_encoder(
            **tokens,
            encoder_hidden_states=seen,
            encoder_attention_mask=torch.ones(seen.shape[:-1], dtype=torch.long, device=seen.device),
            return_dict=False,
        )[0]
        means = [each.float().mean(dim=1) for each in (seen[:, 1:], read)]
        features = torch.cat([each / each.norm(dim=-1, keepdim=True) for each in means], dim=-1)
        return EncodedQuestions(read, features.cpu().numpy())

    def decode(self, questions: torch.Tensor, prompts: torch.Tensor | None = None) -> list[str]:
        """Answers to questions that were read ``(n, words, width)``, as ``BlipForQuestionAnswering.generate`` gives.

        Args:
            questions: What :meth:`read` made.
            prompts: ``(n, vectors, width)``, or None for the original answers.
        """
        import torch

        decoder = self.checkpoint.model.text_decoder
        first = self.checkpoint.model.decoder_start_token_id
        with nullcontext() if prompts is None else answer_prompts(decoder, prompts):
            generated = decoder.generate(
                input_ids=torch.full((len(questions), 1), first, device=questions.device),
                eos_token_id=decoder.config.sep_token_id,
                pad_token_id=decoder.config.pad_token_id,
                encoder_hidden_states=questions,
                encoder_attention_mask=torch.ones(questions.shape[:-1], dtype=torch.long, device=questions.device),
                **self._decoding,
            )
        return self._words(generated)

    @property
    def _decoding(self) -> dict[str, Any]:
        scored = {"output_scores": True, "return_dict_in_generate": True}
        return {"max_new_tokens": self.settings.max_new_tokens, "num_beams": 1, "do_sample": False, **scored}

    def _words(self, generated: Any) -> list[str]:  # noqa: ANN401 - transformers' outputs of a decoder
        """Return the answers of a greedy search, each with its probability and the next likeliest of one token."""
        import torch

        tokenizer = self.checkpoint.tokenizer
        texts: list[str] = tokenizer.batch_decode(generated.sequences, skip_special_tokens=True)
        logits = torch.stack(generated.scores, dim=1).float()  # (answers, tokens, vocabulary)
        tokens = generated.sequences[:, -logits.shape[1] :]
        chances = logits.softmax(dim=-1).gather(-1, tokens[..., None])[..., 0]
        after_the_end = tokens.eq(tokenizer.sep_token_id).cumsum(dim=-1) - tokens.eq(tokenizer.sep_token_id).long() > 0
        probabilities = chances.masked_fill(after_the_end, 1.0).prod(dim=-1).tolist()
        seconds = tokenizer.batch_decode(logits[:, 0].topk(2).indices[:, 1:], skip_special_tokens=True)
        lengths = (~tokens.eq(tokenizer.sep_token_id)).logical_and(~after_the_end).sum(dim=-1).tolist()
        return [
            ScoredAnswer(text, probability, second if length == 1 else "")
            for text, probability, second, length in zip(texts, probabilities, seconds, lengths, strict=True)
        ]


class Captioner:
    """``BlipForConditionalGeneration``, decoded by beam search, greedily where one draft is asked for."""

    def __init__(self, profile: Profile, settings: CaptionModel) -> None:
        self._checkpoint = load_checkpoint(profile, "caption")
        self._settings = settings

    def __call__(self, pictures: Sequence[PIL.Image.Image]) -> list[tuple[str, ...]]:
        """Draft descriptions of each picture, the most probable first; one search for all pictures."""
        checkpoint, drafts = self._checkpoint, self._settings.drafts
        with checkpoint.inference():
            tokens = checkpoint.model.generate(
                pixel_values=checkpoint.pixels(list(pictures)),
                max_new_tokens=self._settings.max_new_tokens,
                num_beams=drafts,
                num_return_sequences=drafts,
                do_sample=False,
            )
        texts = [text.strip() for text in checkpoint.tokenizer.batch_decode(tokens, skip_special_tokens=True)]
        return [tuple(texts[start : start + drafts]) for start in range(0, len(texts), drafts)]


class Matcher:
    """``BlipForImageTextRetrieval`` with its matching head."""

    def __init__(self, profile: Profile) -> None:
        self._checkpoint = load_checkpoint(profile, "match")

    def __call__(self, calls: Sequence[PictureAndText]) -> list[float]:
        """The probability in [0, 1] that each text describes its picture; one forward pass."""
        checkpoint = self._checkpoint
        # The model makes one of its masks on the default device; the context makes that the model's own.
        with checkpoint.inference():
            scores = checkpoint.model(
                pixel_values=checkpoint.pixels([call.picture for call in calls]),
                **checkpoint.tokens([call.text for call in calls]),
                use_itm_head=True,
            ).itm_score
        return [float(value) for value in scores.float().softmax(dim=-1)[:, 1]]
