"""A profile as typed settings, and how one is read from TOML.

Nothing heavy is imported here: a profile is read before ``snellen --help`` answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from snellen.errors import BadInput, SnellenError
from snellen.profiles.user_paths import user_path

if TYPE_CHECKING:
    from types import ModuleType

PACKAGE_FOLDER = Path(__file__).resolve().parent
INSTALLED_ROOT = PACKAGE_FOLDER.parent
"""The folder of the package: ``microworld/checkpoints/owlvit`` is looked up here."""

ModelKey = Literal["loc", "vqa", "caption", "match", "seg", "clip", "replace", "embedding"]
Precision = Literal["auto", "float32", "bfloat16"]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""How profiles call a model under test."""
TESTED = "tested."
"""Keys of models under test begin with this, followed by their names."""

_SOURCE_KEYS = ("folder", "id", "revision", "package")


def _imported(module: str) -> ModuleType:
    """Import a module that a profile names; ``microworld`` is Snellen's own."""
    return importlib.import_module("snellen.microworld" if module == "microworld" else module)


class _Settings(BaseModel):
    """Frozen, and a misspelt key is an error rather than a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class ModelSettings(_Settings):
    """Where one model comes from: a folder, or an id on the hub pinned to a revision."""

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
    faces: tuple[str, ...] = ("face",)
    """What FACEDET asks for."""


class VqaModel(ModelSettings):
    """VQA."""

    class_name: Literal["BlipForQuestionAnswering"] = Field(alias="class")
    max_new_tokens: int = Field(default=10, ge=1, le=64)


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


class EmbeddingModel(_Settings):
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


class ModelTable(_Settings):
    """``[models.*]``: a missing entry means that the tools which need it say so."""

    loc: LocModel | None = None
    vqa: VqaModel | None = None
    caption: CaptionModel | None = None
    match: MatchModel | None = None
    seg: SegModel | None = None
    clip: ClipModel | None = None
    replace: ReplaceModel | None = None
    embedding: EmbeddingModel | None = None


_KEY_OF: dict[type[BaseModel], ModelKey] = {
    LocModel: "loc",
    VqaModel: "vqa",
    CaptionModel: "caption",
    MatchModel: "match",
    SegModel: "seg",
    ClipModel: "clip",
    ReplaceModel: "replace",
    EmbeddingModel: "embedding",
}
_Entry = TypeVar("_Entry", bound=ModelSettings | EmbeddingModel)


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


class EndpointUnderTest(_Settings):
    """``[tested.NAME]``: a model behind an OpenAI-compatible endpoint that investigations examine."""

    url: str = Field(pattern=r"https?://.+")
    """Such as ``http://localhost:8000/v1``."""
    model: str = Field(min_length=1)
    """Its name there."""
    key: str = Field(default="OPENAI_API_KEY", pattern=r"[A-Za-z_][A-Za-z0-9_]*")
    """The environment variable with the key; where that is not set, none is sent."""
    offer: Literal["tokens", "letters", "answer"] | None = None
    """What rankings rest on (see ``snellen.models.under_test.endpoint``); without it, the best that the endpoint
    tells."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds for one reply."""
    at_once: int = Field(default=4, ge=1)
    """Requests under way at a time."""
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


class LimitSettings(_Settings):
    """``[limits]``: what one program may use."""

    steps: int = Field(default=200, ge=1)
    """Executed steps."""
    statements: int = Field(default=64, ge=1)
    """Statements in the text."""
    nesting: int = Field(default=4, ge=1)
    """Branches and loops inside one another."""
    iterations: int = Field(default=64, ge=1)
    """Turns of one loop."""
    seconds: float = Field(default=120.0, gt=0)
    """Wall-clock time of a run."""
    text: int = Field(default=20_000, ge=1)
    """Bytes of a program or an instruction."""


