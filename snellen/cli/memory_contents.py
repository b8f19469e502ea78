"""Contents of the memory as ``snellen memory`` shows and forgets them: prompts, demonstrations, adapters."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from snellen.errors import BadInput
from snellen.memory.adapters import Adapter, AdapterStore
from snellen.memory.demonstrations import SEED, Demonstration, DemonstrationPool
from snellen.memory.home import home, home_to_read
from snellen.memory.prompts import PromptPool, PromptSelection
from snellen.models.soft_prompts import POOL_OF_TOOL, POOLS

DEMONSTRATIONS: Final = "demonstrations"
"""The value of ``--pool`` for examples, beside the pools of prompts."""


@dataclass(frozen=True)
class Contents:
    """Contents of the memory, as far as they were asked for."""

    prompts: list[Any]
    demonstrations: list[Demonstration]
    adapters: list[Adapter]

    def __len__(self) -> int:
        return len(self.prompts) + len(self.demonstrations) + len(self.adapters)

    def part(self, places: slice) -> Contents:
        """Return what stands at these places when prompts, demonstrations and adapters are listed one after another."""
        listed = [*self.prompts, *self.demonstrations, *self.adapters][places]
        demonstrations = [one for one in listed if isinstance(one, Demonstration)]
        adapters = [one for one in listed if isinstance(one, Adapter)]
        return Contents(listed[: len(listed) - len(demonstrations) - len(adapters)], demonstrations, adapters)


def counted_demonstrations() -> list[dict[str, Any]]:
    """Count the demonstrations of each kind and part, shipped and learned."""
    from snellen.reasoning.case_based.reasoner import SEEDS

    pool = DemonstrationPool(home_to_read(), seeds=SEEDS)
    parts = Counter((one.kind, one.correct, one.source == SEED) for one in pool.all())
    return [
        {"kind": kind, "correct": correct, "seeds": parts[kind, correct, True], "learned": parts[kind, correct, False]}
        for kind in ("plan", "program")
        for correct in (True, False)
    ]


def selected(pool: str, concept: str) -> Contents:
    """Return what was learned: everything, or that of a pool or a concept.

    Raises:
        BadInput: There is no such pool, or it has no concepts.
    """
    pool, folder = known_pool(pool, concept), home_to_read()
    if pool == DEMONSTRATIONS:
        return Contents([], DemonstrationPool(folder).all(), [])
    prompts = PromptPool(folder).rows(PromptSelection(pool=pool, concept=concept))
    if pool or concept:
        return Contents(prompts, [], [])
    return Contents(prompts, DemonstrationPool(folder).learned(), list(AdapterStore(folder)))


def known_pool(name: str, concept: str) -> str:
    """Return a pool's name as it is kept; SELECT and CLASSIFY share one.

    Raises:
        BadInput: There is no such pool, or it has no concepts.
    """
    if name.lower() == DEMONSTRATIONS and concept:
        msg = "Demonstrations belong to no concept: leave out --concept, or name a pool of prompts."
        raise BadInput(msg)
    if name.lower() in {"", DEMONSTRATIONS}:
        return name.lower()
    pool = POOL_OF_TOOL.get(name.upper(), name.upper())
    if pool not in POOLS:
        msg = f"There is no pool {name[:40]!r}: choose among {', '.join(POOLS)} and {DEMONSTRATIONS}."
        raise BadInput(msg)
    return pool


def record(name: str) -> dict[str, Any]:
    """Return everything about a prompt, an adapter or a demonstration.

    Raises:
        BadInput: Nothing has this id.
    """
    prompt = PromptPool(home_to_read()).get(name)
    if prompt is not None:
        # The numbers themselves tell a reader nothing.
        norm = round(float(np.linalg.norm(prompt.prompt)), 6)
        sizes = {"norm": norm, "zeros": not prompt.prompt.any(), "feature": len(prompt.feature)}
        return {"what": "prompt", **dataclasses.asdict(prompt.row), **sizes}
    adapter = AdapterStore(home_to_read()).find(name)
    if adapter is not None:
        return adapter_json(adapter)
    matches = DemonstrationPool(home_to_read()).get([name])
    if not matches:
        raise BadInput(_unknown([name]))
    return {"what": "demonstration"} | dataclasses.asdict(matches[0])


def adapter_json(adapter: Adapter) -> dict[str, Any]:
    """Return everything about an adapter."""
    return {"what": "adapter", "name": adapter.name, **dataclasses.asdict(adapter), "folder": str(adapter.folder)}


def forget_ids(ids: list[str]) -> tuple[int, int, int]:
    """Forget prompts, demonstrations and adapters; return how many of each.

    Raises:
        BadInput: Nothing has one of these ids; nothing is forgotten then.
    """
    store, prompts, demonstrations = AdapterStore(home()), PromptPool(home()), DemonstrationPool(home())
    adapters = [one.name for one in store if one.name in ids]
    others = [one for one in ids if one not in adapters]
    examples = demonstrations.get(others)
    known = {one.id for one in prompts.rows(PromptSelection(ids=tuple(others)))} if others else set()
    unknown = [one for one in others if one not in known | {example.id for example in examples}]
    if unknown:
        raise BadInput(_unknown(unknown))
    # A program whose plan is forgotten would go on teaching it.
    programs = [program.id for one in examples if one.kind == "plan" for program in demonstrations.made_from(one)]
    forgotten = (prompts.forget(others), demonstrations.forget([*others, *programs])) if others else (0, 0)
    return *forgotten, sum(store.forget(one) for one in adapters)


def forget_all() -> tuple[int, int, int]:
    """Forget everything that was learned; return the numbers of prompts, demonstrations and adapters."""
    store = AdapterStore(home())
    prompts = PromptPool(home()).forget(all_=True)
    return prompts, DemonstrationPool(home()).forget(learned=True), sum(store.forget(one.name) for one in list(store))


def forget_pool(pool: str, concept: str) -> tuple[int, int, int]:
    """Forget the prompts of a pool or a concept, or the demonstrations; return how many of each.

    Raises:
        BadInput: There is no such pool, or it has no concepts.
    """
    pool = known_pool(pool, concept)
    if pool == DEMONSTRATIONS:
        return 0, DemonstrationPool(home()).forget(learned=True), 0
    return PromptPool(home()).forget(pool=pool, concept=concept), 0, 0


def searchable(profile: str) -> DemonstrationPool:
    """Return the demonstrations with the embedding of a profile, which searches them."""
    from snellen.profiles import load_profile
    from snellen.reasoning.instruction_embedding import InstructionEmbedding

    embed = InstructionEmbedding(load_profile(profile))
    return DemonstrationPool(home_to_read(), embed=embed, embedding=embed.name)


def _unknown(ids: list[str]) -> str:
    named = ", ".join(repr(one[:40]) for one in ids[:3])
    return f"Nothing that was learned has the id {named}: `snellen memory list` shows the ids."
