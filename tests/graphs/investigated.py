"""Processes that investigate, and are killed at random times.

    python investigated.py FOLDER SEED

Each line of stdin is a home, the seconds after which its process is killed, 0 for never, and the address of a Postgres
for its checkpoints, empty for SQLite; each line of stdout says
how it ended. In a home the file ``twice`` has a line for each trial that was about to be measured although it had
been, and ``answer`` the state of the investigation that ended.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers

from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.checkpoints import thread_ids
from snellen.memory.trials import Trial, TrialKey
from snellen.threads import investigate
from snellen.threads.events import Finished

THREAD = "t"
QUERY = "Is clip robust to rotation?"


def main() -> None:
    """Do one job after the other."""
    _, seed = sys.argv[1:]
    for line in sys.stdin:
        home, seconds, address = json.loads(line)
        child = os.fork()
        if not child:
            os.environ["SNELLEN_CHECKPOINTS"] = address
            _investigate(Path(home), int(seed))
            os._exit(0)
        if seconds:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _investigate(home: Path, seed: int) -> None:
    home.mkdir(exist_ok=True)
    os.environ["SNELLEN_HOME"] = str(home)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    measured = TrialRunner.measured

    def watched(runner: TrialRunner, model: str, shard: Sequence[TrialKey]) -> list[Trial]:
        known = runner.trials.get(shard)
        if known:
            with (home / "twice").open("a") as file:
                file.writelines(f"{key.id}\n" for key in known)
        return measured(runner, model, shard)

    TrialRunner.measured = watched  # type: ignore[method-assign, assignment]
    asyncio.run(_followed(home, seed))


async def _followed(home: Path, seed: int) -> None:
    request = investigate.InvestigationRequest(query=QUERY, models=["clip"], seed=seed, budget={"images": 120})
    begun = THREAD in thread_ids(home)
    events: Any = (
        investigate.INVESTIGATE.resume(THREAD) if begun else investigate.stream_investigate(request, thread=THREAD)
    )
    async for event in events:
        if isinstance(event, Finished):
            (home / "answer").write_text(json.dumps(asdict(event.state)))


if __name__ == "__main__":
    main()
