"""Correcting a model under test: a LoRA adapter learns what it could not and keeps what it could (Hu et al. 2022).

Two kinds of lessons go into every step. What the model is to learn, it is taught the right answer of. In everything
else the model itself is the teacher: wherever it would write a token, it is held to what it would have written without
the adapter (Li and Hoiem 2016, learning without forgetting). Which step's weights stay is decided by lessons that were
not learned from.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from snellen.errors import SnellenError, out_of_memory
from snellen.models.under_test.choice_ranking import written
from snellen.models.under_test.local import LocalModel
from snellen.models.under_test.model import Question

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from snellen.profiles import CorrectionSettings

_PROGRESS: Final = "progress.pt"
_QUESTIONS: Final = 2
"""Different questions of each kind in one update, if their lessons suffice."""


@dataclass(frozen=True)
class AdapterExample:
    """A question, and its right answer.

    Attributes:
        question: With its choices.
        answer: One of them.
    """

    question: Question
    answer: str


@dataclass(frozen=True)
class AdapterExamples:
    """Examples that a model is taught, and those that prove it.

    Attributes:
        wanted: What it is to learn.
        others: What else it is asked.
        wanted_held_out: More of the first, which prove that it learned.
        others_held_out: More of the second, which prove that it lost nothing.
    """

    wanted: Sequence[AdapterExample]
    others: Sequence[AdapterExample]
    wanted_held_out: Sequence[AdapterExample]
    others_held_out: Sequence[AdapterExample]


@dataclass(frozen=True)
class AdapterOutcome:
    """Outcome of training an adapter.

    Attributes:
        weights: The numbers that were trained.
        steps: Updates.
        seconds: How long it was trained and proved.
        wanted_before: The share of the held-out lessons that the model has right by itself.
        wanted: The same with the adapter.
        others_before: The share of the others that it has right by itself.
        others: The same with the adapter.
        trouble: Why it was not kept, in a sentence; empty where it was.
    """

    weights: int
    steps: int
    seconds: float
    wanted_before: float
    wanted: float
    others_before: float
    others: float
    trouble: str = ""


def adapt(
    model: LocalModel,
    lessons: AdapterExamples,
    folder: Path,
    settings: CorrectionSettings,
    *,
    progress: Callable[[int, int], None] = lambda _, __: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> AdapterOutcome | None:
    """Train an adapter and write it to a folder, where it proves itself. An interrupted training goes on there.

    Args:
        model: Not used elsewhere: it keeps the adapter.
        lessons: What is taught, and what proves it.
        folder: Where the adapter and what an interrupted training needs are kept.
        settings: Of the training.
        progress: Called with the number of each update, and of all.
        should_stop: Asked before every update.

    Returns:
        What came of it; None where it was stopped.

    Raises:
        SnellenError: peft is not installed.
    """
    training = _Training(model, lessons, folder, settings)
    return training.run(progress, should_stop)


def adapted(module: Any, folder: Path) -> Any:  # noqa: ANN401 - any class of transformers
    """Return a model with the adapter of a folder merged into its weights.

    Raises:
        SnellenError: peft is not installed, or the adapter is of another model.
    """
    peft = _peft()
    try:
        with _unwarned():
            return peft.PeftModel.from_pretrained(module, str(folder)).merge_and_unload()
    except (ValueError, RuntimeError, KeyError, OSError, TypeError) as error:
        if (shortage := out_of_memory(error)) is not None:
            raise shortage from error
        msg = f"The adapter in {folder.name} does not fit its model ({str(error).splitlines()[0][:200]})."
        raise SnellenError(msg) from error


def check_library() -> None:
    """See that models can be corrected here.

    Raises:
        SnellenError: peft is not installed.
    """
    if importlib.util.find_spec("peft") is None:
        msg = (
            "Correcting a model needs the library peft, which is not installed: pip install 'snellen[lora]', or "
            "'.[lora]' in a clone."
        )
        raise SnellenError(msg)


def _peft() -> Any:  # noqa: ANN401 - a module without types
    check_library()
    import peft

    return peft


@contextmanager
def _unwarned() -> Iterator[None]:
    """Silence what peft is told by transformers: it asks by a name that is going out of use."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="`is_gradient_checkpointing`", category=FutureWarning)
        yield


