"""Settings of models in a profile: those that tools use, and those under test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator


class SettingsTable(BaseModel):
    """Frozen, and a misspelt key is an error rather than a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


ModelKey = Literal["loc", "vqa", "caption", "match", "seg", "clip", "replace", "text_to_image", "embedding"]


Precision = Literal["auto", "float32", "bfloat16"]


Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""How profiles call a model under test."""


TESTED = "tested."
"""Keys of models under test begin with this, followed by their names."""


class ModelSettings(SettingsTable):
    """Origin of one model: a folder, or an id on the hub pinned to a revision."""

    class_name: str = Field(alias="class")
    folder: str | None = None
    id: str | None = None
    revision: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.folder is None) == (self.id is None):
            msg = "name either a folder or an id"
            raise ValueError(msg)
        if self.id is not None and self.revision is None:
            msg = "an id needs a revision, so that the same weights are read next year"
            raise ValueError(msg)
        return self


class LocModel(ModelSettings):
    """LOC and FACEDET."""

    class_name: Literal["OwlViTForObjectDetection"] = Field(alias="class")
    template: str = "a photo of a {}"
    """How an object's name becomes the text query."""
    threshold: float = Field(default=0.1, ge=0, le=1)
    """Boxes that score less are dropped."""
    nms_iou: float = Field(default=0.5, gt=0, le=1)
    """Of two boxes that overlap more, whatever their names, only the better stays."""
    joined: float | None = Field(default=None, ge=0, le=1)
    """The share of the smaller of two boxes that lies in the other from which on both mean one thing, and become one
    box; without it ``nms_iou`` decides."""
    sure: float | None = Field(default=None, ge=0, le=1)
    """The score from which on a box of a taught name counts by itself. Weaker ones need a segment called so in their
    place, boxes become those of their segments, and segments called so without a box are found as well. None asks no
    segments."""
    colours: Literal["loc", "vqa"] = "loc"
    """The model that is asked for the colour before a taught name ("red dog"): the detector, or VQA for each dog."""
    faces: tuple[str, ...] = ("face",)
    """What FACEDET asks for."""


class VqaModel(ModelSettings):
    """VQA."""

    class_name: Literal["BlipForQuestionAnswering"] = Field(alias="class")
    max_new_tokens: int = Field(default=10, ge=1, le=64)
    questions: tuple[str, ...] = ()
    """The kinds of questions that it was taught, in words; what writes programs reads them. None stands for any."""


class CaptionModel(ModelSettings):
    """Captions, which turn pictures into text for reflection (CLOVA section 3.3)."""

    class_name: Literal["BlipForConditionalGeneration"] = Field(alias="class")
    max_new_tokens: int = Field(default=40, ge=1, le=256)
    drafts: int = Field(default=1, ge=1, le=32)
    """Captions that a beam search of this width makes; of several, ``models.match`` chooses."""


class MatchModel(ModelSettings):
    """The probability that a text describes a picture."""

    class_name: Literal["BlipForImageTextRetrieval"] = Field(alias="class")


class SegModel(ModelSettings):
    """SEG."""

    class_name: Literal["MaskFormerForInstanceSegmentation"] = Field(alias="class")
    threshold: float = Field(default=0.5, ge=0, le=1)
    """Segments of lower probability are dropped."""
    mask_threshold: float = Field(default=0.5, ge=0, le=1)
    """Pixels of lower probability are outside a segment."""
    overlap: float = Field(default=0.8, ge=0, le=1)
    """A segment that keeps a smaller share of its own pixels against the others is dropped."""
    objectness: bool = False
    """Score a segment by the probability that it is anything, not by that of its label: unknown things are kept."""


