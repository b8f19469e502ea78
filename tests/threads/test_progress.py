"""Progress of a run in a line, while its program is revised."""

from __future__ import annotations

import pytest

from snellen.threads.events import NodeFinished
from snellen.threads.progress import ProgressLine, doing_after


@pytest.mark.parametrize(
    ("event", "line", "doing"),
    [
        (NodeFinished("run", {"trouble": {"kind": "error"}}), "revising the program", "revising the program"),
        (NodeFinished("run", {"trouble": {}}), "", "judging"),
        (NodeFinished("revise", {"revisions": [{}]}), "running the revised program", "running the revised program"),
        (NodeFinished("revise", {"trouble": {}}), "", "judging"),
    ],
)
def test_a_revision_is_told_while_it_is_made(event: NodeFinished, line: str, doing: str) -> None:
    progress = ProgressLine()

    assert progress.take(event) == bool(line)
    assert (progress.line, doing_after(event)) == (line, doing)
