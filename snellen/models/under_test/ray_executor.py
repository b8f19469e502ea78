"""Executor that has the actors of a Ray cluster measure trials (docs/scaling.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakValueDictionary

from snellen.errors import BadInput, OutOfMemory, SnellenError
from snellen.models.loading import fingerprint
from snellen.models.under_test.executor import InProcess
from snellen.models.under_test.ray_actors import ActorPool, LeasedActor, ModelOrder, told
from snellen.models.under_test.ray_worker import SentAdapter, SentQuestion, WorkerReply, ranking_of, versions
from snellen.profiles import CheckpointUnderTest, Profile
from snellen.profiles.model_settings import TESTED

if TYPE_CHECKING:
    from snellen.models.under_test.model import Card, Question, Ranking
    from snellen.models.under_test.ray_worker import Asking
    from snellen.models.under_test.registry import FindAdapter

_POOLS: Final[WeakValueDictionary[str, ActorPool]] = WeakValueDictionary()
"""The pools of this process, by their settings: homes share actors."""


class OnRay:
    """Measures on a Ray cluster: actors read checkpoints; endpoints are asked from here.

    A shard whose actor is lost, with its node or alone, is sent to another one; whatever the lost one said is not
    heard. So a trial is measured by one actor, and its reply is heard once.

    Args:
        profile: Says what models there are, and under ``[ray]`` where and how.
        find_adapter: Looks up corrected ones.
    """

    def __init__(self, profile: Profile, find_adapter: FindAdapter = lambda _: None) -> None:
        self._profile, self._find_adapter = profile, find_adapter
        self._here = InProcess(profile, find_adapter)
        key = profile.ray.model_dump_json()
        self._pool = _POOLS.get(key) or ActorPool(profile.ray)
        _POOLS[key] = self._pool
        self._orders: dict[str, ModelOrder] = {}

    def at_once(self, model: str) -> int:
        """Return for how many shards of a model there are places on the cluster; see `Executor`."""
        order = self._order(model)
        return self._here.at_once(model) if order is None else self._pool.places(order)

    def card(self, model: str) -> Card:
        """Say what a model is, as the first actor that read it does; see `Executor`."""
        order = self._order(model)
        return self._here.card(model) if order is None else self._pool.card(order)

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Have a model rank the choices of each question of a shard; see `Executor`."""
        order = self._order(model)
        if order is None:
            return self._here.rank(model, questions)
        return [ranking_of(one) for one in self._measured(order, "rank", questions)]

    def answer(self, model: str, questions: Sequence[Question]) -> list[str]:
        """Have a model answer each question of a shard freely; see `Executor`."""
        order = self._order(model)
        if order is None:
            return self._here.answer(model, questions)
        return list(map(str, self._measured(order, "answer", questions)))

    def alike(self, model: str, questions: Sequence[Question]) -> list[float]:
        """Have an encoder say how alike the two things of each question are; see `Executor`."""
        order = self._order(model)
        if order is None:
            return self._here.alike(model, questions)
        return list(map(float, self._measured(order, "alike", questions)))

    # --- orders ----------------------------------------------------------------------------------------------

    def _order(self, name: str) -> ModelOrder | None:
        """Return what actors of a model read; None of an endpoint, and of what there is not."""
        known = self._orders.get(name)
        if known is None and (made := self._made_order(name)) is not None:
            known = self._orders[name] = made
        return known

    def _made_order(self, name: str) -> ModelOrder | None:
        adapter = None if name in self._profile.tested else self._find_adapter(name)
        base = name if adapter is None else adapter.model
        settings = self._profile.tested.get(base)
        if not isinstance(settings, CheckpointUnderTest):
            return None
        gpus = self._gpus()
        # Nothing of a profile travels but what decides what the model answers.
        alone = Profile(
            name=self._profile.name,
            path=self._profile.path,
            device=self._device(gpus),
            dtype=self._profile.dtype,
            threads=self._profile.threads,
            tested={base: settings},
        )
        sent: dict[str, Any] = {
            "versions": versions(),
            "profile": alone.model_dump_json(by_alias=True, exclude_defaults=True),
            "model": name,
        }
        checkpoint = self._checkpoint_here(base)
        key = hashlib.sha256(json.dumps([sent, checkpoint]).encode()).hexdigest()
        if adapter is not None:
            sent["adapter"] = SentAdapter.packed(adapter)
        return ModelOrder(name, key, sent, gpus, checkpoint)

    def _gpus(self) -> float:
        chosen = self._profile.ray.gpus
        if chosen is not None:
            return chosen
        return 1.0 if self._profile.device != "cpu" and self._pool.has_gpus() else 0.0

    def _device(self, gpus: float) -> Literal["auto", "cpu", "cuda"]:
        """Return where actors compute: those that claim no GPU must not take one that they find."""
        return "cpu" if not gpus and self._profile.device == "auto" else self._profile.device

    def _checkpoint_here(self, model: str) -> str:
        """Return the fingerprint of a checkpoint as it is on this machine; nothing where it is only on the nodes."""
        try:
            return fingerprint(self._profile, TESTED + model)
        except SnellenError:
            return ""

    # --- shards ----------------------------------------------------------------------------------------------

    def _measured(self, order: ModelOrder, asking: Asking, questions: Sequence[Question]) -> list[Any]:
        """Have an actor measure a shard, and another one where that is lost.

        Raises:
            BadInput: The model cannot be asked this.
            OutOfMemory: Not even one question fits.
            SnellenError: The model has failed, or as many actors were lost as may be.
        """
        trouble = ""
        for _ in range(self._profile.ray.tries):
            sent, pictures = self._sent(questions)
            with self._pool.lease(order) as actor:
                reply, trouble = self._reply(actor, asking, sent, pictures)
            # The lease is over: halves of a shard take leases of their own.
            if reply is not None:
                return self._heard(order, asking, questions, reply)
            self._pool.lose_nodes()
            self._pool.pictures.forget()
        msg = (
            f"{order.model} was asked {self._profile.ray.tries} times on the Ray cluster, and each time its actor was "
            f"lost ({trouble}): see the cluster's logs, or set executor = 'local'."
        )
        raise SnellenError(msg)

    def _reply(
        self, actor: LeasedActor, asking: Asking, sent: Sequence[SentQuestion], pictures: Sequence[Any]
    ) -> tuple[WorkerReply | None, str]:
        """Return the reply of an actor, or why there is none: then it is lost."""
        errors = self._pool.ray.exceptions
        try:
            pending = actor.handle.measure.remote(asking, sent, *pictures)
            return self._pool.ray.get(pending, timeout=self._profile.ray.seconds), ""
        except errors.RayError as error:
            if isinstance(error, errors.RayTaskError) and not isinstance(error.cause, errors.RayError):
                raise  # a fault of ours, as it would be raised here; not a picture that was lost on the way
            actor.lost = True
            if not isinstance(error, errors.OutOfMemoryError):
                return None, told(error)
            self._pool.have_fewer(actor.order)
            sentence = f"A node of the Ray cluster has too little memory for {actor.order.model} ({told(error)})."
            return WorkerReply(node=actor.node, address="", value=None, trouble="memory", sentence=sentence), ""

    def _sent(self, questions: Sequence[Question]) -> tuple[list[SentQuestion], list[Any]]:
        """Return the questions of a shard, and references to their pictures, each of which is there once."""
        references = [[self._pool.pictures.put(one) for one in question.pictures] for question in questions]
        places: dict[Any, int] = {}
        for reference in (one for row in references for one in row):
            places.setdefault(reference, len(places))
        sent: list[SentQuestion] = [
            (tuple(places[one] for one in row), question.text, question.choices)
            for row, question in zip(references, questions, strict=True)
        ]
        return sent, list(places)

    def _heard(self, order: ModelOrder, asking: Asking, questions: Sequence[Question], reply: WorkerReply) -> list[Any]:
        sentence = reply["sentence"]
        match reply["trouble"]:
            case None:
                return list(reply["value"])
            case "memory" if len(questions) > 1:
                half = len(questions) // 2
                parts: Callable[[Sequence[Question]], list[Any]] = partial(self._measured, order, asking)
                return parts(questions[:half]) + parts(questions[half:])
            case "memory":
                raise OutOfMemory(sentence)
            case "input":
                raise BadInput(sentence)
            case _:
                raise SnellenError(sentence)
