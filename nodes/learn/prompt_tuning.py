"""Nodes of the learn graph: from what a tool should learn to prompts that proved themselves (CLOVA, section 3.4).

collect → tune → validate → store. Each node is a function of the state and may run twice without harm: pictures and
finished prompts lie in drafts until they are stored, and storing is one transaction. What was learned from a picture
before, by an earlier run or by another one at the same time, is not learned from it again.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Final

from snellen.errors import BadInput
from snellen.learning.example_collection import gather_for
from snellen.learning.needs import MAX_NEEDS
from snellen.learning.records import Collected, LearningOutcome, Need, StoredExample
from snellen.learning.tuning_bench import TuningBench
from snellen.memory.prompts import PromptOrigin, learned_prompt
from snellen.runtime.context import Context
from snellen.runtime.node_execution import interruptible
from snellen.runtime.resources import context_of
from snellen.tuning import TunedPrompt, TuningProgress, tune, validate

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Sequence

    from langgraph.runtime import Runtime

    from snellen.graphs.states import Json, LearnState
    from snellen.runtime.settings import Given

SHOWN_PICTURES: Final = 4
"""Pictures that what was learned is shown with."""

_ELSEWHERE: Final = "Discarded: another run that was learning the same at the same time did not keep it."
_NOTHING: Final[Json] = {"kept": [], "known": [], "reasons": []}


async def collect(state: LearnState, runtime: Runtime[Given]) -> Json:
    """Find pictures for each need: to train on, to prove on, and of other things that must not be spoilt.

    Raises:
        BadInput: There are no needs.
    """
    if not state.needs:
        msg = 'There is nothing to learn: give needs, such as [{"tool": "LOC", "concept": "penguin"}].'
        raise BadInput(msg)
    context = await context_of(runtime, state)
    needs = [Need.from_json(one) for one in state.needs[:MAX_NEEDS]]
    collected = []
    for need in needs:
        runtime.stream_writer({"learning": {"need": str(need), "phase": "collect"}})
        collected.append(await gather_for(need, context, seed=state.seed))
    return {"collected": [one.to_json() for one in collected]}


async def tune_prompts(state: LearnState, runtime: Runtime[Given]) -> Json:
    """Learn a prompt from each collected example; each finished one is kept as a draft at once."""
    context = await context_of(runtime, state)
    seconds = {}
    for index, collected in enumerate(_collected(state)):
        started = time.monotonic()
        if not collected.trouble:
            await interruptible(partial(_tune, collected, context), "learning", runtime)
        seconds[str(index)] = time.monotonic() - started
    return {"seconds": seconds}


async def validate_prompts(state: LearnState, runtime: Runtime[Given]) -> Json:
    """Run the tool with each prompt on held-out pictures and on others; say which prompts stay, and why."""
    context = await context_of(runtime, state)
    judged = []
    for index, collected in enumerate(_collected(state)):
        if collected.trouble:
            judged.append(_NOTHING | {"seconds": state.seconds.get(str(index), 0.0)})
            continue
        started = time.monotonic()
        progress = {"need": str(collected.need), "phase": "validate"}
        runtime.stream_writer({"learning": progress})
        judgement = await asyncio.to_thread(_validate, collected, context)
        seconds = state.seconds.get(str(index), 0.0) + time.monotonic() - started
        judged.append(judgement | {"seconds": seconds})
        of = len(judgement["kept"]) + len(judgement["reasons"])
        runtime.stream_writer({"learning": progress | {"kept": len(judgement["kept"]), "of": of}})
    return {"judged": judged}


async def store(state: LearnState, runtime: Runtime[Given]) -> Json:
    """Store the prompts that stay, all or none, and clear the drafts away."""
    context = await context_of(runtime, state)
    learned = []
    for collected, judged in zip(_collected(state), state.judged, strict=True):
        learned.append(await asyncio.to_thread(_store, collected, judged, context))
    return {"learned": [*state.learned, *(one.to_json() for one in learned)]}


def _collected(state: LearnState) -> list[Collected]:
    return [Collected.from_json(one) for one in state.collected]


def _tune(collected: Collected, context: Context, tell: Callable[[Json], None], stop: threading.Event) -> None:
    tell({"need": str(collected.need), "phase": "load"})
    bench = TuningBench(collected, context)
    missing, total = bench.missing(), len(bench.instances)
    begun = total - len(missing)
    tell({"need": str(collected.need), "phase": "tune", "done": begun, "of": total})

    def progress(now: TuningProgress) -> None:
        for tuned in now.finished:
            bench.keep(tuned)
        tell({"need": str(collected.need), "phase": "tune", "done": begun + now.done, "of": total, "step": now.step})

    if not missing:
        return
    tune(bench.tuner, missing, progress=progress, should_stop=stop.is_set)


def _validate(collected: Collected, context: Context) -> Json:
    """Say which instances' prompts are kept (those learned before among them), and why the others are not."""
    bench = TuningBench(collected, context)
    tuned, known = list(bench.tuned()), bench.known()
    if "validation" in context.without:
        return {"kept": sorted({one.instance for one in tuned} | known), "known": sorted(known), "reasons": []}
    held_out = [one.example(context.pictures) for one in collected.held_out]
    verdicts = validate(bench.tuner, tuned, held_out, others=bench.others, names=collected.names)
    kept = {one.tuned.instance for one in verdicts if one.kept} | known
    reasons = [one.reason for one in verdicts if one.tuned.instance not in kept]
    elsewhere = bench.instances.keys() - kept - {one.instance for one in tuned}
    return {"kept": sorted(kept), "known": sorted(known), "reasons": [*reasons, *[_ELSEWHERE for _ in elsewhere]]}


