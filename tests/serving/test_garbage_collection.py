"""Collections of garbage stay short, however much there is that is none."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from snellen.serving.garbage_collection import keep_collections_short


@pytest.fixture
def callbacks() -> Iterator[None]:
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before
    gc.unfreeze()


@pytest.mark.usefixtures("callbacks")
def test_what_outlives_a_long_collection_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.serving.garbage_collection._TOO_LONG", 0.0)
    lasting = [[number] for number in range(1_000)]
    keep_collections_short()
    gc.collect()

    assert gc.get_freeze_count() >= len(lasting)
    assert len(gc.get_objects()) < len(lasting)


@pytest.mark.usefixtures("callbacks")
def test_short_collections_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("snellen.serving.garbage_collection._TOO_LONG", 60.0)
    keep_collections_short()
    gc.collect()

    assert gc.get_freeze_count() == 0