class ReasonerSettings(_Settings):
    """``[reasoner]``: who plans and writes programs."""

    kind: Literal["cases", "chat"] = "cases"
    knowledge: str | None = None
    """The Python module whose ``list_names`` answers LIST for ``cases``; without it, that of ``[world]``."""
    model: str = "gpt-4o-mini"
    base_url: str | None = None
    """An OpenAI-compatible endpoint; without it, ``OPENAI_BASE_URL`` or OpenAI's own."""
    temperature: float | None = Field(default=None, ge=0)
    """None leaves the model's own, which some models insist on."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds to wait for one reply."""
    max_retries: int = Field(default=2, ge=0, le=10)
    """Further tries after a timeout, a refused connection, HTTP 429 or 5xx."""
    max_tokens: int = Field(default=8_000, ge=1)
    """The longest reply to ask for, in tokens."""
    input_price: float = Field(default=0.0, ge=0)
    """US dollars for a million input tokens; zero leaves costs out."""
    output_price: float = Field(default=0.0, ge=0)
    """US dollars for a million output tokens."""


class PromptSettings(_Settings):
    """``[tuning.*]``: how the soft prompts of a tool are learned, proved and used; the defaults are CLOVA's."""

    vectors: int = Field(ge=1)
    """Prompt vectors at each place where they enter."""
    rate: float = Field(gt=0)
    """Adam's learning rate."""
    steps: int = Field(default=100, ge=1)
    """The most updates of one prompt; it ends sooner when it is accepted."""
    spread: float = Field(default=1.0, ge=0, le=1)
    """How much of a prompt's beginning is its own: at 1 each starts elsewhere, at 0 all start at the same place."""
    deviation: float = Field(default=0.02, gt=0)
    """Standard deviation of the values that a prompt begins with."""
    score: float = Field(default=0.9, gt=0, lt=1)
    """Training accepts a prompt when the right has at least this probability, and the wrong at most the rest."""
    negatives: int = Field(default=8, ge=0)
    """Examples of other things beside each instance, which must stay as they are."""
    nearest: int | None = Field(default=None, ge=1)
    """Of the prompts that a tool's rule selects, only the nearest so many are combined; without it, all."""
    similarity: float = Field(default=0.0, ge=-1, le=1)
    """Prompts learned from something less similar to what is seen (by cosine) are left out."""
    held_out: float = Field(default=0.5, ge=0, le=1)
    """The share of held-out examples on which the tool must be right with a prompt that is kept."""
    spoilt: float = Field(default=0.0, ge=0, le=1)
    """The share of right answers about other things that a prompt may turn wrong and still be kept."""


class ClipTuning(PromptSettings):
    """SELECT and CLASSIFY: deep prompts in the first layers of the picture encoder (CLOVA section 8.4)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=1e-2, gt=0)
    layers: int = Field(default=3, ge=1)
    """The layers that get prompts, from the first on."""
    resemblance: float = Field(default=0.0, ge=0)
    """Logits that a learned name gains with each unit of the picture's cosine with the likest one that it was learned
    from. A prompt raises its name a little everywhere, and of many learned names one is raised most; what was really
    learned looks like the examples (the idea of Tip-Adapter, Zhang et al. 2022). At 0 it does not count."""
    alike: float = Field(default=0.8, ge=0, le=1)
    """The cosine at which a name neither gains nor loses by that."""


class LocTuning(PromptSettings):
    """LOC: soft tokens before the words of a query (CLOVA section 8.2)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=5e-4, gt=0)
    negatives: int = Field(default=13, ge=0)
    score: float = Field(default=0.5, gt=0, lt=1)
    alignment: float = Field(default=0.0, ge=0, le=1)
    """The cosine that the query shall reach with what the object looks like, as a query made of a picture would: more
    than telling the training pictures apart needs, and so better on others. At 0 that is not asked for."""
    threshold: float | None = Field(default=None, gt=0, lt=1)
    """The score of a learned name that counts as the model's threshold does for others; without it, the same."""
    quorum: float = Field(default=0.0, ge=0, le=1)
    """The share of a concept's prompts that must see it in a picture before any is used there."""


