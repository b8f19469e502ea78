"""What ``snellen learn`` and ``snellen resume`` do with threads that learn."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from snellen.cli.confirmation import decision_of, tell_how_to_decide
from snellen.cli.display import print_json, print_line
from snellen.cli.follower import Follower
from snellen.cli.learning_display import LearningDisplay, state_json
from snellen.errors import BadInput, SnellenError
from snellen.runtime.running import BEGINNING, SignOfLife, resumable, run
from snellen.summaries.learning import Line, phase_in_words
from snellen.threads import events as following
from snellen.threads import learn as learning

if TYPE_CHECKING:
    from snellen.graphs.states import Json, LearnState


def learn(options: argparse.Namespace) -> int:
    """Learn a concept from pictures."""
    if options.method == "lora":
        return _compare(options)
    follower = _follower(options)
    events = learning.stream_learn(
        options.concept,
        tools=options.tool or (),
        pictures=options.pictures,
        profile=options.profile,
        seed=options.seed,
        approve=options.approve,
        thread=options.thread,
        decide=follower.asked,
    )
    return _finish(follower, events)


def _compare(options: argparse.Namespace) -> int:
    """Learn by LoRA instead of prompts, to compare the two."""
    if options.approve or options.thread:
        msg = "--method lora compares and stores nothing: leave out --approve and --thread."
        raise BadInput(msg)
    display = LearningDisplay()

    def tell(told: Json) -> None:
        sign.tell(_phase(told))
        if not options.json:
            display.tell(told)

    work = learning.compare_lora(
        options.concept,
        tools=options.tool or (),
        pictures=options.pictures,
        profile=options.profile,
        seed=options.seed,
        tell=tell,
    )
    watched = not options.json and display.screen.is_terminal
    with SignOfLife(BEGINNING).watching(quiet=watched) as sign, _bar(display, shown=watched):
        came = run(work)
    if options.json:
        print_json({"method": "lora", "adapted": [one.to_json() for one in came]})
    else:
        for one in came:
            print_line(display.screen, Line("  ", str(one)))
    if all(one.trouble for one in came):
        raise SnellenError("Nothing was learned. " + " ".join(dict.fromkeys(one.trouble for one in came)))
    return 0


def resume(options: argparse.Namespace) -> int:
    """Go on with a thread that learns; what was tuned is not tuned again."""
    if options.out or options.html:
        msg = f"The thread {options.thread!r} learns and has no result pictures: leave out --out and --html."
        raise BadInput(msg)
    decision = decision_of(options)
    follower = _follower(options, decision=decision)
    events = learning.LEARN.resume(options.thread, profile=options.profile, decide=follower.asked)
    return _finish(follower, events)


def _follower(options: argparse.Namespace, *, decision: str = "") -> Follower[LearnState]:
    return Follower(LearningDisplay(), _doing, quiet=options.json, decision=decision)


def _bar(display: LearningDisplay, *, shown: bool) -> AbstractContextManager[None]:
    return display.watching() if shown else nullcontext()


def _finish(follower: Follower[LearnState], events: AsyncGenerator[learning.LearningEvent]) -> int:
    """Follow, print the JSON, tell how to decide about what waits, and fail where nothing could be learned."""
    with resumable(lambda: follower.thread):
        run(follower.follow(events))
    ended = follower.finished
    if follower.quiet:
        print_json(_told(follower))
    if ended is None:
        tell_how_to_decide(follower.thread)
        return 0
    why = learning.trouble(learning.learned_of(ended.state))
    if why is not None:
        raise SnellenError(why)
    return 0


def _told(follower: Follower[LearnState]) -> Json:
    ended = follower.finished
    state = ended.state if ended else asyncio.run(learning.LEARN.read(follower.thread))
    return state_json(follower.thread, state, waits=follower.request)


def _phase(told: Json) -> str:
    """Say which phase a need is in, without counts: a sign of life is given once for each."""
    return phase_in_words({name: told[name] for name in ("need", "phase") if name in told})


def _doing(event: learning.LearningEvent) -> str:
    match event:
        case following.Started():
            return "collecting pictures"
        case following.LearningProgress(told=told):
            return _phase(told)
        case following.Waits():
            return "waiting for a decision"
        case _:
            return "going on"
