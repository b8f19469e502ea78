"""Whether the trials and samples of investigations are still what was stored.

A trial that changed is deleted, and asked again where it is needed. A sample says which pictures a report is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.samples import SampleTable
from snellen.memory.trials import DATABASE as TRIALS
from snellen.memory.trials import TrialTable

if TYPE_CHECKING:
    from pathlib import Path

    from snellen.memory.verification import Verification


def verify_trials(folder: Path, found: Verification) -> None:
    """Check every trial of a home, adding to ``found``; the database is whole as a database.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    if not (folder / TRIALS).exists():
        return
    table = TrialTable(folder)
    found.trials = table.count()
    damaged = table.damaged_ids()
    for one in damaged:
        found.note("lost", f"trial {one}", "it is not what was measured; it is asked again where it is needed")
    if damaged and found.repaired:
        table.forget(damaged)


def verify_samples(folder: Path, found: Verification) -> None:
    """Check every sample of a home, adding to ``found``, and note which pictures samples refer to.

    Raises:
        MemoryTrouble: the disk is full or not writable.
    """
    if not (folder / SAMPLES).exists():
        return
    table = SampleTable(folder)
    found.samples = table.count()
    damaged = table.damaged()
    for key in damaged:
        investigation, experiment, number, arm = key
        place = f"the sample of {investigation}: experiment {experiment}, round {number}, arm {arm}"
        found.note("lost", place, "it does not say which picture it is")
    if damaged and found.repaired:
        table.forget(damaged)
    for picture, investigation in table.pictures().items():
        found.use(f"the investigation {investigation}", [picture])
