"""Learning by LoRA instead of prompts, to compare the two (``snellen learn CONCEPT --method lora``).

An adapter changes what its tool says about everything, a prompt only what it says about its own concept. So an adapter
is trained, judged and told, on models of its own, and never stored.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.learning.example_collection import gather_for
from snellen.learning.records import Collected, Need
from snellen.learning.tuning_bench import TuningBench
from snellen.tuning import Tally, TuningExample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from snellen.learning.resources import LearningContext
    from snellen.tuning.lora import LoraOutcome

    Tell = Callable[[dict[str, Any]], None]

_MOST_ASKED: Final = 12
"""Things seen in the pictures of other things that LOC must go on seeing."""


@dataclass(frozen=True)
class LoraLearned:
    """The outcome of learning one need by LoRA; beside its fields, those of `snellen.tuning.lora.LoraOutcome`.

    Attributes:
        need: The need.
        source: Where the pictures came from, for people.
        outcome: What came of the adapter; None where nothing was learned.
        trouble: Why nothing was learned, in a sentence.
    """

    need: Need
    source: str = ""
    outcome: LoraOutcome | None = None
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON: one object, tallies as ``{"right", "of"}``."""
        outcome = {} if self.outcome is None else asdict(self.outcome)
        return {"need": self.need.to_json(), "method": "lora", "source": self.source, "trouble": self.trouble} | outcome

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LoraLearned:
        """Read what `to_json` wrote."""
        from snellen.tuning.lora import LoraOutcome

        need, outcome = Need.from_json(data["need"]), None
        if "reason" in data:
            plain = {name: data[name] for name in LoraOutcome.__dataclass_fields__}
            tallies = {name: Tally(**each) for name, each in plain.items() if isinstance(each, dict)}
            outcome = LoraOutcome(**(plain | tallies))
        return cls(need, data["source"], outcome, data["trouble"])

    def __str__(self) -> str:
        """Tell it in sentences."""
        if self.outcome is None:
            return f"{self.need}: nothing was learned. {self.trouble}"
        came = self.outcome
        return (
            f"{self.need}: a LoRA adapter of {came.weights:,} weights, trained on {came.instances} examples for "
            f"{came.steps} steps in {came.seconds:.1f} s. {came.reason} Of {came.others.of} answers about other things "
            f"{came.others.right} are right, {came.others_before.right} were. It was for comparison: nothing is stored."
        )


async def adapt(need: Need, context: LearningContext, *, seed: int = 0, tell: Tell = lambda _: None) -> LoraLearned:
    """Collect for a need as learning by prompts does, and train and judge a LoRA adapter by it.

    Args:
        need: What should be learned.
        context: Where pictures come from; its models answer on as they are meanwhile.
        seed: Chooses among the pictures of a source.
        tell: Given progress as it happens: ``need`` and ``phase`` (collect, adapt), there ``step`` and ``of``.
    """
    tell({"need": str(need), "phase": "collect"})
    collected = await gather_for(need, context, seed=seed)
    if collected.trouble:
        return LoraLearned(need, trouble=collected.trouble)
    loop, stop = asyncio.get_running_loop(), threading.Event()

    def tell_here(progress: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(tell, progress)

    try:
        return await asyncio.to_thread(_adapt, collected, context, tell_here, stop)
    finally:
        stop.set()


def _adapt(collected: Collected, context: LearningContext, tell: Tell, stop: threading.Event) -> LoraLearned:
    from snellen.models.vision.models import Models
    from snellen.tuning import lora

    need = collected.need
    bench = TuningBench(collected, context, Models(context.vision().profile))
    of = bench.tuner.common.lora.steps
    names = collected.names
    try:
        outcome = lora.adapt(
            bench.tuner,
            [instance for _, instance in bench.instances.values()],
            [one.example(context.pictures) for one in collected.held_out],
            others=[*bench.others, *_others_seen(bench, names)],
            names=names,
            progress=lambda step: tell({"need": str(need), "phase": "adapt", "step": step, "of": of}),
            should_stop=stop.is_set,
        )
    except SnellenError as error:
        return LoraLearned(need, collected.source, trouble=str(error))
    return LoraLearned(need, collected.source, outcome, trouble="" if outcome else "It was stopped.")


def _others_seen(bench: TuningBench, names: Sequence[str]) -> list[TuningExample]:
    """What LOC sees of other names in pictures of other things, for it to go on seeing.

    A prompt cannot change that, an adapter can: asked for the concept only, it would look better than it is.
    """
    if bench.pool != "LOC" or not names or not bench.others:
        return []
    pictures = [example.picture for example in bench.others]
    seen = []
    for picture, things in zip(pictures, bench.models.detect(pictures, [tuple(names)] * len(pictures)), strict=True):
        for name in dict.fromkeys(each.name for each in things):
            boxes = tuple(each.box for each in things if each.name == name)
            seen.append(TuningExample(picture, name, boxes))
    return seen[:_MOST_ASKED]
