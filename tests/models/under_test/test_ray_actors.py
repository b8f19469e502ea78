"""Actors of a cluster are shared out, replaced and refused; the cluster here is played by a class of the test."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import OutOfMemory, SnellenError
from snellen.models.under_test.ray_cluster import ClusterNode, SentPictures, connected
from snellen.models.under_test.ray_worker import SentAdapter, WorkerReply, versions
from snellen.profiles import RaySettings
from tests.models.under_test.played_ray import ActorDiedError, PlayedRay, order, pool_on, refusing, replying


def test_an_actor_is_read_once_and_leased_again() -> None:
    ray = PlayedRay({"a": 2}, replying)
    pool = pool_on(ray)

    for _ in range(3):
        with pool.lease(order()):
            pass

    assert len(ray.living) == 1
    assert pool.card(order()).name == "clip"


@given(
    places=st.integers(1, 3),
    models=st.lists(st.sampled_from("abcd"), min_size=1, max_size=24),
    actors=st.integers(1, 4),
)
def test_whoever_asks_gets_an_actor_and_no_more_live_than_there_are_places(
    places: int, models: list[str], actors: int
) -> None:
    ray = PlayedRay({"node": places}, replying)
    pool = pool_on(ray, actors=actors)
    leased: Counter[int] = Counter()

    def measured(model: str) -> str:
        with pool.lease(order(model)) as actor:
            leased[id(actor)] += 1
            assert leased[id(actor)] == 1  # by nobody else
            time.sleep(0.001)
            leased[id(actor)] -= 1
            return actor.order.model

    with ThreadPoolExecutor(len(models)) as threads:
        assert list(threads.map(measured, models)) == models
    assert ray.most <= places


def test_idle_actors_of_another_model_make_room() -> None:
    ray = PlayedRay({"a": 1}, replying)
    pool = pool_on(ray)
    with pool.lease(order("clip")):
        pass

    with pool.lease(order("blip")) as actor:
        assert actor.order.model == "blip"
    assert ray.ended["a"] == 1


def test_an_actor_that_another_model_waits_for_is_not_ended_for_a_third() -> None:
    ray = PlayedRay({"a": 1}, replying)
    pool = pool_on(ray)
    began = threading.Event()

    def wait_for(model: str) -> None:
        began.set()
        with pool.lease(order(model)):
            pass

    with ThreadPoolExecutor(2) as threads:
        with pool.lease(order("clip")):
            waiting = [threads.submit(wait_for, "clip"), threads.submit(wait_for, "blip")]
            began.wait()
            time.sleep(0.05)
        for one in waiting:
            one.result(timeout=5)
    assert ray.ended["a"] == 1  # clip's, once nobody waited for it


def test_a_lost_actor_is_replaced() -> None:
    ray = PlayedRay({"a": 1}, replying)
    pool = pool_on(ray)
    with pool.lease(order()) as first:
        first.lost = True

    with pool.lease(order()) as second:
        assert second is not first
    assert len(ray.living) == 1


@pytest.mark.parametrize("trouble", ["version", "checkpoint"])
def test_nodes_that_refuse_are_not_tried_again_and_do_not_cost_tries(trouble: str) -> None:
    def read(node: str, model: str) -> WorkerReply:
        return replying(node, model) if node == "good" else refusing(node, trouble, "it has torch 1.0, not 2.0")

    ray = PlayedRay({"bad": 4, "worse": 4, "good": 2}, read)
    pool = pool_on(ray, tries=1)

    with pool.lease(order()) as actor:
        assert actor.node == "good"
    assert pool.places(order()) == 2
    assert (ray.ended["bad"], ray.ended["worse"]) == (1, 1)
    # Another version is one for every model, another checkpoint for one.
    assert pool.places(order("blip")) == (2 if trouble == "version" else 8)


def test_where_every_node_refuses_the_model_is_told_as_troubled() -> None:
    ray = PlayedRay({"a": 1, "b": 1}, lambda node, _: refusing(node, "version", f"it has torch {node}"))
    pool = pool_on(ray)

    for _ in range(2):
        with (
            pytest.raises(SnellenError, match=r"clip cannot be asked on the Ray cluster: .*torch [ab]"),
            pool.lease(order()),
        ):
            pass
    assert sum(ray.ended.values()) == 2
    assert not ray.living


@pytest.mark.parametrize("other", ["xyz-float32", "abc-float16"])
def test_a_node_with_another_checkpoint_or_precision_measures_nothing(other: str) -> None:
    fingerprints = {"a": "abc-float32", "b": other}
    ray = PlayedRay({"a": 1, "b": 1}, lambda node, model: replying(node, model, fingerprints[node]))
    pool = pool_on(ray)

    with pool.lease(order()) as first:
        assert first.node == "a"
        with ThreadPoolExecutor(1) as threads:
            later = threads.submit(lambda: pool.lease(order()).__enter__().node)
            time.sleep(0.05)
            assert not later.done()  # b refused; it waits for a
            with pool._changed:
                first.leased = False
                pool._changed.notify_all()
            assert later.result(timeout=5) == "a"
    assert ray.ended["b"] == 1


def test_actors_that_die_while_they_read_are_tried_so_often_and_no_more() -> None:
    tried = itertools.count()

    def dying(*_: str) -> WorkerReply:
        next(tried)
        msg = "The actor died unexpectedly before finishing this task.\nand a page more"
        raise ActorDiedError(msg)

    pool = pool_on(PlayedRay({"a": 1}, dying), tries=4)
    with pytest.raises(SnellenError, match=r"died unexpectedly before finishing this task\)\.$"), pool.lease(order()):
        pass
    assert next(tried) == 4


def test_actors_of_nodes_that_are_gone_are_dropped_at_once() -> None:
    ray = PlayedRay({"a": 1, "b": 1}, replying)
    pool = pool_on(ray)
    with pool.lease(order()), pool.lease(order()):
        pass
    del ray.cpus["a"]

    pool.lose_nodes()
    assert [node for node, _ in ray.living] == ["b"]


def test_where_memory_is_short_there_are_fewer_actors() -> None:
    first = itertools.count()

    def read(node: str, model: str) -> WorkerReply:
        return replying(node, model) if next(first) == 0 else refusing(node, "memory", "too little memory")

    pool = pool_on(PlayedRay({"a": 3}, read))
    with ThreadPoolExecutor(1) as threads:
        with pool.lease(order()):
            later = threads.submit(lambda: pool.lease(order()).__enter__().node)
            time.sleep(0.05)
        assert later.result(timeout=5) == "a"
    assert pool.places(order()) == 1


def test_where_not_even_one_fits_that_is_told() -> None:
    pool = pool_on(PlayedRay({"a": 3}, lambda node, _: refusing(node, "memory", "This machine has too little memory.")))
    with pytest.raises(OutOfMemory, match="too little memory"), pool.lease(order()):
        pass


def test_a_cluster_without_room_is_told() -> None:
    pool = pool_on(PlayedRay({"a": 1}, replying), cpus=2)
    with pytest.raises(SnellenError, match="No node of the Ray cluster has 2 CPUs"):
        pool.places(order())


@given(cpus=st.integers(0, 64), gpus=st.integers(0, 8), claims=st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_a_node_bears_what_fits(cpus: int, gpus: int, claims: float) -> None:
    born = ClusterNode("a", cpus, gpus).bears(1.0, claims)
    assert born <= cpus
    assert born * claims <= gpus
    assert born + 1 > cpus or (born + 1) * claims > gpus


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (None, r"^executor = 'ray' needs the package ray, .*pip install 'snellen\[ray\]'\.$"),
        (
            ConnectionError("Failed to connect\nto the cluster."),
            r"^No Ray cluster answers at 10\.0\.0\.1:9 \(Failed .*\)",
        ),
    ],
)
def test_where_there_is_no_ray_or_no_cluster_that_is_told(
    module: Exception | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: object) -> None:
        raise cast("Exception", module)

    job = SimpleNamespace(JobConfig=SimpleNamespace)
    played = module and SimpleNamespace(is_initialized=lambda: False, init=init, shutdown=lambda: None, job_config=job)
    monkeypatch.setitem(sys.modules, "ray", played)
    with pytest.raises(SnellenError, match=sentence):
        connected(RaySettings(address="10.0.0.1:9"))


def test_a_cluster_of_this_machine_is_started_again_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = itertools.count(1)

    def init(**_: object) -> None:
        if next(starts) < 3:
            msg = "The current node timed out during startup."
            raise Exception(msg)  # noqa: TRY002 - as Ray does

    job, began = SimpleNamespace(JobConfig=SimpleNamespace), False
    played = SimpleNamespace(is_initialized=lambda: began, init=init, shutdown=lambda: None, job_config=job)
    monkeypatch.setitem(sys.modules, "ray", played)
    monkeypatch.setattr("snellen.models.under_test.ray_cluster._connected_to", "")
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")

    assert connected(RaySettings()) is played
    assert next(starts) == 4


def test_a_picture_is_put_once_whoever_holds_it() -> None:
    ray = SimpleNamespace(put=lambda value: ("reference", value[2]), exceptions=PlayedRay.exceptions)
    store = SentPictures(ray)
    values = np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    one, same = PIL.Image.fromarray(values), PIL.Image.fromarray(values.copy())
    tall, gray = PIL.Image.fromarray(values.reshape(16, 4, 3)), PIL.Image.fromarray(values.reshape(24, 8))

    assert store.put(one) is store.put(same)
    assert len({id(store.put(each)) for each in (one, tall, gray)}) == 3


def test_an_adapter_arrives_as_it_was_and_in_its_folder_alone(tmp_path: Path) -> None:
    home, node = tmp_path / "home", tmp_path / "node"
    home.mkdir()
    node.mkdir()
    (home / "adapter_model.safetensors").write_bytes(b"weights")
    packed = SentAdapter.packed(SentAdapter("1a", "llava", "abc", home))
    packed["files"]["../beside"] = b"elsewhere"

    unpacked = SentAdapter.unpacked(packed, node)

    assert (unpacked.id, unpacked.model, unpacked.fingerprint) == ("1a", "llava", "abc")
    assert {file.name: file.read_bytes() for file in unpacked.folder.iterdir()} == {
        "adapter_model.safetensors": b"weights",
        "beside": b"elsewhere",
    }
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "node"]


def test_versions_name_the_code_and_the_libraries() -> None:
    assert set(versions()) == {"snellen", "pillow", "tokenizers", "torch", "transformers"}
    assert "+" not in versions()["torch"]
