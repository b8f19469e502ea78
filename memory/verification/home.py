"""The verification of a whole home: prompts, demonstrations, threads, pictures, trials, samples and adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.memory.adapters import AdapterStore
from snellen.memory.checkpoints import DATABASE as CHECKPOINTS
from snellen.memory.demonstrations import DATABASE as DEMONSTRATIONS
from snellen.memory.demonstrations import INDEX as DEMONSTRATION_INDEX
from snellen.memory.home import storing
from snellen.memory.picture_ledger import DATABASE as LEDGER
from snellen.memory.postgres.server import chosen_server
from snellen.memory.samples import DATABASE as SAMPLES
from snellen.memory.samples import SampleTable
from snellen.memory.store_tables import is_there
from snellen.memory.thread_summaries import DATABASE as SUMMARIES
from snellen.memory.trials import DATABASE as TRIALS
from snellen.memory.trials import TrialTable
from snellen.memory.verification.findings import delete_database, is_whole
from snellen.memory.verification.pictures import Draw, verify_pictures
from snellen.memory.verification.prompts import verify_prompts
from snellen.memory.verification.threads import verify_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from snellen.memory.demonstrations import DemonstrationPool
    from snellen.memory.verification.findings import Verification

    Opening = Callable[[], DemonstrationPool]


def verify_memory(
    folder: Path,
    demonstrations: Opening,
    *,
    repair: bool = True,
    state_types: Iterable[type] = (),
    draw: Draw | None = None,
    complete: Callable[[Verification], None] | None = None,
) -> Verification:
    """Check the prompts, demonstrations, threads, pictures, trials, samples and adapters of a home.

    Args:
        folder: The memory's home.
        demonstrations: Opens the demonstrations, with the embedding that their index is built by.
        repair: False only reports.
        state_types: The classes that threads may bring back from their checkpoints.
        draw: Draws pictures again that follow from a seed; None where nothing can.
        complete: Adds the samples that investigations should have and the table has not; None where nobody knows.

    Raises:
        MemoryTrouble: the disk is full or not writable, the demonstrations' database is damaged and ``repair`` is
            False, or threads lie in a Postgres that cannot be reached.
    """
    found = verify_prompts(folder, repair=repair)
    if found.can_use(folder / DEMONSTRATIONS, "the demonstrations in it are lost"):
        _check_demonstrations(demonstrations(), found)
    if found.can_use(folder / CHECKPOINTS, "the threads in it can be neither shown nor resumed"):
        verify_threads(folder, found, state_types=state_types)
    _check_summaries(folder, found)
    if (server := chosen_server()) is not None:
        from snellen.memory.verification.postgres import verify_in_postgres

        verify_in_postgres(server, folder, found, state_types=state_types)
    if found.can_use(folder / TRIALS, "what models answered is asked again where it is needed"):
        _check_trials(folder, found)
    if found.can_use(folder / SAMPLES, "reports no longer know their pictures and trials"):
        _check_samples(folder, found)
        if complete is not None:
            complete(found)
    found.can_use(folder / LEDGER, "pictures of a chosen seed count as seen by every investigation")
    _check_adapters(folder, found)
    verify_pictures(folder, found, found.users, draw=draw)
    return found


def _check_demonstrations(pool: DemonstrationPool, found: Verification) -> None:
    found.demonstrations = pool.count()
    damaged = pool.damaged_ids()
    for one in damaged:
        found.note("lost", one, "the demonstration is not what its id says")
    if damaged and found.repaired:
        pool.forget(damaged)
    found.indexes += (pool.folder / DEMONSTRATION_INDEX).exists()
    if pool.index_is_damaged():
        found.note("rebuilt", pool.folder / DEMONSTRATION_INDEX, "the search index is damaged, or of another embedding")
        if found.repaired:
            pool.refresh_index()


def _check_summaries(folder: Path, found: Verification) -> None:
    """Delete the summaries of threads if they are damaged: the next list of threads reads them anew."""
    if is_whole(folder / SUMMARIES):
        return
    found.note("rebuilt", folder / SUMMARIES, "the summaries of threads are damaged")
    if found.repaired:
        delete_database(folder / SUMMARIES)


def _check_trials(folder: Path, found: Verification) -> None:
    """Delete trials that changed: they are asked again where they are needed."""
    if not is_there(folder, TRIALS):
        return
    table = TrialTable(folder)
    found.trials = table.count()
    damaged = table.damaged_ids()
    for one in damaged:
        found.note("lost", f"trial {one}", "it is not what was measured; it is asked again where it is needed")
    if damaged and found.repaired:
        table.forget(damaged)


def _check_samples(folder: Path, found: Verification) -> None:
    """Delete samples that changed, and note which pictures the others refer to."""
    if not is_there(folder, SAMPLES):
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


def _check_adapters(folder: Path, found: Verification) -> None:
    store = AdapterStore(folder)
    found.adapters = store.count()
    for damaged in store.damaged():
        found.note("lost", damaged, "the adapter's weights are not what its name says; correct the model again")
        if found.repaired:
            with storing(damaged):
                damaged.rename(damaged.with_name(f".damaged-{damaged.name}"))
