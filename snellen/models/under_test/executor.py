"""Executors, which measure trials: in this process, or wherever else they send them.

A shard is some questions to one model. Who measures a trial, when and with how many others must not matter, so all
executors fill the same table; pools of endpoints and Ray actors are other executors, not other investigations.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakKeyDictionary, WeakValueDictionary

from snellen.errors import BadInput, SnellenError
from snellen.models.loading import device_and_dtype, fingerprint
from snellen.models.under_test.endpoint import EndpointModel
from snellen.models.under_test.model import Card, EncoderUnderTest, ModelUnderTest, Question, Ranking
from snellen.models.under_test.registry import FindAdapter, model_under_test
from snellen.profiles import CheckpointUnderTest
from snellen.profiles.model_settings import TESTED

if TYPE_CHECKING:
    from snellen.profiles import Profile

SHARD: Final = 32
"""Questions of one shard, at most: when a process dies, what is under way is lost, a shard of each model or a few."""


_WAITING: Final = 4
"""Shards of a model behind servers that may wait for their last answers while the servers are busy with others."""


class Executor(Protocol):
    """Measures shards of trials."""

    def card(self, model: str) -> Card:
        """Say what a model is.

        Raises:
            SnellenError: There is no such model, or it cannot be read.
        """
        ...

    def at_once(self, model: str) -> int:
        """Return how many shards of a model it is worth measuring at a time; each is asked by a thread of its own.

        Raises:
            SnellenError: There is no such model, or nowhere to ask it.
        """
        ...

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Have a model rank the choices of each question of a shard.

        Raises:
            SnellenError: It cannot.
        """
        ...

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Have a model answer each question of a shard freely.

        Raises:
            SnellenError: It cannot.
        """
        ...

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Have an encoder say how alike the two things of each question are: a cosine.

        Raises:
            SnellenError: It cannot, or is none.
        """
        ...


_READING: Final = threading.Lock()
_IN_USE: Final[WeakValueDictionary[tuple[str, ...], ModelUnderTest]] = WeakValueDictionary()
"""Models that some executor of this process holds, by all that decides what they answer; those that are trained are
read separately."""
_ALONE: Final[WeakKeyDictionary[ModelUnderTest, threading.Lock]] = WeakKeyDictionary()
"""For each checkpoint what the thread holds that asks it."""
_CORES: Final = threading.BoundedSemaphore(
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
"""As many checkpoints compute at a time as there are cores. torch lets go of the interpreter while it computes, so
threads do overlap, if less than processes would (docs/results/speed)."""
_ACCELERATOR: Final = threading.Lock()
"""One at a time on an accelerator: what two take of its memory together, nobody knows beforehand."""


class InProcess:
    """Measures in this process, shards of several models side by side; models are read when they are first asked.

    Args:
        profile: Says what models there are.
        find_adapter: Looks up corrected ones.
    """

    def __init__(self, profile: Profile, find_adapter: FindAdapter = lambda _: None) -> None:
        self._profile, self._find_adapter = profile, find_adapter
        self._models: dict[str, ModelUnderTest] = {}
        self._unreadable: dict[str, SnellenError] = {}
        self._reading = threading.Lock()

    def card(self, model: str) -> Card:
        """Say what a model is; see `Executor`."""
        return self._model(model).card

    def at_once(self, model: str) -> int:
        """Return 1 for a checkpoint, and what keeps all servers of an endpoint busy; see `Executor`."""
        asked = self._model(model)
        return -(-asked.at_once // SHARD) + _WAITING if isinstance(asked, EndpointModel) else 1

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Have a model rank the choices of each question of a shard; see `Executor`."""
        with self._turn(model) as asked:
            return asked.rank(questions)

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Have a model answer each question of a shard freely; see `Executor`."""
        with self._turn(model) as asked:
            return asked.answer(questions)

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Have an encoder say how alike the two things of each question are; see `Executor`."""
        with self._turn(model) as encoder:
            if not isinstance(encoder, EncoderUnderTest):
                msg = f"{model} makes no vectors that could be compared: it is asked for scores."
                raise BadInput(msg)
            return encoder.alike(questions)

    @contextmanager
    def _turn(self, name: str) -> Iterator[ModelUnderTest]:
        """Wait until a checkpoint is free and there is something to compute on; an endpoint is only waited for."""
        model = self._model(name)
        if isinstance(model, EndpointModel):
            yield model
            return
        with _ALONE[model], _CORES if device_and_dtype(self._profile)[0].type == "cpu" else _ACCELERATOR:
            yield model

    def _model(self, name: str) -> ModelUnderTest:
        with self._reading:
            if name in self._unreadable:  # it would take as long again to find out the same
                raise self._unreadable[name]
            if name not in self._models:
                try:
                    self._models[name] = self._found(name)
                except SnellenError as error:
                    self._unreadable[name] = error
                    raise
            return self._models[name]

    def _found(self, name: str) -> ModelUnderTest:
        """Read a model, or take the one that another executor of this process asks; corrected ones are of one home.

        So a checkpoint is there once, and a server is given no more at a time than it bears, however many ask.
        """
        settings = self._profile.tested.get(name)
        if settings is None:
            return self._read(name)
        same: tuple[str, ...] = (name, settings.model_dump_json())
        if isinstance(settings, CheckpointUnderTest):
            adapter = self._profile.resolve(settings.adapter).as_posix() if settings.adapter else ""
            key = TESTED + name
            where = (repr(self._profile.source(key)), fingerprint(self._profile, key))
            same += (*where, adapter, self._profile.device, self._profile.dtype)
        else:
            same += (os.environ.get(settings.key, ""),)
        with _READING:
            model = _IN_USE.get(same)
            if model is None:
                model = _IN_USE[same] = self._read(name)
        return model

    def _read(self, name: str) -> ModelUnderTest:
        model = model_under_test(self._profile, name, self._find_adapter)
        _ALONE[model] = threading.Lock()
        return model
