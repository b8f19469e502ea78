"""Trials on a real Ray cluster of several nodes on this machine, whose nodes and actors are killed, cramped and odd.

They run where the extra ``ray`` is installed: pip install 'snellen[ray]'.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen.errors import SnellenError
from snellen.experiments.trial_runner import TrialRunner
from snellen.memory.artifacts import FOLDER, ArtifactStore
from snellen.memory.trials import Trial, TrialKey, TrialTable
from snellen.models.under_test import Executor, InProcess, OnRay, ray_actors, ray_cluster, ray_executor
from snellen.models.under_test.ray_worker import Asking, SentPicture, SentQuestion, TrialWorker, WorkerReply
from snellen.profiles import Profile, RaySettings, load_profile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install 'snellen[ray]'"
    ),
    pytest.mark.filterwarnings("ignore"),  # Ray's own, about its future and about files that its processes leave open
]

Cluster = Any  # Ray's, which has no types
_STORE = 80 * 2**20
_PICTURES, _QUESTIONS = 24, 96
_CHOICES = ("a dog", "a cat", "a house", "a car")


class DyingWorker(TrialWorker):
    """A worker that dies in the midst of its second shard: one of them, the first to come to it."""

    shards = 0

    def measure(self, asking: Asking, sent: Sequence[SentQuestion], *pictures: SentPicture) -> WorkerReply:
        self.shards += 1
        if self.shards == 2 and not Path(os.environ["SNELLEN_TEST_DEATH"]).exists():
            Path(os.environ["SNELLEN_TEST_DEATH"]).touch()
            os._exit(1)
        return super().measure(asking, sent, *pictures)


class CrampedWorker(TrialWorker):
    """A worker that has memory for three questions at a time."""

    def measure(self, asking: Asking, sent: Sequence[SentQuestion], *pictures: SentPicture) -> WorkerReply:
        models: Any = self._models
        if len(sent) > 3:
            self._models = _Cramped()  # type: ignore[assignment]
        try:
            return super().measure(asking, sent, *pictures)
        finally:
            self._models = models


class _Cramped:
    def rank(self, *_: object) -> None:
        raise MemoryError


@pytest.fixture(scope="module")
def head() -> Iterator[Cluster]:
    """Have a cluster whose head measures nothing, and that tells nobody of it."""
    from ray import cloudpickle, cluster_utils

    # Workers do not import tests: their classes travel whole.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        settings = {"num_cpus": 0, "object_store_memory": _STORE, "include_dashboard": False}
        made = cluster_utils.Cluster(initialize_head=True, head_node_args=settings)
        try:
            yield made
        finally:
            _leave()
            made.shutdown()


@pytest.fixture
def cluster(head: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cluster]:
    """Have the cluster without a node that measures; the nodes that a test adds end with it."""
    monkeypatch.setenv("SNELLEN_TEST_DEATH", str(tmp_path / "death"))
    monkeypatch.setattr("snellen.experiments.trial_runner.SHARD", 8)
    yield head
    _leave()
    for node in list(head.worker_nodes):
        head.remove_node(node, allow_graceful=False)


def _leave() -> None:
    """Leave the cluster, and forget which it was."""
    import ray

    ray.shutdown()
    ray_cluster._connected_to = ""
    ray_executor._POOLS.clear()


def nodes(cluster: Cluster, number: int, **more: dict[str, str]) -> list[Any]:
    return [cluster.add_node(num_cpus=1, object_store_memory=_STORE, **more) for _ in range(number)]


def profile_on(cluster: Cluster, **settings: float) -> Profile:
    chosen = RaySettings.model_validate({"address": cluster.address, "gpus": 0, **settings})
    return load_profile("embedded").model_copy(update={"executor": "ray", "ray": chosen})


def asked(executor: Executor, folder: Path, **more: Any) -> tuple[TrialTable, list[Trial]]:  # noqa: ANN401 - of `run`
    """Ask clip about drawn pictures, each several times, and return the table and what was said."""
    runner = TrialRunner(executor, TrialTable(folder), ArtifactStore(folder / FOLDER))
    dice = np.random.default_rng(5)
    drawn = [PIL.Image.fromarray(dice.integers(0, 256, (64, 64, 3), dtype=np.uint8)) for _ in range(_PICTURES)]
    ids = [runner.pictures.put(one).id for one in drawn]
    fingerprint = executor.card("clip").fingerprint
    keys = [
        TrialKey(fingerprint, (ids[number % _PICTURES],), f"what is it, {number // _PICTURES}?", _CHOICES)
        for number in range(_QUESTIONS)
    ]
    return runner.trials, runner.run("clip", keys, **more)


def assert_as_in_process(table: TrialTable, trials: Sequence[Trial], folder: Path) -> None:
    """Compare with the trials of one process: the same, each once."""
    _, wanted = asked(InProcess(load_profile("embedded")), folder)
    assert [trial.key for trial in trials] == [trial.key for trial in wanted]
    for one, other in zip(trials, wanted, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
    assert table.count() == _QUESTIONS


def test_trials_on_two_nodes_are_those_of_one_process(cluster: Cluster, tmp_path: Path) -> None:
    nodes(cluster, 2)
    executor = OnRay(profile_on(cluster))
    assert executor.at_once("clip") == 2

    table, trials = asked(executor, tmp_path / "ray")

    assert_as_in_process(table, trials, tmp_path / "local")
    assert executor.card("clip") == InProcess(load_profile("embedded")).card("clip")
    assert len(executor._pool.pictures._held) == _PICTURES
    assert len({actor.node for actor in executor._pool._actors}) == 2


def test_a_node_that_is_killed_in_the_middle_costs_no_trial_and_doubles_none(cluster: Cluster, tmp_path: Path) -> None:
    first, _ = nodes(cluster, 2)
    executor = OnRay(profile_on(cluster))
    killed: list[int] = []

    def kill(done: int, _: int) -> None:
        if done >= _QUESTIONS // 3 and not killed:
            killed.append(done)
            cluster.remove_node(first, allow_graceful=False)

    table, trials = asked(executor, tmp_path / "ray", progress=kill)

    assert killed
    assert_as_in_process(table, trials, tmp_path / "local")


def test_an_actor_that_dies_in_a_shard_costs_no_trial_and_doubles_none(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_actors, "TrialWorker", DyingWorker)
    nodes(cluster, 2)

    table, trials = asked(OnRay(profile_on(cluster)), tmp_path / "ray")

    assert (tmp_path / "death").exists()
    assert_as_in_process(table, trials, tmp_path / "local")


def test_a_shard_that_memory_is_too_little_for_is_halved(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_actors, "TrialWorker", CrampedWorker)
    nodes(cluster, 1)

    table, trials = asked(OnRay(profile_on(cluster)), tmp_path / "ray")

    assert_as_in_process(table, trials, tmp_path / "local")


def test_a_node_with_another_version_refuses_and_others_measure(cluster: Cluster, tmp_path: Path) -> None:
    # What the library's metadata says is what tells its version; this node finds others first.
    odd = tmp_path / "odd" / "pillow-0.0.1.dist-info"
    odd.mkdir(parents=True)
    (odd / "METADATA").write_text("Metadata-Version: 2.1\nName: pillow\nVersion: 0.0.1\n")
    path = os.pathsep.join(filter(None, [str(odd.parent), os.environ.get("PYTHONPATH", "")]))
    nodes(cluster, 1, env_vars={"PYTHONPATH": path})

    with pytest.raises(SnellenError, match=r"refuses, as it has pillow 0\.0\.1, not \d"):
        OnRay(profile_on(cluster)).card("clip")

    nodes(cluster, 1)
    executor = OnRay(profile_on(cluster))
    table, trials = asked(executor, tmp_path / "ray")
    assert_as_in_process(table, trials, tmp_path / "local")
    assert executor.at_once("clip") == 1
