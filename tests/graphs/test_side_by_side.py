"""Investigations whose models answer in any order, and whose pictures are drawn ahead, are those of a plain loop."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import SnellenError
from snellen.experiments.design import Arm
from snellen.experiments.model_shards import AskedModels, ModelShards, ShardMeasurer
from snellen.experiments.report import Report
from snellen.experiments.resources import DrawnPicture
from snellen.graphs.investigate import builder
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.samples import SampleTable
from snellen.memory.trials import TrialTable
from snellen.models.under_test import Question, Ranking
from tests.experiments.investigating import Oracle
from tests.graphs.test_investigate import CONFIG, FRAGILE, GOOD, POOR, context, state

QUERIES = {
    "Are these models robust to noise?": {"images": 60},
    "Can these models recognize birds?": {"images": 60},
}


@dataclass
class Scrambled(Oracle):
    """Models that take their time, any time, for several shards at once.

    Attributes:
        dice: Say how long.
    """

    dice: random.Random = field(default_factory=random.Random)
    answering: threading.Lock = field(default_factory=threading.Lock)

    def at_once(self, model: str) -> int:
        """Say how many shards may be under way."""
        return 1 + len(model) % 3

    def rank(self, model: str, questions: Sequence[Question]) -> list[Ranking]:
        """Answer as the others do, later."""
        time.sleep(self.dice.choice([0.0, 0.001, 0.02]))
        with self.answering:
            return super().rank(model, questions)


async def _serially(
    measurer: ShardMeasurer, asked: Sequence[ModelShards], told: Callable[[str, int], None]
) -> AskedModels:
    """Ask one model after the other, one shard after the other."""
    outcome = AskedModels()
    for one in asked:
        try:
            for shard in one.shards:
                measurer.trials.add(measurer.measured(one.model, shard))
                outcome.trials += len(shard)
                told(one.model, len(shard))
        except SnellenError as error:
            outcome.troubles[one.model] = error
    return outcome


def _models() -> dict[str, Any]:
    rates = {"sound": GOOD, "fragile": FRAGILE, "poor": POOR, "gone": GOOD, "fair": lambda *_: 0.8}
    return {"rates": rates, "broken": {"gone": "The endpoint does not answer."}}


async def _found(folder: Path, oracle: Oracle, query: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - of an examination
    """Investigate; return all that is left of it, apart from how long it took."""
    await asyncio.to_thread(folder.mkdir)
    begun = state(query, list(oracle.rates), seed=5, budget=QUERIES[query])
    events: Counter[tuple[str, int]] = Counter()
    found: dict[str, Any] = {}
    async for mode, event in builder.compile().astream(
        begun, CONFIG, context=context(folder, oracle, **more), stream_mode=["custom", "values"]
    ):
        if mode == "values":
            found = dict(event)
        elif event["investigating"]["phase"] == "measure":
            events[event["investigating"]["model"], event["investigating"]["of"]] += event["investigating"]["done"]
    report = Report.model_validate(found["report"])
    samples = [SampleTable(folder).of("t", number) for number in range(len(report.experiments))]
    assert max(oracle.asked.values()) == 1, "each trial is measured once"
    assert report.trials == sum(oracle.asked.values()) == TrialTable(folder).count()
    return {
        "report": report.model_dump(exclude={"seconds"}),
        "samples": samples,
        "asked": oracle.asked,
        "told": events,
        "pictures": ArtifactStore(folder / FOLDER).ids(),
        "shown": {one for each in samples for sample in each for one in (sample.picture, sample.plain)},
    }


@pytest.mark.parametrize("query", QUERIES)
async def test_who_answers_first_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    monkeypatch.setattr("snellen.experiments.trial_runner.SHARD", 5)  # several shards of each look
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("snellen.nodes.investigate.experiments.ask_side_by_side", _serially)
        plain = await _found(tmp_path / "plain", Oracle(**_models()), query, draws_ahead=False)
    assert plain["pictures"] == plain["shown"]
    for turn in range(2):
        oracle = Scrambled(**_models(), dice=random.Random(turn))
        assert await _found(tmp_path / f"scrambled-{turn}", oracle, query) == plain


async def test_a_picture_is_drawn_once_and_what_is_not_needed_is_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.experiments.investigating import Watched

    drawn, draw = Counter[str](), Watched.draw

    def counted(examination: Watched, arm: Arm, seed: str, **more: bool) -> DrawnPicture:
        drawn[seed] += 1
        return draw(examination, arm, seed, **more)

    monkeypatch.setattr(Watched, "draw", counted)
    query = "Are these models robust to noise?"
    left = await _found(tmp_path / "home", Scrambled(**_models()), query)
    assert max(drawn.values()) == 1
    assert left["pictures"] == left["shown"]
    assert sum(map(len, left["samples"])) < len(drawn), "an experiment ended before what was drawn ahead was needed"
