"""Jobs of a server: followed by many, stopped, limited, each user's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import BadInput, SnellenError
from snellen.memory.home import home_folder
from snellen.serving.jobs import Busy, Job, JobLimits, Jobs, decisions
from snellen.threads.events import Finished, NodeFinished, Started, Waits

ANN, BOB = Path("ann"), Path("bob")


def steps(thread: str, *events: object, gate: asyncio.Event | None = None) -> Callable[[], AsyncGenerator[Any]]:
    async def stream() -> AsyncGenerator[Any]:
        yield Started(thread, {"home": home_folder().name})
        for event in events:
            if gate is not None:
                await gate.wait()
            yield event
        if not events or not isinstance(events[-1], Waits):
            yield Finished(thread, {"home": home_folder().name})

    return stream


async def numbers(job: Job, *, since: int | None = 0) -> list[int]:
    async with aclosing(job.events(since=since)) as events:
        return [number async for number, _ in events]


async def test_a_job_runs_in_the_home_of_its_user_and_is_seen_by_nobody_else() -> None:
    jobs = Jobs()
    job = await jobs.begin(ANN, steps("t", NodeFinished("plan", {})))
    await job.over()

    assert (job.thread, job.status, job.state) == ("t", "finished", {"home": "ann"})
    assert jobs.find(ANN, "t") is job
    assert jobs.find(BOB, "t") is None
    assert jobs.of(BOB) == []


async def test_who_comes_late_sees_what_was_and_what_comes() -> None:
    gate = asyncio.Event()
    job = await Jobs().begin(ANN, steps("t", NodeFinished("a", {}), NodeFinished("b", {}), gate=gate))
    early = asyncio.create_task(numbers(job))
    only_new = asyncio.create_task(numbers(job, since=None))
    await asyncio.sleep(0)
    gate.set()

    assert await early == [0, 1, 2, 3]
    assert await only_new == [1, 2, 3]
    assert await numbers(job) == [0, 1, 2, 3]
    assert await numbers(job, since=2) == [2, 3]


async def test_only_the_last_events_are_kept() -> None:
    job = await Jobs().begin(ANN, steps("t", *(NodeFinished("a", {}) for _ in range(700))))
    await job.over()

    assert await numbers(job) == list(range(202, 702))


async def test_a_question_makes_a_job_wait() -> None:
    job = await Jobs().begin(ANN, steps("t", Waits("t", {"action_requests": []})))
    await job.over()

    assert (job.status, job.request) == ("waiting", {"action_requests": []})


async def test_a_stopped_job_lets_go_of_what_it_holds() -> None:
    let_go = []

    async def stream() -> AsyncGenerator[Any]:
        try:
            yield Started("t", None)
            await asyncio.Event().wait()
        finally:
            let_go.append(True)

    jobs = Jobs()
    job = await jobs.begin(ANN, stream)
    await jobs.stop(job)

    assert (job.status, job.error, let_go) == ("stopped", "Stopped.", [True])


async def test_a_job_that_takes_too_long_is_stopped() -> None:
    job = await Jobs(JobLimits(seconds=0.05)).begin(ANN, steps("t", NodeFinished("a", {}), gate=asyncio.Event()))
    await job.over()

    assert job.status == "stopped"
    assert "Stopped after 0 seconds" in job.error


async def test_who_asks_for_more_than_a_share_is_refused_and_others_wait_their_turn() -> None:
    gate = asyncio.Event()
    jobs = Jobs(JobLimits(running=1, waiting=1, each=1))
    first = await jobs.begin(ANN, steps("a", NodeFinished("x", {}), gate=gate))
    with pytest.raises(Busy, match="of your jobs are under way"):
        await jobs.begin(ANN, steps("b"))
    second = asyncio.create_task(jobs.begin(BOB, steps("b")))
    await asyncio.sleep(0.01)
    assert jobs.counts() == {"running": 1, "queued": 1}
    with pytest.raises(Busy, match="server is busy"):
        await jobs.begin(Path("cy"), steps("c"))
    gate.set()

    assert (await second).thread == "b"
    await first.over()
    assert first.status == "finished"


@pytest.mark.parametrize(
    ("trouble", "said"), [(BadInput("No such thread."), "No such thread."), (KeyError("/secret"), "unexpected error")]
)
async def test_what_could_not_be_begun_is_told_and_leaves_nothing(trouble: Exception, said: str) -> None:
    async def stream() -> AsyncGenerator[Any]:
        raise trouble
        yield

    jobs = Jobs()
    with pytest.raises(SnellenError, match=said) as caught:
        await jobs.begin(ANN, stream)

    assert "/secret" not in str(caught.value)
    assert jobs.of(ANN) == []


async def test_what_fails_later_is_told_by_the_job() -> None:
    async def stream() -> AsyncGenerator[Any]:
        yield Started("t", None)
        msg = "The disk is full."
        raise SnellenError(msg)

    job = await Jobs().begin(ANN, stream)
    await job.over()

    assert (job.status, job.error) == ("failed", "The disk is full.")


async def test_a_closing_server_stops_everything_and_takes_on_nothing() -> None:
    jobs = Jobs()
    gate = asyncio.Event()
    running = [await jobs.begin(ANN, steps(name, NodeFinished("x", {}), gate=gate)) for name in ("a", "b")]

    assert await jobs.close(1.0) == 2
    assert {job.status for job in running} == {"stopped"}
    with pytest.raises(Busy, match="stopping"):
        await jobs.begin(ANN, steps("c"))


async def test_jobs_that_are_over_are_forgotten_in_time() -> None:
    jobs = Jobs(JobLimits(kept=3))
    for number in range(6):
        await (await jobs.begin(ANN, steps(f"t{number}"))).over()

    assert [job.thread for job in jobs.of(ANN)][:3] == ["t5", "t4", "t3"]
    assert len(jobs.of(ANN)) <= 4


def test_decisions_are_given_once_and_looked_at_first() -> None:
    decide = decisions([{"type": "approve"}])

    assert decide({}) == [{"type": "approve"}]
    assert decide({}) is None
    with pytest.raises(BadInput, match="A decision is"):
        decisions([{"type": "run"}])
