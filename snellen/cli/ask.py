"""What ``snellen ask``, ``correct`` and ``resume`` do with runs that answer."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.confirmation import decision_of, tell_how_to_decide
from snellen.cli.display import console, print_json
from snellen.cli.follower import Follower
from snellen.cli.run_display import RunDisplay
from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home
from snellen.reports.runs import ANSWER_FILE, AskRun, write_run, write_text
from snellen.runtime.resources import open_pictures
from snellen.runtime.running import resumable, run
from snellen.threads import ask as sessions
from snellen.threads.progress import doing_after
from snellen.threads.thread import FAILED
from snellen.values import Picture, Region

if TYPE_CHECKING:
    from snellen.graphs.states import AskState

_CORNERS: Final = 4


def ask(options: argparse.Namespace) -> int:
    """Answer an instruction about pictures; with the right answer given, learn from a wrong one."""
    _prepare_outputs(options)
    if options.approve and options.no_learn:
        msg = "--approve asks before anything is learned, and --no-learn learns nothing: leave out one of them."
        raise BadInput(msg)
    _check_insisting(options)
    follower = _follower(options)
    events = sessions.stream_ask(
        options.pictures,
        options.instruction,
        expected=options.answer,
        profile=options.profile,
        thread=options.thread,
        learn="never" if options.no_learn else "approved" if options.approve else "always",
        insist=options.insist,
        decide=follower.asked,
    )
    return _finish(follower, events, options)


def correct(options: argparse.Namespace) -> int:
    """Say what was wrong with the answer of a finished run, and have it learn from that."""
    if options.label and options.region is None:
        msg = "--label names the thing in a region: show where it is with --region, or say it in words."
        raise BadInput(msg)
    _prepare_outputs(options)
    _check_insisting(options)
    follower = _follower(options)
    events = sessions.correct(
        options.thread,
        expected=options.answer,
        says=options.says or "",
        region=None if options.region is None else _region(options.region, options.label or ""),
        profile=options.profile,
        approve=options.approve,
        insist=options.insist,
        decide=follower.asked,
    )
    return _finish(follower, events, options)


def resume(options: argparse.Namespace) -> int:
    """Go on with a run where it stopped."""
    decision = decision_of(options)
    _prepare_outputs(options)
    follower = _follower(options, decision=decision)
    events = sessions.ASK.resume(options.thread, profile=options.profile, decide=follower.asked)
    return _finish(follower, events, options)


def _check_insisting(options: argparse.Namespace) -> None:
    if options.approve and options.insist:
        msg = "--approve asks before anything is learned, and --insist does not: leave out one of them."
        raise BadInput(msg)


def _region(text: str, label: str) -> Region:
    """Read ``left,top,right,bottom``.

    Raises:
        BadInput: it is not four whole numbers.
    """
    try:
        corners = [int(part) for part in text.split(",")]
    except ValueError:
        corners = []
    if len(corners) != _CORNERS:
        msg = f"--region {text[:40]} is not left,top,right,bottom: give four whole numbers, as in 10,20,60,80."
        raise BadInput(msg)
    x0, y0, x1, y1 = corners
    if x0 >= x1 or y0 >= y1:
        msg = f"--region {text[:40]} is empty: its right and bottom must be greater than its left and top."
        raise BadInput(msg)
    return Region((x0, y0, x1, y1), 1.0, " ".join(label.split()))


def _follower(options: argparse.Namespace, *, decision: str = "") -> Follower[AskState]:
    return Follower(RunDisplay(), doing_after, quiet=options.json, decision=decision)


def _finish(
    follower: Follower[AskState], events: AsyncGenerator[sessions.SessionEvent], options: argparse.Namespace
) -> int:
    """Follow, write what was asked for, print the JSON, and fail where the run has no answer."""
    with resumable(lambda: follower.thread):
        run(follower.follow(events))
    ended = follower.finished
    came = AskRun(follower.thread, ended.state if ended else asyncio.run(sessions.ASK.read(follower.thread)))
    written = _write_outputs(came, options)
    if options.json:
        ended_as = "finished" if came.state.error is None else FAILED
        status = ended_as if follower.request is None else "waiting"
        print_json({**came.to_json(), "status": status, "waiting": follower.request})
    else:
        _tell_files(came, written)
    if follower.request is not None:
        tell_how_to_decide(follower.thread)
        return 0
    if came.state.error is not None:
        raise SnellenError(came.state.error)
    return 0


def _tell_files(run: AskRun, written: Sequence[Path]) -> None:
    screen = console()
    if isinstance(run.answer, Picture) and not any(path.name == ANSWER_FILE for path in written):
        screen.print(f"picture {open_pictures(home()).path(run.answer.id)}", style="dim")
    for path in written:
        screen.print(f"wrote   {path}", style="dim")


def _write_outputs(run: AskRun, options: argparse.Namespace) -> list[Path]:
    if not (options.out or options.html):
        return []
    store = open_pictures(home())
    written = write_run(run, Path(options.out), store) if options.out else []
    if options.html:
        from snellen.reports.run_page import render

        write_text(Path(options.html), render(run, store))
        written.append(Path(options.html))
    return written


def _prepare_outputs(options: argparse.Namespace) -> None:
    """Refuse places that cannot take the results before minutes are spent on making them."""
    if options.out and Path(options.out).exists() and not Path(options.out).is_dir():
        msg = f"--out {options.out} is a file: name a folder for the result pictures and run.json."
        raise BadInput(msg)
    if options.html and Path(options.html).is_dir():
        msg = f"--html {options.html} is a folder: name the file that the page is written to."
        raise BadInput(msg)
    for name, place in (("--out", options.out), ("--html", options.html)):
        if place:
            _refuse_unwritable(name, Path(place))


def _refuse_unwritable(option: str, place: Path) -> None:
    """Refuse a place that nothing can be written to: it, or the nearest folder above it that exists."""
    there = next(path for path in (place.absolute(), *place.absolute().parents) if path.exists())
    if there.is_file() and there == place.absolute():
        writable = os.access(there, os.W_OK)
    else:
        writable = there.is_dir() and _takes_files(there)
    if not writable:
        msg = f"{option} {place} cannot be written ({there} is not a folder that you may write to): name another place."
        raise BadInput(msg)


def _takes_files(folder: Path) -> bool:
    """Permission bits lie (root, read-only mounts): only a written file proves a writable folder."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
