"""What each command of the command line does; ``snellen.cli.main`` parses, calls one of these, and tells its errors.

Every function takes the parsed options and returns the exit status.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from snellen.cli.display import console, print_json, print_table
from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home
from snellen.profiles import EndpointUnderTest, Profile, load_profile
from snellen.summaries.runs import in_words
from snellen.threads import ask as sessions
from snellen.threads import directory
from snellen.threads.thread import graph_of
from snellen.values import from_json

if TYPE_CHECKING:
    from snellen.tools.registry import Tool

_LINE: Final = 100
"""Characters of an instruction in a table."""


def ask(options: argparse.Namespace) -> int:
    """Answer an instruction about pictures."""
    from snellen.cli import ask as ask_commands

    return ask_commands.ask(options)


def correct(options: argparse.Namespace) -> int:
    """Say what was wrong with the answer of a run, or have models learn what an investigation found."""
    from snellen.cli import ask as ask_commands
    from snellen.cli import investigate as investigation_commands

    if asyncio.run(graph_of(options.thread)) == "investigate":
        return investigation_commands.correct(options)
    return ask_commands.correct(options)


def resume(options: argparse.Namespace) -> int:
    """Go on with a run where it stopped."""
    from snellen.cli import (
        ask as ask_commands,
    )
    from snellen.cli import (
        conversation,
    )
    from snellen.cli import (
        investigate as investigation_commands,
    )
    from snellen.cli import (
        learn as learning_commands,
    )

    found = {
        "ask": ask_commands.resume,
        "chat": conversation.resume,
        "learn": learning_commands.resume,
        "investigate": investigation_commands.resume,
    }
    return found[asyncio.run(graph_of(options.thread))](options)


def investigate(options: argparse.Namespace) -> int:
    """Find out about models by experiments."""
    from snellen.cli import investigate as investigation_commands

    return investigation_commands.investigate(options)


def reports(options: argparse.Namespace) -> int:
    """List the investigations so far."""
    from snellen.cli import investigate as investigation_commands

    return investigation_commands.reports(options)


def report(options: argparse.Namespace) -> int:
    """Show an investigation again."""
    from snellen.cli import investigate as investigation_commands

    return investigation_commands.report(options)


def export(options: argparse.Namespace) -> int:
    """Write what was measured in the forms of other tools."""
    from snellen.cli import export as export_commands

    return export_commands.export(options)


def prove(options: argparse.Namespace) -> int:
    """Build a benchmark of free answers, or run models on one."""
    from snellen.cli import prove as freeform_commands

    return freeform_commands.prove(options)


def pairs(options: argparse.Namespace) -> int:
    """Build a benchmark of pairs, or have models judge one."""
    from snellen.cli import pairs as pair_commands

    return pair_commands.pairs(options)


def campaign(options: argparse.Namespace) -> int:
    """Ask one query of many things."""
    from snellen.cli import campaign as campaign_commands

    return campaign_commands.campaign(options)


def learn(options: argparse.Namespace) -> int:
    """Learn a concept from pictures."""
    from snellen.cli import learn as learning_commands

    return learning_commands.learn(options)


def serve(options: argparse.Namespace) -> int:
    """Serve the page and the open interfaces."""
    from snellen.cli import serve as serve_command

    return serve_command.serve(options)


def mcp(options: argparse.Namespace) -> int:
    """Serve an MCP client on standard input and output."""
    from snellen.cli import mcp as mcp_command

    return mcp_command.mcp(options)


def chat(options: argparse.Namespace) -> int:
    """Serve the page to the owner of this memory."""
    from snellen.cli import chat as chat_commands

    return chat_commands.chat(options)


def tokens(options: argparse.Namespace) -> int:
    """Say who may use a server."""
    from snellen.cli import tokens as token_commands

    return token_commands.tokens(options)


def threads(options: argparse.Namespace) -> int:
    """List the runs so far, or delete some."""
    if options.action == "delete":
        from snellen.cli import threads as thread_commands

        return thread_commands.delete(options)
    if options.ids or options.older_than or options.yes:
        msg = "ID…, --older-than and --yes are for `snellen threads delete ID…`: leave them out to list threads."
        raise BadInput(msg)
    found = asyncio.run(directory.list_threads())
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
            _shortened(one.reason or one.outcome) or in_words(from_json(one.answer)),
        )
        for one in found
    ]
    print_table(("thread", "updated (UTC)", "status", "judged", "instruction", "answer or outcome"), rows)
    if not rows:
        _hint('No runs yet; begin one with `snellen ask PICTURE "INSTRUCTION"`.')
    return 0


def studio(options: argparse.Namespace) -> int:
    """Run LangGraph's server for Studio, until it is told to stop."""
    from snellen.serving.studio.launch import launch

    launch(options.host, options.port)
    return 0


def tools(options: argparse.Namespace) -> int:
    """List what programs may call."""
    from snellen.tools.registry import catalogue

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
    """List the checkpoints that tools use and those that are examined, and whether they are there."""
    profile = load_profile(options.profile)
    found = [_model_json(profile, key) for key in type(profile.models).model_fields]
    tested = [_tested_json(profile, name) for name in profile.tested]
    if options.json:
        told = {"profile": profile.name, "device": profile.device, "dtype": profile.dtype}
        print_json({**told, "models": found, "tested": tested})
        return 0
    rows = [(one["key"], one["class"], one["source"], one["state"]) for one in found]
    title = f"profile {profile.name}: what tools use"
    print_table(("key", "class", "folder or id", "state"), rows, title=title)
    rows = [(one["name"], one["about"], one["source"], one["state"]) for one in tested]
    title = "what investigations examine (`snellen investigate … --models NAME`)"
    print_table(("name", "what it is", "folder, id or address", "state"), rows, title=title)
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
    from snellen.cli.memory import ACTIONS

    return ACTIONS[options.action](options)


def evaluate(options: argparse.Namespace) -> int:
    """Measure a profile on tasks with known answers, or what learning is worth to it."""
    from snellen.cli.evaluate import EVALUATIONS

    return EVALUATIONS[options.what](options)


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


def _tested_json(profile: Profile, name: str) -> dict[str, str]:
    settings = profile.tested[name]
    told = {"name": name, "about": settings.about}
    if isinstance(settings, EndpointUnderTest):
        return {**told, "class": "", "source": f"{settings.model} at {settings.url}", "state": "an endpoint"}
    source = settings.folder or settings.id or ""
    adapted = f" with {settings.adapter}" if settings.adapter else ""
    key = f"tested.{name}"
    return {**told, "class": settings.class_name, "source": source + adapted, "state": _model_state(profile, key)}


def _model_state(profile: Profile, key: Any) -> str:  # noqa: ANN401 - one of the fields of the profile's table
    try:
        source = profile.source(key)
    except SnellenError:
        return "missing"
    if source.local:
        return "there" if any(Path(source.location).glob("*")) else "missing"
    from snellen.profiles.hub_access import is_downloaded

    return "downloaded" if is_downloaded(source) else "downloaded when first used"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else line[: _LINE - 1] + "…"


def _hint(sentence: str) -> None:
    screen = console()
    if screen.is_terminal:
        screen.print(sentence, style="dim")