class ClipModel(ModelSettings):
    """SELECT, CLASSIFY and the familiarity of a picture."""

    class_name: Literal["CLIPModel"] = Field(alias="class")
    template: str = "a photo of {}"
    """How a name becomes the text that a region is compared with."""
    threshold: float = Field(default=0.0, ge=0, le=1)
    """CLASSIFY drops a region whose best category is less probable."""
    null: tuple[str, ...] = ("other",)
    """Classes that compete with the given categories; a region that fits one of them best is dropped."""
    null_from_world: bool = False
    """Let every other concept of the world's facts compete as well."""
    margin: float = Field(default=0.0, ge=0, le=1)
    """How much of a region's width and height is kept around it when it is cropped."""


class ReplaceModel(ModelSettings):
    """REPLACE."""

    class_name: Literal["StableDiffusionInpaintPipeline"] = Field(alias="class")
    size: int = Field(default=512, ge=64, le=2048, multiple_of=64)
    """Pixels of the longer side while painting; the result is scaled back to the picture."""
    steps: int = Field(default=50, ge=1, le=1000)
    guidance: float = Field(default=7.5, ge=0)
    seed: int = 0
    frame: int | None = Field(default=None, ge=0)
    """Paint the boxes of regions, so many pixels larger on each side, rather than their outlines: other shapes fit."""
    margin: float | None = Field(default=None, ge=0)
    """Paint each part of the mask by itself, with this share of its size around it, rather than the whole picture."""


class TextToImageModel(ModelSettings):
    """Pictures of experiments, made from words; the same weights change pictures."""

    class_name: Literal["AutoPipelineForText2Image"] = Field(alias="class")
    variant: str | None = Field(default=None, pattern=r"[A-Za-z0-9_]{1,20}")
    """Of the weight files, such as ``fp16``; None reads those without one."""
    size: int = Field(default=512, ge=64, le=2048, multiple_of=64)
    """Pixels of the longer side while a picture is made; the result is scaled to what was asked for."""
    steps: int = Field(default=1, ge=1, le=1000)
    """Of denoising; distilled models need one to four."""
    guidance: float = Field(default=0.0, ge=0)
    strength: float = Field(default=0.75, gt=0, le=1)
    """How much of a picture that is changed is made anew: 1 is all of it."""
    edit_steps: int = Field(default=4, ge=1, le=1000)
    """Of denoising where a picture is changed, of which the share ``strength`` is done."""
    batch: int = Field(default=4, ge=1, le=64)
    """Pictures that are made at once."""
    seed: int = 0

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.edit_steps * self.strength < 1:
            msg = "edit_steps × strength is less than one step: nothing would be changed"
            raise ValueError(msg)
        return self


