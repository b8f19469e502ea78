"""The resident process: it gets ready, forks a child for each command, and ends when nobody needs it."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from snellen.cli.resident.child import become
from snellen.cli.resident.circumstances import Circumstances, what_differs
from snellen.cli.resident.folder import ResidentFolder, check_user
from snellen.cli.resident.memory_left import memory_left
from snellen.cli.resident.messages import Request, receive_request, send

_LOOK_SECONDS: Final = 5.0
"""How often it looks whether it is still needed."""
_CLIENT_SECONDS: Final = 5.0
"""How long a client may take to say what it wants."""
_DESCRIPTORS: Final = 4
"""Standard input, output and error, and the folder."""
_LEAST_MEMORY: Final = 0.1
"""The share of the machine's memory below which it ends."""


@dataclass(frozen=True)
class Work:
    """The work of a resident process.

    Attributes:
        run: Runs the words of a command line in a child, and returns the exit status.
        prepare: Each imports or reads something that every command needs; done before the first one.
        load: Each reads something that many commands need; done while nobody waits and no command runs.
        adjust: Called in each child before its command.
    """

    run: Callable[[list[str]], int]
    prepare: Sequence[Callable[[], object]] = ()
    load: Sequence[Callable[[], object]] = ()
    adjust: Callable[[], None] = lambda: None


@dataclass
class Resident:
    """A resident process that listens.

    Attributes:
        place: Where clients reach it.
        listener: Its socket.
        began: What it began with.
        minutes: How long it stays without a command.
        profile: The profile whose checkpoints it reads, for its status.
        since: When it began, in seconds of the clock.
        answered: Commands that it has run.
        seconds: What those that have ended took of the processors.
        left: How many things it is going to read while nobody waits.
    """

    place: ResidentFolder
    listener: socket.socket
    began: Circumstances
    minutes: float
    profile: str = ""
    since: float = field(default_factory=time.time)
    answered: int = 0
    seconds: float = 0.0
    left: int = 0
    _children: set[int] = field(default_factory=set)
    _last: float = field(default_factory=time.monotonic)
    _ended: bool = False
    _environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))

    def serve(self, work: Work) -> None:
        """Get ready, and run commands until nobody needs this process any more."""
        signal.signal(signal.SIGTERM, lambda *_: self._end())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for step in work.prepare:
            self._load(step)
        left = list(work.load)
        self.left = len(left)
        self.place.note(ready=True)
        while not self._ended:
            resting = not left or bool(self._children)
            if self._is_called(_LOOK_SECONDS if resting else 0.0):
                self._meet(work)
            elif left and not self._children:
                self._load(left.pop(0))
                self.left = len(left)
                self.place.note(ready=True)
            self._reap()
            if self._is_needless():
                self._end()

    def _is_called(self, seconds: float) -> bool:
        # A child that ends wakes nobody: its successor is looked for all the sooner.
        return bool(select.select([self.listener], [], [], min(seconds, 0.2) if self._children else seconds)[0])

    def _load(self, step: Callable[[], object]) -> None:
        """Read something; without it, children do so themselves, and say what is wrong with it."""
        self.place.note(ready=False)
        try:
            step()
        except Exception as error:  # noqa: BLE001 - whatever a library raises
            sys.stderr.write(f"not loaded: {type(error).__name__}: {error}\n")
            sys.stderr.flush()
        # The collector stays away from what is there, or it would copy the memory that children share.
        gc.collect()
        gc.freeze()

    def _meet(self, work: Work) -> None:
        """Do what a client wants; one that says nothing is left."""
        connection, _ = self.listener.accept()
        with connection, suppress(OSError, ValueError):
            check_user(connection)
            connection.settimeout(_CLIENT_SECONDS)
            request, descriptors = receive_request(connection)
            try:
                self._answer(connection, request, descriptors, work)
            finally:
                for one in descriptors:
                    os.close(one)

    def _answer(self, connection: socket.socket, request: Request, descriptors: list[int], work: Work) -> None:
        if request.kind == "status":
            send(connection, **self._status())
        elif request.kind == "stop":
            self._end()
            send(connection, ending=True)
        elif request.kind != "run" or len(descriptors) != _DESCRIPTORS or threading.active_count() > 1:
            send(connection, refused=True)
        elif not Circumstances(request.process, request.profile).met_by(self.began):
            self._end()
            send(connection, other=True, why=what_differs(self._environment, request.environment))
        else:
            self._fork(connection, request, descriptors, work)

    def _fork(self, connection: socket.socket, request: Request, descriptors: list[int], work: Work) -> None:
        made = {name: value for name, value in os.environ.items() if name not in self._environment}
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child:
            self._children.add(child)
            self._last, self.answered = time.monotonic(), self.answered + 1
            return
        try:
            self.listener.close()
            self.place.close()
            connection.settimeout(None)
            work.adjust()
            become(connection, request, descriptors, made_by_imports=made, run=work.run)
        finally:
            os._exit(1)

    def _reap(self) -> None:
        for child in list(self._children):
            ended, _, used = os.wait4(child, os.WNOHANG)
            if ended:
                self.seconds += used.ru_utime + used.ru_stime
                self._children.discard(child)
                self._last = time.monotonic()

    def _is_needless(self) -> bool:
        idle = not self._children and time.monotonic() - self._last >= 60 * self.minutes
        return idle or not self.place.is_reached() or memory_left() < _LEAST_MEMORY

    def _end(self) -> None:
        """Let no client come any more; children go on."""
        if not self._ended:
            self._ended = True
            self.place.stop_listening()

    def _status(self) -> dict[str, Any]:
        idle = 0.0 if self._children else time.monotonic() - self._last
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return {
            "process": os.getpid(),
            "profile": self.profile,
            "since": self.since,
            "answered": self.answered,
            "running": len(self._children),
            "seconds": self.seconds,
            "left": self.left,
            "bytes": pages * os.sysconf("SC_PAGE_SIZE"),
            "minutes": self.minutes,
            "idle": idle / 60,
        }
