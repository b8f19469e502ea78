"""One training loop for every checkpoint: schedule, precision, progress, saving and resuming."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from snellen.tuning.precision import computing, fastest

Loss = Callable[[int], tuple[torch.Tensor, dict[str, float]]]


@dataclass(frozen=True)
class TrainingSchedule:
    """Length and learning rate of a run.

    Attributes:
        steps: Optimizer steps.
        warmup: Steps of linear warm-up; after them the rate falls by a cosine to 2 % of its peak.
        save_every: Seconds between saves.
        clip: Largest norm of the gradient.
        weight_decay: Decoupled weight decay of matrices.
    """

    steps: int
    warmup: int = 150
    save_every: float = 120.0
    clip: float = 1.0
    weight_decay: float = 0.02


@dataclass(frozen=True)
class TrainingOutcome:
    """Record of a run, from which the model card is written."""

    steps: int
    seconds: float
    seed: int
    dtype: str
    threads: int


def groups(named: Iterable[tuple[str, torch.nn.Parameter]], rates: dict[str, float]) -> list[dict[str, Any]]:
    """Return optimizer groups: the rate of the longest matching prefix, no decay for vectors.

    Args:
        named: Parameters with their names.
        rates: Peak learning rate by prefix; `""` is the default.
    """
    found: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
    for name, parameter in named:
        if not parameter.requires_grad:
            continue
        prefix = max((p for p in rates if name.startswith(p)), key=len)
        found.setdefault((rates[prefix], parameter.ndim > 1), []).append(parameter)
    return [
        {"params": items, "peak": rate, "lr": rate, **({} if decays else {"weight_decay": 0.0})}
        for (rate, decays), items in found.items()
    ]


def run(
    model: torch.nn.Module, loss: Loss, plan: TrainingSchedule, *, rates: dict[str, float], work: Path, seed: int
) -> TrainingOutcome:
    """Train `model` in place, saving into `work` and resuming from there.

    Args:
        model: The model; its parameters are updated.
        loss: Gives the loss of a step and figures to show, from the step's number alone, so that a resumed run sees
            the batches that an unbroken one would.
        plan: Steps and schedule.
        rates: Peak learning rates by prefix of parameter names.
        work: Folder for the state of the run.
        seed: Seed of torch's generator.

    Raises:
        FloatingPointError: If the loss is no longer a number.
    """
    work.mkdir(parents=True, exist_ok=True)
    device = torch.device("cpu")
    optimizer = torch.optim.AdamW(
        groups(model.named_parameters(), rates), betas=(0.9, 0.98), weight_decay=plan.weight_decay, fused=True
    )
    step, seconds = _resume(model, optimizer, work)
    saved = started = time.monotonic()
    model.train()
    while step < plan.steps:
        torch.manual_seed(seed * 1_000_003 + step)
        for group in optimizer.param_groups:
            group["lr"] = group["peak"] * _schedule(step, plan)
        with computing("auto", device):
            value, figures = loss(step)
        optimizer.zero_grad(set_to_none=True)
        if not torch.isfinite(value):
            msg = f"the loss of step {step} is {value.item()}: look at its parts {figures}; nothing of it was saved"
            raise FloatingPointError(msg)
        value.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        optimizer.step()
        step += 1
        if step % 50 == 0 or step == plan.steps:
            _show(step, plan, seconds + time.monotonic() - started, {"loss": value.item(), **figures})
        if time.monotonic() - saved > plan.save_every or step == plan.steps:
            saved = time.monotonic()
            _save(model, optimizer, work, step, seconds + saved - started)
    model.eval()
    total = seconds + time.monotonic() - started
    threads = torch.get_num_threads()
    outcome = TrainingOutcome(plan.steps, round(total, 1), seed, fastest(device.type, threads), threads)
    (work / "outcome.json").write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    return outcome


def has_begun(work: Path) -> bool:
    """Tell whether `run` has saved a state into `work`, from which it will resume."""
    return (work / "state.pt").exists()


def save_half(model: Any, out: Path) -> None:  # noqa: ANN401 - transformers' models are untyped
    """Write a model's configuration and its weights in half precision; the model itself keeps its precision."""
    model.half().save_pretrained(out)
    model.float()


def _schedule(step: int, plan: TrainingSchedule) -> float:
    if step < plan.warmup:
        return (step + 1) / plan.warmup
    progress = (step - plan.warmup) / max(1, plan.steps - plan.warmup)
    return 0.02 + 0.98 * (1 + math.cos(math.pi * progress)) / 2


def _show(step: int, plan: TrainingSchedule, seconds: float, figures: dict[str, float]) -> None:
    left = seconds / step * (plan.steps - step)
    shown = "  ".join(f"{name} {value:.3f}" for name, value in figures.items())
    print(f"step {step}/{plan.steps}  {shown}  {seconds:.0f} s, {left:.0f} s left", flush=True)


def _save(model: torch.nn.Module, optimizer: torch.optim.Optimizer, work: Path, step: int, seconds: float) -> None:
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step, "seconds": seconds}
    torch.save(state, work / "state.part")
    (work / "state.part").replace(work / "state.pt")


def _resume(model: torch.nn.Module, optimizer: torch.optim.Optimizer, work: Path) -> tuple[int, float]:
    if not has_begun(work):
        return 0, 0.0
    state = torch.load(work / "state.pt", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    print(f"resuming at step {state['step']}", flush=True)
    return int(state["step"]), float(state["seconds"])
