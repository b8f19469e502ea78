"""Too little memory is named as such, whatever library says so and however; nothing else is."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from snellen.cli import main
from snellen.errors import BadInput, OutOfMemory, SnellenError, out_of_memory
from snellen.memory.home import MemoryTrouble, storing
from snellen.serving.jobs import Jobs
from tests.servers.chat_server import SCENE

_ROOT = Path(__file__).parents[2]


class OutOfMemoryError(RuntimeError):
    """Stands for torch's."""


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (MemoryError(), "smaller pictures"),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
                "to allocate 4000000000 bytes. Error code 12 (Cannot allocate memory)"
            ),
            "smaller pictures",
        ),
        (OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), 'device = "cpu"'),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "smaller pictures"),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "smaller pictures"),
        (RuntimeError("can't start new thread"), "smaller pictures"),
        (RuntimeError("std::bad_alloc"), "smaller pictures"),
        (OSError("codec configuration error when writing image file"), "smaller pictures"),
        (OutOfMemory("As it was told."), "As it was told."),
    ],
)
def test_shortages_are_recognised_behind_what_follows_from_them(error: Exception, remedy: str) -> None:
    wrapped = SnellenError("The checkpoint is damaged.")
    wrapped.__cause__ = error

    for one in (error, wrapped):
        told = out_of_memory(one)
        assert told is not None
        assert remedy in str(told)
        assert str(told).count(".") == 1


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mat1 and mat2 shapes cannot be multiplied"),
        OSError(errno.ENOSPC, "No space left on device"),
        BadInput("The endpoint said 'out of memory'; try another one."),
        ValueError("memory"),
    ],
)
def test_other_errors_are_left_alone(error: Exception) -> None:
    assert out_of_memory(error) is None


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOMEM, "Cannot allocate memory"), sqlite3.OperationalError("out of memory")]
)
def test_the_memory_of_the_machine_is_not_taken_for_the_disk(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(MemoryTrouble, match="too little memory; end other programs"), storing(tmp_path):
        raise error


async def test_a_job_says_so_too(tmp_path: Path) -> None:
    async def work():  # type: ignore[no-untyped-def]  # noqa: ANN202 - a stream of events that has none
        raise MemoryError
        yield

    with pytest.raises(OutOfMemory, match="too little memory"):
        await Jobs().begin(tmp_path, work)


# Libraries are loaded before memory is short: some of them never end where there is none for them.
_CRAMPED = """
import resource, sys
import torch, transformers, numpy, PIL.Image, faiss, scipy.special, sklearn.metrics, sentence_transformers
from transformers import BlipForQuestionAnswering, CLIPModel, OwlViTForObjectDetection
import snellen.cli.ask_display, snellen.threads.ask
from snellen.cli.main import main
import snellen.graphs.ask, snellen.runtime.resources

with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + int(sys.argv.pop(1)) * 2**20, resource.RLIM_INFINITY))
sys.exit(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to RLIMIT_AS")
@pytest.mark.slow
def test_a_run_that_does_not_fit_says_so_and_can_be_resumed(home: Path) -> None:
    environment = os.environ | {"SNELLEN_HOME": str(home), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    # Else each thread that waits for another reserves 64 MiB: what fits would depend on the load of the machine.
    environment["MALLOC_ARENA_MAX"] = "1"
    words = ["128", "ask", str(SCENE), "How many dogs are there?", "--thread", "mine"]  # it takes about 300 MiB
    done = subprocess.run(
        [sys.executable, "-c", _CRAMPED, *words],
        env=environment, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert done.returncode == 1, done.stdout + done.stderr
    assert "snellen: This machine has too little memory for this" in done.stderr
    # With so little memory, Python may not even be able to clean up, and says so after everything else.
    assert "Traceback" not in done.stderr.partition("Exception ignored")[0]
    assert "`snellen resume mine` goes on from there" in done.stderr
    assert main.main(("resume", "mine")) == 0
