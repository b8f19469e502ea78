"""Context of a run: the resources of its nodes, which cannot be written into a checkpoint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from snellen.errors import SnellenError
from snellen.runtime.settings import Given, given_in

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from snellen.experiments.resources import Examination
    from snellen.learning.resources import Learning
    from snellen.memory.artifacts import ArtifactStore
    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.models.vision.models import Models
    from snellen.profiles import Profile
    from snellen.reasoning.reasoner import Reasoner, ReasonerUsage


Part = Literal["local", "global", "results", "plan", "validation", "correct", "incorrect", "revisions"]
"""A part of inference, reflection and learning that can be left out, to measure what it is worth (CLOVA, table 4)."""


@dataclass(frozen=True, kw_only=True)
class Context(Given):
    """The run's resources; a node reads them as ``runtime.context``."""

    pictures: ArtifactStore
    """Where picture ids lead to pictures."""

    reasoner: Reasoner
    """Plans and writes programs, and answers LIST."""

    pool: DemonstrationPool
    """Examples to recall, and where successes are remembered."""

    models: Models | None = None
    """The vision models of the profile; None where no tool looks at pictures."""

    learning: Learning | None = None
    """What is needed to learn; None where this run learns nothing."""

    examination: Examination | None = None
    """What is needed to investigate; None where this run examines nothing."""

    profile: Profile | None = None
    """The checkpoints, device and limits in force; None takes the default limits."""

    without: frozenset[Part] = frozenset()
    """Parts that are left out: ``local`` and ``global`` reflection; step ``results`` and the ``plan`` in what it reads;
    ``validation`` of what was learned; ``correct`` and ``incorrect`` demonstrations; ``revisions`` of programs."""

    def vision(self) -> Models:
        """Return the vision models.

        Raises:
            SnellenError: This run has none.
        """
        if self.models is None:
            msg = "This run has no vision models: begin it with a profile that names some."
            raise SnellenError(msg)
        return self.models

    def learner(self) -> Learning:
        """Return what is needed to learn.

        Raises:
            SnellenError: This run has no memory of prompts.
        """
        if self.learning is None:
            msg = "This run has no memory of prompts, so it cannot learn: begin it with one."
            raise SnellenError(msg)
        return self.learning

    def examiner(self) -> Examination:
        """Return what is needed to investigate.

        Raises:
            SnellenError: This run examines nothing.
        """
        if self.examination is None:
            msg = "This run has no models to examine: begin it as an investigation."
            raise SnellenError(msg)
        return self.examination


def given_of(runtime: Runtime[Any]) -> Given | None:
    """Return what a run was given, also where the context is that of a graph around (``given_in``).

    Raises:
        BadInput: A setting has a value that it cannot have.
    """
    return given_in(runtime.context, _configurable())


def given_now(context: object = None) -> Given | None:
    """Return what a run that is about to begin is given: by its caller, or else by the node that it is begun in.

    Raises:
        BadInput: A setting has a value that it cannot have.
    """
    from langgraph.runtime import get_runtime

    around = _configurable()
    return given_in(context if context is not None or not around else get_runtime().context, around)


def _configurable() -> dict[str, Any]:
    from langgraph.config import get_config

    try:
        return dict(get_config().get("configurable", {}))
    except RuntimeError:
        # Outside of a graph.
        return {}


def thread_name() -> str:
    """Return the id of the thread that the node at work belongs to; one made up where it has none."""
    import uuid

    return str(_configurable().get("thread_id") or uuid.uuid4())


def usage_with(so_far: dict[str, float], before: ReasonerUsage, after: ReasonerUsage) -> dict[str, float]:
    """Add what one node has used; a Reasoner counts from when it was made, which may be since the thread began."""
    counts = {name: value for name, value in asdict(after).items() if value is not None}
    earlier = asdict(before)
    return {name: so_far.get(name, 0) + value - (earlier[name] or 0) for name, value in counts.items()}
