"""Ray clusters: the connection of this process to one, its nodes, and the pictures in its object store."""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import secrets
import signal
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from snellen.errors import SnellenError
from snellen.process_end import at_process_end

if TYPE_CHECKING:
    import PIL.Image

    from snellen.models.under_test.ray_worker import SentPicture
    from snellen.profiles import RaySettings

ADDRESS_VARIABLE: Final = "RAY_ADDRESS"
"""The environment variable with the address of a cluster, as Ray's own programs have it."""
_LOCAL: Final = "local"
_STORE_BYTES: Final = 512 * 2**20
"""Of the object store of a cluster of this machine alone."""
_STARTS: Final = 3
"""Times that one is started: Ray gives its processes 30 seconds, which a busy machine may take for other work."""
_HELD_BYTES: Final = 256 * 2**20
"""Of pictures that are held in the object store; the longest unused go first."""
_CONNECTING: Final = threading.Lock()
_connected_to = ""


def connected(settings: RaySettings) -> Any:  # noqa: ANN401 - the module `ray`
    """Connect this process to the cluster that a profile names, and return Ray.

    A cluster of this machine alone takes a secret, as it listens on all of the machine's addresses; nothing is told to
    Ray's makers, and nothing is drawn on the terminal.

    Raises:
        SnellenError: Ray is not installed, no cluster answers, or this process is connected to another one.
    """
    address = settings.address or os.environ.get(ADDRESS_VARIABLE, "") or _LOCAL
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address == _LOCAL and "RAY_AUTH_MODE" not in os.environ:
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    try:
        ray = importlib.import_module("ray")
    except ImportError as error:
        msg = "executor = 'ray' needs the package ray, which is not installed: pip install 'snellen[ray]'."
        raise SnellenError(msg) from error
    global _connected_to  # noqa: PLW0603 - a process is connected to one cluster, as Ray is
    with _CONNECTING:
        if not ray.is_initialized():
            # Where nobody waits for threads any more, Ray would leave processes of its own behind for a minute.
            at_process_end(ray.shutdown)
            with _terminated_as_before():
                _begin(ray, address)
            _connected_to = address
        elif _connected_to and settings.address not in {"", _connected_to}:
            msg = f"This process works with the Ray cluster {_connected_to}, not with {address}: begin another process."
            raise SnellenError(msg)
    return ray


def _begin(ray: Any, address: str) -> None:  # noqa: ANN401 - the module `ray`
    own = {"include_dashboard": False, "object_store_memory": _STORE_BYTES} if address == _LOCAL else {}
    tries = _STARTS if address == _LOCAL else 1
    for left in reversed(range(tries)):
        try:
            ray.init(address=address, job_config=_job(ray), log_to_driver=False, logging_level=logging.ERROR, **own)
            return
        except Exception as error:  # Ray raises that itself where a node takes long to start
            ray.shutdown()
            if left:
                continue
            where = "can be started on this machine" if address == _LOCAL else f"answers at {address}"
            msg = f"No Ray cluster {where} ({_said(error)}): see docs/scaling.md, or set executor = 'local'."
            raise SnellenError(msg) from error


def _job(ray: Any) -> Any:  # noqa: ANN401 - the module `ray`, and a class of it
    """Return the settings of our job: workers import from their own paths alone.

    Otherwise Ray would put the folder that the command is run in before them, and a ``torch.py`` there would be run.
    """
    job = ray.job_config.JobConfig()
    job._runtime_env_has_working_dir = lambda: True  # noqa: SLF001 - Ray has no other way to say so
    return job


@contextmanager
def _terminated_as_before() -> Iterator[None]:
    """Keep what happens on SIGTERM: Ray puts a handler of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where it cannot
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@dataclass(frozen=True)
class ClusterNode:
    """A living node of a cluster, with all that it has, in use or not."""

    id: str
    cpus: float
    gpus: float

    def bears(self, cpus: float, gpus: float) -> int:
        """Return how many actors of so many CPUs and GPUs it bears."""
        return int(min(self.cpus / cpus, self.gpus / gpus if gpus else float("inf")))


def nodes_of(ray: Any) -> list[ClusterNode]:  # noqa: ANN401 - the module `ray`
    """Return the living nodes.

    Raises:
        SnellenError: The cluster does not answer.
    """
    try:
        living = [one for one in ray.nodes() if one["Alive"]]
    except (ray.exceptions.RayError, RuntimeError) as error:
        msg = f"The Ray cluster does not answer any more ({_said(error)}): see its logs, or set executor = 'local'."
        raise SnellenError(msg) from error
    return [
        ClusterNode(one["NodeID"], one["Resources"].get("CPU", 0.0), one["Resources"].get("GPU", 0.0)) for one in living
    ]


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(" .:") or type(error).__name__


class SentPictures:
    """The pictures that are in a cluster's object store, each once, named by its pixels; safe for threads."""

    def __init__(self, ray: Any) -> None:  # noqa: ANN401 - the module `ray`
        self._ray = ray
        self._held: OrderedDict[bytes, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._alone = threading.Lock()

    def put(self, picture: PIL.Image.Image) -> Any:  # noqa: ANN401 - Ray's reference
        """Return a reference to a picture, which is put into the store where it is not there.

        Raises:
            SnellenError: The store takes no more.
        """
        content = picture.tobytes()
        name = hashlib.sha256(f"{picture.mode} {picture.size} ".encode() + content).digest()
        with self._alone:
            if name not in self._held:
                sent: SentPicture = (picture.mode, picture.size, content)
                try:
                    self._held[name] = self._ray.put(sent), len(content)
                except self._ray.exceptions.RayError as error:
                    msg = f"The Ray cluster's store takes no more pictures ({_said(error)}): give it more memory."
                    raise SnellenError(msg) from error
                self._bytes += len(content)
            self._held.move_to_end(name)
            reference = self._held[name][0]
            while self._bytes > _HELD_BYTES and len(self._held) > 1:
                # What is under way holds its own references.
                self._bytes -= self._held.popitem(last=False)[1][1]
        return reference

    def forget(self) -> None:
        """Have every picture put anew: some were lost."""
        with self._alone:
            self._held.clear()
            self._bytes = 0
