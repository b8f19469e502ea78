"""Ctrl-C ends a run at once, whatever its threads are doing, and a long silence is explained."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from snellen.errors import BadInput, SnellenError
from snellen.runtime import running
from snellen.runtime.running import Interrupted, SignOfLife, resumable, run

_ROOT = Path(running.__file__).parents[2]

_LOADING = """
import asyncio, signal, sys, time
from dataclasses import replace
from snellen.cli import main
from snellen.runtime import running

number, ctrl_c = sys.argv[1:]

async def load():
    loading = asyncio.create_task(asyncio.to_thread(time.sleep, 300))
    await asyncio.sleep(0.1)
    signal.raise_signal(getattr(signal, number))
    await loading

main.COMMANDS["campaign"] = replace(main.COMMANDS["campaign"], run=lambda options: running.run(load()))
signal.signal(signal.SIGINT, signal.default_int_handler if ctrl_c == "heard" else signal.SIG_IGN)
sys.argv[1:] = ["campaign", "my classes.toml"]
main.main()
"""


def test_a_run_returns_what_its_work_returns() -> None:
    async def work() -> int:
        return await asyncio.to_thread(lambda: 3)

    assert run(work()) == 3


def test_an_interrupted_run_does_not_wait_for_its_threads() -> None:
    never = threading.Event()

    async def work() -> None:
        waiting = asyncio.create_task(asyncio.to_thread(never.wait, 300))
        await asyncio.sleep(0)
        waiting.add_done_callback(lambda _: None)
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run(work())
    seconds = time.monotonic() - began
    never.set()

    assert seconds < 100


@pytest.mark.parametrize(
    ("number", "ctrl_c", "status"),
    # In the background of a shell Ctrl-C is ignored, and SIGTERM is not.
    [("SIGINT", "heard", 130), ("SIGTERM", "heard", 143), ("SIGTERM", "ignored", 143)],
)
def test_a_process_that_is_loading_a_model_leaves_at_once(number: str, ctrl_c: str, status: int) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _LOADING, number, ctrl_c],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env={**os.environ},
    )

    assert done.returncode == status
    assert done.stderr == "snellen: Interrupted; `snellen campaign 'my classes.toml'` goes on with what is left.\n"
    assert time.monotonic() - began < 200


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (KeyboardInterrupt(), Interrupted, "`snellen resume t1` goes on after the last finished step"),
        (SnellenError("The disk is full."), SnellenError, "The disk is full (then `snellen resume t1` goes on"),
        (MemoryError(), SnellenError, "smaller checkpoints (then `snellen resume t1` goes on from there)."),
        (ValueError("unexpected"), ValueError, "unexpected"),
        (BadInput("No."), BadInput, "No."),
    ],
)
def test_a_stopped_run_says_how_to_go_on(error: BaseException, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as caught, resumable(lambda: "t1"):
        raise error

    assert said in str(caught.value)


def test_what_was_not_begun_cannot_be_resumed() -> None:
    with pytest.raises(Interrupted, match="before anything was begun"), resumable(str):
        raise KeyboardInterrupt


def test_a_long_silence_is_explained_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(running, "QUIET_SECONDS", 0.02)

    with SignOfLife("loading the libraries").watching() as sign:
        time.sleep(0.5)
        sign.tell("loading the models")
        time.sleep(0.5)

    assert capsys.readouterr().err == "snellen: loading the libraries …\nsnellen: loading the models …\n"


def test_who_sees_something_happen_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with SignOfLife("loading the libraries").watching():
        pass

    assert capsys.readouterr().err == ""
