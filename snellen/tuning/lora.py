"""LoRA, which soft prompts are compared with: one adapter for a whole tool (Hu et al. 2022).

It learns from the same instances by the same losses and is judged by the same validation. It stands in the attention
projections of what runs in every step of tuning, so what prompts cannot change it cannot change either, but for one
thing: how names that compete with the concept fare.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.profiles import BadInput, SnellenError
from snellen.tuning.instances import Instance, Tally, TunedPrompt, TuningExample
from snellen.tuning.loop import chunks
from snellen.tuning.precision import computing
from snellen.tuning.validation import validate

if TYPE_CHECKING:
    from snellen.tuning.loop import Tuner

PLACES: Final = {
    "CLIP": r"vision_model\..*\.self_attn\.(q|k|v|out)_proj",
    "LOC": r"owlvit\.text_model\..*\.self_attn\.(q|k|v|out)_proj",
    "VQA": r"text_decoder\..*ttention\.(self\.(query|key|value)|output\.dense)",
    "REPLACE": r"unet\..*\.to_(q|k|v|out\.0)",
}
"""The attention projections of each tool that get an adapter, by the names of their modules.

There is none for SEG: its model has no label for a new concept, which a prompt brings with it and an adapter does not.
"""

_RIVALLED: Final = frozenset({"CLIP", "LOC"})
"""Tools whose names compete, so that the adapter changes what is computed once for prompts."""

_REFRESHED: Final = 10
"""Steps after which it is computed again for these."""


@dataclass(frozen=True)
class LoraOutcome:
    """Outcome of one adapter.

    Attributes:
        weights: The numbers that were trained.
        instances: Examples that it was trained on.
        accepted: Those of them for which the tool says what it shall, with the margin that prompts must reach.
        steps: Updates.
        seconds: How long it was trained and validated.
        loss: The mean over the instances at the end.
        expected: Held-out examples that are right with the adapter.
        expected_before: The same without it.
        others: Answers about other things that are right with the adapter.
        others_before: The same without it.
        kept: Whether validation would keep it, were it a prompt.
        reason: Why, in a sentence.
    """

    weights: int
    instances: int
    accepted: int
    steps: int
    seconds: float
    loss: float
    expected: Tally
    expected_before: Tally
    others: Tally
    others_before: Tally
    kept: bool
    reason: str


def adapt(
    tuner: Tuner[Any, Any],
    instances: Sequence[Instance],
    held_out: Sequence[TuningExample],
    *,
    others: Sequence[TuningExample] = (),
    names: Sequence[str] = (),
    progress: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> LoraOutcome | None:
    """Train an adapter, validate it, and take it out again: the model is bit for bit what it was.

    Meanwhile whoever else asks this model is answered with the adapter, so give it one of its own.

    Args:
        tuner: The tool.
        instances: What to learn, the negatives of each included.
        held_out: As for :func:`snellen.tuning.validate`.
        others: As there; each of LOC's may be about another name.
        names: As there.
        progress: Called with the number of each update.
        should_stop: Asked before every update.

    Returns:
        What came of it; None where it was stopped.

    Raises:
        BadInput: The tool has no place for an adapter.
        SnellenError: ``peft`` is not installed, or nothing was held out.
    """
    started = time.perf_counter()
    different = list({each.id: each for each in instances}.values())
    with _adapter(tuner) as adapter:
        training = _Training(tuner, different)
        if not training.run(progress, should_stop):
            return None
        judged: Any = _Adapted(tuner, adapter)  # as much of a Tuner as validation asks for
        (verdict,) = validate(judged, [training.as_prompt()], held_out, others=others, names=names)
        return LoraOutcome(
            weights=sum(each.numel() for each in training.weights),
            instances=len(different),
            accepted=training.accepted,
            steps=training.steps,
            seconds=time.perf_counter() - started,
            loss=training.loss,
            expected=verdict.expected,
            expected_before=verdict.expected_before,
            others=verdict.others,
            others_before=verdict.others_before,
            kept=verdict.kept,
            reason=verdict.reason,
        )


@contextmanager
def _adapter(tuner: Tuner[Any, Any]) -> Iterator[Any]:
    """An adapter in the model, which at first changes nothing; afterwards there is none."""
    import torch

    if tuner.pool not in PLACES:
        msg = f"{tuner.pool} cannot learn a new name by LoRA, only by prompts: choose one of {', '.join(PLACES)}."
        raise BadInput(msg)
    try:
        import peft
    except ImportError as error:
        msg = "LoRA needs the library peft, which is not installed: pip install 'snellen[lora]'."
        raise SnellenError(msg) from error
    settings = tuner.common.lora
    config = peft.LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=PLACES[tuner.pool])
    learning = [each for each in tuner.module.parameters() if each.requires_grad]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(tuner.common.seed)
        adapter = peft.LoraModel(tuner.module, config, "default")
    try:
        yield adapter
    finally:
        adapter.unload()
        for parameter in learning:
            parameter.requires_grad = True


class _Training:
    """One adapter learns from all instances at once, with the losses of their prompts."""

    def __init__(self, tuner: Tuner[Any, Any], instances: Sequence[Instance]) -> None:
        import torch

        self._tuner, self._instances = tuner, instances
        self._batches: list[Any] = []
        self.weights = [each for each in tuner.module.parameters() if each.requires_grad]
        self._adam = torch.optim.Adam(self.weights, lr=tuner.common.lora.rate)
        self.steps, self.accepted, self.loss = 0, 0, float("nan")

    def run(self, progress: Callable[[int], None], should_stop: Callable[[], bool]) -> bool:
        """Train until every instance is accepted, or for all steps; say whether it came to an end."""
        most, fresh = self._tuner.common.lora.steps, False
        lasting = self._tuner.pool not in _RIVALLED
        while not should_stop():
            fresh = not self._batches or (not lasting and (fresh or self.steps % _REFRESHED == 0))
            if fresh:
                self._prepare()
            last = self.steps == most
            self._judge(learn=not last)
            if last or not np.isfinite(self.loss):
                return True
            accepted = self.accepted == len(self._instances)
            if accepted and (fresh or lasting):
                return True
            fresh = accepted  # by what may be out of date: look again
            if not accepted:
                self._adam.step()
                self.steps += 1
                progress(self.steps)
        return False

    def _prepare(self) -> None:
        import torch

        self._batches.clear()  # two of each would need twice the memory
        with torch.no_grad():
            self._batches += [self._tuner.prepare(chunk) for chunk in chunks(self._tuner, self._instances)]

    def _judge(self, *, learn: bool) -> None:
        """Sum the gradients of all chunks."""
        import torch

        self._adam.zero_grad()
        self.accepted, self.loss = 0, 0.0
        *_, _, width = self._tuner.shape
        for chunk, batch in zip(chunks(self._tuner, self._instances), self._batches, strict=True):
            # A prompt of no vectors: the model by itself.
            prompts = torch.zeros(len(chunk), *self._tuner.shape[:-2], 0, width, device=self._tuner.device)
            with torch.set_grad_enabled(learn):
                with computing(self._tuner.common.dtype, self._tuner.device):
                    judgement = self._tuner.judge(prompts, batch)
                mean = judgement.loss.sum() / len(self._instances)
                if learn:
                    torch.autograd.backward(mean)
            self.accepted += int(judgement.accepted.sum())
            self.loss += float(mean.detach())

    def as_prompt(self) -> TunedPrompt:
        """Return what validation is given: it reads the loss, and what the adapter is for."""
        nothing = np.zeros(0, dtype=np.float32)
        concept = self._instances[0].concept
        accepted = self.accepted == len(self._instances)
        return TunedPrompt("", self._tuner.pool, concept, nothing, nothing, self.steps, self.loss, accepted)


@dataclass(frozen=True, eq=False)
class _Seen:
    """Examples that are asked for one name, as the tool sees them with the adapter and without."""

    name: str
    adapted: Any
    without: Any


class _Adapted:
    """A tool as validation runs it, whose prompt is the adapter."""

    def __init__(self, tuner: Tuner[Any, Any], adapter: Any) -> None:  # noqa: ANN401 - peft is untyped
        self._tuner, self._adapter = tuner, adapter
        self.settings = tuner.settings

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> list[_Seen]:
        """See with the adapter and without: it may change what prompts leave as it is."""
        groups: dict[str, list[TuningExample]] = {}
        for example in examples:
            # LOC is asked one name at a time; of the others a call takes examples of all names together.
            groups.setdefault(example.concept if self._tuner.pool == "LOC" else "", []).append(example)
        seen = []
        for name, some in groups.items():
            adapted = self._tuner.look(some, names)
            with self._without():
                seen.append(_Seen(name, adapted, self._tuner.look(some, names)))
        return seen

    def right(self, seen: Sequence[_Seen], tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Return whether the tool is right on the examples, name after name, with the adapter or (None) without."""
        if tuned is not None:
            return [right for each in seen for right in self._tuner.right(each.adapted, None, each.name or concept)]
        with self._without():
            return [right for each in seen for right in self._tuner.right(each.without, None, each.name or concept)]

    @contextmanager
    def _without(self) -> Iterator[None]:
        self._adapter.disable_adapter_layers()
        try:
            yield
        finally:
            self._adapter.enable_adapter_layers()
