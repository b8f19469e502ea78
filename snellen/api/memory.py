"""Memory of what was learned: listed, counted, forgotten, carried elsewhere, checked. Offered as ``snellen.memory``.

The calls read and write local files; beside an event loop, ``asyncio.to_thread`` takes any of them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from snellen.errors import BadInput
from snellen.graphs.states import STATE_TYPES
from snellen.memory.adapters import Adapter, AdapterStore
from snellen.memory.archives import Exchanged, export_memory, import_memory
from snellen.memory.background_loop import blocking
from snellen.memory.demonstrations import SEED, Demonstration, DemonstrationPool, Kind
from snellen.memory.home import home, home_to_read
from snellen.memory.prompts import PoolStats, PromptPool, PromptSelection
from snellen.memory.prompts.records import PromptRow
from snellen.memory.verification import Verification, verify_memory
from snellen.profiles import load_profile
from snellen.reasoning.case_based.reasoner import SEEDS
from snellen.reasoning.instruction_embedding import InstructionEmbedding
from snellen.threads.redrawing import Redrawing
from snellen.tuning import POOL_OF_TOOL, POOLS
from snellen.user_paths import user_path

DEMONSTRATIONS: Final = "demonstrations"
"""The pool of plans and programs, beside the pools of prompts."""


@dataclass(frozen=True)
class MemoryListing:
    """The learned prompts, adapters and demonstrations.

    Attributes:
        prompts: Soft prompts of tools.
        demonstrations: Remembered plans and programs, right ones and wrong ones.
        adapters: Of models that were corrected.
    """

    prompts: tuple[PromptRow, ...]
    demonstrations: tuple[Demonstration, ...]
    adapters: tuple[Adapter, ...]


@dataclass(frozen=True)
class MemoryStats:
    """Counts of what was learned.

    Attributes:
        home: The folder that it is kept in.
        prompts: Of each pool and checkpoint.
        seeds: Demonstrations that are shipped, by kind (``plan``, ``program``) and whether they are right.
        learned: Demonstrations that were learned, in the same way.
        adapters: Of models that were corrected.
    """

    home: Path
    prompts: tuple[PoolStats, ...]
    seeds: dict[tuple[str, bool], int]
    learned: dict[tuple[str, bool], int]
    adapters: int


@dataclass(frozen=True)
class Forgotten:
    """Counts of what was forgotten: everything is now as if it had never been learned."""

    prompts: int
    demonstrations: int
    adapters: int


def list_learned(*, pool: str = "", concept: str = "") -> MemoryListing:
    """Return what was learned, the shipped demonstrations left out.

    Args:
        pool: Only of one pool: ``VQA``, ``LOC``, ``SEG``, ``CLIP``, ``REPLACE`` or ``demonstrations``, where the
            shipped ones are listed too.
        concept: Only prompts of one concept.

    Raises:
        BadInput: There is no such pool, or a concept of demonstrations was asked for.
    """
    folder, chosen = home_to_read(), _known_pool(pool, concept)
    if chosen == DEMONSTRATIONS:
        return MemoryListing((), tuple(DemonstrationPool(folder).all()), ())
    prompts = tuple(PromptPool(folder).rows(PromptSelection(pool=chosen, concept=concept)))
    if chosen or concept:
        return MemoryListing(prompts, (), ())
    return MemoryListing(prompts, tuple(DemonstrationPool(folder).learned()), tuple(AdapterStore(folder)))


def stats() -> MemoryStats:
    """Return how much was learned."""
    folder = home_to_read()
    parts = Counter((one.kind, one.correct, one.source == SEED) for one in DemonstrationPool(folder, seeds=SEEDS).all())
    kinds = [(kind, correct) for kind in get_args(Kind) for correct in (True, False)]
    return MemoryStats(
        home=folder,
        prompts=tuple(PromptPool(folder).stats()),
        seeds={(kind, correct): parts[kind, correct, True] for kind, correct in kinds},
        learned={(kind, correct): parts[kind, correct, False] for kind, correct in kinds},
        adapters=len(tuple(AdapterStore(folder))),
    )


def forget(*ids: str, pool: str = "", concept: str = "", everything: bool = False) -> Forgotten:
    """Forget what was learned: by ids, by pool and concept, or everything; shipped demonstrations stay.

    Args:
        ids: Of prompts and demonstrations, or names of adapters, as ``list`` has them.
        pool: Forget one pool.
        concept: Forget the prompts of one concept.
        everything: Forget all that was learned.

    Raises:
        BadInput: Nothing was named, what was named is not there, or it was named in two ways at once.
    """
    chosen = _known_pool(pool, concept)
    if sum((bool(ids), bool(pool or concept), everything)) != 1:
        msg = "Name what is to be forgotten in one way: ids, pool= and concept=, or everything=True."
        raise BadInput(msg)
    folder = home()
    prompts, demonstrations, adapters = PromptPool(folder), DemonstrationPool(folder), AdapterStore(folder)
    if everything:
        count = sum([adapters.forget(one.name) for one in tuple(adapters)])
        return Forgotten(prompts.forget(all_=True), demonstrations.forget(learned=True), count)
    if chosen == DEMONSTRATIONS:
        return Forgotten(0, demonstrations.forget(learned=True), 0)
    if not ids:
        return Forgotten(prompts.forget(pool=chosen, concept=concept), 0, 0)
    named = [one.name for one in adapters if one.name in ids]
    others = [one for one in ids if one not in named]
    examples = demonstrations.get(others)
    there = {one.id for one in prompts.rows(PromptSelection(ids=tuple(others)))} if others else set()
    if unknown := [one for one in others if one not in there | {example.id for example in examples}]:
        msg = f"Nothing that was learned has the id {unknown[0][:40]!r}; `snellen.memory.list()` has the ids."
        raise BadInput(msg)
    # A program whose plan is forgotten would go on teaching it.
    programs = [program.id for one in examples if one.kind == "plan" for program in demonstrations.made_from(one)]
    return Forgotten(
        prompts.forget(others) if others else 0,
        demonstrations.forget([*others, *programs]) if others else 0,
        sum([adapters.forget(one) for one in named]),
    )


def export(path: str | Path) -> Exchanged:
    """Write what was learned into one archive, for ``import_`` elsewhere.

    Raises:
        BadInput: No file can have such a name.
        SnellenError: It cannot be written.
    """
    return export_memory(PromptPool(home()), user_path(path))


def import_(path: str | Path) -> Exchanged:
    """Add what an archive of ``export`` holds.

    Raises:
        BadInput: There is no such file, or it is no archive of a memory.
    """
    return import_memory(PromptPool(home()), user_path(path))


def verify(*, repair: bool = True, profile: str | Path = "embedded") -> Verification:
    """Check that everything is as it was stored, and mend what can be mended.

    Args:
        repair: Whether it is mended; else only reported.
        profile: Name or path of the profile whose embedding searches the demonstrations.

    Raises:
        SnellenError: The memory cannot be read or written.
    """
    folder = home() if repair else home_to_read()
    redrawing = Redrawing(folder)

    def searchable() -> DemonstrationPool:
        embed = InstructionEmbedding(load_profile(str(profile)))
        return DemonstrationPool(home_to_read(), embed=embed, embedding=embed.name)

    def check() -> Verification:
        return verify_memory(
            folder, searchable, repair=repair, state_types=STATE_TYPES, draw=redrawing.draw,
            complete=redrawing.complete,
        )  # fmt: skip

    # On a worker thread: it runs event loops of its own, and the caller's thread may have one already.
    return blocking(asyncio.to_thread(check))


def _known_pool(named: str, concept: str) -> str:
    """Spell a pool as it is kept; SELECT and CLASSIFY share one."""
    if named.lower() == DEMONSTRATIONS:
        if concept:
            msg = "Demonstrations belong to no concept; leave out the concept, or name a pool of prompts."
            raise BadInput(msg)
        return DEMONSTRATIONS
    pool = POOL_OF_TOOL.get(named.upper(), named.upper())
    if pool and pool not in POOLS:
        msg = f"There is no pool {named[:40]!r}: choose among {', '.join(POOLS)} and {DEMONSTRATIONS}."
        raise BadInput(msg)
    return pool


list = list_learned  # noqa: A001 - `snellen.memory.list()` is what one types
