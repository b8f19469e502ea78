"""Learning: from what a tool should learn to prompts that proved themselves (CLOVA, section 3.4).

collect → tune → validate → store. Each node is a function of the state and may run twice without harm: pictures and
prompts are named by their content, finished prompts lie in drafts until they are stored, and storing is one
transaction.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memory.drafts import Draft, DraftKey
from memory.prompts import Lesson, learned_prompt
from nodes.gathering import gather_for
from nodes.lessons import Collected, Learned, Need, StoredExample
from tools.tuning import POOL_OF_TOOL, POOLS, Instance, Progress, TunedPrompt, tune, tuner_of, validate
from tools.vision.loading import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from langgraph.runtime import Runtime

    from graphs.states import Json, LearnState
    from nodes.context import Context
    from tools.tuning.loop import Tuner
    from tools.tuning.records import Verdict

MAX_NEEDS: Final = 4
"""Things that one run learns at most."""


async def collect(state: LearnState, runtime: Runtime[Context]) -> Json:
    """Find pictures for each need: to train on, to prove on, and of other things that must not be spoilt."""
    needs = [Need.from_json(one) for one in state.needs[:MAX_NEEDS]]
    collected = []
    for need in needs:
        runtime.stream_writer({"learning": {"need": str(need), "phase": "collect"}})
        collected.append(await gather_for(need, runtime.context, seed=state.seed))
    return {"collected": [one.to_json() for one in collected]}


async def tune_prompts(state: LearnState, runtime: Runtime[Context]) -> Json:
    """Learn a prompt from each collected example; each finished one is kept as a draft at once."""
    seconds = {}
    for index, collected in enumerate(_collected(state)):
        started = time.monotonic()
        if not collected.trouble:
            await _interruptible(_tune, collected, runtime)
        seconds[str(index)] = time.monotonic() - started
    return {"seconds": seconds}


async def validate_prompts(state: LearnState, runtime: Runtime[Context]) -> Json:
    """Run the tool with each prompt on held-out pictures and on others; say which prompts stay, and why."""
    judged = []
    for index, collected in enumerate(_collected(state)):
        started = time.monotonic()
        verdicts = [] if collected.trouble else await asyncio.to_thread(_validate, collected, runtime.context)
        kept = [one.tuned.instance for one in verdicts if one.kept]
        judged.append(
            {
                "kept": kept,
                "reasons": [one.reason for one in verdicts if not one.kept],
                "seconds": state.seconds.get(str(index), 0.0) + time.monotonic() - started,
            }
        )
        runtime.stream_writer(
            {"learning": {"need": str(collected.need), "phase": "validate", "kept": len(kept), "of": len(verdicts)}}
        )
    return {"judged": judged}


async def store(state: LearnState, runtime: Runtime[Context]) -> Json:
    """Store the prompts that stay, all or none, and clear the drafts away."""
    learned = []
    for collected, judged in zip(_collected(state), state.judged, strict=True):
        learned.append(await asyncio.to_thread(_store, collected, judged, runtime.context))
    return {"learned": [*state.learned, *(one.to_json() for one in learned)]}


def _collected(state: LearnState) -> list[Collected]:
    return [Collected.from_json(one) for one in state.collected]


class _Bench:
    """A tuner with the instances of one need, and where their drafts lie."""

    def __init__(self, collected: Collected, context: Context) -> None:
        self.collected, self.context = collected, context
        self.drafts = context.learner().drafts
        self.pool = POOL_OF_TOOL[collected.need.tool]
        self.tuner: Tuner[Any, Any] = tuner_of(context.models, self.pool)
        self.fingerprint = fingerprint(context.models.profile, POOLS[self.pool])
        settings = f"{self.tuner.settings.model_dump_json()} {self.tuner.common.seed}"
        self.recipe = hashlib.sha256(settings.encode()).hexdigest()[:16]
        others = [one.example(context.pictures) for one in collected.others]
        self.others = others
        self.instances = {
            instance.id: (stored, instance)
            for index, stored in enumerate(collected.training)
            for instance in [self._instance(index, stored)]
        }

    def _instance(self, index: int, stored: StoredExample) -> Instance:
        """Negatives go round, so that the instances of a concept together see all of them."""
        wanted = min(self.tuner.settings.negatives, len(self.others))
        negatives = tuple(self.others[(index * wanted + place) % len(self.others)] for place in range(wanted))
        return Instance(stored.example(self.context.pictures), negatives, self.collected.names)

    def key(self, instance: str) -> DraftKey:
        return DraftKey(self.fingerprint, self.pool, self.recipe, instance)

    def missing(self) -> list[Instance]:
        """The instances that have no draft yet."""
        return [one for _, one in self.instances.values() if self.drafts.get(self.key(one.id)) is None]

    def keep(self, tuned: TunedPrompt) -> None:
        draft = Draft(tuned.prompt, tuned.feature, tuned.steps, tuned.loss, tuned.accepted)
        self.drafts.put(self.key(tuned.instance), draft)

    def tuned(self) -> Iterator[TunedPrompt]:
        """The prompts that lie in drafts."""
        for _, instance in self.instances.values():
            draft = self.drafts.get(self.key(instance.id))
            if draft is not None:
                yield TunedPrompt(
                    instance=instance.id,
                    pool=self.pool,
                    concept=instance.concept,
                    prompt=draft.prompt,
                    feature=draft.feature,
                    steps=draft.steps,
                    loss=draft.loss,
                    accepted=draft.accepted,
                )


async def _interruptible(
    work: Callable[[Collected, Context, Callable[[Json], None], threading.Event], None],
    collected: Collected,
    runtime: Runtime[Context],
) -> None:
    """Run on a worker thread, which is told to stop when the node is cancelled; its progress is streamed from here."""
    loop, stop = asyncio.get_running_loop(), threading.Event()

    def tell(progress: Json) -> None:
        loop.call_soon_threadsafe(runtime.stream_writer, {"learning": progress})

    try:
        await asyncio.to_thread(work, collected, runtime.context, tell, stop)
    finally:
        stop.set()


def _tune(collected: Collected, context: Context, tell: Callable[[Json], None], stop: threading.Event) -> None:
    bench = _Bench(collected, context)
    missing, total = bench.missing(), len(bench.instances)
    begun = total - len(missing)
    tell({"need": str(collected.need), "phase": "tune", "done": begun, "of": total})

    def progress(now: Progress) -> None:
        for tuned in now.finished:
            bench.keep(tuned)
        tell({"need": str(collected.need), "phase": "tune", "done": begun + now.done, "of": total, "step": now.step})

    tune(bench.tuner, missing, progress=progress, should_stop=stop.is_set)


def _validate(collected: Collected, context: Context) -> list[Verdict]:
    bench = _Bench(collected, context)
    held_out = [one.example(context.pictures) for one in collected.held_out]
    return validate(bench.tuner, list(bench.tuned()), held_out, others=bench.others, names=collected.names)


def _store(collected: Collected, judged: Json, context: Context) -> Learned:
    need = collected.need
    if collected.trouble:
        return Learned(need, trouble=collected.trouble)
    bench = _Bench(collected, context)
    kept = set(judged["kept"])
    prompts = [
        learned_prompt(
            bench.pool,
            need.concept,
            fingerprint=bench.fingerprint,
            prompt=tuned.prompt,
            feature=tuned.feature,
            source=collected.source,
            lesson=_lesson(bench.instances[tuned.instance][0], tuned),
        )
        for tuned in bench.tuned()
        if tuned.instance in kept
    ]
    new = context.learner().prompts.add(*prompts)
    bench.drafts.discard(bench.key(instance) for instance in bench.instances)
    return Learned(
        need,
        kept=len(kept),
        discarded=len(judged["reasons"]),
        reasons=_counted(judged["reasons"]),
        already=len(prompts) - new,
        seconds=round(judged["seconds"], 1),
    )


def _lesson(stored: StoredExample, tuned: TunedPrompt) -> Lesson:
    return Lesson(
        question=stored.question, answer=stored.answer, picture=stored.picture, steps=tuned.steps, loss=tuned.loss
    )


def _counted(reasons: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{reason} ({count}×)" if count > 1 else reason for reason, count in Counter(reasons).items())