class VqaTuning(PromptSettings):
    """VQA: vectors beside the encoded question (CLOVA section 8.1)."""

    vectors: int = Field(default=16, ge=1)
    rate: float = Field(default=1e-3, gt=0)
    score: float = Field(default=0.7, gt=0, lt=1)
    nearest: int | None = Field(default=20, ge=1)
    held_out: float = Field(default=1.0, ge=0, le=1)


class ReplaceTuning(PromptSettings):
    """REPLACE: a vector on top of the embeddings of the concept's words (CLOVA section 8.5)."""

    vectors: int = Field(default=1, ge=1, le=1)
    rate: float = Field(default=5e-3, gt=0)
    negatives: int = Field(default=0, ge=0)
    similarity: float = Field(default=-1.0, ge=-1, le=1)
    phrases: tuple[str, ...] = Field(default=("a {}", "{}", "a photo of a {}"), min_length=1)
    """What the concept's name stands in, in turns, while its vector is learned; paintings that prove it are asked for
    with the first."""
    noise: float = Field(default=0.0, ge=0, lt=1)
    """The least noise that is learned from, as a share of the schedule; what is painted is decided where it is high."""


class SegTuning(PromptSettings):
    """SEG: further object queries in the transformer decoder (CLOVA section 8.3)."""

    vectors: int = Field(default=100, ge=1)
    rate: float = Field(default=1e-1, gt=0)
    deviation: float = Field(default=1.0, gt=0)
    """That of the model's own queries, among which these stand."""
    nearest: int | None = Field(default=10, ge=1)
    overlap: float = Field(default=0.7, ge=0, le=1)
    """The intersection over union at which training accepts a mask."""


class LoraSettings(_Settings):
    """``[tuning.lora]``: one adapter for a whole tool, which prompts are compared with (Hu et al. 2022)."""

    rank: int = Field(default=8, ge=1)
    """The rank of the change of each attention projection."""
    alpha: float = Field(default=16.0, gt=0)
    """The change is multiplied by ``alpha / rank``."""
    rate: float = Field(default=1e-3, gt=0)
    """Adam's learning rate."""
    steps: int = Field(default=100, ge=1)
    """The most updates."""


class TuningSettings(_Settings):
    """``[tuning]``: learning by soft prompts."""

    dtype: Precision = "auto"
    """What products are computed in meanwhile; ``auto`` measures which of the two is faster here."""
    memory: int = Field(default=1024, ge=1)
    """MiB that the instances tuned together may take; more of them wait for the next chunk."""
    seed: int = 0
    """Where the prompts begin."""
    clip: ClipTuning = ClipTuning()
    loc: LocTuning = LocTuning()
    vqa: VqaTuning = VqaTuning()
    seg: SegTuning = SegTuning()
    replace: ReplaceTuning = ReplaceTuning()
    lora: LoraSettings = LoraSettings()


class SearchTable(_Settings):
    """``[collection.search]``: an endpoint that finds pictures and answers with JSON."""

    url: str
    """Its address, with ``{query}`` and, if it wants that, ``{count}``."""
    results: str = "results"
    """Where the list stands in the answer; dots lead deeper."""
    picture: str = "url"
    """Where a picture's address stands in an item of the list."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds."""
    largest: int = Field(default=10_000_000, ge=1)
    """Bytes of a picture above which it is passed over."""


class CollectionSettings(_Settings):
    """``[collection]``: what tools learn from (CLOVA section 3.4); the numbers' defaults are the paper's."""

    annotated: str = ""
    """Scenes with boxes and masks: ``world`` for the profile's world, or a folder in COCO's or LVIS's format."""
    pictures: str = ""
    """Pictures by concept: ``world``, ``search``, or a folder with a folder for each concept."""
    search: SearchTable | None = None
    scenes: int = Field(default=200, ge=1)
    """Annotated scenes that LOC learns a concept from."""
    outlined: int = Field(default=50, ge=1)
    """Annotated scenes with masks that SEG learns a concept from."""
    held_out_scenes: int = Field(default=20, ge=1)
    """Annotated scenes that prove its prompts, beside those."""
    found: int = Field(default=6, ge=1)
    """Found pictures that a concept is learned from."""
    held_out_found: int = Field(default=1, ge=1)
    """Found pictures that prove its prompts, beside those."""
    related: int = Field(default=8, ge=0)
    """Related concepts that compete with the one that is learned; pictures of twice as many must not be spoilt."""


