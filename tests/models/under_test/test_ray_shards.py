"""Shards are measured by one actor each, whatever becomes of others; the cluster is played."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import PIL.Image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from snellen.errors import BadInput, OutOfMemory, SnellenError
from snellen.models.under_test import OnRay, Question
from snellen.models.under_test.ray_worker import WorkerReply
from snellen.profiles import RaySettings, load_profile
from tests.models.under_test.played_ray import (
    ActorDiedError,
    OutOfMemoryError,
    PlayedRay,
    RayError,
    RayTaskError,
    pool_on,
    refusing,
    replying,
)

PROFILE = load_profile("embedded")


def read(node: str, model: str) -> WorkerReply:
    """Read the checkpoint that is in the repository."""
    return replying(node, model, fingerprint=f"{CHECKPOINT}-float32")


CHECKPOINT = OnRay(PROFILE)._checkpoint_here("clip")


def questions(number: int) -> list[Question]:
    dice = np.random.default_rng(1)
    shown = [PIL.Image.fromarray(dice.integers(0, 256, (4, 4, 3), dtype=np.uint8)) for _ in range(3)]
    return [Question((shown[one % 3],), f"question {one}", ("yes", "no")) for one in range(number)]


def said(node: str, sent: list[Any]) -> WorkerReply:
    """Say of each question what tells it apart: its text's number and its picture's place."""
    return replying(node, "", value=[f"{text} {places}" for places, text, _ in sent])  # type: ignore[arg-type]


def on(ray: PlayedRay, **settings: float) -> OnRay:
    chosen = RaySettings.model_validate({"gpus": 0, **settings})
    executor = OnRay(PROFILE.model_copy(update={"ray": chosen}))
    executor._pool = pool_on(ray, **settings)
    return executor


@given(number=st.integers(1, 20), fits=st.integers(1, 8), by_ray=st.booleans())
def test_a_shard_is_halved_until_it_fits_and_answers_stay_in_order(number: int, fits: int, by_ray: bool) -> None:  # noqa: FBT001
    measured: list[str] = []

    def measure(node: str, sent: list[Any]) -> WorkerReply:
        if len(sent) > fits and by_ray:
            raise OutOfMemoryError
        if len(sent) > fits:
            return refusing(node, "memory", "This machine has too little memory.")
        measured.extend(text for _, text, _ in sent)
        return replying(node, "", value=[text for _, text, _ in sent])  # type: ignore[arg-type]

    answers = on(PlayedRay({"a": 2}, read, measure), tries=1).answer("clip", questions(number))

    assert answers == measured == [f"question {one}" for one in range(number)]


def test_where_not_even_one_question_fits_that_is_told() -> None:
    ray = PlayedRay({"a": 1}, read, lambda node, _: refusing(node, "memory", "This machine has too little memory."))
    with pytest.raises(OutOfMemory, match="too little memory"):
        on(ray).rank("clip", questions(5))


def test_an_actor_that_ray_ends_for_memory_is_one_less() -> None:
    shards = itertools.count()

    def measure(node: str, sent: list[Any]) -> WorkerReply:
        if next(shards) == 0:
            raise OutOfMemoryError
        return said(node, sent)

    executor = on(PlayedRay({"a": 2}, read, measure))
    order = executor._order("clip")
    assert order is not None
    with executor._pool.lease(order), executor._pool.lease(order):
        pass
    assert executor.at_once("clip") == 2

    executor.answer("clip", questions(4))
    assert executor.at_once("clip") == 1


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_shard_whose_actor_is_lost_is_measured_by_another(lost: int) -> None:
    shards = itertools.count()

    def measure(node: str, sent: list[Any]) -> WorkerReply:
        if next(shards) < lost:
            raise ActorDiedError
        return said(node, sent)

    ray = PlayedRay({"a": 1, "b": 1}, read, measure)
    assert len(on(ray, tries=3).answer("clip", questions(4))) == 4
    assert sum(ray.ended.values()) == lost


def test_after_so_many_lost_actors_the_model_has_failed() -> None:
    def measure(*_: object) -> WorkerReply:
        msg = "The actor died unexpectedly.\nAnd a page more."
        raise ActorDiedError(msg)

    with pytest.raises(SnellenError, match=r"^clip was asked 2 times .* lost \(ActorDiedError: The .* unexpectedly\)"):
        on(PlayedRay({"a": 1}, read, measure), tries=2).rank("clip", questions(1))


@pytest.mark.parametrize(("cause", "tries"), [(ValueError("our fault"), 1), (RayError("a lost picture"), 3)])
def test_a_fault_is_raised_at_once_and_a_picture_that_was_lost_is_sent_again(cause: Exception, tries: int) -> None:
    tried = itertools.count(1)

    def measure(*_: object) -> WorkerReply:
        next(tried)
        error = RayTaskError(str(cause))
        error.cause = cause
        raise error

    with pytest.raises((RayTaskError, SnellenError)) as caught:
        on(PlayedRay({"a": 1}, read, measure), tries=3).rank("clip", questions(1))
    assert next(tried) == tries + 1
    assert isinstance(caught.value, RayTaskError) == isinstance(cause, ValueError)


def test_what_a_model_cannot_do_is_told_as_in_one_process() -> None:
    ray = PlayedRay({"a": 1}, read, lambda node, _: refusing(node, "input", "There is nothing to rank."))
    with pytest.raises(BadInput, match=r"^There is nothing to rank\.$"):
        on(ray).rank("clip", questions(1))
    assert len(ray.living) == 1


def test_questions_about_one_picture_refer_to_it() -> None:
    seen: list[Any] = []

    def measure(node: str, sent: list[Any]) -> WorkerReply:
        seen.extend(sent)
        return said(node, sent)

    on(PlayedRay({"a": 1}, read, measure)).answer("clip", questions(7))
    assert [places for places, _, _ in seen] == [(one % 3,) for one in range(7)]


def test_a_node_with_another_checkpoint_than_this_machine_is_no_use() -> None:
    with pytest.raises(SnellenError, match="has another checkpoint \\(0123-float32\\) than this machine"):
        on(PlayedRay({"a": 1}, lambda node, model: replying(node, model, fingerprint="0123-float32"))).card("clip")


def test_a_model_that_there_is_not_is_refused_without_a_cluster() -> None:
    executor = OnRay(PROFILE)
    with pytest.raises(BadInput, match="no model 'nobody'"):
        executor.card("nobody")
