"""What each command of the command line does; ``interfaces.cli`` parses, calls one of these, and tells its errors.

Every function takes the parsed options and returns the exit status.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import os
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from interfaces import sessions
from interfaces.display import RunDisplay, console, doing_after, print_json, print_table
from interfaces.running import BEGINNING, SignOfLife, resumable, run
from interfaces.runs import ANSWER_FILE, Run, in_words, write_run, write_text
from interfaces.threads import graph_of
from memory.home import home
from profiles import Profile, load_profile
from profiles.errors import BadInput, SnellenError
from tools.values import Picture, from_json

if TYPE_CHECKING:
    from tools.registry import Tool

_LINE: Final = 100
"""Characters of an instruction in a table."""


def ask(options: argparse.Namespace) -> int:
    """Answer an instruction about pictures."""
    _prepare_outputs(options)
    events = sessions.stream_ask(
        options.pictures,
        options.instruction,
        expected=options.answer,
        profile=options.profile,
        thread=options.thread,
    )
    return _finish(_follow(events, quiet=options.json), options)


def resume(options: argparse.Namespace) -> int:
    """Go on with a run where it stopped."""
    if asyncio.run(graph_of(options.thread)) == "learn":
        from interfaces import learning_commands

        return learning_commands.resume(options)
    _refuse_decision(options)
    _prepare_outputs(options)
    return _finish(_follow(sessions.resume(options.thread, profile=options.profile), quiet=options.json), options)


def learn(options: argparse.Namespace) -> int:
    """Learn a concept from pictures."""
    from interfaces import learning_commands

    return learning_commands.learn(options)


def threads(options: argparse.Namespace) -> int:
    """List the runs so far."""
    found = asyncio.run(sessions.list_threads())
    if options.json:
        print_json([dataclasses.asdict(one) for one in found])
        return 0
    rows = [
        (
            one.thread,
            one.updated[:19].replace("T", " "),
            one.status,
            one.verdict,
            _shortened(one.instruction),
            _shortened(one.outcome) if one.outcome else in_words(from_json(one.answer)),
        )
        for one in found
    ]
    print_table(("thread", "updated (UTC)", "status", "judged", "instruction", "answer or outcome"), rows)
    if not rows:
        _hint('No runs yet; begin one with `snellen ask PICTURE "INSTRUCTION"`.')
    return 0


def tools(options: argparse.Namespace) -> int:
    """List what programs may call."""
    from tools.registry import catalogue

    found = list(catalogue())
    if options.json:
        print_json([_tool_json(one) for one in found])
        return 0
    print_table(
        ("tool", "what it does"),
        [(one.signature(), one.description.partition("\n\n")[0].replace("\n", " ")) for one in found],
    )
    return 0


def models(options: argparse.Namespace) -> int:
    """List the checkpoints of a profile and whether they are there."""
    profile = load_profile(options.profile)
    found = [_model_json(profile, key) for key in type(profile.models).model_fields]
    if options.json:
        print_json({"profile": profile.name, "device": profile.device, "dtype": profile.dtype, "models": found})
        return 0
    rows = [(one["key"], one["class"], one["source"], one["state"]) for one in found]
    print_table(("key", "class", "folder or id", "state"), rows, title=f"profile {profile.name}")
    return 0


def demonstrations(options: argparse.Namespace) -> int:
    """List the examples that plans and programs are made after."""
    pool = sessions.make_context(options.profile, home()).pool
    found = [one for one in pool.all() if options.kind in {None, one.kind}]
    if options.json:
        print_json([dataclasses.asdict(one) for one in found])
        return 0
    rows = [
        (
            one.id,
            one.kind,
            "correct" if one.correct else "incorrect",
            one.family,
            one.source,
            _shortened(one.instruction),
        )
        for one in found
    ]
    print_table(("id", "kind", "part", "family", "source", "instruction"), rows)
    return 0


def memory(options: argparse.Namespace) -> int:
    """Show, check, forget and carry elsewhere what was learned."""
    from interfaces.memory_commands import ACTIONS

    return ACTIONS[options.action](options)


def evaluate(options: argparse.Namespace) -> int:
    """Measure a profile on tasks with known answers, or what learning is worth to it."""
    from interfaces.evaluation_commands import EVALUATIONS

    return EVALUATIONS[options.what](options)


def _follow(events: AsyncGenerator[sessions.SessionEvent], *, quiet: bool) -> Run:
    """Show a run's events to its end.

    Raises:
        Interrupted: The user pressed Ctrl-C.
        SnellenError: The run failed; where it can be resumed, the sentence says how.
    """
    follower = _Follower(None if quiet else RunDisplay())
    with resumable(lambda: follower.thread):
        return run(follower.follow(events))


@dataclasses.dataclass
class _Follower:
    display: RunDisplay | None
    thread: str = ""

    async def follow(self, events: AsyncGenerator[sessions.SessionEvent]) -> Run:
        watched = self.display is not None and self.display.screen.is_terminal
        with SignOfLife(BEGINNING).watching(quiet=watched) as sign:
            if self.display is None:
                return await self._consume(events, sign)
            with self.display.watching():
                return await self._consume(events, sign)

    async def _consume(self, events: AsyncGenerator[sessions.SessionEvent], sign: SignOfLife) -> Run:
        finished: Run | None = None
        # Closed before the event loop ends: the run lets go of its databases and its thread, whatever happens here.
        async with aclosing(events):
            async for event in events:
                if isinstance(event, sessions.Started):
                    self.thread = event.thread
                if isinstance(event, sessions.Finished):
                    finished = Run(event.thread, event.state)
                if self.display is not None:
                    self.display.show(event)
                sign.tell(doing_after(event))
        if finished is None:
            msg = "The run ended without a result."
            raise SnellenError(msg)
        return finished


def _finish(run: Run, options: argparse.Namespace) -> int:
    """Write what was asked for, print the JSON, and fail where the run has no answer."""
    written = _write_outputs(run, options)
    if options.json:
        print_json(run.to_json())
    else:
        _tell_files(run, written)
    if run.state.error is not None:
        raise SnellenError(run.state.error)
    return 0


def _tell_files(run: Run, written: Sequence[Path]) -> None:
    screen = console()
    if isinstance(run.answer, Picture) and not any(path.name == ANSWER_FILE for path in written):
        screen.print(f"picture {sessions.open_pictures(home()).path(run.answer.id)}", style="dim")
    for path in written:
        screen.print(f"wrote   {path}", style="dim")


def _write_outputs(run: Run, options: argparse.Namespace) -> list[Path]:
    if not (options.out or options.html):
        return []
    store = sessions.open_pictures(home())
    written = write_run(run, Path(options.out), store) if options.out else []
    if options.html:
        from interfaces.page import render

        write_text(Path(options.html), render(run, store))
        written.append(Path(options.html))
    return written


def _refuse_decision(options: argparse.Namespace) -> None:
    if options.approve or options.reject:
        msg = f"The thread {options.thread!r} waits for no decision: leave out --approve and --reject."
        raise BadInput(msg)


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


def _tool_json(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "signature": tool.signature(),
        "synonyms": list(tool.synonyms),
        "description": tool.description,
    }


def _model_json(profile: Profile, key: str) -> dict[str, str]:
    settings = getattr(profile.models, key)
    if settings is None:
        return {"key": key, "class": "", "source": "", "state": "none in this profile"}
    source = settings.folder or settings.id or ""
    package = getattr(settings, "package", None)
    return {
        "key": key,
        "class": settings.class_name,
        "source": f"{package}: {source or '.'}" if package else source,
        "state": _model_state(profile, key),
    }


def _model_state(profile: Profile, key: Any) -> str:  # noqa: ANN401 - one of the fields of the profile's table
    try:
        source = profile.source(key)
    except SnellenError:
        return "missing"
    if source.local:
        return "there" if any(Path(source.location).glob("*")) else "missing"
    from huggingface_hub import try_to_load_from_cache

    cached = any(
        isinstance(try_to_load_from_cache(source.location, name, revision=source.revision), str)
        for name in ("config.json", "model_index.json")
    )
    return "downloaded" if cached else "downloaded when first used"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"


def _hint(sentence: str) -> None:
    screen = console()
    if screen.is_terminal:
        screen.print(sentence, style="dim")
