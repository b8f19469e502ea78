"""The models of a profile: loaded once and when first used, shared by all threads, batched across them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from snellen.models.soft_prompts import PromptSource, cosines, ensemble, similar_enough
from snellen.models.vision.batching import WINDOW_SECONDS, Batcher
from snellen.models.vision.detection import Detection, DetectionCall, Detector
from snellen.models.vision.familiarity import Familiarity, Statistics, read
from snellen.models.vision.inpainting import Painter, PaintingCall
from snellen.models.vision.language import Answerer, Captioner, Matcher, PictureAndText
from snellen.models.vision.made_pictures import MadePictures
from snellen.models.vision.name_expansion import Expansion
from snellen.models.vision.segmentation import Segment, Segmenter
from snellen.models.vision.similarity import ClipEncoder, PictureFeatures, PromptedPicture
from snellen.models.vision.text_to_image import ImageCall, TextToImage
from snellen.profiles import LocModel, ReplaceModel, SegModel, SnellenError, VqaModel

if TYPE_CHECKING:
    import numpy as np
    import PIL.Image
    from numpy.typing import NDArray

    from snellen.profiles import ModelKey, Profile

_Made = TypeVar("_Made")


class Models:
    """The vision models that a profile names.

    Every method takes lists and returns one result for each entry; calls of the same kind that several threads make at
    the same time run as one forward pass. Pictures are PIL pictures of any size.

    Args:
        profile: Names the checkpoints, the device and the thresholds.
        prompts: What was learned: a concept that has prompts there is seen with them, everything else as ever.
        window: Seconds that a call waits for others to join it.

    Raises:
        SnellenError: From every method, when its checkpoint is missing or cannot be read.
    """

    def __init__(
        self, profile: Profile, prompts: PromptSource | None = None, *, window: float = WINDOW_SECONDS
    ) -> None:
        self.profile = profile
        self._prompts = prompts
        self._window = window
        self._made: dict[str, Any] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._locks_guard = threading.Lock()
        self._pictures = MadePictures()

    def detect(self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]]) -> list[list[Detection]]:
        """Boxes for each picture's names, best first, above the profile's threshold and after suppression."""
        calls = [DetectionCall(picture, tuple(wanted)) for picture, wanted in zip(pictures, names, strict=True)]
        return self._batcher("loc", lambda *_: self.detector())(calls)

    def answer(self, pictures: Sequence[PIL.Image.Image], questions: Sequence[str]) -> list[str]:
        """The model's answers, as decoded."""
        calls = [PictureAndText(*pair) for pair in zip(pictures, questions, strict=True)]
        return self._batcher("vqa", lambda *_: self.answerer())(calls)

    def caption(self, pictures: Sequence[PIL.Image.Image]) -> list[str]:
        """A description of each picture: of several drafts the one that the matching head finds truest.

        What generates and what filters are two models in BLIP as well (Li et al. 2022, section 3.3).
        """
        drafted: list[tuple[str, ...]] = self._batcher("caption", Captioner)(pictures)
        pairs = [(row, text) for row, texts in enumerate(drafted) for text in dict.fromkeys(texts)]
        if len(pairs) == len(drafted):
            return [text for _, text in pairs]
        scores = self.match([pictures[row] for row, _ in pairs], [text for _, text in pairs])
        # Of a picture's texts the last one stays: that of the highest score.
        ranked = sorted(zip(scores, pairs, strict=True))
        best = {row: text for _, (row, text) in ranked}
        return [best[row] for row in range(len(drafted))]

    def match(self, pictures: Sequence[PIL.Image.Image], texts: Sequence[str]) -> list[float]:
        """The probability in [0, 1] that each text describes its picture."""
        calls = [PictureAndText(*pair) for pair in zip(pictures, texts, strict=True)]
        return self._batcher("match", lambda profile, _: Matcher(profile))(calls)

    def segment(self, pictures: Sequence[PIL.Image.Image]) -> list[list[Segment]]:
        """The segments of each picture, best first; what was learned since is called by its own name."""
        return self._batcher("seg", lambda *_: self.segmenter())(pictures)

    def similarity(
        self, pictures: Sequence[PIL.Image.Image], texts: Sequence[str], *, names: Sequence[str] | None = None
    ) -> NDArray[np.float32]:
        """CLIP's logits ``(pictures, texts)``: their softmax over either axis gives probabilities.

        Args:
            pictures: What to look at.
            texts: What to compare it with.
            names: The concept behind each text. Where one has been learned, and from something similar, its own logits
                are those of the picture seen with its prompts. As the profile says, they are the higher, the more
                alike that was (``tuning.clip.resemblance``). All other logits stay as they are.
        """
        import numpy as np

        features = self._picture_features(pictures)
        read_texts = np.stack(self._text_features(texts))
        scale = np.float32(self.encoder().scale)
        logits: NDArray[np.float32] = scale * (np.stack([each.embedding for each in features]) @ read_texts.T)
        chosen = self._chosen(features, names or ())
        for (row, column), embedding in self._prompted(pictures, chosen).items():
            logits[row, column] = scale * (embedding @ read_texts[column])
        for place, (_, gained) in chosen.items():
            logits[place] += gained
        return logits

    def _chosen(
        self, features: Sequence[PictureFeatures], names: Sequence[str]
    ) -> dict[tuple[int, int], tuple[NDArray[np.float32] | None, float]]:
        """For each picture and each learned name, by their places: the prompt, if any, and what resemblance gains."""
        learned = frozenset() if self._prompts is None else self._prompts.concepts("CLIP")
        return {
            (row, column): self._select(name, seen.embedding)
            for column, name in enumerate(names)
            if name in learned
            for row, seen in enumerate(features)
        }

    def _prompted(
        self,
        pictures: Sequence[PIL.Image.Image],
        chosen: Mapping[tuple[int, int], tuple[NDArray[np.float32] | None, float]],
    ) -> dict[tuple[int, int], NDArray[np.float32]]:
        """Embeddings of pictures seen with the prompts of a name, by picture and name (CLOVA section 8.4.3)."""
        calls = {
            place: PromptedPicture(pictures[place[0]], prompt)
            for place, (prompt, _) in chosen.items()
            if prompt is not None
        }
        if not calls:
            return {}
        batcher = self._once("clip prompted", lambda: Batcher(self.encoder().prompted, window=self._window))
        return dict(zip(calls, batcher(list(calls.values())), strict=True))

    def _select(self, name: str, feature: NDArray[np.float32]) -> tuple[NDArray[np.float32] | None, float]:
        """The prompt of a name for a picture, and what the name gains in logits by resemblance."""
        assert self._prompts is not None  # noqa: S101 - only learned names come here
        settings = self.profile.tuning.clip
        candidates = self._prompts.candidates("CLIP", name, feature, settings.nearest)
        if candidates is None:
            return None, 0.0
        prompt = ensemble(similar_enough(candidates, feature, least=settings.similarity), feature)
        nearest = float(cosines(candidates.features, feature).max())
        return prompt, settings.resemblance * (nearest - settings.alike)

    def appearances(self, pictures: Sequence[PIL.Image.Image]) -> NDArray[np.float32]:
        """Features ``(pictures, d)`` by which the familiarity of pictures is judged."""
        import numpy as np

        return np.stack([each.appearance for each in self._picture_features(pictures)])

    def familiarity(self, picture: PIL.Image.Image) -> Familiarity | None:
        """Return how well the profile's models know pictures like this one; None when the profile does not say."""
        if self._statistics is None:
            return None
        appearance = self.appearances([picture])[0]
        if appearance.shape != self._statistics.mean.shape:
            msg = (
                f"familiarity.file in {self.profile.path} was fitted with another CLIP checkpoint than models.clip: "
                "fit it again, or set it to an empty text (see docs/profiles.md)."
            )
            raise SnellenError(msg)
        return self._statistics.score(appearance)

    def warning(self, picture: PIL.Image.Image) -> str | None:
        """A sentence for the user when the profile's models do not know pictures like this one."""
        familiarity = self.familiarity(picture)
        return None if familiarity is None else familiarity.warning(self.profile.name)

    def troubles(self) -> list[str]:
        """Return sentences about what tools have learned and cannot use now."""
        return [] if self._prompts is None else self._prompts.troubles()

    def inpaint(
        self, pictures: Sequence[PIL.Image.Image], masks: Sequence[PIL.Image.Image], prompts: Sequence[str]
    ) -> list[PIL.Image.Image]:
        """Each picture with its mask (L mode, 255 inside) painted anew after its prompt; the rest stays as it was."""
        calls = [PaintingCall(*each) for each in zip(pictures, masks, prompts, strict=True)]
        return self._batcher("replace", lambda *_: self.painter())(calls)

    def imagine(
        self,
        prompts: Sequence[str],
        *,
        size: tuple[int, int],
        seeds: Sequence[int] = (),
        by: Literal["replace", "text_to_image"] = "replace",
    ) -> list[PIL.Image.Image]:
        """Pictures after their prompts; the same prompt, size and seed are painted once.

        Args:
            prompts: What they show.
            size: Width and height in pixels.
            seeds: One for each, 0 where there are none.
            by: The model that paints them: REPLACE's paints where nothing is given.
        """
        calls = [
            ImageCall(prompt, size, seed) for prompt, seed in zip(prompts, seeds or [0] * len(prompts), strict=True)
        ]
        return self._pictures.made(by, calls, self._paint_anew if by == "replace" else self._make)

    def restyle(
        self, pictures: Sequence[PIL.Image.Image], prompts: Sequence[str], *, seeds: Sequence[int] = ()
    ) -> list[PIL.Image.Image]:
        """Pictures changed after their prompts by the profile's text-to-image model; each change is painted once."""
        numbers = seeds or [0] * len(prompts)
        calls = [
            ImageCall(prompt, picture.size, seed, picture)
            for picture, prompt, seed in zip(pictures, prompts, numbers, strict=True)
        ]
        return self._pictures.made("text_to_image", calls, self._make)

    def _make(self, calls: Sequence[ImageCall]) -> list[PIL.Image.Image]:
        return self._batcher("text_to_image", TextToImage)(calls)

    def _paint_anew(self, calls: Sequence[ImageCall]) -> list[PIL.Image.Image]:
        import PIL.Image

        painted = [
            PaintingCall(
                PIL.Image.new("RGB", call.size, (128, 128, 128)), PIL.Image.new("L", call.size, 255), call.prompt,
                seed=call.seed,
            )
            for call in calls
        ]  # fmt: skip
        return self._batcher("replace", lambda *_: self.painter())(painted)

    @cached_property
    def expansion(self) -> Expansion:
        """From words to the names that these models know."""
        return Expansion.read(self.profile.facts_path(), split=self.profile.split_path())

    def learned(self, pool: str) -> frozenset[str]:
        """The concepts that a tool has learned."""
        return frozenset() if self._prompts is None else self._prompts.concepts(pool)

    def expansion_of(self, pool: str) -> Expansion:
        """The same for one tool, with the concepts that it has learned since."""
        learned = self.learned(pool)
        return self.expansion.taught(learned) if learned else self.expansion

    def detector(self) -> Detector:
        """The detector behind LOC, for what tunes it."""
        return self._once("loc model", lambda: Detector(self.profile, self.profile.entry(LocModel), self._prompts))

    def answerer(self) -> Answerer:
        """The answering model behind VQA, for what tunes it."""
        return self._once("vqa model", lambda: Answerer(self.profile, self.profile.entry(VqaModel), self._prompts))

    def segmenter(self) -> Segmenter:
        """The segmenter behind SEG, for what tunes it."""
        return self._once("seg model", lambda: Segmenter(self.profile, self.profile.entry(SegModel), self._prompts))

    def painter(self) -> Painter:
        """The painter behind REPLACE, for what tunes it."""
        return self._once(
            "replace model", lambda: Painter(self.profile, self.profile.entry(ReplaceModel), self._prompts)
        )

    def encoder(self) -> ClipEncoder:
        """The encoder behind SELECT and CLASSIFY, for what tunes it."""
        return self._once("clip", lambda: ClipEncoder(self.profile))

    @cached_property
    def _statistics(self) -> Statistics | None:
        settings = self.profile.familiarity
        if settings is None or not settings.file:
            return None
        return read(self.profile.resolve(settings.file), threshold=settings.threshold)

    def _picture_features(self, pictures: Sequence[PIL.Image.Image]) -> list[PictureFeatures]:
        batcher = self._once("clip pictures", lambda: Batcher(self.encoder().pictures, window=self._window))
        return batcher(pictures)

    def _text_features(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        batcher = self._once("clip texts", lambda: Batcher(self.encoder().texts, window=self._window, largest=512))
        return self.encoder().checkpoint.read(texts, batcher)

    def _batcher(self, key: ModelKey, make: Callable[[Profile, Any], Any]) -> Batcher[Any, Any]:
        """The batcher in front of a model; the first thread that needs the model loads it, the others wait."""

        def load() -> Batcher[Any, Any]:
            self.profile.source(key)  # says plainly that the entry is missing, before anything heavy is imported
            return Batcher(make(self.profile, getattr(self.profile.models, key)), window=self._window)

        return self._once(key, load)

    def _once(self, name: str, make: Callable[[], _Made]) -> _Made:
        with self._locks_guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._made:
                self._made[name] = make()
            made: _Made = self._made[name]
            return made

    def glimpse(
        self, pictures: Sequence[PIL.Image.Image], names: Sequence[Sequence[str]], *, threshold: float
    ) -> list[list[Detection]]:
        """Return what `detect` would give at another threshold in [0, 1): the faint boxes too, for doubtful results."""
        pairs = zip(pictures, names, strict=True)
        calls = [DetectionCall(picture, tuple(wanted), threshold) for picture, wanted in pairs]
        return self._batcher("loc", lambda *_: self.detector())(calls)
