"""Image-text-to-text models of transformers under test, asked by their own chat template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from snellen.errors import BadInput
from snellen.models.under_test.batches import alike, batches, pictures_of
from snellen.models.under_test.choice_ranking import PromptEnd, rank_ends
from snellen.models.under_test.model import Card, Question, Ranking, check_question

if TYPE_CHECKING:
    import torch

PLAIN = "Question: {question} Answer:"
"""The prompt of models without a chat template, BLIP-2's own (Li et al. 2023, section 4.1)."""
_ASKED = "User: {question}"
_ENDED = "<end_of_utterance>\nAssistant:"
_PICTURE = "<fake_token_around_image><image>"


@dataclass(frozen=True)
class QuestionBatch:
    """Questions that are computed together: prompts of one length, and pictures of one size, so that nothing is padded.

    Attributes:
        places: Where they stood.
        inputs: Of n prompts, or of n beginnings of prompts, each tensor with a first axis that says whose it is.
        ends: How each prompt ends, where these are beginnings.
    """

    places: tuple[int, ...]
    inputs: dict[str, torch.Tensor]
    ends: tuple[PromptEnd, ...] = ()


class LocalModel:
    """A checkpoint on this machine.

    Args:
        model: Of a class with a causal decoder, such as `LlavaForConditionalGeneration`; in eval mode, on its device.
        processor: Its processor.
        card: What it is.
        batch: How many questions are computed at once, at most.
    """

    def __init__(self, model: Any, processor: Any, card: Card, *, batch: int = 8) -> None:  # noqa: ANN401 - any class
        self.module, self.processor, self.card, self._batch = model, processor, card, batch
        self._cuts: dict[str, bool] = {}
        """Of beginnings of prompts, whether what follows them is read alike without them."""

    def rank(self, questions: Sequence[Question]) -> list[Ranking]:
        """Rank each question's choices; see `snellen.models.under_test.choice_ranking`.

        What questions about the same pictures, the same objects, have in common is computed once.
        """
        found: dict[int, Ranking] = {}
        for batch in self._begun(questions):
            scores = rank_ends(self.module, batch.inputs, batch.ends)
            found.update(
                (place, Ranking(tuple(map(tuple, rows)))) for place, rows in zip(batch.places, scores, strict=True)
            )
        return [found[place] for place in range(len(questions))]

    def answered(
        self, questions: Sequence[Question], answers: Sequence[str]
    ) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
        """Prepare questions with an answer each, to teach the model.

        Args:
            questions: The questions.
            answers: An answer to each.

        Yields:
            Of those of one shape together, which need no padding, the inputs of n prompts, and the tokens of their
            answers (n, tokens): see `snellen.models.under_test.choice_ranking.written`.
        """
        import torch

        prompts = [self.prompt(question) for question in questions]
        told = list(zip(prompts, answers, strict=True))
        # Lessons may ask the same many times: each text is read once.
        lengths = {prompt: len(self.processor.tokenizer(prompt)["input_ids"]) for prompt in dict.fromkeys(prompts)}
        read = {(prompt, answer): self.choices(prompt, [answer])[0] for prompt, answer in dict.fromkeys(told)}

        def shape(place: int) -> tuple[object, ...]:
            return lengths[prompts[place]], _sizes(questions[place]), len(read[told[place]])

        for places in alike(range(len(questions)), shape):
            inputs = self._inputs([questions[place] for place in places], [prompts[place] for place in places])
            yield inputs, torch.tensor([read[told[place]] for place in places], device=inputs["input_ids"].device)

    def answer(self, questions: Sequence[Question], *, tokens: int = 64) -> list[str]:
        """Answer greedily, so that the same question gets the same answer."""
        import torch

        found: dict[int, str] = {}
        for batch in self._whole(questions):
            with torch.inference_mode():
                written = self.module.generate(**batch.inputs, max_new_tokens=tokens, do_sample=False, num_beams=1)
            said = written[:, batch.inputs["input_ids"].shape[1] :]
            texts = self.processor.batch_decode(said, skip_special_tokens=True)
            found.update((place, text.strip()) for place, text in zip(batch.places, texts, strict=True))
        return [found[place] for place in range(len(questions))]

    def prompt(self, question: Question) -> str:
        """Return what the model reads, with its signs for pictures.

        Raises:
            BadInput: There are no pictures, or more than it reads.
        """
        check_question(self.card.name, question, ranked=False, most=self.card.pictures)
        return self._prompt(question)

    def _prompt(self, question: Question) -> str:
        if not getattr(self.processor, "chat_template", None):
            return PLAIN.format(question=question.text)
        content = [*({"type": "image"} for _ in question.pictures), {"type": "text", "text": question.text}]
        told: str = self.processor.apply_chat_template(
            [{"role": "user", "content": content}], add_generation_prompt=True
        )
        return told

    def choices(self, prompt: str, choices: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Return the tokens with which each choice follows the prompt.

        A tokenizer may write a word in another way after a space than by itself. So both are read together, and what
        the prompt alone is read as is taken off; where the two grow into one token, the choice is read by itself.

        Raises:
            BadInput: A choice is empty.
        """
        tokenizer = self.processor.tokenizer
        gap = "" if prompt[-1:].isspace() else " "
        before: list[int] = tokenizer(prompt, add_special_tokens=False)["input_ids"]
        read = []
        for choice in choices:
            if not choice.strip():
                msg = "An empty text is no choice."
                raise BadInput(msg)
            both: list[int] = tokenizer(prompt + gap + choice, add_special_tokens=False)["input_ids"]
            alone: list[int] = tokenizer(choice, add_special_tokens=False)["input_ids"]
            fits = both[: len(before)] == before and len(both) > len(before)
            read.append(tuple(both[len(before) :] if fits else alone))
        return tuple(read)

    def _whole(self, questions: Sequence[Question]) -> Iterator[QuestionBatch]:
        """Yield questions with whole prompts."""
        prompts = [self.prompt(question) for question in questions]
        same = batches(range(len(questions)), lambda place: (prompts[place], _sizes(questions[place])), self._batch)
        for part in same:
            inputs = self._inputs([questions[place] for place in part], [prompts[place] for place in part])
            yield QuestionBatch(tuple(part), inputs)

    def _begun(self, questions: Sequence[Question]) -> Iterator[QuestionBatch]:
        """Yield questions that are ranked, cut in two: pictures, each once, and what follows them."""
        cut = []
        for question in questions:
            check_question(self.card.name, question, ranked=True, most=self.card.pictures)
            prompt = self._prompt(question)
            beginning, end = self._cut(prompt, question)
            cut.append((beginning, PromptEnd(0, end, self.choices(prompt, question.choices))))
        for group in alike(range(len(questions)), lambda place: (cut[place][0], _sizes(questions[place]))):
            rows = alike(group, lambda place: pictures_of(questions[place]))
            for begun in range(0, len(rows), self._batch):
                part = rows[begun : begun + self._batch]
                firsts = [places[0] for places in part]
                inputs = self._inputs([questions[place] for place in firsts], [cut[place][0] for place in firsts])
                ends = [(place, replace(cut[place][1], row=row)) for row, places in enumerate(part) for place in places]
                yield QuestionBatch(tuple(place for place, _ in ends), inputs, tuple(end for _, end in ends))

    def _cut(self, prompt: str, question: Question) -> tuple[str, tuple[int, ...]]:
        """Return the beginning of a prompt, up to the pictures, and the tokens of its end.

        Where a tokenizer does not read the two as it reads the whole, the whole is the beginning.
        """
        sign = str(getattr(self.processor, "image_token", ""))
        _, found, end = prompt.rpartition(sign) if sign else ("", "", prompt)
        beginning = prompt.removesuffix(end) if found else ""
        read = tuple(self.processor.tokenizer(end, add_special_tokens=False)["input_ids"])
        if beginning not in self._cuts:
            whole, part = (self._inputs([question], [text])["input_ids"][0].tolist() for text in (prompt, beginning))
            self._cuts[beginning] = whole == [*part, *read]
        return (beginning, read) if self._cuts[beginning] else (prompt, ())

    def _inputs(self, questions: Sequence[Question], prompts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Return the inputs of questions whose prompts have equally many tokens."""
        pictures = [[picture.convert("RGB") for picture in question.pictures] for question in questions]
        return self._moved(self.processor(images=pictures, text=list(prompts), return_tensors="pt"))

    def _moved(self, made: Any) -> dict[str, torch.Tensor]:  # noqa: ANN401 - what processors return
        device = next(self.module.parameters()).device
        inputs = {name: value.to(device) for name, value in made.items() if name != "token_type_ids"}
        inputs["pixel_values"] = inputs["pixel_values"].to(self.module.dtype)
        return inputs


class InterleavedModel(LocalModel):
    """A checkpoint of `IdeficsForVisionText2Text`, which looks at pictures from wherever they stand in its prompt.

    Its processor knows no chat template: it takes texts and pictures in turns (Laurençon et al. 2023, OBELICS).
    """

    def _prompt(self, question: Question) -> str:
        """Return what its processor writes, as its instructed checkpoints were taught."""
        seen = _PICTURE * len(question.pictures) + "<fake_token_around_image>"
        return _ASKED.format(question=question.text) + seen + _ENDED

    def _cut(self, prompt: str, question: Question) -> tuple[str, tuple[int, ...]]:  # noqa: ARG002 - as `LocalModel`
        # The question comes before the pictures.
        return prompt, ()

    def _inputs(self, questions: Sequence[Question], prompts: Sequence[str]) -> dict[str, torch.Tensor]:  # noqa: ARG002 - as written
        # A text that is an address would be fetched by the processor; with the words before it, no question is one.
        turns = [
            [_ASKED.format(question=one.text), *(picture.convert("RGB") for picture in one.pictures), _ENDED]
            for one in questions
        ]
        return self._moved(self.processor(text=turns, return_tensors="pt"))


def _sizes(question: Question) -> tuple[tuple[int, int], ...]:
    return tuple(picture.size for picture in question.pictures)
