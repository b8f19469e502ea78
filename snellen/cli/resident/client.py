"""The client's side: a command is handed to the home's resident process, which is started where there is none.

On the standard library alone. Whatever goes wrong before the command begins, the caller runs it in its own process.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Final

from snellen.cli.resident.child import CARRIED
from snellen.cli.resident.circumstances import Circumstances, circumstances
from snellen.cli.resident.folder import ResidentFolder, listener_of, opened
from snellen.cli.resident.messages import Request, receive, send, send_request
from snellen.errors import SnellenError
from snellen.profile_files import DEFAULT_PROFILE

Waiting = Callable[[], AbstractContextManager[object]]

_STREAMS: Final = (0, 1, 2)
_SOON_SECONDS: Final = 0.5
"""How long an answer takes from a process that is ready; what takes longer is shown."""
_HANGS_SECONDS: Final = 20.0
"""How long a process that is ready may take to answer before it counts as hanging."""
_LOADING_SECONDS: Final = 600.0
"""How long one may take to get ready."""
_STEP_SECONDS: Final = 0.02


class CommandLost(SnellenError):  # noqa: N818 - reads as what happened
    """The process that ran a command ended without a status."""


def is_possible() -> bool:
    """Tell whether this process may hand its command to another: on Linux, begun by a shell in the usual way.

    A debugger, a profiler, an interpreter with options of its own and a command in the background of a terminal, which
    would be stopped when it reads from there, run in their own process; so does the first one of a container, which
    ends with it.
    """
    if sys.platform != "linux" or os.getpid() == 1:
        return False
    options = sys.orig_argv[1:2]
    if options and options[0].startswith("-") and sys.orig_argv[1:3] != ["-m", "snellen"]:
        return False
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return False
    try:
        return all(os.fstat(stream) for stream in _STREAMS) and (not os.isatty(0) or os.tcgetpgrp(0) == os.getpgrp())
    except OSError:
        return False


def run_resident(
    words: Sequence[str], *, home: Path, profile: str | None, start: Sequence[str], waiting: Waiting
) -> int | None:
    """Have the resident process of a home run a command; start it where there is none.

    Args:
        words: What follows ``snellen`` on the command line.
        home: The memory's home.
        profile: The command's profile; None where it goes on with the one of its thread.
        start: Begins a resident process, followed by the digests of its circumstances.
        waiting: Shows inside its block that something takes long.

    Returns:
        The command's exit status; None where it has not begun, and this process should run it.

    Raises:
        CommandLost: The command began, and its process was killed.
        BadInput: The profile cannot be read.
    """
    here = circumstances(profile or DEFAULT_PROFILE)
    asks = here if profile else replace(here, profile="")
    with suppress(OSError, ValueError), opened(home, make=True) as place:
        # The second time, where the process that was there is another, or has just ended.
        started = False
        for _ in range(2):
            connection = place.connect()
            if connection is None:
                connection, started = _started(place, [*start, here.process, here.profile]), True
            if connection is None:
                return None
            with connection:
                said = _offered(connection, place, words, asks, waiting)
                if said is not None and "begun" in said:
                    return _followed(connection, int(said["begun"]))
                if said is None or "other" not in said or started:
                    return None
                if "why" in said:
                    sys.stderr.write(f"snellen: another resident process begins, as {str(said['why'])[:200]}\n")
    return None


def _offered(
    connection: socket.socket, place: ResidentFolder, words: Sequence[str], here: Circumstances, waiting: Waiting
) -> dict[str, Any] | None:
    """Offer the command, and return the answer; None where none came."""
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    umask = os.umask(0o077)
    os.umask(umask)
    request = Request(
        "run",
        here.process,
        here.profile,
        words=list(words),
        program=sys.argv[0],
        environment=dict(os.environ),
        umask=umask,
        ignored=[int(one) for one in CARRIED if signal.getsignal(one) is signal.SIG_IGN],
    )
    try:
        send_request(connection, request, (*_STREAMS, folder))
    except ConnectionError:
        return {"other": True}
    finally:
        os.close(folder)
    if not _comes(connection, place, _SOON_SECONDS):
        with waiting():
            if not _comes(connection, place, _LOADING_SECONDS):
                return None
    # A process that ends before it answers was about to end by itself.
    return receive(connection) or {"other": True}


def _comes(connection: socket.socket, place: ResidentFolder, seconds: float) -> bool:
    """Wait for an answer; of a process that says all the time that it is ready, not for long."""
    began = ready_since = time.monotonic()
    while (waited := time.monotonic() - began) < seconds:
        if select.select([connection], [], [], min(seconds - waited, 1.0))[0]:
            return True
        noted = place.noted()
        if noted is not None and not noted.ready:
            ready_since = time.monotonic()
        if time.monotonic() - ready_since > _HANGS_SECONDS:
            return False
    return False


def _followed(connection: socket.socket, child: int) -> int:
    """Give the word, pass signals on, and wait for the command's end.

    Raises:
        CommandLost: It ended without a status.
    """
    with _passing_signals(child):
        send(connection, go=True)
        try:
            said = receive(connection)
        except (OSError, ValueError):
            said = None
    if said is None:
        msg = (
            "The process that ran the command was killed; `snellen threads` lists what can be resumed, and "
            "--no-resident runs a command in its own process."
        )
        raise CommandLost(msg)
    return int(said["status"])


@contextmanager
def _passing_signals(child: int) -> Iterator[None]:
    """Pass Ctrl-C, Ctrl-Z and SIGTERM on to a child, which is in no group of this terminal."""

    def send_on(number: int, _: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    def stop(number: int, frame: FrameType | None) -> None:
        send_on(signal.SIGSTOP, frame)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # From here on the shell has this process go on.
        signal.signal(number, stop)
        send_on(signal.SIGCONT, frame)

    handlers = {signal.SIGINT: send_on, signal.SIGTERM: send_on, signal.SIGTSTP: stop}
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


def _started(place: ResidentFolder, command: Sequence[str]) -> socket.socket | None:
    """Start a resident process and connect to it, or to one that somebody else has started meanwhile."""
    log = place.open_log()
    try:
        process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/"
        )
    finally:
        os.close(log)
    try:
        while True:
            ended = process.poll() is not None
            connection = place.connect()
            if connection is not None and listener_of(connection) != process.pid:
                # One that waits for the lock would begin to serve when that other one ends, and nobody asked for it.
                process.kill()
                process.wait()
            if connection is not None or ended:
                return connection
            time.sleep(_STEP_SECONDS)
    finally:
        # It outlives this process, which is not to be warned about that.
        process.returncode = process.returncode if process.returncode is not None else 0


def asked(home: Path, kind: str, *, seconds: float = 2.0) -> dict[str, Any] | None:
    """Ask the resident process of a home for its ``status``, or to ``stop``.

    Args:
        home: The memory's home.
        kind: ``status`` or ``stop``.
        seconds: How long to wait for an answer.

    Returns:
        Its answer; with nothing but ``process`` where it is busy; None where there is none.

    Raises:
        OSError: It is not this user's.
    """
    try:
        place = ResidentFolder(home)
    except FileNotFoundError:
        return None
    try:
        connection = place.connect()
        if connection is not None:
            with connection:
                connection.settimeout(seconds)
                with suppress(TimeoutError, ConnectionError):
                    send_request(connection, Request("stop" if kind == "stop" else "status"))
                    return receive(connection)
        noted = place.noted()
        return None if noted is None else {"process": noted.process}
    finally:
        place.close()


def end(home: Path, *, seconds: float = 5.0) -> bool:
    """End the resident process of a home, also one that hangs; what children run goes on.

    Args:
        home: The memory's home.
        seconds: How long it may take to end by itself.

    Returns:
        True where there was one.

    Raises:
        OSError: It is not this user's, or it cannot be ended.
    """
    said = asked(home, "stop")
    if said is None:
        return False
    with opened(home) as place:
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            noted = place.noted()
            # The lock is held, so the number is its holder's.
            if noted is not None and noted.process > 0 and number is not None:
                with suppress(ProcessLookupError):
                    os.kill(noted.process, number)
            until = time.monotonic() + seconds
            while place.noted() is not None and time.monotonic() < until:
                time.sleep(_STEP_SECONDS)
        return True
