"""What ``snellen mcp`` does: an MCP server for the client that started it, until that hangs up."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from interfaces.running import run
from interfaces.serve_command import offered
from interfaces.serving.settings import Settings
from profiles.errors import BadInput, SnellenError
from profiles.user_paths import user_path


def mcp(options: argparse.Namespace) -> int:
    """Serve on standard input and output."""
    profiles = offered(options.profile or ["embedded"])
    roots = [_folder(one) for one in options.root]
    try:
        from interfaces.jobs import Jobs
        from interfaces.mcp_server import mcp_server
        from interfaces.retention import watch
    except ImportError as error:
        msg = f"The server needs the package {error.name}: `pip install 'snellen[serve]'`."
        raise SnellenError(msg) from error
    jobs = Jobs()
    server = mcp_server(jobs, profiles, roots=roots)
    from interfaces.serving import configure_logging

    # Standard output belongs to the protocol.
    configure_logging(level=logging.WARNING)

    async def serving() -> None:
        watching = asyncio.create_task(watch(Settings()))
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
