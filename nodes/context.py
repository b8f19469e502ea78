"""What every node is given beside the state: the things that cannot be written into a checkpoint."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nodes.settings import Given, Settings, given_in
from profiles.errors import SnellenError

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from memory.artifacts import ArtifactStore
    from memory.demonstrations import DemonstrationPool
    from memory.drafts import Drafts
    from memory.prompts import PromptPool
    from nodes.examination import Examination
    from nodes.reasoning.protocol import Reasoner
    from profiles import Profile
    from tools.knowledge.collection import AnnotatedSource, PictureSource


Part = Literal["local", "global", "results", "plan", "validation", "correct", "incorrect"]
"""A part of reflection and learning that can be left out, to measure what it is worth (CLOVA, table 4)."""


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Where learned prompts are kept, and what they are learned from."""

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


@dataclass(frozen=True, kw_only=True)
class Context(Given):
    """The run's resources; a node reads them as ``runtime.context``."""

    pictures: ArtifactStore
    """Where picture ids lead to pictures."""

    reasoner: Reasoner
    """Plans and writes programs, and answers LIST."""

    pool: DemonstrationPool
    """Examples to recall, and where successes are remembered."""

    models: Any = None
    """The vision models of the profile (``tools.vision.models.Models``); None where no tool looks at pictures."""

    learning: Learning | None = None
    """What is needed to learn; None where this run learns nothing."""

    examination: Examination | None = None
    """What is needed to investigate; None where this run examines nothing."""

    profile: Profile | None = None
    """The checkpoints, device and limits in force; None takes the default limits."""

    without: frozenset[Part] = frozenset()
    """Parts that are left out: ``local`` and ``global`` reflection; step ``results`` and the ``plan`` in what it reads;
    ``validation`` of what was learned; ``correct`` and ``incorrect`` demonstrations."""

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


async def context_of(runtime: Runtime[Given], state: object) -> Context:
    """Return what a node works with: what the run was handed, or what its settings name, gathered on a worker thread.

    Interfaces that follow threads hand a run its ``Context``. LangGraph's server, and programs that import the graphs,
    hand it ``Settings`` (a dict with their fields), a context of their own or nothing; then the profile is that of the
    settings, or else of the thread, and the memory is that of the user whom the server has let in.

    Args:
        runtime: Of the node.
        state: Of the graph; its ``profile`` and ``folder`` count, where it has them.

    Raises:
        BadInput: There is no such profile.
        SnellenError: The memory, the Reasoner or the world cannot be used.
    """
    given = given_of(runtime)
    if isinstance(given, Context):
        return given
    from memory.home import home
    from nodes.resources import resources

    chosen = (given.profile if isinstance(given, Settings) else "") or getattr(state, "profile", "") or "embedded"
    folder = await asyncio.to_thread(home)
    pictures, needs = str(getattr(state, "folder", "")), getattr(state, "needs", [])
    # What was collected to be learned from lies in the memory: the folder may be gone.
    learning = bool(pictures and needs)
    if learning and getattr(state, "collected", []):
        pictures = ""
    concept = str(needs[0].get("concept", "")) if learning and pictures else ""
    return await asyncio.to_thread(resources, chosen, Path(folder), pictures, concept)


def given_of(runtime: Runtime[Any]) -> Given | None:
    """Return what a run was given, also where the context is that of a graph around (``nodes.settings.given_in``).

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
