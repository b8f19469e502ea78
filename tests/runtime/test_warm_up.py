"""What is loaded beforehand is what a question would have to wait for."""

from __future__ import annotations

from pathlib import Path

import PIL.Image
import pytest

from snellen.models import loading
from snellen.profiles import exclusive_loading
from snellen.runtime.resources import warm_up


def test_after_warming_up_a_question_loads_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = warm_up("embedded", home)
    assert not exclusive_loading.is_loading()
    monkeypatch.setattr(loading, "reading", lambda *_: pytest.fail("a model is loaded"))
    monkeypatch.setattr("snellen.memory.embedding.SentenceEmbedding._load", lambda *_: pytest.fail("a model is loaded"))
    picture = PIL.Image.open("examples/scene.png").convert("RGB")
    assert held.pool.nearest("How many cats are there?", "program", correct=True, k=1)
    assert held.vision().detect([picture], [["dog"]])
    assert held.vision().answer([picture], ["what is there ?"])
    assert held.vision().similarity([picture], ["dog"])
