"""What every test shares: a memory of its own, and patience with loaded machines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# A deadline for each example measures the machine's load, not our code.
settings.register_profile("snellen", deadline=None)
settings.load_profile("snellen")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep each test away from the user's memory, and from what other tests remember."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SNELLEN_HOME", str(folder))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # A loaded machine would see signs of life in every test that looks at what is said.
    monkeypatch.setattr("interfaces.running.QUIET_SECONDS", 3600.0)
    return folder