class SampleSettings(_Settings):
    """``[samples]``: where the pictures of experiments come from."""

    generation: Literal["", "world", "painter"] = ""
    """Who makes pictures of what is asked for: the profile's world, or ``models.replace``, which paints whole ones."""
    retrieval: str = ""
    """Where they are looked up: ``world``, or a folder with a folder of pictures for each class."""
    size: int = Field(default=512, ge=64, le=2048, multiple_of=64)
    """Pixels of a side of a painted picture."""
    fits: float = Field(default=0.3, ge=0, le=1)
    """The probability of its label, by ``models.match``, below which a made or edited picture is rejected."""


class WorldSettings(_Settings):
    """``[world]``: the world that the checkpoints were trained on."""

    module: str | None = None
    """The Python module that draws it; imported by name when asked for, and nowhere else."""
    facts: str | None = None
    """Its concepts, groups and facts as JSON; queries for groups are expanded from it."""
    split: str | None = None
    """A JSON object whose ``known`` lists the concepts that the checkpoints were taught; groups expand to these."""
    art: str | None = None
    """A folder of named PNG pictures; EMOJI pastes them."""


class FamiliaritySettings(_Settings):
    """``[familiarity]``: how pictures outside the world of the checkpoints are recognised."""

    file: str
    """Statistics written by ``snellen.models.vision.familiarity.fit``; empty to say nothing about familiarity."""
    threshold: float | None = Field(default=None, gt=0)
    """A distance that replaces the one in the file."""


@dataclass(frozen=True)
class CheckpointSource:
    """Where ``from_pretrained`` reads: a local folder, or an id on the hub with its revision."""

    location: str
    revision: str | None
    local: bool


class FreeformSettings(_Settings):
    """``[freeform]``: how free answers are scored."""

    entails: str | None = None
    """The model, a name of ``[tested]``, that says whether a picture shows what an answer says; without it, answers are
    compared with scene graphs alone."""


class CorrectionSettings(_Settings):
    """``[correction]``: teaching a model under test what an investigation found that it cannot do, by LoRA."""

    lessons: int = Field(default=600, ge=1)
    """Pictures of each experiment that are learned from."""
    others: int = Field(default=960, ge=0)
    """Pictures of everything else, on which the model is held to what it said before."""
    held_out: int = Field(default=240, ge=2)
    """Pictures of either kind that prove what was learned."""
    rank: int = Field(default=16, ge=1)
    """Of the change of each linear layer."""
    alpha: float = Field(default=32.0, gt=0)
    """The change is multiplied by ``alpha / rank``."""
    rate: float = Field(default=2e-3, gt=0)
    """Adam's learning rate at the beginning; it falls to nothing."""
    steps: int = Field(default=80, ge=1)
    """Updates."""
    every: int = Field(default=20, ge=1)
    """Updates after which the adapter is proved, and kept if it did best so far."""
    batch: int = Field(default=16, ge=1)
    """Lessons of either kind in an update."""
    keeping: float = Field(default=1.0, ge=0)
    """How much being held to what it said before weighs against learning."""
    spoilt: float = Field(default=0.01, ge=0, le=1)
    """The share of the others that may become wrong."""
    seed: int = 0


