"""A child of the resident process: it becomes what its client's own process would have been, for one command."""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from snellen.cli.resident.messages import Request, receive, send
from snellen.process_end import end_process
from snellen.runtime.termination import INTERRUPTED, TERMINATED

if TYPE_CHECKING:
    from typing import TextIO

CARRIED: Final = tuple(one for one in signal.Signals if one.name in {"SIGINT", "SIGTERM", "SIGHUP"})
"""Signals of which a client says whether it ignores them."""
_PATIENCE_SECONDS: Final = 30.0
"""How long a client may take to give its word."""


def become(
    connection: socket.socket,
    request: Request,
    descriptors: Sequence[int],
    *,
    made_by_imports: dict[str, str],
    run: Callable[[list[str]], int],
) -> NoReturn:
    """Run a client's command in this process, tell its status, and end.

    Args:
        connection: To the client. That it ends before the command does is taken for SIGTERM.
        request: What the client wants.
        descriptors: Its standard input, output and error, and its folder.
        made_by_imports: Variables that libraries set while they were imported.
        run: Runs the words of a command line, and returns the exit status.
    """
    status = 1
    try:
        _take_over(request, descriptors, made_by_imports)
        send(connection, begun=os.getpid())
        connection.settimeout(_PATIENCE_SECONDS)
        if receive(connection) is None:
            os._exit(0)  # the client has gone its own way
        connection.settimeout(None)
        threading.Thread(target=_watch, args=(connection,), name="client", daemon=True).start()
        status = _status(run, request.words)
        send(connection, status=status)
    finally:
        end_process(status)


def _take_over(request: Request, descriptors: Sequence[int], made_by_imports: dict[str, str]) -> None:
    """Take over the client's streams, folder, variables and signals."""
    os.setpgid(0, 0)
    for one in (*CARRIED, signal.SIGCHLD):
        signal.signal(one, signal.SIG_IGN if one in request.ignored else signal.SIG_DFL)
    if signal.SIGINT not in request.ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    *streams, folder = descriptors
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.fchdir(folder)
    os.close(folder)
    os.umask(request.umask)
    os.environ.clear()
    os.environ.update({**made_by_imports, **request.environment})
    time.tzset()
    sys.argv = [request.program, *request.words]
    # Objects that libraries keep, such as handlers of logs, write to the same descriptors as before.
    _fit(sys.stdout)


def _fit(stream: TextIO) -> None:
    """Write line by line on a terminal only, as Python does with a stream that it opens."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=stream.isatty())


def _status(run: Callable[[list[str]], int], words: list[str]) -> int:
    """Run a command to its end, and what Python does at the end of a process."""
    try:
        status = run(words)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    if status not in {INTERRUPTED, TERMINATED}:
        # A worker thread of an interrupted command may be loading a model, which nobody waits for any more.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as multiprocessing ends its children
        atexit._run_exitfuncs()  # noqa: SLF001 - the same
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return status


def _watch(connection: socket.socket) -> None:
    """Wait until the client ends: killed, it takes its command along."""
    with suppress(OSError, ValueError):
        receive(connection)
    os.kill(os.getpid(), signal.SIGTERM)
