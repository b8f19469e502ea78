"""The tuner of each tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profiles import BadInput, ClipModel
from tools.tuning.prompts import POOLS

if TYPE_CHECKING:
    from tools.tuning.loop import Tuner
    from tools.vision.models import Models


def tuner_of(models: Models, pool: str) -> Tuner[Any, Any]:
    """What tunes the tool whose prompts a pool holds, on the very model that answers.

    Args:
        models: The models of a profile.
        pool: One of `tools.tuning.POOLS`.

    Raises:
        BadInput: There is no such pool.
        SnellenError: The profile has no checkpoint for it.
    """
    profile = models.profile
    match pool:
        case "CLIP":
            from tools.tuning.clip import ClipTuner

            return ClipTuner(models.encoder(), profile, profile.entry(ClipModel).template)
        case "LOC":
            from tools.tuning.loc import LocTuner

            return LocTuner(models.detector(), profile)
        case "REPLACE":
            from tools.tuning.replace import ReplaceTuner

            return ReplaceTuner(models.painter(), models)
        case "SEG":
            from tools.tuning.seg import SegTuner

            return SegTuner(models.segmenter(), profile)
        case "VQA":
            from tools.tuning.vqa import VqaTuner

            return VqaTuner(models.answerer(), profile)
        case _:
            msg = f"{pool!r} does not learn by prompts: choose one of {', '.join(sorted(POOLS))}."
            raise BadInput(msg)
