"""A Ray cluster that a test plays: its nodes, and what its actors reply."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from snellen.models.under_test import Card
from snellen.models.under_test.ray_actors import ActorPool, ModelOrder
from snellen.models.under_test.ray_worker import WorkerReply
from snellen.profiles import RaySettings


class RayError(Exception):
    """As Ray's, the base of its errors."""


class ActorDiedError(RayError):
    """As Ray's."""


class GetTimeoutError(RayError):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's, about an error that was raised in an actor."""

    cause: Exception = ValueError()


class OutOfMemoryError(RayError):
    """As Ray's, about an actor that was ended as its node had too little memory."""


@dataclass
class PlayedRay:
    """A cluster in which an actor lives on the emptiest fit node, and reads as the test says.

    Attributes:
        cpus: Of each node, by its id.
        read: Returns what an actor on a node replies when it is told to read a model, or raises.
        measure: The same when it is sent questions.
        living: The nodes of living actors.
    """

    cpus: dict[str, float]
    read: Callable[[str, str], WorkerReply]
    measure: Callable[[str, list[Any]], WorkerReply] | None = None
    living: list[tuple[str, str]] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)
    most: int = 0

    exceptions = SimpleNamespace(
        RayError=RayError, GetTimeoutError=GetTimeoutError, RayTaskError=RayTaskError, OutOfMemoryError=OutOfMemoryError
    )

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": name, "Alive": True, "Resources": {"CPU": cpus}} for name, cpus in self.cpus.items()]

    def remote(self, _: type) -> SimpleNamespace:
        return SimpleNamespace(options=self._options)

    def _options(
        self, *, num_cpus: float, num_gpus: float, max_restarts: int, **more: dict[str, str]
    ) -> SimpleNamespace:
        chosen = more.get("label_selector", {}).get("ray.io/node-id", "!in()")
        unfit = chosen.removeprefix("!in(").removesuffix(")").split(",")
        taken = Counter(node for node, _ in self.living)
        (node, *_) = sorted((one for one in self.cpus if one not in unfit), key=lambda one: taken[one])
        assert taken[node] < self.cpus[node]
        place = (node, f"actor {time.monotonic_ns()}")
        self.living.append(place)
        self.most = max(self.most, len(self.living))
        read = SimpleNamespace(remote=lambda sent: lambda: self.read(node, sent["model"]))
        measure = SimpleNamespace(remote=lambda _, sent, *__: lambda: cast("Any", self.measure)(node, sent))
        return SimpleNamespace(remote=lambda: SimpleNamespace(place=place, read=read, measure=measure))

    def put(self, value: object) -> object:
        return f"a reference to {value!r}"

    def get(self, pending: Callable[[], WorkerReply], *, timeout: float) -> WorkerReply:
        return pending()

    def kill(self, handle: SimpleNamespace) -> None:
        self.living.remove(handle.place)
        self.ended[handle.place[0]] += 1


def replying(node: str, model: str, fingerprint: str = "abc-float32", **more: str | None) -> WorkerReply:
    card = Card(model, fingerprint, "Played", None, "tokens", pictures=1, answers=True)
    reply = {"node": node, "address": node, "value": asdict(card), "trouble": None, "sentence": "", **more}
    return cast("WorkerReply", reply)


def refusing(node: str, trouble: str, sentence: str) -> WorkerReply:
    return replying(node, "", value=None, trouble=trouble, sentence=sentence)


def order(model: str = "clip") -> ModelOrder:
    return ModelOrder(model, model, {"model": model}, 0.0, "abc")


def pool_on(ray: PlayedRay, **settings: float) -> ActorPool:
    pool = ActorPool(RaySettings.model_validate(settings))
    pool.__dict__["ray"] = ray
    return pool
