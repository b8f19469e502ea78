"""A picture, and a scripted Reasoner that answers about it: wrongly first, and rightly once it is corrected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import PIL.Image
import pytest

from snellen.runtime.context import Context
from snellen.threads import ask
from tests.graphs.scripted import RIGHT, WRONG, Critic, fault, make_context


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Context]:
    def context(_: str, home: Path, *__: object, **___: object) -> Context:
        return make_context(home, reasoner=Critic(program=WRONG, globally=(fault("program"),), corrected=RIGHT))

    monkeypatch.setattr(ask, "make_context", context)
    return context


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    place = tmp_path / "picture.png"
    PIL.Image.new("RGB", (8, 8), "red").save(place)
    return place
