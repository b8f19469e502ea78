"""Starting LangGraph's server with Snellen's graphs (``snellen studio``): no account, no key, nothing sent anywhere."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from snellen.errors import SnellenError
from snellen.graphs.messages import LINKS_VARIABLE
from snellen.memory.home import HOME_VARIABLE, home
from snellen.serving.jobs import JobLimits
from snellen.serving.users import Tokens, check_listening

HOST_VARIABLE: Final = "SNELLEN_STUDIO_HOST"
"""The variable with the address that the server listens on, for the middleware before it."""

_HERE: Final = Path(__file__).resolve().parent

ENVIRONMENT: Final = {
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "LANGSMITH_TRACING": "false",
    "HF_HUB_OFFLINE": "1",
}
"""Tracing, analytics and the look for newer versions are off; langgraph.json says the same."""


def configuration(folder: str | Path = _HERE) -> dict[str, Any]:
    """Return the configuration of the server: graphs, checkpoints, authorization, routes.

    Args:
        folder: Where the files are that it names; ``./snellen/serving/studio`` gives what langgraph.json says.
    """
    graphs = {name: f"{folder}/graphs.py:{name}" for name in ("ask", "learn", "investigate", "chat")}
    return {
        "graphs": graphs,
        "checkpointer": {"path": f"{folder}/saver.py:checkpointer"},
        "auth": {"path": f"{folder}/auth.py:auth", "disable_studio_auth": True},
        "http": {"app": f"{folder}/app.py:app", "enable_custom_route_auth": False},
    }


def launch(host: str, port: int) -> None:
    """Run the server until it is told to stop.

    Raises:
        BadInput: It would be open to others, and nobody has a token; or the port cannot be had.
        SnellenError: The server is not installed.
    """
    check_listening(host, Tokens(home()))
    # The server's own file of threads is not wanted: they are all in the checkpoints, and found there.
    os.environ.update(ENVIRONMENT | {"LANGGRAPH_DISABLE_FILE_PERSISTENCE": "true"})
    try:
        from langgraph_api.cli import run_server
    except ImportError as error:
        msg = "LangGraph's server is not installed: `pip install 'snellen[server,serve]'`."
        raise SnellenError(msg) from error
    from snellen.serving.listener import listener

    # LangGraph's server would take another port without asking, and whoever was told of this one would find nobody.
    with listener(host, port) as free:
        port = free.getsockname()[1]
    os.environ[HOST_VARIABLE] = host
    os.environ.setdefault(LINKS_VARIABLE, f"http://{host}:{port}/artifacts")
    os.environ[HOME_VARIABLE] = str(home().resolve())
    # Where it stands it leaves what it knows of runs, and would begin those anew that were left. Checkpoints are ours.
    with tempfile.TemporaryDirectory(prefix="snellen-studio-") as folder, contextlib.chdir(folder):
        run_server(
            host=host,
            port=port,
            reload=False,
            open_browser=False,
            disable_persistence=True,
            n_jobs_per_worker=JobLimits().running,
            **configuration(),
        )
