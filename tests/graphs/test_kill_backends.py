"""Wherever checkpoints lie, and whenever they are saved, a thread that crashed goes on: nothing lost, nothing doubled.

What ``test_kill.py`` shows of SQLite is shown of memory and Postgres here, and of states that are saved while the next
step runs. Saved at the end alone (``exit``), nothing of a killed thread would be left: it is not used.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from uuid import uuid4

import pytest

from snellen.memory.checkpoints import DATABASE
from tests.graphs.killed import FLOW, IN_MEMORY
from tests.graphs.test_kill import NODES, SAVED, Remains, killed_and_resumed
from tests.servers.postgres_server import PostgresServer

Case = tuple[str, str, str]
"""Where checkpoints lie, when they are saved, and where the thread crashes."""

PLACES = [(backend, durability) for backend in ("memory", "sqlite", "postgres") for durability in ("sync", "async")]
SOME: list[Case] = [
    ("memory", "sync", "tune"),
    ("memory", "sync", SAVED["judge"]),
    ("memory", "async", "store"),
    ("sqlite", "async", "validate"),
    ("postgres", "sync", "tune"),
    ("postgres", "sync", SAVED["approve"]),
    ("postgres", "async", "store"),
]
REST: list[Case] = [
    (backend, durability, victim)
    for backend, durability in PLACES
    if (backend, durability) != ("sqlite", "sync")
    # Where the next step does not wait for it, no moment is known to lie just behind a result's being saved.
    for victim in (*NODES, *(SAVED[node] for node in ("judge", "approve", "remember") if durability == "sync"))
    if (backend, durability, victim) not in SOME
]


def crashed(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer, cases: Sequence[Case]
) -> dict[str, Remains]:
    victims: dict[str, dict[str, str]] = {"none": {}}
    for backend, durability, victim in cases:
        address = {"memory": IN_MEMORY, "sqlite": ""}.get(backend)
        if address is None:
            address = postgres.new_database(f"kill_{uuid4().hex}")
        victims[name(backend, durability, victim)] = {
            "checkpoints": address,
            "durability": durability,
            "victim": victim,
        }
    return killed_and_resumed(tmp_path_factory.mktemp("backends"), victims)


def name(backend: str, durability: str, victim: str) -> str:
    return f"{backend} {durability} {victim}"


def check(remains: Remains, unharmed: Remains, case: Case) -> None:
    backend, durability, victim = case
    node = victim.partition("'")[0]
    place, saved = FLOW.index(node), victim != node

    assert remains.exits == ([0] if backend == "memory" else [-signal.SIGKILL, 0]), remains.trouble
    assert (remains.home / DATABASE).exists() == (backend == "sqlite")
    remains.check(unharmed)
    begun, again = remains.nodes[: place + 1], remains.nodes[place + 1 :]
    assert begun == list(FLOW[: place + 1])
    if saved:
        # Where saving takes longest, the next node has begun by the time that this one's result is known to be saved.
        rest = list(FLOW[place + 1 :])
        assert again in (rest, [*rest[:1], *rest])
    elif durability == "sync":
        assert again == list(FLOW[place:])
    else:
        # What was being saved may be done again, but it goes on from something that was saved, and to the end.
        assert again == list(FLOW[-len(again) :])
        assert len(again) >= len(FLOW[place:])


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> dict[str, Remains]:
    return crashed(tmp_path_factory, postgres, SOME)


@pytest.mark.parametrize("case", SOME, ids=lambda case: name(*case))
@pytest.mark.slow
def test_a_crashed_thread_goes_on(some: dict[str, Remains], case: Case) -> None:
    check(some[name(*case)], some["none"], case)


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> dict[str, Remains]:
    return crashed(tmp_path_factory, postgres, REST)


@pytest.mark.slow
@pytest.mark.parametrize("case", REST, ids=lambda case: name(*case))
def test_a_thread_that_crashed_anywhere_goes_on(rest: dict[str, Remains], case: Case) -> None:
    check(rest[name(*case)], rest["none"], case)
