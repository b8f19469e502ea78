"""A Postgres of the tests' own: in a folder of its own, on a port of the loopback, thrown away at the end.

Its programs come from the system's packages. Where they are missing, tests that need them are skipped, but fail where
``CI=true``: a run that is to prove something must not leave out what it is to prove.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

USER = "snellen"
PASSWORD = "p@ss/word"
_SETTINGS = ("fsync=off", "full_page_writes=off", "max_connections=60")


def programs() -> Path | None:
    """Return the folder of the newest Postgres of this machine."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


def required_programs() -> Path:
    """Return that folder; skip the test that asks where there is none."""
    found = programs()
    if found is not None:
        return found
    msg = "There is no Postgres on this machine: install the package postgresql."
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(msg)
    pytest.skip(msg)


@dataclass
class PostgresServer:
    """A server that can be stopped and started, and has databases made."""

    folder: Path
    bin: Path
    port: int

    def start(self) -> None:
        settings = " ".join(f"-c {one}" for one in (*_SETTINGS, f"port={self.port}", "listen_addresses=127.0.0.1"))
        options = f"{settings} -c unix_socket_directories={self.folder}"
        self._do(
            "pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", str(self.folder / "log"), "-o", options, "start"
        )

    def stop(self) -> None:
        self._do("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def restart(self) -> None:
        self.stop()
        self.start()

    def new_database(self, name: str) -> str:
        """Make an empty database and return its address."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://{USER}:p%40ss%2Fword@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        secret = self.folder / "secret"
        secret.write_text(PASSWORD)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            shutil.chown(secret, "postgres", "postgres")
        manner = ("-U", USER, "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--no-sync")
        self._do("initdb", "-D", str(self.folder / "data"), *manner)

    def _do(self, program: str, *arguments: str) -> None:
        # initdb and the server refuse to be run by root.
        other: Sequence[str] = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
        command = [*other, str(self.bin / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=program != "pg_ctl", check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


@contextmanager
def postgres_server(folder: Path) -> Iterator[PostgresServer]:
    """Have a server while the block lasts.

    Args:
        folder: Its data, to be made; for root, no folder above it may be closed to other users.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir()
    server = PostgresServer(folder, required_programs(), port)
    server.make()
    server.start()
    try:
        yield server
    finally:
        server.stop()
