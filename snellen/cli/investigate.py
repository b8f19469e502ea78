"""What ``snellen investigate``, ``reports``, ``report`` and ``resume`` do with investigations."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from snellen.cli.confirmation import decision_of, tell_how_to_decide
from snellen.cli.display import console, print_json, print_table
from snellen.cli.follower import Follower
from snellen.cli.investigation_display import InvestigationDisplay, state_json
from snellen.errors import BadInput
from snellen.memory.home import home_to_read
from snellen.reports.evaluations import check_folder
from snellen.reports.runs import write_text, writing
from snellen.runtime.running import resumable, run
from snellen.summaries.investigations import doing
from snellen.threads import directory
from snellen.threads import events as following
from snellen.threads import investigate as investigations
from snellen.threads import thread as threads

if TYPE_CHECKING:
    from snellen.graphs.states import ChatState, InvestigateState

_LINE: Final = 90
"""Characters of a query in a table."""


def investigate(options: argparse.Namespace) -> int:
    """Find out about models by experiments."""
    request = investigations.InvestigationRequest(
        query=" ".join(options.query),
        models=options.models or (),
        profile=options.profile,
        pictures=options.pictures,
        alpha=options.alpha,
        budget=_budget(options.budget or []),
        seed=options.seed,
        approve=options.approve,
        correct=options.correct,
        protocol=options.protocol,
    )
    _check_outputs(options)
    follower = _follower(options)
    events = investigations.stream_investigate(request, thread=options.thread, decide=follower.asked)
    return _finish(follower, events, options)


def correct(options: argparse.Namespace) -> int:
    """Teach models what an investigation found that they cannot do, and measure them again."""
    if options.says or options.answer or options.region or options.label:
        msg = f"{options.thread!r} is an investigation: its weaknesses are known, so nothing is said about them."
        raise BadInput(msg)
    _check_outputs(options)
    follower = _follower(options)
    events = investigations.correct_investigation(
        options.thread, approve=options.approve, profile=options.profile, decide=follower.asked
    )
    return _finish(follower, events, options)


def resume(options: argparse.Namespace) -> int:
    """Go on with an investigation; no trial is measured twice."""
    decision = decision_of(options)
    _check_outputs(options)
    follower = _follower(options, decision=decision)
    events = investigations.INVESTIGATE.resume(options.thread, profile=options.profile, decide=follower.asked)
    return _finish(follower, events, options)


def reports(options: argparse.Namespace) -> int:
    """List the investigations so far."""
    found = [one for one in asyncio.run(directory.list_threads()) if one.graph == "investigate"]
    if options.json:
        print_json([{"id": one.thread, "query": one.instruction, "status": one.status, "updated": one.updated,
                     "conclusion": one.outcome} for one in found])  # fmt: skip
        return 0
    rows = [
        (one.thread, one.updated[:19].replace("T", " "), one.status, one.instruction[:_LINE], one.outcome[:_LINE])
        for one in found
    ]
    print_table(("id", "updated (UTC)", "status", "query", "conclusion"), rows)
    return 0


def report(options: argparse.Namespace) -> int:
    """Show the report of an investigation, or write it as a page, Markdown, JSON or a table of its trials."""
    graph, state = asyncio.run(directory.read_thread(options.id))
    if graph == "chat":
        state = _investigated(options.id, state)
    elif graph != "investigate":
        msg = f"The thread {options.id!r} is no investigation: `snellen reports` lists those."
        raise BadInput(msg)
    if options.json:
        print_json(state_json(options.id, state))
    written = _written(state, options)
    if not options.json and not written:
        _print(state)
    return 0


def _investigated(thread: str, state: ChatState) -> InvestigateState:
    """Return the last investigation of a conversation.

    Raises:
        BadInput: Something else was done last.
    """
    from snellen.graphs.states import InvestigateState

    if state.last.get("graph") != "investigate":
        msg = f"The conversation {thread!r} did not end with an investigation: `snellen reports` lists those."
        raise BadInput(msg)
    return threads.state_from(state.last["state"], InvestigateState)


def _check_outputs(options: argparse.Namespace) -> None:
    """See that the results can be written where they are wanted, before anything is measured.

    Raises:
        SnellenError: They cannot.
    """
    if options.out:
        check_folder(Path(options.out))
    if options.html:
        page = Path(options.html)
        if page.is_dir():
            msg = f"--html {page} is a folder: name a file for the page, such as {page / 'report.html'}."
            raise BadInput(msg)
        with writing(page):
            page.parent.mkdir(parents=True, exist_ok=True)


def _print(state: InvestigateState) -> None:
    from snellen.reports.investigation_text import markdown

    found = investigations.found_in(state)
    console().print(markdown(found) if found else "The report is not opened yet.", soft_wrap=True)


def _follower(options: argparse.Namespace, *, decision: str = "") -> Follower[InvestigateState]:
    return Follower(InvestigationDisplay(), _doing, quiet=options.json, decision=decision)


def _finish(
    follower: Follower[InvestigateState],
    events: AsyncGenerator[investigations.InvestigationEvent],
    options: argparse.Namespace,
) -> int:
    """Follow, write what was asked for, print the JSON, and tell how to decide about what waits."""
    with resumable(lambda: follower.thread):
        run(follower.follow(events))
    ended = follower.finished
    state = ended.state if ended else asyncio.run(investigations.INVESTIGATE.read(follower.thread))
    _written(state, options)
    if follower.quiet:
        print_json(state_json(follower.thread, state, waits=follower.request))
    if ended is None:
        tell_how_to_decide(follower.thread)
    return 0


def _written(state: InvestigateState, options: argparse.Namespace) -> list[Path]:
    """Write the files that were asked for, and say which ones."""
    from snellen.reports import investigation_files, investigation_page, investigation_text

    found = investigations.found_in(state)
    if found is None:
        return []
    folder, written = home_to_read(), []
    page = getattr(options, "html", None)
    if page:
        write_text(Path(page), investigation_page.render(found, folder))
        written.append(Path(page))
    if getattr(options, "markdown", None):
        write_text(Path(options.markdown), investigation_text.markdown(found) + "\n")
        written.append(Path(options.markdown))
    if getattr(options, "trials", None):
        written.append(investigation_files.write_trials(found, folder, Path(options.trials)))
    if getattr(options, "out", None):
        written += investigation_files.write_all(found, folder, Path(options.out))
    if not options.json:
        for path in written:
            console().print(f"wrote   {path}", style="dim")
    return written


def _budget(parts: list[str]) -> dict[str, float]:
    """Read ``images=500``, several of them.

    Raises:
        BadInput: A part is no name with a number.
    """
    found: dict[str, float] = {}
    for part in (one for text in parts for one in text.split(",")):
        name, sign, number = part.partition("=")
        try:
            found[name.strip()] = float(number) if "." in number else int(number)
        except ValueError as error:
            msg = f"--budget {part[:40]} is not name=number: for example images=500 or seconds=120."
            raise BadInput(msg) from error
        if not sign:
            msg = f"--budget {part[:40]} is not name=number: for example images=500 or seconds=120."
            raise BadInput(msg)
    return found


def _doing(event: investigations.InvestigationEvent) -> str:
    match event:
        case following.Started():
            return "designing an experiment"
        case following.InvestigationProgress(told=told):
            return doing(told)
        case following.Waits():
            return "waiting for a decision"
        case _:
            return "going on"
