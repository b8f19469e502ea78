"""The benchmark of revisions: tasks whose program was revised are solved without revisions, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.revisions import measure
from snellen.evaluation.tasks import EvaluationRequest
from snellen.threads.ask import make_context


@pytest.mark.slow
async def test_what_revisions_mend_and_spoil_is_the_difference_of_the_accuracies(tmp_path: Path) -> None:
    request = EvaluationRequest(family="vqa", split="val", n=16, seed=31)
    report = await measure(request, make_context("embedded", tmp_path))

    assert report["n"] == 16
    assert report["revised"] == len(report["tasks"]) >= report["helped"]
    assert all(task["revisions"] for task in report["tasks"])
    assert report["accuracy"] - report["without"] == pytest.approx((report["mended"] - report["spoilt"]) / 16)
