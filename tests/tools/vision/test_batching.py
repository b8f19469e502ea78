from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import PIL.Image
import pytest

from snellen.tools.vision import Batcher, Models


class Counting:
    """Doubles numbers and remembers its batches; refuses negative ones."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, calls: Sequence[int]) -> list[int]:
        self.batches.append(list(calls))
        if any(call < 0 for call in calls):
            msg = "negative"
            raise ValueError(msg)
        return [2 * call for call in calls]


def _together(batcher: Batcher[int, int], calls: Sequence[int]) -> list[object]:
    """Call the batcher from as many threads as there are calls, all at once."""
    start = threading.Barrier(len(calls))

    def one(call: int) -> object:
        start.wait()
        try:
            return batcher([call])[0]
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_concurrent_calls_run_as_one_batch() -> None:
    run = Counting()
    assert _together(Batcher(run, window=0.2), range(8)) == [2 * call for call in range(8)]
    assert [sorted(batch) for batch in run.batches] == [list(range(8))]


def test_calls_that_arrive_while_a_batch_runs_share_the_next_one() -> None:
    release = threading.Event()
    run = Counting()

    def slow(calls: Sequence[int]) -> list[int]:
        if not run.batches:
            assert release.wait(10)
        return run(calls)

    batcher: Batcher[int, int] = Batcher(slow, window=0.0)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(batcher, [0])
        while not batcher._turn.locked():
            pass
        later = [pool.submit(batcher, [call]) for call in (1, 2, 3)]
        while len(batcher._waiting) < 3:
            pass
        release.set()
        assert [future.result() for future in (first, *later)] == [[0], [2], [4], [6]]
    assert [sorted(batch) for batch in run.batches] == [[0], [1, 2, 3]]


def test_a_large_call_is_cut_into_batches_in_order() -> None:
    run = Counting()
    assert Batcher(run, window=0.0, largest=3)(range(7)) == [2 * call for call in range(7)]
    assert [len(batch) for batch in run.batches] == [3, 3, 1]


def test_a_bad_call_fails_alone() -> None:
    outcomes = _together(Batcher(Counting(), window=0.2), [1, -1, 3])
    assert outcomes == [2, "negative", 6]


def test_no_calls_give_no_results() -> None:
    run = Counting()
    assert Batcher(run)([]) == []
    assert run.batches == []


def test_an_interrupted_batch_leaves_no_thread_waiting() -> None:
    def interrupted(calls: Sequence[int]) -> list[int]:
        raise KeyboardInterrupt

    batcher: Batcher[int, int] = Batcher(interrupted, window=0.0)
    with pytest.raises(KeyboardInterrupt):
        batcher([1])
    assert batcher._waiting == []
    assert not batcher._turn.locked()


def test_threads_load_a_model_once_and_share_its_forward_passes(
    hub_models: Models, noise: Callable[[int], PIL.Image.Image]
) -> None:
    models = Models(hub_models.profile, window=0.2)
    expected = hub_models.match([noise(number) for number in range(6)], ["a dog"] * 6)
    batches: list[int] = []
    start = threading.Barrier(6)

    def one(number: int) -> float:
        start.wait()
        return models.match([noise(number)], ["a dog"])[0]

    models.match([noise(0)], ["a dog"])
    batcher = models._batcher("match", lambda *_: pytest.fail("loaded twice"))
    run = batcher._run

    def counted(calls: Sequence[object]) -> Sequence[object]:
        batches.append(len(calls))
        return run(calls)

    batcher._run = counted
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(one, range(6)))
    assert results == pytest.approx(expected, abs=1e-5)
    assert batches == [6]
