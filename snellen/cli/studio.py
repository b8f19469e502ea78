"""``snellen studio``."""

from __future__ import annotations

import argparse

from snellen.cli.options import HOST, PORT, command


@command(
    "studio",
    HOST.but(help="listen on this address (default: 127.0.0.1)"),
    PORT.but(default=2024, help="listen on this port (default: 2024)"),
    examples="""
        snellen studio              # prints the address to open
        snellen studio --port 8123
    """,
)
def studio(options: argparse.Namespace) -> int:
    """Run LangGraph's server on this memory: debug the graphs in Studio, or use them over its API."""
    from snellen.serving.studio.launch import launch

    launch(options.host, options.port)
    return 0