def _store(collected: Collected, judged: Json, context: Context) -> LearningOutcome:
    need = collected.need
    if collected.trouble:
        return LearningOutcome(need, trouble=collected.trouble)
    bench = TuningBench(collected, context)
    kept = set(judged["kept"])
    _add(bench, kept)
    bench.drafts.discard(bench.key(instance) for instance in bench.instances)
    return LearningOutcome(
        need,
        kept=len(kept),
        discarded=len(judged["reasons"]),
        reasons=_counted(judged["reasons"]),
        already=len(judged["known"]),
        seconds=round(judged["seconds"], 1),
        source=collected.source,
        pictures=_pictures(bench, kept),
    )


def _pictures(bench: TuningBench, kept: Collection[str]) -> tuple[str, ...]:
    """Return a few different pictures that kept prompts were learned from, for people to look at."""
    of_kept = (stored.picture for instance, (stored, _) in bench.instances.items() if instance in kept)
    return tuple(dict.fromkeys(of_kept))[:SHOWN_PICTURES]


def _add(bench: TuningBench, kept: Collection[str]) -> None:
    """Add the prompts that stay to the pool; what another run has added in the meantime is not added again."""
    prompts = {
        tuned.instance: learned_prompt(
            bench.pool,
            bench.collected.need.concept,
            fingerprint=bench.fingerprint,
            prompt=tuned.prompt,
            feature=tuned.feature,
            source=bench.collected.source,
            lesson=_lesson(bench.instances[tuned.instance][0], tuned),
        )
        for tuned in bench.tuned()
        if tuned.instance in kept
    }
    pool = bench.context.learner().prompts
    with pool.writing():
        known = bench.known()
        pool.add(*[prompt for instance, prompt in prompts.items() if instance not in known])


def _lesson(stored: StoredExample, tuned: TunedPrompt) -> PromptOrigin:
    return PromptOrigin(
        question=stored.question, answer=stored.answer, picture=stored.picture, steps=tuned.steps, loss=tuned.loss
    )


def _counted(reasons: Sequence[str]) -> tuple[str, ...]:
    """Tell reasons that differ in their figures alone once, with the figures of the first."""
    grouped: dict[str, list[str]] = {}
    for reason in reasons:
        general, _, figures = reason.removesuffix(".").removesuffix(")").partition(" (")
        grouped.setdefault(general, []).append(figures)
    return tuple(f"{general} ({_example(figures)})." for general, figures in grouped.items())


def _example(figures: Sequence[str]) -> str:
    count = f"{len(figures)}×" if len(figures) > 1 else ""
    return "; ".join(part for part in (count, figures[0]) if part) or "once"
