"""Libraries that are hidden from one import are there for every other."""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path

import pytest

from snellen.lean_imports import importing_without


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A library that nothing has imported yet."""
    name = "a_library_that_is_large"
    (tmp_path / f"{name}.py").write_text("SIZE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_a_hidden_library_cannot_be_imported_meanwhile(library: str) -> None:
    with importing_without(library), pytest.raises(ModuleNotFoundError, match=library) as caught:
        importlib.import_module(library)

    assert caught.value.name == library
    assert importlib.import_module(library).SIZE == 1


def test_an_imported_library_stays(library: str) -> None:
    before = importlib.import_module(library)

    with importing_without(library):
        assert importlib.import_module(library) is before


def test_another_thread_does_not_notice(library: str) -> None:
    sizes = []
    with importing_without(library):
        other = threading.Thread(target=lambda: sizes.append(importlib.import_module(library).SIZE))
        other.start()
        other.join()

    assert sizes == [1]


def test_finders_are_left_as_they_were() -> None:
    before = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), importing_without("anything"):
        _ = 1 / 0

    assert sys.meta_path == before
