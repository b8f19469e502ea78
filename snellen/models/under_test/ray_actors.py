"""Actors of a Ray cluster, each of one model under test: as many as there is room for, and leased for a shard.

All actors claim alike, so the cluster has a number of places. A model takes free places up to its limit, and those of
idle actors of models that nobody waits for.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import OutOfMemory, SnellenError
from snellen.models.under_test.ray_cluster import ClusterNode, SentPictures, connected, nodes_of
from snellen.models.under_test.ray_worker import TrialWorker, WorkerReply, card_of

if TYPE_CHECKING:
    from snellen.models.under_test.model import Card
    from snellen.profiles import RaySettings

_ALL: Final = ""
"""Stands for all models where a node is unfit."""
_LOOK_SECONDS: Final = 5.0
"""After which whoever waits looks whether the cluster has grown."""
_AGE_SECONDS: Final = 1.0
"""Of what is known of the nodes, at most."""


@dataclass(frozen=True)
class ModelOrder:
    """Order to an actor: the model that it reads, and how.

    Attributes:
        model: The model's name in its profile.
        key: Names all that decides what it answers: actors of one key are alike.
        sent: What `TrialWorker.read` takes.
        gpus: GPUs of one actor.
        checkpoint: What the fingerprint of its card must begin with; empty where that is not known here.
    """

    model: str
    key: str
    sent: Mapping[str, Any]
    gpus: float
    checkpoint: str = ""


@dataclass(eq=False)
class LeasedActor:
    """An actor that has read a model, leased by one shard at a time.

    Attributes:
        handle: Ray's.
        order: What it has read.
        node: The id of its node; empty until it has replied.
        ready: Whether it has read its model.
        lost: Whether it is of no use any more.
        leased: Whether a shard has it now.
    """

    handle: Any
    order: ModelOrder
    node: str = ""
    ready: bool = False
    lost: bool = False
    leased: bool = True


class ActorPool:
    """The actors of one process on one cluster; safe for threads."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self._actors: list[LeasedActor] = []  # the longest idle first
        self._waiting: Counter[str] = Counter()
        self._most: dict[str, int] = defaultdict(lambda: settings.actors)
        self._unfit: dict[str, dict[str, str]] = defaultdict(dict)  # by key of an order, by node, why
        self._cards: dict[str, Card] = {}
        self._looked, self._living = -math.inf, list[ClusterNode]()

    @cached_property
    def ray(self) -> Any:  # noqa: ANN401 - the module
        """Ray, connected to the cluster.

        Raises:
            SnellenError: There is none.
        """
        return connected(self._settings)

    @cached_property
    def _worker(self) -> Any:  # noqa: ANN401 - Ray's class of actors
        return self.ray.remote(TrialWorker)

    @cached_property
    def pictures(self) -> SentPictures:
        """The pictures in its object store."""
        return SentPictures(self.ray)

    def has_gpus(self) -> bool:
        """Tell whether any node has a GPU."""
        with self._changed:
            return any(node.gpus for node in self._nodes())

    def card(self, order: ModelOrder) -> Card:
        """Return the card of a model, which an actor reads first if none has.

        Raises:
            SnellenError: None can.
        """
        if order.key not in self._cards:
            with self.lease(order):
                pass
        return self._cards[order.key]

    def places(self, order: ModelOrder) -> int:
        """Return how many actors of a model there may be.

        Raises:
            SnellenError: The cluster has no place for one.
        """
        with self._changed:
            return min(self._most[order.key], self._places(order))

    @contextmanager
    def lease(self, order: ModelOrder) -> Iterator[LeasedActor]:
        """Lease an actor of a model; wait for one, or start one where there is room.

        Raises:
            SnellenError: No actor can be started.
        """
        actor = self._leased(order)
        try:
            yield actor
        finally:
            with self._changed:
                actor.leased = False
                self._actors.remove(actor)
                if actor.lost:
                    self._end(actor)
                else:
                    self._actors.append(actor)
                self._changed.notify_all()

    def have_fewer(self, order: ModelOrder) -> None:
        """Have one actor of a model less than there are now, but one: together they take too much memory."""
        with self._changed:
            now = sum(one.order.key == order.key for one in self._actors)
            self._most[order.key] = max(min(now, self._most[order.key]) - 1, 1)

    def lose_nodes(self) -> None:
        """Drop the idle actors of nodes that are gone: each would cost a shard a try."""
        with self._changed:
            self._looked = -math.inf
            living = {node.id for node in self._nodes()}
            gone = [one for one in self._actors if one.node and one.node not in living and not one.leased]
            for one in gone:
                self._actors.remove(one)
                self._end(one)

    def _leased(self, order: ModelOrder) -> LeasedActor:
        lost, trouble = 0, ""
        while lost < self._settings.tries:
            actor = self._idle_or_begun(order)
            if not actor.ready:
                try:
                    trouble = self._trouble_reading(actor)
                finally:
                    if not actor.ready:
                        self._drop(actor)
            if actor.ready:
                return actor
            # A node that has refused is not tried again, so refusals come to an end by themselves.
            lost += not actor.node
        raise self._unaskable(order, trouble)

    def _drop(self, actor: LeasedActor) -> None:
        with self._changed:
            self._actors.remove(actor)
            self._end(actor)
            self._changed.notify_all()

    def _idle_or_begun(self, order: ModelOrder) -> LeasedActor:
        """Return an idle actor of a model, or a new one that has read nothing yet; wait until there is either."""
        with self._changed:
            while True:
                mine = [one for one in self._actors if one.order.key == order.key]
                idle = next((one for one in mine if not one.leased), None)
                if idle is not None:
                    idle.leased = True
                    return idle
                places = self._places(order)
                if len(mine) < min(self._most[order.key], places) and self._make_room(places):
                    self._actors.append(LeasedActor(self._started(order), order))
                    return self._actors[-1]
                self._waiting[order.key] += 1
                self._changed.wait(_LOOK_SECONDS)
                self._waiting[order.key] -= 1

    def _places(self, order: ModelOrder) -> int:
        unfit = self._unfit[_ALL] | self._unfit[order.key]
        nodes = self._nodes()
        fit = [node for node in nodes if node.id not in unfit]
        places = sum(node.bears(self._settings.cpus, order.gpus) for node in fit)
        if places:
            return places
        if reasons := [unfit[node.id] for node in nodes if node.id in unfit]:
            raise self._unaskable(order, reasons[-1])
        wanted = f"{self._settings.cpus:g} CPUs" + (f" and {order.gpus:g} GPUs" if order.gpus else "")
        msg = f"No node of the Ray cluster has {wanted}, which an actor claims: change ray.cpus or ray.gpus."
        raise SnellenError(msg)

    @staticmethod
    def _unaskable(order: ModelOrder, reason: str) -> SnellenError:
        return SnellenError(f"{order.model} cannot be asked on the Ray cluster: {reason.rstrip('.')}.")

    def _nodes(self) -> list[ClusterNode]:
        """Return the living nodes as of a second ago: a look takes milliseconds, and every waiting shard looks."""
        if time.monotonic() - self._looked > _AGE_SECONDS:
            self._living, self._looked = nodes_of(self.ray), time.monotonic()
        return self._living

    def _make_room(self, places: int) -> bool:
        """End idle actors of models that nobody waits for until there is a free place; tell whether there is one."""
        others = [one for one in self._actors if not one.leased and not self._waiting[one.order.key]]
        while len(self._actors) >= places:
            if not others:
                return False
            self._actors.remove(others[0])
            self._end(others.pop(0))
        return True

    def _started(self, order: ModelOrder) -> Any:  # noqa: ANN401 - Ray's handle
        unfit = [*self._unfit[_ALL], *self._unfit[order.key]]
        elsewhere = {"label_selector": {"ray.io/node-id": f"!in({','.join(unfit)})"}} if unfit else {}
        options = {"num_cpus": self._settings.cpus, "num_gpus": order.gpus, "max_restarts": 0, **elsewhere}
        return self._worker.options(**options).remote()

    def _trouble_reading(self, actor: LeasedActor) -> str:
        """Have an actor read its model; return what is wrong, and nothing where all is well.

        Raises:
            OutOfMemory: No node has enough memory for one.
        """
        errors, order = self.ray.exceptions, actor.order
        try:
            reply: WorkerReply = self.ray.get(actor.handle.read.remote(order.sent), timeout=self._settings.seconds)
        except errors.GetTimeoutError:
            return f"an actor has not read it within {self._settings.seconds:g} seconds; other work may hold the nodes"
        except errors.RayTaskError as error:
            said = " ".join(str(error.cause).split())[:200]
            return f"a worker could not begin ({said}); is Snellen installed on every node?"
        except errors.RayError as error:
            self.lose_nodes()
            return f"an actor was lost while it read it ({told(error)})"
        with self._changed:
            return self._heard(actor, reply)

    def _heard(self, actor: LeasedActor, reply: WorkerReply) -> str:
        """Note what an actor replies when it should have read its model; return what is wrong, as above.

        Raises:
            OutOfMemory: No node has enough memory for one.
        """
        order, actor.node = actor.order, reply["node"]
        trouble, sentence = reply["trouble"], f"refuses, as {reply['sentence']}"
        if trouble is None:
            sentence = self._strange(order, card_of(reply["value"]))
            actor.ready = not sentence
            if actor.ready:
                return ""
        if trouble == "memory":
            return self._short_of_memory(order, reply)
        unfit = f"the node {reply['address']} {sentence}"
        self._unfit[_ALL if trouble == "version" else order.key][reply["node"]] = unfit
        return unfit

    def _strange(self, order: ModelOrder, card: Card) -> str:
        """Say what is wrong with the card of what an actor has read, and nothing where it is that of the others."""
        if not card.fingerprint.startswith(order.checkpoint):
            return f"has another checkpoint ({card.fingerprint}) than this machine ({order.checkpoint})"
        first = self._cards.setdefault(order.key, card)
        return "" if card == first else f"reads it otherwise ({card.fingerprint}) than others ({first.fingerprint})"

    def _short_of_memory(self, order: ModelOrder, reply: WorkerReply) -> str:
        others = sum(one.order.key == order.key for one in self._actors) - 1
        if not others:
            msg = f"{order.model} cannot be read on the node {reply['address']} of the Ray cluster. {reply['sentence']}"
            raise OutOfMemory(msg)
        self._most[order.key] = others
        return reply["sentence"]

    def _end(self, actor: LeasedActor) -> None:
        self.ray.kill(actor.handle)


def told(error: Exception) -> str:
    """Return the first sentence of an error of Ray's, which go on for a page."""
    first = str(error).strip().splitlines()[:1]
    return f"{type(error).__name__}: {first[0][:160].rstrip(' .')}" if first else type(error).__name__