class Profile(_Settings):
    """Everything that a profile file says."""

    name: str
    path: Path
    """The file that it was read from."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    """``auto``: half precision on CUDA, single precision elsewhere."""
    threads: int | None = Field(default=None, ge=1)
    """Threads of torch on the CPU; without it, torch decides."""
    models: ModelTable = ModelTable()
    tested: dict[Name, CheckpointUnderTest | EndpointUnderTest] = Field(default_factory=dict)
    """The models that investigations examine."""
    limits: LimitSettings = LimitSettings()
    reasoner: ReasonerSettings = ReasonerSettings()
    tuning: TuningSettings = TuningSettings()
    collection: CollectionSettings = CollectionSettings()
    samples: SampleSettings = SampleSettings()
    correction: CorrectionSettings = CorrectionSettings()
    freeform: FreeformSettings = FreeformSettings()
    world_settings: WorldSettings | None = Field(default=None, alias="world")
    familiarity: FamiliaritySettings | None = None

    def world(self) -> ModuleType:
        """Import the world that the profile names: the only door to it.

        Raises:
            SnellenError: The profile has no world, or its module cannot be imported.
        """
        module = self.world_settings.module if self.world_settings else None
        if module is None:
            msg = (
                f"The profile {self.name!r} has no world to draw pictures and tasks from: use --profile embedded, "
                f"or set module under [world] in {self.path}."
            )
            raise SnellenError(msg)
        try:
            return _imported(module)
        except ImportError as error:
            msg = f"The world {module!r} of the profile {self.name!r} cannot be imported ({error}): reinstall Snellen."
            raise SnellenError(msg) from error

    def knowledge(self) -> ModuleType:
        """Import what answers LIST where no chat model does.

        Raises:
            BadInput: The profile names nothing that could.
            SnellenError: It cannot be imported.
        """
        module = self.reasoner.knowledge
        if module is None and self.world_settings is not None and self.world_settings.module is not None:
            return self.world()
        if module is None:
            msg = (
                f"Nothing in the profile {self.name!r} can answer LIST: set knowledge = 'microworld' or kind = 'chat' "
                f"under [reasoner] in {self.path}."
            )
            raise BadInput(msg)
        try:
            return _imported(module)
        except ImportError as error:
            msg = f"reasoner.knowledge = {module!r} in {self.path} cannot be imported ({error}): correct its name."
            raise SnellenError(msg) from error

    def entry(self, kind: type[_Entry]) -> _Entry:
        """The settings of one model, by their type: ``profile.entry(ClipModel)``.

        Raises:
            SnellenError: The profile has no such entry.
        """
        settings: _Entry | None = getattr(self.models, _KEY_OF[kind])
        if settings is None:
            raise self._missing(_KEY_OF[kind])
        return settings

    def drawing_from(self, folder: Path) -> Profile:
        """Return the same profile, but with all pictures of experiments from a folder of class folders."""
        return self.model_copy(update={"samples": SampleSettings(retrieval=str(folder), fits=self.samples.fits)})

    def facts_path(self) -> Path | None:
        """The file of concepts and facts, or None when the profile names none."""
        facts = self.world_settings.facts if self.world_settings else None
        return None if facts is None else self.resolve(facts)

    def split_path(self) -> Path | None:
        """The file of concepts that the checkpoints were taught, or None when all are taken for taught."""
        split = self.world_settings.split if self.world_settings else None
        return None if split is None else self.resolve(split)

    def art_path(self) -> Path | None:
        """The folder of named pictures, or None when the profile names none."""
        art = self.world_settings.art if self.world_settings else None
        return None if art is None else self.resolve(art)

    def resolve(self, folder: str) -> Path:
        """Find a file or folder that the profile names.

        Absolute paths stay; relative ones are looked up beside the profile's file, then among the installed packages.
        """
        path = user_path(folder)
        if path.is_absolute():
            return path
        beside = self.path.parent / path
        return beside if beside.exists() else INSTALLED_ROOT / path

    def settings(self, key: str) -> ModelSettings | EmbeddingModel:
        """The settings of a model: by its name in ``[models]``, or "tested.NAME".

        Raises:
            SnellenError: The profile has no such entry, or it is no model that is read from a disk or a hub.
        """
        found: Any = self.tested.get(key.removeprefix(TESTED)) if key.startswith(TESTED) else None
        if not key.startswith(TESTED):
            found = getattr(self.models, key)
        if not isinstance(found, ModelSettings | EmbeddingModel):
            raise self._missing(key)
        return found

    def source(self, key: str) -> CheckpointSource:
        """Where the model of an entry is read from; keys are those of `settings`.

        Raises:
            SnellenError: The profile has no such entry, or its folder or package is not there.
        """
        settings = self.settings(key)
        if isinstance(settings, EmbeddingModel) and settings.package is not None:
            return CheckpointSource(
                str(self._inside_package(settings.package, settings.folder or ".")), None, local=True
            )
        if settings.folder is None:
            return CheckpointSource(str(settings.id), settings.revision, local=False)
        folder = self.resolve(settings.folder)
        if not folder.is_dir():
            msg = (
                f"The folder {folder} does not exist: it is {table(key)}.folder in {self.path}; "
                f"correct it, or name an id instead (see docs/profiles.md)."
            )
            raise SnellenError(msg)
        return CheckpointSource(str(folder), None, local=True)

    def _missing(self, key: str) -> SnellenError:
        msg = (
            f"The profile {self.name!r} has no checkpoint for this: set [{table(key)}] in {self.path} "
            f"to a folder or an id, or use another profile (see docs/profiles.md)."
        )
        return SnellenError(msg)

    def _inside_package(self, package: str, folder: str) -> Path:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            msg = (
                f"The package {package!r} is not installed: it is models.embedding.package in {self.path}; "
                f"install it with pip, or name a folder instead."
            )
            raise SnellenError(msg)
        return Path(spec.submodule_search_locations[0]) / folder


def table(key: str) -> str:
    """Name the table of a profile's file that a key of `Profile.settings` stands for: ``models.loc``."""
    return key if key.startswith(TESTED) else f"models.{key}"


