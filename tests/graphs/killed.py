"""A process that follows a thread and is killed on leaving a node (or inside a step), for ``test_kill.py``.

    python killed.py LOG ask THREAD PICTURE NODE|step|none
    python killed.py LOG resume THREAD…

Every node that begins is a line ``THREAD NODE`` of LOG; answers go to stdout as JSON.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import nodes.inference
from nodes.context import Context
from tools.registry import ToolContext, tool
from tools.values import Picture

NODES = ("recall", "plan", "write", "run", "judge", "remember")
PROGRAM = """\
WORD0=PROBE(image=IMAGE,word='first')
WORD1=PROBE(image=IMAGE,word='second')
ANSWER0=EVAL(expr='{WORD0} == {WORD1}')
FINAL_RESULT=RESULT(var=ANSWER0)
"""

log = Path(sys.argv[1])
victim = sys.argv[5] if sys.argv[2] == "ask" else "none"
current = ""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def note(name: str) -> None:
    with log.open("a") as file:
        file.write(f"{current} {name}\n")


def observed(name: str, node: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(node)
    async def wrapper(*args: object, **kwargs: object) -> object:
        note(name)
        update = await node(*args, **kwargs)
        if name == victim:
            die()
        return update

    return wrapper


# Before the graph is imported: it takes the nodes from here.
for each in NODES:
    setattr(nodes.inference, each, observed(each, getattr(nodes.inference, each)))


@tool("PROBE")
def probe(context: ToolContext, image: Picture, word: str) -> str:
    """Say how wide a picture is."""
    if victim == "step" and word == "second":
        die()
    return str(context.pictures.get(image.id).width)


async def follow(events: AsyncIterator[Any]) -> None:
    async for event in events:
        if type(event).__name__ == "Finished":
            sys.stdout.write(json.dumps({event.thread: event.state.answer, "error": event.state.error}) + "\n")


async def main() -> None:
    global current  # noqa: PLW0603 - the log names the thread at work
    from interfaces import sessions
    from tests.graphs.scripted import ScriptedReasoner, make_context

    def scripted(profile: str, folder: Path, *, own: object = None) -> Context:
        return make_context(folder, reasoner=ScriptedReasoner(program=PROGRAM))

    sessions.make_context = scripted
    if sys.argv[2] == "ask":
        current = sys.argv[3]
        await follow(sessions.stream_ask([sys.argv[4]], "Is it as wide as it is?", expected="yes", thread=current))
        return
    for current in sys.argv[3:]:
        await follow(sessions.resume(current))


asyncio.run(main())
