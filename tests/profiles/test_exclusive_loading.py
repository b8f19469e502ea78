"""Whoever reads a model with transformers does it alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snellen.memory.embedding import SentenceEmbedding
from snellen.profiles import exclusive_loading, load_profile
from snellen.reasoning.learned import reader


def _embed() -> None:
    SentenceEmbedding(load_profile("embedded"))._load()


def _read() -> None:
    reader.reader_with({})


@pytest.mark.parametrize(
    ("load", "what"), [(_embed, "snellen.memory.embedding.MeanPooling"), (_read, f"{reader.__name__}.new_network")]
)
def test_models_that_read_text_are_loaded_alone(
    load: Callable[[], None], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned = []

    def loads(*_: Path) -> Any:  # noqa: ANN401 - a model
        owned.append(exclusive_loading._ALONE._is_owned())  # type: ignore[attr-defined]
        raise EOFError

    monkeypatch.setattr(what, loads)
    with pytest.raises(EOFError):
        load()
    assert owned == [True]
    assert not exclusive_loading.is_loading()
