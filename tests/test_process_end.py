"""A process that ends without waiting for its threads still does what was left to do."""

from __future__ import annotations

import subprocess
import sys

_ENDS = """
import sys, threading, time
from snellen.process_end import at_process_end, end_process

threading.Thread(target=time.sleep, args=(600,)).start()

def fail():
    raise OSError("gone")

def told():
    sys.stdout.write("done\\n")
    sys.stdout.flush()

def interrupted():
    raise KeyboardInterrupt

for work in (fail, told, told, *([interrupted] if sys.argv[1:] else [])):
    at_process_end(work)
end_process(7)
"""


def ended(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _ENDS, *words], capture_output=True, text=True, timeout=120, check=False
    )


def test_what_is_left_is_done_once_and_no_thread_is_waited_for() -> None:
    process = ended()
    assert (process.returncode, process.stdout, process.stderr) == (7, "done\n", "")


def test_a_further_interruption_ends_it_with_the_same_status() -> None:
    assert ended("interrupted").returncode == 7
