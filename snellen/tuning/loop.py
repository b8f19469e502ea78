"""One prompt an instance, many instances in one batch, nothing computed twice.

Prompts of different instances share no parameter and Adam works on each number alone, so a batch of instances is
tuned exactly as each of them by itself would be. What the prompt cannot change is computed once, before the first
step; an instance leaves the batch as soon as it is accepted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from snellen.tuning.instances import Instance, TunedPrompt, TuningExample, TuningProgress
from snellen.tuning.precision import computing

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from snellen.profiles import PromptSettings, TuningSettings


@dataclass(frozen=True, eq=False)
class TuningBatch:
    """Tensors whose first axis is the instance: what every step needs and no prompt changes."""

    def take(self, rows: torch.Tensor) -> Self:
        """Keep some of the instances."""
        return type(self)(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})


@dataclass(frozen=True, eq=False)
class PromptScores:
    """Scores of the prompts of a batch.

    Attributes:
        loss: ``(instances,)``, each of its own prompt alone, differentiable.
        accepted: ``(instances,)`` of bool: the tool says what it shall, with a margin.
    """

    loss: torch.Tensor
    accepted: torch.Tensor


BatchT = TypeVar("BatchT", bound=TuningBatch)
SeenT = TypeVar("SeenT")


class Tuner(Protocol[BatchT, SeenT]):
    """Part of tuning that differs between tools; everything else is the same for all of them.

    Attributes:
        pool: The pool that its prompts go to.
        settings: The tool's settings.
        common: The settings of all tools.
        shape: The shape of one prompt.
        module: The model, whose own parameters rest while prompts are tuned.
        device: Where it computes.
    """

    pool: str

    @property
    def settings(self) -> PromptSettings: ...  # noqa: D102

    @property
    def common(self) -> TuningSettings: ...  # noqa: D102

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102

    @property
    def module(self) -> Any: ...  # noqa: ANN401, D102 - models are untyped

    @property
    def device(self) -> torch.device: ...  # noqa: D102

    def size(self, instance: Instance) -> int:
        """An estimate of the bytes that tuning it takes."""

    def features(self, examples: Sequence[TuningExample]) -> list[NDArray[np.float32]]:
        """Return what the unprompted tool sees in each example: by this, prompts are weighed at inference."""

    def prepare(self, instances: Sequence[Instance]) -> BatchT:
        """Compute once what every step needs."""

    def judge(self, prompts: torch.Tensor, batch: BatchT) -> PromptScores:
        """Run the rest of the model with prompts ``(instances, *shape)``."""

    def look(self, examples: Sequence[TuningExample], names: Sequence[str]) -> SeenT:
        """Compute once what running the tool on these examples needs, whatever the prompt."""

    def right(self, seen: SeenT, tuned: TunedPrompt | None, concept: str) -> list[bool]:
        """Run the tool with a prompt (None: without), and say for each example whether its result is as expected."""


def tune(
    tuner: Tuner[BatchT, Any],
    instances: Sequence[Instance],
    *,
    progress: Callable[[TuningProgress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[TunedPrompt]:
    """Learn a prompt for each instance (CLOVA sections 3.4 and 8).

    The same instances give the same prompts in any order and any company; float sums in batches of other sizes differ
    in their last digits.

    Args:
        tuner: The tool.
        instances: What to learn.
        progress: Called whenever prompts are finished, with these prompts: what was finished can be kept at once.
        should_stop: Asked before every step; once it says yes, prompts under way are dropped.

    Returns:
        The finished prompts, accepted ones and those that ran out of steps, in the order of their instances.
    """
    finished: dict[str, TunedPrompt] = {}
    different = list({each.id: each for each in instances}.values())
    with _resting(tuner.module):
        for chunk in chunks(tuner, different):
            for step, prompts in _train(tuner, chunk, should_stop):
                finished.update((each.instance, each) for each in prompts)
                if progress is not None:
                    progress(TuningProgress(len(different), tuple(prompts), len(finished), step))
    return [finished[each.id] for each in different if each.id in finished]


def _train(
    tuner: Tuner[BatchT, Any], chunk: Sequence[Instance], should_stop: Callable[[], bool]
) -> Iterator[tuple[int, list[TunedPrompt]]]:
    """Train a chunk, and yield its prompts as they end, with the steps they took."""
    import torch

    if should_stop():
        return
    with torch.no_grad():
        batch, features = tuner.prepare(chunk), tuner.features([each.example for each in chunk])
    prompts = torch.stack([initial(tuner, each) for each in chunk]).to(tuner.device)
    adam, rows = Adam(prompts, rate=tuner.settings.rate), torch.arange(len(chunk), device=tuner.device)
    for step in range(tuner.settings.steps + 1):
        if should_stop():
            return
        last = step == tuner.settings.steps
        judgement, gradient = _step(tuner, prompts, batch, learn=not last)
        ending = judgement.accepted | ~judgement.loss.detach().isfinite() | last
        if bool(ending.any()):
            yield (
                step,
                [
                    TunedPrompt(
                        instance=chunk[index].id,
                        pool=tuner.pool,
                        concept=chunk[index].concept,
                        prompt=prompts[row].cpu().numpy().copy(),
                        feature=features[index],
                        steps=step,
                        loss=float(judgement.loss[row].detach()),
                        accepted=bool(judgement.accepted[row]),
                    )
                    for row, index in enumerate(rows.tolist())
                    if bool(ending[row])
                ],
            )
            staying = torch.nonzero(~ending).flatten()
            if not len(staying):
                return
            rows, prompts, batch, gradient = rows[staying], prompts[staying], batch.take(staying), gradient[staying]
            adam.keep(staying)
        prompts = adam.step(prompts, gradient)


def _step(
    tuner: Tuner[BatchT, Any], prompts: torch.Tensor, batch: BatchT, *, learn: bool
) -> tuple[PromptScores, torch.Tensor]:
    import torch

    precision = computing(tuner.common.dtype, tuner.device)
    if not learn:
        with torch.no_grad(), precision:
            return tuner.judge(prompts, batch), torch.zeros_like(prompts)
    with torch.enable_grad():
        leaf = prompts.detach().requires_grad_()
        with precision:
            judgement = tuner.judge(leaf, batch)
        # The sum, not the mean: the gradient of a prompt must not know how many others there are.
        (gradient,) = torch.autograd.grad(judgement.loss.sum(), leaf)
    return judgement, gradient


def initial(tuner: Tuner[Any, Any], instance: Instance) -> torch.Tensor:
    """Return the initial prompt: part common to the tool, part its own, ``settings.spread`` says how much.

    Prompts are averaged at inference, and the mean of prompts that began far apart is a prompt that nobody tuned.
    """
    settings, seed = tuner.settings, tuner.common.seed
    common = _normal(f"{seed} {tuner.pool}", tuner.shape)
    own = _normal(f"{seed} {tuner.pool} {instance.id}", tuner.shape)
    mixed: torch.Tensor = (1 - settings.spread**2) ** 0.5 * common + settings.spread * own
    return settings.deviation * mixed


def _normal(seed: str, shape: tuple[int, ...]) -> torch.Tensor:
    import torch

    number = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big", signed=True)
    return torch.randn(shape, generator=torch.Generator("cpu").manual_seed(number))


class Adam:
    """Adam (Kingma and Ba 2015) on prompts of which some may leave.

    Args:
        prompts: ``(instances, *shape)``.
        rate: The learning rate.
    """

    def __init__(self, prompts: torch.Tensor, *, rate: float) -> None:
        import torch

        self._rate, self._steps = rate, 0
        self._mean, self._square = torch.zeros_like(prompts), torch.zeros_like(prompts)

    def step(self, prompts: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        """The prompts after one update, with the betas and epsilon that torch has for defaults."""
        self._steps += 1
        self._mean = 0.9 * self._mean + 0.1 * gradient
        self._square = 0.999 * self._square + 0.001 * gradient**2
        mean = self._mean / (1 - 0.9**self._steps)
        square = self._square / (1 - 0.999**self._steps)
        return (prompts - self._rate * mean / (square.sqrt() + 1e-8)).detach()

    def keep(self, rows: torch.Tensor) -> None:
        """Forget the others."""
        self._mean, self._square = self._mean[rows], self._square[rows]


def chunks(tuner: Tuner[Any, Any], instances: Sequence[Instance]) -> Iterator[list[Instance]]:
    """As many instances together as the memory of the settings holds, at least one."""
    bound = tuner.common.memory * 2**20
    chunk: list[Instance] = []
    taken = 0
    for instance in instances:
        size = tuner.size(instance)
        if chunk and taken + size > bound:
            yield chunk
            chunk, taken = [], 0
        chunk.append(instance)
        taken += size
    if chunk:
        yield chunk


@contextmanager
def _resting(module: torch.nn.Module) -> Iterator[None]:
    """Only prompts get gradients; the model's own parameters are as they were afterwards."""
    learning = [each for each in module.parameters() if each.requires_grad]
    for parameter in learning:
        parameter.requires_grad = False
    try:
        yield
    finally:
        for parameter in learning:
            parameter.requires_grad = True


def transformer_bytes(config: Any, tokens: int) -> int:  # noqa: ANN401 - any configuration of transformers
    """Estimate what a transformer keeps in float32 to send gradients back through one sequence."""
    width, inner = config.hidden_size, config.intermediate_size
    return layer_bytes(tokens, width, inner, heads=config.num_attention_heads) * int(config.num_hidden_layers)


def layer_bytes(tokens: int, width: int, inner: int, *, heads: int) -> int:
    """Estimate the same of one layer, whose feed-forward part is ``inner`` numbers wide."""
    return 4 * tokens * (12 * width + 3 * inner + 2 * heads * tokens)
