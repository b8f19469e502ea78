"""What ``snellen learn`` and ``snellen resume`` do with threads that learn."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from interfaces import following, learning
from interfaces.approving import decide, tell_how_to_decide
from interfaces.display import print_json
from interfaces.learning_display import LearningDisplay, Line, phase_in_words, print_line, state_json, trouble
from interfaces.running import BEGINNING, SignOfLife, resumable, run
from profiles.errors import BadInput, SnellenError

if TYPE_CHECKING:
    from graphs.states import Json, LearnState


def learn(options: argparse.Namespace) -> int:
    """Learn a concept from pictures."""
    if options.method == "lora":
        return _compare(options)
    follower = _Follower(options.json)
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
    decision = "approve" if options.approve else "reject" if options.reject else ""
    if decision and asyncio.run(learning.waiting(options.thread)) is None:
        msg = f"The thread {options.thread!r} waits for no decision: leave out --{decision}."
        raise BadInput(msg)
    follower = _Follower(options.json, decision=decision)
    events = learning.resume_learn(options.thread, profile=options.profile, decide=follower.asked)
    return _finish(follower, events)


@dataclass
class _Follower:
    """Follows a thread, shows it, and asks about what may be learned."""

    quiet: bool
    decision: str = ""
    """A decision that was given beforehand: ``approve`` or ``reject``."""
    thread: str = ""
    state: LearnState | None = None
    """How the thread ended; None while it waits."""
    request: Json | None = None
    display: LearningDisplay = field(default_factory=LearningDisplay)

    def asked(self, request: Json) -> Sequence[Json] | None:
        """Decide about each action; None where nobody is there to be asked."""
        with self.display.silent():
            return decide(request, beforehand=self.decision, alone=self.quiet)

    async def follow(self, events: AsyncGenerator[learning.LearningEvent]) -> None:
        """Follow the events to their end."""
        watched = not self.quiet and self.display.screen.is_terminal
        with SignOfLife(BEGINNING).watching(quiet=watched) as sign, _bar(self.display, shown=watched):
            await self._consume(events, sign)

    async def _consume(self, events: AsyncGenerator[learning.LearningEvent], sign: SignOfLife) -> None:
        # Closed before the event loop ends: the run lets go of its databases and its thread, whatever happens here.
        async with aclosing(events):
            async for event in events:
                match event:
                    case learning.LearningStarted(thread=thread):
                        self.thread = thread
                    case following.Waits(request=request):
                        self.request = request
                    case learning.LearningFinished(state=state):
                        self.state = state
                if not self.quiet:
                    self.display.show(event)
                sign.tell(_doing(event))


def _bar(display: LearningDisplay, *, shown: bool) -> AbstractContextManager[None]:
    return display.watching() if shown else nullcontext()


def _finish(follower: _Follower, events: AsyncGenerator[learning.LearningEvent]) -> int:
    """Follow, print the JSON, tell how to decide about what waits, and fail where nothing could be learned."""
    with resumable(lambda: follower.thread):
        run(follower.follow(events))
    state = follower.state
    if follower.quiet:
        print_json(_told(follower))
    if state is None:
        tell_how_to_decide(follower.thread)
        return 0
    why = trouble(learning.learned_of(state))
    if why is not None:
        raise SnellenError(why)
    return 0


def _told(follower: _Follower) -> Json:
    state = follower.state or asyncio.run(learning.read_thread(follower.thread))
    return state_json(follower.thread, state, waits=None if follower.state else follower.request)


def _phase(told: Json) -> str:
    """Say which phase a need is in, without counts: a sign of life is given once for each."""
    return phase_in_words({name: told[name] for name in ("need", "phase") if name in told})


def _doing(event: learning.LearningEvent) -> str:
    match event:
        case learning.LearningStarted():
            return "collecting pictures"
        case following.LearningProgress(told=told):
            return _phase(told)
        case following.Waits():
            return "waiting for a decision"
        case _:
            return "going on"
