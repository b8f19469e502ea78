"""Resources of learning: the memory of prompts, and the sources of pictures to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from snellen.collection import AnnotatedSource, PictureSource
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.prompts import PromptPool
    from snellen.memory.prompts.drafts import Drafts
    from snellen.models.vision.models import Models
    from snellen.reasoning.reasoner import Reasoner


@dataclass(frozen=True, kw_only=True)
class Learning:
    """The memory of learned prompts, and the sources of what they are learned from."""

    prompts: PromptPool
    """What tools have learned."""

    drafts: Drafts
    """Tuned prompts that are not yet proved."""

    annotated: AnnotatedSource | None = None
    """Scenes with boxes and masks; None where the profile names none."""

    found: PictureSource | None = None
    """Pictures by concept; None where the profile names none."""

    beside: tuple[str, ...] = ()
    """Other concepts of a folder of the user's own: what must not be spoilt."""


class LearningContext(Protocol):
    """The part of a run's context that collecting examples needs."""

    @property
    def pictures(self) -> ArtifactStore:
        """The store of pictures."""
        ...

    @property
    def reasoner(self) -> Reasoner:
        """The Reasoner, which names related concepts."""
        ...

    def vision(self) -> Models:
        """Return the vision models.

        Raises:
            SnellenError: This run has none.
        """
        ...

    def learner(self) -> Learning:
        """Return what is needed to learn.

        Raises:
            SnellenError: This run has no memory of prompts.
        """
        ...