class _Training:
    """One adapter, from its first step or from where it was interrupted."""

    def __init__(self, model: LocalModel, lessons: AdapterExamples, folder: Path, settings: CorrectionSettings) -> None:
        import torch

        self._peft = _peft()
        self._model, self._lessons, self._folder, self._settings = model, lessons, folder, settings
        self._wanted, self._others = _by_question(lessons.wanted), _by_question(lessons.others)
        self._before = self._shares()
        config = self._peft.LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules="all-linear")
        with torch.random.fork_rng(devices=[]), _unwarned():
            torch.manual_seed(settings.seed)
            self._adapter = self._peft.get_peft_model(model.module, config)
        self._weights = [one for one in self._adapter.parameters() if one.requires_grad]
        self._adam = torch.optim.Adam(self._weights, lr=settings.rate)
        self._step, self._seconds = 0, 0.0
        self._best: tuple[float, float] | None = None
        self._resume()

    def run(self, progress: Callable[[int, int], None], should_stop: Callable[[], bool]) -> AdapterOutcome | None:
        """Train, look at the held-out lessons now and then, and keep the weights that did best on them."""
        settings = self._settings
        while self._step < settings.steps:
            if should_stop():
                return None
            began = time.perf_counter()
            self._update()
            self._step += 1
            due = self._step == settings.steps or self._step % settings.every == 0
            if due:
                self._look()
            self._seconds += time.perf_counter() - began
            if due:
                self._save()
            progress(self._step, settings.steps)
        return self._judged()

    def _update(self) -> None:
        dice = np.random.default_rng([self._settings.seed, self._step])
        self._adam.param_groups[0]["lr"] = self._settings.rate * (1 - self._step / self._settings.steps)
        self._adam.zero_grad()
        for learn, lessons in ((self._learn, self._wanted), (self._keep, self._others)):
            if lessons:
                learn(_chosen(lessons, self._settings.batch, dice))
        self._adam.step()

    def _learn(self, lessons: Sequence[AdapterExample]) -> None:
        """Add the gradients of how improbable the right answers are."""
        import torch

        for inputs, tokens in self._answered(lessons):
            found = written(self._model.module, inputs, tokens).gather(-1, tokens[..., None])[..., 0]
            torch.autograd.backward(-found.mean(dim=-1).sum() / len(lessons))

    def _keep(self, lessons: Sequence[AdapterExample]) -> None:
        """Add the gradients of how far what it would write is from what it would have written without the adapter."""
        import torch

        for inputs, tokens in self._answered(lessons):
            with torch.no_grad(), self._adapter.disable_adapter():
                before = written(self._model.module, inputs, tokens)
            found = written(self._model.module, inputs, tokens)
            apart = (before.exp() * (before - found)).sum(dim=-1).mean(dim=-1)
            torch.autograd.backward(self._settings.keeping * apart.sum() / len(lessons))

    def _answered(self, lessons: Sequence[AdapterExample]) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
        return self._model.answered([one.question for one in lessons], [one.answer for one in lessons])

    def _look(self) -> None:
        """Keep the weights if no others that spoil nothing did better."""
        wanted, others = self._shares()
        spoilt = others < self._before[1] - self._settings.spoilt
        if not spoilt and (self._best is None or (wanted, others) > self._best):
            self._best = (wanted, others)
            self._adapter.save_pretrained(str(self._folder))

    def _shares(self) -> tuple[float, float]:
        """The shares of held-out lessons that are right: of those to be learned, and of the others."""
        held_out = (self._lessons.wanted_held_out, self._lessons.others_held_out)
        return self._share(held_out[0]), self._share(held_out[1])

    def _share(self, lessons: Sequence[AdapterExample]) -> float:
        ranked = self._model.rank([one.question for one in lessons])
        right = [
            ranking.choice == lesson.question.choices.index(lesson.answer)
            for ranking, lesson in zip(ranked, lessons, strict=True)
        ]
        return sum(right) / len(right) if right else 0.0

    def _judged(self) -> AdapterOutcome:
        best, (wanted_before, others_before) = self._best, self._before
        trouble = ""
        if best is None:
            trouble = (
                f"Whatever it learned spoilt more than {100 * self._settings.spoilt:.1f} % of what it could do before."
            )
        elif best[0] <= wanted_before:
            trouble = f"It did not learn: {100 * best[0]:.0f} % of the held-out lessons are right, as before."
        wanted, others = best or self._before
        return AdapterOutcome(
            weights=sum(one.numel() for one in self._weights),
            steps=self._step,
            seconds=self._seconds,
            wanted_before=wanted_before,
            wanted=wanted,
            others_before=others_before,
            others=others,
            trouble=trouble,
        )

    def _save(self) -> None:
        """Keep what it takes to go on from here."""
        import torch

        self._folder.mkdir(parents=True, exist_ok=True)
        state = {
            "step": self._step,
            "seconds": self._seconds,
            "best": self._best,
            "weights": [one.detach().cpu() for one in self._weights],
            "adam": self._adam.state_dict(),
        }
        half = self._folder / f".{_PROGRESS}"
        torch.save(state, half)
        half.replace(self._folder / _PROGRESS)

    def _resume(self) -> None:
        import pickle

        import torch

        file = self._folder / _PROGRESS
        if not file.is_file():
            return
        try:
            state: dict[str, Any] = torch.load(file, weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError, OSError):  # cut off: begin again
            return
        self._step, self._seconds = state["step"], state["seconds"]
        self._best = tuple(state["best"]) if state["best"] else None
        self._adam.load_state_dict(state["adam"])
        with torch.no_grad():
            for weight, saved in zip(self._weights, state["weights"], strict=True):
                weight.copy_(saved)


def _by_question(lessons: Sequence[AdapterExample]) -> list[list[AdapterExample]]:
    """Return the lessons of each question."""
    groups: dict[str, list[AdapterExample]] = {}
    for lesson in lessons:
        groups.setdefault(lesson.question.text, []).append(lesson)
    return list(groups.values())


def _chosen(groups: Sequence[Sequence[AdapterExample]], count: int, dice: np.random.Generator) -> list[AdapterExample]:
    """Choose so many lessons: of a few questions where each has many lessons, else of as many as it takes."""
    sizes = np.array([len(group) for group in groups], dtype=float)
    most = -(-count // min(_QUESTIONS, len(groups)))
    chosen: list[AdapterExample] = []
    for which in dice.choice(len(groups), len(groups), replace=False, p=sizes / sizes.sum()):
        few = min(most, len(groups[which]), count - len(chosen))
        chosen += [groups[which][place] for place in dice.choice(len(groups[which]), few, replace=False)]
    return chosen