class EmbeddingModel(SettingsTable):
    """Sentence embeddings for the pool of demonstrations; a package that carries its files needs no download."""

    class_name: Literal["SentenceTransformer"] = Field(alias="class")
    folder: str | None = None
    id: str | None = None
    revision: str | None = None
    package: str | None = None
    """An installed package; ``folder`` is then inside it."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.package is None and (self.folder is None) == (self.id is None):
            msg = "name a folder, an id, or a package and the folder inside it"
            raise ValueError(msg)
        if self.id is not None and self.revision is None:
            msg = "an id needs a revision, so that the same weights are read next year"
            raise ValueError(msg)
        return self


class ModelTable(SettingsTable):
    """``[models.*]``: a missing entry means that the tools which need it say so."""

    loc: LocModel | None = None
    vqa: VqaModel | None = None
    caption: CaptionModel | None = None
    match: MatchModel | None = None
    seg: SegModel | None = None
    clip: ClipModel | None = None
    replace: ReplaceModel | None = None
    text_to_image: TextToImageModel | None = None
    embedding: EmbeddingModel | None = None


class CheckpointUnderTest(ModelSettings):
    """``[tested.NAME]``: a checkpoint that investigations examine."""

    class_name: str = Field(
        alias="class",
        pattern=r"CLIPModel|Dinov2(WithRegisters)?Model|DINOv3ViTModel|ViTModel|"
        r"\w{1,40}For(QuestionAnswering|ImageTextToText|ConditionalGeneration|VisionText2Text)",
    )
    adapter: str | None = None
    """A folder with an adapter that peft wrote, put on the checkpoint; with a processor of its own, if it has one."""
    pictures: int = Field(default=1, ge=1, le=16)
    """How many pictures it reads at once."""
    sentence: str = "{choice}"
    """What a contrastive model compares with the picture, made of a ``{question}`` and one ``{choice}``, or ``{name}``,
    which is a choice without its article."""
    only: Literal["", "pairs"] = ""
    """``pairs`` for one that only judges pairs: it is examined in other things where it is named, and else not."""
    bits: Literal[8] | None = None
    """Read the weights in so many bits (with ``bitsandbytes``, on CUDA); without it, as ``dtype`` says."""
    batch: int = Field(default=8, ge=1)
    """Questions that are computed at once, at most."""
    about: str = Field(default="", max_length=300)
    """What it is, in a phrase, for people who read its name."""

    @property
    def identity(self) -> str:
        """A text, JSON, that is the same for the same model."""
        return self.model_dump_json(exclude_defaults=True)


Address = Annotated[str, StringConstraints(pattern=r"^https?://.+")]

_ASKING = frozenset({"url", "model", "key", "timeout", "at_once", "about"})
"""Settings of an endpoint that do not change what weights that have a name get to see."""


def _listed(said: object) -> object:
    return (said,) if isinstance(said, str) else said


class EndpointUnderTest(SettingsTable):
    """``[tested.NAME]``: a model behind an OpenAI-compatible endpoint that investigations examine."""

    url: Annotated[tuple[Address, ...], BeforeValidator(_listed), Field(min_length=1, max_length=1_000)]
    """Such as ``http://localhost:8000/v1``, or a list of the addresses of all servers that have it."""
    model: str = Field(min_length=1)
    """Its name there."""
    weights: str = Field(default="", max_length=200)
    """Names what all the servers have: trials are kept under it, whatever the addresses are. It is a promise."""
    key: str = Field(default="OPENAI_API_KEY", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
    """The environment variable with the key; where that is not set, none is sent."""
    offer: Literal["tokens", "letters", "answer"] | None = None
    """What rankings rest on (see ``snellen.models.under_test.server_client``); without it, the best that the endpoint
    tells."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds for one reply."""
    at_once: int = Field(default=4, ge=1, le=1_000)
    """Questions under way at a time, of each server."""
    pictures: int = Field(default=2, ge=1, le=16)
    """How many pictures a question may have."""
    picture_side: int = Field(default=2_048, ge=32)
    """Pixels of the longest side; larger pictures are scaled down before they are sent."""
    picture_bytes: int = Field(default=1_000_000, ge=10_000)
    """Bytes up to which a picture is sent as PNG; one that takes more is sent as a JPEG of at most that size."""
    picture_quality: int = Field(default=90, ge=1, le=95)
    """Of such a JPEG."""
    about: str = Field(default="", max_length=300)
    """What it is, in a phrase, for people who read its name."""

    @field_validator("url")
    @classmethod
    def _each_once(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        if len({url.rstrip("/") for url in urls}) < len(urls):
            msg = "each address once: how much a server is asked at a time is set by at_once"
            raise ValueError(msg)
        return urls

    @model_validator(mode="after")
    def _comparable(self) -> Self:
        if self.weights and self.offer is None:
            msg = "weights needs an offer, so that all trials that are kept under them rest on the same"
            raise ValueError(msg)
        return self

    @property
    def identity(self) -> str:
        """A text, JSON, that is the same for the same model. Of several addresses the first stands for all."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        if self.weights:
            return json.dumps({key: value for key, value in said.items() if key not in _ASKING}, ensure_ascii=False)
        return json.dumps({**said, "url": self.url[0]}, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class CheckpointSource:
    """Place that ``from_pretrained`` reads: a local folder, or an id on the hub with its revision."""

    location: str
    revision: str | None
    local: bool
