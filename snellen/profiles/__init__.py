"""Profiles choose checkpoints, device and limits: the same code reads every one of them.

``embedded`` (the default) needs no download, ``hub`` names public checkpoints, and a user's own file may
extend either: see ``docs/profiles.md`` for every key.
"""

from __future__ import annotations

from snellen.errors import BadInput, SnellenError
from snellen.profile_files import lasting, profile_names
from snellen.profiles.model_settings import (
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
    Precision,
    ReplaceModel,
    SegModel,
    TextToImageModel,
    VqaModel,
)
from snellen.profiles.profile import Profile, load_profile
from snellen.profiles.run_settings import (
    CollectionSettings,
    CorrectionSettings,
    FamiliaritySettings,
    LimitSettings,
    RaySettings,
    ReasonerSettings,
    SampleSettings,
    SearchTable,
    WorldSettings,
)
from snellen.profiles.tuning_settings import (
    ClipTuning,
    LocTuning,
    LoraSettings,
    PromptSettings,
    ReplaceTuning,
    SegTuning,
    TuningSettings,
    VqaTuning,
)

__all__ = [
    "BadInput",
    "CaptionModel",
    "CheckpointSource",
    "CheckpointUnderTest",
    "ClipModel",
    "ClipTuning",
    "CollectionSettings",
    "CorrectionSettings",
    "EmbeddingModel",
    "EndpointUnderTest",
    "FamiliaritySettings",
    "LimitSettings",
    "LocModel",
    "LocTuning",
    "LoraSettings",
    "MatchModel",
    "ModelKey",
    "ModelSettings",
    "ModelTable",
    "Precision",
    "Profile",
    "PromptSettings",
    "RaySettings",
    "ReasonerSettings",
    "ReplaceModel",
    "ReplaceTuning",
    "SampleSettings",
    "SearchTable",
    "SegModel",
    "SegTuning",
    "SnellenError",
    "TextToImageModel",
    "TuningSettings",
    "VqaModel",
    "VqaTuning",
    "WorldSettings",
    "lasting",
    "load_profile",
    "profile_names",
]
