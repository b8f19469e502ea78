"""A profile as typed settings, and how one is read from TOML.

Nothing heavy is imported here: a profile is read before ``snellen --help`` answers.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, Discriminator, Field, Tag, ValidationError

from snellen.errors import BadInput, SnellenError
from snellen.profile_files import PACKAGE_FOLDER, located, read_profile_file
from snellen.profiles.model_settings import (
    TESTED,
    CaptionModel,
    CheckpointSource,
    CheckpointUnderTest,
    ClipModel,
    EmbeddingModel,
    EndpointUnderTest,
    LocModel,
    MatchModel,
    ModelKey,
    ModelSettings,
    ModelTable,
    Name,
    ReplaceModel,
    SegModel,
    SettingsTable,
    TextToImageModel,
    VqaModel,
)
from snellen.profiles.run_settings import (
    CollectionSettings,
    ConfidenceSettings,
    CorrectionSettings,
    FamiliaritySettings,
    FreeformSettings,
    LimitSettings,
    RaySettings,
    ReasonerSettings,
    ResidentSettings,
    SampleSettings,
    WorldSettings,
)
from snellen.profiles.tuning_settings import TuningSettings
from snellen.user_paths import user_path

if TYPE_CHECKING:
    from types import ModuleType

    from snellen.profiles.world import TaskWorld

INSTALLED_ROOT = PACKAGE_FOLDER.parent
"""The folder of the package: ``microworld/checkpoints/owlvit`` is looked up here."""


def _imported(module: str) -> ModuleType:
    """Import a module that a profile names; ``microworld`` is Snellen's own."""
    return importlib.import_module("snellen.microworld" if module == "microworld" else module)


_KEY_OF: dict[type[BaseModel], ModelKey] = {
    LocModel: "loc",
    VqaModel: "vqa",
    CaptionModel: "caption",
    MatchModel: "match",
    SegModel: "seg",
    ClipModel: "clip",
    ReplaceModel: "replace",
    TextToImageModel: "text_to_image",
    EmbeddingModel: "embedding",
}
_Entry = TypeVar("_Entry", bound=ModelSettings | EmbeddingModel)


def _place_of(said: object) -> str:
    """Tell where a model under test is, so that what is wrong with it is told of such a one."""
    is_served = "url" in said if isinstance(said, dict) else isinstance(said, EndpointUnderTest)
    return "endpoint" if is_served else "checkpoint"


TestedModel = Annotated[
    Annotated[CheckpointUnderTest, Tag("checkpoint")] | Annotated[EndpointUnderTest, Tag("endpoint")],
    Discriminator(_place_of),
]


class Profile(SettingsTable):
    """Everything that a profile file says."""

    name: str
    path: Path
    """The file that it was read from."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    """``auto``: half precision on CUDA, single precision elsewhere."""
    threads: int | None = Field(default=None, ge=1)
    """Threads of torch on the CPU; without it, torch decides."""
    executor: Literal["local", "ray"] = "local"
    """Where models under test are asked: in this process, or by the actors of a Ray cluster."""
    models: ModelTable = ModelTable()
    tested: dict[Name, TestedModel] = Field(default_factory=dict)
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
    confidence: ConfidenceSettings = ConfidenceSettings()
    resident: ResidentSettings = ResidentSettings()
    ray: RaySettings = RaySettings()

    def world(self) -> TaskWorld:
        """Import the world that the profile names: the only door to it.

        Raises:
            SnellenError: The profile has no world, or its module cannot be imported.
        """
        module = self.world_settings.module if self.world_settings else None
        if module is None:
            msg = (
                f"The profile {self.name!r} has no world to draw pictures and tasks from: use the profile embedded, "
                f"or set module under [world] in {self.path}."
            )
            raise SnellenError(msg)
        try:
            return cast("TaskWorld", _imported(module))
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
            return cast("ModuleType", self.world())
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

    def detecting_alone(self) -> Profile:
        """Return the same profile, but with a LOC that asks the detector alone, neither segments nor VQA."""
        loc = self.models.loc and self.models.loc.model_copy(update={"sure": None, "colours": "loc"})
        return self.model_copy(update={"models": self.models.model_copy(update={"loc": loc})})

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
        settings: Any = self.tested.get(key.removeprefix(TESTED)) if key.startswith(TESTED) else None
        if not key.startswith(TESTED):
            settings = getattr(self.models, key)
        if not isinstance(settings, ModelSettings | EmbeddingModel):
            raise self._missing(key)
        return settings

    def source(self, key: str) -> CheckpointSource:
        """Return the place that the model of an entry is read from; keys are those of `settings`.

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


def load_profile(name_or_path: str | Path = "embedded") -> Profile:
    """Read a profile by its name, or a file of your own by its path.

    A file may say ``extends = "embedded"``: it then states only what differs.

    Raises:
        BadInput: There is no such profile, or the file is not a valid one.
    """
    path = located(name_or_path)
    data = read_profile_file(path)
    data.setdefault("name", path.stem)
    try:
        return Profile.model_validate({**data, "path": path})
    except ValidationError as error:
        problem = error.errors()[0]
        # A key has no tag between the name of a tested model and what is set of it.
        parts = problem["loc"] if problem["loc"][:1] != ("tested",) else problem["loc"][:2] + problem["loc"][3:]
        key = ".".join(map(str, parts))
        where = f"its key {key!r}" if key else "it"
        msg = f"The profile {path} cannot be used: {where} is wrong ({problem['msg']}); see docs/profiles.md."
        raise BadInput(msg) from error