def profile_names() -> list[str]:
    """The profiles that come with Snellen."""
    return sorted(file.stem for file in PACKAGE_FOLDER.glob("*.toml"))


def lasting(name_or_path: str) -> str:
    """Name a profile so that a later process finds it from any folder."""
    return str(user_path(name_or_path, "profile").absolute()) if name_or_path.endswith(".toml") else name_or_path


def load_profile(name_or_path: str | Path = "embedded") -> Profile:
    """Read a profile by its name, or a file of your own by its path.

    A file may say ``extends = "embedded"``: it then states only what differs.

    Raises:
        BadInput: There is no such profile, or the file is not a valid one.
    """
    path = _locate(name_or_path)
    data = _read(path, seen=())
    data.setdefault("name", path.stem)
    try:
        return Profile.model_validate({**data, "path": path})
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        where = f"its key {key!r}" if key else "it"
        msg = f"The profile {path} cannot be used: {where} is wrong ({problem['msg']}); see docs/profiles.md."
        raise BadInput(msg) from error


def _locate(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    if text in profile_names():
        return PACKAGE_FOLDER / f"{text}.toml"
    path = user_path(text, "profile")
    if path.suffix == ".toml" and path.is_file():
        return path.resolve()
    known = ", ".join(profile_names())
    msg = f"There is no profile {text!r}: choose one of {known}, or give the path of a .toml file."
    raise BadInput(msg)


def _read(path: Path, *, seen: tuple[Path, ...]) -> dict[str, Any]:
    if path in seen:
        msg = f"The profile {path} extends itself: remove one `extends` of the circle."
        raise BadInput(msg)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"The profile {path} cannot be read ({error}): correct the file."
        raise BadInput(msg) from error
    base = data.pop("extends", None)
    if base is None:
        return data
    beside = path.parent / str(base)
    base_path = _locate(beside if beside.is_file() else str(base))
    inherited = _read(base_path, seen=(*seen, path))
    inherited.pop("name", None)  # a file of one's own is called after itself
    return _merged(inherited, data)


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    if any(key in changes for key in ("folder", "id", "package")):
        # A new source replaces the old one whole: an id and a folder together would be ambiguous.
        merged = {key: value for key, value in merged.items() if key not in _SOURCE_KEYS}
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
