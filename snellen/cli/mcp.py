"""``snellen mcp``."""

from __future__ import annotations

import argparse
import asyncio
import logging
from pathlib import Path

from snellen.cli.options import OFFERED_PROFILES, command, option
from snellen.cli.serve import needs_serving
from snellen.errors import BadInput
from snellen.runtime.running import run
from snellen.user_paths import user_path


@command(
    "mcp",
    option(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="let the client name pictures in this folder by path; repeat for more (default: none)",
    ),
    OFFERED_PROFILES,
    examples="""
        snellen mcp --root ~/Pictures
        snellen serve    # MCP over HTTP, at /mcp
    """,
)
def mcp(options: argparse.Namespace) -> int:
    """Serve MCP on standard input and output, for a client that starts it."""
    from snellen.cli.server_app import offered

    profiles = offered(options.profile or ["embedded"])
    roots = [_folder(one) for one in options.root]
    with needs_serving():
        from snellen.serving import configure_logging
        from snellen.serving.jobs import Jobs
        from snellen.serving.mcp_server import mcp_server
        from snellen.serving.retention import watch
        from snellen.serving.settings import ServerSettings
    jobs = Jobs()
    server = mcp_server(jobs, profiles, roots=roots)
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


def _folder(text: str) -> Path:
    folder = user_path(text, "folder")
    if not folder.is_dir():
        msg = f"--root {text[:200]} is no folder."
        raise BadInput(msg)
    return folder
