"""Summaries of threads that are kept: found by their stamp alone, forgotten for good, and no loss when damaged."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.memory.demonstrations import DemonstrationPool
from snellen.memory.thread_summaries import DATABASE, ThreadSummaryTable
from snellen.memory.verification import verify_memory

_THREADS = st.sampled_from(["one", "two", "three"])
_STAMPS = st.sampled_from(["a", "b"])
_SECRET = "a question that nobody else should read"


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(_THREADS, _STAMPS)), st.dictionaries(_THREADS, _STAMPS))
def test_what_was_kept_last_is_found_by_the_same_stamp(kept: list[tuple[str, str]], asked: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        table = ThreadSummaryTable(Path(place))
        for number, (thread, stamp) in enumerate(kept):
            table.keep({thread: {"number": number}}, {thread: stamp})
        found = table.kept(asked)
        threads = table.threads()

    last = {thread: (number, stamp) for number, (thread, stamp) in enumerate(kept)}
    assert found == {
        thread: {"number": last[thread][0]}
        for thread, stamp in asked.items()
        if thread in last and last[thread][1] == stamp
    }
    assert threads == set(last)


def test_what_is_forgotten_or_replaced_leaves_the_disk(tmp_path: Path) -> None:
    table = ThreadSummaryTable(tmp_path)
    table.keep({"mine": {"said": _SECRET}, "yours": {"said": _SECRET}}, {"mine": "a", "yours": "a"})
    assert any(_SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())
    table.keep({"yours": {"said": "something"}}, {"yours": "b"})
    table.forget(["mine"])

    assert table.threads() == {"yours"}
    assert not any(_SECRET.encode() in file.read_bytes() for file in tmp_path.iterdir())


def test_damaged_summaries_are_no_loss(tmp_path: Path) -> None:
    ThreadSummaryTable(tmp_path).keep({"mine": {}}, {"mine": "a"})
    (tmp_path / DATABASE).write_bytes(b"no database " * 500)

    def verified(*, repair: bool) -> list[tuple[str, str]]:
        result = verify_memory(tmp_path, lambda: DemonstrationPool(tmp_path), repair=repair)
        return [(one.kind, one.place) for one in result.findings]

    found = [("rebuilt", str(tmp_path / DATABASE))]
    assert verified(repair=False) == found
    assert verified(repair=True) == found
    assert verified(repair=True) == []
    assert [file.name for file in tmp_path.glob(f"{DATABASE}*.damaged*")] == []
