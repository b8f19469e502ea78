"""Programs that verify answers on scene graphs, run in a box (PROVE, section 3.1).

A program is what a language model wrote, so it is never run in this process: workers of pydantic-monty interpret it, an
interpreter of its own without files, sockets, environment or Python's object model, with limits of time and memory.
Where it is not installed, nothing is run.
"""

from __future__ import annotations

import importlib.util
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, Self

from snellen.errors import SnellenError
from snellen.scoring.scene_graph import SceneGraph
from snellen.scoring.tampering import GRAPH, tampering

FUNCTION: Final = "verify"
"""What a program defines: a function of the scene graph that returns the answer."""
MAX_PROGRAM: Final = 10_000
MAX_ANSWER: Final = 2_000
"""Characters of a program, and of its answer."""
_PRELUDE: Final = """
class SceneGraph:
    def __init__(self, data):
        self.caption = data["caption"]
        self._data = data

    def get_entities(self):
        return [*self._data["attributes"]]

    def get_attributes(self, ent_name):
        return {**self._data["attributes"].get(ent_name, {})}

    def get_outgoing_relations(self, ent_name):
        return {**self._data["outgoing"].get(ent_name, {})}

    def get_incoming_relations(self, ent_name):
        return {**self._data["incoming"].get(ent_name, {})}

    def generate_subgraph(self, node_list):
        kept = [name for name in self._data["attributes"] if name in node_list]
        data = {"caption": self.caption, "names": self._data["names"], "values": self._data["values"]}
        data["attributes"] = {name: self._data["attributes"][name] for name in kept}
        for side in ("outgoing", "incoming"):
            data[side] = {
                name: {other: found for other, found in self._data[side].get(name, {}).items() if other in kept}
                for name in kept
            }
        return SceneGraph(data)

    def describe(self, subgraph):
        said = []
        for name in subgraph.get_entities():
            said.append(" ".join(self._data["values"][name] + [self._data["names"][name]]))
        for name in subgraph.get_entities():
            for other, kinds in subgraph.get_outgoing_relations(name).items():
                for relations in kinds.values():
                    for relation in relations:
                        said.append(self._data["names"][name] + " " + relation + " " + self._data["names"][other])
        return "; ".join(said)
"""
"""Listing 1's methods as the box knows them: there is nothing in it but text, and no name that a program may rebind."""


@dataclass(frozen=True)
class SandboxLimits:
    """The limits of a program.

    Attributes:
        seconds: Of its own time.
        memory: Bytes.
        depth: Calls within calls.
    """

    seconds: float = 1.0
    memory: int = 32_000_000
    depth: int = 200


@dataclass(frozen=True)
class Verified:
    """The result of a program.

    Attributes:
        answer: In words; None where there is none.
        trouble: Why there is none, in a sentence.
    """

    answer: str | None
    trouble: str = ""


