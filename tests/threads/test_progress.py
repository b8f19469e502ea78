"""Progress of a run in a line, while its program is revised."""

from __future__ import annotations

import pytest

from snellen.threads.events import InvestigationProgress, NodeFinished
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


def test_models_that_are_asked_side_by_side_are_counted_each_by_itself() -> None:
    progress = ProgressLine()
    told = [("clip", 32, 64), ("blip", 32, 40), ("clip", 32, 64), ("blip", 8, 40)]
    lines = []
    for model, done, of in told:
        progress.take(InvestigationProgress({"phase": "measure", "model": model, "done": done, "of": of}))
        lines.append((progress.line, progress.share))
    assert lines == [
        ("asking clip: 32 of 64", (32.0, 64.0)),
        ("asking blip: 32 of 40", (32.0, 40.0)),
        ("asking clip: 64 of 64", (64.0, 64.0)),
        ("asking blip: 40 of 40", (40.0, 40.0)),
    ]
    progress.take(InvestigationProgress({"phase": "build", "done": 5, "of": 8}))
    progress.take(InvestigationProgress({"phase": "measure", "model": "clip", "done": 8, "of": 8}))
    assert progress.line == "asking clip: 8 of 8", "the next look begins anew"
