"""What ``snellen memory verify`` mends from what threads say: pictures and samples that follow from a seed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from interfaces import directory, threads
from interfaces.threads import GraphName
from memory.home import MemoryTrouble
from profiles.errors import SnellenError

if TYPE_CHECKING:
    from memory.artifacts import ArtifactStore
    from memory.verification import Verification

_EXAMPLES: Final = files("interfaces") / "chat_page" / "examples"


@dataclass(frozen=True)
class Redrawing:
    """Draws again what the threads of a home drew.

    Attributes:
        folder: The memory's home.
    """

    folder: Path

    def draw(self, store: ArtifactStore, wanted: AbstractSet[str]) -> None:
        """Draw pictures again into a store; see ``memory.picture_verification.Draw``."""
        from nodes.redrawing import draw_lessons, draw_samples

        for example in _EXAMPLES.iterdir():
            if example.name.endswith(".png"):
                store.ingest(Path(str(example)))
        for graph, state in self._states:
            if all(map(store.is_whole, wanted)):
                return
            context = self._context(graph, state)
            if context is None:
                continue
            if graph == "investigate":
                draw_samples(state, context, store, wanted)
            elif graph in {"ask", "learn"} and state.needs:
                asyncio.run(draw_lessons(state, context, store))

    def complete(self, found: Verification) -> None:
        """Add the samples that reports should have, and note those that cannot be had."""
        from memory.samples import SampleTable
        from nodes.redrawing import fill, gaps

        samples = SampleTable(self.folder)
        for graph, state in self._states:
            for gap in gaps(state, samples) if graph == "investigate" else ():
                said = f"{len(gap.rounds)} of its rounds have samples missing"
                context = self._context(graph, state)
                if context is not None and (not found.repaired or fill(gap, context)):
                    found.note("rebuilt", gap, f"{said}; they are drawn again, as they follow from a seed")
                else:
                    found.note("lost", gap, f"{said}, and where they came from is gone")

    @cached_property
    def _states(self) -> list[tuple[GraphName, Any]]:
        """The latest state of every thread; investigations that a conversation made stand as they are in it."""
        try:
            return asyncio.run(self._read())
        except MemoryTrouble:  # the database of threads is damaged, which has been told: nobody knows what they drew
            return []

    async def _read(self) -> list[tuple[GraphName, Any]]:
        from memory.checkpoints import UNREADABLE, thread_graphs

        found: list[tuple[GraphName, Any]] = []
        async with threads.reading_all(self.folder) as graphs:
            for name, graph in thread_graphs(self.folder).items():
                of = threads.known_graph(graph)
                try:
                    found += _parts(of, await directory.KINDS[of].state_of(graphs[of], name))
                except UNREADABLE:
                    continue
        return found

    def _context(self, graph: GraphName, state: Any) -> Any:  # noqa: ANN401 - a state, and nodes.context.Context
        try:
            return directory.KINDS[graph].gather(state, str(state.profile) or "embedded", self.folder)
        except SnellenError:  # its profile or its folder is gone: what it drew cannot be drawn
            return None


def _parts(graph: GraphName, state: Any) -> Iterator[tuple[GraphName, Any]]:  # noqa: ANN401 - a state
    if graph != "chat":
        yield graph, state
        return
    of = threads.known_graph(str(state.last.get("graph", "")))
    if of != "chat" and isinstance(state.last.get("state"), dict):
        yield of, threads.state_from(state.last["state"], directory.KINDS[of].state())
