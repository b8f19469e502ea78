"""What every test shares: a memory of its own, and patience with loaded machines."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from snellen.memory.thread_locks import Holder
from tests.servers.postgres_server import PostgresServer, postgres_server

# A deadline for each example measures the machine's load, not our code.
settings.register_profile("snellen", deadline=None)
settings.load_profile("snellen")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep each test away from the user's memory, and from what other tests remember."""
    folder = tmp_path / "home"
    monkeypatch.setenv("SNELLEN_HOME", str(folder))
    monkeypatch.setenv("SNELLEN_RESIDENT", "off")
    monkeypatch.delenv("SNELLEN_CHECKPOINTS", raising=False)
    monkeypatch.delenv("SNELLEN_STORE", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr("snellen.memory.thread_locks._myself", Holder(interface="snellen"))
    # A loaded machine would see signs of life in every test that looks at what is said.
    monkeypatch.setattr("snellen.runtime.running.QUIET_SECONDS", 3600.0)
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Have one Postgres for all tests that ask for it."""
    # pytest's own folders are closed to the user that root runs the server as.
    folder = Path(tempfile.mkdtemp(prefix="snellen-postgres-"))
    folder.chmod(0o755)
    try:
        with postgres_server(folder / "server") as server:
            yield server
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def in_postgres(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep the checkpoints of a test in a database of its own; return its address."""
    address = postgres.new_database(f"test_{uuid4().hex}")
    monkeypatch.setenv("SNELLEN_CHECKPOINTS", address)
    return address


@pytest.fixture
def in_store(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """Keep the memory of a test in a store of its own; return its address."""
    address = postgres.new_database(f"test_{uuid4().hex}")
    monkeypatch.setenv("SNELLEN_STORE", address)
    return address


@pytest.fixture(params=["home", "store"])
def memory_place(request: pytest.FixtureRequest) -> str:
    """Keep the memory of a test in its home, and once more in a store."""
    if request.param == "store":
        request.getfixturevalue("in_store")
    return str(request.param)
