"""The tuner of each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from snellen.models.soft_prompts import POOLS
from snellen.profiles import BadInput, ClipModel

if TYPE_CHECKING:
    from snellen.models.vision.models import Models
    from snellen.tuning.loop import Tuner


def tuner_of(models: Models, pool: str) -> Tuner[Any, Any]:
    """Return the tuner of the tool whose prompts a pool holds, on the very model that answers.

    Args:
        models: The models of a profile.
        pool: One of `snellen.tuning.POOLS`.

    Raises:
        BadInput: There is no such pool.
        SnellenError: The profile has no checkpoint for it.
    """
    profile = models.profile
    match pool:
        case "CLIP":
            from snellen.tuning.clip import ClipTuner

            return ClipTuner(models.encoder(), profile, profile.entry(ClipModel).template)
        case "LOC":
            from snellen.tuning.loc import LocTuner

            return LocTuner(models.detector(), profile)
        case "REPLACE":
            from snellen.tuning.replace import ReplaceTuner

            return ReplaceTuner(models.painter(), models)
        case "SEG":
            from snellen.tuning.seg import SegTuner

            return SegTuner(models.segmenter(), profile)
        case "VQA":
            from snellen.tuning.vqa import VqaTuner

            return VqaTuner(models.answerer(), profile)
        case _:
            msg = f"{pool!r} does not learn by prompts: choose one of {', '.join(sorted(POOLS))}."
            raise BadInput(msg)
