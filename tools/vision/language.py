"""BLIP: answers to questions, captions, and whether a text describes a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.vision.loading import load_checkpoint

if TYPE_CHECKING:
    import PIL.Image

    from profiles import CaptionModel, Profile, VqaModel


@dataclass(frozen=True)
class PictureAndText:
    """One picture with a question or a description."""

    picture: PIL.Image.Image
    text: str


class Answerer:
    """``BlipForQuestionAnswering``, decoded greedily."""

    def __init__(self, profile: Profile, settings: VqaModel) -> None:
        self._checkpoint = load_checkpoint(profile, "vqa")
        self._settings = settings

    def __call__(self, calls: Sequence[PictureAndText]) -> list[str]:
        """Answer each question; questions of one length share a forward pass.

        The model's ``generate`` lets the answer attend to the padding of its question, so questions of different
        lengths in one batch would change one another's answers.
        """
        by_length: dict[int, list[int]] = defaultdict(list)
        for index, call in enumerate(calls):
            by_length[len(self._checkpoint.tokenizer(call.text)["input_ids"])].append(index)
        answers = [""] * len(calls)
        for indices in by_length.values():
            for index, answer in zip(indices, self._forward([calls[i] for i in indices]), strict=True):
                answers[index] = answer
        return answers

    def _forward(self, calls: Sequence[PictureAndText]) -> list[str]:
        checkpoint = self._checkpoint
        with checkpoint.inference():
            tokens = checkpoint.model.generate(
                pixel_values=checkpoint.pixels([call.picture for call in calls]),
                **checkpoint.tokens([call.text for call in calls]),
                max_new_tokens=self._settings.max_new_tokens,
                num_beams=1,
                do_sample=False,
            )
        answers: list[str] = checkpoint.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return answers


class Captioner:
    """``BlipForConditionalGeneration``, decoded greedily."""

    def __init__(self, profile: Profile, settings: CaptionModel) -> None:
        self._checkpoint = load_checkpoint(profile, "caption")
        self._settings = settings

    def __call__(self, pictures: Sequence[PIL.Image.Image]) -> list[str]:
        """Describe each picture in a sentence; one forward pass."""
        checkpoint = self._checkpoint
        with checkpoint.inference():
            tokens = checkpoint.model.generate(
                pixel_values=checkpoint.pixels(list(pictures)),
                max_new_tokens=self._settings.max_new_tokens,
                num_beams=1,
                do_sample=False,
            )
        captions = checkpoint.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        return [caption.strip() for caption in captions]


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
