"""Threads of the learn graph: a concept is learned by itself (``snellen learn``)."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.learning.needs import checked_concept, needs_for
from snellen.memory.home import home
from snellen.profiles import Profile, lasting, load_profile
from snellen.profiles.hub_access import check_reachable
from snellen.runtime.resources import own_pictures
from snellen.threads import ask
from snellen.threads.events import Decide, Event, Finished, Started
from snellen.threads.saved_threads import Headline
from snellen.threads.thread_type import ThreadType

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from snellen.collection import OwnPictures
    from snellen.graphs.states import Json, LearnState
    from snellen.learning.lora_comparison import LoraLearned
    from snellen.learning.records import LearningOutcome
    from snellen.runtime.context import Context


def _headline(state: LearnState) -> Headline:
    learned = learned_of(state)
    return Headline(in_words(state), outcome=" ".join(map(str, learned)), error=trouble(learned))


LEARN: Final = ThreadType["LearnState"](
    "learn", lambda state, profile, folder: ask.make_context(profile, folder, own=_own_of(state)), _headline
)
"""Threads that learn."""

LearningEvent = Started["LearnState"] | Event | Finished["LearnState"]


def stream_learn(
    concept: str,
    *,
    tools: Sequence[str] = (),
    pictures: Path | str | None = None,
    profile: str = "embedded",
    seed: int = 0,
    approve: bool = False,
    thread: str | None = None,
    decide: Decide | None = None,
) -> AsyncGenerator[LearningEvent]:
    """Begin a thread that learns a concept, and follow it to its end.

    Args:
        concept: What tools should learn to see, at most ``MAX_CONCEPT`` characters.
        tools: Which tools learn it, in any case; none takes ``DEFAULT_TOOLS``, as far as ``pictures`` is good for them.
        pictures: A folder to learn from: in COCO's or LVIS's format, or with a folder for each concept, or with
            pictures of this one. None takes those that the profile names.
        profile: Name or path of a profile.
        seed: Chooses among the pictures that there are.
        approve: Whether ``decide`` is asked before anything is learned.
        thread: The new thread's id; made up when None.
        decide: Decides about the request; without it, or when it leaves the request open, the thread stops there.

    Yields:
        ``Started``, nodes and progress in the order of events, ``Waits`` where a decision is asked for,
        and ``Finished``, unless the thread is left waiting.

    Raises:
        BadInput: the concept, a tool, the folder, the profile or the thread cannot be used; nothing was begun.
        SnellenError: the run failed; ``LEARN.resume`` takes it up.
    """

    async def prepare(_: str, folder: Path) -> tuple[LearnState, Context]:
        from snellen.graphs.states import LearnState

        own, chosen, needs = await asyncio.to_thread(_needs, concept, tools, pictures, profile)
        await asyncio.to_thread(check_reachable, chosen)
        context = await asyncio.to_thread(partial(ask.make_context, profile, folder, own=own))
        own_folder = "" if own is None else str(own.folder)
        return LearnState(profile=lasting(profile), needs=needs, seed=seed, folder=own_folder, approve=approve), context

    return LEARN.begin(prepare, thread=thread, decide=decide)


def _needs(
    concept: str, tools: Sequence[str], pictures: Path | str | None, profile: str
) -> tuple[OwnPictures | None, Profile, list[Json]]:
    name, chosen = checked_concept(concept), load_profile(profile)
    own = own_pictures(pictures, name)
    return own, chosen, needs_for(name, tools, own, chosen)


async def compare_lora(
    concept: str,
    *,
    tools: Sequence[str] = (),
    pictures: Path | str | None = None,
    profile: str = "embedded",
    seed: int = 0,
    tell: Callable[[Json], None],
) -> list[LoraLearned]:
    """Learn by LoRA adapters what ``stream_learn`` learns by prompts, from the same pictures; nothing is stored.

    Args:
        concept: As there.
        tools: As there.
        pictures: As there.
        profile: As there.
        seed: As there.
        tell: Given progress as ``LearningProgress`` has it.

    Raises:
        BadInput: as there.
        SnellenError: a model cannot be loaded.
    """
    from snellen.learning.lora_comparison import adapt
    from snellen.learning.records import Need

    own, _, needs = await asyncio.to_thread(_needs, concept, tools, pictures, profile)
    context = await asyncio.to_thread(partial(ask.make_context, profile, await asyncio.to_thread(home), own=own))
    return [await adapt(Need.from_json(need), context, seed=seed, tell=tell) for need in needs]


def in_words(state: LearnState) -> str:
    """Say what a thread learns: ``learn penguin (LOC, CLASSIFY)``."""
    concept = next((need["concept"] for need in state.needs), "")
    return f"learn {concept} ({', '.join(need['tool'] for need in state.needs)})"


def learned_of(state: LearnState) -> list[LearningOutcome]:
    """Return what came of the needs of a thread so far."""
    from snellen.learning.records import LearningOutcome

    return [LearningOutcome.from_json(one) for one in state.learned]


def trouble(learned: Sequence[LearningOutcome]) -> str | None:
    """Say in a sentence why nothing at all was learned; None where something was, or where a person rejected it."""
    from snellen.runtime.approval import NOT_APPROVED

    if not learned or any(one.kept or one.trouble.startswith(NOT_APPROVED) for one in learned):
        return None
    troubles = list(dict.fromkeys(one.trouble for one in learned if one.trouble))
    if len(troubles) == len(learned) or (troubles and len(learned) == 1):
        return "Nothing was learned. " + " ".join(troubles)
    count = sum(one.discarded for one in learned)
    return (
        f"Nothing was learned: none of the {count} prompts proved itself. Where the pictures do not show what they are "
        "said to show, give better ones (--pictures); else try others of them (--seed)."
    )


def _own_of(state: LearnState) -> OwnPictures | None:
    concept = next((need["concept"] for need in state.needs), "")
    if not state.folder or state.collected:  # what was collected lies in the memory: the folder may be gone
        return None
    return own_pictures(state.folder, concept)
