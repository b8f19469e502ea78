"""Profiles choose checkpoints, device and limits: the same code reads every one of them.

``embedded`` (the default) needs no download, ``hub`` names public checkpoints, and a user's own file may
extend either: see ``docs/profiles.md`` for every key.
"""

from __future__ import annotations

from profiles.errors import BadInput, SnellenError
from profiles.profile import (
    CaptionModel,
    ClipModel,
    ClipTuning,
    CollectionSettings,
    EmbeddingModel,
    FamiliaritySettings,
    LimitSettings,
    LocModel,
    LocTuning,
    MatchModel,
    ModelKey,
    ModelSettings,
    ModelTable,
    Profile,
    PromptSettings,
    ReasonerSettings,
    ReplaceModel,
    SearchTable,
    SegModel,
    Source,
    TuningSettings,
    VqaModel,
    VqaTuning,
    WorldSettings,
    load_profile,
    profile_names,
)

__all__ = [
    "BadInput",
    "CaptionModel",
    "ClipModel",
    "ClipTuning",
    "CollectionSettings",
    "EmbeddingModel",
    "FamiliaritySettings",
    "LimitSettings",
    "LocModel",
    "LocTuning",
    "MatchModel",
    "ModelKey",
    "ModelSettings",
    "ModelTable",
    "Profile",
    "PromptSettings",
    "ReasonerSettings",
    "ReplaceModel",
    "SearchTable",
    "SegModel",
    "SnellenError",
    "Source",
    "TuningSettings",
    "VqaModel",
    "VqaTuning",
    "WorldSettings",
    "load_profile",
    "profile_names",
]
