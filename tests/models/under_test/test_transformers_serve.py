"""Embedded checkpoints behind a real server: ``transformers serve`` answers as the checkpoint does in this process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Timer

import httpx
import pytest
from transformers.utils.import_utils import is_serve_available

from snellen.microworld.library import pictures
from snellen.models.under_test import EndpointModel, EndpointSettings, Question, model_under_test
from snellen.profiles import load_profile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not is_serve_available(), reason="transformers serve needs `pip install 'transformers[serving]'`"
    ),
]
SECONDS = 600


@contextmanager
def transformers_serve(checkpoint: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Begin to serve a checkpoint, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = str(Path(sys.executable).with_name("transformers"))
    # The weights are stored in half precision, and read in single precision here: some answers are that close.
    options = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with (folder / f"{port}.log").open("wb") as log:
        process = subprocess.Popen([program, "serve", checkpoint, *options], stdout=log, stderr=log, env=environment)
    try:
        yield f"http://127.0.0.1:{port}/v1", process
    finally:
        process.kill()
        process.wait()


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server has ended; its log is in the test's folder"
        with suppress(httpx.TransportError):
            if httpx.get(f"{address.removesuffix('/v1')}/health").status_code == httpx.codes.OK:
                return
        time.sleep(0.2)
    pytest.fail("the server has not begun; its log is in the test's folder")


def asked() -> list[Question]:
    texts = ("What is in the image?", "Is there a dog?", "How many things are in the image?")
    shown = [one.picture() for concept in ("dog", "house", "banana", "car") for one in pictures(concept, 2, seed=1)]
    return [Question((each,), text, ("yes", "no")) for each in shown for text in texts]


@pytest.mark.parametrize("name", ["llava-upright", "idefics3-mirrored"])
def test_a_served_checkpoint_answers_as_it_does_here(name: str, tmp_path: Path) -> None:
    profile = load_profile("embedded")
    questions, folder = asked(), profile.source(f"tested.{name}").location
    here = model_under_test(profile, name)
    wanted = here.answer(questions)
    assert len(set(wanted)) > 3
    with (
        transformers_serve(folder, tmp_path) as (one, dying),
        transformers_serve(folder, tmp_path) as (other, lasting),
    ):
        wait_for(one, dying)
        wait_for(other, lasting)
        settings = EndpointSettings((one, other), folder, timeout=SECONDS, at_once=2)
        served = EndpointModel("served", settings)
        assert served.answer(questions) == wanted
        (ranking,) = served.rank(questions[1:2])
        listed = f"{questions[1].text}\n- yes\n- no\nAnswer with one of these, word for word."
        assert (ranking.basis, [ranking.text]) == ("answer", here.answer([replace(questions[1], text=listed)]))
        Timer(0.5, dying.kill).start()
        assert served.answer(questions) == wanted
        assert served.answer(questions) == wanted, "one server does it alone"
        assert f"{one} answered" in served.card.servers
        assert "does not answer" in served.card.servers
