"""Loads what the first question would have to wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.models.loading import loading
from snellen.runtime.resources import resources

if TYPE_CHECKING:
    from pathlib import Path

    from snellen.runtime.context import Context

_QUESTION = "How many dogs are there?"


def warm_up(profile: str, folder: Path) -> Context:
    """Load what questions about pictures need: the demonstrations, and the models behind LOC, VQA and SELECT.

    Each is used once, since the first call takes longer than others too. Models that edit pictures, and those that
    investigations examine, are loaded when they are first used.

    Args:
        profile: Name or path of a profile.
        folder: The memory's home.

    Returns:
        What runs in this home work with. Models are shared as long as somebody holds it.

    Raises:
        BadInput: There is no such profile.
        SnellenError: Something cannot be loaded.
    """
    import PIL.Image

    with loading():
        context = resources(profile, folder)
        context.pool.nearest(_QUESTION, "plan", correct=True, k=1)
        models = context.models
        if models is None:
            return context
        picture = PIL.Image.new("RGB", (64, 64), "white")
        if models.profile.models.loc is not None:
            models.detect([picture], [["dog"]])
        if models.profile.models.vqa is not None:
            models.answer([picture], [_QUESTION])
        if models.profile.models.clip is not None:
            models.similarity([picture], ["dog"])
            models.warning(picture)
        return context