class Verifier:
    """Runs programs in the box; to be used in a ``with``, which starts and ends its workers.

    Args:
        limits: Of each program.
        workers: Programs at once; None takes as many as there are processors.

    Raises:
        SnellenError: pydantic-monty is not installed.
    """

    def __init__(self, limits: SandboxLimits = SandboxLimits(), *, workers: int | None = None) -> None:
        if not self.available():
            msg = (
                "Verification programs run in a box only, by pydantic-monty, which is not installed: "
                "pip install 'snellen[prove]', or '.[prove]' in a clone."
            )
            raise SnellenError(msg)
        import pydantic_monty

        self._workers = workers or os.cpu_count() or 1
        self._limits: Any = {
            "max_feed_duration_secs": limits.seconds,
            "max_turn_duration_secs": limits.seconds,
            "max_memory": limits.memory,
            "max_recursion_depth": limits.depth,
            "max_suspensions": 1_000,
            "max_total_sleep_secs": limits.seconds,
        }
        self._pool = pydantic_monty.Monty(
            min_processes=1, max_processes=self._workers, request_timeout=10 * limits.seconds + 5
        )

    @staticmethod
    def available() -> bool:
        """Return whether there is a box here to run programs in."""
        return importlib.util.find_spec("pydantic_monty") is not None

    def __enter__(self) -> Self:
        """Start the workers."""
        self._pool.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""
        self._pool.__exit__(kind, error, trace)

    def run(self, program: str, graph: SceneGraph) -> Verified:
        """Run a program on a graph.

        Args:
            program: It defines ``verify(scene_graph)``.
            graph: It sees nothing else.

        Returns:
            Its answer, or why there is none. Whatever it does, it raises nothing here.
        """
        from pydantic_monty import MontyError

        if len(program) > MAX_PROGRAM:
            return Verified(None, f"The program has more than {MAX_PROGRAM:,} characters.")
        written = textwrap.dedent(program)
        if trouble := tampering(written, FUNCTION):
            return Verified(None, trouble)
        try:
            with self._pool.checkout(limits=self._limits) as session:
                # Annotations may name the class, so it is there before the program; and it is made anew behind the
                # program, before there is any graph, so that nothing the program did to it lasts.
                session.feed_run(_PRELUDE, print_callback=_unheard)
                session.feed_run(written, print_callback=_unheard)
                output = session.feed_run(
                    f"{_PRELUDE}\n{FUNCTION}({GRAPH}(data))", inputs={"data": _plain(graph)}, print_callback=_unheard
                )
        except (MontyError, TimeoutError, ValueError) as error:
            return Verified(None, f"The program failed: {_line(error)}.")
        except RecursionError:
            return Verified(None, "The program returned something without an end.")
        return _answered(output)

    def run_all(self, jobs: Iterable[tuple[str, SceneGraph]]) -> Iterator[Verified]:
        """Run programs, several at once, and yield what came of them in their order."""
        with ThreadPoolExecutor(self._workers) as threads:
            yield from threads.map(lambda job: self.run(*job), jobs)


@lru_cache(maxsize=256)
def _plain(graph: SceneGraph) -> dict[str, Any]:
    """Return a graph as the data that crosses into the box."""
    keys = graph.get_entities()
    values: dict[str, list[str]] = {key: [] for key in keys}
    for fact in graph.facts:
        if fact.attribute:
            values[fact.entity].append(fact.attribute)
    return {
        "caption": graph.caption,
        "attributes": {key: graph.get_attributes(key) for key in keys},
        "outgoing": {key: graph.get_outgoing_relations(key) for key in keys},
        "incoming": {key: graph.get_incoming_relations(key) for key in keys},
        "names": graph.names,
        "values": values,
    }


def _answered(output: Any) -> Verified:  # noqa: ANN401 - whatever the box gave back
    """Put what a program returned into words: text, numbers, yes and no, and rows of these."""
    rows: Sequence[Any] = sorted(output, key=str) if isinstance(output, set | frozenset) else output
    if isinstance(rows, list | tuple):
        parts = [_word(one) for one in rows[:MAX_ANSWER]]
        answer = None if None in parts else ", ".join(part for part in parts if part is not None)
    else:
        answer = _word(output)
    if answer is None:
        return Verified(None, f"The program returned a {type(output).__name__}, which is no answer.")
    if not answer.strip() or len(answer) > MAX_ANSWER:
        return Verified(
            None, "The program returned nothing." if not answer.strip() else "The program's answer is too long."
        )
    return Verified(answer)


def _word(one: Any) -> str | None:  # noqa: ANN401 - as above
    if isinstance(one, bool):
        return "yes" if one else "no"
    if isinstance(one, str):
        return one[: MAX_ANSWER + 1]
    if isinstance(one, int):
        return str(one) if abs(one) < 10**18 else None
    return f"{one:g}" if isinstance(one, float) else None


def _unheard(stream: str, text: str) -> None:
    """Drop what a program prints: nobody reads it, and it may be without an end."""


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
