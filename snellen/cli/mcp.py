"""What ``snellen mcp`` does: an MCP server for the client that started it, until that hangs up."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from snellen.cli.serve import offered
from snellen.errors import BadInput, SnellenError
from snellen.profiles.user_paths import user_path
from snellen.runtime.running import run
from snellen.serving.settings import ServerSettings


def mcp(options: argparse.Namespace) -> int:
    """Serve on standard input and output."""
    profiles = offered(options.profile or ["embedded"])
    roots = [_folder(one) for one in options.root]
    try:
        from snellen.serving.jobs import Jobs
        from snellen.serving.mcp_server import mcp_server
        from snellen.serving.retention import watch
    except ImportError as error:
        msg = f"The server needs the package {error.name}: `pip install 'snellen[serve]'`."
        raise SnellenError(msg) from error
    jobs = Jobs()
    server = mcp_server(jobs, profiles, roots=roots)
    from snellen.serving import configure_logging

    # Standard output belongs to the protocol.
    configure_logging(level=logging.WARNING)

    async def serving() -> None:
        watching = asyncio.create_task(watch(ServerSettings()))
        try:
            await server.run_stdio_async()
        finally:
            watching.cancel()
            await jobs.close()

    run(serving())
    return 0


def _folder(said: str) -> Path:
    folder = user_path(said, "folder")
    if not folder.is_dir():
        msg = f"--root {said[:200]} is no folder."
        raise BadInput(msg)
    return folder
