"""Profiles choose checkpoints, device and limits: the same code reads every one of them.

``embedded`` (the default) needs no download, ``hub`` names public checkpoints, and a user's own file may
extend either: see ``docs/profiles.md`` for every key.
"""

from __future__ import annotations

from profiles.errors import BadInput, SnellenError
from profiles.profile import (
    CaptionModel,
    ClipModel,
    EmbeddingModel,
    FamiliaritySettings,
    LimitSettings,
    LocModel,
    MatchModel,
    ModelKey,
    ModelSettings,
    ModelTable,
    Profile,
    ReasonerSettings,
    ReplaceModel,
    SegModel,
    Source,
    VqaModel,
    WorldSettings,
    load_profile,
    profile_names,
)

__all__ = [
    "BadInput",
    "CaptionModel",
    "ClipModel",
    "EmbeddingModel",
    "FamiliaritySettings",
    "LimitSettings",
    "LocModel",
    "MatchModel",
    "ModelKey",
    "ModelSettings",
    "ModelTable",
    "Profile",
    "ReasonerSettings",
    "ReplaceModel",
    "SegModel",
    "SnellenError",
    "Source",
    "VqaModel",
    "WorldSettings",
    "load_profile",
    "profile_names",
]
