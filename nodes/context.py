"""What every node is given beside the state: the things that cannot be written into a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.artifacts import ArtifactStore
    from memory.demonstrations import DemonstrationPool
    from nodes.reasoning.protocol import Reasoner
    from profiles import Profile


@dataclass(frozen=True, kw_only=True)
class Context:
    """The run's resources; a node reads them as ``runtime.context``."""

    pictures: ArtifactStore
    """Where picture ids lead to pictures."""

    reasoner: Reasoner
    """Plans and writes programs, and answers LIST."""

    pool: DemonstrationPool
    """Examples to recall, and where successes are remembered."""

    models: Any = None
    """The vision models of the profile (``tools.vision.models.Models``); None where no tool looks at pictures."""

    profile: Profile | None = None
    """The checkpoints, device and limits in force; None takes the default limits."""
