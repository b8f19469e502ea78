"""VQA: vectors beside the encoded question, for the answer decoder (CLOVA section 8.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from snellen.models.injection import answer_prompts, question_padding
from snellen.models.soft_prompts import cosines
from snellen.models.vision.language import PictureAndText
from snellen.tools.vision.ask import normalised
from snellen.tuning.loop import PromptScores, TuningBatch, transformer_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from snellen.models.vision.language import Answerer, EncodedQuestions
    from snellen.profiles import Profile, TuningSettings, VqaTuning
    from snellen.tuning.instances import Instance, TunedPrompt, TuningExample


@dataclass(frozen=True, eq=False)
class VqaBatch(TuningBatch):
    """Questions of instances, the one to learn first, then negatives; rows of the longest instance, others padded.

    Attributes:
        questions: ``(instances, examples, words, width)``.
        words: ``(instances, examples, words)``: 1 on words, 0 on padding.
        answers: ``(instances, examples, length)``, token ids from the decoder's first token to its last.
        tokens: ``(instances, examples, length)``: 1 on tokens, 0 on padding.
    """

    questions: torch.Tensor
    words: torch.Tensor
    answers: torch.Tensor
    tokens: torch.Tensor


@dataclass(frozen=True, eq=False)
class VqaSeen:
    """Questions, read; those of one length together.

    Attributes:
        examples: What they are.
        groups: Indices of examples, and their reading.
    """

    examples: Sequence[TuningExample]
    groups: list[tuple[list[int], EncodedQuestions]]

    def features(self) -> list[NDArray[np.float32]]:
        """The feature of each, in their order."""
        rows = {index: reading.features[row] for group, reading in self.groups for row, index in enumerate(group)}
        return [rows[index] for index in range(len(self.examples))]


class VqaTuner:
    """Teaches BLIP an answer. Picture and question are read once; each step runs the answer decoder."""

    pool = "VQA"

    def __init__(self, answerer: Answerer, profile: Profile) -> None:
        self._answerer = answerer
        self.settings: VqaTuning = profile.tuning.vqa
        self.common: TuningSettings = profile.tuning
        self.module = answerer.checkpoint.model
        self.device = answerer.checkpoint.device
        self._text = self.module.config.text_config
        self.shape = (self.settings.vectors, int(self._text.hidden_size))

    def size(self, instance: Instance) -> int:
        """One run of the decoder for each question."""
        words = self._answerer.settings.max_new_tokens
        # Twice: each layer attends to its own words and to the question.
        decoder = 2 * transformer_bytes(self._text, words + self.settings.vectors)
        return int(len(instance.examples) * (decoder + 8 * self._text.vocab_size * words))

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """The picture's mean patch beside the question's mean word ``(2 width,)``."""
        return self.look(examples, ()).features()

    def prepare(self, instances: Sequence[Instance]) -> VqaBatch:
        """Read every question with its picture, and spell the answers."""
        shown = [each.examples for each in instances]
        flat = [example for examples in shown for example in examples]
        seen = self.look(flat, ())
        rows = iter(range(len(flat)))
        chosen = [self._concerned([next(rows) for _ in examples], seen.features()) for examples in shown]
        most = max(len(each) for each in chosen)
        where = torch.tensor([[*each, *[0] * (most - len(each))] for each in chosen])
        real = torch.tensor([[i < len(each) for i in range(most)] for each in chosen], device=self.device)
        questions, words = self._padded(seen)
        answers, tokens = self._spelled([example.answer for example in flat])
        return VqaBatch(questions[where], words[where], answers[where], tokens[where] * real[..., None])

    def _concerned(self, rows: Sequence[int], features: Sequence[NDArray[np.float32]]) -> list[int]:
        """The row of an instance's example, and of those negatives so similar that the prompt would be used on them."""
        own, *others = rows
        if not others:
            return [own]
        alike = cosines(np.stack([features[row] for row in others]), features[own]) >= self.settings.similarity
        return [own, *(row for row, near in zip(others, alike, strict=True) if near)]

    def _padded(self, seen: VqaSeen) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(reading.questions.shape[1] for _, reading in seen.groups)
        shape = (len(seen.examples), longest)
        width = seen.groups[0][1].questions.shape[2]
        questions = torch.zeros((*shape, width), device=self.device, dtype=seen.groups[0][1].questions.dtype)
        words = torch.zeros(shape, device=self.device, dtype=torch.long)
        for group, reading in seen.groups:
            questions[group, : reading.questions.shape[1]] = reading.questions
            words[group, : reading.questions.shape[1]] = 1
        return questions, words

    def _spelled(self, answers: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        encoded = self._answerer.checkpoint.tokens(list(answers))
        ids, mask = encoded["input_ids"].clone(), encoded["attention_mask"]
        ids[:, 0] = self.module.decoder_start_token_id
        return ids, mask

    def judge(self, prompts: torch.Tensor, batch: VqaBatch) -> PromptScores:
        """The language-modelling loss of the answers."""
        instances, examples = batch.tokens.shape[:2]
        each = prompts[:, None].expand(-1, examples, *prompts.shape[1:]).flatten(0, 1)
        answers, tokens = batch.answers.flatten(0, 1), batch.tokens.flatten(0, 1)
        decoder = self.module.text_decoder
        hidden = batch.words.flatten(0, 1) == 0
        with answer_prompts(decoder, each), question_padding(decoder, hidden):
            logits = (
                decoder(
                    input_ids=answers,
                    # A row of padding only would attend to nothing.
                    attention_mask=torch.cat([torch.ones_like(tokens[:, :1]), tokens[:, 1:]], dim=1),
                    encoder_hidden_states=batch.questions.flatten(0, 1),
                    encoder_attention_mask=batch.words.flatten(0, 1),
                    use_cache=False,
                )
                .logits[:, :-1]
                .float()
            )
        spoken, real = answers[:, 1:], tokens[:, 1:].float()
        losses = functional.cross_entropy(logits.transpose(1, 2), spoken, reduction="none") * real
        loss = (losses.sum(1) / real.sum(1).clamp(min=1)).view(instances, examples)
        # Against the next best token, not against all: words that the model never said keep a small probability.
        said = logits.gather(2, spoken[..., None])
        lead = (said - logits.scatter(2, spoken[..., None], -torch.inf).amax(-1, keepdim=True))[..., 0]
        lead = lead.masked_fill(real == 0, torch.inf).amin(1).view(instances, examples)
        right = lead[:, 0] >= np.log(self.settings.score / (1 - self.settings.score))
        others = tokens[:, 0].view(instances, examples)[:, 1:].sum(1).clamp(min=1)
        return PromptScores(loss[:, 0] + loss[:, 1:].sum(1) / others, right & (lead[:, 1:] > 0).all(1))

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> VqaSeen:  # noqa: ARG002 - answers are free
        """Read questions with their pictures."""
        groups = []
        with torch.no_grad():
            for indices in self._answerer.by_length([each.question for each in examples]):
                calls = [PictureAndText(examples[index].picture, examples[index].question) for index in indices]
                groups.append((indices, self._answerer.read(calls)))
        return VqaSeen(examples, groups)

    def right(self, seen: VqaSeen, tuned: TunedPrompt | None, concept: str) -> list[bool]:  # noqa: ARG002 - one pool
        """Return whether each answer is the expected one."""
        answers = [""] * len(seen.examples)
        for group, reading in seen.groups:
            for index, answer in zip(group, self._answers(reading, tuned), strict=True):
                answers[index] = normalised(answer)
        return [answer == normalised(each.answer) for answer, each in zip(answers, seen.examples, strict=True)]

    def _answers(self, reading: EncodedQuestions, tuned: TunedPrompt | None) -> list[str]:
        with torch.no_grad():
            if tuned is None:
                return self._answerer.decode(reading.questions)
            alike = cosines(reading.features, tuned.feature) >= self.settings.similarity
            answers = np.array([""] * len(alike), dtype=object)
            for rows, prompted in ((alike, True), (~alike, False)):
                questions = reading.questions[torch.from_numpy(rows).to(self.device)]
                prompt = torch.from_numpy(tuned.prompt).to(self.device).expand(len(questions), *self.shape)
                if len(questions):
                    answers[rows] = self._answerer.decode(questions, prompt if prompted else None)
        return list(answers)
