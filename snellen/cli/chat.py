"""``snellen chat``."""

from __future__ import annotations

import argparse
import logging
import sys
from functools import partial
from typing import Final

from snellen.cli.options import HOST, NO_WARM_UP, PORT, PROFILE, command, option
from snellen.cli.serve import needs_serving

_RATE: Final = 100.0
_BURST: Final = 1_000
"""Requests: a browser asks for a hundred files when it opens the page for the first time."""


@command(
    "chat",
    HOST,
    PORT,
    NO_WARM_UP,
    option("--no-browser", dest="browser", action="store_false", help="open no browser"),
    PROFILE,
    examples="""
        snellen chat                           # then http://127.0.0.1:7860
        snellen chat --port 0 --no-browser     # any free port; prints where
        snellen chat --profile hub
    """,
)
def chat(options: argparse.Namespace) -> int:
    """Open the page in a browser: chat, investigations, memory and threads."""
    from snellen.profiles import load_profile

    load_profile(options.profile)
    with needs_serving("page"):
        from snellen.cli.server_app import page_app
        from snellen.serving import ServerSettings, configure_logging
        from snellen.serving.jobs import Jobs
        from snellen.serving.listener import serve

        settings = ServerSettings(host=options.host, port=options.port, requests_per_second=_RATE, burst=_BURST)
        app = page_app(Jobs(), settings, profile=options.profile, warm_up=options.warm_up)
    configure_logging(level=logging.WARNING)
    serve(app, say=partial(_announce, browser=options.browser))
    return 0


def _announce(text: str, *, browser: bool) -> None:
    sys.stdout.write(f"{text}\nOpen it in a browser. Ctrl-C ends it; unfinished work can be resumed.\n")
    sys.stdout.flush()
    if browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(text.rpartition(" ")[2])
